//! What our filters do alike, through the library's own traits.

use std::hint::black_box;

use anyhow::Result;
use twiceshy::file::Stored;
use twiceshy::hash::{Seed, StreamHash, first_word};
use twiceshy::{Filter, Insert, View};

use super::Trust;

/// Adds all keys in one call; how many?
pub(super) fn insert_batch(filter: &mut impl Insert, keys: &[u64]) -> Result<u64> {
    filter.insert_batch(black_box(keys).iter().copied())?;
    Ok(keys.len() as u64)
}

/// How many of the keys may be members? The answers are added up on the clock, as are those
/// of single queries.
pub(super) fn contains_batch(filter: &impl Filter, keys: &[u64], found: &mut Vec<bool>) -> u64 {
    filter.contains_batch_into(black_box(keys), found);
    let found = black_box(&*found).iter();
    black_box(found.map(|&found| u64::from(found)).sum())
}

/// Opens a file of `F` where it lies; how many items has it?
pub(super) fn open<F: Stored>(file: &[u8], trust: Trust) -> Result<u64> {
    let file = black_box(file);
    let view = match trust {
        Trust::Nothing => View::<F>::new(file),
        Trust::Table => View::<F>::new_unverified(file),
    };
    Ok(black_box(&view?).len())
}

/// Brings keys into the order of their first hash words.
pub(super) fn sort_by_hash<H: StreamHash>(seed: Seed, keys: &mut [u64]) {
    let keyed = H::keyed(&seed);
    keys.sort_unstable_by_key(|key| first_word::<H, u64>(&keyed, key));
}
