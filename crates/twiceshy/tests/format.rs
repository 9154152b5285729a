//! Reads the test vectors of `docs/format.md` and compares each with what the library writes.
//!
//! A vector is a fenced block whose first line says how to make it:
//!
//! ```text
//! vector kind=plain seed=1 slots=4 remainder_bits=3 keys=0..4
//! ```
//!
//! Its lines are bytes as `hexdump -C` prints them without the text: sixteen a line behind their
//! place, lines of zeros left out, the length at the end. The test fails if a vector differs, if
//! a kind of file has none, and if the table of kinds in the document is not that of the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Write};
use std::ops::Range;
use std::path::PathBuf;

use twiceshy::any::{self, AnyFilter, AnyList};
use twiceshy::bloom::{
    BlockedBloomFilter, BloomFilter, Class, RetouchedBloomFilter, WeightedBloomFilter, Weights,
};
use twiceshy::cuckoo::{
    AdaptiveCuckooFilter, Alternate, CuckooBuilder, CuckooFilter, MemoryCells, Packing, Scheme,
    VacuumFilter,
};
use twiceshy::file::FilterKind;
use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Hashed, Key, Seed, Sip13, StreamHash};
use twiceshy::lists::{
    Bloomier, BuildList, Cascade, IntegratedXor, List, ListFile, Seesaw, StaticYesNo, delta,
};
use twiceshy::sets::{KeyedSet, Learner, MemoryMap};
use twiceshy::{
    AdaptiveFilter, Builder, CountingFilter, Error, ExtensionFilter, Insert, QuotientFilter,
    TelescopingFilter,
};
use twiceshy::{Buildable, PlainTelescopingFilter};

const SMALL: &str = "a small filter";
const ROOM: &str = "room for it";

/// A fenced block of the document.
struct Vector {
    /// What stands behind `vector` in its first line.
    recipe: BTreeMap<String, String>,
    body: String,
    line: usize,
}

impl Vector {
    fn get(&self, name: &str) -> &str {
        match self.recipe.get(name) {
            Some(value) => value,
            None => panic!("the vector in line {} does not say {name}", self.line),
        }
    }

    fn number<T: std::str::FromStr<Err: Debug>>(&self, name: &str) -> T {
        let value = self.get(name);
        value.parse().unwrap_or_else(|error| {
            panic!("line {}: {name}={value} is no number: {error:?}", self.line)
        })
    }

    /// `from..to`; nothing where the recipe is silent.
    fn range(&self, name: &str) -> Range<u64> {
        let Some(value) = self.recipe.get(name) else {
            return 0..0;
        };
        let (from, to) = value.split_once("..").expect("a range is from..to");
        from.parse().expect("a number")..to.parse().expect("a number")
    }

    fn list(&self, name: &str) -> Vec<u64> {
        let value = self.get(name).split(',');
        value
            .map(|number| number.parse().expect("a number"))
            .collect()
    }

    fn seed(&self) -> Seed {
        Seed::from_u64(self.number("seed"))
    }

    fn keys(&self) -> Range<u64> {
        self.range("keys")
    }

    fn queries(&self) -> Range<u64> {
        self.range("queries")
    }
}

fn document() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/format.md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of the document whose recipe names this.
fn vectors(what: &str) -> Vec<Vector> {
    let document = document();
    let mut lines = document.lines().zip(1..);
    let mut vectors = Vec::new();
    while let Some((line, number)) = lines.next() {
        let Some(recipe) = line.strip_prefix("```vector ") else {
            continue;
        };
        let recipe: BTreeMap<String, String> = recipe
            .split_whitespace()
            .map(|part| match part.split_once('=') {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => (part.to_owned(), String::new()),
            })
            .collect();
        let body = lines.by_ref().map(|(line, _)| line);
        let body = body.take_while(|&line| line != "```");
        let body = body.fold(String::new(), |body, line| body + line + "\n");
        if recipe.contains_key(what) {
            vectors.push(Vector {
                recipe,
                body,
                line: number,
            });
        }
    }
    assert!(!vectors.is_empty(), "no vector for {what}");
    vectors
}

/// Compares the blocks with what they should be, and names all that differ.
fn compare(what: &str, expected: impl Fn(&Vector) -> String) {
    let mut wrong = String::new();
    for vector in vectors(what) {
        let expected = expected(&vector);
        if vector.body != expected {
            let _ = write!(wrong, "\nline {}:\n{expected}```\n", vector.line);
        }
    }
    assert!(
        wrong.is_empty(),
        "docs/format.md differs from what the library does:{wrong}"
    );
}

fn hex(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}

fn dump(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (line, at) in bytes.chunks(16).zip((0..).step_by(16)) {
        if line.iter().any(|&byte| byte != 0) {
            let _ = writeln!(text, "{at:04x}  {}", hex(line));
        }
    }
    let _ = writeln!(text, "{:04x}", bytes.len());
    text
}

fn undump(text: &str) -> Vec<u8> {
    let number = |text| usize::from_str_radix(text, 16).expect("hexadecimal digits");
    let mut bytes = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace().map(number);
        bytes.resize(words.next().expect("a line starts with its place"), 0);
        bytes.extend(words.map(|byte| byte as u8));
    }
    bytes
}

#[test]
fn encodings_of_keys() {
    macro_rules! encodings {
        ($($key:expr),* $(,)?) => {
            [$((stringify!($key), $key.to_bytes().to_vec())),*]
        };
    }
    let expected = encodings![
        "once bitten",
        "",
        b"\x00\xff",
        0x12_u8,
        0x1234_u16,
        0x1234_5678_u32,
        7_u64,
        7_usize,
        (1_u128 << 120),
        (-2_i8),
        (-2_i32),
        (-2_i64),
        true,
        'é',
        (),
        (1_u16, 2_u8),
        [1_u16, 2],
        ("ab", "c"),
        ["ab", "", "c"],
        (9_u8, "ab", true),
        (("ab", 1_u8), 2_u8),
    ];
    compare("encoding", |_| {
        let lines = expected.iter().map(|(key, bytes)| {
            let line = format!("{key:<24}{}", hex(bytes));
            line.trim_end().to_owned() + "\n"
        });
        lines.collect()
    });
}

#[test]
fn seeds() {
    compare("seed_of_number", |_| {
        let lines = [0, 1, 42].map(|number| {
            let bytes = Seed::from_u64(number).to_bytes();
            format!("{number:<4}{}\n", hex(&bytes))
        });
        lines.concat()
    });
}

fn words<H: StreamHash>(seed: Seed) -> String {
    let keys: [&[u8]; 4] = [b"", b"a", &7_u64.to_le_bytes(), b"once bitten, twice shy"];
    let mut text = String::new();
    for key in keys {
        let _ = writeln!(text, "key  {}", hex(key));
        let hashed = Hashed::from_bytes::<H>(&seed, key);
        for from in [0, 2, 4] {
            let [first, second] = [from, from + 1].map(|word| hashed.word(word));
            let _ = writeln!(text, "h{from}   {first:016x} {second:016x}");
        }
    }
    text.replace("key  \n", "key\n")
}

#[test]
fn words_of_hashes() {
    let mut hashes = BTreeSet::new();
    for vector in vectors("hash") {
        hashes.insert(vector.get("hash").to_owned());
    }
    assert!(hashes.contains("sip13") && hashes.contains("xxh3"));
    compare("hash", |vector| match vector.get("hash") {
        "sip13" => words::<Sip13>(vector.seed()),
        #[cfg(feature = "xxh3")]
        "xxh3" => words::<twiceshy::hash::Xxh3>(vector.seed()),
        _ => vector.body.clone(),
    });
}

/// What every filter of the quotient family is built with.
fn measures<F: Buildable>(vector: &Vector) -> Builder<F> {
    let builder = Builder::<F>::new().slots(vector.number("slots"));
    let builder = builder.remainder_bits(vector.number("remainder_bits"));
    builder.seed(vector.seed())
}

fn filled<F: Insert>(mut filter: F, keys: Range<u64>) -> F {
    for key in keys {
        Insert::insert(&mut filter, &key).expect(ROOM);
    }
    filter
}

fn counting(vector: &Vector) -> Vec<u8> {
    let mut filter: CountingFilter = measures(vector).build().expect(SMALL);
    for (key, count) in (0_u64..).zip(vector.list("counts")) {
        filter.insert_count(&key, count).expect(ROOM);
    }
    filter.to_bytes()
}

fn adaptive(vector: &Vector) -> Vec<u8> {
    let builder = measures::<AdaptiveFilter>(vector).value_bits(vector.number("value_bits"));
    let mut filter: AdaptiveFilter = builder.build().expect(SMALL);
    let values = (1 << vector.number::<u32>("value_bits")) - 1;
    let keys_near = |filter: &AdaptiveFilter, members: &[u64], key: &Hashed<'_>| {
        let id = filter.geometry().id(key.h0());
        let hashed = members
            .iter()
            .map(|member| filter.hash(member).into_owned());
        let near = hashed.filter(|member| filter.geometry().id(member.h0()) == id);
        near.collect::<Vec<_>>()
    };
    let mut members = Vec::new();
    for key in vector.keys() {
        let hashed = filter.hash(&key);
        let keys = keys_near(&filter, &members, &hashed);
        filter
            .insert_with(&hashed, 1, key & values, &keys)
            .expect(ROOM);
        members.push(key);
    }
    for query in vector.queries() {
        let hashed = filter.hash(&query);
        if let Some(at) = filter.lookup_hashed(&hashed) {
            let keys = keys_near(&filter, &members, &hashed);
            filter.adapt(&hashed, at, &keys).expect(ROOM);
        }
    }
    for key in vector.range("ghosts") {
        let hashed = filter.hash(&key);
        let keys = keys_near(&filter, &members, &hashed);
        filter.remove(&hashed, &keys, Leave::Ghost).expect(ROOM);
        members.retain(|&member| member != key);
    }
    filter.to_bytes()
}

/// A filter of the coded family that has learnt.
fn coded<F: Buildable + Learner<MemoryMap, Error = Error>>(vector: &Vector) -> KeyedSet<F> {
    let mut set = KeyedSet::from_builder(measures::<F>(vector)).expect("a small set");
    for key in vector.keys() {
        set.insert(&key).expect(ROOM);
    }
    for query in vector.queries() {
        set.report_false_positive(&query).expect("a stranger");
    }
    set
}

fn partial_key<A: Alternate>(builder: CuckooBuilder<A>, vector: &Vector) -> Vec<u8> {
    let packing = match vector.get("packing") {
        "semi-sorted" => Packing::SemiSorted,
        _ => Packing::Whole,
    };
    let builder = builder.buckets(vector.number("buckets"));
    let builder = builder.fingerprint_bits(vector.number("fingerprint_bits"));
    let filter = builder.packing(packing).seed(vector.seed()).build();
    filled(filter.expect(SMALL), vector.keys()).to_bytes()
}

fn adaptive_cuckoo(vector: &Vector) -> Vec<u8> {
    let scheme = match vector.get("scheme") {
        "swapping" => Scheme::Swapping,
        "cuckooing" => Scheme::Cuckooing,
        _ => Scheme::Cyclic {
            selector_bits: vector.number("selector_bits"),
        },
    };
    let builder = AdaptiveCuckooFilter::builder(scheme).bins(vector.number("bins"));
    let builder = builder.fingerprint_bits(vector.number("fingerprint_bits"));
    let builder = builder.seed(vector.seed());
    let mut filter: AdaptiveCuckooFilter = builder.build().expect(SMALL);
    let mut store = MemoryCells::default();
    for key in vector.keys() {
        let key = filter.hash(&key).into_owned();
        filter.insert_hashed(&key, &mut store).expect(ROOM);
    }
    for query in vector.queries() {
        let query = filter.hash(&query).into_owned();
        filter.adapt_hashed(&query, &mut store).expect(ROOM);
    }
    filter.to_bytes()
}

fn bloom(vector: &Vector) -> BloomFilter {
    let builder = BloomFilter::builder().bits(vector.number("bits"));
    let builder = builder.hashes(vector.number("hashes")).seed(vector.seed());
    filled(builder.build().expect(SMALL), vector.keys())
}

fn retouched(vector: &Vector) -> Vec<u8> {
    let mut filter = RetouchedBloomFilter::from(bloom(vector));
    for query in vector.queries() {
        filter.retouch(&query);
    }
    filter.to_bytes()
}

fn weighted(vector: &Vector) -> Vec<u8> {
    let classes = [0.2, 0.8].map(|members| Class {
        members,
        queries: 1.0 - members,
    });
    let weights = Weights::new(9.0, &classes).expect("good shares");
    let filter: Result<WeightedBloomFilter, _> =
        WeightedBloomFilter::with_hash(vector.number("bits"), &weights, vector.seed());
    filled(filter.expect(SMALL), vector.keys()).to_bytes()
}

fn built<L: BuildList + ListFile>(vector: &Vector) -> Vec<u8> {
    let [yes, no] = ["yes", "no"].map(|name| vector.range(name).collect::<Vec<u64>>());
    let list = L::build_seeded(&yes, &no, vector.number("fpr"), vector.seed());
    list.expect("two small lists").to_bytes()
}

fn seesaw(vector: &Vector) -> Vec<u8> {
    let list = Seesaw::with_seed(vector.number("cells"), vector.number("rows"), vector.seed());
    let mut list: Seesaw = list.expect("a small list");
    vector
        .range("yes")
        .for_each(|key| list.add(&key, List::Yes));
    vector.range("no").for_each(|key| list.add(&key, List::No));
    list.to_bytes()
}

/// The file of a recipe.
fn file_of(vector: &Vector) -> Vec<u8> {
    match vector.get("kind") {
        "plain" => {
            let filter: QuotientFilter = measures(vector).build().expect(SMALL);
            filled(filter, vector.keys()).to_bytes()
        }
        "counting" => counting(vector),
        "adaptive" => adaptive(vector),
        "telescoping" => coded::<TelescopingFilter>(vector).filter().to_bytes(),
        "telescoping-plain" => coded::<PlainTelescopingFilter>(vector).filter().to_bytes(),
        "extension" => coded::<ExtensionFilter>(vector).filter().to_bytes(),
        "cuckoo" => partial_key(CuckooFilter::builder(), vector),
        "vacuum" => partial_key(VacuumFilter::builder(), vector),
        "adaptive-cuckoo" => adaptive_cuckoo(vector),
        "bloom" => bloom(vector).to_bytes(),
        "blocked-bloom" => {
            let builder = BlockedBloomFilter::builder().bits(vector.number("bits"));
            let builder = builder.hashes(vector.number("hashes")).seed(vector.seed());
            filled(builder.build().expect(SMALL), vector.keys()).to_bytes()
        }
        "retouched-bloom" => retouched(vector),
        "weighted-bloom" => weighted(vector),
        "static-list" => built::<StaticYesNo>(vector),
        "cascade" => built::<Cascade>(vector),
        "bloomier" => built::<Bloomier>(vector),
        "integrated-xor" => built::<IntegratedXor>(vector),
        "seesaw" => seesaw(vector),
        other => panic!("line {}: there is no kind {other}", vector.line),
    }
}

fn all_kinds() -> impl Iterator<Item = FilterKind> {
    (0..=255).filter_map(FilterKind::from_code)
}

#[test]
fn files_of_every_kind() {
    compare("kind", |vector| dump(&file_of(vector)));
    let kinds = vectors("kind");
    let kinds = kinds.iter().map(|vector| {
        let info = any::peek(&undump(&vector.body)).expect("the vector of a file");
        info.kind.code()
    });
    let kinds: BTreeSet<u8> = kinds.collect();
    let missing: Vec<FilterKind> = all_kinds()
        .filter(|kind| !kinds.contains(&kind.code()))
        .collect();
    assert!(missing.is_empty(), "no vector for {missing:?}");
}

/// The document lists all kinds, with the names and numbers of the code.
#[test]
fn the_table_of_kinds() {
    let document = document();
    for kind in all_kinds() {
        let row = format!("| {} | {kind} | {} |", kind.code(), kind.version());
        assert!(document.contains(&row), "docs/format.md lacks {row:?}");
    }
}

/// The bytes of the document are loaded, and refused when one bit of them changes.
#[test]
fn vectors_are_loaded_and_damage_is_refused() {
    fn loads(bytes: &[u8]) -> bool {
        AnyFilter::read_from(bytes).is_ok() || AnyList::read_from(bytes).is_ok()
    }
    for vector in vectors("kind") {
        let mut bytes = undump(&vector.body);
        assert!(loads(&bytes), "line {}", vector.line);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!loads(&bytes), "line {}: bit {bit} is free", vector.line);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(!loads(&bytes[..bytes.len() - 1]), "line {}", vector.line);
    }
}

/// A delta between two versions of a static list.
#[test]
fn deltas() {
    compare("delta", |vector| {
        let list = |yes: &str| {
            let [yes, no] = [yes, "no"].map(|name| vector.range(name).collect::<Vec<u64>>());
            let builder = StaticYesNo::builder()
                .fpr(vector.number("fpr"))
                .headroom(0.5);
            let list = builder.seed(vector.seed()).build(&yes, &no);
            list.expect("two small lists")
        };
        let old = list("yes");
        let no: Vec<u64> = vector.range("no").collect();
        let next: Vec<u64> = vector.range("next").collect();
        let (new, _) = old
            .build_like(&next, &no, vector.number("fpr"))
            .expect("a later version");
        let (old, new) = (old.to_bytes(), new.to_bytes());
        let delta = delta::diff(&old, &new).expect("two lists");
        assert!(delta::apply(&old, delta.as_bytes()).expect("its base") == new);
        dump(delta.as_bytes())
    });
}

/// Reads the plain vector by the rulers of the document alone: header, checksum, blocks.
#[test]
fn the_plain_filter_by_hand() {
    let vectors = vectors("kind");
    let vector = vectors.iter().find(|vector| vector.get("kind") == "plain");
    let vector = vector.expect("a vector of the plain filter");
    let bytes = undump(&vector.body);
    let word = |at: usize, size: usize| {
        let bytes = bytes[at..at + size].iter().rev();
        bytes.fold(0_u128, |word, &byte| word << 8 | u128::from(byte))
    };
    let (slots, width) = (word(16, 8), word(12, 1) as usize);
    assert_eq!(word(0, 8), u128::from(u64::from_le_bytes(*b"twiceshy")));
    assert_eq!(word(80, 8) as usize, bytes.len() - 128);
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..120]);
    let sum = xxhash_rust::xxh3::xxh3_64_with_seed(&bytes[128..], sum);
    assert_eq!(word(120, 8), u128::from(sum));

    let blocks = (bytes.len() - 128 - 32) / (18 + 8 * width);
    let block = |block: usize| 128 + block * (18 + 8 * width);
    let bit = |at: usize, i: usize| word(block(i / 64) + at, 8) >> (i % 64) & 1 == 1;
    let slot = |i: usize| {
        let at = i % 64 * width;
        let low = word(block(i / 64) + 18 + at / 8, 8);
        (low >> (at % 8)) as u64 & ((1 << width) - 1)
    };
    let mut stored = Vec::new();
    let mut end = 0;
    for quotient in (0..blocks * 64).filter(|&quotient| bit(2, quotient)) {
        let mut at = end.max(quotient);
        loop {
            stored.push((quotient as u64, slot(at)));
            at += 1;
            if bit(10, at - 1) {
                break;
            }
        }
        end = at;
    }
    let seed = vector.seed();
    let mut wanted: Vec<(u64, u64)> = vector
        .keys()
        .map(|key| {
            let h0 = Hashed::new::<Sip13, _>(&seed, &key).h0();
            let product = u128::from(h0) * slots;
            let remainder = product as u64 >> (64 - width);
            ((product >> 64) as u64, remainder)
        })
        .collect();
    wanted.sort_unstable();
    assert_eq!(stored, wanted);
}
