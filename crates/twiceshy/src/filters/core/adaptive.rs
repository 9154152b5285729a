//! The core as that of an adaptive filter: what [`TableFilter`](crate::filters::TableFilter), its files and
//! merges ask of it.

use super::Core;
use crate::bits::Bytes;
use crate::builder::Parts;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header};
use crate::filters::facade::{OwnedCore, TableCore};
use crate::filters::merge::MergeCore;
use crate::filters::union::{Equal, unite};
use crate::hash::{Hashed, Seed};
use crate::merge::{Resized, Resolver};
use crate::prints::Print;
use crate::table::{Mark, Marks, Order, Table, TableOptions};
use crate::violation::Violation;

impl<M: Bytes> TableCore for Core<M> {
    const KIND: FilterKind = FilterKind::Adaptive;
    const NAME: &'static str = "AdaptiveFilter";
    const MAX_VALUE_BITS: u32 = Self::MAX_VALUE_BITS;

    type Lane = Marks;
    type Memory = M;

    fn over(header: &Header, memory: M) -> Result<Self, Error> {
        Self::of_file(header, memory, None)
    }

    fn header<F: FileFilter<M>>(&self, seed: Seed) -> Header {
        Header {
            value_bits: self.widths.value_bits,
            used: self.table.used(),
            ghosts: self.ghosts,
            ..Header::new::<M, F>(self.table.geometry(), seed, self.live())
        }
    }

    #[inline(always)]
    fn table(&self) -> &Table<Marks, M> {
        &self.table
    }

    /// Does a live fingerprint match the key?
    fn matches(&self, key: &Hashed<'_>) -> bool {
        self.find_live(key).is_some()
    }

    fn len(&self) -> u64 {
        self.live()
    }

    fn check_invariants(&self) -> Result<(), Violation> {
        self.table.check_invariants()?;
        let (mut live, mut ghosts) = (0, 0);
        for run in self.table.runs() {
            let mut last: Option<(u64, Print)> = None;
            for slots in self.table.prints(run.start..run.end) {
                let at = slots.start;
                let remainder = self.table.slot(at).value >> self.widths.value_bits;
                let print = self.read(slots.clone());
                let mut written = Vec::new();
                print.write(self.widths, remainder, &mut written);
                let canonical = (written.iter().zip(slots.clone())).all(|(slot, at)| {
                    let stored = self.table.slot(at);
                    let same = stored.value == slot.value && stored.item == slot.item;
                    same && (slot.item == Mark::Last || stored.runend == slot.runend)
                });
                if !canonical || written.len() as u64 != slots.end - at {
                    return Err(Violation::new(
                        "a fingerprint is not encoded as it should be",
                        at,
                    ));
                }
                if print.is_ghost() {
                    ghosts += 1;
                } else {
                    live += 1;
                }
                let this = (remainder, print);
                if last.as_ref().is_some_and(|last| *last > this) {
                    return Err(Violation::new("fingerprints are not in order", at));
                }
                last = Some(this);
            }
        }
        if (live, ghosts) != (self.live(), self.ghosts) {
            return Err(Violation::new("fingerprints are not counted right", live));
        }
        Ok(())
    }

    fn verify(&self) -> Result<(), Violation> {
        self.verify_each(Order::Ascending, |_, _| Ok(()))
    }
}

impl OwnedCore for Core {
    type View<'b> = Core<&'b [u8]>;

    fn from_parts(parts: &Parts) -> Result<Self, Error> {
        let options = Self::options(parts.geometry, parts.value_bits)?;
        Self::empty(TableOptions {
            huge_pages: parts.huge_pages,
            ..options
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
        self.widths.value_bits
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
