//! A table of marked slots, read as miniruns: what counting and adaptive filters, merges and lists share.
//!
//! It knows fingerprints with extensions, counters and values, and no keys: whoever owns it hashes, and
//! brings the keys of a minirun where something is to be told apart.
//!
//! | file | what |
//! | --- | --- |
//! | `mod` | the short ways to insert, adapt and remove; replace a minirun |
//! | `lookup` | is a key there, and by which fingerprint |
//! | `fill` | fingerprints in the order of their hashes, one after the other |
//! | `verify` | what must hold, in one pass |
//! | `adaptive` | as the core of an adaptive filter, and its files |

mod adaptive;
pub(crate) mod fill;
mod lookup;
mod verify;

use std::ops::Range;

use crate::bits::{Bytes, Packed};
use crate::error::Error;
use crate::file::Header;
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::Hashed;
use crate::mem::{HugePages, Memory};
use crate::minirun::Minirun;
use crate::prints::{Digits, Print, Widths, extension_slot};
use crate::table::{Marks, Put, Run, Table, TableOptions, Taken};

/// A table of marked slots with its widths.
#[derive(Debug)]
pub struct Core<M = Memory> {
    pub(crate) table: Table<Marks, M>,
    pub(crate) widths: Widths,
    pub(crate) ghosts: u64,
}

/// A minirun that was read: its run, where its slots are, and what they say.
pub(crate) struct Contents {
    run: Run,
    pub(crate) slots: Range<u64>,
    pub(crate) prints: Vec<Print>,
}

impl Core {
    /// An empty one.
    fn empty(options: TableOptions) -> Result<Self, Error> {
        Ok(Self::of(Table::new(options)?, options, 0))
    }

    /// An empty one without values, in a table of so many blocks.
    pub(crate) fn of_blocks(geometry: Geometry, blocks: u64) -> Result<Self, Error> {
        Self::empty(TableOptions {
            blocks: Some(blocks),
            ..Self::options(geometry, 0)?
        })
    }
}

impl<M> Core<M> {
    /// The most bits of a value beside a remainder.
    pub(crate) const MAX_VALUE_BITS: u32 = 16;

    /// What table it takes.
    fn options(geometry: Geometry, value_bits: u32) -> Result<TableOptions, Error> {
        let width = geometry.remainder_bits() + value_bits;
        if value_bits > Self::MAX_VALUE_BITS || width > Packed::MAX_BITS {
            return Err(Error::geometry(format!(
                "a fingerprint has 0 to 16 value bits, and with its remainder at most {} bits; \
                 not {value_bits} and {width}",
                Packed::MAX_BITS
            )));
        }
        Ok(TableOptions {
            quotients: geometry.slots(),
            slot_bits: width,
            ignored_bits: value_bits,
            huge_pages: HugePages::default(),
            blocks: None,
        })
    }

    fn of(table: Table<Marks, M>, options: TableOptions, ghosts: u64) -> Self {
        let widths = Widths {
            width: options.slot_bits,
            value_bits: options.ignored_bits,
        };
        Core {
            table,
            widths,
            ghosts,
        }
    }
}

impl<M: Bytes> Core<M> {
    /// That of a file whose header has been checked, in a table of so many blocks if that is said.
    pub(crate) fn of_file(header: &Header, memory: M, blocks: Option<u64>) -> Result<Self, Error> {
        let options = TableOptions {
            blocks,
            ..Self::options(header.geometry, header.value_bits)?
        };
        // Each fingerprint has a slot that is used.
        let marked = header.used - header.live - header.ghosts;
        let table = Table::over(memory, options, header.used, marked)?;
        Ok(Self::of(table, options, header.ghosts))
    }

    /// All fingerprints, in hash order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Fingerprint, Print)> + '_ {
        self.table.runs().flat_map(move |run| {
            self.table.prints(run.start..run.end).map(move |slots| {
                let fingerprint = Fingerprint {
                    quotient: run.quotient,
                    remainder: self.table.remainder(slots.start),
                };
                (fingerprint, self.read(slots))
            })
        })
    }

    /// Fingerprints that are not ghosts: each has one home slot.
    pub(crate) fn live(&self) -> u64 {
        self.table.used() - self.table.marked() - self.ghosts
    }

    #[inline]
    pub(crate) fn digits<'k>(&self, key: &'k Hashed<'k>) -> Digits<'k> {
        Digits {
            key,
            width: self.widths.width,
        }
    }

    pub(crate) fn minirun_of(&self, h0: u64) -> Minirun {
        Minirun::from_id(self.table.geometry().id(h0))
    }

    /// Reads one fingerprint.
    pub(crate) fn read(&self, slots: Range<u64>) -> Print {
        Print::read(self.widths, slots.map(|slot| self.table.slot(slot)))
    }

    /// Reads a minirun. If there is none, the slots are the empty range where it would be.
    pub(crate) fn contents_of(&self, minirun: Minirun) -> Contents {
        let Fingerprint {
            quotient,
            remainder,
        } = self.table.geometry().fingerprint_of(minirun.id());
        let run = self.table.run(quotient);
        let slots = self.table.minirun_of(&run, remainder);
        let prints = self.table.prints(slots.clone());
        let prints = prints.map(|print| self.read(print)).collect();
        Contents { run, slots, prints }
    }
}

impl Core {
    /// Replaces the fingerprints of a minirun.
    pub(crate) fn replace(
        &mut self,
        minirun: Minirun,
        old: &Contents,
        mut new: Vec<Print>,
    ) -> Result<(), Error> {
        let remainder = self.table.geometry().fingerprint_of(minirun.id()).remainder;
        new.sort_unstable();
        let count =
            |prints: &[Print]| prints.iter().filter(|print| print.is_ghost()).count() as u64;
        let ghosts = self.ghosts - count(&old.prints) + count(&new);
        let mut slots = Vec::with_capacity(new.iter().map(|p| p.slots(self.widths.width)).sum());
        for print in &new {
            print.write(self.widths, remainder, &mut slots);
        }
        self.table.replace(old.run, old.slots.clone(), &slots)?;
        self.ghosts = ghosts;
        Ok(())
    }

    /// Adds an unextended fingerprint where there is a slot for it and its minirun has no counters or
    /// ghosts; else nothing has changed. There are no values.
    #[inline(always)]
    pub(crate) fn insert_bare(&mut self, h0: u64) -> Put {
        self.table.insert(self.table.at(h0))
    }

    /// Removes a fingerprint of a minirun whose fingerprints are all alike and of one slot. If they are
    /// not, nothing has changed: the later words of the key must say which, or the other keys.
    #[inline(always)]
    pub(crate) fn remove_plain(&mut self, h0: u64) -> Taken {
        if self.widths.value_bits > 0 {
            // They may have other values.
            return self.remove_one_of(h0, 1);
        }
        self.table.remove_any(self.table.at(h0))
    }

    /// Removes a fingerprint of a minirun that has so many, all of one slot.
    #[inline(always)]
    pub(crate) fn remove_one_of(&mut self, h0: u64, count: u32) -> Taken {
        self.table.remove_one_of(self.table.at(h0), count)
    }

    /// [`AdaptiveFilter::adapt`](crate::AdaptiveFilter::adapt) in the most frequent case: query and key are
    /// of this minirun, it has one fingerprint, without extension or counter, and the first digit tells
    /// them apart. Has it been done? If not, nothing has changed.
    #[inline(always)]
    pub(crate) fn adapt_at_once(
        &mut self,
        query: &Hashed<'_>,
        minirun: Minirun,
        key: &Hashed<'_>,
    ) -> bool {
        let at = self.table.at(query.h0());
        let (digit, other) = (self.digits(key).first(), self.digits(query).first());
        digit != other
            && self.table.geometry().id_of(at) == minirun.id()
            && self.table.at(key.h0()) == at
            && self.table.extend(at, extension_slot(digit))
    }
}

#[cfg(test)]
mod tests {
    use crate::file::View;
    use crate::filters::adaptive::{AdaptiveFilter, Leave};
    use crate::hash::{Hashed, Seed};
    use crate::outcome::Removed;

    fn filter() -> AdaptiveFilter {
        let builder = AdaptiveFilter::builder().slots(1000).remainder_bits(8);
        let mut filter = builder.seed(Seed::from_u64(3)).build().unwrap();
        for key in 0..500_u64 {
            filter.insert(&key).unwrap();
        }
        filter
    }

    /// Lengthens the fingerprint of a key that is alone in its minirun.
    fn adapt(filter: &mut AdaptiveFilter, key: u64) {
        let key = filter.hash(&key).into_owned();
        let query = Hashed::from_words(&[key.h0(), !key.word(1)]).into_owned();
        let minirun = filter.core().minirun_of(key.h0());
        filter.adapt(&query, minirun, &[key]).unwrap();
    }

    fn check(filter: &AdaptiveFilter, marked: u64) {
        assert_eq!(filter.core().table.marked(), marked);
        filter.check_invariants().unwrap();
        assert!((1..500_u64).all(|key| filter.contains(&key)));
        // A file says it as well.
        let bytes = filter.to_bytes();
        let read: AdaptiveFilter = AdaptiveFilter::from_bytes(&bytes).unwrap();
        assert_eq!(read.core().table.marked(), marked);
        let verified = View::<AdaptiveFilter>::new(&bytes).unwrap();
        let unverified = View::<AdaptiveFilter>::new_unverified(&bytes).unwrap();
        for view in [verified, unverified] {
            assert_eq!(view.core().table.marked(), marked);
            assert!((1..500_u64).all(|key| view.contains(&key)));
        }
    }

    #[test]
    fn marked_slots_are_counted() {
        let mut filter = filter();
        check(&filter, 0);
        adapt(&mut filter, 7);
        check(&filter, 1);
        let removed = filter.remove_known_member(&7_u64);
        assert_eq!(removed, Ok(Removed::One));
        assert_eq!(filter.core().table.marked(), 0);
        filter.insert(&7_u64).unwrap();
        check(&filter, 0);

        adapt(&mut filter, 8);
        let key = filter.hash(&0_u64).into_owned();
        let keys = std::slice::from_ref(&key);
        filter.remove(&key, keys, Leave::Ghost).unwrap();
        check(&filter, 2);
        filter.clear();
        assert_eq!(filter.core().table.marked(), 0);

        // Whoever copies fingerprints counts them, too.
        let key = filter.hash(&3_u64).into_owned();
        filter.insert_with(&key, 5, 0, &[]).unwrap();
        assert_eq!(filter.core().table.marked(), 1);
        assert_eq!(filter.doubled().unwrap().core().table.marked(), 1);
    }
}
