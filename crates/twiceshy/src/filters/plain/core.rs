//! The core of the plain filter: a table of remainders, and nothing beside them.

use crate::bits::Bytes;
use crate::builder::Parts;
use crate::bulk::Loader;
use crate::error::Error;
use crate::file::{FilterKind, Header};
use crate::filters::facade::{InsertCore, LoadCore, OwnedCore, RemoveCore, TableCore};
use crate::filters::merge::MergeCore;
use crate::filters::{bare_options, check_bare};
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::Hashed;
use crate::mem::{HugePages, Memory};
use crate::merge::{Homes, Resized, Resolver, too_full};
use crate::outcome::Removed;
use crate::table::{Bare, Order, Put, Table, Taken, Writer};
use crate::violation::Violation;

/// The core of a [`QuotientFilter`](super::QuotientFilter).
#[derive(Debug)]
pub struct Plain<M = Memory> {
    pub(crate) table: Table<Bare, M>,
}

impl<M: Bytes> TableCore for Plain<M> {
    const KIND: FilterKind = FilterKind::Plain;
    const NAME: &'static str = "QuotientFilter";

    type Lane = Bare;
    type Memory = M;

    fn over(header: &Header, memory: M) -> Result<Self, Error> {
        let options = bare_options(&header.geometry, HugePages::default());
        let table = Table::over(memory, options, header.used, 0)?;
        Ok(Plain { table })
    }

    #[inline(always)]
    fn table(&self) -> &Table<Bare, M> {
        &self.table
    }

    fn check_invariants(&self) -> Result<(), Violation> {
        check_bare(&self.table)
    }

    fn verify(&self) -> Result<(), Violation> {
        let verified = self.table.verify(Order::Ascending, |_| Ok(()));
        verified.map(|_marked| ())
    }
}

impl OwnedCore for Plain {
    type View<'b> = Plain<&'b [u8]>;

    fn from_parts(parts: &Parts) -> Result<Self, Error> {
        let table = Table::new(bare_options(&parts.geometry, parts.huge_pages))?;
        Ok(Plain { table })
    }

    fn try_clone(&self) -> Result<Self, Error> {
        let table = self.table.try_clone()?;
        Ok(Plain { table })
    }

    fn clear(&mut self) {
        self.table.clear();
    }
}

impl InsertCore for Plain {
    type Done = ();

    #[inline(always)]
    fn insert<'k>(&mut self, h0: u64, _: impl FnOnce() -> Hashed<'k>) -> Result<(), Error> {
        match self.table.insert(self.table.at(h0)) {
            Put::Done => Ok(()),
            Put::Full | Put::Counted | Put::BlockFull(_) => Err(self.table.full()),
        }
    }
}

impl RemoveCore for Plain {
    #[inline(always)]
    fn remove(&mut self, h0: u64) -> Result<Removed, Error> {
        Ok(match self.table.remove_any(self.table.at(h0)) {
            Taken::One => Removed::One,
            Taken::NotFound | Taken::Unclear => Removed::NotFound,
        })
    }
}

impl LoadCore for Plain {
    type Loader = Writer<Bare>;

    fn into_loader(self) -> Writer<Bare> {
        Writer::new(self.table)
    }

    fn from_loader(writer: Writer<Bare>) -> Result<Self, Error> {
        let table = writer.finish();
        Ok(Plain { table })
    }
}

impl Loader for Writer<Bare> {
    fn geometry(&self) -> Geometry {
        self.geometry()
    }

    fn room(&self) -> Option<u64> {
        Some(self.slots())
    }

    #[inline]
    fn load(&mut self, fingerprints: impl Iterator<Item = Fingerprint>) -> Result<(), Error> {
        let slots = fingerprints.map(|print| (print.quotient, print.remainder));
        self.push_all(slots)
    }
}

impl<M: Bytes> MergeCore for Plain<M> {
    type Owned = Plain;

    fn unite(
        inputs: Vec<&Self>,
        into: Plain,
        _: Option<Resolver<'_>>,
    ) -> Result<(Plain, Resized), Error> {
        let items = inputs.iter().map(|input| input.len()).sum();
        if items > into.table.slots() {
            return Err(too_full(into.table.full(), items));
        }
        let mut writer = into.into_loader();
        let geometry = writer.geometry();
        let tables: Vec<_> = inputs.iter().map(|input| &input.table).collect();
        let mut homes = Homes::new(&tables, geometry.ids());
        loop {
            let chunk = homes.chunk()?;
            if chunk.is_empty() {
                return Ok((Plain::from_loader(writer)?, Resized::default()));
            }
            let fingerprints = chunk.iter().map(|home| geometry.fingerprint_of(home.id()));
            (writer.load(fingerprints)).map_err(|error| too_full(error, items))?;
        }
    }
}
