//! The number by which a filter names a minirun, in answers and in errors.

/// The number of a minirun: all fingerprints with one quotient and one remainder.
///
/// Stable: it names the same keys after any insertion, removal, adaptation or doubling of
/// the filter. The keys are those with `h0` in [`Geometry::hash_range`](crate::Geometry::hash_range).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minirun(u64);

impl Minirun {
    /// The minirun with this id.
    #[must_use]
    pub const fn from_id(id: u64) -> Self {
        Minirun(id)
    }

    /// The number.
    #[must_use]
    pub const fn id(self) -> u64 {
        self.0
    }
}
