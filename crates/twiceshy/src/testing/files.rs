//! What every loader must do with every file, however damaged.
//!
//! [`judge`] takes any bytes. Where their header is possible, it makes an unverified view of
//! them and asks it everything there is to ask, which must end without a panic, whatever the
//! table holds. Then the verified loaders have their say: they accept the file if, and only
//! if, the slow and simple `check_invariants` finds nothing wrong with it.
//!
//! A checksum hides all of this from damage that knows nothing of it, so [`repair`] writes the
//! right one first.

use crate::adaptive::AdaptiveFilter;
use crate::counting::CountingFilter;
use crate::error::Error;
use crate::file::{self, FilterKind, View};
use crate::hash::{HashKind, Sip13, StreamHash};
use crate::plain::QuotientFilter;

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
    match info.hash {
        HashKind::SipHash13 => judge_kind::<Sip13>(bytes, info.kind),
        #[cfg(feature = "xxh3")]
        HashKind::Xxh3 => judge_kind::<crate::hash::Xxh3>(bytes, info.kind),
        _ => {
            refuse_all::<Sip13>(bytes);
            Verdict::NoFile
        }
    }
}

fn refuse_all<H: StreamHash>(bytes: &[u8]) {
    assert!(View::<QuotientFilter<H>>::new_unverified(bytes).is_err());
    assert!(QuotientFilter::<H>::from_bytes(bytes).is_err());
    assert!(QuotientFilter::<H>::read_from(bytes).is_err());
    assert!(View::<CountingFilter<H>>::new_unverified(bytes).is_err());
    assert!(CountingFilter::<H>::from_bytes(bytes).is_err());
    assert!(CountingFilter::<H>::read_from(bytes).is_err());
    assert!(View::<AdaptiveFilter<H>>::new_unverified(bytes).is_err());
    assert!(AdaptiveFilter::<H>::from_bytes(bytes).is_err());
    assert!(AdaptiveFilter::<H>::read_from(bytes).is_err());
}

fn judge_kind<H: StreamHash>(bytes: &[u8], kind: FilterKind) -> Verdict {
    match kind {
        FilterKind::Plain => judge_plain::<H>(bytes),
        FilterKind::Counting => judge_counting::<H>(bytes),
        FilterKind::Adaptive => judge_adaptive::<H>(bytes),
    }
}

/// The keys that filters are asked for: enough to reach every slot of a small one.
const KEYS: std::ops::Range<u64> = 0..300;

fn judge_plain<H: StreamHash>(bytes: &[u8]) -> Verdict {
    let Ok(view) = View::<QuotientFilter<H>>::new_unverified(bytes) else {
        refuse_all::<H>(bytes);
        return Verdict::NoFile;
    };
    let slots = view.stats().bytes * 8;
    for key in KEYS {
        let answer = view.contains(&key);
        assert_eq!(view.contains_hashed(&view.hash(&key)), answer);
    }
    assert!(view.iter().count() as u64 <= slots);
    assert!(view.stats().longest_cluster <= slots);
    let _ = (view.load(), format!("{view:?}"));
    let holds = view.check_invariants().is_ok();
    let owned = QuotientFilter::<H>::from_bytes(bytes);
    let read = QuotientFilter::<H>::read_from(bytes);
    let verified = View::<QuotientFilter<H>>::new(bytes).map(|view| view.to_bytes());
    agree(bytes, holds, verified);
    agree(bytes, holds, owned.map(|filter| filter.to_bytes()));
    agree(bytes, holds, read.map(|filter| filter.to_bytes()))
}

fn judge_counting<H: StreamHash>(bytes: &[u8]) -> Verdict {
    let Ok(view) = View::<CountingFilter<H>>::new_unverified(bytes) else {
        refuse_all::<H>(bytes);
        return Verdict::NoFile;
    };
    let slots = view.stats().bytes * 8;
    for key in KEYS {
        let answer = view.contains(&key);
        assert_eq!(view.contains_hashed(&view.hash(&key)), answer);
        let count = view.count(&key);
        assert_eq!(view.count_hashed(&view.hash(&key)), count);
    }
    assert!(view.iter().count() as u64 <= slots);
    assert!(view.stats().longest_cluster <= slots);
    let _ = (view.total(), view.distinct(), format!("{view:?}"));
    let holds = view.check_invariants().is_ok();
    let owned = CountingFilter::<H>::from_bytes(bytes);
    let read = CountingFilter::<H>::read_from(bytes);
    let verified = View::<CountingFilter<H>>::new(bytes).map(|view| view.to_bytes());
    agree(bytes, holds, verified);
    agree(bytes, holds, owned.map(|filter| filter.to_bytes()));
    agree(bytes, holds, read.map(|filter| filter.to_bytes()))
}

fn judge_adaptive<H: StreamHash>(bytes: &[u8]) -> Verdict {
    let Ok(view) = View::<AdaptiveFilter<H>>::new_unverified(bytes) else {
        refuse_all::<H>(bytes);
        return Verdict::NoFile;
    };
    let slots = view.stats().bytes * 8;
    for key in KEYS {
        let answer = view.contains(&key);
        let hashed = view.hash(&key);
        assert_eq!(view.contains_hashed(&hashed), answer);
        assert_eq!(view.lookup(&key).is_some(), answer);
        assert_eq!(view.lookup_hashed(&hashed).is_some(), answer);
        let _ = (view.entry(&key), view.entry_hashed(&hashed));
    }
    assert!(view.stats().longest_cluster <= slots);
    let _ = (view.ghosts(), view.load(), format!("{view:?}"));
    let holds = view.check_invariants().is_ok();
    let owned = AdaptiveFilter::<H>::from_bytes(bytes);
    let read = AdaptiveFilter::<H>::read_from(bytes);
    let verified = View::<AdaptiveFilter<H>>::new(bytes).map(|view| view.to_bytes());
    agree(bytes, holds, verified);
    agree(bytes, holds, owned.map(|filter| filter.to_bytes()));
    agree(bytes, holds, read.map(|filter| filter.to_bytes()))
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
