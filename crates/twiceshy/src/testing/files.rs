//! What every loader must do with every file, however damaged.
//!
//! [`judge`] takes any bytes. Where their header is possible, it makes an unverified view of
//! them and asks it everything there is to ask, which must end without a panic, whatever the
//! table holds. Then the verified loaders have their say: they accept the file if, and only
//! if, the slow and simple `check_invariants` finds nothing wrong with it.
//!
//! A checksum hides all of this from damage that knows nothing of it, so [`repair`] writes the
//! right one first.

use crate::bloom::{BlockedBloomFilter, BloomFilter, RetouchedBloomFilter, WeightedBloomFilter};
use crate::code::Planes;
use crate::cuckoo::{AdaptiveCuckooFilter, CuckooFilter, VacuumFilter};
use crate::error::Error;
use crate::file::{self, FileFilter, FilterKind, Stored, View, read, write};
use crate::filters::adaptive::AdaptiveFilter;
use crate::filters::counting::CountingFilter;
use crate::filters::extension::ExtensionFilter;
use crate::filters::plain::QuotientFilter;
use crate::filters::telescoping::TelescopingFilter;
use crate::hash::{HashKind, Sip13, StreamHash};
use crate::lists::{Bloomier, Cascade, IntegratedXor, ListFile, Seesaw, StaticYesNo, YesNoList};
use crate::mem::Memory;
use crate::traits::Filter;

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

/// Writes the right checksum into a file, which no loader looks behind otherwise.
pub fn repair(bytes: &mut [u8]) {
    file::repair_checksum(bytes);
}

/// Loads the bytes in every way, and asks what was loaded everything.
///
/// # Panics
/// If the ways disagree: with each other, or with the invariants.
pub fn judge(bytes: &[u8]) -> Verdict {
    let Ok(info) = file::peek(bytes) else {
        refuse_all::<Sip13>(bytes);
        return Verdict::NoFile;
    };
    let earlier = info.version < info.kind.version();
    match info.hash {
        HashKind::SipHash13 if earlier => judge_earlier::<Sip13>(bytes, info.kind),
        HashKind::SipHash13 => judge_kind::<Sip13>(bytes, info.kind),
        #[cfg(feature = "xxh3")]
        HashKind::Xxh3 if earlier => judge_earlier::<crate::hash::Xxh3>(bytes, info.kind),
        #[cfg(feature = "xxh3")]
        HashKind::Xxh3 => judge_kind::<crate::hash::Xxh3>(bytes, info.kind),
        _ => {
            refuse_all::<Sip13>(bytes);
            Verdict::NoFile
        }
    }
}

/// Loads a file of an earlier format, which can't be looked at where it lies. What is accepted is
/// written as a file of today that is accepted.
fn judge_earlier<H: StreamHash>(bytes: &[u8], kind: FilterKind) -> Verdict {
    macro_rules! load {
        ($filter:ty) => {{
            assert!(View::<$filter>::new_unverified(bytes).is_err());
            assert!(View::<$filter>::new(bytes).is_err());
            let owned = <$filter>::from_bytes(bytes).map(|filter| filter.to_bytes());
            let read = <$filter>::read_from(bytes).map(|filter| filter.to_bytes());
            (owned, read)
        }};
    }
    let (owned, read) = match kind {
        FilterKind::Counting => load!(CountingFilter<H>),
        FilterKind::Adaptive => load!(AdaptiveFilter<H>),
        FilterKind::StaticYesNo => load!(StaticYesNo<H>),
        kind => panic!("{kind} filters have but one format"),
    };
    assert_eq!(
        owned.as_ref().ok(),
        read.as_ref().ok(),
        "the loaders disagree"
    );
    match owned {
        Ok(today) => {
            assert_eq!(judge(&today), Verdict::Accepted);
            Verdict::Accepted
        }
        Err(_) => Verdict::Refused,
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
    refuse!(TelescopingFilter<H, Planes>, bytes);
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
            judge_as!(TelescopingFilter<H, Planes>, bytes, |view: &View<
                '_,
                TelescopingFilter<H, Planes>,
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
        FilterKind::Cuckoo => judge_simple::<CuckooFilter<H>>(bytes),
        FilterKind::Vacuum => judge_simple::<VacuumFilter<H>>(bytes),
        FilterKind::AdaptiveCuckoo => judge_simple::<AdaptiveCuckooFilter<H>>(bytes),
        FilterKind::Bloom => judge_simple::<BloomFilter<H>>(bytes),
        FilterKind::BlockedBloom => judge_simple::<BlockedBloomFilter<H>>(bytes),
        FilterKind::WeightedBloom => judge_simple::<WeightedBloomFilter<H>>(bytes),
        FilterKind::RetouchedBloom => judge_owned::<RetouchedBloomFilter<H>>(bytes),
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
    }
}

/// Filters that are asked nothing but what all are.
fn judge_simple<F: Stored + FileFilter<Memory>>(bytes: &[u8]) -> Verdict {
    let Ok(view) = View::<F>::new_unverified(bytes) else {
        return judge_owned::<F>(bytes);
    };
    for key in KEYS {
        assert_eq!(
            Filter::contains_hashed(&view, &Filter::hash(&view, &key)),
            Filter::contains(&view, &key)
        );
    }
    assert_eq!(view.contains_batch(&KEYS.collect::<Vec<u64>>()).len(), 300);
    let stats = Filter::stats(&view);
    assert!((0.0..=1.0).contains(&stats.expected_fpr), "{stats:?}");
    let _ = format!("{view:?}");
    let verified = View::<F>::new(bytes).map(|view| write::to_bytes(&*view));
    let unverified = read::view_unverified::<F::View<'_>>(bytes);
    let holds = unverified.is_ok_and(|mut filter| filter.verify().is_ok());
    agree(bytes, holds, verified);
    judge_owned::<F>(bytes)
}

/// Filters that can't be viewed.
fn judge_owned<F: FileFilter<Memory>>(bytes: &[u8]) -> Verdict {
    let mut owned = read::from_bytes::<F>(bytes);
    let holds = match &mut owned {
        Ok(filter) => filter.verify().is_ok(),
        Err(Error::Corrupt { reason }) if reason.contains("bytes, where its header says") => {
            assert!(read::read_from::<F>(bytes).is_err());
            return Verdict::NoFile;
        }
        Err(_) => false,
    };
    agree(bytes, holds, owned.map(|filter| write::to_bytes(&filter)));
    let read = read::read_from::<F>(bytes);
    agree(bytes, holds, read.map(|filter| write::to_bytes(&filter)))
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
