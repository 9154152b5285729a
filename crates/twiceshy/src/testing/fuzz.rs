//! The bodies of the fuzz targets: any bytes are a game.
//!
//! The targets in `fuzz/` are a few lines each; what they found is kept in `fuzz/corpus` and
//! replayed by `tests/corpus.rs`.

use super::adaptive::universe::Chosen;
use super::adaptive::{self, Setting};
use super::conformance;
use super::files;
use super::lists;
use super::relatives::CuckooInLockStep;
use super::source::{Exhausted, Source};
use crate::cuckoo::{AdaptiveCuckooFilter, Bins, CuckooFilter, Packing, Scheme, VacuumFilter};
use crate::hash::Seed;
use crate::plain::QuotientFilter;

/// Plays the [conformance suite](conformance) on a plain quotient filter as the bytes say.
///
/// # Panics
/// If the filter did anything wrong.
pub fn fuzz_plain(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    let measures = |source: &mut Source<'_>| -> Result<_, Exhausted> {
        Ok((1 + source.below(200)?, 1 + source.below(12)? as u32))
    };
    let Ok((slots, remainder_bits)) = measures(&mut source) else {
        return;
    };
    let filter = QuotientFilter::builder()
        .hash::<Chosen>()
        .slots(slots)
        .remainder_bits(remainder_bits)
        .seed(Seed::from_u64(0))
        .build()
        .expect("a small filter");
    if let Err(error) = conformance::run(filter, &mut source, u64::MAX) {
        panic!("{slots} slots, {remainder_bits} bits: {error}");
    }
}

/// Plays the [game of the adaptive filter](adaptive) as the bytes say.
///
/// # Panics
/// If the filter did anything wrong.
pub fn fuzz_adaptive(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    let Ok(setting) = Setting::any(&mut source) else {
        return;
    };
    if let Err(error) = adaptive::run(setting, &mut source, u64::MAX) {
        panic!("{error}");
    }
}

/// Plays the [game of the dynamic lists](lists) as the bytes say.
///
/// # Panics
/// If a list did anything wrong.
pub fn fuzz_lists(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    if let Err(error) = lists::play_any(&mut source, u64::MAX) {
        panic!("{error}");
    }
}

/// Gives the bytes the checksum of a file and loads them in every way; see [`files`].
///
/// # Panics
/// If a loader did anything wrong.
pub fn fuzz_loader(data: &[u8]) {
    let mut bytes = data.to_vec();
    files::repair(&mut bytes);
    files::judge(&bytes);
}

/// Plays the [conformance suite](conformance) on a cuckoo or vacuum filter, plain or
/// semi-sorted, or on an adaptive cuckoo filter with its keys, as the bytes say.
///
/// # Panics
/// If the filter did anything wrong.
pub fn fuzz_cuckoo(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    let measures = |source: &mut Source<'_>| -> Result<_, Exhausted> {
        let kind = source.below(8)?;
        Ok((kind, 1 + source.below(40)?, 4 + source.below(29)? as u32))
    };
    let Ok((kind, buckets, bits)) = measures(&mut source) else {
        return;
    };
    let packing = match kind {
        1 | 3 => Packing::SemiSorted,
        _ => Packing::Whole,
    };
    let adaptive = |scheme, layout| {
        let builder = AdaptiveCuckooFilter::builder(scheme).hash::<Chosen>();
        let builder = builder.bins(buckets).fingerprint_bits(bits).layout(layout);
        CuckooInLockStep::new(builder.seed(Seed::from_u64(0))).expect("a small filter")
    };
    let result = match kind {
        0 | 1 => {
            let builder = CuckooFilter::builder().hash::<Chosen>().packing(packing);
            let filter = builder.buckets(buckets).fingerprint_bits(bits);
            let filter = filter.seed(Seed::from_u64(0)).build();
            conformance::run(filter.expect("a small filter"), &mut source, u64::MAX)
        }
        2 | 3 => {
            let builder = VacuumFilter::builder().hash::<Chosen>().packing(packing);
            let filter = builder.buckets(buckets).fingerprint_bits(bits);
            let filter = filter.seed(Seed::from_u64(0)).build();
            conformance::run(filter.expect("a small filter"), &mut source, u64::MAX)
        }
        4 => {
            let filter = adaptive(Scheme::Swapping, Bins::TwoOfFour);
            conformance::run(filter, &mut source, u64::MAX)
        }
        5 => {
            let filter = adaptive(Scheme::Cuckooing, Bins::FourOfOne);
            conformance::run(filter, &mut source, u64::MAX)
        }
        selector_bits => {
            let selector_bits = selector_bits as u32 - 5;
            let filter = adaptive(Scheme::Cyclic { selector_bits }, Bins::FourOfOne);
            conformance::run(filter, &mut source, u64::MAX)
        }
    };
    if let Err(error) = result {
        panic!("kind {kind}, {buckets} buckets, {bits} bits: {error}");
    }
}
