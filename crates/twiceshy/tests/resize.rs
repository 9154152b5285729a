//! Doubling and halving without keys: nobody is lost, what comes back is what the documentation
//! says, and what can't be done says why.

mod sides;

use std::collections::BTreeMap;

use sides::{Filter, Side, adaptive, geometry, stream, universe};
use twiceshy::hash::{Hashed, Seed};
use twiceshy::{AdaptiveFilter, Error, Merge, QuotientFilter};
use twiceshy::{Entry, Minirun};
use twiceshy_testing::Source;

/// Adapted filters of different geometries into ever more slots, and on from there.
#[test]
fn nobody_is_lost_between_geometries() {
    let (mut merged, mut full, mut shortened, mut back, mut ghosts) = (0, 0, 0, 0, 0);
    for seed in 0..500 {
        let source = &mut Source::from_seed(seed);
        let steps = 1 + source.below(3).unwrap() as u32;
        let slots = (1 + source.below(40).unwrap()) << steps;
        let bits = 1 + source.below(3).unwrap() as u32;
        let of = |halved: u32| geometry(slots >> halved, bits + halved);
        let universe = universe(&of(steps), source).unwrap();
        let mut sides = Vec::new();
        for _ in 0..1 + source.below(4).unwrap() {
            let halved = source.below(u64::from(steps) + 1).unwrap() as u32;
            sides.push(Side::new(of(halved), &universe, source).unwrap());
        }
        let filters = sides.iter().map(|side| &side.filter);
        let (result, report) = match Merge::of(filters).slots(slots).build_reported() {
            Ok(done) => done,
            Err(error) => {
                assert!(matches!(error, Error::Full { .. }), "seed {seed}: {error}");
                full += 1;
                continue;
            }
        };
        merged += 1;
        shortened += report.shortened;
        assert!(report.shortened <= report.extended);
        assert_eq!(result.check_invariants(), Ok(()));
        assert_eq!(result.geometry(), of(0));
        let sum = |of: fn(&Filter) -> u64| -> u64 { sides.iter().map(|it| of(&it.filter)).sum() };
        assert_eq!(result.len(), sum(Filter::len));
        assert_eq!(result.ghosts(), sum(Filter::ghosts));
        ghosts += result.ghosts();
        for key in &universe.keys {
            let before = sides.iter().any(|side| side.contains(key));
            let now = result.contains_hashed(&key.keyed());
            assert!(
                now || !before,
                "seed {seed}: a \"maybe\" has become a \"no\""
            );
            assert!(before || !now || report.shortened > 0, "nothing was lost");
            back += u64::from(now && !before);
        }
    }
    assert!(merged > 250 && full < 250, "{merged} merged, {full} full");
    assert!(
        shortened > 500 && back > 20 && ghosts > 300,
        "{shortened} {back} {ghosts}"
    );
}

/// Into more slots nobody is lost, and what comes back is what the lost bits had fixed.
#[test]
fn doubling_brings_back_only_what_the_lost_bits_had_fixed() {
    let (mut fixed, mut back, mut shortened, mut whole) = (0_u64, 0_u64, 0, 0);
    for seed in 0..400 {
        let source = &mut Source::from_seed(seed);
        let width = 2 + source.below(8).unwrap() as u32;
        let times = 1 + source.below(u64::from(width) - 1).unwrap() as u32;
        let geometry = geometry(600 + source.below(100).unwrap(), width);
        let mut filter: AdaptiveFilter = adaptive(geometry, 0);
        // One member for each of some miniruns, and queries that leave it at any bit.
        let mut queries = Vec::new();
        for i in 0..12 {
            let id = geometry.ids() / 12 * i;
            let h0 = *geometry.hash_range(id).start();
            let words = [h0, source.word().unwrap(), source.word().unwrap()];
            let member = Hashed::from_words(&words).into_owned();
            filter.insert_hashed(&member).unwrap();
            let bit = source.below(40).unwrap();
            let mut words = words;
            words[1] ^= 1 << (63 - bit);
            let query = Hashed::from_words(&words).into_owned();
            let minirun = Minirun::from_id(id);
            filter
                .adapt(&query, minirun, std::slice::from_ref(&member))
                .unwrap();
            queries.push((member, query, bit));
        }
        let (doubled, report) = Merge::of([&filter])
            .doubled(times)
            .build_reported()
            .unwrap();
        assert_eq!(doubled.check_invariants(), Ok(()));
        assert_eq!(doubled.len(), filter.len());
        let narrow = u64::from(width - times);
        let mut lossy = 0;
        for (member, query, bit) in &queries {
            assert!(doubled.contains_hashed(member));
            let bits = (bit / u64::from(width) + 1) * u64::from(width);
            let kept = bits - bits % narrow;
            assert!(bits - kept < narrow, "less than a digit is lost");
            assert_eq!(
                doubled.contains_hashed(query),
                *bit >= kept,
                "bit {bit} of {kept}"
            );
            lossy += u64::from(kept < bits);
            back += u64::from(*bit >= kept);
        }
        fixed += queries.len() as u64;
        assert_eq!((report.extended, report.shortened), (12, lossy));
        shortened += lossy;
        whole += 12 - lossy;
    }
    assert!(shortened > 1_000 && whole > 500, "{shortened} {whole}");
    // The bits here are all equally likely; of random queries, half leave at the first.
    assert!(back > 100 && back < fixed / 3, "{back} of {fixed}");
}

/// With random keys as few mistakes come back as the documentation says.
#[test]
fn few_mistakes_of_random_queries_come_back() {
    let geometry = geometry(20_000, 5);
    let mut filter: AdaptiveFilter = adaptive(geometry, 0);
    let members: Vec<u64> = (0..8_000).collect();
    let mut by_minirun: BTreeMap<u64, Vec<Hashed<'_>>> = BTreeMap::new();
    for key in &members {
        filter.insert(key).unwrap();
        let hashed = filter.hash(key);
        let id = geometry.id(hashed.h0());
        by_minirun.entry(id).or_default().push(hashed);
    }
    let mut fixed = Vec::new();
    for query in 1_000_000..1_600_000_u64 {
        let hashed = filter.hash(&query);
        if let Some(minirun) = filter.lookup_hashed(&hashed) {
            let keys = &by_minirun[&minirun.id()];
            filter.adapt(&hashed, minirun, keys).unwrap();
            fixed.push(query);
        }
    }
    assert!(fixed.iter().all(|query| !filter.contains(query)));
    let (doubled, report) = Merge::of([&filter]).doubled(1).build_reported().unwrap();
    let back = fixed.iter().filter(|query| doubled.contains(query)).count();
    // Nearly all extensions have one digit of 5 bits and lose one: 1 in 31.
    let share = back as f64 / fixed.len() as f64;
    assert!(
        fixed.len() > 4_000 && (0.01..0.06).contains(&share),
        "{back} {report:?}"
    );
    assert!(members.iter().all(|key| doubled.contains(key)));
}

/// Two values told apart by the last bit of a digit only, which doubling would cut off.
#[test]
fn doubling_refuses_to_make_values_ambiguous() {
    let geometry = geometry(100, 5);
    let minirun = 40 << 5 | 9;
    let key = |byte| stream(geometry, minirun, &[byte]);
    let new = |second| {
        let mut filter: AdaptiveFilter = adaptive(geometry, 3);
        let (x, y) = (key(0), key(second));
        filter.insert_with(&x, 1, 1, &[]).unwrap();
        filter
            .insert_with(&y, 1, 2, std::slice::from_ref(&x))
            .unwrap();
        filter
    };
    let near = new(1);
    let error = near.doubled().unwrap_err();
    assert_eq!(
        error,
        Error::NeedsKeys {
            minirun: Minirun::from_id(minirun)
        }
    );
    // A resolver can decide, and any other bit survives.
    let settled = Merge::of([&near])
        .doubled(1)
        .resolve(|_| Ok(Entry::new(1, 5)));
    assert_eq!(
        settled.build().unwrap().entry_hashed(&key(1)),
        Some(Entry::new(1, 5))
    );
    let (far, report) = Merge::of([&new(2)]).doubled(1).build_reported().unwrap();
    assert_eq!((report.extended, report.shortened), (2, 2));
    assert_eq!(far.entry_hashed(&key(0)), Some(Entry::new(1, 1)));
    assert_eq!(far.entry_hashed(&key(2)), Some(Entry::new(1, 2)));
}

#[test]
fn impossible_sizes_say_why() {
    let plain = |slots, bits| {
        let builder = QuotientFilter::builder().slots(slots).remainder_bits(bits);
        builder.seed(Seed::from_u64(1)).build().unwrap()
    };
    let message = |result: Result<QuotientFilter, Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Geometry { .. }), "{error:?}");
        error.to_string()
    };
    let narrow = plain(100, 1);
    assert!(message(narrow.doubled()).contains("have 1 and keep at least one"));
    let filter = plain(12, 3);
    assert!(message(Merge::of([&filter]).doubled(3).build()).contains("takes a bit"));
    assert!(message(Merge::of([&filter]).doubled(u32::MAX).build()).contains("takes a bit"));
    for slots in [0, 1, 2, 5, 13, 36, 47, 100, u64::MAX] {
        let error = message(Merge::of([&filter]).slots(slots).build());
        assert!(
            error.contains("only be doubled or halved"),
            "{slots}: {error}"
        );
    }
    for slots in [3, 6, 12, 24, 48] {
        let resized = Merge::of([&filter]).slots(slots).build().unwrap();
        assert_eq!(resized.geometry().ids(), 96);
    }
    assert!(message(plain(3, 3).halved()).contains("odd"));
    assert!(message(plain(2, 56).halved()).contains("1 to 56 bits"));
    let valued: AdaptiveFilter = adaptive(geometry(4, 50), 6);
    assert!(matches!(valued.halved(), Err(Error::Geometry { .. })));

    // An extension of one digit does not fill a wider one.
    let geometry = geometry(100, 8);
    let mut extended: AdaptiveFilter = adaptive(geometry, 0);
    let keys = [stream(geometry, 9, &[1])];
    extended.insert_hashed(&keys[0]).unwrap();
    assert!(extended.halved().is_ok());
    let minirun = Minirun::from_id(9);
    extended
        .adapt(&stream(geometry, 9, &[2]), minirun, &keys)
        .unwrap();
    assert_eq!(extended.halved().unwrap_err(), Error::NeedsKeys { minirun });
    // Nine of them fill eight.
    let nearer = stream(geometry, 9, &[1, 0, 0, 0, 0, 0, 0, 1]);
    extended.adapt(&nearer, minirun, &keys).unwrap();
    let further = Hashed::from_words(&[keys[0].h0(), keys[0].word(1), 1 << 56]).into_owned();
    extended.adapt(&further, minirun, &keys).unwrap();
    let halved = extended.halved().unwrap();
    for query in [nearer, further] {
        assert!(!halved.contains_hashed(&query) && halved.contains_hashed(&keys[0]));
    }
}
