//! A filter that is none of the library's, under the suite: what to write for one of your own.

#![allow(clippy::unwrap_used)] // here, a panic is the message

use std::collections::BTreeSet;

use twiceshy::hash::{Hashed, Key, Seed, Sip13};
use twiceshy::{Error, Filter, Geometry, Insert, Inserted, Removed, Stats};
use twiceshy_testing::{Exactness, Kind, Report, Source, Subject, run};

/// Fingerprints in a tree: large and slow, but a filter.
#[derive(Clone)]
struct TreeFilter {
    seed: Seed,
    geometry: Geometry,
    /// The minirun ids of its keys.
    ids: BTreeSet<u64>,
}

impl TreeFilter {
    /// An empty filter with room for `slots` fingerprints.
    fn new(slots: u64, remainder_bits: u32) -> Result<Self, Error> {
        Ok(TreeFilter {
            seed: Seed::random()?,
            geometry: Geometry::new(slots, remainder_bits)?,
            ids: BTreeSet::new(),
        })
    }

    fn id(&self, key: &Hashed<'_>) -> u64 {
        self.geometry.id(key.h0())
    }
}

impl Filter for TreeFilter {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        Hashed::new::<Sip13, K>(&self.seed, key)
    }

    fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.ids.contains(&self.id(key))
    }

    fn len(&self) -> u64 {
        self.ids.len() as u64
    }

    fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        stats.items = self.len();
        stats.slots = self.geometry.slots();
        stats
    }
}

impl Insert for TreeFilter {
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        let id = self.id(key);
        let (used, slots) = (self.len(), self.geometry.slots());
        if used == slots && !self.ids.contains(&id) {
            return Err(Error::Full { used, slots });
        }
        self.ids.insert(id);
        Ok(())
    }
}

/// What the suite has to know. Whatever a filter can't do is left out: here there are no files,
/// and no other sizes.
impl Subject for TreeFilter {
    /// A key that is inserted twice is there once.
    const EXACTNESS: Exactness = Exactness::Set;

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn check(&self) -> Result<(), String> {
        match self.ids.last() {
            Some(&last) if last >= self.geometry.ids() => Err(format!("no minirun is {last}")),
            _ => Ok(()),
        }
    }

    fn ids(&self) -> Option<Vec<u64>> {
        Some(self.ids.iter().copied().collect())
    }

    fn insert_once(&mut self, key: &Hashed<'_>) -> Option<Result<Inserted, Error>> {
        let inserted = match self.contains_hashed(key) {
            true => Inserted::Present,
            false => Inserted::New,
        };
        Some(self.insert_hashed(key).map(|()| inserted))
    }

    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        let id = self.id(key);
        Some(Ok(match self.ids.remove(&id) {
            true => Removed::One,
            false => Removed::NotFound,
        }))
    }

    fn forget_all(&mut self) -> Option<()> {
        self.ids.clear();
        Some(())
    }
}

#[test]
fn the_tree_filter_conforms() {
    let mut reports = Report::new();
    // Small ones get full, and have few fingerprints to confuse.
    for (seed, slots, remainder_bits) in [(1, 1, 1), (2, 10, 3), (3, 64, 2), (4, 200, 8)] {
        let filter = TreeFilter::new(slots, remainder_bits).unwrap();
        let report = run(filter, &mut Source::from_seed(seed), 5_000);
        reports += report.unwrap_or_else(|what| panic!("{slots} slots: {what}"));
    }
    // It did what it can do, so the test can't pass by doing nothing.
    for kind in [Kind::Insert, Kind::InsertFull, Kind::Remove, Kind::Clear] {
        assert!(reports.count(kind) > 0, "{kind:?}");
    }
    assert_eq!(reports.count(Kind::Reload), 0);
}
