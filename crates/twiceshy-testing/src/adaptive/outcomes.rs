//! What a run of the adaptive suite did.

use std::fmt;
use std::ops::AddAssign;

macro_rules! outcomes {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Kinds of operations on an adaptive filter, told apart by what came of them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Outcome {
            $($(#[$doc])* $name,)*
        }

        impl Outcome {
            /// All of them.
            pub const ALL: &'static [Outcome] = &[$(Outcome::$name),*];
        }
    };
}

outcomes! {
    /// An insertion of a new key.
    Insert,
    /// An insertion that brought a ghost back.
    InsertRevived,
    /// An insertion of a member: a surplus fingerprint.
    InsertSurplus,
    /// An insertion refused for want of room.
    InsertFull,
    /// An insertion refused because a count or value hangs on the minirun.
    InsertNeedsKeys,
    /// A value with too many bits, or a count of zero.
    InsertImpossible,
    /// An insertion with the minirun's keys.
    InsertWith,
    /// One of those that brought a ghost back.
    InsertWithRevived,
    /// One of those whose key was among the keys.
    InsertWithPresent,
    /// One of those refused for want of room.
    InsertWithFull,
    /// One of those refused because the keys did not fit.
    InsertWithMismatch,
    /// One of those refused because of a key with the same stream.
    InsertWithInseparable,
    /// An adaptation that lengthened fingerprints.
    Adapt,
    /// One that lengthened more than one.
    AdaptSeveral,
    /// One that dropped a surplus fingerprint.
    AdaptDropped,
    /// One that had nothing to do.
    AdaptNothing,
    /// One refused for want of room.
    AdaptFull,
    /// One refused because the query was a member.
    AdaptMember,
    /// One refused because the keys did not fit.
    AdaptMismatch,
    /// One refused because a key has the query's stream.
    AdaptInseparable,
    /// A removal.
    Remove,
    /// A removal that left a ghost.
    RemoveToGhost,
    /// A removal refused because the ghost had no room.
    RemoveFull,
    /// A removal refused because the keys did not fit.
    RemoveMismatch,
    /// A removal without keys.
    RemoveKnown,
    /// One of those that found nothing.
    RemoveKnownNotFound,
    /// One of those refused because the minirun holds more.
    RemoveKnownNeedsKeys,
    /// A shortening after which fewer slots were used.
    Shorten,
    /// A shortening that changed nothing.
    ShortenNothing,
    /// A shortening refused because the keys did not fit.
    ShortenMismatch,
    /// A shortening refused because a key has the stream of one to be told from.
    ShortenInseparable,
    /// A query with the answer "maybe".
    Contains,
    /// A query with the answer "no".
    ContainsNot,
    /// A comparison of all that can be asked.
    Compare,
    /// A change over to a copy, after which the original was changed.
    Clone,
    /// The removal of everything.
    Clear,
    /// Insertions in a batch.
    InsertBatch,
    /// A batch that stopped at an insertion that was refused.
    InsertBatchInterrupted,
    /// A change over to what was loaded from the file of the filter.
    Reload,
    /// A change over to twice the slots.
    Double,
    /// A change over to half the slots.
    Halve,
    /// A merge with another filter.
    Merge,
    /// A merge refused for want of room, or because counts or values collided.
    MergeRefused,
    /// A rebuild after which all that was learnt holds.
    Rebuild,
    /// A rebuild into fewer miniruns.
    RebuildSmaller,
    /// A change of size refused, with or without keys.
    ResizeRefused,
    /// A comparison with a filter loaded from all members at once.
    BulkLoad,
}

/// How many operations of each kind a run did. Reports can be added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcomes {
    counts: Vec<u64>,
    /// The longest extension.
    pub(super) longest: usize,
    /// The most fingerprints in a minirun.
    pub(super) crowd: usize,
}

impl Default for Outcomes {
    fn default() -> Self {
        Outcomes {
            counts: vec![0; Outcome::ALL.len()],
            longest: 0,
            crowd: 0,
        }
    }
}

impl Outcomes {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn record(&mut self, outcome: Outcome) {
        self.counts[outcome as usize] += 1;
    }

    /// Operations of one kind.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.counts[outcome as usize]
    }

    /// All operations.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The most digits that an extension ever had.
    #[must_use]
    pub fn longest_extension(&self) -> usize {
        self.longest
    }

    /// The most fingerprints that a minirun ever held.
    #[must_use]
    pub fn largest_minirun(&self) -> usize {
        self.crowd
    }

    /// Kinds that did not occur.
    pub fn missing(&self) -> impl Iterator<Item = Outcome> {
        let all = Outcome::ALL.iter().copied();
        all.filter(|&outcome| self.count(outcome) == 0)
    }
}

impl AddAssign for Outcomes {
    fn add_assign(&mut self, other: Outcomes) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.longest = self.longest.max(other.longest);
        self.crowd = self.crowd.max(other.crowd);
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} operations:", self.operations())?;
        for &outcome in Outcome::ALL {
            write!(f, " {outcome:?} {}", self.count(outcome))?;
        }
        let (longest, crowd) = (self.longest, self.crowd);
        write!(f, "; extensions of {longest} digits, miniruns of {crowd}")
    }
}
