//! The model of a quotient table, and sidecars to try it with.

use crate::bits;
use crate::hash::{GOLDEN, mix};
use crate::table::{Mark, Marks, Run, Sidecar, Slot};

/// SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// The sidecar of all tests: marks, or a byte beside each slot, or neither, the
/// highest offset to store, and whether marked slots may have runend bits.
pub(super) struct Lane<
    const MARKED: bool,
    const TAGGED: bool,
    const MAX: u16 = { u16::MAX },
    const RUNENDS: bool = true,
>;

/// Marks of slots without runend bits, and the highest offset to store.
pub(super) type Unended<const MAX: u16 = { u16::MAX }> = Lane<true, false, MAX, false>;

pub(super) type Tag = (Mark, u8);

impl<const MARKED: bool, const TAGGED: bool, const MAX: u16, const RUNENDS: bool>
    Lane<MARKED, TAGGED, MAX, RUNENDS>
{
    /// Where the tags start.
    const TAGS: usize = 8 * MARKED as usize;
}

impl<const MARKED: bool, const TAGGED: bool, const MAX: u16, const RUNENDS: bool> bits::Lane
    for Lane<MARKED, TAGGED, MAX, RUNENDS>
{
    const BYTES: usize = Self::TAGS + 64 * TAGGED as usize;
}

impl<const MARKED: bool, const TAGGED: bool, const MAX: u16, const RUNENDS: bool> Sidecar
    for Lane<MARKED, TAGGED, MAX, RUNENDS>
{
    type Item = Tag;
    const MARKS: bool = MARKED;
    const MAX_OFFSET: u16 = MAX;

    fn marked(lane: &[u8]) -> u64 {
        <Marks>::marked(lane)
    }

    fn is_mark(item: Tag) -> bool {
        <Marks>::is_mark(item.0)
    }

    fn get(lane: &[u8], slot: u32) -> Tag {
        let (marks, tags) = lane.split_at(Self::TAGS);
        let mark = MARKED.then(|| <Marks>::get(marks, slot));
        let tag = TAGGED.then(|| tags[slot as usize]);
        (mark.unwrap_or_default(), tag.unwrap_or_default())
    }

    fn shift_up(lane: &mut [u8], from: u32, to: u32, (mut mark, mut tag): Tag) -> Tag {
        let (marks, tags) = lane.split_at_mut(Self::TAGS);
        if MARKED {
            mark = <Marks>::shift_up(marks, from, to, mark);
        }
        if TAGGED {
            tags[from as usize..=to as usize].rotate_right(1);
            std::mem::swap(&mut tags[from as usize], &mut tag);
        }
        (mark, tag)
    }

    fn shift_down(lane: &mut [u8], from: u32, to: u32, (mut mark, mut tag): Tag) -> Tag {
        let (marks, tags) = lane.split_at_mut(Self::TAGS);
        if MARKED {
            mark = <Marks>::shift_down(marks, from, to, mark);
        }
        if TAGGED {
            tags[from as usize..=to as usize].rotate_left(1);
            std::mem::swap(&mut tags[to as usize], &mut tag);
        }
        (mark, tag)
    }
}

/// What is generic over [`Lane`].
pub(super) trait Made: Sidecar<Item = Tag> {
    const TAGGED: bool;
    /// Do marked slots have runend bits?
    const MARKED_RUNENDS: bool;

    fn item(mark: Mark, random: u64) -> Tag;
}

impl<const MARKED: bool, const TAGGED: bool, const MAX: u16, const RUNENDS: bool> Made
    for Lane<MARKED, TAGGED, MAX, RUNENDS>
{
    const TAGGED: bool = TAGGED;
    const MARKED_RUNENDS: bool = MARKED && RUNENDS;

    fn item(mark: Mark, random: u64) -> Tag {
        (mark, random as u8 * u8::from(TAGGED))
    }
}

/// One fingerprint: its home slot and the digits behind it, each with the mark and the runend bit
/// that the slot before it has. The runend bit of its last slot is not part of it.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) home: (u64, Tag),
    pub(super) tail: Vec<Slot<Tag>>,
}

impl Stored {
    pub(super) fn slots(&self) -> u64 {
        1 + self.tail.len() as u64
    }

    /// What its slots hold; the last one may be the end of its run.
    pub(super) fn content(&self, runend: bool) -> Vec<Slot<Tag>> {
        let (mut value, item) = self.home;
        let mut slots = Vec::new();
        for &digit in &self.tail {
            slots.push(Slot { value, ..digit });
            value = digit.value;
        }
        #[rustfmt::skip]
        slots.push(Slot { value, runend, item });
        slots
    }
}

/// The runs of all quotients, most of them empty.
pub(super) struct Model {
    pub(super) runs: Vec<Vec<Stored>>,
}

/// Where everything must be.
pub(super) struct Layout {
    pub(super) slots: Vec<Option<Slot<Tag>>>,
    pub(super) runs: Vec<Run>,
}

impl Model {
    pub(super) fn new(quotients: u64) -> Self {
        let runs = (0..quotients).map(|_| Vec::new()).collect();
        Model { runs }
    }

    /// The definition: each run at its home or right behind the one before.
    pub(super) fn layout(&self, slots: u64) -> Layout {
        let mut layout = Layout {
            slots: vec![None; slots as usize],
            runs: Vec::new(),
        };
        let mut end = 0;
        for (quotient, stored) in (0..).zip(&self.runs) {
            let start = u64::max(end, quotient);
            let mut at = start;
            for (i, fingerprint) in stored.iter().enumerate() {
                for slot in fingerprint.content(i + 1 == stored.len()) {
                    layout.slots[at as usize] = Some(slot);
                    at += 1;
                }
            }
            let occupied = !stored.is_empty();
            if occupied {
                end = at;
            }
            layout.runs.push(Run {
                quotient,
                occupied,
                start,
                end: at,
            });
        }
        layout
    }

    /// The slot of fingerprint `i` of a run, counted from the run's start.
    pub(super) fn slot_of(&self, quotient: u64, i: usize) -> u64 {
        let before = &self.runs[quotient as usize][..i];
        before.iter().map(Stored::slots).sum()
    }

    pub(super) fn used(&self) -> u64 {
        self.runs.iter().flatten().map(Stored::slots).sum()
    }
}

impl Layout {
    pub(super) fn first_empty(&self, from: u64) -> u64 {
        let behind = &self.slots[(from as usize).min(self.slots.len())..];
        let empty = behind.iter().position(Option::is_none);
        empty.map_or(self.slots.len() as u64, |more| from + more as u64)
    }

    pub(super) fn longest_cluster(&self) -> u64 {
        let clusters = self.slots.split(Option::is_none);
        clusters.map(|used| used.len() as u64).max().unwrap_or(0)
    }
}
