//! The search for room: which fingerprints must move, and where to, so that a key finds a free slot.
//!
//! When all buckets of a new key are full, one of their occupants must move to another bucket of
//! its own, whose occupant may have to move in turn. The textbook moves random occupants
//! until one finds a free slot; after too many kicks it gives up, with one fingerprint left
//! over. Here the way is found first and then walked from its far end:
//!
//! ```text
//!   new ─► bucket 3 ──► bucket 8 ──► bucket 5, which has a free slot
//!   moves:      2nd          1st
//! ```
//!
//! * Nothing moves until a way is found, so a table without one stays as it is:
//!   `Error::Full` loses no key.
//! * Each move goes into a free slot, so every occupant can be found at every moment.
//! * The search is breadth-first: the way is the shortest, and the buckets it looks at do not
//!   depend on each other, so that their cache misses overlap.

use std::ops::Range;

/// A slot of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) bucket: u64,
    pub(super) slot: u32,
}

/// Other buckets for an occupant: at most three.
pub(super) type OtherBuckets = ([u64; 3], usize);

/// A table as the search sees it.
pub(super) trait Occupants {
    type Error;

    /// What is read of a bucket once for all its cells.
    type Bucket: Copy;

    /// Slots of a bucket.
    fn slots(&self) -> u32;

    /// Reads a bucket.
    fn read(&self, bucket: u64) -> Self::Bucket;

    /// A free slot of a bucket.
    fn free(&self, bucket: u64) -> Option<u32>;

    /// The other buckets where the occupant of a cell may lie.
    fn other_buckets(
        &mut self,
        from: Self::Bucket,
        cell: Cell,
    ) -> Result<OtherBuckets, Self::Error>;

    /// Moves an occupant to a free cell. Its old cell keeps what it held until the
    /// next move, or the caller, writes there.
    fn relocate(&mut self, from: Cell, to: Cell) -> Result<(), Self::Error>;
}

/// Buckets that a search looks at before it gives up. Tables of two times four fill up to 96%
/// with it; at 90% a dozen do.
const MOST: usize = 768;

/// What a search has seen. It is kept for the next one, which reuses its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    nodes: Vec<Node>,
}

/// A full bucket that was looked at.
#[derive(Clone, Copy, Debug)]
struct Node {
    bucket: u64,
    /// The cell whose occupant could move here: a node and a slot. For the first nodes itself.
    parent: u32,
    slot: u32,
}

impl Search {
    /// Makes room in one of `roots`, all of which are full, by moving occupants; gives the cell
    /// whose occupant has left. `None` if there is no way.
    ///
    /// # Errors
    /// Those of `occupants`. Moves that were made stay, and no occupant is lost.
    #[inline]
    pub(super) fn make_room<T: Occupants>(
        &mut self,
        occupants: &mut T,
        roots: &[u64],
    ) -> Result<Option<Cell>, T::Error> {
        let all = 0..occupants.slots();
        self.run(occupants, roots, all)
    }

    /// Makes an occupant leave its cell, whoever else has to move. `false` if there is no way.
    ///
    /// # Errors
    /// As [`make_room`](Self::make_room).
    pub(super) fn evict<T: Occupants>(
        &mut self,
        occupants: &mut T,
        Cell { bucket, slot }: Cell,
    ) -> Result<bool, T::Error> {
        let freed = self.run(occupants, &[bucket], slot..slot + 1)?;
        Ok(freed.is_some())
    }

    /// Frees one of the slots `first` of a root.
    #[inline(always)]
    fn run<T: Occupants>(
        &mut self,
        occupants: &mut T,
        roots: &[u64],
        first: Range<u32>,
    ) -> Result<Option<Cell>, T::Error> {
        self.nodes.clear();
        for (at, &bucket) in (0..).zip(roots) {
            let (parent, slot) = (at, 0);
            self.nodes.push(Node {
                bucket,
                parent,
                slot,
            });
        }
        let mut at = 0;
        while at < self.nodes.len() {
            let bucket = self.nodes[at].bucket;
            let slots = if at < roots.len() {
                first.clone()
            } else {
                0..occupants.slots()
            };
            let read = occupants.read(bucket);
            for slot in slots {
                let cell = Cell { bucket, slot };
                let elsewhere = occupants.other_buckets(read, cell)?;
                if let Some(to) = self.free_cell_or_enqueue(occupants, at, slot, elsewhere) {
                    return self.walk(occupants, at, cell, to).map(Some);
                }
            }
            at += 1;
        }
        Ok(None)
    }

    /// Where the occupant of a slot of node `at` can go at once. Full buckets become nodes.
    #[inline(always)]
    fn free_cell_or_enqueue<T: Occupants>(
        &mut self,
        occupants: &T,
        at: usize,
        slot: u32,
        (buckets, count): OtherBuckets,
    ) -> Option<Cell> {
        for &bucket in &buckets[..count] {
            if let Some(slot) = occupants.free(bucket) {
                // A full bucket on the way has no free slot, so this one is not on it.
                return Some(Cell { bucket, slot });
            }
            if self.nodes.len() < MOST && !self.is_on_the_way(at, bucket) {
                self.nodes.push(Node {
                    bucket,
                    parent: at as u32,
                    slot,
                });
            }
        }
        None
    }

    /// Does the way to node `at` come through `bucket`? No bucket may change twice: what the
    /// search has seen in it must hold when it is walked.
    #[inline(always)]
    fn is_on_the_way(&self, mut at: usize, bucket: u64) -> bool {
        loop {
            let node = self.nodes[at];
            if node.bucket == bucket {
                return true;
            }
            if node.parent as usize == at {
                return false;
            }
            at = node.parent as usize;
        }
    }

    /// Makes all moves, from the last to the first: from `cell` of node `at` to the free cell
    /// `to`, and so on. Gives the cell whose occupant has left in the end.
    fn walk<T: Occupants>(
        &self,
        occupants: &mut T,
        mut at: usize,
        mut cell: Cell,
        to: Cell,
    ) -> Result<Cell, T::Error> {
        occupants.relocate(cell, to)?;
        loop {
            let node = self.nodes[at];
            if node.parent as usize == at {
                return Ok(cell);
            }
            at = node.parent as usize;
            let from = Cell {
                bucket: self.nodes[at].bucket,
                slot: node.slot,
            };
            occupants.relocate(from, cell)?;
            cell = from;
        }
    }
}
