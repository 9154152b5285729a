//! The table itself: its memory, its sizes, and single slots.

use std::fmt;

use super::lane::Sidecar;
use super::layout::{self, BlockHeader, Slot};
use super::{Fingerprint, Geometry};
use crate::bits::{Blocks, Bytes, Cpu, Packed, RawBlock, RawBlockMut, bytes_of_blocks};
use crate::error::Error;
use crate::mem::{HugePages, Memory};

/// The rank-and-select quotient table: runs of slots in quotient order.
///
/// `S` is the data that rides along with each slot, `M` the bytes that the table lives
/// in: its own memory, or any bytes for a table that is only read.
pub struct Table<S: Sidecar, M = Memory> {
    pub(super) blocks: Blocks<M, S>,
    geometry: Geometry,
    pub(super) slots: u64,
    pub(super) used: u64,
    /// Slots beyond one for each fingerprint: as many are marked.
    pub(super) marked: u64,
    cpu: Cpu,
}

/// What to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Quotients are below this.
    pub quotients: u64,
    /// Bits of a slot, 1 to 56.
    pub slot_bits: u32,
    /// The lowest bits of a slot that take no part in comparisons.
    pub ignored_bits: u32,
    /// Whether to ask for huge pages.
    pub huge_pages: HugePages,
    /// How many blocks, for content that is known beforehand, and with it how many spare slots it takes: no
    /// fewer than quotients need, and no more than it would be without this wish.
    pub blocks: Option<u64>,
}

/// Slots beyond the last quotient: the table does not wrap around, so the runs of the
/// last quotients need room to spill. With random keys at full load the spill is about
/// `sqrt(n)` slots long.
#[must_use]
pub fn spare_slots(quotients: u64) -> u64 {
    4 * (quotients.isqrt() + 1) + 64
}

/// How many blocks a table has, as many as are wished for if they are, and how many bytes they and the
/// padding take. `None` if they can't be counted; or if they are too few for a slot to each quotient, or more
/// than there would be without a wish.
pub(crate) fn size<S: Sidecar>(
    quotients: u64,
    slot_bits: u32,
    blocks: Option<u64>,
) -> Option<(u64, u64)> {
    let slots = quotients.checked_add(spare_slots(quotients))?;
    let possible = quotients.div_ceil(64)..=slots.div_ceil(64);
    let blocks = blocks.unwrap_or(*possible.end());
    if !possible.contains(&blocks) {
        return None;
    }
    Some((blocks, bytes_of_blocks::<S>(blocks, slot_bits)?))
}

impl<S: Sidecar> Table<S> {
    /// An empty table.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there are no quotients, slots are not 1 to 56 bits wide with
    /// something left to compare, there can't be so many blocks, or the table does not fit in memory.
    pub fn new(options: TableOptions) -> Result<Self, Error> {
        Self::build(options, |bytes| Memory::zeroed(bytes, options.huge_pages))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.blocks.bytes_mut().fill(0);
        self.used = 0;
        self.marked = 0;
    }

    /// A copy.
    ///
    /// # Errors
    /// [`Error::Geometry`] if it does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(Table {
            blocks: Blocks::new(
                self.blocks.memory().try_clone()?,
                self.blocks.packed().clone(),
                self.blocks.count(),
            )
            .expect("a copy is as long as the original"),
            ..*self
        })
    }
}

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// A table over bytes that hold one, of which `used` slots are said to be used, and `marked` of them
    /// marked. Nothing is looked at: see [`verify`](Self::verify).
    ///
    /// # Errors
    /// [`Error::Geometry`] if no table has these measures, or has another length.
    pub(crate) fn over(
        memory: M,
        options: TableOptions,
        used: u64,
        marked: u64,
    ) -> Result<Self, Error> {
        let table = Self::build(options, |_| Ok(memory))?;
        Ok(Table {
            used,
            marked,
            ..table
        })
    }

    fn build(
        options: TableOptions,
        memory: impl FnOnce(usize) -> Result<M, Error>,
    ) -> Result<Self, Error> {
        // An offset below 64 is taken at its word: `BlockHeader::run` and others look no further.
        const { assert!(S::MAX_OFFSET >= 64, "a saturated offset means a full block") };
        let TableOptions {
            quotients,
            slot_bits,
            ignored_bits,
            blocks,
            ..
        } = options;
        if quotients == 0 {
            return Err(Error::geometry("a table needs at least one slot"));
        }
        if slot_bits > Packed::MAX_BITS || ignored_bits >= slot_bits {
            return Err(Error::geometry(format!(
                "slots have 1 to {} bits, not {slot_bits}",
                Packed::MAX_BITS
            )));
        }
        let size = size::<S>(quotients, slot_bits, blocks);
        let size = size.and_then(|(blocks, bytes)| Some((blocks, usize::try_from(bytes).ok()?)));
        let Some((blocks, bytes)) = size else {
            return Err(Error::geometry(format!(
                "{quotients} slots do not fit in memory"
            )));
        };
        let geometry = Geometry::of_table(quotients, slot_bits - ignored_bits);
        let packed = Packed::new(slot_bits, ignored_bits);
        let Some(blocks) = Blocks::new(memory(bytes)?, packed, blocks) else {
            return Err(Error::geometry(format!(
                "a table of these measures has {bytes} bytes, no more and no less"
            )));
        };
        Ok(Table {
            geometry,
            slots: blocks.count() * 64,
            blocks,
            used: 0,
            marked: 0,
            cpu: Cpu::detect(),
        })
    }
}

impl<S: Sidecar, M> Table<S, M> {
    /// Quotients are below this.
    #[must_use]
    pub fn quotients(&self) -> u64 {
        self.geometry.slots()
    }

    /// Which slots and remainders fingerprints have.
    #[inline(always)]
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Where the fingerprint of a key with this first word would be.
    #[inline(always)]
    pub(crate) fn at(&self, h0: u64) -> Fingerprint {
        self.geometry.fingerprint(h0)
    }

    /// All slots, the spare ones included.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// Slots that hold something.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The lowest bits of a slot that take no part in comparisons.
    #[inline(always)]
    pub(crate) fn ignored_bits(&self) -> u32 {
        self.packed().ignored()
    }

    /// The instructions to use.
    #[inline(always)]
    #[must_use]
    pub(crate) fn cpu(&self) -> Cpu {
        self.cpu
    }

    #[inline(always)]
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks.count()
    }

    /// The packing of the slots.
    #[inline(always)]
    pub(super) fn packed(&self) -> &Packed {
        self.blocks.packed()
    }

    /// How many slots are marked: those beyond one for each fingerprint.
    #[inline(always)]
    pub(crate) fn marked(&self) -> u64 {
        self.marked
    }

    /// Is there nothing in the lanes, which have marks alone, as no slot is marked? Then nobody needs to
    /// look at them.
    #[inline(always)]
    pub(super) fn is_unmarked(&self) -> bool {
        S::MARKS && S::BYTES == size_of::<u64>() && self.marked == 0
    }

    /// `Error::Full` with this table's figures.
    #[cold]
    pub(crate) fn full(&self) -> Error {
        Error::Full {
            used: self.used,
            slots: self.slots,
        }
    }
}

/// Splits a quotient or slot number into its block and its place there.
#[inline(always)]
pub(crate) fn split(slot: u64) -> (u64, u32) {
    (slot >> 6, (slot & 63) as u32)
}

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// The table as it stands in files.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.blocks.bytes()
    }

    /// Bytes of the table.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.blocks.bytes().len() as u64
    }

    /// A block, to read.
    #[inline(always)]
    pub(super) fn block(&self, block: u64) -> RawBlock<'_> {
        self.blocks.get(block)
    }

    #[inline(always)]
    pub(super) fn header(&self, block: u64) -> BlockHeader {
        BlockHeader::read::<S>(&self.block(block))
    }

    /// What stands beside the slots of a block.
    #[inline(always)]
    pub(crate) fn lane(&self, block: u64) -> &[u8] {
        self.block(block).lane()
    }

    /// Has this quotient a run?
    #[inline(always)]
    #[must_use]
    pub fn is_occupied(&self, quotient: u64) -> bool {
        let (block, i) = split(quotient);
        self.header(block).occupieds >> i & 1 == 1
    }

    /// All that a slot holds.
    #[inline(always)]
    #[must_use]
    pub fn slot(&self, slot: u64) -> Slot<S::Item> {
        let (block, i) = split(slot);
        layout::get::<S>(&self.block(block), self.packed(), i)
    }

    /// The remainder in an unmarked slot: what takes part in comparisons.
    #[inline(always)]
    #[must_use]
    pub(crate) fn remainder(&self, slot: u64) -> u64 {
        self.slot(slot).value >> self.ignored_bits()
    }
}

#[cfg(test)]
impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// The same table, used with these instructions.
    pub(crate) fn with_cpu(self, cpu: Cpu) -> Self {
        Table { cpu, ..self }
    }

    /// The same table, read with these instructions.
    pub(crate) fn on(&self, cpu: Cpu) -> Table<S, &[u8]> {
        let (bytes, packed) = (self.blocks.bytes(), self.packed().clone());
        Table {
            blocks: Blocks::new(bytes, packed, self.blocks()).expect("bytes of such a table"),
            geometry: self.geometry,
            slots: self.slots,
            used: self.used,
            marked: self.marked,
            cpu,
        }
    }
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// All bytes, for tests that damage a table.
    #[cfg(test)]
    pub(crate) fn raw_mut(&mut self) -> &mut [u8] {
        self.blocks.bytes_mut()
    }

    /// A block, to write.
    #[inline(always)]
    pub(crate) fn block_mut(&mut self, block: u64) -> RawBlockMut<'_> {
        self.blocks.get_mut(block)
    }

    #[inline(always)]
    pub(super) fn set_occupied(&mut self, quotient: u64, occupied: bool) {
        let (block, i) = split(quotient);
        layout::set_occupied(&mut self.block_mut(block), i, occupied);
    }

    #[inline(always)]
    pub(super) fn set_runend(&mut self, slot: u64, runend: bool) {
        let (block, i) = split(slot);
        layout::set_runend(&mut self.block_mut(block), i, runend);
    }

    /// What stands beside the slots of a block, to change it.
    #[inline(always)]
    pub(crate) fn with_lane<T>(&mut self, block: u64, change: impl FnOnce(&mut [u8]) -> T) -> T {
        change(self.block_mut(block).lane())
    }

    /// Overwrites the packed bits of a slot; nothing moves.
    #[inline(always)]
    pub(crate) fn set_value(&mut self, slot: u64, value: u64) {
        let (block, i) = split(slot);
        self.block_mut(block).set_slot(i, value);
    }
}

impl<S: Sidecar, M> fmt::Debug for Table<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("quotients", &self.geometry.slots())
            .field("slots", &self.slots)
            .field("slot_bits", &self.packed().bits())
            .field("used", &self.used)
            .finish_non_exhaustive()
    }
}
