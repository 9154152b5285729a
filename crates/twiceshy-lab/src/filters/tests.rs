use clap::ValueEnum;

use super::*;

#[test]
fn every_set_keeps_its_members_and_learns_if_it_says_so() {
    let shape = Shape {
        slots: 1 << 10,
        load: 0.8,
        bits: 6,
        seed: 3,
    };
    let key = |i: u64| i.to_le_bytes();
    for entry in ALL.iter().filter(|entry| entry.with_keys.is_some()) {
        let mut set = entry.set(&shape).unwrap();
        for i in 0..shape.keys() {
            set.insert(&key(i)).unwrap();
        }
        let asked = if entry.learns { shape.keys() } else { 0 };
        assert_eq!(set.accesses().inserts, asked, "{}", entry.name);
        let strangers = 1 << 32..(1 << 32) + 3000_u64;
        let wrong: Vec<u64> = strangers.filter(|&i| set.contains(&key(i))).collect();
        assert!(
            wrong.len() > 10 && wrong.len() < 400,
            "{}: {}",
            entry.name,
            wrong.len()
        );
        let mut left = 0;
        for &i in &wrong {
            for _ in 0..8 {
                if set.contains(&key(i)) {
                    set.report(&key(i)).unwrap();
                }
            }
            left += u64::from(set.contains(&key(i)));
        }
        assert_eq!(
            left < wrong.len() as u64 / 2,
            entry.learns,
            "{}",
            entry.name
        );
        assert!(
            (0..shape.keys()).all(|i| set.contains(&key(i))),
            "{}",
            entry.name
        );
        let is_bloom = entry.name.contains("bloom");
        assert_eq!(set.remove(&key(0)).is_err(), is_bloom, "{}", entry.name);
        let space = set.space();
        assert!(
            space.used_bits <= space.bytes as f64 * 8.0 + 1.0,
            "{}",
            entry.name
        );
    }
}

#[test]
fn who_cannot_do_something_says_so() {
    let workload = Workload {
        log2_slots: 9,
        load: 0.9,
        adapted: 0.0,
        seed: 3,
    };
    for entry in ALL.iter().filter(|entry| entry.is_timed()) {
        let mut filter = entry.contender(&workload).unwrap();
        for i in 0..workload.members() {
            filter.insert(workload.member(i)).unwrap();
        }
        filter.seal().unwrap();
        let keys: Vec<u64> = (0..64).map(|i| workload.member(i)).collect();
        for &operation in Operation::value_variants() {
            let done = match operation {
                Operation::InsertBatch => filter.insert_batch(&[]).is_ok(),
                Operation::QueryHitBatch | Operation::QueryMissBatch => {
                    filter.contains_batch(&keys, &mut Vec::new()).is_ok()
                }
                Operation::BulkLoad | Operation::BulkLoadSorted => {
                    filter.bulk_load(&keys, Order::Any).is_ok()
                }
                Operation::Merge => filter.to_merge([&keys, &[]]).is_ok(),
                Operation::LoadFile => filter.to_file().is_ok(),
                Operation::Remove => filter.remove_all(&keys[..1]) == 1,
                _ => continue,
            };
            assert_eq!(done, filter.can(operation), "{} {operation}", entry.name);
        }
    }
}

#[test]
fn names_are_different() {
    let mut names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    let error = by_name("abacus").err().unwrap().to_string();
    assert!(
        error.contains("\"abacus\"") && error.contains("adaptive/sip"),
        "{error}"
    );
}
