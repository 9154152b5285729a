//! What the adaptive filter promises, case by case, on chosen hash streams.
//!
//! Filters here have 8-bit slots, so a digit of an extension is a byte of the stream from
//! `h1` on: `stream(m, &[1, 2])` is a key of minirun `m` whose extension starts with 1, 2.

use std::slice::from_ref;

use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Hashed, Seed};
use twiceshy::sets::policy::{Decision, Judge, Policy};
use twiceshy::{AdaptiveFilter, Error, Inserted, Removed};
use twiceshy::{Geometry, Minirun};

const SLOTS: u64 = 100;

fn filter() -> AdaptiveFilter {
    AdaptiveFilter::builder()
        .slots(SLOTS)
        .remainder_bits(8)
        .seed(Seed::from_u64(1))
        .build()
        .expect("a small filter")
}

/// A small map: five bits of remainder and three of value.
fn map() -> AdaptiveFilter {
    AdaptiveFilter::builder()
        .slots(SLOTS)
        .remainder_bits(5)
        .value_bits(3)
        .seed(Seed::from_u64(1))
        .build()
        .expect("a small filter")
}

/// A key of a minirun, given the first bytes of its stream behind `h0`.
fn stream(geometry: Geometry, minirun: u64, bytes: &[u8]) -> Hashed<'static> {
    let mut words = vec![*geometry.hash_range(minirun).start()];
    for eight in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..eight.len()].copy_from_slice(eight);
        words.push(u64::from_le_bytes(word).swap_bytes());
    }
    Hashed::from_words(&words).into_owned()
}

fn key(bytes: &[u8]) -> Hashed<'static> {
    stream(
        Geometry::new(SLOTS, 8).expect("a small geometry"),
        MINIRUN.id(),
        bytes,
    )
}

const MINIRUN: Minirun = Minirun::from_id(77 << 8 | 5);

/// Slots in use.
fn used(filter: &AdaptiveFilter) -> u64 {
    (filter.load() * filter.geometry().slots() as f64).round() as u64
}

/// The answers for all keys whose first three digits are below four.
fn answers(filter: &AdaptiveFilter) -> Vec<bool> {
    universe()
        .iter()
        .map(|key| filter.contains_hashed(key))
        .collect()
}

fn universe() -> Vec<Hashed<'static>> {
    (0..64).map(|i| key(&[i >> 4, i >> 2 & 3, i & 3])).collect()
}

fn checked(filter: &AdaptiveFilter) {
    assert_eq!(filter.check_invariants(), Ok(()));
}

#[test]
fn two_members_in_one_minirun() {
    let (x, y, query) = (key(&[1]), key(&[2]), key(&[3]));
    let keys = [x.clone(), y.clone()];
    let mut filter = filter();
    filter.insert_hashed(&x).unwrap();
    filter.insert_hashed(&y).unwrap();
    assert_eq!(filter.lookup_hashed(&query), Some(MINIRUN));

    let adapted = filter.adapt(&query, MINIRUN, &keys).unwrap();
    assert_eq!((adapted.extended, adapted.dropped), (2, 0));
    assert_eq!(filter.lookup_hashed(&query), None);
    assert!(filter.contains_hashed(&x) && filter.contains_hashed(&y));
    // Each by its own fingerprint: without one the other is still there.
    filter.remove(&x, &keys, Leave::Nothing).unwrap();
    assert!(!filter.contains_hashed(&x) && filter.contains_hashed(&y));
    checked(&filter);
}

#[test]
fn three_members_of_which_two_share_the_first_extension() {
    let keys = [key(&[1, 1]), key(&[1, 2]), key(&[2])];
    let mut filter = filter();
    for key in &keys {
        filter.insert_hashed(key).unwrap();
    }
    let near = key(&[1, 3]);
    assert_eq!(filter.adapt(&near, MINIRUN, &keys).unwrap().extended, 3);
    // 1 1, 1 2 and 2: three homes and five digits.
    assert_eq!(used(&filter), 8);
    assert!(keys.iter().all(|key| filter.contains_hashed(key)));
    assert!(!filter.contains_hashed(&near));
    // What shares everything with one of the two is still mistaken, and can be fixed.
    let nearer = key(&[1, 2, 9]);
    assert_eq!(filter.adapt(&nearer, MINIRUN, &keys).unwrap().extended, 1);
    assert_eq!(used(&filter), 9);
    assert!(keys.iter().all(|key| filter.contains_hashed(key)));
    assert!(
        ![near, nearer]
            .iter()
            .any(|query| filter.contains_hashed(query))
    );
    checked(&filter);
}

#[test]
fn a_query_that_shares_many_extensions_with_a_member() {
    let mut filter = filter();
    let member = key(&[7; 40]);
    filter.insert_hashed(&member).unwrap();
    let keys = [member];
    // The farthest first, then ever nearer ones; and one more time in one go.
    for shared in [0, 1, 5, 30] {
        let mut bytes = [7; 40];
        bytes[shared] = 8;
        let query = key(&bytes);
        assert!(filter.contains_hashed(&query));
        assert_eq!(filter.adapt(&query, MINIRUN, &keys).unwrap().extended, 1);
        assert_eq!(used(&filter), 2 + shared as u64);
        assert!(!filter.contains_hashed(&query) && filter.contains_hashed(&keys[0]));
        // Nothing left to do, so nothing is done.
        assert_eq!(filter.adapt(&query, MINIRUN, &keys), Ok(Default::default()));
    }
    checked(&filter);
}

#[test]
fn keys_in_any_order_give_the_same_filter() {
    let keys = [key(&[1, 1]), key(&[1, 2]), key(&[2]), key(&[1, 1, 1])];
    let queries = [key(&[3]), key(&[1, 3]), key(&[1, 1, 2]), key(&[2, 2, 2])];
    let mut results = vec![];
    for order in 0..24 {
        // The order's digits in the factorial number system.
        let mut left = keys.to_vec();
        let mut keys = vec![];
        let mut rest = order;
        for choices in (1..=4).rev() {
            keys.push(left.remove(rest % choices));
            rest /= choices;
        }
        let mut filter = filter();
        for key in &keys {
            filter.insert_hashed(key).unwrap();
        }
        let mut states = vec![];
        for query in &queries {
            filter.adapt(query, MINIRUN, &keys).unwrap();
            keys.rotate_left(1);
            states.push((answers(&filter), used(&filter), filter.len()));
        }
        checked(&filter);
        results.push(states);
    }
    assert!(results.iter().all(|states| *states == results[0]));
}

#[test]
fn the_same_key_twice_is_surplus_and_the_next_adapt_drops_it() {
    let (x, y, query) = (key(&[1]), key(&[2]), key(&[3]));
    let keys = [x.clone(), y.clone()];
    let mut filter = filter();
    for key in [&x, &y, &x, &x] {
        filter.insert_hashed(key).unwrap();
    }
    assert_eq!(filter.len(), 4);
    let copy = filter.clone();
    let adapted = filter.adapt(&query, MINIRUN, &keys).unwrap();
    assert_eq!((adapted.extended, adapted.dropped), (2, 2));
    assert_eq!(filter.len(), 2);
    assert!(!filter.contains_hashed(&query));
    assert!(keys.iter().all(|key| filter.contains_hashed(key)));
    checked(&filter);
    // A removal drops it as well, or the key would still be there.
    let mut filter = copy;
    filter.remove(&x, &keys, Leave::Nothing).unwrap();
    assert_eq!(filter.len(), 1);
    assert!(filter.contains_hashed(&y));
    filter.remove(&y, &keys[1..], Leave::Nothing).unwrap();
    assert_eq!((filter.len(), used(&filter)), (0, 0));
    checked(&filter);
}

#[test]
fn a_key_given_twice_counts_once() {
    let (x, query) = (key(&[1]), key(&[2]));
    let mut filter = filter();
    filter.insert_hashed(&x).unwrap();
    let twice = [x.clone(), x.clone()];
    assert_eq!(filter.adapt(&query, MINIRUN, &twice).unwrap().extended, 1);
    assert!(filter.contains_hashed(&x) && !filter.contains_hashed(&query));
}

/// A filter in which every slot up to the last is taken, by keys of later quotients too,
/// and the keys of the minirun.
fn full() -> (AdaptiveFilter, Vec<Hashed<'static>>) {
    let mut filter = filter();
    let keys = [key(&[1]), key(&[2])].to_vec();
    for key in &keys {
        filter.insert_hashed(key).expect("room for two");
    }
    let geometry = filter.geometry();
    let mut filler = (78..SLOTS).cycle().map(|quotient| quotient << 8);
    loop {
        let id = filler.next().expect("it is endless");
        match filter.insert_hashed(&stream(geometry, id, &[])) {
            Ok(_) => {}
            Err(Error::Full { .. }) => return (filter, keys),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn adapt_with_no_slot_left_says_full_and_changes_nothing() {
    let (mut filter, keys) = full();
    let before = (answers(&filter), used(&filter), filter.len());
    for query in [key(&[3]), key(&[1, 2]), key(&[2, 1])] {
        assert!(filter.contains_hashed(&query));
        let result = filter.adapt(&query, MINIRUN, &keys);
        assert!(matches!(result, Err(Error::Full { .. })), "{result:?}");
        assert_eq!((answers(&filter), used(&filter), filter.len()), before);
        checked(&filter);
    }
    // The mark of a ghost takes a slot, and an insertion does too.
    let result = filter.remove(&keys[0], &keys, Leave::Ghost);
    assert!(matches!(result, Err(Error::Full { .. })), "{result:?}");
    let result = filter.insert_with(&key(&[9]), 2, 0, &keys);
    assert!(matches!(result, Err(Error::Full { .. })), "{result:?}");
    assert_eq!((answers(&filter), used(&filter), filter.len()), before);
    // Two slots are free again, and two are what it takes.
    let geometry = filter.geometry();
    let filler = stream(geometry, 99 << 8, &[]);
    let copies = [filler.clone()];
    filter.remove(&filler, &copies, Leave::Nothing).unwrap();
    assert_eq!(
        filter.adapt(&key(&[3]), MINIRUN, &keys).unwrap().extended,
        2
    );
    assert!(keys.iter().all(|key| filter.contains_hashed(key)));
    checked(&filter);
}

#[test]
fn wrong_keys_are_refused_and_change_nothing() {
    let keys = [key(&[1, 1]), key(&[1, 2])];
    let mut filter = filter();
    for key in &keys {
        filter.insert_hashed(key).unwrap();
    }
    filter.adapt(&key(&[3]), MINIRUN, &keys).unwrap();
    let before = (answers(&filter), used(&filter), filter.len());
    let elsewhere = stream(filter.geometry(), MINIRUN.id() + 1, &[1]);
    let query = key(&[1, 3]);
    assert!(filter.contains_hashed(&query));
    let stranger = key(&[2, 2]);
    let wrong: [&[Hashed<'_>]; 4] = [
        &[stranger.clone(), keys[0].clone()],
        &[keys[0].clone(), keys[1].clone(), stranger.clone()],
        &[keys[0].clone(), keys[1].clone(), elsewhere.clone()],
        &[keys[0].clone(), keys[1].clone(), key(&[1, 3, 1])],
    ];
    for keys in wrong {
        let refused = |result: Result<(), Error>| matches!(result, Err(Error::Mismatch { .. }));
        assert!(refused(filter.adapt(&query, MINIRUN, keys).map(drop)));
        assert!(refused(filter.remove(&keys[0], keys, Leave::Ghost)));
        assert!(refused(filter.shorten(MINIRUN, keys, &[])));
        assert!(refused(filter.insert_with(&query, 2, 0, keys).map(drop)));
    }
    let member = filter.adapt(&keys[0], MINIRUN, &keys);
    assert!(
        matches!(member, Err(Error::Mismatch { .. })),
        "a member is no mistake"
    );
    let other = filter.adapt(&elsewhere, MINIRUN, &keys);
    assert!(
        matches!(other, Err(Error::Mismatch { .. })),
        "another minirun's query"
    );
    let absent = filter.remove(&stranger, &keys, Leave::Nothing);
    assert!(
        matches!(absent, Err(Error::Mismatch { .. })),
        "not among the keys"
    );
    let kept = filter.shorten(MINIRUN, &keys, &keys[..1]);
    assert!(
        matches!(kept, Err(Error::Mismatch { .. })),
        "a member is never \"no\""
    );
    assert_eq!((answers(&filter), used(&filter), filter.len()), before);
    checked(&filter);
}

#[test]
fn a_new_insert_can_bring_a_mistake_back() {
    let (x, y, query) = (key(&[1]), key(&[2]), key(&[3]));
    let mut filter = filter();
    filter.insert_hashed(&x).unwrap();
    filter.adapt(&query, MINIRUN, from_ref(&x)).unwrap();
    assert!(!filter.contains_hashed(&query));
    filter.insert_hashed(&y).unwrap();
    assert!(
        filter.contains_hashed(&query),
        "a fingerprint starts unextended"
    );
    filter.adapt(&query, MINIRUN, &[y, x]).unwrap();
    assert!(!filter.contains_hashed(&query));
}

#[test]
fn removal_without_a_ghost_forgets_and_with_one_remembers() {
    let (x, query) = (key(&[1, 1]), key(&[1, 2]));
    for leave in [Leave::Nothing, Leave::Ghost] {
        let mut filter = filter();
        filter.insert_hashed(&x).unwrap();
        filter.adapt(&query, MINIRUN, from_ref(&x)).unwrap();
        filter.remove(&x, from_ref(&x), leave).unwrap();
        assert!(!filter.contains_hashed(&x) && filter.is_empty());
        checked(&filter);
        let ghost = leave == Leave::Ghost;
        assert_eq!(filter.ghosts(), u64::from(ghost));
        // Home, two digits and the mark of a ghost.
        assert_eq!(used(&filter), if ghost { 4 } else { 0 });
        let insertion = filter.insert_hashed(&x).unwrap();
        assert_eq!(insertion == Inserted::Revived, ghost);
        assert!(filter.contains_hashed(&x));
        assert_eq!(filter.contains_hashed(&query), !ghost);
        assert_eq!(filter.ghosts(), 0);
        checked(&filter);
    }
}

#[test]
fn the_longest_ghost_comes_back() {
    let keys = [key(&[1, 1, 1]), key(&[1, 1, 2]), key(&[2])];
    let mut filter = filter();
    for key in &keys {
        filter.insert_hashed(key).unwrap();
    }
    filter.adapt(&key(&[1, 1, 3]), MINIRUN, &keys).unwrap();
    for left in 0..3 {
        let (gone, keys) = (&keys[left], &keys[left..]);
        filter.remove(gone, keys, Leave::Ghost).unwrap();
    }
    assert_eq!((filter.len(), filter.ghosts()), (0, 3));
    assert!(!answers(&filter).contains(&true), "ghosts match nothing");
    // Not one that fits no ghost, and not more than one.
    assert_eq!(filter.insert_hashed(&key(&[3])), Ok(Inserted::New));
    assert_eq!(filter.insert_hashed(&keys[1]), Ok(Inserted::Revived));
    assert_eq!((filter.len(), filter.ghosts()), (2, 2));
    assert!(filter.contains_hashed(&keys[1]));
    checked(&filter);
}

#[test]
fn removal_keeps_the_fingerprints_that_the_others_need() {
    // The longer fingerprint fits both; dropping the removed key's own would leave an
    // unextended one, and with it every old mistake.
    let (x, y) = (key(&[1, 1]), key(&[1, 2]));
    let mut filter = filter();
    filter.insert_hashed(&x).unwrap();
    filter.adapt(&key(&[2]), MINIRUN, from_ref(&x)).unwrap();
    filter.insert_hashed(&y).unwrap();
    assert_eq!(used(&filter), 3);
    for gone in [&x, &y] {
        let mut filter = filter.clone();
        filter
            .remove(gone, &[x.clone(), y.clone()], Leave::Nothing)
            .unwrap();
        assert_eq!(used(&filter), 2, "home and one digit");
        assert!(!filter.contains_hashed(&key(&[2])));
        assert!(filter.contains_hashed(&x) && filter.contains_hashed(&y));
        checked(&filter);
    }
}

#[test]
fn removing_without_keys_works_where_there_is_one() {
    let (x, y) = (key(&[1]), key(&[2]));
    let mut filter = filter();
    assert_eq!(filter.remove_known_member_hashed(&x), Ok(Removed::NotFound));
    filter.insert_hashed(&x).unwrap();
    filter.adapt(&y, MINIRUN, from_ref(&x)).unwrap();
    assert_eq!(filter.remove_known_member_hashed(&y), Ok(Removed::NotFound));
    filter.insert_hashed(&y).unwrap();
    let needed = Err(Error::NeedsKeys { minirun: MINIRUN });
    assert_eq!(filter.remove_known_member_hashed(&x), needed);
    filter
        .remove(&y, &[y.clone(), x.clone()], Leave::Ghost)
        .unwrap();
    assert_eq!(filter.remove_known_member_hashed(&x), Ok(Removed::One));
    assert_eq!(
        (filter.len(), filter.ghosts()),
        (0, 1),
        "a ghost is no member"
    );
    checked(&filter);
}

/// The offset of the block behind is found anew, by counting runs: the one that goes must not count.
#[test]
fn removing_in_front_of_a_run_too_long_for_an_offset_leaves_a_file_that_opens() {
    let builder = AdaptiveFilter::builder().slots(80_000).remainder_bits(4);
    let mut filter = builder.seed(Seed::from_u64(1)).build().unwrap();
    let geometry = filter.geometry();
    // Out of the way of their homes, so that those behind come down by as much as goes.
    for _ in 0..2 {
        filter.insert_hashed(&stream(geometry, 0, &[])).unwrap();
    }
    let first = stream(geometry, 1 << 4, &[0x10]);
    filter.insert_hashed(&first).unwrap();
    let query = stream(geometry, 1 << 4, &[0x20]);
    let minirun = Minirun::from_id(1 << 4);
    filter.adapt(&query, minirun, from_ref(&first)).unwrap();
    // The next block's offset is 65,536 with both slots of the first key, and 65,534 without.
    let second = stream(geometry, 2 << 4, &[]);
    for _ in 0..65_596 {
        filter.insert_hashed(&second).unwrap();
    }
    let removed = filter.remove_known_member_hashed(&first);
    assert_eq!(removed, Ok(Removed::One));
    checked(&filter);
    let read: AdaptiveFilter = AdaptiveFilter::from_bytes(&filter.to_bytes()).unwrap();
    assert!(read.contains_hashed(&second) && !read.contains_hashed(&first));
}

#[test]
fn removing_without_keys_works_where_all_that_match_are_alike() {
    let (x, y, z) = (key(&[1]), key(&[2]), key(&[3]));
    let needed = Err(Error::NeedsKeys { minirun: MINIRUN });
    let mut filter = filter();
    for key in [&x, &y, &z] {
        filter.insert_hashed(key).unwrap();
    }
    // Three bare ones: whichever goes, two are left. The same with marks elsewhere.
    let other = stream(filter.geometry(), MINIRUN.id() + (1 << 8), &[1]);
    let query = stream(filter.geometry(), MINIRUN.id() + (1 << 8), &[2]);
    for marked in [false, true] {
        let mut filter = filter.clone();
        if marked {
            filter.insert_hashed(&other).unwrap();
            let minirun = filter.lookup_hashed(&query).unwrap();
            filter.adapt(&query, minirun, from_ref(&other)).unwrap();
        }
        for (left, gone) in [(2, &y), (1, &z), (0, &x)] {
            assert_eq!(filter.remove_known_member_hashed(gone), Ok(Removed::One));
            assert_eq!(filter.len(), left + u64::from(marked));
            assert_eq!(filter.contains_hashed(gone), left > 0);
            checked(&filter);
        }
        assert_eq!(filter.remove_known_member_hashed(&x), Ok(Removed::NotFound));
    }
    // One that is extended and matches the key may be its own, or may not.
    filter
        .adapt(&key(&[4]), MINIRUN, &[x.clone(), y.clone(), z.clone()])
        .unwrap();
    filter.insert_hashed(&key(&[5])).unwrap();
    assert_eq!(filter.remove_known_member_hashed(&x), needed);
    assert_eq!(filter.remove_known_member_hashed(&y), needed);
    // Those of others don't matter.
    assert_eq!(
        filter.remove_known_member_hashed(&key(&[5])),
        Ok(Removed::One)
    );
    assert_eq!(filter.remove_known_member_hashed(&y), Ok(Removed::One));
    assert!(filter.contains_hashed(&x) && filter.contains_hashed(&z));
    assert!(!filter.contains_hashed(&y));
    checked(&filter);
}

#[test]
fn removing_without_keys_leaves_the_values_of_others() {
    for value in [3, 4] {
        let mut filter = map();
        let geometry = filter.geometry();
        let [x, y] = [&[1][..], &[1, 1]].map(|bytes| stream(geometry, 40, bytes));
        filter.insert_value(&x, 3).unwrap();
        filter.insert_with(&y, 1, value, from_ref(&x)).unwrap();
        assert_eq!(filter.remove_known_member_hashed(&y), Ok(Removed::One));
        assert_eq!(filter.entry_hashed(&x).unwrap().value, 3);
        assert_eq!(filter.len(), 1);
        checked(&filter);
    }
}

#[test]
fn counts_and_values_are_never_ambiguous() {
    let mut filter = map();
    let geometry = filter.geometry();
    let key = |bytes: &[u8]| stream(geometry, 40, bytes);
    let minirun = Minirun::from_id(40);
    let members = [
        (key(&[1, 1]), 1, 5),
        (key(&[1, 2]), 300, 5),
        (key(&[1, 1, 1]), 1, 2),
        (key(&[4]), u64::MAX, 0),
        (key(&[1, 1, 2]), 1, 5),
    ];
    let (first, _, value) = &members[0];
    assert_eq!(filter.insert_value(first, *value), Ok(Inserted::New));
    let needed = Err(Error::NeedsKeys { minirun });
    assert_eq!(filter.insert_value(&members[1].0, 5), needed);
    assert_eq!(filter.insert_hashed(&members[1].0), needed);
    let mut keys = vec![first.clone()];
    for (key, count, value) in &members[1..] {
        let insertion = filter.insert_with(key, *count, *value, &keys);
        assert_eq!(insertion, Ok(Inserted::New));
        assert_eq!(
            filter.insert_with(key, *count, *value, from_ref(key)),
            Ok(Inserted::Present)
        );
        keys.push(key.clone());
        checked(&filter);
        for (key, count, value) in &members[..keys.len()] {
            let entry = filter.entry_hashed(key).unwrap();
            assert_eq!((entry.count, entry.value), (*count, *value));
        }
    }
    for (query, against) in [(key(&[9]), &keys), (key(&[1, 2, 9]), &keys)] {
        filter.adapt(&query, minirun, against).unwrap();
        assert_eq!(filter.entry_hashed(&query), None);
    }
    for (key, count, value) in &members {
        let entry = filter.entry_hashed(key).unwrap();
        assert_eq!((entry.count, entry.value), (*count, *value));
    }
    // Too large a value, and a count of none.
    let geometry = |result| matches!(result, Err(Error::Geometry { .. }));
    assert!(geometry(filter.insert_value(&key(&[]), 8)));
    assert!(geometry(filter.insert_with(&key(&[]), 1, 8, &keys)));
    assert!(geometry(filter.insert_with(&key(&[]), 0, 1, &keys)));
    checked(&filter);
}

#[test]
fn a_count_makes_later_insertions_ask_for_keys() {
    let (x, y) = (key(&[1]), key(&[2]));
    let mut filter = filter();
    filter.insert_with(&x, 3, 0, &[]).unwrap();
    let needed = Err(Error::NeedsKeys { minirun: MINIRUN });
    assert_eq!(filter.insert_hashed(&y), needed);
    assert_eq!(used(&filter), 2);
    filter.insert_with(&y, 1, 0, from_ref(&x)).unwrap();
    // Two homes, a counter, and a digit each to tell them apart.
    assert_eq!(used(&filter), 5);
    assert_eq!(filter.entry_hashed(&x).unwrap().count, 3);
    assert_eq!(filter.entry_hashed(&y).unwrap().count, 1);
    checked(&filter);
}

#[test]
fn shortening_keeps_what_is_needed() {
    let keys = [key(&[1, 1, 1]), key(&[2])];
    let mut filter = filter();
    for key in &keys {
        filter.insert_hashed(key).unwrap();
    }
    let (far, near) = (key(&[3]), key(&[1, 1, 2]));
    for query in [&near, &far] {
        filter.adapt(query, MINIRUN, &keys).unwrap();
    }
    assert_eq!(used(&filter), 6);
    let elsewhere = stream(filter.geometry(), 3, &[1, 1, 1]);
    filter
        .shorten(MINIRUN, &keys, &[far.clone(), elsewhere])
        .unwrap();
    assert_eq!(used(&filter), 4);
    assert!(!filter.contains_hashed(&far));
    assert!(
        filter.contains_hashed(&near),
        "nobody said that it was still needed"
    );
    filter.shorten(MINIRUN, &keys, &[]).unwrap();
    assert_eq!(used(&filter), 2);
    assert!(keys.iter().all(|key| filter.contains_hashed(key)));
    checked(&filter);
}

/// Mistakes are counted by minirun, so another query's adaptation may use them up.
#[test]
fn after_repeats_counts_the_mistakes_of_a_minirun_not_of_a_query() {
    let member = [key(&[7, 7, 7, 7])];
    let mut filter = filter();
    filter.insert_hashed(&member[0]).unwrap();
    let mut judge = Judge::new(Policy::AfterRepeats(2));
    let mut wrong = |query: &Hashed<'_>| {
        let Some(minirun) = filter.lookup_hashed(query) else {
            return false;
        };
        if judge.on_false_positive(minirun.id()) == Decision::Adapt {
            filter.adapt(query, minirun, &member).unwrap();
        }
        true
    };
    let nearest = key(&[7, 7, 7, 8]);
    for other in [key(&[8]), key(&[7, 8]), key(&[7, 7, 8])] {
        assert!(wrong(&nearest) && wrong(&other) && !wrong(&other));
    }
    // Wrong three times already, and twice more when it is alone.
    assert!(wrong(&nearest) && wrong(&nearest) && !wrong(&nearest));
    assert_eq!(judge.waiting(), 0);
}
