//! The bodies of the fuzz targets: any bytes are a game.
//!
//! The targets in `fuzz/` are a few lines each; what they found is kept in `fuzz/corpus` and
//! replayed by `tests/corpus.rs`.

use super::adaptive::universe::Chosen;
use super::adaptive::{self, Setting};
use super::conformance;
use super::files;
use super::source::{Exhausted, Source};
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

/// Gives the bytes the checksum of a file and loads them in every way; see [`files`].
///
/// # Panics
/// If a loader did anything wrong.
pub fn fuzz_loader(data: &[u8]) {
    let mut bytes = data.to_vec();
    files::repair(&mut bytes);
    files::judge(&bytes);
}
