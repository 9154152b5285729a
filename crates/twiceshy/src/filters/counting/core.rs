//! The core of the counting filter: a table of marked slots in which no fingerprint is there twice.

use crate::bits::Bytes;
use crate::builder::Parts;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header};
use crate::filters::core::fill::Fill;
use crate::filters::core::{Contents, Core};
use crate::filters::facade::{InsertCore, OwnedCore, RemoveCore, TableCore};
use crate::filters::merge::MergeCore;
use crate::filters::union::{Equal, unite};
use crate::hash::{Hashed, Seed};
use crate::mem::Memory;
use crate::merge::{Resized, Resolver};
use crate::outcome::Removed;
use crate::prints::Print;
use crate::table::{Found, Marks, Order, Put, Table};
use crate::violation::Violation;

/// The core of a [`CountingFilter`](super::CountingFilter).
#[derive(Debug)]
pub struct Counting<M = Memory> {
    pub(super) marks: Core<M>,
    /// The sum of all counts, which may exceed what one count can be.
    pub(super) total: u128,
}

/// Nothing is extended here: what goes on is a counter.
#[inline(always)]
fn is_found(found: Found) -> Found {
    Found::from(found != Found::No)
}

impl<M: Bytes> TableCore for Counting<M> {
    const KIND: FilterKind = FilterKind::Counting;
    const NAME: &'static str = "CountingFilter";

    type Lane = Marks;
    type Memory = M;

    fn over(header: &Header, memory: M) -> Result<Self, Error> {
        Ok(Counting {
            marks: Core::over(header, memory)?,
            total: header.total,
        })
    }

    fn header<F: FileFilter<M>>(&self, seed: Seed) -> Header {
        Header {
            total: self.total,
            ..self.marks.header::<F>(seed)
        }
    }

    #[inline(always)]
    fn table(&self) -> &Table<Marks, M> {
        &self.marks.table
    }

    #[inline(always)]
    fn contains(&self, h0: u64) -> Found {
        is_found(self.marks.contains(h0))
    }

    #[inline(always)]
    fn contains_slow(&self, h0: u64) -> Found {
        is_found(self.table().contains_slow(h0))
    }

    fn len(&self) -> u64 {
        u64::try_from(self.total).unwrap_or(u64::MAX)
    }

    fn distinct(&self) -> u64 {
        self.marks.live()
    }

    fn check_invariants(&self) -> Result<(), Violation> {
        self.marks.check_invariants()?;
        let mut last = None;
        let mut total = 0;
        for (fingerprint, print) in self.marks.iter() {
            let at = fingerprint.quotient;
            if !print.extension.is_empty() || print.is_ghost() {
                return Err(Violation::new("a counting filter holds but counts", at));
            }
            if last == Some(fingerprint) {
                return Err(Violation::new("a fingerprint is there twice", at));
            }
            last = Some(fingerprint);
            total += u128::from(print.count);
        }
        self.check_total(total)
    }

    fn verify(&self) -> Result<(), Violation> {
        let mut total = u128::from(self.distinct());
        self.marks.verify_each(Order::Distinct, |home, print| {
            if print.extended || print.count == 0 {
                return Err(Violation::new("a counting filter holds but counts", home));
            }
            total += u128::from(print.count - 1);
            Ok(())
        })?;
        self.check_total(total)
    }
}

impl<M: Bytes> Counting<M> {
    fn check_total(&self, total: u128) -> Result<(), Violation> {
        if total == self.total {
            return Ok(());
        }
        Err(Violation::new("the sum of all counts is wrong", self.len()))
    }

    /// How often a key with this `h0` was inserted.
    pub(super) fn count(&self, h0: u64) -> u64 {
        match self.contains(h0) {
            Found::No => 0,
            Found::Yes | Found::Ask => count_of(&self.marks.contents_of(self.marks.minirun_of(h0))),
        }
    }
}

fn count_of(contents: &Contents) -> u64 {
    contents.prints.first().map_or(0, |print| print.count)
}

impl OwnedCore for Counting {
    type View<'b> = Counting<&'b [u8]>;

    fn from_parts(parts: &Parts) -> Result<Self, Error> {
        Ok(Counting {
            marks: Core::from_parts(parts)?,
            total: 0,
        })
    }

    fn try_clone(&self) -> Result<Self, Error> {
        Ok(Counting {
            marks: self.marks.try_clone()?,
            ..*self
        })
    }

    fn clear(&mut self) {
        self.marks.clear();
        self.total = 0;
    }
}

impl InsertCore for Counting {
    type Done = ();

    #[inline(always)]
    fn insert<'k>(&mut self, h0: u64, _: impl FnOnce() -> Hashed<'k>) -> Result<(), Error> {
        self.add(h0, 1)
    }
}

impl RemoveCore for Counting {
    fn remove(&mut self, h0: u64) -> Result<Removed, Error> {
        Ok(match self.subtract(h0, 1)? {
            0 => Removed::NotFound,
            _ => Removed::One,
        })
    }
}

impl Counting {
    /// Of a table that has been filled.
    pub(super) fn filled(fill: Fill) -> Self {
        Counting {
            total: fill.total(),
            marks: fill.finish(),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, h0: u64, count: u64) -> Result<(), Error> {
        let is_new = count == 1 && self.contains(h0) == Found::No;
        if is_new && self.marks.insert_bare(h0) == Put::Done {
            self.total += 1;
            return Ok(());
        }
        self.change_count(h0, |old| old.checked_add(count).ok_or(Error::Overflow))
    }

    /// Takes away up to `count`, and gives how much.
    pub(super) fn subtract(&mut self, h0: u64, count: u64) -> Result<u64, Error> {
        let removed = self.count(h0).min(count);
        if removed > 0 {
            self.change_count(h0, |old| Ok(old - removed))?;
        }
        Ok(removed)
    }

    fn change_count(
        &mut self,
        h0: u64,
        change: impl FnOnce(u64) -> Result<u64, Error>,
    ) -> Result<(), Error> {
        let minirun = self.marks.minirun_of(h0);
        let old = self.marks.contents_of(minirun);
        let before = count_of(&old);
        let count = change(before)?;
        let new = if count == 0 {
            vec![]
        } else {
            vec![Print::new(count, 0)]
        };
        if count != before {
            self.marks.replace(minirun, &old, new)?;
        }
        self.total = self.total - u128::from(before) + u128::from(count);
        Ok(())
    }
}

impl<M: Bytes> MergeCore for Counting<M> {
    type Owned = Counting;

    fn unite(
        inputs: Vec<&Self>,
        into: Counting,
        resolver: Option<Resolver<'_>>,
    ) -> Result<(Counting, Resized), Error> {
        let inputs = inputs.iter().map(|input| &input.marks).collect();
        let (marks, report, total) = unite(inputs, into.marks, Equal::Count, resolver)?;
        Ok((Counting { marks, total }, report))
    }
}
