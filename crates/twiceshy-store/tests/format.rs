//! The files of a store are what `docs/format.md` says: the journal byte by byte, the filter file
//! by its ruler.

// Helpers of tests are tests, which clippy does not know.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::Path;

use tempfile::tempdir;
use twiceshy::any::AnyFilter;
use twiceshy::hash::Seed;
use twiceshy_store::engine::InMemory;
use twiceshy_store::files::{Directory, Files};
use twiceshy_store::{Merged, Store, StoreBuilder};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The store of the vector: 16 keys in one shard, asked for 20 others.
fn store(place: &Path) -> Store<InMemory> {
    let builder = StoreBuilder::new().capacity(16).shards(1).fpr(0.25);
    let builder = builder.seed(Seed::from_u64(2)).layout::<Merged>();
    let files = Directory::new(place).unwrap();
    let store = builder.open(InMemory::new(), files).unwrap();
    for key in 0..16 {
        store.put(format!("key{key}"), "value").unwrap();
    }
    for query in 0..20 {
        assert!(store.get(format!("query{query}")).unwrap().is_none());
    }
    store
}

#[test]
fn the_journal() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format.md");
    let document = std::fs::read_to_string(document).unwrap();
    let (_, vector) = document.split_once("```vector journal\n").unwrap();
    let (vector, _) = vector.split_once("```").unwrap();

    let place = tempdir().unwrap();
    let store = store(place.path());
    let learnt = store.stats().adaptations;
    let journal = Directory::new(place.path()).unwrap().read("mistakes.0");
    let journal = journal.unwrap().unwrap();
    let mut dump = String::new();
    for (line, at) in journal.chunks(16).zip((0..).step_by(16)) {
        let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(dump, "{at:04x}  {}", bytes.join(" ")).unwrap();
    }
    writeln!(dump, "{:04x}", journal.len()).unwrap();
    assert_eq!(vector, dump, "docs/format.md has another journal:\n{dump}");

    // By the ruler: one entry for each lesson.
    let (mut rest, mut entries) = (&journal[..], 0);
    while !rest.is_empty() {
        let query = &rest[8..8 + number(rest, 0, 4) as usize];
        let check = xxh3_64_with_seed(query, query.len() as u64) as u32;
        assert_eq!(number(rest, 4, 4), u64::from(check));
        assert!(query.starts_with(b"query"));
        rest = &rest[8 + query.len()..];
        entries += 1;
    }
    assert_eq!(entries, learnt);
}

/// The little-endian number of so many bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let bytes = bytes[at..at + size].iter().rev();
    bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[test]
fn the_filter_file() {
    let place = tempdir().unwrap();
    let store = store(place.path());
    store.checkpoint().unwrap();
    let file = Directory::new(place.path()).unwrap().read("filter");
    let file = file.unwrap().unwrap();
    let (body, checksum) = file.split_at(file.len() - 8);
    assert_eq!(number(checksum, 0, 8), xxh3_64(body));
    assert_eq!(&body[..8], b"twshimg1");
    // Its state has an epoch, and there is one generation.
    assert_ne!(number(body, 24, 8), 0);
    assert_eq!(number(body, 32, 4), 1);

    // The generation: in one of the tables in hash order, adaptive, of one shard.
    let generation = &body[36..];
    assert!((2..=3).contains(&generation[0]));
    assert_eq!(generation[1..17], Seed::from_u64(2).to_bytes());
    assert_eq!(generation[17], 2);
    let remainder_bits = number(generation, 18, 4);
    assert_eq!(number(generation, 22, 4), 0);

    // The shard: 16 records, their filter, which does not grow.
    let shard = &generation[26..];
    assert_eq!(number(shard, 0, 8), 16);
    let length = number(shard, 8, 8) as usize;
    let filter = AnyFilter::read_from(&shard[16..16 + length]).unwrap();
    assert_eq!(filter.info().fingerprints, 16);
    assert_eq!(
        u64::from(filter.info().geometry.remainder_bits()),
        remainder_bits
    );
    assert_eq!(shard[16 + length..], [0]);
}
