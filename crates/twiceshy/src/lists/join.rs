//! Two lists in hash order, side by side.
//!
//! Slot order is hash order, so the keys of a minirun are neighbours in both lists once these
//! are sorted by their hashes, and one walk along both meets every minirun with the keys of
//! either list that fall into it. A record keeps the first two words of a hash, which is all
//! that a walk looks at; the key itself is needed where two keys agree in both words, and
//! where an extension is written.

use crate::error::Error;
use crate::geometry::Geometry;
use crate::hash::{Hashed, Key, Seed, StreamHash};
use crate::prints::{Digits, Print, Stream, max_digits};

/// A key in hash order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record {
    pub(super) h0: u64,
    pub(super) h1: u64,
    /// Where the key is in the list that was given.
    index: usize,
}

/// A list of different keys in hash order.
pub(super) struct Keys<'k> {
    pub(super) records: Vec<Record>,
    key: Box<dyn Fn(usize) -> Hashed<'k> + 'k>,
}

impl<'k> Keys<'k> {
    /// Hashes the keys. One that comes twice counts once.
    pub(super) fn new<H: StreamHash, K: Key>(seed: Seed, keys: &'k [K]) -> Self {
        let record = |(index, key): (usize, &K)| {
            let [h0, h1] = key.with_bytes(|bytes| H::pair(&seed, bytes, 0));
            Record { h0, h1, index }
        };
        let records = keys.iter().enumerate().map(record).collect();
        let key = move |index: usize| Hashed::new::<H, K>(&seed, &keys[index]);
        Self::sorted(records, Box::new(key))
    }

    /// Takes keys that are hashed already.
    pub(super) fn hashed(keys: &'k [Hashed<'k>]) -> Self {
        let record = |(index, key): (usize, &Hashed<'_>)| Record {
            h0: key.h0(),
            h1: key.word(1),
            index,
        };
        let records = keys.iter().enumerate().map(record).collect();
        Self::sorted(records, Box::new(|index: usize| keys[index].clone()))
    }

    fn sorted(mut records: Vec<Record>, key: Box<dyn Fn(usize) -> Hashed<'k> + 'k>) -> Self {
        records.sort_unstable();
        let same = |a: &Record, b: &Record| (a.h0, a.h1) == (b.h0, b.h1);
        // Keys that are the same are neighbours, unless a third one shares 128 bits with them.
        records.dedup_by(|next, kept| {
            same(next, kept) && key(next.index).is_same_key(&key(kept.index))
        });
        Keys { records, key }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.records.len() as u64
    }

    /// The key of a record.
    pub(super) fn key(&self, record: &Record) -> Hashed<'k> {
        (self.key)(record.index)
    }

    /// All keys, in hash order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Hashed<'k>> + '_ {
        self.records.iter().map(|record| self.key(record))
    }
}

/// A YES list and a NO list that have no key in common.
#[allow(missing_debug_implementations, reason = "nobody outside can reach it")]
pub struct Lists<'k> {
    pub(super) yes: Keys<'k>,
    pub(super) no: Keys<'k>,
}

impl<'k> Lists<'k> {
    /// Hashes both lists.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if a key is in both.
    pub(super) fn new<H: StreamHash, Y: Key, N: Key>(
        seed: Seed,
        yes: &'k [Y],
        no: &'k [N],
    ) -> Result<Self, Error> {
        Self::of(Keys::new::<H, Y>(seed, yes), Keys::new::<H, N>(seed, no))
    }

    /// Of two lists in hash order.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn of(yes: Keys<'k>, no: Keys<'k>) -> Result<Self, Error> {
        let mut behind = &no.records[..];
        for record in &yes.records {
            let word = (record.h0, record.h1);
            let skip = behind.iter().take_while(|no| (no.h0, no.h1) < word);
            behind = &behind[skip.count()..];
            let mut twins = behind.iter().take_while(|no| (no.h0, no.h1) == word);
            if twins.any(|no_record| yes.key(record).is_same_key(&no.key(no_record))) {
                return Err(Error::mismatch(
                    "a key is in the YES list and in the NO list; decide on one of them",
                ));
            }
        }
        Ok(Lists { yes, no })
    }

    /// Calls `each` with every minirun that has YES keys, its YES keys and its NO keys.
    pub(super) fn miniruns(
        &self,
        geometry: &Geometry,
        mut each: impl FnMut(u64, &[Record], &[Record]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut yes, mut no) = (&self.yes.records[..], &self.no.records[..]);
        while let Some(first) = yes.first() {
            let id = geometry.id(first.h0);
            let (ours, rest) = split_while(yes, |key| geometry.id(key.h0) == id);
            let (_, from) = split_while(no, |key| geometry.id(key.h0) < id);
            let (theirs, behind) = split_while(from, |key| geometry.id(key.h0) == id);
            each(id, ours, theirs)?;
            (yes, no) = (rest, behind);
        }
        Ok(())
    }

    /// How many digits a YES key needs behind its home fingerprint to match none of the NO
    /// keys of its minirun.
    ///
    /// # Errors
    /// [`Error::Inseparable`] if one of them agrees with it to the end.
    pub(super) fn digits(&self, key: &Record, no: &[Record], width: u32) -> Result<usize, Error> {
        let mut digits = 0;
        for other in no {
            let common = match (key.h1 ^ other.h1).leading_zeros() {
                64 => {
                    let (key, other) = (self.yes.key(key), self.no.key(other));
                    key.common_bits(&other, Hashed::MAX_WORDS - 1)
                }
                bits => u64::from(bits),
            };
            digits = digits.max((common / u64::from(width)) as usize + 1);
        }
        if digits > max_digits(width) {
            return Err(Error::Inseparable);
        }
        Ok(digits)
    }

    /// The fingerprint of a YES key with so many digits.
    pub(super) fn print(&self, key: &Record, digits: usize, width: u32) -> Print {
        let mut print = Print::new(1, 0);
        if digits > 0 {
            let key = &self.yes.key(key);
            let stream = Digits { key, width };
            print.extension.extend((0..digits).map(|k| stream.digit(k)));
        }
        print
    }
}

/// The longest start of a slice whose items all pass, and the rest.
#[inline]
fn split_while<T>(items: &[T], mut passes: impl FnMut(&T) -> bool) -> (&[T], &[T]) {
    let count = items.iter().take_while(|item| passes(item)).count();
    items.split_at(count)
}
