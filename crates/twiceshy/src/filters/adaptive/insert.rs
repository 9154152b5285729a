//! Adding a key: by the first word of its hash, by its minirun, or with the keys of that.

use super::AdaptiveFilter;
use crate::error::Error;
use crate::filters::core::Core;
use crate::filters::facade::InsertCore;
use crate::hash::{Hashed, StreamHash};
use crate::outcome::Inserted;
use crate::prints::{Print, Widths, edit};
use crate::table::Put;

impl InsertCore for Core {
    type Done = Inserted;

    #[inline(always)]
    fn insert<'k>(&mut self, h0: u64, key: impl FnOnce() -> Hashed<'k>) -> Result<Inserted, Error> {
        // Values are told apart, which takes more than one word.
        let put = (self.widths.value_bits == 0).then(|| self.insert_bare(h0));
        match put {
            Some(Put::Done) => Ok(Inserted::New),
            Some(Put::Full) => Err(self.table.full()),
            _ => self.insert_by_words(key),
        }
    }

    fn needs_later_words(&self) -> bool {
        self.ghosts > 0
    }
}

impl Core {
    /// Makes the other words of the key, out of the way of those that are in by the first one.
    #[cold]
    #[inline(never)]
    fn insert_by_words<'k>(&mut self, key: impl FnOnce() -> Hashed<'k>) -> Result<Inserted, Error> {
        self.insert_into_minirun(&key(), 0)
    }

    /// Adds a key by all that its minirun holds.
    fn insert_into_minirun(&mut self, key: &Hashed<'_>, value: u64) -> Result<Inserted, Error> {
        let minirun = self.minirun_of(key.h0());
        let contents = self.contents_of(minirun);
        let live = |print: &&Print| !print.is_ghost();
        let needs_keys = if self.widths.value_bits > 0 {
            contents.prints.iter().any(|print| live(&print))
        } else {
            contents.prints.iter().any(|print| print.count > 1)
        };
        if needs_keys {
            return Err(Error::NeedsKeys { minirun });
        }
        let mut prints = contents.prints.clone();
        let ghost = edit::longest_ghost(&prints, &self.digits(key));
        match ghost {
            Some(ghost) => {
                prints[ghost].count = 1;
                prints[ghost].value = value;
            }
            None => prints.push(Print::new(1, value)),
        }
        self.replace(minirun, &contents, prints)?;
        Ok(match ghost {
            Some(_) => Inserted::Revived,
            None => Inserted::New,
        })
    }
}

impl<H: StreamHash> AdaptiveFilter<H> {
    /// Adds a key with a value (below `2^value_bits`) where its minirun does not exist yet.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and [`Error::Geometry`] if the value is too large.
    pub fn insert_value(&mut self, key: &Hashed<'_>, value: u64) -> Result<Inserted, Error> {
        check_entry(self.core.widths, 1, value)?;
        self.core.insert_into_minirun(key, value)
    }

    /// Adds a key with a count and a value, given all keys of its minirun (without the new
    /// one). Where a count above one or a different value hangs on one of two keys, both
    /// are extended until neither's fingerprint matches the other, so that no count or
    /// value is ever ambiguous.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the keys are not those of the minirun, [`Error::Full`] if
    /// slots are missing, [`Error::Geometry`] for a value with too many bits or a count of
    /// zero. Nothing has changed then.
    pub fn insert_with(
        &mut self,
        key: &Hashed<'_>,
        count: u64,
        value: u64,
        keys: &[Hashed<'_>],
    ) -> Result<Inserted, Error> {
        check_entry(self.core.widths, count, value)?;
        self.insert_parted(key, Print::new(count, value), keys, edit::must_part)
    }

    /// Adds a key so that no fingerprint of its minirun matches the key of another, whatever
    /// their counts and values: both sides are extended until none is a prefix of another. `keys`
    /// are all keys of the minirun (without the new one). A ghost that fits comes back to life.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the keys are not those of the minirun, [`Error::Full`] if
    /// slots are missing, [`Error::Inseparable`] if hashes agree for ever. Nothing has changed
    /// then.
    pub fn insert_apart(
        &mut self,
        key: &Hashed<'_>,
        keys: &[Hashed<'_>],
    ) -> Result<Inserted, Error> {
        self.insert_parted(key, Print::new(1, 0), keys, |_, _| true)
    }

    fn insert_parted(
        &mut self,
        key: &Hashed<'_>,
        new: Print,
        keys: &[Hashed<'_>],
        part: impl Fn(&Print, &Print) -> bool,
    ) -> Result<Inserted, Error> {
        let minirun = self.core.minirun_of(key.h0());
        let keys = self.check_keys(minirun, keys)?;
        if self.position(&keys, key).is_some() {
            return Ok(Inserted::Present);
        }
        let contents = self.core.contents_of(minirun);
        let digits = |key| self.core.digits(key);
        let streams: Vec<_> = keys.iter().map(|&key| digits(key)).collect();
        let ghosts = self.core.ghosts;
        let after = edit::insert(contents.prints.clone(), &streams, &digits(key), new, part)?;
        self.core.replace(minirun, &contents, after)?;
        Ok(if self.core.ghosts < ghosts {
            Inserted::Revived
        } else {
            Inserted::New
        })
    }
}

/// Can a member have this count and this value?
pub(super) fn check_entry(widths: Widths, count: u64, value: u64) -> Result<(), Error> {
    let bits = widths.value_bits;
    if value >> bits != 0 {
        return Err(Error::geometry(format!(
            "the value {value} has more than {bits} bits"
        )));
    }
    if count == 0 {
        return Err(Error::geometry("a member has a count of at least one"));
    }
    Ok(())
}
