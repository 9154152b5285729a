//! What the fuzzers found interesting, replayed as ordinary tests.
//!
//! The corpora are in `fuzz/corpus`, one folder for each target. The published package does
//! not have them; there is nothing to replay there.

use std::fs;
use std::path::Path;

use twiceshy_testing::fuzz::{
    fuzz_adaptive, fuzz_code, fuzz_cuckoo, fuzz_lists, fuzz_loader, fuzz_plain, fuzz_telescoping,
};

/// Runs every file of a corpus through its target; gives how many there were.
fn replay(target: &str, body: fn(&[u8])) -> Option<usize> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let Ok(files) = fs::read_dir(&folder) else {
        println!("no corpus of {target} here: nothing to replay");
        return None;
    };
    let mut count = 0;
    for file in files {
        let path = file.expect("the corpus can be listed").path();
        let data = fs::read(&path).expect("the corpus can be read");
        // A panic shall say which file it was.
        println!("{}", path.display());
        body(&data);
        count += 1;
    }
    Some(count)
}

#[test]
fn adaptive() {
    assert!(replay("adaptive", fuzz_adaptive).is_none_or(|count| count >= 50));
}

#[test]
fn plain() {
    assert!(replay("plain", fuzz_plain).is_none_or(|count| count >= 50));
}

#[test]
fn loader() {
    assert!(replay("loader", fuzz_loader).is_none_or(|count| count >= 10));
}

#[test]
fn cuckoo() {
    assert!(replay("cuckoo", fuzz_cuckoo).is_none_or(|count| count >= 10));
}

#[test]
fn lists() {
    assert!(replay("lists", fuzz_lists).is_none_or(|count| count >= 20));
}

#[test]
fn code() {
    assert!(replay("code", fuzz_code).is_none_or(|count| count >= 100));
}

#[test]
fn telescoping() {
    assert!(replay("telescoping", fuzz_telescoping).is_none_or(|count| count >= 100));
}
