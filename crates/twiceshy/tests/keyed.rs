//! The telescoping and the extension filter against the set of their keys, at tiny
//! geometries, with hashes that collide; and under the conformance suite.

mod share;

use twiceshy::file::HEADER_BYTES;
use twiceshy::hash::Seed;
use twiceshy::sets::{KeyedSet, Learner, MemoryMap};
use twiceshy::{
    Buildable, Builder, Error, ExtensionFilter, Geometry, PlainTelescopingFilter, TelescopingFilter,
};
use twiceshy_testing::adaptive::universe::Chosen;
use twiceshy_testing::files::{Verdict, judge, repair};
use twiceshy_testing::keyed::{self, PLAYERS, Player, Tally};
use twiceshy_testing::{Kind, Report, Shape, Source, Subject, run_shaped};

/// Every kind of filter, many games.
#[test]
fn games() {
    let games = 60 / share::divisor().min(60) as u64;
    for player in PLAYERS {
        let mut total = Tally::default();
        for seed in 0..games {
            match keyed::run(player, &mut Source::from_seed(seed), 400) {
                Ok(tally) => total += tally,
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
        println!("{player:?}: {total:?}");
        assert_eq!(total.operations, games * 400);
        if share::divisor() > 1 {
            continue;
        }
        assert!(total.inserted > 2_000 && total.removed > 200);
        assert!(total.fixed > 1_000 && total.reloaded > 50 && total.full > 0);
        assert_eq!(total.forgotten > 0, player != Player::PlainTelescoping);
    }
}

/// The suite, as long as nothing adapts.
fn conform<F: Buildable>(name: &str)
where
    F::WithHash<Chosen>: Subject,
{
    let mut total = Report::new();
    let all = [
        (1, 1),
        (1, 5),
        (64, 2),
        (64, 9),
        (130, 1),
        (130, 7),
        (200, 3),
        (65, 50),
    ];
    for (slots, bits) in all.into_iter().step_by(share::divisor().min(8)) {
        let geometry = Geometry::new(slots, bits).expect("a small geometry");
        for shape in Shape::ALL {
            let filter = Builder::<F>::new()
                .hash::<Chosen>()
                .slots(slots)
                .remainder_bits(bits)
                .seed(Seed::from_u64(1))
                .build()
                .expect("a small filter");
            let mut source = Source::from_seed(slots * 100 + u64::from(bits));
            match run_shaped(filter, shape, &mut source, 1_500) {
                Ok(report) => total += report,
                Err(error) => panic!("{name}, {geometry:?} {shape:?}: {error}"),
            }
        }
    }
    println!("{name}: {total}");
    if share::divisor() == 1 {
        // What they can't do.
        let lacks = [
            Kind::InsertOnce,
            Kind::InsertOncePresent,
            Kind::InsertOnceFull,
            Kind::Double,
            Kind::Halve,
            Kind::ResizeImpossible,
            Kind::ResizeFull,
            Kind::Merge,
            Kind::MergeUnlike,
            Kind::BulkLoad,
        ];
        let missing = total.missing().filter(|kind| !lacks.contains(kind));
        assert_eq!(missing.collect::<Vec<_>>(), [], "kinds left out");
    }
}

#[test]
fn telescoping_filters_conform() {
    conform::<TelescopingFilter>("telescoping");
}

#[test]
fn plain_telescoping_filters_conform() {
    conform::<PlainTelescopingFilter>("plain selectors");
}

#[test]
fn extension_filters_conform() {
    conform::<ExtensionFilter>("extension");
}

/// A small set that has learnt.
fn learnt<F: Buildable + Learner<MemoryMap, Error = Error>>() -> KeyedSet<F> {
    let builder = Builder::<F>::new().slots(30).remainder_bits(3);
    let mut set = KeyedSet::from_builder(builder.seed(Seed::from_u64(2))).expect("a small set");
    for key in 0..28_u64 {
        set.insert(&key).expect("room for it");
    }
    for query in 1_000..1_400_u64 {
        set.report_false_positive(&query).expect("a stranger");
    }
    set
}

/// Every bit of a file, behind a right checksum: the loaders accept what the invariants accept.
#[test]
fn damaged_codes_are_judged_by_the_invariants() {
    let files = [
        learnt::<TelescopingFilter>().filter().to_bytes(),
        learnt::<PlainTelescopingFilter>().filter().to_bytes(),
        learnt::<ExtensionFilter>().filter().to_bytes(),
    ];
    for file in files {
        assert_eq!(judge(&file), Verdict::Accepted);
        let mut refused = 0;
        let bits = (HEADER_BYTES * 8..file.len() * 8).step_by(share::divisor());
        for bit in bits {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            repair(&mut damaged);
            refused += u32::from(judge(&damaged) == Verdict::Refused);
        }
        // A remainder can be another one, and a code can be that of other symbols.
        assert!(refused > 100, "{refused}");
    }
}
