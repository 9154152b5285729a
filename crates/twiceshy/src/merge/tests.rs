//! Merged, doubled and halved tables are, to the byte, those that one-by-one insertion
//! makes.

use super::Merge;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::hash::{Hashed, Seed};
use crate::table::{HomeSlot, Mark, Marks, Slot, Table, TableOptions, Writer};
use crate::{AdaptiveFilter, CountingFilter, QuotientFilter};

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % end
    }
}

/// What the three filters have in common here.
trait Subject: Sized {
    fn empty(slots: u64, bits: u32) -> Self;
    fn add(&mut self, key: &Hashed<'_>) -> Result<(), Error>;
    fn merged(filters: &[&Self], slots: u64) -> Result<Self, Error>;
    fn bytes(&self) -> &[u8];
    fn check(&self);
}

macro_rules! subject {
    ($filter:ident, $insert:ident) => {
        impl Subject for $filter {
            fn empty(slots: u64, bits: u32) -> Self {
                let builder = $filter::builder().slots(slots).remainder_bits(bits);
                builder.seed(Seed::from_u64(1)).build().expect("small")
            }
            fn add(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
                self.$insert(key).map(|_| ())
            }
            fn merged(filters: &[&Self], slots: u64) -> Result<Self, Error> {
                Merge::of(filters.iter().copied()).slots(slots).build()
            }
            fn bytes(&self) -> &[u8] {
                self.as_bytes()
            }
            fn check(&self) {
                assert_eq!(self.check_invariants(), Ok(()));
            }
        }
    };
}

subject!(QuotientFilter, insert_hashed);
subject!(CountingFilter, insert_hashed);
subject!(AdaptiveFilter, insert_hashed);

/// Hashes of any kind: all over, in one run, in a few fingerprints, at the end.
fn hash(geometry: &Geometry, shape: u64, random: &mut Random) -> u64 {
    let bits = geometry.remainder_bits();
    let remainder = random.below(1 << bits);
    let quotient = match shape {
        0 => random.below(geometry.slots()),
        1 => geometry.slots() / 2,
        2 => geometry.slots() - 1,
        _ => random.below(3).min(geometry.slots() - 1),
    };
    let range = geometry.hash_range(quotient << bits | remainder);
    range.start() + random.below(range.end() - range.start())
}

/// Any number of inputs of any geometries of equal `N`, into any such geometry.
fn bytes_are_the_same<F: Subject>() {
    let mut random = Random(5);
    let (mut merged, mut full) = (0, 0);
    for case in 0..3_000 {
        // The narrowest geometry, and how often others are halved from it.
        let steps = random.below(4) as u32;
        let slots = (1 + random.below(40)) << steps;
        let bits = 1 + random.below(4) as u32;
        let geometry = |halved: u32| (slots >> halved, bits + halved);
        let inputs = 1 + random.below(5);
        let (target, target_bits) = geometry(random.below(u64::from(steps) + 1) as u32);
        let wanted = Geometry::new(target, target_bits).unwrap();
        let mut direct = Some(F::empty(target, target_bits));
        let mut filters = Vec::new();
        let load = 1 + random.below(500);
        for _ in 0..inputs {
            let (slots, bits) = geometry(random.below(u64::from(steps) + 1) as u32);
            let mut filter = F::empty(slots, bits);
            let shape = random.below(4);
            for _ in 0..slots * load / 100 / inputs + random.below(3) {
                let key = Hashed::from_h0(hash(&wanted, shape, &mut random));
                if filter.add(&key).is_ok() {
                    direct = direct.and_then(|mut direct| direct.add(&key).ok().map(|()| direct));
                }
            }
            filters.push(filter);
        }
        let filters: Vec<_> = filters.iter().collect();
        match (F::merged(&filters, target), direct) {
            (Ok(result), Some(direct)) => {
                result.check();
                assert!(result.bytes() == direct.bytes(), "case {case}");
                merged += 1;
            }
            (Err(Error::Full { .. }), None) => full += 1,
            (result, direct) => {
                let direct = direct.is_some();
                panic!("case {case}: {:?}, directly: {direct}", result.err());
            }
        }
    }
    assert!(merged > 1_000 && full > 100, "{merged} merged, {full} full");
}

#[test]
fn plain_bytes_are_those_of_insertion() {
    bytes_are_the_same::<QuotientFilter>();
}

#[test]
fn counting_bytes_are_those_of_insertion() {
    bytes_are_the_same::<CountingFilter>();
}

#[test]
fn adaptive_bytes_are_those_of_insertion() {
    bytes_are_the_same::<AdaptiveFilter>();
}

#[test]
fn large_tables_too() {
    let mut random = Random(8);
    let mut direct = QuotientFilter::empty(40_000, 7);
    let mut halves = [0; 3].map(|_| QuotientFilter::empty(20_000, 8));
    for i in 0..38_000 {
        let key = Hashed::from_h0(random.below(u64::MAX));
        direct.add(&key).unwrap();
        halves[i % 3].add(&key).unwrap();
    }
    let [a, b, c] = &halves;
    let merged = Merge::of([a, b, c]).doubled(1).build().unwrap();
    assert!(merged.bytes() == direct.bytes());
    let doubled = merged.doubled().unwrap();
    assert!(doubled.halved().unwrap().bytes() == direct.bytes());
}

/// A scan finds what the runs are, marked slots or not.
#[test]
fn scans_against_runs() {
    let mut random = Random(9);
    let mut continued = 0;
    for _ in 0..2_000 {
        let quotients = 1 + random.below(200);
        let options = TableOptions {
            quotients,
            slot_bits: 5,
            ignored_bits: 2,
            huge_pages: crate::HugePages::Never,
            blocks: None,
        };
        let mut writer = Writer::new(Table::<Marks>::new(options).unwrap());
        let dense = 1 + random.below(8);
        for quotient in 0..quotients {
            if random.below(dense) > 0 {
                continue;
            }
            for _ in 0..1 + random.below(3) {
                if writer.push(quotient, random.below(32), Mark::Last).is_err() {
                    break;
                }
                for _ in 0..[0, 0, 0, 1, 2, random.below(90)][random.below(6) as usize] {
                    let _ = writer.push_tail(Slot {
                        value: random.below(32),
                        runend: random.below(2) == 0,
                        item: Mark::GoesOn,
                    });
                }
            }
        }
        let table = writer.finish();
        assert_eq!(table.check_invariants(), Ok(()));
        let mut expected = Vec::new();
        for run in table.runs() {
            let mut at = run.start;
            while at < run.end {
                let end = table.end_of_print(at);
                let id = run.quotient << 3 | table.slot(at).value >> 2;
                expected.push((id, 7 + at, end - at > 1));
                assert_eq!(table.slots_of_print(at), at..end);
                at = end;
            }
        }
        let mut scan = table.scan(7);
        let mut found = Vec::new();
        loop {
            // Buffers of any length.
            let mut buffer = vec![HomeSlot::default(); 1 + random.below(100) as usize];
            let count = scan.read(&mut buffer);
            if count == 0 {
                break;
            }
            found.extend(
                buffer[..count]
                    .iter()
                    .map(|home| (home.id(), home.at, home.is_continued())),
            );
        }
        assert_eq!(found, expected);
        continued += found.iter().filter(|home| home.2).count();
    }
    assert!(continued > 10_000, "{continued}");
}

/// Streams of a damaged table end in an error, not in a panic.
#[test]
fn damaged_tables_are_errors() {
    let mut filter = QuotientFilter::empty(100, 6);
    for h0 in 0..90 {
        filter.add(&Hashed::from_h0(h0 << 57)).unwrap();
    }
    let mut random = Random(3);
    let mut refused = 0;
    for _ in 0..3_000 {
        let mut copy = filter.clone();
        let bytes = copy.core_mut().table.raw_mut();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len() as u64 - 32) as usize;
            bytes[at] ^= 1 << random.below(8);
        }
        match Merge::of([&copy]).doubled(1).build() {
            Ok(_) | Err(Error::Full { .. }) => {}
            Err(Error::Merge { reason }) => {
                assert!(reason.contains("filter 0 is damaged"), "{reason}");
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused > 100, "{refused}");
}
