//! From one kind to another, without the keys.
//!
//! A home fingerprint is a range of first hash words, and any word of the range stands for it:
//! the filter that is built from these words, with the same geometry and seed, holds the same
//! home fingerprints. So whatever keeps home fingerprints can become whatever starts from them.

use super::{Object, boxed};
use crate::builder::{Buildable, Builder};
use crate::bulk::BulkLoad;
use crate::error::Error;
use crate::file::FilterKind;
use crate::filters::coded::{ExtensionFilter, PlainTelescopingFilter, TelescopingFilter};
use crate::filters::counting::CountingFilter;
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::{Hashed, Seed, StreamHash};
use crate::traits::Insert;
use crate::{AdaptiveFilter, QuotientFilter};

/// A filter of home fingerprints, given in hash order with their counts.
pub(super) fn quotient<H: StreamHash>(
    from: FilterKind,
    to: FilterKind,
    geometry: Geometry,
    seed: Seed,
    counts: impl Iterator<Item = (Fingerprint, u64)>,
) -> Result<Box<dyn Object>, Error> {
    let counts = counts.map(|(fingerprint, count)| {
        let range = geometry.hash_range(geometry.id_of(fingerprint));
        (*range.start(), count)
    });
    let hashes = counts.map(|(h0, count)| {
        // Only a counting filter knows of counts.
        let count = if to == FilterKind::Counting { count } else { 1 };
        (h0, count)
    });
    match to {
        FilterKind::Plain => Ok(boxed(load::<QuotientFilter<H>>(geometry, seed, hashes)?)),
        FilterKind::Adaptive => Ok(boxed(load::<AdaptiveFilter<H>>(geometry, seed, hashes)?)),
        FilterKind::Counting => {
            let builder = measured::<CountingFilter<H>>(geometry, seed);
            Ok(boxed(builder.build_from_sorted_counts(hashes)?))
        }
        FilterKind::Telescoping => Ok(boxed(insert::<TelescopingFilter<H>>(
            geometry, seed, hashes,
        )?)),
        FilterKind::PlainTelescoping => Ok(boxed(insert::<PlainTelescopingFilter<H>>(
            geometry, seed, hashes,
        )?)),
        FilterKind::Extension => Ok(boxed(insert::<ExtensionFilter<H>>(geometry, seed, hashes)?)),
        other => Err(impossible(from, other)),
    }
}

fn measured<F: Buildable>(geometry: Geometry, seed: Seed) -> Builder<F> {
    let (slots, bits) = (geometry.slots(), geometry.remainder_bits());
    Builder::new().slots(slots).remainder_bits(bits).seed(seed)
}

/// At once, front to back.
fn load<F: BulkLoad>(
    geometry: Geometry,
    seed: Seed,
    hashes: impl Iterator<Item = (u64, u64)>,
) -> Result<F, Error> {
    measured::<F>(geometry, seed).build_from_sorted_hashes(hashes.map(|(h0, _)| h0))
}

/// One by one.
fn insert<F: Buildable + Insert>(
    geometry: Geometry,
    seed: Seed,
    hashes: impl Iterator<Item = (u64, u64)>,
) -> Result<F, Error> {
    let mut filter = measured::<F>(geometry, seed).build()?;
    for (h0, _) in hashes {
        filter.insert_hashed(&Hashed::from_h0(h0))?;
    }
    Ok(filter)
}

/// Why there is no such conversion.
pub(super) fn impossible(from: FilterKind, to: FilterKind) -> Error {
    let why = match from {
        FilterKind::Telescoping | FilterKind::PlainTelescoping | FilterKind::Extension => {
            "what it has learnt is in its fingerprints, and only its keys tell what was there before"
        }
        FilterKind::Plain | FilterKind::Counting | FilterKind::Adaptive => {
            "such a filter stores other bits of the hashes"
        }
        _ => "it does not store enough of the hashes",
    };
    Error::geometry(format!(
        "a {from} filter can't become a {to} filter without the keys: {why}; build it from them"
    ))
}
