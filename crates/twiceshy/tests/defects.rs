//! What went wrong in published filters of this kind, and does not here.
//!
//! Each test is named after a defect and is a script of a few operations. Three play it:
//! the adaptive filter, a naive filter that is right, and the same one with the defect. The
//! first two must keep every promise, the third must break one; so the script is known to
//! notice.

mod naive;

use naive::{Defect, Naive};
use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Hashed, Seed};
use twiceshy::{AdaptiveFilter, AdaptiveSet, Geometry, Inserted, Merge, Minirun, Reported};

/// Quotients of the filters here; remainders have eight bits, and so have digits.
const QUOTIENTS: u64 = 200;

/// A key: where it lives, and the digits of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    quotient: u64,
    remainder: u8,
    digits: [u8; 64],
}

fn key(quotient: u64, remainder: u8, digits: &[u8]) -> Key {
    let mut all = [0; 64];
    all[..digits.len()].copy_from_slice(digits);
    Key {
        quotient,
        remainder,
        digits: all,
    }
}

impl Key {
    fn minirun(&self) -> u64 {
        self.quotient << 8 | u64::from(self.remainder)
    }

    fn hashed(&self) -> Hashed<'static> {
        let geometry = Geometry::new(QUOTIENTS, 8).expect("a small geometry");
        let mut words = vec![*geometry.hash_range(self.minirun()).end()];
        for digits in self.digits.chunks(8) {
            words.push(
                digits
                    .iter()
                    .fold(0, |word, &digit| word << 8 | u64::from(digit)),
            );
        }
        Hashed::from_words(&words).into_owned()
    }
}

/// The operation was refused; nothing may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refused;

/// What a script does.
trait Filter {
    fn insert(&mut self, key: &Key) -> Result<(), Refused>;
    fn insert_counted(&mut self, key: &Key, count: u64, others: &[Key]) -> Result<(), Refused>;
    fn contains(&self, key: &Key) -> bool;
    fn count(&self, key: &Key) -> u64;
    fn adapt(&mut self, query: &Key, keys: &[Key]) -> Result<(), Refused>;
    fn remove(&mut self, key: &Key, keys: &[Key]) -> Result<(), Refused>;
    /// Goes on with twice as many slots.
    fn double(&mut self);
    /// Takes in a filter of as many slots as this one had before it was doubled, with these keys.
    fn merge_single(&mut self, keys: &[Key]) -> Result<(), Refused>;
    fn used(&self) -> u64;
}

struct Ours(AdaptiveFilter);

impl Ours {
    fn new() -> Self {
        let builder = AdaptiveFilter::builder().slots(QUOTIENTS).remainder_bits(8);
        Ours(
            builder
                .seed(Seed::from_u64(1))
                .build()
                .expect("a small filter"),
        )
    }

    fn done<T, E>(&self, result: Result<T, E>) -> Result<(), Refused> {
        assert_eq!(self.0.check_invariants(), Ok(()));
        result.map(drop).map_err(|_| Refused)
    }
}

fn hashed(keys: &[Key]) -> Vec<Hashed<'static>> {
    keys.iter().map(Key::hashed).collect()
}

impl Filter for Ours {
    fn insert(&mut self, key: &Key) -> Result<(), Refused> {
        let result = self.0.insert_hashed(&key.hashed());
        self.done(result)
    }

    fn insert_counted(&mut self, key: &Key, count: u64, others: &[Key]) -> Result<(), Refused> {
        let result = self.0.insert_with(&key.hashed(), count, 0, &hashed(others));
        self.done(result)
    }

    fn contains(&self, key: &Key) -> bool {
        self.0.contains_hashed(&key.hashed())
    }

    fn count(&self, key: &Key) -> u64 {
        let entry = self.0.entry_hashed(&key.hashed());
        entry.map_or(0, |entry| entry.count)
    }

    fn adapt(&mut self, query: &Key, keys: &[Key]) -> Result<(), Refused> {
        let minirun = Minirun::from_id(query.minirun());
        let result = self.0.adapt(&query.hashed(), minirun, &hashed(keys));
        self.done(result)
    }

    fn remove(&mut self, key: &Key, keys: &[Key]) -> Result<(), Refused> {
        let result = self.0.remove(&key.hashed(), &hashed(keys), Leave::Nothing);
        self.done(result)
    }

    fn double(&mut self) {
        self.0 = self.0.doubled().expect("nothing is in the way");
        assert_eq!(self.0.check_invariants(), Ok(()));
    }

    fn merge_single(&mut self, keys: &[Key]) -> Result<(), Refused> {
        let mut single = Ours::new();
        for key in keys {
            single.insert(key)?;
        }
        let slots = self.0.geometry().slots();
        let merged = Merge::of([&self.0, &single.0]).slots(slots).build();
        self.0 = merged.map_err(|_| Refused)?;
        self.done(Ok::<_, Refused>(()))
    }

    fn used(&self) -> u64 {
        (self.0.load() * self.0.geometry().slots() as f64).round() as u64
    }
}

/// A promise that a script saw broken.
type Played = Result<(), &'static str>;

fn promise(kept: bool, what: &'static str) -> Played {
    if kept { Ok(()) } else { Err(what) }
}

fn all_found(filter: &dyn Filter, keys: &[Key]) -> Played {
    let found = keys.iter().all(|key| filter.contains(key));
    promise(found, "a member is answered \"no\"")
}

/// Plays a script three times.
fn noticed(defect: Defect, script: fn(&mut dyn Filter) -> Played) {
    assert_eq!(script(&mut Ours::new()), Ok(()));
    assert_eq!(script(&mut Naive::new(Defect::None)), Ok(()));
    match script(&mut Naive::new(defect)) {
        Err(what) => println!("{defect:?}: {what}"),
        Ok(()) => panic!("{defect:?} went unnoticed"),
    }
}

#[test]
fn removing_from_a_filter_that_holds_extensions_loses_other_keys() {
    noticed(Defect::RemovesTheHomeSlotOnly, |filter| {
        let keys = [key(5, 1, &[1]), key(5, 2, &[2]), key(5, 3, &[3])];
        for key in &keys {
            filter.insert(key).unwrap();
        }
        for (i, key) in keys.iter().enumerate() {
            let mut query = *key;
            query.digits[0] = 9;
            filter.adapt(&query, &keys[i..=i]).unwrap();
            promise(!filter.contains(&query), "a mistake is not fixed")?;
        }
        all_found(filter, &keys)?;
        filter.remove(&keys[1], &keys[1..=1]).unwrap();
        promise(!filter.contains(&keys[1]), "what was removed is there")?;
        all_found(filter, &[keys[0], keys[2]])?;
        promise(filter.used() == 4, "slots are left over")
    });
}

#[test]
fn counters_beside_extensions_give_false_negatives() {
    noticed(Defect::CountsRunendsOfCounters, |filter| {
        let counted = key(3, 1, &[1]);
        let others = [
            key(3, 9, &[]),
            key(4, 1, &[]),
            key(5, 1, &[]),
            key(70, 1, &[]),
        ];
        filter.insert_counted(&counted, 70_000, &[]).unwrap();
        for key in &others {
            filter.insert(key).unwrap();
        }
        let query = key(3, 1, &[2]);
        filter.adapt(&query, &[counted]).unwrap();
        all_found(filter, &others)?;
        promise(!filter.contains(&query), "a mistake is not fixed")?;
        promise(filter.count(&counted) == 70_000, "a count is wrong")
    });
}

#[test]
fn removing_a_key_whose_minirun_neighbour_is_extended_removes_the_neighbour() {
    noticed(Defect::RemovesTheFirstOfTheMinirun, |filter| {
        let keys = [key(9, 4, &[1]), key(9, 4, &[2]), key(9, 4, &[3])];
        for key in &keys {
            filter.insert(key).unwrap();
        }
        filter.adapt(&key(9, 4, &[4]), &keys).unwrap();
        filter.remove(&keys[1], &keys).unwrap();
        all_found(filter, &[keys[0], keys[2]])?;
        promise(!filter.contains(&keys[1]), "what was removed is there")
    });
}

#[test]
fn no_capacity_check_in_adapt() {
    noticed(Defect::AdaptsWithoutRoom, |filter| {
        let last = QUOTIENTS - 1;
        let mut keys = vec![key(last, 0, &[1])];
        filter.insert(&keys[0]).unwrap();
        let mut more = (1..=255).map(|remainder| key(last, remainder, &[]));
        loop {
            let key = more.next().unwrap();
            if filter.insert(&key).is_err() {
                break;
            }
            keys.push(key);
        }
        let used = filter.used();
        let query = key(last, 0, &[2]);
        let refused = filter.adapt(&query, &keys[..1]).is_err();
        all_found(filter, &keys)?;
        promise(refused, "there was no room")?;
        promise(filter.used() == used, "a refusal changed something")
    });
}

#[test]
fn adapting_with_an_arbitrary_key() {
    noticed(Defect::AdaptsAlongAnyKey, |filter| {
        let member = key(30, 7, &[1, 1]);
        filter.insert(&member).unwrap();
        filter.adapt(&key(30, 7, &[2]), &[member]).unwrap();
        let query = key(30, 7, &[1, 2]);
        // Neither a key of another minirun nor one that the fingerprint does not fit.
        for arbitrary in [key(31, 7, &[5, 5]), key(30, 7, &[5, 5])] {
            let refused = filter.adapt(&query, &[arbitrary]).is_err();
            all_found(filter, &[member])?;
            promise(refused, "a wrong key was taken")?;
        }
        filter.adapt(&query, &[member]).unwrap();
        all_found(filter, &[member])?;
        promise(!filter.contains(&query), "a mistake is not fixed")
    });
}

#[test]
fn fingerprints_paired_with_keys_by_rank() {
    noticed(Defect::PairsByRank, |filter| {
        // In order of insertion, and in order of the hash, fingerprint and key change places.
        let (x, y) = (key(8, 8, &[5]), key(8, 8, &[1]));
        filter.insert(&x).unwrap();
        filter.adapt(&key(8, 8, &[6]), &[x]).unwrap();
        filter.insert(&y).unwrap();
        let keys = [x, y];
        let query = key(8, 8, &[7]);
        filter.adapt(&query, &keys).unwrap();
        all_found(filter, &keys)?;
        promise(!filter.contains(&query), "a mistake is not fixed")
    });
}

#[test]
fn sixty_four_hash_bits_in_all() {
    noticed(Defect::HasSixtyFourBits, |filter| {
        let member = key(50, 1, &[7; 64]);
        filter.insert(&member).unwrap();
        for shared in [0, 7, 8, 9, 31, 63] {
            let mut query = member;
            query.digits[shared] = 8;
            filter.adapt(&query, &[member]).unwrap();
            all_found(filter, &[member])?;
            promise(!filter.contains(&query), "a mistake is not fixed")?;
        }
        promise(filter.used() == 65, "a digit a slot")
    });
}

#[test]
fn eight_bit_block_offset_truncated() {
    noticed(Defect::TruncatesOffsets, |filter| {
        // One run of 324 slots: the next block begins more than 255 slots late.
        let long = key(0, 5, &[]);
        filter.insert_counted(&long, u64::MAX, &[]).unwrap();
        let mut keys = vec![long];
        for round in 0..3 {
            for remainder in 6..=110 {
                let key = key(0, remainder, &[round]);
                filter.insert(&key).unwrap();
                keys.push(key);
            }
        }
        for (i, quotient) in (1..QUOTIENTS).step_by(3).enumerate() {
            let key = key(quotient, i as u8, &[]);
            if filter.insert(&key).is_ok() {
                keys.push(key);
            }
        }
        all_found(filter, &keys)
    });
}

/// Ours are 16 bits wide and saturate: a run that is longer than they can say.
#[test]
fn sixteen_bit_block_offset_truncated() {
    let builder = AdaptiveFilter::builder().slots(80_000).remainder_bits(4);
    let mut filter = builder.seed(Seed::from_u64(1)).build().unwrap();
    let geometry = filter.geometry();
    let key = |id: u64, word: u64| {
        let words = [*geometry.hash_range(id).start(), word << 60];
        Hashed::from_words(&words).into_owned()
    };
    for _ in 0..70_000 {
        filter.insert_hashed(&key(5 << 4, 1)).unwrap();
    }
    // The next block begins 69,941 slots late.
    let later: Vec<_> = (6..79_999_u64).step_by(97).collect();
    for quotient in &later {
        filter.insert_hashed(&key(quotient << 4, 1)).unwrap();
    }
    for &quotient in later.iter().step_by(8) {
        let (query, keys) = (key(quotient << 4, 2), [key(quotient << 4, 1)]);
        let minirun = Minirun::from_id(quotient << 4);
        assert_eq!(filter.adapt(&query, minirun, &keys).unwrap().extended, 1);
        assert!(!filter.contains_hashed(&query));
    }
    assert_eq!(filter.check_invariants(), Ok(()));
    assert!(filter.contains_hashed(&key(5 << 4, 1)));
    let found = |quotient: &u64| filter.contains_hashed(&key(quotient << 4, 1));
    assert!(later.iter().all(found));
}

#[test]
fn false_positives_left_unfixed() {
    noticed(Defect::ExtendsTheFirstMatchOnly, |filter| {
        let keys = [key(2, 2, &[1]), key(2, 2, &[2])];
        for key in &keys {
            filter.insert(key).unwrap();
        }
        let query = key(2, 2, &[3]);
        filter.adapt(&query, &keys).unwrap();
        all_found(filter, &keys)?;
        promise(!filter.contains(&query), "a mistake is not fixed")
    });
}

#[test]
fn surplus_fingerprints_make_a_mistake_for_ever() {
    noticed(Defect::KeepsSurplus, |filter| {
        let member = key(2, 2, &[1]);
        filter.insert(&member).unwrap();
        filter.insert(&member).unwrap();
        let query = key(2, 2, &[3]);
        let _ = filter.adapt(&query, &[member]);
        all_found(filter, &[member])?;
        promise(!filter.contains(&query), "a mistake is not fixed")
    });
}

#[test]
fn removing_a_key_never_inserted_deletes_another() {
    noticed(Defect::RemovesWhateverMatches, |filter| {
        let member = key(2, 2, &[1]);
        filter.insert(&member).unwrap();
        let stranger = key(2, 2, &[3]);
        let refused = filter.remove(&stranger, &[member]).is_err();
        all_found(filter, &[member])?;
        promise(refused, "a stranger was removed")
    });
}

#[test]
fn occupancy_counted_wrongly() {
    noticed(Defect::CountsKeysNotSlots, |filter| {
        let keys = [key(2, 2, &[1]), key(2, 2, &[1, 1])];
        filter.insert(&keys[0]).unwrap();
        filter.insert(&keys[1]).unwrap();
        filter.adapt(&key(2, 2, &[1, 2]), &keys).unwrap();
        promise(filter.used() == 6, "used slots are not counted")?;
        filter.remove(&keys[0], &keys).unwrap();
        promise(filter.used() == 3, "freed slots are not counted")?;
        filter.remove(&keys[1], &keys[1..]).unwrap();
        promise(filter.used() == 0, "an empty filter has used slots")
    });
}

#[test]
fn crashes_or_loses_keys_when_full() {
    noticed(Defect::InsertsWithoutRoom, |filter| {
        let mut keys = vec![];
        let mut refused = 0;
        for round in 0..5 {
            for quotient in (0..QUOTIENTS).rev() {
                let key = key(quotient, round, &[]);
                match filter.insert(&key) {
                    Ok(()) => keys.push(key),
                    Err(Refused) => refused += 1,
                }
            }
        }
        all_found(filter, &keys)?;
        promise(refused > 0, "it never was full")
    });
}

/// Keys all over the filter, with mistakes that were fixed in one of three: the members, and queries
/// that are answered "no".
fn adapted_all_over(filter: &mut dyn Filter) -> (Vec<Key>, Vec<Key>) {
    let (mut keys, mut queries) = (vec![], vec![]);
    for quotient in 0..QUOTIENTS {
        if quotient % 4 == 3 {
            continue;
        }
        // Of remainders with their first bit set and clear, so half of the keys move to odd quotients.
        let member = key(quotient, (quotient * 83) as u8, &[0x10]);
        filter.insert(&member).expect("there is room");
        if quotient % 3 == 0 {
            let query = key(member.quotient, member.remainder, &[0x90]);
            filter.adapt(&query, &[member]).expect("there is room");
            queries.push(query);
        }
        keys.push(member);
    }
    (keys, queries)
}

#[test]
fn resize_crashes_or_loses_keys() {
    noticed(Defect::ResizesWithoutMoving, |filter| {
        let (keys, queries) = adapted_all_over(filter);
        let used = filter.used();
        filter.double();
        all_found(filter, &keys)?;
        let fixed = queries.iter().all(|query| !filter.contains(query));
        promise(fixed, "a mistake has come back")?;
        promise(filter.used() == used, "slots are lost or left over")?;
        // It goes on to work.
        for (i, key) in keys.iter().enumerate() {
            filter.remove(key, &keys[i..=i]).unwrap();
            all_found(filter, &keys[i + 1..])?;
        }
        promise(filter.used() == 0, "an empty filter has used slots")
    });
}

#[test]
fn merging_into_a_doubled_filter_loses_nearly_all() {
    noticed(Defect::MergesBySmallerQuotients, |filter| {
        let (mut keys, queries) = adapted_all_over(filter);
        filter.double();
        let others = (0..QUOTIENTS).filter(|quotient| quotient % 4 == 3);
        let others: Vec<Key> = others
            .map(|quotient| key(quotient, (quotient * 57) as u8, &[0x20]))
            .collect();
        filter.merge_single(&others).unwrap();
        keys.extend(others);
        all_found(filter, &keys)?;
        let fixed = queries.iter().all(|query| !filter.contains(query));
        promise(fixed, "a mistake has come back")?;
        let slots = keys.len() + queries.len();
        promise(filter.used() == slots as u64, "fingerprints are missing")
    });
}

/// Until 2025: a query was compared with the key of the first fingerprint that matched, and
/// taken for absent if it was another.
#[test]
fn a_member_whose_minirun_neighbour_matches_first_is_answered_absent() {
    let builder = AdaptiveFilter::builder().slots(50).remainder_bits(1);
    let mut set = AdaptiveSet::from_builder(builder.seed(Seed::from_u64(1))).unwrap();
    for key in 0..60_u64 {
        assert_eq!(set.insert(&key), Ok(Inserted::New));
    }
    let geometry = set.filter().geometry();
    let minirun = |key: &u64| geometry.id(set.filter().hash(key).h0());
    // The defect: whoever is first in the minirun is taken for the one that matched.
    let first_of = |key: &u64| (0..60).find(|other| minirun(other) == minirun(key));
    let absent: Vec<u64> = (0..60).filter(|key| first_of(key) != Some(*key)).collect();
    assert!(
        absent.len() >= 10,
        "the broken way loses {} members",
        absent.len()
    );
    // Ours knows them all, however often it is told otherwise.
    for _ in 0..2 {
        for key in 0..60_u64 {
            assert!(set.contains(&key));
            assert_eq!(set.report_false_positive(&key), Ok(Reported::Member));
        }
        for query in 1_000..1_100_u64 {
            let _ = set.report_false_positive(&query);
        }
    }
    assert!(absent.iter().all(|key| set.contains(key)));
    assert_eq!(set.check_invariants(), Ok(()));
}
