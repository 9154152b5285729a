//! Kinds by name.

use clap::ValueEnum;
use twiceshy::file::FilterKind;

/// A kind of filter, as the command line calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// Quotient filter: small, fast, can be merged and resized
    Plain,
    /// Quotient filter that counts how often each key was inserted
    Counting,
    /// Quotient filter that can learn from its mistakes
    Adaptive,
    /// Learns in fixed space by changing remainders
    Telescoping,
    /// The same with plain selectors
    PlainTelescoping,
    /// Learns in fixed space by short extensions
    Extension,
    /// Cuckoo filter
    Cuckoo,
    /// Cuckoo filter whose two places are near each other
    Vacuum,
    /// Cuckoo filter that can learn; all keys are in memory while it is built
    AdaptiveCuckoo,
    /// Standard Bloom filter
    Bloom,
    /// Bloom filter that reads one cache line a question
    BlockedBloom,
    /// Bloom filter in which bits may be cleared
    RetouchedBloom,
    /// Bloom filter with more hashes for popular keys (needs `--popular`)
    WeightedBloom,
}

impl From<KindArg> for FilterKind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Plain => FilterKind::Plain,
            KindArg::Counting => FilterKind::Counting,
            KindArg::Adaptive => FilterKind::Adaptive,
            KindArg::Telescoping => FilterKind::Telescoping,
            KindArg::PlainTelescoping => FilterKind::PlainTelescoping,
            KindArg::Extension => FilterKind::Extension,
            KindArg::Cuckoo => FilterKind::Cuckoo,
            KindArg::Vacuum => FilterKind::Vacuum,
            KindArg::AdaptiveCuckoo => FilterKind::AdaptiveCuckoo,
            KindArg::Bloom => FilterKind::Bloom,
            KindArg::BlockedBloom => FilterKind::BlockedBloom,
            KindArg::RetouchedBloom => FilterKind::RetouchedBloom,
            KindArg::WeightedBloom => FilterKind::WeightedBloom,
        }
    }
}
