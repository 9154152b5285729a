//! A guard beside a database that is not ours, against a set in memory.

#![allow(clippy::unwrap_used)] // here, a panic is the message

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use twiceshy::ReverseMap;
use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy::sets::reverse_map::MemoryMap;
use twiceshy_store::engine::{Counting, InMemory};
use twiceshy_store::guard::{EngineMap, Learnt};
use twiceshy_store::{Check, Guard, GuardError, StoreBuilder, WhenFull};
use twiceshy_testing::Source;

type Rows = BTreeSet<(u64, Vec<u8>)>;

/// Somebody's own table with an indexed column of hashes: the guard only reads it.
#[derive(Clone, Default)]
struct OwnTable {
    rows: Arc<Mutex<Rows>>,
}

impl ReverseMap for OwnTable {
    type Error = Infallible;

    fn keys(
        &self,
        h0: RangeInclusive<u64>,
        mut each: impl FnMut(u64, &[u8]),
    ) -> Result<(), Infallible> {
        let rows = self.rows.lock().unwrap();
        for (hash, key) in rows.range((*h0.start(), vec![])..) {
            if hash > h0.end() {
                break;
            }
            each(*hash, key);
        }
        Ok(())
    }

    fn insert(&mut self, _h0: u64, _key: &[u8]) -> Result<bool, Infallible> {
        Ok(true)
    }

    fn remove(&mut self, _h0: u64, _key: &[u8]) -> Result<bool, Infallible> {
        Ok(true)
    }
}

fn key(source: &mut Source<'_>) -> Vec<u8> {
    format!("row{}", source.below(400).unwrap()).into_bytes()
}

/// Plays with a guard; `commit` and `roll_out` are what the database does.
fn play<R: ReverseMap<Error: std::fmt::Debug>>(
    seed: u64,
    map: R,
    commit: impl Fn(u64, &[u8]),
    roll_out: impl Fn(u64, &[u8]),
) {
    let source = &mut Source::from_seed(seed);
    let guard = StoreBuilder::new()
        .capacity(source.pick(&[1, 50, 500]).unwrap())
        .shards(source.pick(&[1, 8]).unwrap())
        .fpr(source.pick(&[0.5, 0.1, 0.02]).unwrap())
        .seed(Seed::from_u64(seed))
        .guard(map)
        .unwrap();
    let mut rows = BTreeSet::new();
    let mut fixed = BTreeSet::new();
    for step in 0..2_000 {
        let key = key(source);
        let h0 = guard.hash_of(&key);
        match source.below(16).unwrap() {
            0..=3 => {
                let pending = guard.inserting(&key).unwrap();
                // Others learn while the commit is under way.
                let query = self::key(source);
                check(&guard, &rows, &mut BTreeSet::new(), &query);
                if source.one_in(8).unwrap() && !rows.contains(&key) {
                    pending.rolled_back().unwrap();
                } else {
                    commit(h0, &key);
                    rows.insert(key);
                    pending.done();
                    // A new key may match what was fixed for others.
                    fixed.clear();
                }
            }
            4 | 5 => {
                roll_out(h0, &key);
                let was_there = rows.remove(&key);
                assert!(guard.deleted(&key).unwrap() || !was_there);
                fixed.clear();
            }
            6 if source.one_in(40).unwrap() => {
                guard.rebuild(&rows).unwrap();
                fixed.clear();
            }
            _ => check(&guard, &rows, &mut fixed, &key),
        }
        if step % 16 == 0 {
            assert!(rows.iter().all(|row| guard.check(row).is_maybe()));
        }
        assert_eq!(guard.len(), rows.len() as u64);
    }
    for query in &fixed {
        assert!(!guard.check(query).is_maybe(), "a mistake is made twice");
    }
    // Every mistake that is left is made once more, and then never again.
    let strangers = (0..2_000).map(|number| format!("stranger{number}").into_bytes());
    for query in strangers.clone() {
        check(&guard, &rows, &mut fixed, &query);
    }
    assert!(
        strangers
            .clone()
            .all(|query| !guard.check(query).is_maybe())
    );
    assert!(!fixed.is_empty());
}

fn check<R: ReverseMap<Error: std::fmt::Debug>>(
    guard: &Guard<R>,
    rows: &BTreeSet<Vec<u8>>,
    fixed: &mut BTreeSet<Vec<u8>>,
    key: &[u8],
) {
    match guard.check(key) {
        Check::No => assert!(!rows.contains(key)),
        Check::Maybe(_) if rows.contains(key) => {}
        Check::Maybe(ticket) => {
            if ticket.absent().unwrap() == Learnt::Yes {
                fixed.insert(key.to_vec());
            }
        }
    }
}

#[test]
fn beside_a_map_of_its_own() {
    for seed in 0..40 {
        play(seed, MemoryMap::default(), |_, _| (), |_, _| ());
        let map = EngineMap::new(InMemory::new());
        play(seed, map, |_, _| (), |_, _| ());
    }
}

#[test]
fn beside_somebodys_own_table() {
    for seed in 0..40 {
        let table = OwnTable::default();
        let rows = Arc::clone(&table.rows);
        play(
            seed,
            table,
            |h0, key| _ = rows.lock().unwrap().insert((h0, key.to_vec())),
            |h0, key| _ = rows.lock().unwrap().remove(&(h0, key.to_vec())),
        );
    }
}

#[test]
fn what_goes_wrong_says_so() {
    let seed = Seed::from_u64(1);
    let h0 = Hashed::from_bytes::<Sip13>(&seed, b"anna").h0();
    let mut map = MemoryMap::default();
    map.insert(h0, b"anna").unwrap();
    let with = |seed| StoreBuilder::new().seed(seed).guard(map.clone());
    let error = with(Seed::from_u64(2)).unwrap_err();
    assert!(matches!(error, GuardError::Seed));
    assert!(error.to_string().contains("another seed"), "{error}");
    let guard = with(seed).unwrap();
    assert!(guard.check("anna").is_maybe() && guard.seed() == seed);

    // A key is listed until its deletion has happened.
    let table = OwnTable::default();
    table.rows.lock().unwrap().insert((h0, b"anna".to_vec()));
    let guard = StoreBuilder::new().seed(seed).guard(table).unwrap();
    let error = guard.deleted("anna").unwrap_err();
    assert!(matches!(error, GuardError::StillThere));
    assert!(error.to_string().contains("first"), "{error}");
    assert!(guard.check("anna").is_maybe());

    let guard = StoreBuilder::new()
        .capacity(1)
        .shards(1)
        .when_full(WhenFull::Refuse)
        .guard(MemoryMap::default())
        .unwrap();
    let error = (0..1_000_u32)
        .find_map(|key| guard.inserted(key.to_le_bytes()).err())
        .unwrap();
    assert!(matches!(error, GuardError::Full), "{error}");
}

/// A first rebuild commits some thousand keys at a time, and the next one only what is new.
#[test]
fn a_rebuild_commits_many_keys_at_once() {
    let engine = Arc::new(Counting::new(InMemory::new()));
    let map = EngineMap::new(Arc::clone(&engine));
    let guard = StoreBuilder::new().capacity(1_000).guard(map).unwrap();
    let mut keys: Vec<_> = (0..20_000).map(|number| format!("key{number}")).collect();
    guard.rebuild(&keys).unwrap();
    assert_eq!(guard.len(), 20_000);
    let counts = engine.counts();
    assert!(counts.commits <= 5, "{counts:?}");
    assert_eq!((counts.changes, counts.syncs), (20_000, counts.commits));
    // A key that comes twice is one.
    keys.extend(["new", "new"].map(String::from));
    guard.rebuild(&keys).unwrap();
    assert_eq!(guard.len(), 20_001);
    assert_eq!((engine.counts() - counts).commits, 1);
    assert!(keys.iter().all(|key| guard.check(key).is_maybe()));
}

#[test]
fn statistics_say_what_was_denied_mistaken_and_learnt() {
    let builder = StoreBuilder::new().fpr(0.1).seed(Seed::from_u64(1));
    let guard = builder.guard(MemoryMap::default()).unwrap();
    let keys: Vec<_> = (0..50_000).map(|key| format!("key{key}")).collect();
    guard.rebuild(&keys).unwrap();
    let mistakes = || {
        let strangers = (0..5_000).map(|number| format!("stranger{number}"));
        let maybes = strangers.filter_map(|stranger| match guard.check(stranger) {
            Check::No => None,
            Check::Maybe(ticket) => Some(ticket.absent().unwrap()),
        });
        maybes.filter(|learnt| *learnt == Learnt::Yes).count() as u64
    };
    let found = mistakes();
    assert!(found > 50, "{found}");
    assert_eq!(mistakes(), 0);
    let stats = guard.stats();
    assert_eq!((stats.records, stats.lookups), (50_000, 10_000));
    assert_eq!((stats.false_positives, stats.adaptations), (found, found));
    assert_eq!(
        (stats.filter_negatives, stats.unlearnt),
        (10_000 - found, 0)
    );
    assert!(stats.load > 0.3 && stats.filter_bytes > 40_000, "{stats}");
}

/// A map that fails when it is told to.
#[derive(Clone, Default)]
struct Moody {
    map: Arc<Mutex<MemoryMap>>,
    mood: Arc<Mutex<Mood>>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Mood {
    #[default]
    Well,
    /// Changes are made, and reported as failures.
    Sulking,
    /// Nothing is changed.
    Refusing,
    /// Nothing is read.
    Blind,
}

impl Moody {
    fn change(&self, change: impl FnOnce(&mut MemoryMap)) -> Result<bool, &'static str> {
        let mood = *self.mood.lock().unwrap();
        if mood != Mood::Refusing {
            change(&mut self.map.lock().unwrap());
        }
        match mood {
            Mood::Sulking | Mood::Refusing => Err("can't write"),
            Mood::Well | Mood::Blind => Ok(true),
        }
    }
}

impl ReverseMap for Moody {
    type Error = &'static str;

    fn keys(
        &self,
        h0: RangeInclusive<u64>,
        each: impl FnMut(u64, &[u8]),
    ) -> Result<(), &'static str> {
        if *self.mood.lock().unwrap() == Mood::Blind {
            return Err("can't read");
        }
        self.map.lock().unwrap().keys(h0, each).map_err(|_| "never")
    }

    fn insert(&mut self, h0: u64, key: &[u8]) -> Result<bool, &'static str> {
        self.change(|map| _ = map.insert(h0, key).unwrap())
    }

    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, &'static str> {
        self.change(|map| _ = map.remove(h0, key).unwrap())
    }
}

/// Whatever has become of a change that failed: the guard counts what is listed.
#[test]
fn a_map_that_fails_leaves_no_wrong_count() {
    let map = Moody::default();
    let builder = StoreBuilder::new().fpr(0.5).shards(1).capacity(8);
    let guard = builder.guard(map.clone()).unwrap();
    let listed = || map.map.lock().unwrap().len() as u64;
    for number in 0..300 {
        let key = format!("key{number}");
        let mood = [Mood::Sulking, Mood::Refusing, Mood::Well][number % 3];
        *map.mood.lock().unwrap() = mood;
        assert_eq!(guard.inserted(&key).is_ok(), mood == Mood::Well);
        assert_eq!(guard.len(), listed());
        *map.mood.lock().unwrap() = Mood::Well;
        guard.inserted(&key).unwrap();
        assert_eq!(guard.len(), listed());
        assert!(guard.check(&key).is_maybe());
        if number % 2 == 0 {
            *map.mood.lock().unwrap() = mood;
            assert_eq!(guard.deleted(&key).is_ok(), mood == Mood::Well);
            assert_eq!(guard.len(), listed());
            *map.mood.lock().unwrap() = Mood::Well;
            guard.deleted(&key).unwrap();
            assert_eq!(guard.len(), listed());
        }
    }
    assert_eq!(guard.len(), 150);
}

#[test]
fn what_could_not_be_learnt_is_counted() {
    let map = Moody::default();
    let builder = StoreBuilder::new().fpr(0.5).shards(1).capacity(100);
    let guard = builder.guard(map.clone()).unwrap();
    let keys: Vec<_> = (0..100).map(|key| format!("key{key}")).collect();
    guard.rebuild(keys).unwrap();
    let mut strangers = (0..).map(|number| format!("stranger{number}"));
    let stranger = strangers.find(|key| guard.check(key).is_maybe()).unwrap();
    let absent = || match guard.check(&stranger) {
        Check::No => panic!("it was mistaken"),
        Check::Maybe(ticket) => ticket.absent(),
    };
    *map.mood.lock().unwrap() = Mood::Blind;
    let error = absent().unwrap_err();
    assert_eq!(error.to_string(), "the reverse map failed: can't read");
    *map.mood.lock().unwrap() = Mood::Well;
    let stats = guard.stats();
    assert_eq!((stats.false_positives, stats.unlearnt), (1, 1));
    assert_eq!(absent().unwrap(), Learnt::Yes);
    let stats = guard.stats();
    assert_eq!((stats.repeated_false_positives, stats.unlearnt), (1, 1));
    assert_eq!(stats.adaptations, 1);
    assert!(!guard.check(&stranger).is_maybe());
}

/// Two insert the same key, as upserts do: the fingerprint stays until nobody has the key.
#[test]
fn two_that_insert_the_same_key() {
    let guard = StoreBuilder::new().guard(MemoryMap::default()).unwrap();
    let (one, two) = (guard.inserting("k").unwrap(), guard.inserting("k").unwrap());
    two.done();
    one.rolled_back().unwrap();
    assert!(guard.check("k").is_maybe(), "the other has committed it");

    let (one, two) = (guard.inserting("l").unwrap(), guard.inserting("l").unwrap());
    one.rolled_back().unwrap();
    assert!(guard.check("l").is_maybe(), "the other is about to");
    assert!(matches!(guard.deleted("l"), Err(GuardError::StillThere)));
    two.done();
    assert!(guard.deleted("l").unwrap());

    let (one, two) = (guard.inserting("m").unwrap(), guard.inserting("m").unwrap());
    one.rolled_back().unwrap();
    two.rolled_back().unwrap();
    assert!(!guard.check("m").is_maybe(), "nobody has it");
    assert_eq!(guard.len(), 1);
}

/// A key is committed and its token dropped while somebody else reads the map to learn.
#[test]
fn a_key_that_lands_while_the_map_is_read() {
    /// Commits a row in the middle of the next read.
    struct Landing {
        table: OwnTable,
        land: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    }

    impl ReverseMap for Landing {
        type Error = Infallible;

        fn keys(
            &self,
            h0: RangeInclusive<u64>,
            each: impl FnMut(u64, &[u8]),
        ) -> Result<(), Infallible> {
            let read = self.table.keys(h0, each);
            if let Some(land) = self.land.lock().unwrap().take() {
                land();
            }
            read
        }

        fn insert(&mut self, _h0: u64, _key: &[u8]) -> Result<bool, Infallible> {
            Ok(true)
        }

        fn remove(&mut self, _h0: u64, _key: &[u8]) -> Result<bool, Infallible> {
            Ok(true)
        }
    }

    // Keys whose hashes start with the same byte: one minirun, in a filter as small as this.
    let seed = Seed::from_u64(1);
    let hash = |key: &[u8]| Hashed::from_bytes::<Sip13>(&seed, key).h0();
    let mut near = (0..)
        .map(|number| format!("near{number}").into_bytes())
        .filter(|key| hash(key) >> 56 == 77);
    let (member, new, stranger) = (near.next(), near.next(), near.next());
    let (member, new, stranger) = (member.unwrap(), new.unwrap(), stranger.unwrap());

    let table = OwnTable::default();
    let rows = Arc::clone(&table.rows);
    rows.lock().unwrap().insert((hash(&member), member.clone()));
    let map = Landing {
        table,
        land: Mutex::default(),
    };
    let builder = StoreBuilder::new()
        .capacity(1)
        .shards(1)
        .fpr(0.5)
        .seed(seed);
    let guard: &'static Guard<Landing> = Box::leak(Box::new(builder.guard(map).unwrap()));
    let pending = guard.inserting(&new).unwrap();
    let row = (hash(&new), new.clone());
    let land = move || {
        rows.lock().unwrap().insert(row);
        pending.done();
    };
    guard.with_map(|map| *map.land.lock().unwrap() = Some(Box::new(land)));
    match guard.check(&stranger) {
        Check::No => panic!("the stranger shares a fingerprint"),
        Check::Maybe(ticket) => _ = ticket.absent().unwrap(),
    }
    assert!(
        guard.check(&new).is_maybe(),
        "a key is lost that was committed"
    );
    assert!(guard.check(&member).is_maybe());
}
