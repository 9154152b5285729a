//! The filter without its hash function: a table of marked slots, read as miniruns.

use std::marker::PhantomData;
use std::ops::Range;

use super::Adapted;
use super::print::{Digits, Layout, Print, Stream};
use crate::bits::{Cpu, Isa, Operation, Packed};
use crate::builder::Parts;
use crate::error::Error;
use crate::hash::Hashed;
use crate::quotient::{
    Fingerprint, Geometry, Mark, Marks, Minirun, Run, Short, Sidecar, Slot, Table, TableOptions,
    Unmarked, Violation,
};
use crate::traits::Removed;

pub(crate) struct Core {
    pub(crate) table: Table<Marks>,
    pub(crate) geometry: Geometry,
    pub(crate) layout: Layout,
    /// Fingerprints that are not ghosts.
    pub(crate) live: u64,
    pub(crate) ghosts: u64,
}

/// A minirun that was read: where its slots are, and what they say.
pub(crate) struct Contents {
    pub(crate) slots: Range<u64>,
    pub(crate) prints: Vec<Print>,
}

impl Core {
    /// An empty table of these measures.
    pub(crate) fn from_parts(parts: &Parts) -> Result<Self, Error> {
        let value_bits = parts.value_bits;
        let width = parts.geometry.remainder_bits() + value_bits;
        if value_bits > 16 || width > Packed::MAX_BITS {
            return Err(Error::geometry(format!(
                "a fingerprint has 0 to 16 value bits, and with its remainder at most {} bits; \
                 not {value_bits} and {width}",
                Packed::MAX_BITS
            )));
        }
        Ok(Core {
            table: Table::new(TableOptions {
                quotients: parts.geometry.slots(),
                slot_bits: width,
                ignored_bits: value_bits,
                huge_pages: parts.huge_pages,
            })?,
            geometry: parts.geometry,
            layout: Layout { width, value_bits },
            live: 0,
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
        self.live = 0;
        self.ghosts = 0;
    }

    /// All fingerprints, in hash order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Fingerprint, Print)> + '_ {
        self.table.runs().flat_map(move |run| {
            let mut at = run.start;
            std::iter::from_fn(move || {
                (at < run.end).then(|| {
                    let end = self.table.end_of_print(at, run.end);
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
    fn cpu(&self) -> Cpu {
        self.table.cpu()
    }

    /// Is no slot marked? Every fingerprint has one home slot, a ghost a marked one as well;
    /// what is used beyond the live ones is marked, or a ghost's. While nothing has adapted
    /// the lane needs no look.
    #[inline(always)]
    fn is_unmarked(&self) -> bool {
        self.table.used() == self.live
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
        let lane = PhantomData::<Marks>;
        if self.is_unmarked() {
            let lane = PhantomData::<Unmarked>;
            return self.cpu().run(Answer {
                core: self,
                h0,
                lane,
            });
        }
        self.cpu().run(Answer {
            core: self,
            h0,
            lane,
        })
    }

    /// Does a live fingerprint match the key?
    pub(crate) fn matches(&self, key: &Hashed<'_>) -> bool {
        self.find_live(key, |_| ()).is_some()
    }

    /// The first live fingerprint that matches the key.
    pub(crate) fn find(&self, key: &Hashed<'_>) -> Option<Print> {
        self.find_live(key, |slots| self.read(slots))
    }

    fn find_live<T>(&self, key: &Hashed<'_>, found: impl FnOnce(Range<u64>) -> T) -> Option<T> {
        let Fingerprint {
            quotient,
            remainder,
        } = self.geometry.fingerprint(key.h0());
        let run = self.run(quotient);
        let digits = self.digits(key);
        let mut at = run.start;
        while at < run.end {
            let home = self.table.slot(at);
            let end = self.table.end_of_print(at, run.end);
            let stored = home.value >> self.layout.value_bits;
            if stored > remainder {
                return None;
            }
            if stored == remainder && self.tail_matches(at + 1..end, &digits) {
                return Some(found(at..end));
            }
            at = end;
        }
        None
    }

    /// Do the marked slots behind a home slot match a key, and are they no ghost's?
    fn tail_matches(&self, tail: Range<u64>, key: &Digits<'_>) -> bool {
        let mut counter = None;
        let mut k = 0;
        for slot in tail {
            let slot = self.table.slot(slot);
            if slot.runend {
                counter = Some(counter.unwrap_or(0) | slot.value);
            } else {
                if key.digit(k) != slot.value {
                    return false;
                }
                k += 1;
            }
        }
        counter != Some(0)
    }

    pub(crate) fn run(&self, quotient: u64) -> Run {
        self.cpu().run(FindRun {
            table: &self.table,
            quotient,
        })
    }

    /// Reads one fingerprint.
    pub(crate) fn read(&self, slots: Range<u64>) -> Print {
        let home = self.table.slot(slots.start);
        let tail = (slots.start + 1..slots.end).map(|slot| self.table.slot(slot));
        Print::read(self.layout, home, tail)
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
            let end = self.table.end_of_print(at, run.end);
            if stored == remainder {
                start = start.or(Some(at));
                prints.push(self.read(at..end));
            }
            at = end;
        }
        Contents {
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

    /// Replaces the fingerprints of a minirun.
    pub(crate) fn replace(
        &mut self,
        minirun: Minirun,
        old: &Contents,
        mut new: Vec<Print>,
    ) -> Result<(), Error> {
        let Fingerprint {
            quotient,
            remainder,
        } = self.geometry.fingerprint_of(minirun.id());
        new.sort_unstable();
        let count = |prints: &[Print], ghosts| {
            prints
                .iter()
                .filter(|print| print.is_ghost() == ghosts)
                .count() as u64
        };
        let live = self.live - count(&old.prints, false) + count(&new, false);
        let ghosts = self.ghosts - count(&old.prints, true) + count(&new, true);
        let mut slots = Vec::with_capacity(new.iter().map(|p| p.slots(self.layout.width)).sum());
        for print in &new {
            print.write(self.layout, remainder, &mut slots);
        }
        let cpu = self.cpu();
        if old.slots.is_empty() {
            // The home slot of the first one makes the minirun; the rest is a change of it.
            let Some((home, rest)) = slots.split_first() else {
                return Ok(());
            };
            let run = self.run(quotient);
            let room = cpu.run(HasRoom {
                table: &self.table,
                run,
                count: slots.len(),
            });
            if !room {
                return Err(self.table.full());
            }
            let at = old.slots.start;
            cpu.run(OpenHome {
                table: &mut self.table,
                run,
                at,
                value: home.value,
            })?;
            if !rest.is_empty() {
                cpu.run(Rewrite {
                    table: &mut self.table,
                    quotient,
                    old: at..at + 1,
                    new: &slots,
                })?;
            }
        } else {
            cpu.run(Rewrite {
                table: &mut self.table,
                quotient,
                old: old.slots.clone(),
                new: &slots,
            })?;
        }
        self.live = live;
        self.ghosts = ghosts;
        Ok(())
    }

    /// Adds an unextended fingerprint where no marked slot is in the way.
    #[inline(always)]
    pub(crate) fn insert_plain(&mut self, h0: u64) -> Option<Result<(), Error>> {
        let lane = PhantomData::<Marks>;
        if self.is_unmarked() {
            let lane = PhantomData::<Unmarked>;
            return self.cpu().run(InsertPlain {
                core: self,
                h0,
                lane,
            });
        }
        self.cpu().run(InsertPlain {
            core: self,
            h0,
            lane,
        })
    }

    /// Removes the fingerprint of a minirun that has but this one, where no marked slot is
    /// in the way.
    #[inline(always)]
    pub(crate) fn remove_plain(&mut self, h0: u64) -> Option<Removed> {
        let lane = PhantomData::<Marks>;
        if self.is_unmarked() {
            let lane = PhantomData::<Unmarked>;
            return self.cpu().run(RemovePlain {
                core: self,
                h0,
                lane,
            });
        }
        self.cpu().run(RemovePlain {
            core: self,
            h0,
            lane,
        })
    }

    /// [`AdaptiveFilter::adapt`](super::AdaptiveFilter::adapt) where the minirun holds one
    /// fingerprint, without counter, of one key; `None` where it does not.
    pub(crate) fn adapt_alone(
        &mut self,
        query: &Hashed<'_>,
        key: &Hashed<'_>,
    ) -> Option<Result<Adapted, Error>> {
        let (query, key) = (self.digits(query), self.digits(key));
        self.cpu().run(AdaptAlone {
            core: self,
            query,
            key,
        })
    }

    /// Adds an unextended fingerprint at a place of the run.
    pub(crate) fn open_home(&mut self, run: Run, at: u64, value: u64) -> Result<(), Error> {
        self.cpu().run(OpenHome {
            table: &mut self.table,
            run,
            at,
            value,
        })?;
        self.live += 1;
        Ok(())
    }

    /// Verifies the table, the order of the fingerprints and their encoding.
    pub(crate) fn check_invariants(&self) -> Result<(), Violation> {
        self.table.check_invariants()?;
        let (mut live, mut ghosts) = (0, 0);
        for run in self.table.runs() {
            let mut last: Option<(u64, Print)> = None;
            let mut at = run.start;
            while at < run.end {
                let end = self.table.end_of_print(at, run.end);
                let remainder = self.table.slot(at).value >> self.layout.value_bits;
                let print = self.read(at..end);
                let mut slots = Vec::new();
                print.write(self.layout, remainder, &mut slots);
                let canonical = (slots.iter().zip(at..end)).all(|(slot, at)| {
                    let stored = self.table.slot(at);
                    let same = stored.value == slot.value && stored.item == slot.item;
                    same && (slot.item == Mark::Home || stored.runend == slot.runend)
                });
                if !canonical || slots.len() as u64 != end - at {
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
                at = end;
            }
        }
        if (live, ghosts) != (self.live, self.ghosts) {
            return Err(Violation::new("fingerprints are not counted right", live));
        }
        Ok(())
    }
}

struct Answer<'f, L> {
    core: &'f Core,
    h0: u64,
    lane: PhantomData<L>,
}

impl<L: Sidecar> Operation for Answer<'_, L> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<bool> {
        let Answer { core, h0, .. } = self;
        match core.table.probe::<I, L>(core.geometry.fingerprint(h0)) {
            None => core.answer_beyond(h0),
            found => found,
        }
    }
}

impl Core {
    /// The long way, kept out of the short one.
    #[inline(never)]
    fn answer_beyond(&self, h0: u64) -> Option<bool> {
        self.cpu().run(AnswerBeyond { core: self, h0 })
    }

    #[inline(never)]
    fn remove_beyond(&mut self, h0: u64) -> Option<Removed> {
        self.cpu().run(RemoveBeyond { core: self, h0 })
    }

    #[inline(never)]
    fn insert_beyond(&mut self, h0: u64) -> Option<Result<(), Error>> {
        self.cpu().run(InsertBeyond { core: self, h0 })
    }
}

struct AnswerBeyond<'f> {
    core: &'f Core,
    h0: u64,
}

impl Operation for AnswerBeyond<'_> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<bool> {
        let Core {
            table, geometry, ..
        } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.run::<I>(quotient);
        let plain = self.core.is_unmarked() || !table.has_marks(&run);
        plain.then(|| table.run_holds(&run, remainder))
    }
}

struct InsertPlain<'f, L> {
    core: &'f mut Core,
    h0: u64,
    lane: PhantomData<L>,
}

impl<L: Sidecar> Operation for InsertPlain<'_, L>
where
    Mark: Into<L::Item>,
    L::Item: Into<Mark>,
{
    type Output = Option<Result<(), Error>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let InsertPlain { core, h0, .. } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        match core
            .table
            .insert_short::<I, L>(quotient, remainder, Mark::Home.into())
        {
            Short::Done(result) => {
                core.live += u64::from(result.is_ok());
                Some(result)
            }
            Short::NotHere => core.insert_beyond(h0),
        }
    }
}

struct InsertBeyond<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for InsertBeyond<'_> {
    type Output = Option<Result<(), Error>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let Core {
            table,
            geometry,
            live,
            ..
        } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.run::<I>(quotient);
        if table.has_marks(&run) {
            return None;
        }
        let at = table.upper_bound(&run, remainder);
        let result = table.open_home::<I>(&run, at, remainder, Mark::Home);
        *live += u64::from(result.is_ok());
        Some(result)
    }
}

struct RemovePlain<'f, L> {
    core: &'f mut Core,
    h0: u64,
    lane: PhantomData<L>,
}

impl<L: Sidecar> Operation for RemovePlain<'_, L>
where
    Mark: Into<L::Item>,
{
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        let RemovePlain { core, h0, .. } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.remove_short::<I, L, true>(fingerprint) {
            Short::Done(removed) => {
                core.live -= u64::from(removed == Removed::One);
                Some(removed)
            }
            Short::NotHere => core.remove_beyond(h0),
        }
    }
}

struct RemoveBeyond<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for RemoveBeyond<'_> {
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        let Core {
            table,
            geometry,
            live,
            ..
        } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.run::<I>(quotient);
        if table.has_marks(&run) {
            return None;
        }
        let Some(at) = table.find_compared(&run, remainder) else {
            return Some(Removed::NotFound);
        };
        // The run is sorted: the fingerprints of a minirun are neighbours.
        if at + 1 < run.end && table.slot(at + 1).value >> table.ignored_bits() == remainder {
            return None;
        }
        table.close::<I>(&run, at);
        *live -= 1;
        Some(Removed::One)
    }
}

/// Adapts a minirun that holds one fingerprint, without counter, of one key: by far the
/// most frequent case, done in place. `None` if it is not that case; nothing has changed
/// then.
struct AdaptAlone<'f, 'k> {
    core: &'f mut Core,
    query: Digits<'k>,
    key: Digits<'k>,
}

impl Operation for AdaptAlone<'_, '_> {
    type Output = Option<Result<Adapted, Error>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let AdaptAlone { core, query, key } = self;
        let Core {
            table,
            geometry,
            layout,
            ..
        } = core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(query.key.h0());
        let run = table.run::<I>(quotient);
        let stored = |table: &Table<Marks>, slot| table.slot(slot).value >> layout.value_bits;
        let mut at = run.start;
        while at < run.end && stored(table, at) < remainder {
            at = table.end_of_print(at, run.end);
        }
        if at >= run.end || stored(table, at) != remainder {
            return None;
        }
        let end = table.end_of_print(at, run.end);
        if end < run.end && stored(table, end) == remainder {
            return None;
        }
        let mut k = 0;
        for slot in at + 1..end {
            let slot = table.slot(slot);
            // A counter, a key that does not fit, or a query that does not match.
            if slot.runend || key.digit(k) != slot.value || query.digit(k) != slot.value {
                return None;
            }
            k += 1;
        }
        let first = k;
        while key.digit(k) == query.digit(k) {
            k += 1;
            if k >= key.digits() {
                return Some(Err(Error::Inseparable));
            }
        }
        if k > first && !table.has_room::<I>(&run, k - first + 1) {
            return Some(Err(table.full()));
        }
        for (place, k) in (end..).zip(first..=k) {
            let run = Run {
                end: run.end + (place - end),
                ..run
            };
            let slot = Slot {
                value: key.digit(k),
                runend: false,
                item: Mark::Continues,
            };
            if let Err(error) = table.open_marked::<I>(&run, place, slot) {
                return Some(Err(error));
            }
        }
        Some(Ok(Adapted {
            extended: 1,
            dropped: 0,
        }))
    }
}

struct FindRun<'f> {
    table: &'f Table<Marks>,
    quotient: u64,
}

impl Operation for FindRun<'_> {
    type Output = Run;

    #[inline(always)]
    fn run<I: Isa>(self) -> Run {
        self.table.run::<I>(self.quotient)
    }
}

struct HasRoom<'f> {
    table: &'f Table<Marks>,
    run: Run,
    count: usize,
}

impl Operation for HasRoom<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        self.table.has_room::<I>(&self.run, self.count)
    }
}

struct OpenHome<'f> {
    table: &'f mut Table<Marks>,
    run: Run,
    at: u64,
    value: u64,
}

impl Operation for OpenHome<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        self.table
            .open_home::<I>(&self.run, self.at, self.value, Mark::Home)
    }
}

struct Rewrite<'f> {
    table: &'f mut Table<Marks>,
    quotient: u64,
    old: Range<u64>,
    new: &'f [Slot<Mark>],
}

impl Operation for Rewrite<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        self.table.rewrite::<I>(self.quotient, self.old, self.new)
    }
}
