//! Adapting and making room: what takes the keys.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::core::Coded;
use super::keys::{Known, Source, check, given};
use super::runs::{Plan, SlotAndSymbol, pair, sort};
use super::symbols::{Numbered, Placed, Stretch, Symbols, Unit};
use super::{CodedFilter, Overflow};
use crate::bits::Bytes;
use crate::error::Error;
use crate::geometry::Fingerprint;
use crate::hash::{Hashed, StreamHash};
use crate::outcome::Adapted;
use crate::table::{BlockFull, Put, Run};
use crate::traits::Adaptive;

impl<S: Symbols, H: StreamHash> CodedFilter<S, H> {
    /// Fixes a false positive, given all keys whose first hash words are in the stretch that
    /// [`lookup`](Self::lookup) gave, or in the larger one that [`Error::NeedsHashes`] named
    /// the last time.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the query is itself one of the keys, or the keys do not fit the
    /// fingerprints. [`Error::NeedsHashes`] if the stretch is not that of the query; of a
    /// telescoping filter also if a block's code is full, and making room takes more keys.
    pub fn adapt(
        &mut self,
        query: &Hashed<'_>,
        at: Stretch,
        keys: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        check(S::UNIT, at, keys)?;
        self.adapt_by(query, given(at, keys))
    }

    /// [`adapt`](Self::adapt) with keys from a source that is asked for ranges of hashes.
    pub(crate) fn adapt_by<'k, E: From<Error>>(
        &mut self,
        query: &Hashed<'_>,
        source: impl FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
    ) -> Result<Adapted, E> {
        let geometry = self.core.table.geometry();
        let query = Placed::new(&geometry, query);
        let mut known = Known::new(S::UNIT, geometry, source, None);
        let mut report = Adapted::default();
        let (mut group, key_of) = loop {
            let group = self.core.group(&query);
            let keys = known.of(query.home)?;
            if keys
                .iter()
                .any(|key| key.key.h0() == query.key.h0() && key.key.is_same_key(query.key))
            {
                let reason = "the query is a member: its answer was right and needs no fix";
                return Err(Error::mismatch(reason).into());
            }
            let key_of = group.pair(&keys)?;
            let is_surplus = |&i: &usize| key_of[i - group.slots.start].is_none();
            // A slot without a key that matches can't be changed, but nobody misses it.
            let Some(i) = group.fitting(&query).find(is_surplus) else {
                break (group, key_of);
            };
            match self.core.close(&group.run, group.run.start + i as u64) {
                Ok(()) => report.dropped += 1,
                Err(full) => report.forgotten += self.core.make_room(full, &mut known)?,
            }
        };
        let keys = known.of(query.home)?;
        for (entry, key) in group.entries[group.slots].iter_mut().zip(key_of) {
            let Some(key) = key.filter(|_| S::fits(&query, *entry)) else {
                continue;
            };
            // A higher number if there is one that tells them apart, or else the lowest.
            let now = entry.symbol.number();
            let mut others = (now + 1..=S::MAX).chain(0..now);
            let apart = |&number: &u32| !S::fits(&query, S::Symbol::slot(&keys[key], number));
            if let Some(number) = others.find(apart) {
                *entry = S::Symbol::slot(&keys[key], number);
                report.extended += 1;
            }
        }
        if report.extended > 0 {
            sort::<S>(&mut group.entries);
            let plan = Plan::from([(group.run.start, group.entries)]);
            report.forgotten +=
                self.core
                    .write_plan(plan, Some((&group.run, &query)), &mut known)?;
        }
        report.unfixed = self.core.group(&query).fitting(&query).count() as u64;
        Ok(report)
    }

    /// Adds a key, given all keys in the stretch that [`Error::NeedsHashes`] named. They may
    /// or may not include the new one.
    ///
    /// # Errors
    /// As [`insert`](Self::insert); if the stretch is still too small, a larger one is named.
    pub fn insert_with(
        &mut self,
        key: &Hashed<'_>,
        at: Stretch,
        keys: &[Hashed<'_>],
    ) -> Result<(), Error> {
        self.insert_by(key, given(at, keys))
    }

    /// [`insert_with`](Self::insert_with), with keys from a source.
    pub(crate) fn insert_by<'k, E: From<Error>>(
        &mut self,
        key: &Hashed<'_>,
        source: impl FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
    ) -> Result<(), E> {
        // The new key may be among those of its run already.
        let mut known = Known::new(S::UNIT, self.core.table.geometry(), source, Some(key));
        loop {
            match self.core.put(key.h0()) {
                Put::Done => return Ok(()),
                Put::BlockFull(full) => self.core.make_room(full, &mut known)?,
                Put::Full | Put::Counted => return Err(self.core.table.full().into()),
            };
        }
    }
}

impl<S: Symbols> Coded<S> {
    /// Drops a symbol of a block, or of the one that it gets one from; by [`Overflow::Rebuild`] all
    /// of them. Gives how many.
    pub(super) fn make_room<'k, F: Source<'k>>(
        &mut self,
        BlockFull(block): BlockFull,
        known: &mut Known<'k, '_, F>,
    ) -> Result<u64, F::Error> {
        // A symbol that is alone fits where it came up from, not always where it goes down to.
        let mut symbols = self.coding.symbols(self.word(block));
        let block = block + u64::from(symbols.next().is_none());
        let mut plan = Plan::new();
        let dropped = self.drop_in(block, &mut plan, None, known)?;
        debug_assert!(dropped > 0, "a block without symbols is not full");
        Ok(dropped + self.write_plan(plan, None, known)?)
    }

    /// [`make_room`](Self::make_room) for somebody who has no keys.
    ///
    /// # Errors
    /// [`Error::NeedsHashes`] if symbols can't be dropped without.
    #[cold]
    pub(super) fn make_room_alone(&mut self, full: BlockFull) -> Result<(), Error> {
        if S::UNIT == Unit::Run {
            return Err(self.stretch_of_block(full.0).needed());
        }
        let source = |_| Ok::<_, Error>(Vec::new());
        let mut known = Known::new(S::UNIT, self.table.geometry(), source, None);
        self.make_room(full, &mut known).map(|_| ())
    }

    /// The keys whose slots may have to change so that the symbols of a block fit: those of
    /// the block, and of the slot before it.
    fn stretch_of_block(&self, block: u64) -> Stretch {
        let geometry = self.table.geometry();
        let last = (block * 64 + 63).min(geometry.slots() - 1);
        let from = (block * 64).saturating_sub(1);
        let mut first = from.min(last);
        while first > 0 && self.run(first).start > from {
            first -= 1;
        }
        let bits = geometry.remainder_bits();
        Stretch::of_ids(&geometry, &(first << bits..=((last + 1) << bits) - 1))
    }

    /// Writes a plan, after as many symbols as necessary have been dropped; gives how many. Those
    /// of the run that is `own` are spared as long as there are others in their block.
    ///
    /// It ends: every round takes something away, and a block without symbols always fits.
    fn write_plan<'k, F: Source<'k>>(
        &mut self,
        mut plan: Plan<S::Symbol>,
        own: Option<(&Run, &Placed<'_, '_>)>,
        known: &mut Known<'k, '_, F>,
    ) -> Result<u64, F::Error> {
        let mut dropped = 0;
        while let Err(BlockFull(block)) = self.write(&plan) {
            dropped += self.drop_in(block, &mut plan, own, known)?;
        }
        Ok(dropped)
    }

    /// Plans to drop symbols of a block: one, or by [`Overflow::Rebuild`] all that are not of the
    /// run that is `own`. Gives how many.
    fn drop_in<'k, F: Source<'k>>(
        &self,
        block: u64,
        plan: &mut Plan<S::Symbol>,
        own: Option<(&Run, &Placed<'_, '_>)>,
        known: &mut Known<'k, '_, F>,
    ) -> Result<u64, F::Error> {
        let slots = own.map_or(0..0, |(run, _)| run.start..run.end);
        let mut dropped = 0;
        while let Some(slot) = self.victim(plan, block, &slots) {
            let is_own = slots.contains(&slot);
            if is_own && dropped > 0 {
                break;
            }
            let run = self.owner(slot).expect("a symbol is that of a run");
            let planned = plan.remove(&run.start);
            let mut entries = planned.unwrap_or_else(|| self.entries(&run));
            let query = own.map(|(_, query)| query).filter(|_| is_own);
            let i = (slot - run.start) as usize;
            self.drop_symbol(run.quotient, &mut entries, i, query, known)?;
            plan.insert(run.start, entries);
            dropped += 1;
            if is_own || self.overflow == Overflow::Keep {
                break;
            }
        }
        Ok(dropped)
    }

    /// Gives entry `i` of a run its lowest symbol; a higher one if the lowest fits `query`.
    fn drop_symbol<'k, F: Source<'k>>(
        &self,
        quotient: u64,
        entries: &mut [SlotAndSymbol<S::Symbol>],
        i: usize,
        query: Option<&Placed<'_, '_>>,
        known: &mut Known<'k, '_, F>,
    ) -> Result<(), F::Error> {
        if S::UNIT == Unit::Minirun {
            // What is stored is the home remainder.
            entries[i].symbol = S::Symbol::default();
            return Ok(());
        }
        let home = Fingerprint {
            quotient,
            remainder: 0,
        };
        let keys = known.of(home)?;
        let key = pair::<S>(entries, &keys)?[i];
        // Nobody misses a slot without a key: any remainder will do.
        let Some(key) = key.map(|key| &keys[key]).or(keys.first()) else {
            entries[i] = SlotAndSymbol::default();
            sort::<S>(entries);
            return Ok(());
        };
        let apart =
            |&number: &u32| query.is_none_or(|query| !S::fits(query, S::Symbol::slot(key, number)));
        let number = (0..entries[i].symbol.number()).find(apart).unwrap_or(0);
        entries[i] = S::Symbol::slot(key, number);
        sort::<S>(entries);
        Ok(())
    }
}

impl<S: Symbols, H: StreamHash, M: Bytes> CodedFilter<S, H, M> {
    /// Can all of these keys, of which all or none of every place are given, be paired with slots
    /// of their own?
    pub(crate) fn pairs(&self, keys: &[Hashed<'_>]) -> bool {
        let geometry = &self.core.table.geometry();
        let mut units: BTreeMap<u64, Vec<Placed<'_, '_>>> = BTreeMap::new();
        for key in keys {
            let key = Placed::new(geometry, key);
            let first = *S::UNIT.ids(geometry, key.home).start();
            units.entry(first).or_default().push(key);
        }
        let paired = |keys: Vec<Placed<'_, '_>>| self.core.group(&keys[0]).pair(&keys).is_ok();
        units.into_values().all(paired)
    }
}

impl<S: Symbols, H: StreamHash> Adaptive for CodedFilter<S, H> {
    type Place = Stretch;

    fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<Stretch> {
        self.lookup_hashed(key)
    }

    fn adapt(
        &mut self,
        query: &Hashed<'_>,
        at: Stretch,
        stored: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        self.adapt(query, at, stored)
    }
}
