//! What adaptive and counting filters know of a member.

/// The count and value of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// How often it was inserted.
    pub count: u64,
    /// The value bits.
    pub value: u64,
}

impl Entry {
    /// A count and a value.
    #[must_use]
    pub const fn new(count: u64, value: u64) -> Self {
        Entry { count, value }
    }
}
