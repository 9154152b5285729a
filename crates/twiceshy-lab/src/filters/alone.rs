//! Our filters alone. Any of them can be asked and added to; what else one [`Can`] do depends on its
//! type: `Can::only_the_usual().remove().batches()`.

use std::hint::black_box;
use std::rc::Rc;

use anyhow::{Context, Result, bail, ensure};
use twiceshy::file::Stored;
use twiceshy::hash::{Hashed, StreamHash, first_word};
use twiceshy::sets;
use twiceshy::{
    Adapted, AdaptiveFilter, Error, Filter, Insert, Inserted, Minirun, Remove, Removed, View,
};

use super::members::{Among, Members, Mistake};
use super::{Contender, Learner, Merge, Operation, Order, Set, Shape, Space, Trust};
use crate::timed::Workload;

/// What a filter can do beyond being asked and added to. What is timed one key at a time is a loop
/// over many keys, compiled for each filter.
pub(super) struct Can<F> {
    insert_all: Option<InsertAll<F>>,
    contains_all: Option<ContainsAll<F>>,
    ask_strangers: Option<Ask<F>>,
    remove: Option<RemoveOne<F>>,
    remove_all: Option<RemoveAll<F>>,
    has_batches: bool,
    to_file: Option<fn(&F) -> Vec<u8>>,
    open: Option<Open>,
    load: Option<Load<F>>,
    sort: Option<fn(&Shape, &mut [u64])>,
    half: Option<Half<F>>,
    merge: Option<Both<F>>,
    learn: Option<Learn<F>>,
    adapt_all: Option<AdaptAll<F>>,
}

type InsertAll<F> = fn(&mut F, &[u64]) -> Result<(), Error>;
type ContainsAll<F> = fn(&F, &[u64]) -> u64;
type Ask<F> = fn(&mut Alone<F>, &[u64]) -> Result<u64>;
type RemoveOne<F> = fn(&mut F, &[u8]) -> Result<Removed, Error>;
type RemoveAll<F> = fn(&mut Alone<F>, &[u64]) -> u64;
type Open = fn(&[u8], Trust) -> Result<u64>;
type Load<F> = fn(&Shape, &[u64], Order) -> Result<F>;
/// One of two that are about to be merged, with these keys.
type Half<F> = fn(&Shape, &[u64]) -> Result<F>;
/// One filter of two.
type Both<F> = fn(&F, &F) -> Result<F, Error>;
type AdaptAll<F> = fn(&mut F, &[Mistake]) -> Result<u64>;

/// What a filter does with the keys of its members.
struct Learn<F> {
    members: fn(&Workload) -> Result<Members>,
    insert: fn(&mut F, &Hashed<'_>, &mut Among) -> Result<Inserted, Error>,
    remove: fn(&mut F, &Hashed<'_>, &mut Among) -> Result<Removed, Error>,
    learn: fn(&mut F, &Hashed<'_>, &mut Among) -> Result<Adapted, Error>,
}

impl<F: Insert + 'static> Can<F> {
    pub(super) fn only_the_usual() -> Self {
        Can {
            insert_all: None,
            contains_all: None,
            ask_strangers: None,
            remove: None,
            remove_all: None,
            has_batches: false,
            to_file: None,
            open: None,
            load: None,
            sort: None,
            half: None,
            merge: None,
            learn: None,
            adapt_all: None,
        }
    }

    /// Has methods of its own that are inlined where those of the traits are called.
    pub(super) fn inlined(
        mut self,
        insert_all: InsertAll<F>,
        contains_all: ContainsAll<F>,
    ) -> Self {
        (self.insert_all, self.contains_all) = (Some(insert_all), Some(contains_all));
        self
    }

    /// Removes keys without looking at others.
    pub(super) fn remove(mut self) -> Self
    where
        F: Remove,
    {
        self.remove = Some(|filter, key| filter.remove(key));
        self.remove_all = Some(|alone, keys| {
            let removed = keys.iter().map(|key| alone.filter.remove(key));
            removed
                .filter(|removed| *removed == Ok(Removed::One))
                .count() as u64
        });
        self
    }

    /// Takes many keys in one call, and is faster for it.
    pub(super) fn batches(mut self) -> Self {
        self.has_batches = true;
        self
    }

    /// Has a file.
    pub(super) fn file(mut self, to_file: fn(&F) -> Vec<u8>) -> Self
    where
        F: Stored,
    {
        self.to_file = Some(to_file);
        self.open = Some(|file, trust| {
            let file = black_box(file);
            let view = match trust {
                Trust::Nothing => View::<F>::new(file),
                Trust::Table => View::<F>::new_unverified(file),
            };
            Ok(black_box(&view?).len())
        });
        self
    }

    /// Is built from many keys at once.
    pub(super) fn bulk_load<H: StreamHash>(mut self, load: Load<F>) -> Self {
        self.load = Some(load);
        self.sort = Some(|shape, keys| {
            let keyed = H::keyed(&shape.hash_seed());
            keys.sort_unstable_by_key(|key| first_word::<H, u64>(&keyed, key));
        });
        self
    }

    /// Is made of two, each with half of the keys.
    pub(super) fn merge(mut self, half: Half<F>, merge: Both<F>) -> Self {
        (self.half, self.merge) = (Some(half), Some(merge));
        self
    }

    /// Learns from its mistakes.
    pub(super) fn learn<H: StreamHash>(mut self) -> Self
    where
        F: sets::Learner<Among, Error = Error>,
    {
        self.ask_strangers
            .get_or_insert(|alone, keys| alone.ask(keys, |filter, key| filter.contains(key)));
        self.learn = Some(Learn {
            members: Members::new::<H>,
            insert: F::insert_key,
            remove: F::remove_key,
            learn: F::learn,
        });
        self
    }
}

impl<H: StreamHash> Can<AdaptiveFilter<H>> {
    /// Learns for ever, from keys that are handed to it.
    pub(super) fn adapt(mut self) -> Self {
        self.adapt_all = Some(|filter, mistakes| {
            let mut extended = 0;
            for mistake in black_box(mistakes) {
                let adapted = filter.adapt(&mistake.query, mistake.minirun, &mistake.keys)?;
                extended += adapted.extended;
            }
            Ok(black_box(extended))
        });
        self
    }

    /// Removes known members, and looks at others only where it must; learns between two questions that
    /// are inlined.
    pub(super) fn remove_known(mut self) -> Self {
        self.ask_strangers =
            Some(|alone, keys| alone.ask(keys, |filter, key| filter.contains(key)));
        self.remove_all = Some(|alone, keys| {
            let one = |key: &u64| match alone.filter.remove_known_member(key) {
                Ok(removed) => removed == Removed::One,
                Err(error) => alone.remove_after(*key, &error),
            };
            keys.iter().map(one).map(u64::from).sum()
        });
        self
    }
}

/// A filter and what it can do.
pub(super) struct Alone<F> {
    filter: F,
    shape: Shape,
    can: Rc<Can<F>>,
    /// The members, once it has met them.
    among: Option<Among>,
}

impl<F: Insert> Alone<F> {
    pub(super) fn new(filter: F, shape: &Shape, can: Can<F>) -> Self {
        Self::sharing(filter, *shape, Rc::new(can))
    }

    fn sharing(filter: F, shape: Shape, can: Rc<Can<F>>) -> Self {
        Alone {
            filter,
            shape,
            can,
            among: None,
        }
    }

    #[cold]
    fn insert_among(&mut self, key: u64) -> Result<()> {
        let learn = self.can.learn.as_ref().context("it needs no keys")?;
        let among = self.among.as_mut().context("the keys are not known")?;
        among.count = self.filter.len();
        let hashed = among.members.hash(key);
        (learn.insert)(&mut self.filter, &hashed, among)?;
        Ok(())
    }

    /// Removes a key that the filter could not remove alone. Apart from the loop over the keys, which
    /// would keep less in registers with the error at hand.
    #[cold]
    #[inline(never)]
    fn remove_after(&mut self, key: u64, error: &Error) -> bool {
        let (Error::NeedsKeys { .. }, Some(learn), Some(among)) =
            (error, self.can.learn.as_ref(), self.among.as_mut())
        else {
            return false;
        };
        among.count = u64::MAX;
        let hashed = among.members.hash(key);
        (learn.remove)(&mut self.filter, &hashed, among) == Ok(Removed::One)
    }
}

impl<F: Insert> Alone<F> {
    /// Asks for strangers, and learns from each mistake; how many were there?
    #[inline(always)]
    fn ask(&mut self, keys: &[u64], contains: impl Fn(&F, &u64) -> bool) -> Result<u64> {
        let learn = self.can.learn.as_ref().context("it does not learn")?;
        let among = self.among.as_mut().context("the keys are not known")?;
        among.count = self.filter.len();
        let mut wrong = 0;
        for key in keys {
            if contains(&self.filter, key) {
                wrong += 1;
                let hashed = among.members.hash(*key);
                (learn.learn)(&mut self.filter, &hashed, among)?;
            }
        }
        Ok(black_box(wrong))
    }
}

impl<F: Insert> Set for Alone<F> {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        Ok(self.filter.insert(key)?)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let remove = self.can.remove.context("it can't remove")?;
        super::expect_one(remove(&mut self.filter, key)?)
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn space(&self) -> Space {
        Space::of(&self.filter.stats())
    }
}

impl<F: Insert + Clone + 'static> Contender for Alone<F> {
    fn can(&self, operation: Operation) -> bool {
        match operation {
            Operation::InsertBatch | Operation::QueryHitBatch | Operation::QueryMissBatch => {
                self.can.has_batches
            }
            Operation::Adapt => self.can.adapt_all.is_some(),
            Operation::Remove => self.can.remove_all.is_some(),
            Operation::BulkLoad | Operation::BulkLoadSorted => self.can.load.is_some(),
            Operation::Merge => self.can.merge.is_some(),
            Operation::LoadFile => self.can.to_file.is_some(),
            operation => operation.is_for_all(),
        }
    }

    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        match self.filter.insert(&key) {
            Err(Error::NeedsHashes { .. }) => self.insert_among(key),
            result => Ok(result?),
        }
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&key)
    }

    fn remove_all(&mut self, keys: &[u64]) -> u64 {
        let remove_all = self.can.remove_all;
        remove_all.map_or(0, |remove_all| black_box(remove_all(self, black_box(keys))))
    }

    fn bulk_load(&self, keys: &[u64], order: Order) -> Result<Box<dyn Contender>> {
        let load = self.can.load.context("it has no bulk load")?;
        let loaded = load(&self.shape, keys, order)?;
        Ok(Box::new(Self::sharing(
            loaded,
            self.shape,
            Rc::clone(&self.can),
        )))
    }

    fn sort_by_hash(&self, keys: &mut [u64]) {
        if let Some(sort) = self.can.sort {
            sort(&self.shape, keys);
        }
    }

    fn to_merge(&self, [first, second]: [&[u64]; 2]) -> Result<Merge> {
        let (half, merge) = self
            .can
            .half
            .zip(self.can.merge)
            .context("it has no merge")?;
        let (shape, can) = (self.shape, Rc::clone(&self.can));
        let (first, second) = (half(&shape, first)?, half(&shape, second)?);
        Ok(Box::new(move || {
            let merged = merge(&first, &second)?;
            Ok(Box::new(Alone::sharing(merged, shape, Rc::clone(&can))))
        }))
    }

    fn insert_batch(&mut self, keys: &[u64]) -> Result<u64> {
        ensure!(self.can.has_batches, "it has no batches");
        self.filter.insert_batch(black_box(keys).iter().copied())?;
        Ok(keys.len() as u64)
    }

    /// The answers are added up on the clock, as are those of single queries.
    fn contains_batch(&self, keys: &[u64], found: &mut Vec<bool>) -> Result<u64> {
        ensure!(self.can.has_batches, "it has no batches");
        self.filter.contains_batch_into(black_box(keys), found);
        let found = black_box(&*found).iter();
        Ok(black_box(found.map(|&found| u64::from(found)).sum()))
    }

    fn to_file(&self) -> Result<Vec<u8>> {
        let to_file = self.can.to_file.context("it has no file")?;
        Ok(to_file(&self.filter))
    }

    fn open(&self, file: &[u8], trust: Trust) -> Result<u64> {
        self.can.open.context("it has no file")?(file, trust)
    }

    fn bytes(&self) -> u64 {
        self.filter.stats().bytes
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        match self.can.learn {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn ask_strangers(&mut self, keys: &[u64]) -> Result<u64> {
        match self.can.ask_strangers {
            Some(ask) => ask(self, black_box(keys)),
            None => Ok(self.contains_all(keys)),
        }
    }

    fn insert_all(&mut self, keys: &[u64]) -> Result<u64> {
        match self.can.insert_all {
            Some(insert_all) => insert_all(&mut self.filter, black_box(keys))?,
            None => black_box(keys)
                .iter()
                .try_for_each(|&key| Contender::insert(self, key))?,
        }
        Ok(keys.len() as u64)
    }

    fn contains_all(&self, keys: &[u64]) -> u64 {
        let keys = black_box(keys);
        black_box(match self.can.contains_all {
            Some(contains_all) => contains_all(&self.filter, keys),
            None => count(keys, |key| self.filter.contains(key)),
        })
    }
}

/// Of how many keys is it true?
#[inline(always)]
pub(super) fn count(keys: &[u64], is_true: impl Fn(&u64) -> bool) -> u64 {
    keys.iter().map(|key| u64::from(is_true(key))).sum()
}

impl<F: Insert + Clone + 'static> Learner for Alone<F> {
    fn members(&self, workload: &Workload) -> Result<Members> {
        let learn = self.can.learn.as_ref().context("it does not learn")?;
        (learn.members)(workload)
    }

    fn meet(&mut self, members: Rc<Members>) {
        self.among = Some(Among::new(members));
    }

    fn positives(&self, keys: &[u64], found: &mut Vec<(Minirun, u64)>) {
        if let Some(among) = &self.among {
            let wrong = keys.iter().filter(|&key| self.filter.contains(key));
            found.extend(wrong.map(|&key| (among.members.minirun(key), key)));
        }
    }

    fn adapt_all(&mut self, mistakes: &[Mistake]) -> Result<u64> {
        match (self.can.adapt_all, &self.can.learn, &mut self.among) {
            (Some(adapt_all), ..) => adapt_all(&mut self.filter, mistakes),
            (None, Some(learn), Some(among)) => {
                among.count = self.filter.len();
                let mut changed = 0;
                for mistake in mistakes {
                    changed += (learn.learn)(&mut self.filter, &mistake.query, among)?.extended;
                }
                Ok(changed)
            }
            _ => bail!("it can't adapt"),
        }
    }

    fn used_slots(&self) -> u64 {
        self.filter.stats().used_slots
    }

    fn fork(&self) -> Result<Box<dyn Contender>> {
        Ok(Box::new(Alone {
            among: self.among.clone(),
            ..Self::sharing(self.filter.clone(), self.shape, Rc::clone(&self.can))
        }))
    }
}
