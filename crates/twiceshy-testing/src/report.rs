//! What a run of the suite did.

use std::fmt;
use std::ops::AddAssign;

/// Kinds of operations, told apart by what came of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An insertion.
    Insert,
    /// An insertion that was refused for want of room.
    InsertFull,
    /// An insertion that keeps one copy, of something new.
    InsertOnce,
    /// An insertion that keeps one copy, of something that was there.
    InsertOncePresent,
    /// An insertion that keeps one copy, refused for want of room.
    InsertOnceFull,
    /// A removal.
    Remove,
    /// A removal of something that wasn't there.
    RemoveMissing,
    /// A query with the answer "maybe".
    Contains,
    /// A query with the answer "no".
    ContainsNot,
    /// A comparison of the whole contents.
    Compare,
    /// A change over to a copy, after which the original was changed.
    Clone,
    /// The removal of everything.
    Clear,
    /// Insertions in a batch.
    InsertBatch,
    /// A batch that stopped where room was wanting.
    InsertBatchFull,
    /// A change over to what was loaded from the file of the filter.
    Reload,
    /// A change over to twice the slots.
    Double,
    /// A change over to half the slots.
    Halve,
    /// A change of size refused for want of room.
    ResizeFull,
    /// A change of size refused because there is no such geometry.
    ResizeImpossible,
    /// A change over to two halves, merged.
    Merge,
    /// A merge of two halves of different sizes, or its refusal for want of room.
    MergeUnlike,
    /// A change over to a filter loaded from all hashes at once.
    BulkLoad,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 22] = [
        Kind::Insert,
        Kind::InsertFull,
        Kind::InsertOnce,
        Kind::InsertOncePresent,
        Kind::InsertOnceFull,
        Kind::Remove,
        Kind::RemoveMissing,
        Kind::Contains,
        Kind::ContainsNot,
        Kind::Compare,
        Kind::Clone,
        Kind::Clear,
        Kind::InsertBatch,
        Kind::InsertBatchFull,
        Kind::Reload,
        Kind::Double,
        Kind::Halve,
        Kind::ResizeFull,
        Kind::ResizeImpossible,
        Kind::Merge,
        Kind::MergeUnlike,
        Kind::BulkLoad,
    ];
}

/// How many operations of each [`Kind`] a run did. Reports can be added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    counts: [u64; Kind::ALL.len()],
    peak_len: u64,
}

impl Report {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn record(&mut self, kind: Kind, len: u64) {
        self.counts[kind as usize] += 1;
        self.peak_len = self.peak_len.max(len);
    }

    /// Operations of one kind.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u64 {
        self.counts[kind as usize]
    }

    /// All operations.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The most items that the filter ever held.
    #[must_use]
    pub fn peak_len(&self) -> u64 {
        self.peak_len
    }

    /// Kinds that did not occur.
    pub fn missing(&self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(|&kind| self.count(kind) == 0)
    }
}

impl AddAssign for Report {
    fn add_assign(&mut self, other: Report) {
        for kind in Kind::ALL {
            self.counts[kind as usize] += other.count(kind);
        }
        self.peak_len = self.peak_len.max(other.peak_len);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} operations:", self.operations())?;
        for kind in Kind::ALL {
            write!(f, " {kind:?} {}", self.count(kind))?;
        }
        write!(f, "; at most {} items", self.peak_len)
    }
}
