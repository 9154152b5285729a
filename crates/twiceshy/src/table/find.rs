//! Finding runs: rank, select, offsets.
//!
//! ```text
//! quotient q   rank: how many runs the block has up to q     (occupieds)
//!              select: where the last of those ends          (runends, from the offset on)
//!              the end before it is where the run starts
//! ```
//!
//! Nearly always all of this is inside one block and is a handful of instructions
//! without a branch ([`Header::run`]); what leaves the block takes the long way here.

use super::Fingerprint;
use super::block::Header;
use super::sidecar::Sidecar;
use super::table::{Table, split};
use crate::bits::{Bytes, Isa, RawBlock, in_register, mask_through, rank_through};

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

/// What a look at a run says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glance {
    /// The answer.
    Clear(bool),
    /// The run leaves its block, or is longer than a window.
    Beyond,
    /// The remainder is there, but goes on in the slots behind; or one of those looks like it.
    Continued,
}

/// The same, and a closer look at a run with marked slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closer {
    /// The answer.
    Clear(bool),
    /// As for [`Glance`].
    Beyond,
    /// These have the remainder, but go on.
    Extended(Homes),
}

/// Home slots of a run that is in its home block. One word, so that it travels in a register: the first
/// slot of the run, and a bit for each slot from there on, as many as a window has, 57 at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Homes(u64);

impl Homes {
    #[inline(always)]
    fn new(start: u32, homes: u64) -> Self {
        debug_assert!(homes >> 57 == 0);
        Homes(homes << 6 | u64::from(start & 63))
    }

    /// The first slot of the run of `quotient`, and a bit for each home from there on.
    #[inline(always)]
    pub(crate) fn of(self, quotient: u64) -> (u64, u64) {
        ((quotient & !63) + (self.0 & 63), self.0 >> 6)
    }
}

/// A run that is inside its block, seen at a glance.
#[derive(Clone, Copy)]
pub(crate) struct Look<'t> {
    pub(super) header: Header,
    block: RawBlock<'t>,
    /// The first slot of the run, counted from the block's start; arbitrary without a run.
    pub(crate) start: u32,
    /// How many slots more there are; none without a run.
    pub(crate) last: u32,
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

impl<'t> Look<'t> {
    /// What stands beside the slots of the block.
    #[inline(always)]
    pub(crate) fn lane(&self) -> &'t [u8] {
        self.block.lane()
    }

    /// Which slots of the run have the remainder, by their highest bits; see `Packed::equal`. Made only
    /// when it is asked for: few ask.
    #[inline(always)]
    fn equal(&self) -> u64 {
        self.asked & !self.block.packed().differ(self.window, self.pattern)
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
}

/// The ends of the runs in 64 slots.
struct Ends {
    /// The first of these slots.
    from: u64,
    ends: u64,
    /// How many runs there are in them, up to and including the one that is looked for.
    rank: u32,
}

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// Does the run of a fingerprint's quotient hold its remainder? Looks at nothing but the
    /// home block. `L` is `S`, or stands for it where nothing is marked.
    #[inline(always)]
    pub(crate) fn probe<I: Isa, L: Sidecar>(&self, fingerprint: Fingerprint) -> Closer {
        let Some(look) = self.look::<I, L>(fingerprint) else {
            return Closer::Beyond;
        };
        match self.judge::<L>(&look.block, (look.start, look.last), look.any_equal()) {
            Glance::Clear(found) => Closer::Clear(found),
            Glance::Beyond => Closer::Beyond,
            // Two hits in a hundred after 1% of the items have adapted. What is asked next no predictor
            // knows, either; but here all is at hand that a second look would have to find again, so it
            // is soon known.
            Glance::Continued => self.look_closer::<I>(&look),
        }
    }

    /// Which of the slots that have the remainder are homes in a run with marked ones, and do those go on?
    #[inline(always)]
    fn look_closer<I: Isa>(&self, look: &Look<'_>) -> Closer {
        let marked = S::marked(look.block.lane()) >> (look.start & 63);
        let homes = self.homes_of::<I>(look, marked);
        match homes & !marked {
            0 if homes == 0 => Closer::Clear(false),
            0 => Closer::Extended(Homes::new(look.start, homes)),
            _ => Closer::Clear(true),
        }
    }

    /// What it says that slots of a run equal the remainder, which starts at `start` and has `last` more
    /// slots in this block.
    #[inline(always)]
    fn judge<L: Sidecar>(
        &self,
        block: &RawBlock<'_>,
        (start, last): (u32, u32),
        any_equal: bool,
    ) -> Glance {
        // Slots that differ do not matter, whosever they are. The caller branches on the answer,
        // too, so this branch is no new one to predict.
        if !L::MARKS || !any_equal {
            return Glance::Clear(any_equal);
        }
        // A slot that goes on, or continues one, says nothing. Which one it is would be known only
        // when the slots are there; whether there are any, when the header is, and a surprise costs
        // less the earlier it comes. There are few.
        let Some(slots) = self.packed().slots_through(in_register(last.into())) else {
            return Glance::Beyond;
        };
        if slots & L::marked(block.lane()) >> (start & 63) == 0 {
            Glance::Clear(true)
        } else {
            Glance::Continued
        }
    }

    /// The home slots of the fingerprints with this remainder, a bit each, from a slot on; `None`
    /// as for [`look`](Self::look).
    #[inline(always)]
    pub(crate) fn homes<I: Isa>(&self, fingerprint: Fingerprint) -> Option<(u64, u64)> {
        let look = self.look::<I, S>(fingerprint)?;
        let homes = self.homes_of::<I>(&look, look.header.marked_from(look.start));
        let first = (fingerprint.quotient & !63) + u64::from(look.start);
        Some((first, homes))
    }

    /// [`homes`](Self::homes) where the run was seen, from its first slot on, of which these are marked.
    #[inline(always)]
    pub(super) fn homes_of<I: Isa>(&self, look: &Look<'_>, marked: u64) -> u64 {
        // A slot behind a marked one continues it.
        self.packed().slots_of::<I>(look.equal()) & !(marked << 1)
    }

    /// The run of a fingerprint's quotient, and which of its slots hold the remainder; `None`
    /// if the run leaves its block, or is longer than a window.
    ///
    /// Everything that is asked of it is computed here, and what is not, the compiler leaves out.
    #[inline(always)]
    pub(crate) fn look<I: Isa, L: Sidecar>(&self, fingerprint: Fingerprint) -> Option<Look<'_>> {
        let packed = self.packed();
        let pattern = in_register(packed.repeat_compared(fingerprint.remainder));
        let (block, i) = split(fingerprint.quotient);
        // There is such a block; but a function that can't panic needs no frame for it.
        let block = self.blocks.try_get(block)?.in_register();
        // Where exactly the run is, the header tells; but most likely near its home. Asking
        // for that line now overlaps the two misses.
        block.prefetch_slot(i);
        let header = Header::read::<L>(&block);
        if header.offset > 63 {
            return None;
        }
        let run = header.probe::<I>(i);
        let through = packed.highs_through(in_register(run.last.into()))?;
        // From here on it is read anew: no register has to keep what is needed last.
        let block = block.in_register();
        let window = block.window(run.start);
        let asked = through & run.occupied;
        Some(Look {
            header,
            block,
            start: run.start,
            last: run.last,
            occupied: run.occupied,
            asked,
            window,
            pattern,
            first_equal: asked & packed.first_equal(window, pattern),
        })
    }

    /// [`probe`](Self::probe), without a closer look, for a run that is not in its home block but in the next one; or in a
    /// later one, as most are in a table without empty slots.
    #[inline(always)]
    pub(crate) fn probe_displaced<I: Isa>(&self, fingerprint: Fingerprint) -> Glance {
        let packed = self.packed();
        let (block, i) = split(fingerprint.quotient);
        let header = self.header(block);
        let below = header.occupieds << (!i & 63);
        if below >> 63 == 0 {
            return Glance::Clear(false);
        }
        let Some(part) = self.ends_behind(block, &header, below.count_ones()) else {
            return Glance::Beyond;
        };
        let Ends { from, ends, rank } = part;
        let both = I::select_pair(ends << 1 | 1, rank);
        let start = from + u64::from(both.trailing_zeros());
        let start = start.max(fingerprint.quotient);
        // Very many if the run does not end in these 64 slots.
        let end = from + 63 - u64::from(both.leading_zeros() & 63);
        let last = end.wrapping_sub(start + 1);
        let (block, slot) = split(start);
        if last >= u64::from(packed.per_window().min(64 - slot)) {
            return Glance::Beyond;
        }
        let pattern = packed.repeat_compared(fingerprint.remainder);
        let block = self.block(block);
        let window = block.window(slot);
        let Some(through) = packed.highs_through(last) else {
            return Glance::Beyond;
        };
        let first_equal = through & packed.first_equal(window, pattern);
        self.judge::<S>(&block, (slot, last as u32), first_equal != 0)
    }

    /// [`probe`](Self::probe), without a closer look, for a run that starts in its home block and ends there or in the next
    /// one, if it is no longer than a window in either.
    #[inline(always)]
    pub(crate) fn probe_across<I: Isa>(&self, fingerprint: Fingerprint) -> Glance {
        let packed = self.packed();
        let (home, i) = split(fingerprint.quotient);
        if home + 1 >= self.blocks() {
            return Glance::Beyond;
        }
        let (header, next) = (self.header(home), self.header(home + 1));
        if header.offset > 63 {
            return Glance::Beyond;
        }
        let Some(rank) = header.rank_of_run(i) else {
            return Glance::Clear(false);
        };
        let ends = header.own_ends();
        // The end before it, if that is one of this block's own, and its own, if that is here.
        let both = I::select_pair(ends, rank - 1);
        let start = match rank {
            1 => u32::from(header.offset),
            _ => both.trailing_zeros() + 1,
        };
        let start = start.max(i);
        // Those of its slots that are in the next block.
        let (last, there) = match rank.saturating_sub(ends.count_ones()) {
            0 => (63 - (both.leading_zeros() & 63), 0),
            1 => (63, next.ends.trailing_zeros() + 1),
            _ => return Glance::Beyond,
        };
        let here = (last + 1).wrapping_sub(start);
        if start > 63 || here.max(there) > packed.per_window() || there > 63 {
            return Glance::Beyond;
        }
        let pattern = packed.repeat_compared(fingerprint.remainder);
        let block = self.block(home);
        let equal = packed.equal(block.window(start), pattern, here);
        if equal != 0 {
            let slot = start + packed.index_of_bit(equal.trailing_zeros());
            let bare = header.bare(start) >> (slot - start) & 1 == 1;
            return if S::MARKS && !bare {
                Glance::Continued
            } else {
                Glance::Clear(true)
            };
        }
        let Some(last) = there.checked_sub(1) else {
            return Glance::Clear(false);
        };
        let block = self.block(home + 1);
        let equal = packed.equal(block.window(0), pattern, there);
        // The first slot there may continue the last one here.
        if S::MARKS && equal != 0 && header.marked >> 63 == 1 {
            return Glance::Continued;
        }
        self.judge::<S>(&block, (0, last), equal != 0)
    }

    /// The ends of runs in 64 slots behind those of `block` that hold its own runs, where the run
    /// of a quotient is that has `rank` runs in this block up to its own.
    #[inline(always)]
    fn ends_behind(&self, block: u64, header: &Header, rank: u32) -> Option<Ends> {
        if block + 1 >= self.blocks() {
            return None;
        }
        if header.offset < 64 {
            // The next block; not, if the run ends here, or is the one across the border.
            let rank = rank.checked_sub(header.own_ends().count_ones())?;
            if rank <= 1 && (rank == 0 || header.ends >> 63 == 0) {
                return None;
            }
            return Some(Ends {
                from: (block + 1) * 64,
                ends: self.header(block + 1).ends,
                rank,
            });
        }
        // From where the offset says that the runs of the block start, put together from two
        // blocks.
        let from = block * 64 + u64::from(header.offset);
        let (near, skip) = split(from);
        if header.offset >= S::MAX_OFFSET || near + 1 >= self.blocks() {
            return None;
        }
        let (one, two) = (self.header(near).ends, self.header(near + 1).ends);
        Some(Ends {
            from,
            ends: one >> skip | two << 1 << (63 - skip),
            rank,
        })
    }

    /// The body of [`run`](Self::run).
    #[inline(always)]
    pub(crate) fn run_on<I: Isa>(&self, quotient: u64) -> Run {
        let (block, i) = split(quotient);
        let header = self.header(block);
        let Some(run) = header.run::<I>(i) else {
            return self.odd_run::<I>(quotient);
        };
        let base = block * 64;
        Run {
            quotient,
            occupied: run.occupied,
            start: base + u64::from(run.start),
            end: base + u64::from(run.end),
        }
    }

    /// The run of a quotient that most likely leaves its block.
    #[inline(always)]
    pub(crate) fn odd_run<I: Isa>(&self, quotient: u64) -> Run {
        let (block, i) = split(quotient);
        let header = self.header(block);
        let occupied = header.occupieds >> i & 1 == 1;
        let (start, end) = match self.bounds_near::<I>(block, &header, i) {
            Some(bounds) => bounds,
            None => {
                let start = self.end_of_runs_below::<I>(quotient).max(quotient);
                (start, self.select_from::<I>(start, 0) + 1)
            }
        };
        // A quotient without a run has the empty range where it would start.
        Run {
            quotient,
            occupied,
            start,
            end: if occupied { end } else { start },
        }
    }

    /// Where the run of quotient `i` of `block` starts, and one past its end (arbitrary
    /// without a run), if all of that is there or in the next block, which is nearly always
    /// so.
    #[inline(always)]
    fn bounds_near<I: Isa>(&self, block: u64, header: &Header, i: u32) -> Option<(u64, u64)> {
        if header.offset > 63 || block + 1 >= self.blocks() {
            return None;
        }
        let own_ends = header.own_ends();
        let here = own_ends.count_ones();
        let base = block * 64;
        // One past the end of the run that has `rank` runs of this block before it.
        let end_of = |rank: u32| {
            let (bit, base) = if rank < here {
                (I::select_bit(own_ends, rank), base)
            } else {
                let next = self.header(block + 1);
                (I::select_bit(next.ends, (rank - here) & 63), base + 64)
            };
            (bit != 0).then(|| base + u64::from(64 - bit.leading_zeros()))
        };
        let through = rank_through(header.occupieds, i);
        let occupied = header.occupieds >> i & 1;
        let before = through - occupied as u32;
        let end_before = match before.checked_sub(1) {
            Some(last) => end_of(last)?,
            None => base + u64::from(header.offset),
        };
        let start = end_before.max(base + u64::from(i));
        let end = if occupied == 1 {
            end_of(before)?
        } else {
            start
        };
        Some((start, end))
    }

    /// One past the last slot of all runs of quotients below `quotient`, or the start of
    /// the quotient's block if that is later.
    #[inline(always)]
    fn end_of_runs_below<I: Isa>(&self, quotient: u64) -> u64 {
        let (block, i) = split(quotient);
        let header = self.header(block);
        let first = block * 64 + self.offset::<I>(block, &header);
        match (header.occupieds & ((1 << i) - 1)).count_ones() {
            0 => first,
            rank => self.select_from::<I>(first, rank - 1) + 1,
        }
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
    pub(super) fn offset<I: Isa>(&self, block: u64, header: &Header) -> u64 {
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
    pub(crate) fn has_room<I: Isa>(&self, run: &Run, count: usize) -> bool {
        let mut from = run.end;
        for _ in 0..count {
            from = self.first_empty::<I>(from) + 1;
            if from > self.slots {
                return false;
            }
        }
        true
    }

    /// The first slot of `run` whose value is above `value`, or its end. The run has no
    /// marked slots.
    #[inline(always)]
    pub(crate) fn upper_bound(&self, run: &Run, value: u64) -> u64 {
        let pattern = self.packed().repeat(value);
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

    /// [`probe`](Self::probe), without a closer look, for a run that was found, wherever it is.
    #[inline(always)]
    pub(crate) fn probe_run(&self, run: &Run, remainder: u64) -> Glance {
        let packed = self.packed();
        let pattern = packed.repeat_compared(remainder);
        let mut glance = Glance::Clear(false);
        let mut at = run.start;
        while at < run.end {
            let (block, i) = split(at);
            let count = u64::from(packed.per_window().min(64 - i)).min(run.end - at);
            let raw = self.block(block);
            let equal = packed.equal(raw.window(i), pattern, count as u32);
            if equal != 0 {
                let slot = at + u64::from(packed.index_of_bit(equal.trailing_zeros()));
                let continues = slot > run.start && self.is_marked(slot - 1);
                if !S::MARKS || !self.is_marked(slot) && !continues {
                    return Glance::Clear(true);
                }
                glance = Glance::Continued;
            }
            at += count;
        }
        glance
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
            let value = remainder << self.ignored_bits();
            return match value.checked_sub(1) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_travel_in_a_word() {
        for start in 0..64 {
            for homes in [1, 0b1011, 1 << 56, (1 << 57) - 1] {
                let travelled = Homes::new(start, homes).of(64 * 1000 + 17);
                assert_eq!(travelled, (64 * 1000 + u64::from(start), homes));
            }
        }
    }
}
