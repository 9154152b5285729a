//! Random sequences of operations that shrink to the few that matter.
//!
//! The conformance suite runs longer and drives tables harder; this one gives a failure
//! that can be read.

use proptest::prelude::*;
use twiceshy::hash::{Hashed, Seed};
use twiceshy::{Error, Fingerprint, Geometry, Inserted, QuotientFilter, Removed};
use twiceshy_testing::{Oracle, Source, run};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        // A failure is a test to be written, not a file to be kept.
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A place in a table of any geometry: both numbers are taken modulo what there is.
#[derive(Clone, Copy, Debug)]
struct Place {
    quotient: u64,
    remainder: u64,
}

impl Place {
    fn id(self, geometry: &Geometry) -> u64 {
        geometry.id_of(Fingerprint {
            quotient: self.quotient % geometry.slots(),
            remainder: self.remainder % (1 << geometry.remainder_bits()),
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Insert(Place),
    InsertUnique(Place),
    Remove(Place),
    Contains(Place),
    /// Many insertions into one run.
    Fill(Place, u64),
    /// Many removals from wherever something is at or behind a place.
    Drain(Place, u64),
    Clear,
}

/// Everywhere, but mostly near block edges and near each other.
fn place() -> impl Strategy<Value = Place> {
    let quotient = prop_oneof![0..400_u64, 60..68_u64, 126..130_u64, 0..4_u64];
    let remainder = prop_oneof![0..4_u64, any::<u64>()];
    (quotient, remainder).prop_map(|(quotient, remainder)| Place {
        quotient,
        remainder,
    })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        10 => place().prop_map(Op::Insert),
        3 => place().prop_map(Op::InsertUnique),
        6 => place().prop_map(Op::Remove),
        6 => place().prop_map(Op::Contains),
        3 => (place(), 1..150_u64).prop_map(|(place, count)| Op::Fill(place, count)),
        2 => (place(), 1..150_u64).prop_map(|(place, count)| Op::Drain(place, count)),
        1 => Just(Op::Clear),
    ]
}

/// One to seven blocks with narrow slots, or any slots with any width that goes with them.
fn geometry() -> impl Strategy<Value = Geometry> {
    prop_oneof![(1..=400_u64, 1..=9_u32), (1..=16_u64, 1..=56_u32)]
        .prop_map(|(slots, bits)| Geometry::new(slots, bits).expect("a geometry in range"))
}

struct Pair {
    filter: QuotientFilter,
    oracle: Oracle,
    geometry: Geometry,
}

impl Pair {
    fn new(geometry: Geometry) -> Self {
        let filter = QuotientFilter::builder()
            .slots(geometry.slots())
            .remainder_bits(geometry.remainder_bits())
            .seed(Seed::from_u64(1))
            .build()
            .expect("a small filter");
        Pair {
            filter,
            oracle: Oracle::new(),
            geometry,
        }
    }

    fn hashed(&self, id: u64) -> Hashed<'static> {
        Hashed::from_h0(*self.geometry.hash_range(id).start())
    }

    fn apply(&mut self, op: Op) -> Result<(), TestCaseError> {
        match op {
            Op::Insert(place) => self.insert(place.id(&self.geometry))?,
            Op::InsertUnique(place) => {
                let id = place.id(&self.geometry);
                let present = self.oracle.contains(id);
                match self.filter.insert_unique_hashed(&self.hashed(id)) {
                    Ok(inserted) => {
                        prop_assert_eq!(inserted == Inserted::Present, present);
                        self.oracle.insert_unique(id);
                    }
                    Err(error) => {
                        let full = matches!(error, Error::Full { .. });
                        prop_assert!(!present && full, "{error:?}");
                    }
                }
            }
            Op::Remove(place) => self.remove(place.id(&self.geometry))?,
            Op::Contains(place) => {
                let id = place.id(&self.geometry);
                let found = self.filter.contains_hashed(&self.hashed(id));
                prop_assert_eq!(found, self.oracle.contains(id));
            }
            Op::Fill(place, count) => {
                for more in 0..count {
                    let remainder = place.remainder.wrapping_add(more);
                    self.insert(Place { remainder, ..place }.id(&self.geometry))?;
                }
            }
            Op::Drain(place, count) => {
                for _ in 0..count {
                    let Some(id) = self.oracle.member_near(place.id(&self.geometry)) else {
                        break;
                    };
                    self.remove(id)?;
                }
            }
            Op::Clear => {
                self.filter.clear();
                self.oracle.clear();
            }
        }
        self.check()
    }

    fn insert(&mut self, id: u64) -> Result<(), TestCaseError> {
        match self.filter.insert_hashed(&self.hashed(id)) {
            Ok(()) => self.oracle.insert(id),
            Err(error) => {
                let full = matches!(error, Error::Full { used, .. } if used == self.oracle.len());
                prop_assert!(full, "{error:?}");
                // The spare slots are at least these, so it can't be full before.
                prop_assert!(self.oracle.len() >= 64);
            }
        }
        Ok(())
    }

    fn remove(&mut self, id: u64) -> Result<(), TestCaseError> {
        let removed = self.filter.remove_hashed(&self.hashed(id));
        let present = self.oracle.remove(id);
        prop_assert_eq!(
            removed,
            Ok(if present {
                Removed::One
            } else {
                Removed::NotFound
            })
        );
        Ok(())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.filter.check_invariants(), Ok(()));
        prop_assert_eq!(self.filter.len(), self.oracle.len());
        let found = self.filter.iter().map(|found| self.geometry.id_of(found));
        prop_assert!(found.eq(self.oracle.iter()), "the contents differ");
        Ok(())
    }
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn a_filter_is_a_sorted_multiset(
        geometry in geometry(),
        ops in prop::collection::vec(op(), 0..150),
    ) {
        let mut pair = Pair::new(geometry);
        for op in ops {
            pair.apply(op)?;
        }
    }

    /// What a fuzzer would do.
    #[test]
    fn any_bytes_are_a_conforming_run(
        geometry in geometry(),
        bytes in prop::collection::vec(any::<u8>(), 0..3_000),
    ) {
        let filter = Pair::new(geometry).filter;
        let result = run(filter, &mut Source::from_bytes(&bytes), u64::MAX);
        prop_assert!(result.is_ok(), "{:?}", result);
    }

    /// Members leave in any order, and what is left does not depend on it.
    #[test]
    fn order_does_not_matter(
        geometry in geometry(),
        mut places in prop::collection::vec(place(), 1..60),
        kept in 0..60_usize,
        seed in any::<u64>(),
    ) {
        let (mut one, mut other) = (Pair::new(geometry), Pair::new(geometry));
        for place in &places {
            one.insert(place.id(&geometry))?;
        }
        let mut source = Source::from_seed(seed);
        for at in (1..places.len()).rev() {
            let with = source.below(at as u64 + 1).expect("seeds don't run out") as usize;
            places.swap(at, with);
        }
        for place in &places {
            other.insert(place.id(&geometry))?;
        }
        prop_assert!(one.filter.iter().eq(other.filter.iter()));
        let gone = kept.min(places.len());
        for place in &places[gone..] {
            one.remove(place.id(&geometry))?;
        }
        for place in places[gone..].iter().rev() {
            other.remove(place.id(&geometry))?;
        }
        one.check()?;
        other.check()?;
        prop_assert!(one.filter.iter().eq(other.filter.iter()));
        prop_assert_eq!(one.filter.stats().longest_cluster, other.filter.stats().longest_cluster);
    }
}
