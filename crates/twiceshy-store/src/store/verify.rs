//! Checking that everything is as it must be.

use std::collections::BTreeSet;
use std::ops::{Bound::Unbounded, ControlFlow};

use super::Store;
use crate::engine::{Engine, EngineError, Snapshot, Table};
use crate::error::Error;
use crate::generation::{Asked, Generation};
use crate::hash_order;
use crate::layout::{Layout, Merged};

/// What was found to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Records, each with a fingerprint.
    pub records: u64,
}

impl<E: Engine, L: Layout> Store<E, L> {
    /// Goes through all records and the whole filter: is the filter's "no" never wrong, does
    /// everything stand where it should, do the counts agree? Writers wait meanwhile.
    ///
    /// # Errors
    /// [`Error::Inconsistent`] with the first thing that is not right, and [`Error::Engine`].
    pub fn verify(&self) -> Result<Verified, Error> {
        let _gate = self.wait_for_writers()?;
        let snapshot = self.snapshot()?;
        let generations = self.generations();
        let mut records = 0;
        for generation in &generations {
            records += self.verify_generation(&snapshot, generation)?;
        }
        for table in [Table::Even, Table::Odd] {
            if generations
                .iter()
                .all(|generation| generation.table != table)
            {
                let found = count(&snapshot, table)?;
                if found > 0 {
                    let reason = format!("{found} entries in a table that should be empty");
                    return Err(Error::inconsistent(reason));
                }
            }
        }
        if L::CODE != <Merged as crate::layout::sealed::Layout>::CODE {
            self.verify_split(&snapshot, &generations)?;
        }
        if records != self.len() {
            let counted = self.len();
            let reason = format!("{records} records, but {counted} were counted");
            return Err(Error::inconsistent(reason));
        }
        Ok(Verified { records })
    }

    /// Every entry of a generation's table: under its own hash, in the right generation, and
    /// not denied by the filter.
    fn verify_generation(
        &self,
        snapshot: &E::Snapshot<'_>,
        generation: &Generation,
    ) -> Result<u64, Error> {
        let mut counts = vec![0; generation.shards().len()];
        let mut wrong = None;
        snapshot.range(generation.table, (Unbounded, Unbounded), |entry, _| {
            let verdict = match hash_order::split(entry) {
                None => Err("an entry without a hash"),
                Some((h0, key)) => {
                    let key = generation.hash(key);
                    counts[key.shard] += 1;
                    match generation.shard(key.shard).ask(&key.rest) {
                        _ if key.h0 != h0 => Err("a record under a hash that is not its own"),
                        Asked::No => Err("the filter denies a record that is there"),
                        Asked::Moved => Err("a record that should have moved"),
                        Asked::Maybe(_) => Ok(()),
                    }
                }
            };
            match verdict {
                Ok(()) => ControlFlow::Continue(()),
                Err(reason) => {
                    wrong = Some(format!("{reason}: {entry:02x?}"));
                    ControlFlow::Break(())
                }
            }
        })?;
        if let Some(reason) = wrong {
            return Err(Error::inconsistent(reason));
        }
        for (shard, found) in generation.shards().iter().zip(&counts) {
            shard.check_invariants().map_err(Error::inconsistent)?;
            let counted = shard.counters.records();
            if counted != *found {
                let reason = format!("{found} records in a shard, but {counted} were counted");
                return Err(Error::inconsistent(reason));
            }
        }
        Ok(counts.iter().sum())
    }

    /// In the split layout, records and reverse map have the same keys.
    fn verify_split(
        &self,
        snapshot: &E::Snapshot<'_>,
        generations: &[std::sync::Arc<Generation>],
    ) -> Result<(), Error> {
        let mut mapped = BTreeSet::new();
        for generation in generations {
            let everything = 0..=u64::MAX;
            hash_order::scan(snapshot, generation.table, &everything, |_, key, _| {
                mapped.insert(key.to_vec());
                ControlFlow::Continue(())
            })?;
        }
        let mut unmapped = None;
        let mut records = 0;
        snapshot.range(Table::Records, (Unbounded, Unbounded), |key, _| {
            records += 1;
            if mapped.contains(key) {
                return ControlFlow::Continue(());
            }
            unmapped = Some(format!("a record is not in the reverse map: {key:02x?}"));
            ControlFlow::Break(())
        })?;
        match unmapped {
            Some(reason) => Err(Error::inconsistent(reason)),
            None if records != mapped.len() => {
                let mapped = mapped.len();
                let reason = format!("{records} records, but {mapped} keys in the reverse map");
                Err(Error::inconsistent(reason))
            }
            None => Ok(()),
        }
    }
}

fn count(snapshot: &impl Snapshot, table: Table) -> Result<u64, EngineError> {
    let mut count = 0;
    snapshot.range(table, (Unbounded, Unbounded), |_, _| {
        count += 1;
        ControlFlow::Continue(())
    })?;
    Ok(count)
}
