//! What operations on filters and sets did, one type for each kind of operation, and what a removal
//! is to leave behind.

/// What an insertion did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// A fingerprint was added.
    New,
    /// A ghost that fits the key has become its fingerprint, with all that it had learnt.
    Revived,
    /// The key, or in a filter without keys an equal fingerprint, was there already; nothing has
    /// changed.
    Present,
}

/// What a removal did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "`NotFound` means that the key was not a member"]
pub enum Removed {
    /// One fingerprint is gone.
    One,
    /// No fingerprint matched, or the set has no such key; nothing has changed.
    NotFound,
}

/// What a removal leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leave {
    /// Nothing.
    #[default]
    Nothing,
    /// A ghost: a fingerprint that matches nothing, but keeps the learnt extension for the
    /// next insertion that it fits. It costs a slot or more.
    Ghost,
}

/// What fixing a mistake did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Adapted {
    /// Fingerprints that matched the query and were extended, or in a filter that does not extend
    /// them, replaced by others of their keys.
    pub extended: u64,
    /// Surplus fingerprints that matched the query and were dropped: no key was left for them.
    pub dropped: u64,
    /// Others that went back to less than they had learnt, to make room.
    pub forgotten: u64,
    /// Fingerprints that still match the query: there is no room for what would tell them apart.
    pub unfixed: u64,
}

impl Adapted {
    /// One fingerprint was extended, and that is all.
    pub(crate) const ONE: Self = Adapted {
        extended: 1,
        dropped: 0,
        forgotten: 0,
        unfixed: 0,
    };
}

/// What became of a reported mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reported {
    /// The filter was wrong and has adapted.
    Fixed(Adapted),
    /// The filter was wrong; by its policy it does not adapt yet.
    Waiting,
    /// The key is a member: the answer was right.
    Member,
    /// The filter says "no" already.
    NotPositive,
}
