//! Finding runs: rank, select, offsets.
//!
//! ```text
//! quotient q   rank: how many runs the block has up to q     (occupieds)
//!              select: where the last of those ends          (runends, from the offset on)
//!              the end before it is where the run starts
//! ```
//!
//! Nearly always all of this is inside one block, and then it is a handful of instructions without a branch
//! ([`Table::view`], [`BlockHeader::run`]). All else is found by one general way ([`Table::run_slow`]).

use std::ops::Range;

use super::Fingerprint;
use super::lane::{Bare, Sidecar};
use super::layout::BlockHeader;
use super::storage::{Table, split};
use crate::bits::{Bytes, Isa, RawBlock, mask_through, rank_through};

/// The slots of one quotient's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The quotient.
    pub quotient: u64,
    /// Has the quotient a run? If not, the range is empty and is where one would start.
    pub occupied: bool,
    /// The first slot.
    pub start: u64,
    /// One past the last slot, the one with the runend bit.
    pub end: u64,
}

/// Is a fingerprint there?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is not.
    No,
    /// It is there, in one slot.
    Yes,
    /// It is there, but goes on in further slots: the later words of the key decide.
    Ask,
}

impl Found {
    /// The answer, where `ask` looks at the later words of the key if they decide.
    #[inline(always)]
    pub(crate) fn or_ask(self, ask: impl FnOnce() -> bool) -> bool {
        match self {
            Found::No => false,
            Found::Yes => true,
            Found::Ask => ask(),
        }
    }
}

impl From<bool> for Found {
    #[inline(always)]
    fn from(found: bool) -> Self {
        if found { Found::Yes } else { Found::No }
    }
}

/// A run that is in its home block and no longer than a window.
#[derive(Clone, Copy)]
pub(crate) struct RunView<'t> {
    block: RawBlock<'t>,
    /// The first slot of the run, counted from the block's start; arbitrary without a run.
    pub(crate) start: u32,
    /// How many slots more there are; none without a run.
    pub(crate) more: u32,
    /// All ones if the quotient has a run, all zeros if not.
    pub(crate) occupied: u64,
    /// The slots of the run in a window, by their highest bits; none without a run.
    asked: u64,
    /// The window from `start` on, and one full of the remainder.
    window: u64,
    pattern: u64,
    /// The first slot of the run that has the remainder; see `Packed::first_equal`.
    first_equal: u64,
}

impl<'t> RunView<'t> {
    /// What stands beside the slots of the block.
    #[inline(always)]
    pub(crate) fn lane(&self) -> &'t [u8] {
        self.block.lane()
    }

    /// Has any slot of the run the remainder?
    #[inline(always)]
    pub(crate) fn any_equal(&self) -> bool {
        self.first_equal != 0
    }

    /// The first that has, counted from the block's start, if any has.
    #[inline(always)]
    pub(crate) fn first_equal(&self) -> u32 {
        let bit = self.first_equal.trailing_zeros();
        self.start + self.block.packed().index_of_bit(bit)
    }

    /// Which slots have the remainder, a bit each from the first slot of the run on. Made only when it is
    /// asked for: few ask.
    #[inline(always)]
    pub(super) fn equal<I: Isa>(&self) -> u64 {
        let packed = self.block.packed();
        packed.slots_of::<I>(self.asked & !packed.differ(self.window, self.pattern))
    }
}

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// Is the fingerprint of a key with this first word there?
    #[inline(always)]
    pub(crate) fn contains(&self, h0: u64) -> Found {
        if self.is_unmarked() {
            // Nothing is marked, so never `Ask`; said here so that the compiler drops the callers' branch for it.
            (self.contains_with::<Bare>(h0) != Found::No).into()
        } else {
            self.contains_with::<S>(h0)
        }
    }

    /// The body of [`contains`](Self::contains): in the home block, else by
    /// [`contains_slow`](Self::contains_slow). `L` is `S`, or stands for it where nothing is marked.
    ///
    /// It is handed the hash, not the fingerprint: that is two words, which would have to be kept for the
    /// slow way all along.
    #[inline(always)]
    pub(super) fn contains_on<I: Isa, L: Sidecar>(&self, h0: u64) -> Found {
        let Some(run) = self.view::<I, L>(self.at(h0)) else {
            return self.contains_slow_with::<L>(h0);
        };
        // Slots that differ do not matter, whosever they are. The caller branches on the answer, too, so
        // this branch is no new one to predict.
        if !L::MARKS || !run.any_equal() {
            return run.any_equal().into();
        }
        // A marked slot, and what continues one, carries no remainder. Which of the slots are marked would
        // be known only when the slots are there; whether any is, when the header is, and a wrong guess
        // costs less the earlier it is noticed. There are few.
        let marked = L::marked(run.lane()) >> (run.start & 63);
        match self.packed().slots_through(run.more.into()) {
            Some(slots) if slots & marked == 0 => Found::Yes,
            _ => among_marks(run.equal::<I>(), marked, 0),
        }
    }

    /// The run of a fingerprint's quotient, and which of its slots hold the remainder; `None`
    /// if the run leaves its block, or is longer than a window.
    ///
    /// Everything that is asked of it is computed here, and what is not, the compiler leaves out.
    #[inline(always)]
    pub(super) fn view<I: Isa, L: Sidecar>(&self, at: Fingerprint) -> Option<RunView<'_>> {
        let packed = self.packed();
        let pattern = packed.repeat_compared(at.remainder);
        let (block, i) = split(at.quotient);
        // There is such a block; but a function that can't panic needs no frame for it.
        let block = self.blocks.try_get(block)?.in_register();
        // Where exactly the run is, the header tells; but most likely near its home. Asking
        // for that line now overlaps the two misses.
        block.prefetch_slot(i);
        let header = BlockHeader::read::<L>(&block);
        if header.offset > 63 {
            return None;
        }
        let run = header.probe::<I>(i);
        let through = packed.highs_through(run.more.into())?;
        // From here on it is read anew: no register has to keep what is needed last.
        let block = block.in_register();
        let window = block.window(run.start);
        let asked = through & run.occupied;
        Some(RunView {
            block,
            start: run.start,
            more: run.more,
            occupied: run.occupied,
            asked,
            window,
            pattern,
            first_equal: asked & packed.first_equal(window, pattern),
        })
    }

    /// [`contains`](Self::contains) for a run that most likely leaves its home block.
    #[inline]
    pub(crate) fn contains_slow(&self, h0: u64) -> Found {
        self.contains_slow_with::<S>(h0)
    }

    /// The body of [`contains_slow`](Self::contains_slow). `L` is as in [`contains_on`](Self::contains_on).
    #[inline(always)]
    pub(super) fn contains_slow_on<I: Isa, L: Sidecar>(&self, h0: u64) -> Found {
        let at = self.at(h0);
        // Many quotients have no run: then there is nothing to look for.
        if !self.is_occupied(at.quotient) {
            return Found::No;
        }
        let run = self.run_slow_on::<I>(at.quotient);
        self.run_contains::<I, L>(&run, at.remainder)
    }

    /// Is a remainder in a run? `L` is as in [`contains_on`](Self::contains_on).
    #[inline(always)]
    pub(super) fn run_contains<I: Isa, L: Sidecar>(&self, run: &Run, remainder: u64) -> Found {
        let packed = self.packed();
        let pattern = packed.repeat_compared(remainder);
        let mut found = Found::No;
        // Does the slot before go on?
        let mut before = 0;
        let mut at = run.start;
        while at < run.end {
            let (block, i) = split(at);
            let count = u64::from(packed.per_window().min(64 - i)).min(run.end - at);
            let block = self.block(block);
            let equal = packed.equal(block.window(i), pattern, count as u32);
            if !L::MARKS {
                if equal != 0 {
                    return Found::Yes;
                }
            } else {
                let marked = L::marked(block.lane()) >> i;
                if equal != 0 {
                    match among_marks(packed.slots_of::<I>(equal), marked, before) {
                        Found::Yes => return Found::Yes,
                        Found::Ask => found = Found::Ask,
                        Found::No => {}
                    }
                }
                before = marked >> (count - 1) & 1;
            }
            at += count;
        }
        found
    }

    /// The body of [`minirun`](Self::minirun).
    #[inline(always)]
    pub(super) fn minirun_on<I: Isa>(&self, at: Fingerprint) -> Range<u64> {
        self.minirun_of(&self.run_on::<I>(at.quotient), at.remainder)
    }

    /// [`minirun`](Self::minirun), where the run is known.
    #[inline(always)]
    pub(crate) fn minirun_of(&self, run: &Run, remainder: u64) -> Range<u64> {
        let start = self.lower_bound(run, remainder);
        let mut end = start;
        while end < run.end && self.remainder(end) == remainder {
            end = self.end_of_print(end);
        }
        start..end
    }

    /// The slots of each fingerprint among those of whole fingerprints.
    #[inline(always)]
    pub(crate) fn prints(&self, slots: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut at = slots.start;
        std::iter::from_fn(move || {
            (at < slots.end).then(|| {
                let start = at;
                at = self.end_of_print(start);
                start..at
            })
        })
    }

    /// The body of [`run`](Self::run).
    #[inline(always)]
    pub(super) fn run_on<I: Isa>(&self, quotient: u64) -> Run {
        let (block, i) = split(quotient);
        let header = self.header(block);
        let Some(run) = header.run::<I>(i) else {
            return self.run_slow_on::<I>(quotient);
        };
        let base = block * 64;
        Run {
            quotient,
            occupied: run.occupied,
            start: base + u64::from(run.start),
            end: base + u64::from(run.end),
        }
    }

    /// The run of a quotient, wherever it is.
    ///
    /// ```text
    /// offset of the block   |-------------->|
    /// ends of runs          ..1..1.1.|..1...1..|...1.1.1..      those from there on are the block's own:
    /// spliced                                1.....1.1.1        64 of them, put together from two words
    /// ```
    ///
    /// The run is between two of these ends. Nearly always both are among 64 slots; otherwise they are
    /// looked for from block to block.
    #[inline(always)]
    pub(super) fn run_slow_on<I: Isa>(&self, quotient: u64) -> Run {
        let (block, i) = split(quotient);
        let header = self.header(block);
        let first = block * 64 + self.offset::<I>(block, &header);
        let occupied = header.occupieds >> i & 1;
        let through = rank_through(header.occupieds, i);
        let before = through - occupied as u32;
        let ends = self.ends_from(first);
        let (end_before, end) = if through <= ends.count_ones() {
            let both = I::select_pair(ends, before);
            let end_before = match before {
                0 => first,
                _ => first + u64::from(both.trailing_zeros()) + 1,
            };
            (end_before, first + 64 - u64::from(both.leading_zeros()))
        } else {
            let end_before = match before.checked_sub(1) {
                Some(last) => self.select_from::<I>(first, last) + 1,
                None => first,
            };
            (
                end_before,
                self.select_from::<I>(end_before.max(quotient), 0) + 1,
            )
        };
        let start = end_before.max(quotient);
        // A quotient without a run has the empty range where it would start.
        Run {
            quotient,
            occupied: occupied == 1,
            start,
            end: if occupied == 1 { end } else { start },
        }
    }

    /// The ends of runs in the 64 slots from one on; none behind the last block.
    #[inline(always)]
    fn ends_from(&self, from: u64) -> u64 {
        let (block, i) = split(from);
        let ends = |block: u64| {
            let block = self.blocks.try_get(block);
            block.map_or(0, |block| BlockHeader::read::<S>(&block).ends)
        };
        ends(block) >> i | ends(block + 1) << 1 << (63 - i)
    }

    /// The slot at or after `from` with a run's end that has `rank` such slots before it
    /// (from `from` on); the last slot of the table if there is none, which only a
    /// damaged table shows.
    #[inline(always)]
    pub(super) fn select_from<I: Isa>(&self, from: u64, mut rank: u32) -> u64 {
        let (mut block, i) = split(from);
        let mut below = !0 << i;
        while block < self.blocks() {
            let ends = self.header(block).ends & below;
            let count = ends.count_ones();
            if rank < count {
                return block * 64 + u64::from(I::select_bit(ends, rank).trailing_zeros());
            }
            rank -= count;
            below = !0;
            block += 1;
        }
        self.slots - 1
    }

    /// One past the last slot of the fingerprint that `slot` is of: the first from there on that is
    /// not marked.
    #[inline(always)]
    pub(crate) fn end_of_print(&self, slot: u64) -> u64 {
        if !S::MARKS {
            return slot + 1;
        }
        let (mut block, mut i) = split(slot);
        while block < self.blocks() {
            let tail = self.header(block).tail::<S>(i);
            if i + tail < 64 {
                return block * 64 + u64::from(i + tail) + 1;
            }
            block += 1;
            i = 0;
        }
        self.slots
    }

    /// How many slots the runs of earlier blocks take in `block` and later ones.
    #[inline(always)]
    pub(super) fn offset<I: Isa>(&self, block: u64, header: &BlockHeader) -> u64 {
        if header.offset < S::MAX_OFFSET {
            u64::from(header.offset)
        } else {
            self.long_offset::<I>(block)
        }
    }

    /// The same for an offset that is too long to be stored: walks back to a block whose
    /// offset is stored, and from there forward over the runs.
    #[cold]
    fn long_offset<I: Isa>(&self, block: u64) -> u64 {
        let mut from = block;
        let mut header = self.header(from);
        while header.offset >= S::MAX_OFFSET && from > 0 {
            from -= 1;
            header = self.header(from);
        }
        let mut end = from * 64 + u64::from(header.offset);
        while from < block {
            end = self.end_of_block::<I>(from, end);
            from += 1;
        }
        end.saturating_sub(block * 64)
    }

    /// One past the last slot of the runs of `block` and all before, given the same for
    /// the blocks before: the next block's offset, from its own start.
    #[inline(always)]
    pub(super) fn end_of_block<I: Isa>(&self, block: u64, end_before: u64) -> u64 {
        let runs = self.header(block).occupieds.count_ones();
        if runs == 0 {
            end_before
        } else {
            self.select_from::<I>(end_before.max(block * 64), runs - 1) + 1
        }
    }

    /// Are at least `count` slots free where a slot of `run` would be opened?
    #[inline(always)]
    pub(super) fn has_room<I: Isa>(&self, run: &Run, count: usize) -> bool {
        let mut from = run.end;
        for _ in 0..count {
            from = self.first_empty::<I>(from) + 1;
            if from > self.slots {
                return false;
            }
        }
        true
    }

    /// The first slot of `run` that is above `slot_value`, bits that take no part in comparisons
    /// included, or its end. The run has no marked slots.
    #[inline(always)]
    pub(crate) fn upper_bound(&self, run: &Run, slot_value: u64) -> u64 {
        let pattern = self.packed().repeat(slot_value);
        let mut at = run.start;
        while at < run.end {
            let (block, i) = split(at);
            let count = u64::from(self.packed().per_window().min(64 - i)).min(run.end - at);
            let window = self.block(block).window(i);
            let at_most = self.packed().count_at_most(window, pattern, count as u32);
            at += u64::from(at_most);
            if u64::from(at_most) < count {
                break;
            }
        }
        at
    }

    /// Is any slot of `run` marked?
    #[inline(always)]
    pub(crate) fn has_marks(&self, run: &Run) -> bool {
        if !S::MARKS {
            return false;
        }
        let mut at = run.start;
        while at < run.end {
            let (block, i) = split(at);
            let count = u64::from(64 - i).min(run.end - at);
            let slots = mask_through(count as u32 - 1) << i;
            if self.header(block).marked & slots != 0 {
                return true;
            }
            at += count;
        }
        false
    }

    /// Does a slot go on in the one behind it? Not where there is none.
    #[inline(always)]
    pub(crate) fn is_marked(&self, slot: u64) -> bool {
        let (block, i) = split(slot);
        block < self.blocks() && self.header(block).marked >> i & 1 == 1
    }

    /// Is a slot the last of a run?
    #[inline(always)]
    pub(crate) fn is_end(&self, slot: u64) -> bool {
        let (block, i) = split(slot);
        self.header(block).ends >> i & 1 == 1
    }

    /// The first slot of `run` behind all fingerprints with remainders below `remainder`,
    /// whether marked slots are among them or not.
    #[inline(always)]
    pub(crate) fn lower_bound(&self, run: &Run, remainder: u64) -> u64 {
        let mut at = run.start;
        if !self.has_marks(run) {
            let slot_value = remainder << self.ignored_bits();
            return match slot_value.checked_sub(1) {
                Some(below) => self.upper_bound(run, below),
                None => at,
            };
        }
        while at < run.end && self.remainder(at) < remainder {
            at = self.end_of_print(at);
        }
        at
    }
}

/// What it says that these slots have the remainder, where others of the run are marked. Bits are counted
/// from the first slot; `before` says whether the slot before that one is marked.
#[inline(always)]
fn among_marks(equal: u64, marked: u64, before: u64) -> Found {
    // A slot behind a marked one continues it.
    let homes = equal & !(marked << 1 | before);
    match homes & !marked {
        0 if homes == 0 => Found::No,
        0 => Found::Ask,
        _ => Found::Yes,
    }
}
