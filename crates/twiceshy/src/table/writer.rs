//! Filling an empty table from sorted input, front to back.
//!
//! # The idea
//!
//! Runs come in the order of their quotients, so each slot's place is known when it comes:
//! behind the slot before, or at its home if that is further on. Nothing is searched and
//! nothing moves. What is being written lies at two places of the table, because the slots
//! run ahead of the quotients, so there are two cursors, each with one block in registers:
//!
//! ```text
//! block            b              b + 1            b + 2
//!          |----------------|----------------|----------------|
//! occupieds   ....1.11.^                                           the quotient cursor
//! runends                      ...1..1....1.^                      the slot cursor
//! slots                        aabcccdeefff^                       the slot cursor
//! offset        known            not yet          not yet
//! ```
//!
//! What holds before and after each slot (`q` the quotient, `e` one past the last slot):
//!
//! 1. `q < e`: the quotient cursor is never in a later block than the slot cursor.
//! 2. Offsets stand in all blocks up to that of `q`, and in no later one; the occupieds in
//!    all before that. A block's offset is known when the first of its quotients comes (or
//!    a later one): then all runs of lower quotients have been written, up to `e`.
//! 3. Slots are stored eight bytes at a time, the last byte again with the next slot. What
//!    else those eight bytes hold is not written yet: slots behind `e`, or the start of the
//!    next block, whose header comes later by 1 and 2.
//!
//! # Time
//!
//! Three branches a slot that are rarely taken (an empty slot; a new block, for either
//! cursor), and no load from the table.

use super::Geometry;
use super::lane::Sidecar;
use super::layout::{self, Slot};
use super::storage::{Table, split};
use crate::bits::{Cpu, Isa, OpenBlocks, mask_below, store_word};
use crate::error::Error;

/// Writes slots in the order of their quotients into a table, each once and in place:
/// no search, no shifting.
///
/// ```
/// use twiceshy::HugePages;
/// use twiceshy::raw::{Bare, Table, TableOptions, Writer};
///
/// let table = Table::<Bare>::new(TableOptions {
///     quotients: 100,
///     slot_bits: 9,
///     ignored_bits: 0,
///     huge_pages: HugePages::Ask,
///     blocks: None,
/// })?;
/// let mut writer = Writer::new(table);
/// writer.push(3, 400, ())?;
/// writer.push_all([(3, 500), (7, 12), (99, 1)])?;
/// let table = writer.finish();
/// assert_eq!(table.used(), 4);
/// assert_eq!(table.runs().map(|run| run.quotient).collect::<Vec<_>>(), [3, 7, 99]);
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<S: Sidecar> {
    table: Table<S>,
    cursors: Cursors,
}

/// Where the writer is, and what it has not stored yet. All zero before the first slot.
#[derive(Clone, Copy, Debug, Default)]
struct Cursors {
    /// The quotient of the run being written.
    quotient: u64,
    /// The occupieds of its block, up to it.
    occupieds: u64,
    /// One past the last slot written.
    end: u64,
    /// The runends of the block of the last slot written.
    runends: u64,
    /// The byte of the table where slot `end` starts; where its block starts if it is the
    /// first of that.
    at: usize,
    /// How many bits of that byte belong to slots before `end`.
    taken: u32,
    /// These bits.
    bits: u64,
    /// Slots before `end` that are empty.
    empty: u64,
}

/// The table's memory and measures, at hand for many slots.
struct Page<'t> {
    blocks: OpenBlocks<'t>,
    quotients: u64,
    slots: u64,
    max_offset: u64,
}

/// There is no slot left.
pub(super) struct Full;

impl<S: Sidecar> Writer<S> {
    /// A writer into `table`, which it clears.
    #[must_use]
    pub fn new(mut table: Table<S>) -> Self {
        if table.used > 0 {
            table.clear();
        }
        Writer {
            table,
            cursors: Cursors::default(),
        }
    }

    /// All slots of the table.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.table.slots
    }

    /// Which slots and remainders fingerprints have.
    pub(crate) fn geometry(&self) -> Geometry {
        self.table.geometry()
    }

    /// Slots written so far.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.cursors.used()
    }

    fn page(&mut self) -> (Page<'_>, &mut Cursors) {
        let quotients = self.table.quotients();
        let table = &mut self.table;
        let page = Page {
            blocks: table.blocks.open(),
            quotients,
            slots: table.slots,
            max_offset: u64::from(S::MAX_OFFSET),
        };
        (page, &mut self.cursors)
    }

    fn or_full(&mut self, result: Result<(), Full>) -> Result<(), Error> {
        self.table.used = self.cursors.used();
        result.map_err(|Full| self.table.full())
    }

    /// Appends an unmarked slot to the run of `quotient`, which is at least that of the
    /// slot before.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left behind the last one.
    ///
    /// # Panics
    /// If `quotient` is lower than the one before, or not below the table's.
    pub fn push(&mut self, quotient: u64, value: u64, item: S::Item) -> Result<(), Error> {
        let (mut page, cursors) = self.page();
        if cursors.end == 0 {
            // No run comes before this one.
            cursors.quotient = quotient;
        }
        let result = cursors.push(&mut page, quotient, value);
        if result.is_ok() {
            page.set_item::<S>(cursors.end - 1, item);
        }
        self.or_full(result)
    }

    /// Appends unmarked slots, each a quotient and a value, with nothing beside them: the
    /// same as [`push`](Self::push) for each, and faster.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left behind the last one. The slots before are written.
    ///
    /// # Panics
    /// As [`push`](Self::push).
    pub fn push_all(&mut self, slots: impl IntoIterator<Item = (u64, u64)>) -> Result<(), Error> {
        let mut slots = slots.into_iter();
        let Some((quotient, value)) = slots.next() else {
            return Ok(());
        };
        self.push(quotient, value, S::Item::default())?;
        let result = self.push_rest(slots);
        self.or_full(result)
    }

    /// The body of [`push_rest`](Self::push_rest).
    #[inline(always)]
    pub(super) fn push_rest_on<I: Isa, T: Iterator<Item = (u64, u64)>>(
        &mut self,
        slots: T,
    ) -> Result<(), Full> {
        let (mut page, place) = self.page();
        // A copy that is nobody else's, and so can live in registers.
        let mut cursors = *place;
        let mut result = Ok(());
        for (quotient, value) in slots {
            result = cursors.push(&mut page, quotient, value);
            if result.is_err() {
                break;
            }
        }
        *place = cursors;
        result
    }

    /// The instructions to use.
    #[inline(always)]
    pub(super) fn cpu(&self) -> Cpu {
        self.table.cpu()
    }

    /// Appends a slot that continues the slot before. That one gets the mark and the runend bit.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left behind the last one.
    ///
    /// # Panics
    /// If there is no slot before.
    pub fn push_tail(&mut self, digit: Slot<S::Item>) -> Result<(), Error> {
        assert!(self.cursors.end > 0, "a slot continues the one before it");
        debug_assert!(S::is_mark(digit.item));
        let (mut page, cursors) = self.page();
        let result = cursors.push_tail(&mut page, digit.value, digit.runend);
        if result.is_ok() {
            page.set_item::<S>(cursors.end - 2, digit.item);
            self.table.marked += 1;
        }
        self.or_full(result)
    }

    /// The finished table.
    #[must_use]
    pub fn finish(mut self) -> Table<S> {
        let (mut page, cursors) = self.page();
        cursors.finish(&mut page);
        self.table
    }
}

/// What is done for each slot is inlined; what is done once a block is given the values that
/// it needs, not the cursors, so that these stay in registers.
impl Cursors {
    /// Slots written.
    fn used(&self) -> u64 {
        self.end - self.empty
    }

    /// Appends an unmarked slot.
    #[inline(always)]
    fn push(&mut self, page: &mut Page<'_>, quotient: u64, value: u64) -> Result<(), Full> {
        assert!(
            self.quotient <= quotient && quotient < page.quotients,
            "quotients come in ascending order and lie inside the table"
        );
        // A run that goes on has its next slot at `end`, behind its quotient.
        let place = self.end.max(quotient);
        if place >= page.slots {
            return Err(Full);
        }
        // Whether it goes on is a coin toss, so there is no branch on it.
        self.set_runend(quotient != self.quotient);
        if quotient >> 6 != self.quotient >> 6 {
            page.leave_quotients(self.quotient >> 6, self.occupieds);
            page.write_offsets(self.quotient >> 6, quotient >> 6, self.end);
            self.occupieds = 0;
        }
        if place != self.end {
            self.skip_to(page, place);
        }
        self.put(page, value);
        self.quotient = quotient;
        self.occupieds |= 1 << (quotient & 63);
        Ok(())
    }

    fn push_tail(&mut self, page: &mut Page<'_>, value: u64, runend: bool) -> Result<(), Full> {
        if self.end >= page.slots {
            return Err(Full);
        }
        self.set_runend(runend);
        self.put(page, value);
        Ok(())
    }

    /// Gives the last slot its runend bit.
    #[inline(always)]
    fn set_runend(&mut self, runend: bool) {
        let last = self.end.wrapping_sub(1);
        self.runends |= u64::from(runend) << (last & 63);
    }

    /// Leaves slots empty.
    #[inline(always)]
    fn skip_to(&mut self, page: &mut Page<'_>, place: u64) {
        let (block, i) = split(place);
        if self.end > 0 && block != (self.end - 1) >> 6 {
            page.add_runends((self.end - 1) >> 6, self.runends);
            self.runends = 0;
        }
        let start = page.blocks.start_of(block);
        let bit = i as usize * page.blocks.packed().bits() as usize;
        let at = match i {
            0 => start,
            _ => start + page.blocks.slots_at() + bit / 8,
        };
        if at != self.at {
            self.bits = 0;
        }
        (self.at, self.taken) = (at, (bit % 8) as u32);
        self.empty += place - self.end;
        self.end = place;
    }

    /// Stores the next slot, which is there.
    #[inline(always)]
    fn put(&mut self, page: &mut Page<'_>, value: u64) {
        if self.end & 63 == 0 {
            if self.end > 0 {
                page.add_runends((self.end - 1) >> 6, self.runends);
            }
            self.runends = 0;
            self.at += page.blocks.slots_at();
        }
        let width = page.blocks.packed().bits();
        // At most 7 bits and 56: they fit.
        let bits = self.bits | (value & mask_below(width)) << self.taken;
        store_word(page.blocks.bytes(), self.at, bits);
        let taken = self.taken + width;
        self.at += (taken / 8) as usize;
        self.bits = bits >> (taken & 0b11_1000);
        self.taken = taken % 8;
        self.end += 1;
    }

    fn finish(&mut self, page: &mut Page<'_>) {
        if self.end == 0 {
            return;
        }
        self.set_runend(true);
        page.add_runends((self.end - 1) >> 6, self.runends);
        page.leave_quotients(self.quotient >> 6, self.occupieds);
        page.write_offsets(self.quotient >> 6, page.slots / 64 - 1, self.end);
    }
}

impl Page<'_> {
    #[inline(never)]
    fn add_runends(&mut self, block: u64, runends: u64) {
        layout::add_runends(&mut self.blocks.get_mut(block), runends);
    }

    #[inline(never)]
    fn leave_quotients(&mut self, block: u64, occupieds: u64) {
        layout::set_occupieds(&mut self.blocks.get_mut(block), occupieds);
    }

    /// The offsets of the blocks behind `before` up to `to`, where the runs of all lower
    /// quotients end at `end`. Those that are zero stand there already.
    #[inline(never)]
    fn write_offsets(&mut self, before: u64, to: u64, end: u64) {
        for block in before + 1..=to {
            let offset = end.saturating_sub(block * 64);
            if offset == 0 {
                break;
            }
            let offset = offset.min(self.max_offset) as u16;
            layout::set_offset(&mut self.blocks.get_mut(block), offset);
        }
    }

    /// What rides along with a slot; that of an empty one stands there already.
    fn set_item<S: Sidecar>(&mut self, slot: u64, item: S::Item) {
        if item != S::Item::default() {
            let (block, i) = split(slot);
            let _empty = S::shift_up(self.blocks.get_mut(block).lane(), i, i, item);
        }
    }
}
