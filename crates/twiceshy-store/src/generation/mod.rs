//! All shards under one seed. A [shard] is the filter of a range of hashes; while keys move to
//! another seed, it knows the generation that they move to.

mod shard;

use std::fmt;

use twiceshy::Error;
use twiceshy::hash::{Hashed, Seed, Sip13, StreamHash, first_word};
use twiceshy::sets::policy::Policy;

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

impl Generation {
    /// One that is empty, with room for `capacity` keys.
    pub(crate) fn empty(
        table: Table,
        measures: Measures,
        bits: u32,
        policy: Policy,
        capacity: u64,
    ) -> Result<Self, Error> {
        let slots = slots_for(capacity >> bits);
        Self::from_fn(table, measures, bits, policy, |_| {
            Ok((Filter::empty(&measures, slots)?, 0))
        })
    }

    /// One of these filters, each with the number of records that it stands for.
    pub(crate) fn from_fn<E>(
        table: Table,
        measures: Measures,
        bits: u32,
        policy: Policy,
        mut filter: impl FnMut(Place) -> Result<(Filter, u64), E>,
    ) -> Result<Self, E> {
        let shard = |index| {
            let place = Place { index, bits };
            let (filter, records) = filter(place)?;
            let shard = Shard::new(place, measures, policy, filter);
            shard.counters.add_records(records);
            Ok(shard)
        };
        Ok(Generation {
            table,
            measures,
            keyed: Sip13::keyed(&measures.seed),
            bits,
            shards: (0..1_u64 << bits).map(shard).collect::<Result<_, E>>()?,
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

    /// The first word of a key's hash, its shard, and what the shard's filter knows of the word.
    #[inline]
    fn first_word(&self, key: &[u8]) -> (&Shard, u64) {
        let h0 = first_word::<Sip13, [u8]>(&self.keyed, key);
        // As many shards as these bits can say; two steps, because a shift by 64 bits is none.
        let shard = &self.shards[(h0 >> 1 >> (63 - self.bits)) as usize];
        (shard, h0 << self.bits)
    }

    /// Does the filter deny a key at first sight? Counts it if so.
    #[inline]
    pub(crate) fn denies(&self, key: &[u8]) -> bool {
        let (shard, rest) = self.first_word(key);
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
        let (shard, rest) = self.first_word(key);
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
