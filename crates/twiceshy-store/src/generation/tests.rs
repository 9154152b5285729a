use std::ops::RangeInclusive;

use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy::sets::policy::Policy;

use super::{Asked, Place, Shard};
use crate::filter::{Filter, FilterChoice, Measures};

/// Keys of a shard, with their whole hashes, in hash order.
type Keys = Vec<(u64, Vec<u8>)>;

/// Draws another key whose whole hash is wanted.
type Draw = Box<dyn FnMut(&dyn Fn(u64) -> bool) -> (u64, Vec<u8>)>;

/// A full shard, its keys, and more of them.
fn full_shard(choice: FilterChoice) -> (Shard, Keys, Draw) {
    let (place, seed) = (Place { index: 1, bits: 1 }, Seed::from_u64(1));
    let measures = Measures {
        choice,
        remainder_bits: 4,
        seed,
    };
    let filter = Filter::empty(&measures, 600).unwrap();
    let shard = Shard::new(place, measures, Policy::Always, filter);
    let mut number = 0;
    let mut draw = move |wanted: &dyn Fn(u64) -> bool| loop {
        number += 1;
        let key = format!("key{number}").into_bytes();
        let (index, rest) = Hashed::from_bytes::<Sip13>(&seed, &key).split_top(1);
        let h0 = place.whole(rest.h0());
        if index == place.index && wanted(h0) {
            return (h0, key);
        }
    };
    let mut keys = Keys::new();
    while !shard.is_full(0) {
        let (h0, key) = draw(&|_| true);
        shard.add(&shard.hash(&key)).unwrap();
        keys.push((h0, key));
    }
    keys.sort();
    (shard, keys, Box::new(draw))
}

fn among(keys: &Keys, range: &RangeInclusive<u64>) -> Vec<Vec<u8>> {
    let keys = keys.iter().filter(|(h0, _)| range.contains(h0));
    keys.map(|(_, key)| key.clone()).collect()
}

/// Below the frontier, so many keys have come that the larger filter has no room for what is still
/// to be handed over. As they go, it is, and nothing twice.
fn goes_on_when_there_is_room(choice: FilterChoice) {
    let (shard, mut keys, mut draw) = full_shard(choice);
    assert!(shard.begin_to_grow().unwrap());
    let stretch = shard.next_stretch().unwrap();
    assert!(!shard.hand_over(&stretch, &among(&keys, &stretch)).unwrap());
    let frontier = *shard.next_stretch().unwrap().start();
    let mut crowd = Keys::new();
    loop {
        let (h0, key) = draw(&|h0| (frontier - (1 << 57)..frontier).contains(&h0));
        if shard.add(&shard.hash(&key)).is_err() {
            break;
        }
        crowd.push((h0, key));
    }
    assert!(crowd.len() > 300, "{}", crowd.len());
    keys.extend(crowd.iter().cloned());
    keys.sort();

    let (mut refused, mut half_way, mut at) = (0, 0, frontier);
    while let Some(stretch) = shard.next_stretch() {
        half_way += u64::from(refused > 0 && *stretch.start() > at);
        at = *stretch.start();
        let Err(error) = shard.hand_over(&stretch, &among(&keys, &stretch)) else {
            continue;
        };
        assert!(matches!(error, twiceshy::Error::Full { .. }), "{error}");
        refused += 1;
        let (_, gone) = crowd.pop().unwrap();
        let minirun = among(&keys, &shard.range_of(&shard.hash(&gone)));
        let hashed: Vec<_> = minirun.iter().map(|key| shard.hash(key)).collect();
        shard
            .drop_print(&shard.hash(&gone), &hashed, Leave::Nothing)
            .unwrap();
        keys.retain(|(_, key)| *key != gone);
    }
    assert!(refused > 10 && half_way > 10, "{refused} {half_way}");
    assert!(!shard.is_growing());
    shard.check_invariants().unwrap();
    for (_, key) in &keys {
        assert!(
            !matches!(shard.ask(&shard.hash(key)), Asked::No),
            "a member is lost"
        );
    }
    assert_eq!(shard.usage().0, keys.len() as u64, "one slot for each key");
}

#[test]
fn a_stretch_that_found_no_room_is_handed_over_later() {
    goes_on_when_there_is_room(FilterChoice::Adaptive);
    goes_on_when_there_is_room(FilterChoice::Plain);
}
