//! Which filters and lists have files.

use std::fmt;

/// Which filter a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum FilterKind {
    /// [`QuotientFilter`](crate::QuotientFilter).
    Plain = 1,
    /// [`CountingFilter`](crate::CountingFilter).
    Counting = 2,
    /// [`AdaptiveFilter`](crate::AdaptiveFilter).
    Adaptive = 3,
    /// [`TelescopingFilter`](crate::TelescopingFilter).
    Telescoping = 4,
    /// [`PlainTelescopingFilter`](crate::PlainTelescopingFilter).
    PlainTelescoping = 5,
    /// [`ExtensionFilter`](crate::ExtensionFilter).
    Extension = 6,
    /// [`CuckooFilter`](crate::cuckoo::CuckooFilter).
    Cuckoo = 16,
    /// [`VacuumFilter`](crate::cuckoo::VacuumFilter).
    Vacuum = 17,
    /// [`AdaptiveCuckooFilter`](crate::cuckoo::AdaptiveCuckooFilter).
    AdaptiveCuckoo = 18,
    /// [`BloomFilter`](crate::bloom::BloomFilter).
    Bloom = 24,
    /// [`BlockedBloomFilter`](crate::bloom::BlockedBloomFilter).
    BlockedBloom = 25,
    /// [`RetouchedBloomFilter`](crate::bloom::RetouchedBloomFilter).
    RetouchedBloom = 26,
    /// [`WeightedBloomFilter`](crate::bloom::WeightedBloomFilter).
    WeightedBloom = 27,
    /// [`StaticYesNo`](crate::lists::StaticYesNo).
    StaticYesNo = 40,
    /// [`Cascade`](crate::lists::Cascade).
    Cascade = 41,
    /// [`Bloomier`](crate::lists::Bloomier).
    Bloomier = 42,
    /// [`IntegratedXor`](crate::lists::IntegratedXor).
    IntegratedXor = 43,
    /// [`Seesaw`](crate::lists::Seesaw).
    Seesaw = 44,
}

/// All kinds, and what they are called.
const KINDS: [(FilterKind, &str); 18] = [
    (FilterKind::Plain, "plain"),
    (FilterKind::Counting, "counting"),
    (FilterKind::Adaptive, "adaptive"),
    (FilterKind::Telescoping, "telescoping"),
    (FilterKind::PlainTelescoping, "telescoping, plain selectors"),
    (FilterKind::Extension, "extension"),
    (FilterKind::Cuckoo, "cuckoo"),
    (FilterKind::Vacuum, "vacuum"),
    (FilterKind::AdaptiveCuckoo, "adaptive cuckoo"),
    (FilterKind::Bloom, "Bloom"),
    (FilterKind::BlockedBloom, "blocked Bloom"),
    (FilterKind::RetouchedBloom, "retouched Bloom"),
    (FilterKind::WeightedBloom, "weighted Bloom"),
    (FilterKind::StaticYesNo, "static yes/no"),
    (FilterKind::Cascade, "cascade"),
    (FilterKind::Bloomier, "Bloomier"),
    (FilterKind::IntegratedXor, "integrated xor"),
    (FilterKind::Seesaw, "seesaw"),
];

impl FilterKind {
    /// The number that stands for this kind in a file.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The kind that `code` stands for, or `None` if this version knows no such kind.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        let mut kinds = KINDS.iter().map(|&(kind, _)| kind);
        kinds.find(|kind| kind.code() == code)
    }

    /// The number of the format of this kind, in which it is written and read: 2 for counting and adaptive
    /// filters and static yes/no lists, 1 for all others.
    #[must_use]
    pub const fn version(self) -> u16 {
        match self {
            FilterKind::Counting | FilterKind::Adaptive | FilterKind::StaticYesNo => 2,
            _ => 1,
        }
    }

    /// Is what stands behind the header words and no slots?
    pub(super) const fn is_words(self) -> bool {
        self.code() >= FilterKind::Cascade.code()
    }

    /// Does it have anything to say in the bytes that each kind has for itself? The cuckoo and Bloom
    /// families do.
    pub(super) const fn has_extra(self) -> bool {
        self.code() >= FilterKind::Cuckoo.code() && self.code() < FilterKind::StaticYesNo.code()
    }

    /// Are its slots bits, which any number of items share?
    pub(super) const fn is_bloom(self) -> bool {
        self.has_extra() && self.code() >= FilterKind::Bloom.code()
    }
}

impl fmt::Display for FilterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|(kind, _)| kind == self);
        f.pad(name.map_or("", |(_, name)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_of_one_kind_with_a_name() {
        let known = (0..=255).filter_map(FilterKind::from_code);
        let known: Vec<_> = known.map(|kind| (kind, kind.to_string())).collect();
        assert_eq!(known.len(), KINDS.len());
        assert!(known.iter().all(|(_, name)| !name.is_empty()));
        assert_eq!(FilterKind::from_code(7), None);
    }
}
