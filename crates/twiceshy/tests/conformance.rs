//! The conformance suite on every filter: tiny geometries, all shapes of hashes, loads up
//! to the last spare slot, invariants checked after each of millions of operations.
//!
//! Each test is one number of slots, so that they run side by side. Seeds are fixed.

mod share;

use twiceshy::hash::Seed;
use twiceshy::{AdaptiveFilter, Buildable, Builder, Geometry, QuotientFilter};
use twiceshy_testing::adaptive::universe::Chosen;
use twiceshy_testing::{Kind, Report, Shape, Source, Subject, run, run_shaped};

/// Operations on each geometry with each shape. Enough to fill and drain the largest
/// table here more than once.
const OPERATIONS: u64 = 7_000;

/// Runs on each geometry: one for each shape, and one with all of them mixed.
const RUNS: u64 = Shape::ALL.len() as u64 + 1;

/// Remainders of these widths, where the number of slots allows: all the narrow ones, in
/// which duplicates abound, and some whose slots lie across words in every way.
const REMAINDER_BITS: [u32; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 51, 53, 56];

/// With hashes that are their keys, so that batches of keys have a shape too.
fn measured<F: Buildable>(builder: Builder<F>, geometry: Geometry) -> F::WithHash<Chosen> {
    builder
        .hash::<Chosen>()
        .slots(geometry.slots())
        .remainder_bits(geometry.remainder_bits())
        .seed(Seed::from_u64(1))
        .build()
        .expect("a small filter")
}

fn plain(geometry: Geometry) -> QuotientFilter<Chosen> {
    measured(QuotientFilter::builder(), geometry)
}

/// All shapes at one number of slots, with each of the widths that go with it: so many.
fn conform<S: Subject>(slots: u64, widths: u64, build: impl Fn(Geometry) -> S) {
    let mut total = Report::new();
    let mut asked = 0;
    // Ids of more than 60 bits are refused.
    let geometries = REMAINDER_BITS.map(|bits| Geometry::new(slots, bits));
    let geometries: Vec<Geometry> = geometries.into_iter().flatten().collect();
    assert_eq!(geometries.len() as u64, widths);
    // Each number of slots begins with another width, so that a share has all of them.
    let divisor = share::divisor();
    let first = slots as usize % divisor.min(geometries.len());
    for geometry in geometries.into_iter().skip(first).step_by(divisor) {
        let bits = geometry.remainder_bits();
        let all = build(geometry).slots().unwrap_or(slots);
        let check = |result: Result<Report, String>, shape: Option<Shape>| match result {
            Ok(report) => {
                assert_eq!(report.operations(), OPERATIONS);
                let full = report.count(Kind::InsertFull);
                assert!(full > 0, "{geometry:?} {shape:?} {report}");
                // Up to the brim: a load of 100% and more, or every slot from the last
                // quotient's home on.
                let peak = match shape {
                    Some(Shape::Uniform | Shape::Descending) => slots,
                    Some(Shape::LastQuotient) => all - slots + 1,
                    _ => 64,
                };
                assert!(report.peak_len() >= peak, "{geometry:?} {shape:?} {report}");
                report
            }
            Err(error) => panic!("{geometry:?} {shape:?}: {error}"),
        };
        let seed = slots * 100 + u64::from(bits);
        for shape in Shape::ALL {
            let mut source = Source::from_seed(seed);
            let result = run_shaped(build(geometry), shape, &mut source, OPERATIONS);
            total += check(result, Some(shape));
        }
        let mut source = Source::from_seed(!seed);
        let result = run(build(geometry), &mut source, OPERATIONS);
        total += check(result, None);
        asked += RUNS * OPERATIONS;
    }
    println!("{slots} slots: {total}");
    assert_eq!(total.operations(), asked);
    // A share may have none of the rare ones.
    if divisor == 1 {
        assert_eq!(asked, widths * RUNS * OPERATIONS);
        // From one slot to two and back there is always room, or nearly.
        let missing = total
            .missing()
            .filter(|&kind| slots > 1 || kind != Kind::ResizeFull);
        assert_eq!(missing.collect::<Vec<_>>(), [], "kinds left out");
    }
}

/// A test for each number of slots, and one that knows the sum.
macro_rules! plain_quotient_filter {
    ($($name:ident: $slots:expr, $widths:expr;)*) => {
        $(
            #[test]
            fn $name() {
                conform($slots, $widths, plain);
            }
        )*

        /// The promise of at least five million, whatever is added or taken away above.
        #[test]
        fn millions_of_operations() {
            let runs: u64 = [$($widths),*].into_iter().sum::<u64>() * RUNS;
            println!("{} operations in all", runs * OPERATIONS);
            assert!(runs * OPERATIONS >= 5_000_000);
        }
    };
}

// The number of slots, and how many of the widths go with it.
plain_quotient_filter! {
    one_slot: 1, 14;
    two_slots: 2, 14;
    sixteen_slots: 16, 14;
    one_less_than_a_block: 63, 13;
    one_block: 64, 13;
    one_more_than_a_block: 65, 13;
    a_hundred_slots: 100, 13;
    two_blocks: 128, 13;
    two_hundred_slots: 200, 12;
    five_blocks: 320, 12;
    six_blocks: 384, 12;
}

/// The adaptive filter as long as nothing adapts, at fewer sizes; `adaptive_model.rs` has the
/// rest. (And `counting.rs` has the counting filter.)
#[test]
fn adaptive_filters() {
    let mut total = Report::new();
    for slots in [1, 64, 130] {
        for bits in [1, 2, 5, 9] {
            let geometry = Geometry::new(slots, bits).unwrap();
            for shape in Shape::ALL {
                let filter = measured(AdaptiveFilter::builder(), geometry);
                let mut source = Source::from_seed(slots * 100 + u64::from(bits));
                match run_shaped(filter, shape, &mut source, 1_000) {
                    Ok(report) => total += report,
                    Err(error) => panic!("{geometry:?} {shape:?}: {error}"),
                }
            }
        }
    }
    println!("{total}");
    assert_eq!(total.operations(), 3 * 4 * 8 * 1_000);
    // What it can't do.
    let missing = [
        Kind::InsertOnce,
        Kind::InsertOncePresent,
        Kind::InsertOnceFull,
    ];
    assert_eq!(total.missing().collect::<Vec<_>>(), missing);
}
