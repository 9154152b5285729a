//! The keys that a filter is given, or reads.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::symbols::{Placed, Stretch, Unit};
use crate::error::Error;
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::Hashed;

/// Where keys are read, by ranges of first hash words.
pub(super) trait Source<'k> {
    type Error: From<Error>;

    fn read(&mut self, hashes: RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, Self::Error>;
}

impl<'k, E: From<Error>, F> Source<'k> for F
where
    F: FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
{
    type Error = E;

    fn read(&mut self, hashes: RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E> {
        self(hashes)
    }
}

/// Keys that were read once, by unit.
pub(super) struct Known<'k, 'n, F> {
    unit: Unit,
    geometry: Geometry,
    source: F,
    /// A key that the source may have, but that has no slot.
    without: Option<&'n Hashed<'n>>,
    /// By the first minirun id of their unit.
    units: BTreeMap<u64, Vec<Hashed<'k>>>,
}

impl<'k, 'n, F: Source<'k>> Known<'k, 'n, F> {
    /// Keys from a source.
    pub(super) fn new(
        unit: Unit,
        geometry: Geometry,
        source: F,
        without: Option<&'n Hashed<'n>>,
    ) -> Self {
        Known {
            unit,
            geometry,
            source,
            without,
            units: BTreeMap::new(),
        }
    }

    /// All different keys of the unit that has this fingerprint.
    pub(super) fn of(&mut self, home: Fingerprint) -> Result<Vec<Placed<'_, 'k>>, F::Error> {
        let ids = self.unit.ids(&self.geometry, home);
        let first = *ids.start();
        if !self.units.contains_key(&first) {
            let hashes = Stretch::of_ids(&self.geometry, &ids).hashes();
            let mut keys: Vec<Hashed<'k>> = Vec::new();
            for key in self.source.read(hashes.clone())? {
                if !hashes.contains(&key.h0()) {
                    return Err(Error::mismatch("a key belongs to another place").into());
                }
                let others = keys.iter().chain(self.without);
                if !others
                    .into_iter()
                    .any(|other| other.h0() == key.h0() && other.is_same_key(&key))
                {
                    keys.push(key);
                }
            }
            self.units.insert(first, keys);
        }
        let keys = self.units[&first].iter();
        Ok(keys.map(|key| Placed::new(&self.geometry, key)).collect())
    }
}

/// Refuses keys outside of a stretch where nobody would be told to give some: those of a minirun.
pub(super) fn check(unit: Unit, at: Stretch, keys: &[Hashed<'_>]) -> Result<(), Error> {
    let is_outside = |key: &Hashed<'_>| !at.hashes().contains(&key.h0());
    if unit == Unit::Minirun && keys.iter().any(is_outside) {
        return Err(Error::mismatch("a key belongs to another minirun"));
    }
    Ok(())
}

/// Keys from a slice that has all of a stretch. What is outside of it is not looked at.
pub(super) fn given<'k>(
    at: Stretch,
    keys: &'k [Hashed<'k>],
) -> impl FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, Error> {
    move |hashes| {
        let (first, last) = (*hashes.start(), *hashes.end());
        if first < at.first || last > at.last {
            return Err(Stretch::new(first.min(at.first), last.max(at.last)).needed());
        }
        let inside = keys.iter().filter(|key| hashes.contains(&key.h0()));
        Ok(inside.cloned().collect())
    }
}
