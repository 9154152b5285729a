//! Rebuilding with the keys, and growing in the middle of it all.

use std::collections::BTreeSet;

use twiceshy::filters::adaptive::Leave;
use twiceshy::filters::adaptive::rebuild::{Learnt, Rebuilt};
use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy::{AdaptiveFilter, AdaptiveSet, CountingFilter, Error, Removed};
use twiceshy::{Entry, Geometry, Minirun};
use twiceshy_testing::adaptive::universe::{Chosen, Universe};
use twiceshy_testing::{Exhausted, Source};

type Filter = AdaptiveFilter<Chosen>;

fn empty(slots: u64, bits: u32, value_bits: u32, seed: u64) -> Filter {
    AdaptiveFilter::builder()
        .hash::<Chosen>()
        .slots(slots)
        .remainder_bits(bits)
        .value_bits(value_bits)
        .seed(Seed::from_u64(seed))
        .build()
        .expect("a small filter")
}

/// A filter with random members of a small world, counts and values among them, and which
/// mistakes were fixed.
struct World {
    universe: Universe,
    filter: Filter,
    members: BTreeSet<usize>,
    fixed: BTreeSet<usize>,
}

impl World {
    fn new(
        slots: u64,
        bits: u32,
        value_bits: u32,
        source: &mut Source<'_>,
    ) -> Result<Self, Exhausted> {
        let geometry = Geometry::new(slots, bits).expect("a small geometry");
        let universe = loop {
            let universe = Universe::new(&geometry, bits + value_bits, source)?;
            if !universe.twins {
                break universe;
            }
        };
        let mut world = World {
            universe,
            filter: empty(slots, bits, value_bits, 1),
            members: BTreeSet::new(),
            fixed: BTreeSet::new(),
        };
        let counted = source.one_in(2)?;
        for _ in 0..3 * world.universe.keys.len() {
            world.step(value_bits, counted, source)?;
        }
        Ok(world)
    }

    fn step(
        &mut self,
        value_bits: u32,
        counted: bool,
        source: &mut Source<'_>,
    ) -> Result<(), Exhausted> {
        let i = source.below(self.universe.keys.len() as u64)? as usize;
        let key = self.universe.keys[i].keyed();
        let minirun = Minirun::from_id(self.universe.keys[i].minirun);
        let of = |&&j: &&usize| self.universe.keys[j].minirun == minirun.id();
        let keys: Vec<_> = (self.members.iter().filter(of))
            .map(|&j| self.universe.keys[j].keyed())
            .collect();
        if self.members.contains(&i) {
            let leave = source.pick(&[Leave::Nothing, Leave::Ghost])?;
            if source.one_in(4)? && self.filter.remove(&key, &keys, leave).is_ok() {
                self.members.remove(&i);
                self.fixed.clear();
            }
        } else if source.one_in(2)? {
            let count = if counted { 1 + source.below(6)? } else { 1 };
            let value = source.below(1 << value_bits)?;
            if self.filter.insert_with(&key, count, value, &keys).is_ok() {
                self.members.insert(i);
                // A new member may match what was fixed for others.
                self.fixed.clear();
            }
        } else if self.filter.adapt(&key, minirun, &keys).is_ok() {
            self.fixed.insert(i);
        }
        Ok(())
    }

    /// The members in hash order.
    fn sorted(&self) -> Vec<Hashed<'_>> {
        let mut keys: Vec<_> = (self.members.iter())
            .map(|&i| self.universe.keys[i].keyed())
            .collect();
        keys.sort_by_key(Hashed::h0);
        keys
    }

    /// All miniruns handed over one by one, the last first.
    fn hand_over(&self, mut into: Filter) -> Filter {
        let geometry = self.filter.geometry();
        let keys = self.sorted();
        let miniruns = keys.chunk_by(|a, b| geometry.id(a.h0()) == geometry.id(b.h0()));
        for keys in miniruns.rev() {
            let minirun = Minirun::from_id(geometry.id(keys[0].h0()));
            let result = self.filter.hand_over(minirun, keys, &mut into);
            result.expect("there is room");
            let again = self.filter.hand_over(minirun, keys, &mut into);
            let again = again.expect_err("it has happened");
            assert!(again.to_string().contains("before"), "{again}");
        }
        assert_eq!(into.check_invariants(), Ok(()));
        into
    }

    fn rebuild(&self, into: Filter) -> Result<(Filter, Rebuilt), Error> {
        let (filter, report) = self.filter.rebuild(into, self.sorted())?;
        assert_eq!(filter.check_invariants(), Ok(()));
        assert_eq!(filter.len(), self.members.len() as u64);
        assert_eq!(report.members, filter.len());
        assert_eq!(report.ghosts, filter.ghosts());
        assert_eq!(report.ghosts + report.ghosts_dropped, self.filter.ghosts());
        assert_eq!((report.added, report.dropped), (0, 0));
        for key in self.sorted() {
            assert!(filter.contains_hashed(&key), "a member is lost");
            assert_eq!(filter.entry_hashed(&key), self.filter.entry_hashed(&key));
        }
        Ok((filter, report))
    }
}

/// At any multiple of the slots, every mistake that was fixed stays fixed, and what was
/// answered "no" without a fix as well.
#[test]
fn multiples_keep_everything() {
    let (mut fixed, mut extended, mut ghosts, mut full) = (0, 0, 0, 0);
    let mut handed_over = 0;
    for seed in 0..400 {
        let source = &mut Source::from_seed(seed);
        let (slots, bits) = (
            1 + source.below(120).unwrap(),
            1 + source.below(4).unwrap() as u32,
        );
        let value_bits = source.pick(&[0, 0, 1, 3]).unwrap();
        let world = World::new(slots, bits, value_bits, source).unwrap();
        for (times, bits) in [
            (1, bits),
            (2, bits),
            (3, bits),
            (5, bits + 2),
            (4, bits.max(3) - 2),
        ] {
            let into = empty(slots * times, bits, value_bits, 1);
            let multiple = into.geometry().ids() % world.filter.geometry().ids() == 0;
            let (filter, report) = match world.rebuild(into) {
                Ok(done) => done,
                Err(error) => {
                    assert!(matches!(error, Error::Full { .. }), "{error}");
                    full += 1;
                    continue;
                }
            };
            assert_eq!(report.learnt == Learnt::Everything, multiple);
            if multiple {
                if filter.ghosts() == 0 {
                    let handed = world.hand_over(empty(slots * times, bits, value_bits, 1));
                    assert!(handed.to_bytes() == filter.to_bytes(), "seed {seed}");
                    handed_over += 1;
                }
                for key in &world.universe.keys {
                    let before = world.filter.contains_hashed(&key.keyed());
                    let now = filter.contains_hashed(&key.keyed());
                    assert!(before || !now, "seed {seed}: a mistake has come back");
                }
                fixed += world.fixed.len();
            }
            extended += report.extended;
            ghosts += report.ghosts;
        }
    }
    assert!(
        fixed > 1_000 && extended > 10_000 && ghosts > 100,
        "{fixed} {extended} {ghosts}"
    );
    assert!(full < 400 && handed_over > 400, "{full} {handed_over}");
}

/// A minirun that finds no room among its new ones leaves nothing behind, and is taken when there
/// is some.
#[test]
fn a_minirun_that_found_no_room_is_handed_over_later() {
    let (mut full, mut several, mut later) = (0, 0, 0);
    for seed in 0..200 {
        let source = &mut Source::from_seed(seed);
        let slots = 8 * (16 + source.below(60).unwrap());
        let new = |slots, bits| {
            let builder = AdaptiveFilter::builder().seed(Seed::from_u64(seed));
            builder.slots(slots).remainder_bits(bits).build().unwrap()
        };
        // Two new miniruns for each old one, in an eighth of the slots.
        let (mut old, mut into) = (new(slots, 1), new(slots / 8, 5));
        let names: Vec<_> = (0..slots).map(|i| format!("key{i}")).collect();
        let mut keys: Vec<_> = names.iter().map(|name| old.hash(&name[..])).collect();
        keys.sort_by_key(Hashed::h0);
        for key in &keys {
            old.insert_hashed(key).unwrap();
        }
        let (geometry, finer) = (old.geometry(), into.geometry());
        let mut handed = Vec::new();
        for keys in keys.chunk_by(|a, b| geometry.id(a.h0()) == geometry.id(b.h0())) {
            let minirun = Minirun::from_id(geometry.id(keys[0].h0()));
            let new: Vec<_> = (keys.chunk_by(|a, b| finer.id(a.h0()) == finer.id(b.h0())))
                .map(<[_]>::to_vec)
                .collect();
            let mut was_full = false;
            loop {
                let before = into.to_bytes();
                let Err(error) = old.hand_over(minirun, keys, &mut into) else {
                    break;
                };
                assert!(matches!(error, Error::Full { .. }), "seed {seed}: {error}");
                assert!(into.to_bytes() == before, "seed {seed}: part of it is in");
                assert_eq!(into.check_invariants(), Ok(()));
                was_full = true;
                // Make room.
                let mut others: Vec<Hashed<'_>> = handed.pop().unwrap();
                while let Some(gone) = others.last().cloned() {
                    into.remove(&gone, &others, Leave::Nothing).unwrap();
                    others.pop();
                }
            }
            full += u64::from(was_full);
            several += u64::from(was_full && new.len() > 1);
            later += u64::from(was_full && keys.iter().all(|key| into.contains_hashed(key)));
            handed.extend(new);
        }
        let left: usize = handed.iter().map(Vec::len).sum();
        assert_eq!(into.len(), left as u64, "seed {seed}");
    }
    assert!(
        several > 200 && later == full,
        "{several} {later} of {full}"
    );
}

/// At other sizes each member keeps its extension: a query told apart from a member by it
/// can only match another member. With another seed only members, counts and values stay.
#[test]
fn other_sizes_and_seeds_say_what_is_kept() {
    let (mut extended, mut inseparable) = (0, 0);
    for seed in 1_000..1_300 {
        let source = &mut Source::from_seed(seed);
        let (slots, bits) = (
            2 + source.below(120).unwrap(),
            1 + source.below(4).unwrap() as u32,
        );
        let value_bits = source.pick(&[0, 1, 3]).unwrap();
        let world = World::new(slots, bits, value_bits, source).unwrap();
        let other = 1_000 + source.below(2_000).unwrap();
        let into = empty(other, bits, value_bits, 1);
        if into.geometry().ids() % world.filter.geometry().ids() != 0 {
            match world.rebuild(into) {
                Ok((_, report)) => {
                    assert_eq!(report.learnt, Learnt::Extensions);
                    extended += report.extended;
                }
                // Keys of different miniruns may have the same stream here, and meet now.
                Err(error) => {
                    assert_eq!(error, Error::Inseparable);
                    inseparable += 1;
                    continue;
                }
            }
        }
        // Chosen hashes ignore the seed, so the order stays.
        let (filter, report) = world.rebuild(empty(other, bits, value_bits, 2)).unwrap();
        assert_eq!((report.learnt, report.extended), (Learnt::Nothing, 0));
        assert_eq!(filter.ghosts(), 0);
        // More value bits are fine, fewer are not.
        assert!(world.rebuild(empty(other, bits, value_bits + 1, 1)).is_ok());
        if value_bits > 0 {
            let result = world.rebuild(empty(other, bits, value_bits - 1, 1));
            assert!(matches!(result, Err(Error::Geometry { .. })));
        }
    }
    assert!(
        extended > 1_000 && inseparable < 100,
        "{extended} {inseparable}"
    );
}

#[test]
fn the_keys_are_the_truth() {
    let seed = Seed::from_u64(1);
    let new = |slots: u64| {
        let builder = AdaptiveFilter::builder().slots(slots).remainder_bits(3);
        builder.seed(seed).build().unwrap()
    };
    let hashed = |keys: &[u64]| {
        let mut keys: Vec<_> = keys.to_vec();
        keys.sort_by_key(|key| Hashed::new::<Sip13, _>(&seed, key).h0());
        let hash = |key| Hashed::new::<Sip13, _>(&seed, &key).into_owned();
        keys.into_iter().map(hash).collect::<Vec<_>>()
    };
    let mut filter = new(100);
    for key in 0..60_u64 {
        filter.insert(&key).unwrap();
    }
    filter.insert(&7_u64).unwrap(); // surplus
    // Ten keys are not in the keys any more, ten new ones are, one comes twice.
    let mut keys: Vec<u64> = (10..70).collect();
    keys.push(33);
    let (rebuilt, report) = filter.rebuild(new(200), hashed(&keys)).unwrap();
    assert_eq!((report.members, rebuilt.len()), (60, 60));
    assert!((10..70_u64).all(|key| rebuilt.contains(&key)));
    // Eleven fingerprints have lost their keys, but some may fit a new key.
    assert!(
        report.added <= 10 && report.dropped == report.added + 1,
        "{report:?}"
    );
    assert!(report.added >= 8, "{report:?}");
    assert_eq!(rebuilt.check_invariants(), Ok(()));

    let mut backwards = hashed(&keys);
    backwards.reverse();
    let error = filter.rebuild(new(200), backwards).unwrap_err();
    assert!(matches!(error, Error::Mismatch { .. }));
    assert!(error.to_string().contains("not in hash order"), "{error}");
    let many: Vec<u64> = (0..1_000).collect();
    let error = filter.rebuild(new(10), hashed(&many)).unwrap_err();
    assert!(matches!(error, Error::Full { .. }));
    // Nothing at all is fine too, and what was in the target is gone.
    let mut target = new(50);
    target.insert("old").unwrap();
    let (none, report) = filter.rebuild(target, []).unwrap();
    assert!(none.is_empty() && report.dropped == 61);
}

/// A filter that has never adapted, rebuilt, is the one that insertion makes.
#[test]
fn rebuilt_is_like_new() {
    let seed = Seed::from_u64(3);
    let new = |slots: u64, bits: u32| {
        let builder = AdaptiveFilter::builder().slots(slots).remainder_bits(bits);
        builder.seed(seed).build().unwrap()
    };
    let (mut old, mut direct) = (new(300, 4), new(770, 3));
    let mut keys: Vec<Hashed<'_>> = (0..250_u64)
        .map(|key| Hashed::new::<Sip13, _>(&seed, &key).into_owned())
        .collect();
    for key in &keys {
        old.insert_hashed(key).unwrap();
        direct.insert_hashed(key).unwrap();
    }
    keys.sort_by_key(Hashed::h0);
    let (rebuilt, report) = old.rebuild(new(770, 3), keys).unwrap();
    assert_eq!((report.added, report.dropped, report.extended), (0, 0, 0));
    assert_eq!(rebuilt.stats(), direct.stats());
    for query in 0..20_000_u64 {
        assert_eq!(rebuilt.contains(&query), direct.contains(&query));
    }
}

#[test]
fn counts_are_kept_by_a_rebuild() {
    let seed = |number| Seed::from_u64(number);
    let new = |slots: u64, number| {
        let builder = CountingFilter::builder().slots(slots).remainder_bits(2);
        builder.seed(seed(number)).build().unwrap()
    };
    let mut filter = new(64, 1);
    let count = |key: u64| 1 + key * key % 50;
    for key in 0..50_u64 {
        filter.insert_count(&key, count(key)).unwrap();
    }
    for number in [1, 2] {
        let mut keys: Vec<_> = (0..50_u64)
            .map(|key| Hashed::new::<Sip13, _>(&seed(number), &key).into_owned())
            .collect();
        keys.sort_by_key(Hashed::h0);
        let rebuilt = filter.rebuild(new(1_000, number), keys.clone()).unwrap();
        assert_eq!(rebuilt.check_invariants(), Ok(()));
        for key in 0..50_u64 {
            assert!(rebuilt.count(&key) >= filter.count(&key) && filter.count(&key) >= count(key));
        }
        // Into the same geometry and seed nothing changes, sharers are not counted twice.
        let again = rebuilt.rebuild(new(1_000, number), keys.clone()).unwrap();
        assert!(again.iter().eq(rebuilt.iter()));
        keys.reverse();
        let result = filter.rebuild(new(1_000, number), keys);
        assert!(matches!(result, Err(Error::Mismatch { .. })));
    }
    // A key that was never counted is there once.
    let stranger = Hashed::new::<Sip13, _>(&seed(1), "stranger");
    let rebuilt = new(64, 1).rebuild(new(64, 1), [stranger]).unwrap();
    assert_eq!(rebuilt.count("stranger"), 1);
}

/// Insertions, removals, mistakes, and now and then a larger or a fresh filter: members are
/// never lost, and what was fixed stays fixed until an insertion or a new seed.
#[test]
fn growing_in_the_middle_of_it_all() {
    let (mut grown, mut rebuilt, mut fixes, mut full) = (0, 0, 0, 0);
    for seed in 0..60 {
        let source = &mut Source::from_seed(seed);
        let bits = 1 + source.below(5).unwrap() as u32;
        let builder = |slots| {
            let builder = AdaptiveFilter::builder().slots(slots);
            builder.remainder_bits(bits).seed(Seed::from_u64(seed))
        };
        let first = AdaptiveSet::from_builder(builder(1 + source.below(60).unwrap()));
        let leave = source.pick(&[Leave::Nothing, Leave::Ghost]).unwrap();
        let mut set = first.unwrap();
        let mut model: BTreeSet<u64> = BTreeSet::new();
        let mut fixed: BTreeSet<u64> = BTreeSet::new();
        for _ in 0..700 {
            let key = source.below(800).unwrap();
            match source.below(20).unwrap() {
                0..=8 => match set.insert(&key) {
                    Ok(_) => {
                        if model.insert(key) {
                            fixed.clear();
                        }
                    }
                    Err(Error::Full { .. }) => {
                        full += 1;
                        set.grow().unwrap();
                        set.insert(&key).unwrap();
                        model.insert(key);
                        fixed.clear();
                    }
                    Err(error) => panic!("{error}"),
                },
                9 => match set.remove_leaving(&key, leave) {
                    Ok(removed) => assert_eq!(removed == Removed::One, model.remove(&key)),
                    Err(error) => assert!(matches!(error, Error::Full { .. }), "{error}"),
                },
                10 if source.one_in(25).unwrap() && set.filter().geometry().slots() < 2_000 => {
                    let report = set.grow().unwrap();
                    assert_eq!(report.learnt, Learnt::Everything);
                    assert_eq!((report.added, report.dropped), (0, 0));
                    grown += 1;
                }
                11 if source.one_in(25).unwrap() => {
                    let slots = 400 + source.below(1_000).unwrap();
                    let seed = source.word().unwrap();
                    let report = set
                        .rebuild(builder(slots).seed(Seed::from_u64(seed)))
                        .unwrap();
                    assert_eq!(report.learnt, Learnt::Nothing);
                    fixed.clear();
                    rebuilt += 1;
                }
                _ if !model.contains(&key) && set.contains(&key) => {
                    match set.report_false_positive(&key) {
                        Ok(_) => {
                            assert!(!set.contains(&key));
                            fixed.insert(key);
                            fixes += 1;
                        }
                        Err(Error::Full { .. }) => {
                            set.grow().unwrap();
                            grown += 1;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
                _ => {}
            }
            assert_eq!(set.len(), model.len() as u64);
            assert!(
                model.iter().all(|key| set.contains(key)),
                "a member is lost"
            );
            // A member that is removed may leave what was fixed for it, but brings back none.
            fixed.retain(|key| !model.contains(key));
            assert!(
                !fixed.iter().any(|key| set.contains(key)),
                "a mistake is back"
            );
        }
        assert_eq!(set.check_invariants(), Ok(()));
    }
    assert!(
        grown > 50 && rebuilt > 30 && fixes > 500 && full > 10,
        "{grown} {rebuilt} {fixes} {full}"
    );
}

/// A failed rebuild leaves the set as it was.
#[test]
fn a_set_that_cannot_be_rebuilt_is_as_it_was() {
    let mut set = AdaptiveSet::new(200, 0.01).unwrap();
    for key in 0..200_u64 {
        set.insert(&key).unwrap();
    }
    let seed = set.filter().seed();
    let small = AdaptiveFilter::builder().slots(1).remainder_bits(4);
    assert!(matches!(set.rebuild(small), Err(Error::Full { .. })));
    let nothing = AdaptiveFilter::builder().slots(0).remainder_bits(4);
    assert!(matches!(set.rebuild(nothing), Err(Error::Geometry { .. })));
    assert_eq!((set.len(), set.filter().seed()), (200, seed));
    assert_eq!(set.check_invariants(), Ok(()));
    let fresh = AdaptiveFilter::builder().capacity(500).fpr(0.001);
    assert_eq!(set.rebuild(fresh).unwrap().learnt, Learnt::Nothing);
    assert_ne!(set.filter().seed(), seed);
    assert_eq!(set.check_invariants(), Ok(()));
    assert_eq!(set.remove(&5_u64), Ok(Removed::One));
    assert_eq!(set.filter().entry(&6_u64), Some(Entry::new(1, 0)));
}
