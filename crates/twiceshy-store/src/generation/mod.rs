//! All shards under one seed. A [shard] is the filter of a range of hashes; while keys move to
//! another seed, it knows the generation that they move to.

mod shard;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, OnceLock};

use twiceshy::Error;
use twiceshy::hash::{Hashed, Seed, Sip13, StreamHash, first_word};
use twiceshy::sets::policy::Policy;

use crate::cores::on_all_cores;
use crate::engine::Table;
use crate::filter::{Filter, Measures, slots_for};

pub(crate) use self::shard::{Asked, Lesson, Maybe, Place, STEP, Shard, When, rest_of};

/// The filter of a store under one seed, and where the engine keeps what is in its hash order.
pub(crate) struct Generation {
    pub(crate) table: Table,
    pub(crate) measures: Measures,
    /// The hash, prepared for the seed.
    keyed: <Sip13 as StreamHash>::Keyed,
    bits: u32,
    shards: Box<[Shard]>,
    /// Where its records move to, once they do.
    next: OnceLock<Arc<Generation>>,
}

/// A key, hashed under the seed of a generation.
pub(crate) struct HashedKey<'k> {
    pub(crate) bytes: &'k [u8],
    /// Where it belongs.
    pub(crate) shard: usize,
    /// Its whole first word: the order of the engine's table.
    pub(crate) h0: u64,
    /// What is left without the number of the shard: what the shard's filter knows.
    pub(crate) rest: Hashed<'k>,
}

/// What a generation shall be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) table: Table,
    pub(crate) measures: Measures,
    /// Of a hash, to tell the shards apart.
    pub(crate) bits: u32,
    pub(crate) policy: Policy,
    /// Keys to have room for from the start.
    pub(crate) capacity: u64,
}

impl Plan {
    /// Slots of a shard to start with.
    pub(crate) fn slots(&self) -> u64 {
        slots_for(self.capacity >> self.bits)
    }

    /// The filter of a shard whose keys have hashes with these rests, in ascending order, and how
    /// many there are.
    pub(crate) fn filter(&self, rests: &[u64]) -> Result<(Filter, u64), Error> {
        let filter = Filter::from_sorted(&self.measures, self.slots(), rests)?;
        Ok((filter, rests.len() as u64))
    }
}

impl Generation {
    /// One that is empty.
    pub(crate) fn empty(plan: &Plan) -> Result<Self, Error> {
        let nothing = |_| Ok::<_, Error>(());
        Self::build(plan, nothing, |_, ()| plan.filter(&[]), |_| ())
    }

    /// One whose shards are built on all cores. On this thread, `read` says what is to be known of
    /// each of them first, and `built` hears of how many records it has at last.
    pub(crate) fn build<T: Send, E: From<F>, F: Send>(
        plan: &Plan,
        mut read: impl FnMut(Place) -> Result<T, E>,
        build: impl Fn(Place, T) -> Result<(Filter, u64), F> + Sync,
        mut built: impl FnMut(u64),
    ) -> Result<Self, E> {
        let bits = plan.bits;
        let places = (0..1_u32 << bits).map(|index| Place {
            index: index.into(),
            bits,
        });
        let mut shards = Vec::with_capacity(places.len());
        on_all_cores::<_, _, E, F>(
            places.map(|place| Ok((place, read(place)?))),
            |(place, read)| Ok((place, build(place, read)?)),
            |(place, (filter, records))| {
                let shard = Shard::new(place, plan.measures, plan.policy, filter);
                shard.counters.add_records(records);
                shards.push(shard);
                built(records);
            },
        )?;
        shards.sort_by_key(|shard| shard.place().index);
        Ok(Generation {
            table: plan.table,
            measures: plan.measures,
            keyed: Sip13::keyed(&plan.measures.seed),
            bits,
            shards: shards.into(),
            next: OnceLock::new(),
        })
    }

    pub(crate) fn seed(&self) -> &Seed {
        &self.measures.seed
    }

    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    #[inline]
    pub(crate) fn shard(&self, index: usize) -> &Shard {
        &self.shards[index]
    }

    pub(crate) fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// The shard of a key, and what its filter knows of the first word of the key's hash: the rest.
    #[inline]
    fn locate(&self, key: &[u8]) -> (&Shard, u64) {
        let h0 = first_word::<Sip13, [u8]>(&self.keyed, key);
        // As many shards as these bits can say; two steps, because a shift by 64 bits is none.
        let shard = &self.shards[(h0 >> 1 >> (63 - self.bits)) as usize];
        (shard, h0 << self.bits)
    }

    /// Does the filter deny a key at first sight? Counts it if so.
    #[inline]
    pub(crate) fn denies(&self, key: &[u8]) -> bool {
        let (shard, rest) = self.locate(key);
        let denies = shard.denies(rest);
        if denies {
            shard.counters.negative();
        }
        denies
    }

    /// The version of the filter that says "maybe" to a key. Counts a "no". For a generation whose
    /// records never move.
    #[inline]
    pub(crate) fn ask(&self, key: &[u8]) -> Option<u64> {
        let (shard, rest) = self.locate(key);
        let maybe = shard.ask_by(rest, || self.hash(key).rest);
        if maybe.is_none() {
            shard.counters.negative();
        }
        maybe
    }

    /// Hashes a key.
    #[inline]
    pub(crate) fn hash<'k>(&self, bytes: &'k [u8]) -> HashedKey<'k> {
        let hashed = Hashed::from_bytes::<Sip13>(&self.measures.seed, bytes);
        let h0 = hashed.h0();
        let (shard, rest) = hashed.split_top(self.bits);
        // As many shards as these bits can say.
        let shard = shard as usize;
        HashedKey {
            bytes,
            shard,
            h0,
            rest,
        }
    }

    /// The other table that can hold what is in hash order.
    pub(crate) fn other_table(&self) -> Table {
        match self.table {
            Table::Odd => Table::Even,
            _ => Table::Odd,
        }
    }

    /// Where the records of a shard move that says so.
    pub(crate) fn next(&self) -> Option<Arc<Generation>> {
        self.next.get().cloned()
    }

    /// From now on records move there, once in the life of a generation. Those with hashes below
    /// `moved` have.
    pub(crate) fn begin_to_move(&self, next: &Arc<Generation>, moved: u128) {
        let next = self.next.get_or_init(|| Arc::clone(next));
        debug_assert!(next.table == self.other_table());
        for shard in &self.shards {
            shard.begin_to_move(moved);
        }
    }

    /// How many records there are.
    pub(crate) fn records(&self) -> u64 {
        let records = |shard: &Shard| shard.counters.records();
        self.shards.iter().map(records).sum()
    }
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generation")
            .field("table", &self.table)
            .field("shards", &self.shards.len())
            .finish_non_exhaustive()
    }
}
