//! The filter without its hash function: a table of marked slots, read as miniruns.

use std::marker::PhantomData;
use std::ops::Range;

use super::answer::{Answer, AnswerBeyond, AnswerFar, AnswerUnmarked};
use super::marked::Extras;
use super::ops::{AdaptAlone, FindBeyond, FindLive};
use crate::bits::{Bytes, Cpu, Packed};
use crate::builder::Parts;
use crate::error::Error;
use crate::hash::Hashed;
use crate::mem::{HugePages, Memory};
use crate::outcome::Adapted;
use crate::prints::{Digit, Digits, Layout, Print, Stream, digits, extension_slot};
use crate::table::{
    Extensions, Fingerprint, Geometry, Mark, Marks, Minirun, Put, Run, Table, TableOptions, Taken,
    Unmarked, Violation,
};

pub(crate) struct Core<M = Memory> {
    pub(crate) table: Table<Marks, M>,
    pub(crate) geometry: Geometry,
    pub(crate) layout: Layout,
    /// What adds or removes an unextended fingerprint leaves these alone, and need not count anything
    /// but the used slots.
    pub(crate) extras: Extras,
    pub(crate) ghosts: u64,
}

/// A minirun that was read: its run, where its slots are, and what they say.
pub(crate) struct Contents {
    run: Run,
    pub(crate) slots: Range<u64>,
    pub(crate) prints: Vec<Print>,
}

impl Core {
    /// An empty table of these measures.
    pub(crate) fn from_parts(parts: &Parts) -> Result<Self, Error> {
        let (layout, options) = Self::measures(parts.geometry, parts.value_bits, parts.huge_pages)?;
        Ok(Core {
            table: Table::new(options)?,
            geometry: parts.geometry,
            layout,
            extras: Extras::new(0, false),
            ghosts: 0,
        })
    }

    /// An empty table of these measures with so many blocks; see [`Table::of_blocks`].
    pub(crate) fn of_blocks(geometry: Geometry, blocks: u64) -> Result<Self, Error> {
        let (layout, options) = Self::measures(geometry, 0, HugePages::default())?;
        Ok(Core {
            table: Table::of_blocks(options, blocks)?,
            geometry,
            layout,
            extras: Extras::new(0, false),
            ghosts: 0,
        })
    }

    pub(crate) fn try_clone(&self) -> Result<Self, Error> {
        Ok(Core {
            table: self.table.try_clone()?,
            ..*self
        })
    }

    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.extras.set(0, false);
        self.ghosts = 0;
    }
}

impl<M> Core<M> {
    /// How the slots are divided, and what table that takes.
    pub(super) fn measures(
        geometry: Geometry,
        value_bits: u32,
        huge_pages: HugePages,
    ) -> Result<(Layout, TableOptions), Error> {
        let width = geometry.remainder_bits() + value_bits;
        if value_bits > 16 || width > Packed::MAX_BITS {
            return Err(Error::geometry(format!(
                "a fingerprint has 0 to 16 value bits, and with its remainder at most {} bits; \
                 not {value_bits} and {width}",
                Packed::MAX_BITS
            )));
        }
        let options = TableOptions {
            quotients: geometry.slots(),
            slot_bits: width,
            ignored_bits: value_bits,
            huge_pages,
        };
        Ok((Layout { width, value_bits }, options))
    }
}

impl<M: Bytes> Core<M> {
    /// All fingerprints, in hash order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Fingerprint, Print)> + '_ {
        self.table.runs().flat_map(move |run| {
            let mut at = run.start;
            std::iter::from_fn(move || {
                (at < run.end).then(|| {
                    let end = self.table.end_of_print(at);
                    let fingerprint = Fingerprint {
                        quotient: run.quotient,
                        remainder: self.table.slot(at).value >> self.layout.value_bits,
                    };
                    let print = self.read(at..end);
                    at = end;
                    (fingerprint, print)
                })
            })
        })
    }

    #[inline(always)]
    pub(super) fn cpu(&self) -> Cpu {
        self.table.cpu()
    }

    /// Fingerprints that are not ghosts: each has one home slot.
    pub(crate) fn live(&self) -> u64 {
        self.table.used() - self.extras.beyond()
    }

    #[inline]
    pub(crate) fn digits<'k>(&self, key: &'k Hashed<'k>) -> Digits<'k> {
        Digits {
            key,
            width: self.layout.width,
        }
    }

    pub(crate) fn minirun_of(&self, h0: u64) -> Minirun {
        Minirun::from_id(self.geometry.id(h0))
    }

    /// Does a fingerprint match a key with this `h0`? `None` if its later words decide.
    #[inline(always)]
    pub(crate) fn answer(&self, h0: u64) -> Option<bool> {
        let core = self;
        if self.extras.unmarked() {
            return Some(self.cpu().run(AnswerUnmarked { core, h0 }));
        }
        if self.extras.extended() {
            let lane = PhantomData::<Extensions>;
            return self.cpu().run(Answer { core, h0, lane });
        }
        let lane = PhantomData::<Marks>;
        self.cpu().run(Answer { core, h0, lane })
    }

    /// Does a live fingerprint match the key?
    pub(crate) fn matches(&self, key: &Hashed<'_>) -> bool {
        self.find_live(key).is_some()
    }

    /// The first live fingerprint that matches the key.
    pub(crate) fn find(&self, key: &Hashed<'_>) -> Option<Print> {
        self.find_live(key).map(|slots| self.read(slots))
    }

    fn find_live(&self, key: &Hashed<'_>) -> Option<Range<u64>> {
        let key = self.digits(key);
        self.cpu().run(FindLive { core: self, key })
    }

    /// The first live fingerprint that matches the key, of those with these home slots, a bit each,
    /// from a slot on.
    #[inline(always)]
    pub(super) fn live_among(
        &self,
        first: u64,
        mut homes: u64,
        key: &Digits<'_>,
    ) -> Option<Range<u64>> {
        while homes != 0 {
            let at = first + u64::from(homes.trailing_zeros());
            let end = self.table.end_of_print(at);
            if self.tail_matches(at..end, key) {
                return Some(at..end);
            }
            homes &= homes - 1;
        }
        None
    }

    /// What the slots of a fingerprint hold behind its home.
    #[inline(always)]
    pub(super) fn tail(&self, print: Range<u64>) -> impl Iterator<Item = Digit> + '_ {
        let slots = (print.start + 1..print.end).map(|slot| self.table.slot(slot));
        digits(self.table.slot(print.start), slots)
    }

    /// Do the slots of a fingerprint behind its home match a key, and are they no ghost's?
    #[inline(always)]
    pub(super) fn tail_matches(&self, print: Range<u64>, key: &Digits<'_>) -> bool {
        let mut counter = None;
        let mut k = 0;
        for Digit { value, counts } in self.tail(print) {
            if counts {
                counter = Some(counter.unwrap_or(0) | value);
            } else {
                if key.digit(k) != value {
                    return false;
                }
                k += 1;
            }
        }
        counter != Some(0)
    }

    pub(crate) fn run(&self, quotient: u64) -> Run {
        self.table.run(quotient)
    }

    /// Reads one fingerprint.
    pub(crate) fn read(&self, slots: Range<u64>) -> Print {
        Print::read(self.layout, slots.map(|slot| self.table.slot(slot)))
    }

    /// Reads the minirun of a remainder in a run. If there is none, the slots are the empty
    /// range where it would be.
    pub(crate) fn contents(&self, run: &Run, remainder: u64) -> Contents {
        let mut prints = Vec::new();
        let (mut at, mut start) = (run.start, None);
        while at < run.end {
            let stored = self.table.slot(at).value >> self.layout.value_bits;
            if stored > remainder {
                break;
            }
            let end = self.table.end_of_print(at);
            if stored == remainder {
                start = start.or(Some(at));
                prints.push(self.read(at..end));
            }
            at = end;
        }
        Contents {
            run: *run,
            slots: start.unwrap_or(at)..at,
            prints,
        }
    }

    /// The contents of a minirun.
    pub(crate) fn contents_of(&self, minirun: Minirun) -> Contents {
        let Fingerprint {
            quotient,
            remainder,
        } = self.geometry.fingerprint_of(minirun.id());
        self.contents(&self.run(quotient), remainder)
    }

    /// Verifies the table, the order of the fingerprints and their encoding.
    pub(crate) fn check_invariants(&self) -> Result<(), Violation> {
        self.table.check_invariants()?;
        let (mut live, mut ghosts) = (0, 0);
        let mut counted = false;
        for run in self.table.runs() {
            let mut last: Option<(u64, Print)> = None;
            let mut at = run.start;
            while at < run.end {
                let end = self.table.end_of_print(at);
                let remainder = self.table.slot(at).value >> self.layout.value_bits;
                let print = self.read(at..end);
                let mut slots = Vec::new();
                print.write(self.layout, remainder, &mut slots);
                let canonical = (slots.iter().zip(at..end)).all(|(slot, at)| {
                    let stored = self.table.slot(at);
                    let same = stored.value == slot.value && stored.item == slot.item;
                    same && (slot.item == Mark::Last || stored.runend == slot.runend)
                });
                if !canonical || slots.len() as u64 != end - at {
                    return Err(Violation::new(
                        "a fingerprint is not encoded as it should be",
                        at,
                    ));
                }
                counted |= print.count != 1;
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
                at = end;
            }
        }
        if (live, ghosts) != (self.live(), self.ghosts) {
            return Err(Violation::new("fingerprints are not counted right", live));
        }
        if counted && !self.extras.counted() {
            let beyond = self.extras.beyond();
            return Err(Violation::new("counters are not noted", beyond));
        }
        Ok(())
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
        let remainder = self.geometry.fingerprint_of(minirun.id()).remainder;
        new.sort_unstable();
        let count = |prints: &[Print], ghosts| {
            prints
                .iter()
                .filter(|print| print.is_ghost() == ghosts)
                .count() as u64
        };
        let live = self.live() - count(&old.prints, false) + count(&new, false);
        let ghosts = self.ghosts - count(&old.prints, true) + count(&new, true);
        let mut slots = Vec::with_capacity(new.iter().map(|p| p.slots(self.layout.width)).sum());
        for print in &new {
            print.write(self.layout, remainder, &mut slots);
        }
        self.table.replace(old.run, old.slots.clone(), &slots)?;
        self.ghosts = ghosts;
        let counted = self.extras.counted() || new.iter().any(|print| print.count != 1);
        self.extras.set(self.table.used() - live, counted);
        Ok(())
    }

    /// Adds an unextended fingerprint where there is a slot for it and its minirun has no counters or
    /// ghosts. Has that been done? If not, nothing has changed, and the long way says why.
    #[inline(always)]
    pub(crate) fn insert_plain(&mut self, h0: u64) -> bool {
        let Fingerprint {
            quotient,
            remainder,
        } = self.geometry.fingerprint(h0);
        let put = if self.extras.unmarked() {
            self.table.insert::<Unmarked>(quotient, remainder)
        } else {
            self.table.insert::<Marks>(quotient, remainder)
        };
        put == Put::Done
    }

    /// Removes a fingerprint of a minirun whose fingerprints are all alike and of one slot. If they are
    /// not, nothing has changed: the later words of the key must say which, or the other keys.
    #[inline(always)]
    pub(crate) fn remove_plain(&mut self, h0: u64) -> Taken {
        if self.layout.value_bits > 0 {
            // They may have other values.
            return self.remove_one_of(h0, 1);
        }
        let Fingerprint {
            quotient,
            remainder,
        } = self.geometry.fingerprint(h0);
        self.table.remove_any(quotient, remainder)
    }

    /// Removes a fingerprint of a minirun that has so many, all of one slot.
    #[inline(always)]
    pub(crate) fn remove_one_of(&mut self, h0: u64, count: u32) -> Taken {
        let Fingerprint {
            quotient,
            remainder,
        } = self.geometry.fingerprint(h0);
        self.table.remove_one_of(quotient, remainder, count)
    }

    /// [`adapt_alone`](Self::adapt_alone) in the most frequent case: both are of this minirun, the
    /// fingerprint has no extension yet and is in its home block, and the first digit tells the keys
    /// apart. Has it been done?
    #[inline(always)]
    pub(crate) fn adapt_at_once(
        &mut self,
        query: &Hashed<'_>,
        minirun: Minirun,
        key: &Hashed<'_>,
    ) -> bool {
        let fingerprint = self.geometry.fingerprint(query.h0());
        let (digit, other) = (self.digits(key).first(), self.digits(query).first());
        if digit == other
            || self.geometry.id_of(fingerprint) != minirun.id()
            || self.geometry.fingerprint(key.h0()) != fingerprint
        {
            return false;
        }
        let Fingerprint {
            quotient,
            remainder,
        } = fingerprint;
        let slot = extension_slot(digit);
        let extended = self.table.extend::<Marks>(quotient, remainder, slot);
        self.extras.add(u64::from(extended));
        extended
    }

    /// [`AdaptiveFilter::adapt`](super::AdaptiveFilter::adapt) where the minirun holds one
    /// fingerprint, without counter, of one key; `None` where it does not.
    pub(crate) fn adapt_alone(
        &mut self,
        query: &Hashed<'_>,
        key: &Hashed<'_>,
    ) -> Option<Result<Adapted, Error>> {
        let (query, key) = (self.digits(query), self.digits(key));
        let used = self.table.used();
        let result = self.cpu().run(AdaptAlone {
            core: self,
            query,
            key,
        });
        self.extras.add(self.table.used() - used);
        result
    }
}

/// The long ways, kept out of the short ones.
impl<M: Bytes> Core<M> {
    #[inline(never)]
    pub(super) fn answer_beyond(&self, h0: u64) -> Option<bool> {
        self.cpu().run(AnswerBeyond { core: self, h0 })
    }

    /// There are no later words to ask for where nothing is marked.
    #[inline(never)]
    pub(super) fn answer_beyond_unmarked(&self, h0: u64) -> bool {
        self.answer_beyond(h0).unwrap_or(true)
    }

    #[inline(never)]
    pub(super) fn answer_far(&self, h0: u64) -> Option<bool> {
        self.cpu().run(AnswerFar { core: self, h0 })
    }

    #[inline(never)]
    pub(super) fn find_beyond(&self, key: Digits<'_>) -> Option<Range<u64>> {
        self.cpu().run(FindBeyond { core: self, key })
    }
}
