//! What every loader must do with every file, however damaged.
//!
//! [`judge`] takes any bytes. Where their header is possible, it makes an unverified view of
//! them and asks it everything there is to ask, which must end without a panic, whatever the
//! table holds. Then the verified loaders have their say: they accept the file if, and only
//! if, the slow and simple `check_invariants` finds nothing wrong with it.
//!
//! A checksum hides all of this from damage that knows nothing of it, so [`repair`] writes the
//! right one first.

use twiceshy::any;
use twiceshy::bloom::{BlockedBloomFilter, BloomFilter, RetouchedBloomFilter, WeightedBloomFilter};
use twiceshy::cuckoo::{AdaptiveCuckooFilter, CuckooFilter, VacuumFilter};
use twiceshy::file::{FilterKind, HEADER_BYTES};
use twiceshy::hash::{HashKind, Seed, Sip13, StreamHash};
use twiceshy::lists::{Bloomier, Cascade, IntegratedXor, ListFile, Seesaw, StaticYesNo, YesNoList};
use twiceshy::{
    AdaptiveFilter, CountingFilter, Error, ExtensionFilter, Filter, PlainTelescopingFilter,
    QuotientFilter, TelescopingFilter, View,
};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its header or length is impossible, or its hash is not known here.
    NoFile,
    /// Its header is possible, but it is refused for what is behind it.
    Refused,
    /// It holds a filter.
    Accepted,
}

/// SipHash under the name of XXH3, which the library may have been built without. Whatever a hash
/// says, a loader must do right by the file.
#[derive(Clone, Copy)]
struct InPlaceOfXxh3;

impl StreamHash for InPlaceOfXxh3 {
    const KIND: HashKind = HashKind::Xxh3;
    type Keyed = <Sip13 as StreamHash>::Keyed;

    fn keyed(seed: &Seed) -> Self::Keyed {
        Sip13::keyed(seed)
    }

    fn first(keyed: &Self::Keyed, key: &[u8]) -> u64 {
        Sip13::first(keyed, key)
    }

    fn pair(seed: &Seed, key: &[u8], number: u64) -> [u64; 2] {
        Sip13::pair(seed, key, number)
    }
}

/// Writes the right checksum into a file, which no loader looks behind otherwise: that of the
/// table, seeded with that of the header before the checksum. Bytes that are no whole header
/// stay as they are.
pub fn repair(bytes: &mut [u8]) {
    let Some((header, table)) = bytes.split_first_chunk_mut::<HEADER_BYTES>() else {
        return;
    };
    let (fields, checksum) = header.split_at_mut(HEADER_BYTES - 8);
    checksum.copy_from_slice(&xxh3_64_with_seed(table, xxh3_64(fields)).to_le_bytes());
}

/// Loads the bytes in every way, and asks what was loaded everything.
///
/// # Panics
/// If the ways disagree: with each other, or with the invariants.
pub fn judge(bytes: &[u8]) -> Verdict {
    let Ok(info) = any::peek(bytes) else {
        refuse_all::<Sip13>(bytes);
        return Verdict::NoFile;
    };
    match info.hash {
        HashKind::SipHash13 => judge_kind::<Sip13>(bytes, info.kind),
        HashKind::Xxh3 => judge_kind::<InPlaceOfXxh3>(bytes, info.kind),
        _ => {
            refuse_all::<Sip13>(bytes);
            Verdict::NoFile
        }
    }
}

/// Every way to load a type of filter refuses the bytes.
macro_rules! refuse {
    ($filter:ty, $bytes:expr) => {
        assert!(View::<$filter>::new_unverified($bytes).is_err());
        assert!(<$filter>::from_bytes($bytes).is_err());
        assert!(<$filter>::read_from($bytes).is_err());
    };
}

fn refuse_all<H: StreamHash>(bytes: &[u8]) {
    refuse!(QuotientFilter<H>, bytes);
    refuse!(CountingFilter<H>, bytes);
    refuse!(AdaptiveFilter<H>, bytes);
    refuse!(TelescopingFilter<H>, bytes);
    refuse!(PlainTelescopingFilter<H>, bytes);
    refuse!(ExtensionFilter<H>, bytes);
    refuse!(CuckooFilter<H>, bytes);
    refuse!(VacuumFilter<H>, bytes);
    refuse!(AdaptiveCuckooFilter<H>, bytes);
    refuse!(BloomFilter<H>, bytes);
    refuse!(BlockedBloomFilter<H>, bytes);
    refuse!(WeightedBloomFilter<H>, bytes);
    assert!(RetouchedBloomFilter::<H>::from_bytes(bytes).is_err());
    assert!(RetouchedBloomFilter::<H>::read_from(bytes).is_err());
    refuse!(StaticYesNo<H>, bytes);
    refuse_list::<Cascade<H>>(bytes);
    refuse_list::<Bloomier<H>>(bytes);
    refuse_list::<IntegratedXor<H>>(bytes);
    refuse_list::<Seesaw<H>>(bytes);
}

/// The same for a list that has no view.
fn refuse_list<L: ListFile>(bytes: &[u8]) {
    assert!(L::from_bytes(bytes).is_err());
    assert!(L::read_from(bytes).is_err());
}

/// Loads the bytes as a list that has no view. What is wrong with its words is found when it
/// is put together, so there is no second opinion but that it can be asked and written.
fn judge_list<L: ListFile + YesNoList>(bytes: &[u8]) -> Verdict {
    let (owned, read) = (L::from_bytes(bytes), L::read_from(bytes));
    match (owned, read) {
        (Ok(owned), Ok(read)) => {
            for key in KEYS {
                assert_eq!(owned.answer(&key), read.answer(&key));
            }
            assert!((0.0..=1.0).contains(&owned.expected_fpr()));
            assert!(
                owned.to_bytes() == bytes,
                "a file is written as it was read"
            );
            Verdict::Accepted
        }
        (Err(Error::Corrupt { .. }), Err(Error::Corrupt { .. })) => Verdict::Refused,
        (owned, read) => panic!(
            "the loaders disagree: {:?} {:?}",
            owned.map(|_| ()),
            read.map(|_| ())
        ),
    }
}

/// Loads the bytes as one type of filter in every way. `ask` puts the questions that only
/// this type understands to an unverified view.
macro_rules! judge_as {
    ($filter:ty, $bytes:expr, $ask:expr) => {{
        let Ok(view) = View::<$filter>::new_unverified($bytes) else {
            refuse!($filter, $bytes);
            return Verdict::NoFile;
        };
        for key in KEYS {
            assert_eq!(view.contains_hashed(&view.hash(&key)), view.contains(&key));
        }
        $ask(&view);
        assert!(view.stats().longest_cluster <= view.stats().bytes * 8);
        let _ = format!("{view:?}");
        let holds = view.check_invariants().is_ok();
        let verified = View::<$filter>::new($bytes).map(|view| view.to_bytes());
        agree($bytes, holds, verified);
        let owned = <$filter>::from_bytes($bytes).map(|filter| filter.to_bytes());
        agree($bytes, holds, owned);
        let read = <$filter>::read_from($bytes).map(|filter| filter.to_bytes());
        agree($bytes, holds, read)
    }};
}

/// Filters that are asked nothing but what all are.
macro_rules! judge_simple {
    ($filter:ty, $bytes:expr) => {{
        if let Ok(view) = View::<$filter>::new_unverified($bytes) {
            for key in KEYS {
                assert_eq!(view.contains_hashed(&view.hash(&key)), view.contains(&key));
            }
            assert_eq!(view.contains_batch(&KEYS.collect::<Vec<u64>>()).len(), 300);
            let stats = view.stats();
            assert!((0.0..=1.0).contains(&stats.expected_fpr), "{stats:?}");
            let _ = format!("{view:?}");
            let holds = view.check_invariants().is_ok();
            let verified = View::<$filter>::new($bytes).map(|view| view.to_bytes());
            agree($bytes, holds, verified);
        }
        judge_owned!($filter, $bytes)
    }};
}

/// Filters that can't be viewed.
macro_rules! judge_owned {
    ($filter:ty, $bytes:expr) => {{
        let owned = <$filter>::from_bytes($bytes);
        let holds = match &owned {
            Ok(filter) => filter.check_invariants().is_ok(),
            Err(Error::Corrupt { reason }) if reason.contains("bytes, where its header says") => {
                assert!(<$filter>::read_from($bytes).is_err());
                return Verdict::NoFile;
            }
            Err(_) => false,
        };
        agree($bytes, holds, owned.map(|filter| filter.to_bytes()));
        let read = <$filter>::read_from($bytes);
        agree($bytes, holds, read.map(|filter| filter.to_bytes()))
    }};
}

/// The keys that filters are asked for: enough to reach every slot of a small one.
const KEYS: std::ops::Range<u64> = 0..300;

fn judge_kind<H: StreamHash>(bytes: &[u8], kind: FilterKind) -> Verdict {
    match kind {
        FilterKind::Plain => {
            judge_as!(QuotientFilter<H>, bytes, |view: &View<
                '_,
                QuotientFilter<H>,
            >| {
                assert!(view.iter().count() as u64 <= view.stats().bytes * 8);
                let _ = view.load();
            })
        }
        FilterKind::Counting => {
            judge_as!(CountingFilter<H>, bytes, |view: &View<
                '_,
                CountingFilter<H>,
            >| {
                for key in KEYS {
                    assert_eq!(view.count_hashed(&view.hash(&key)), view.count(&key));
                }
                assert!(view.iter().count() as u64 <= view.stats().bytes * 8);
                let _ = (view.total(), view.distinct());
            })
        }
        FilterKind::Adaptive => {
            judge_as!(AdaptiveFilter<H>, bytes, |view: &View<
                '_,
                AdaptiveFilter<H>,
            >| {
                for key in KEYS {
                    let (answer, hashed) = (view.contains(&key), view.hash(&key));
                    assert_eq!(view.lookup(&key).is_some(), answer);
                    assert_eq!(view.lookup_hashed(&hashed).is_some(), answer);
                    let _ = (view.entry(&key), view.entry_hashed(&hashed));
                }
                let _ = (view.ghosts(), view.load());
            })
        }
        FilterKind::Telescoping => {
            judge_as!(TelescopingFilter<H>, bytes, |view: &View<
                '_,
                TelescopingFilter<H>,
            >| {
                for key in KEYS {
                    assert_eq!(view.lookup(&key).is_some(), view.contains(&key));
                }
                let _ = view.adapted();
            })
        }
        FilterKind::PlainTelescoping => {
            judge_as!(PlainTelescopingFilter<H>, bytes, |view: &View<
                '_,
                PlainTelescopingFilter<H>,
            >| {
                for key in KEYS {
                    assert_eq!(view.lookup(&key).is_some(), view.contains(&key));
                }
                let _ = view.adapted();
            })
        }
        FilterKind::Extension => {
            judge_as!(ExtensionFilter<H>, bytes, |view: &View<
                '_,
                ExtensionFilter<H>,
            >| {
                for key in KEYS {
                    assert_eq!(view.lookup(&key).is_some(), view.contains(&key));
                }
                let _ = view.adapted();
            })
        }
        FilterKind::Cuckoo => judge_simple!(CuckooFilter<H>, bytes),
        FilterKind::Vacuum => judge_simple!(VacuumFilter<H>, bytes),
        FilterKind::AdaptiveCuckoo => judge_simple!(AdaptiveCuckooFilter<H>, bytes),
        FilterKind::Bloom => judge_simple!(BloomFilter<H>, bytes),
        FilterKind::BlockedBloom => judge_simple!(BlockedBloomFilter<H>, bytes),
        FilterKind::WeightedBloom => judge_simple!(WeightedBloomFilter<H>, bytes),
        FilterKind::RetouchedBloom => judge_owned!(RetouchedBloomFilter<H>, bytes),
        FilterKind::StaticYesNo => {
            judge_as!(StaticYesNo<H>, bytes, |view: &View<'_, StaticYesNo<H>>| {
                for key in KEYS {
                    assert_eq!(view.answer(&key).is_yes(), view.contains(&key));
                }
                let _ = (view.yes_len(), view.no_len(), view.load());
            })
        }
        FilterKind::Cascade => judge_list::<Cascade<H>>(bytes),
        FilterKind::Bloomier => judge_list::<Bloomier<H>>(bytes),
        FilterKind::IntegratedXor => judge_list::<IntegratedXor<H>>(bytes),
        FilterKind::Seesaw => judge_list::<Seesaw<H>>(bytes),
        kind => panic!("nobody has said how to judge {kind} filters"),
    }
}

/// Does a verified loader accept what the invariants accept, and nothing else?
fn agree(bytes: &[u8], holds: bool, loaded: Result<Vec<u8>, Error>) -> Verdict {
    match loaded {
        Ok(written) => {
            assert!(holds, "a table that breaks its invariants was loaded");
            assert!(written == bytes, "a file is written as it was read");
            Verdict::Accepted
        }
        Err(Error::Corrupt { reason }) => {
            let damaged = reason.contains("checksum is wrong");
            assert!(damaged || !holds, "a good table was refused: {reason}");
            Verdict::Refused
        }
        Err(error) => panic!("a file with a possible header: {error}"),
    }
}
