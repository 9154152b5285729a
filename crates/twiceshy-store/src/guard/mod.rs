//! A filter beside a database that you run already.
//!
//! A [`Store`](crate::Store) brings its own tables. A [`Guard`] stands beside yours: before you
//! ask your database, ask the guard.
//!
//! ```text
//!   guard.check(key) ── No ─────────────────────────────── done, no trip
//!         └─ Maybe(ticket) ── ask your database ── found ─ done
//!                                      └─ not found ────── ticket.absent(): won't happen again
//! ```
//!
//! To learn from a mistake it needs the keys that share the mistaken fingerprint, in hash order:
//! a [`ReverseMap`], which is all that it keeps. That may be
//!
//! * a map that the guard writes: [`MemoryMap`](twiceshy::sets::reverse_map::MemoryMap), or
//!   [`EngineMap`] in any [engine](crate::engine);
//! * your own table, if it has an indexed column with the hash of the key
//!   ([`Guard::hash_of`]): implement [`ReverseMap::keys`] as a query of that index, and let
//!   `insert` and `remove` do nothing.
//!
//! # Rules
//!
//! 1. Tell the guard of a key **before** your commit makes it visible ([`Guard::inserting`]), and
//!    of a deletion **after** your commit ([`Guard::deleted`]). Then a key that is there is never
//!    answered "no". A fingerprint without a record costs nothing but a wasted trip.
//! 2. All writers go through the same guard. After writes that did not, and after a crash unless
//!    the map is as durable as your database, build it anew ([`Guard::rebuild`]).
//! 3. One writer a key at a time, from before the guard is told of an insertion, or before the
//!    deletion is committed, until the guard has been told of the end. (Two that insert the same
//!    key are fine.)
//! 4. The map reads what is committed, not what an open transaction has changed; and nobody calls
//!    the guard with a lock in hand that reading the map needs.
//! 5. A map that outlives the process goes with its seed: pass the one of
//!    [`Guard::seed`] to [`StoreBuilder::seed`](crate::StoreBuilder::seed) the next time.
//!
//! ```
//! use std::collections::HashMap;
//! use twiceshy::sets::reverse_map::MemoryMap;
//! use twiceshy_store::{Check, StoreBuilder};
//!
//! let mut database = HashMap::from([("anna", 1), ("otto", 2)]);
//! let guard = StoreBuilder::new().capacity(1_000).guard(MemoryMap::default())?;
//! guard.rebuild(database.keys())?;
//!
//! // A new record: the guard first, then the database.
//! let pending = guard.inserting("emma")?;
//! database.insert("emma", 3);
//! pending.done();
//!
//! for name in ["anna", "bob", "emma"] {
//!     match guard.check(name) {
//!         Check::No => assert!(!database.contains_key(name)),
//!         Check::Maybe(ticket) => match database.get(name) {
//!             Some(number) => println!("{name}: {number}"),
//!             None => _ = ticket.absent()?, // a mistake that won't be repeated
//!         },
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod engine_map;
mod error;
mod in_flight;
mod write;

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use twiceshy::ReverseMap;
use twiceshy::hash::{Hashed, Seed, Sip13};

pub use self::engine_map::EngineMap;
pub use self::error::GuardError;
use self::in_flight::InFlight;
pub use self::write::Inserting;

use crate::counters::Counts;
use crate::engine::Table;
use crate::filter::FilterChoice;
use crate::generation::{Generation, Lesson, Place};
use crate::meta::Series;
use crate::options::{Options, WhenFull};
use crate::store::Stats;
use crate::sync::Mutex;
use crate::turn::{Members, Turn};

/// A filter beside a database that you run already. See the [module](self) for the rules.
pub struct Guard<R> {
    map: Mutex<R>,
    generation: Arc<Generation>,
    options: Options,
    /// By shard.
    in_flight: Box<[InFlight]>,
}

/// What the filter says of a key.
#[derive(Debug)]
pub enum Check<'g, K, R: ReverseMap> {
    /// It is not there. Certain.
    No,
    /// It may be there: ask your database, and if it isn't, say so with the ticket.
    Maybe(Ticket<'g, K, R>),
}

impl<K, R: ReverseMap> Check<'_, K, R> {
    /// Is a look into the database worth it?
    #[must_use]
    pub fn is_maybe(&self) -> bool {
        matches!(self, Check::Maybe(_))
    }
}

/// A "maybe", to be answered. It keeps the key as it was given to [`Guard::check`].
#[must_use = "if the key was not there, say so with `absent`; otherwise drop it"]
pub struct Ticket<'g, K, R> {
    guard: &'g Guard<R>,
    key: K,
    /// Of the filter that said so.
    version: u64,
}

/// What became of a false positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learnt {
    /// It won't happen again.
    Yes,
    /// The policy waits for more of them.
    NotYet,
    /// There was nothing to learn: another thread did, or the key has been inserted since.
    Nothing,
    /// The filter has no room and may not grow.
    Full,
}

impl<R: ReverseMap> Guard<R> {
    /// Opens a guard with what is of a meaning for it among these choices.
    pub(crate) fn open(mut options: Options, map: R) -> Result<Self, GuardError<R::Error>> {
        if options.when_full == WhenFull::Rotate {
            // The hashes are in a table that is not ours to rewrite.
            options.when_full = WhenFull::Grow;
        }
        // A plain one would take a deletion that is told twice for another key's.
        options.choice = FilterChoice::Adaptive;
        let seed = options.seed.map_or_else(Seed::random, Ok)?;
        let generation = build(&map, &options, seed)?;
        let shards = generation.shards().len();
        Ok(Guard {
            map: Mutex::new(map),
            generation: Arc::new(generation),
            options,
            in_flight: (0..shards).map(|_| InFlight::default()).collect(),
        })
    }
}

/// A filter of all keys that the map lists.
fn build<R: ReverseMap>(
    map: &R,
    options: &Options,
    seed: Seed,
) -> Result<Generation, GuardError<R::Error>> {
    let plan = options.plan(&Series {
        table: Table::Even,
        seed,
    });
    // The map may be one that only this thread may ask.
    let read = |place: Place| {
        let mut rests = Vec::new();
        let mut foreign = false;
        map.keys(place.all(), |h0, key| {
            foreign |= Hashed::from_bytes::<Sip13>(&seed, key).h0() != h0;
            rests.push(place.rest(h0));
        })
        .map_err(GuardError::Map)?;
        match foreign {
            true => Err(GuardError::Seed),
            false => Ok(rests),
        }
    };
    let build = |_, mut rests: Vec<u64>| {
        rests.sort_unstable();
        plan.filter(&rests)
    };
    Generation::build(&plan, read, build, |_| ())
}

impl<R: ReverseMap> Guard<R> {
    /// May this key be there?
    #[inline]
    pub fn check<K: AsRef<[u8]>>(&self, key: K) -> Check<'_, K, R> {
        match self.generation.ask(key.as_ref()) {
            None => Check::No,
            Some(version) => Check::Maybe(Ticket {
                guard: self,
                key,
                version,
            }),
        }
    }

    /// The first word of a key's hash, for an indexed column of your own table.
    #[must_use]
    pub fn hash_of(&self, key: impl AsRef<[u8]>) -> u64 {
        self.generation.hash(key.as_ref()).h0
    }

    /// The seed of the hashes. Keep it with the reverse map, and from those who may choose keys.
    #[must_use]
    pub fn seed(&self) -> Seed {
        *self.generation.seed()
    }

    /// How many keys the guard knows of. It may be more than there are where the map has failed, or
    /// a deletion was committed a while before the guard was told of it and others learnt or told
    /// meanwhile; [`rebuild`](Self::rebuild) counts anew.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.generation.records()
    }

    /// Is there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How the guard is doing, counted since it was made. Nobody tells it of keys that the database
    /// found: those are not among the lookups and the verified hits, unless it asked for them itself.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::of(
            FilterChoice::Adaptive,
            Counts::default(),
            [&*self.generation],
        )
    }

    /// What `look` makes of the reverse map. Whoever learns or writes waits meanwhile.
    pub fn with_map<T>(&self, look: impl FnOnce(&R) -> T) -> T {
        look(&self.map.lock())
    }

    /// The reverse map, back.
    pub fn into_map(self) -> R {
        self.map.into_inner()
    }
}

impl<R: ReverseMap> Members for Guard<R> {
    type Error = GuardError<R::Error>;

    fn options(&self) -> &Options {
        &self.options
    }

    /// Those that the map lists, and those that are under way.
    fn keys(
        &self,
        turn: &Turn,
        hashes: &RangeInclusive<u64>,
    ) -> Result<Vec<Vec<u8>>, GuardError<R::Error>> {
        // Those under way first: one that lands in between is committed, and listed by now. New
        // ones wait for the turn.
        let mut keys = self.in_flight[turn.index()].in_range(hashes);
        let list = |h0, key: &[u8]| keys.push((h0, key.to_vec()));
        (self.map.lock().keys(hashes.clone(), list)).map_err(GuardError::Map)?;
        keys.sort_unstable();
        keys.dedup();
        Ok(keys.into_iter().map(|(_, key)| key).collect())
    }

    fn full(&self) -> GuardError<R::Error> {
        GuardError::Full
    }

    fn warn(&self, what: &'static str, error: &GuardError<R::Error>) {
        tracing::warn!(error = error.reason(), "{what}");
    }
}

impl<K: AsRef<[u8]>, R: ReverseMap> Ticket<'_, K, R> {
    /// The key was not there: learns from it, so that it is answered "no" from now on. Reads
    /// one range of the reverse map.
    ///
    /// # Errors
    /// [`GuardError::Map`], and [`GuardError::Filter`] if the map lists keys that the guard was
    /// never told of. The filter is as it was.
    pub fn absent(self) -> Result<Learnt, GuardError<R::Error>> {
        let guard = self.guard;
        let query = guard.generation.hash(self.key.as_ref());
        let turn = Turn::wait(&guard.generation, query.shard);
        turn.shard().counters.false_positive(query.rest.word(1));
        let lesson = turn.learn_unread(guard, &query, self.version);
        turn.release(guard);
        Ok(match lesson? {
            Lesson::Learnt => Learnt::Yes,
            Lesson::Waiting => Learnt::NotYet,
            Lesson::Full => Learnt::Full,
            Lesson::Stale | Lesson::Known => Learnt::Nothing,
        })
    }
}

impl<K, R> fmt::Debug for Ticket<'_, K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").finish_non_exhaustive()
    }
}

impl<R: ReverseMap> fmt::Debug for Guard<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("keys", &self.len())
            .finish_non_exhaustive()
    }
}
