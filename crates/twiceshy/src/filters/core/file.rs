//! The core as that of an adaptive filter: its files and its facade.

use super::Core;
use crate::bits::Bytes;
use crate::builder::Parts;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header};
use crate::filters::facade::{OwnedCore, TableCore};
use crate::filters::merge::MergeCore;
use crate::filters::union::{Equal, unite};
use crate::hash::{Hashed, Seed};
use crate::mem::HugePages;
use crate::merge::{Resized, Resolver};
use crate::table::{Marks, Order, Table};
use crate::violation::Violation;

impl<M: Bytes> TableCore for Core<M> {
    const KIND: FilterKind = FilterKind::Adaptive;
    const NAME: &'static str = "AdaptiveFilter";
    const MAX_VALUE_BITS: u32 = Self::MAX_VALUE_BITS;

    type Lane = Marks;
    type Memory = M;

    fn over(header: &Header, memory: M) -> Result<Self, Error> {
        let (layout, options) =
            Self::measures(header.geometry, header.value_bits, HugePages::default())?;
        // The header has been checked: each fingerprint has a slot that is used.
        let marked = header.used - header.live - header.ghosts;
        let table = match header.kind {
            FilterKind::StaticYesNo => {
                let blocks = (header.total >> 64) as u64;
                Table::over_blocks(memory, options, blocks, header.used, marked)
            }
            _ => Table::over(memory, options, header.used, marked),
        };
        Ok(Core {
            table: table?,
            layout,
            ghosts: header.ghosts,
        })
    }

    fn header<F: FileFilter<M>>(&self, seed: Seed) -> Header {
        Header {
            value_bits: self.layout.value_bits,
            used: self.table.used(),
            ghosts: self.ghosts,
            ..Header::new::<M, F>(self.table.geometry(), seed, self.live())
        }
    }

    #[inline(always)]
    fn table(&self) -> &Table<Marks, M> {
        &self.table
    }

    fn matches(&self, key: &Hashed<'_>) -> bool {
        self.matches(key)
    }

    fn len(&self) -> u64 {
        self.live()
    }

    fn check_invariants(&self) -> Result<(), Violation> {
        self.check_invariants()
    }

    fn verify(&self) -> Result<(), Violation> {
        self.verify_each(Order::Ascending, |_, _| Ok(()))
    }
}

impl OwnedCore for Core {
    type View<'b> = Core<&'b [u8]>;

    fn from_parts(parts: &Parts) -> Result<Self, Error> {
        let (layout, options) = Self::measures(parts.geometry, parts.value_bits, parts.huge_pages)?;
        Ok(Core {
            table: Table::new(options)?,
            layout,
            ghosts: 0,
        })
    }

    fn try_clone(&self) -> Result<Self, Error> {
        Ok(Core {
            table: self.table.try_clone()?,
            ..*self
        })
    }

    fn clear(&mut self) {
        self.table.clear();
        self.ghosts = 0;
    }
}

impl<M: Bytes> MergeCore for Core<M> {
    type Owned = Core;

    fn value_bits(&self) -> u32 {
        self.layout.value_bits
    }

    fn unite(
        inputs: Vec<&Self>,
        into: Core,
        resolver: Option<Resolver<'_>>,
    ) -> Result<(Core, Resized), Error> {
        let (core, report, _) = unite(inputs, into, Equal::Stay, resolver)?;
        Ok((core, report))
    }
}
