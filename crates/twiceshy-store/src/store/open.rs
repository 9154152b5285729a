//! Opening: the filter from its file, or from the records.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use twiceshy::AdaptiveFilter;
use twiceshy::hash::{Hashed, Seed, Sip13};

use super::checkpoint::{FILTER, NO_EPOCH};
use super::rotate::Rotator;
use super::{Busy, Store};
use crate::builder::{Options, Progress, StoreBuilder};
use crate::engine::{Durability, Engine};
use crate::error::Error;
use crate::files::Files;
use crate::filter::{Filter, Measures, grown, slots_for};
use crate::generation::{Generation, Place, rest_of};
use crate::hash_order;
use crate::image::{self, GenerationImage, Image};
use crate::journal::Journal;
use crate::layout::Layout;
use crate::meta::{self, Meta, Series};
use crate::sync::{Mutex, RwLock};

impl<L: Layout> StoreBuilder<L> {
    /// Opens the store in a directory, or makes one there: a redb database `data.redb` and the
    /// filter's files beside it.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`Error::Files`] if the directory can't be made.
    #[cfg(feature = "redb")]
    pub fn open_dir(
        self,
        path: impl AsRef<std::path::Path>,
    ) -> Result<Store<crate::engine::Redb, L>, Error> {
        let path = path.as_ref();
        let files = crate::files::Directory::new(path).map_err(|source| Error::Files {
            doing: "making the store's directory",
            source,
        })?;
        let engine = crate::engine::Redb::create_or_open(path.join("data.redb"))?;
        self.open(engine, files)
    }

    /// Opens the store in an engine, or makes one there if the engine is empty. `files` is
    /// where the filter is saved.
    ///
    /// If the saved filter is of the very state that the engine is in, it is loaded. Otherwise
    /// the filter is built from the records, in one scan, with all that the saved one had learnt.
    /// A file that is damaged or not this store's is not looked at.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the engine holds something else, [`Error::Engine`],
    /// [`Error::Filter`] if measures are impossible or memory is missing.
    pub fn open<E: Engine>(
        self,
        engine: E,
        files: impl Files + 'static,
    ) -> Result<Store<E, L>, Error> {
        let (options, mut progress) = self.into_parts()?;
        let files: Box<dyn Files> = Box::new(files);
        let meta = Meta::read(&engine.snapshot()?, L::CODE, L::NAME)?;
        let meta = match meta {
            Some(meta) => meta,
            None => create::<E, L>(&engine, &options)?,
        };
        let bytes = read_image(&*files);
        let image = bytes.as_deref().and_then(image::decode);
        let image = image.filter(|image| image.id == meta.id);

        let loaded = image
            .as_ref()
            .and_then(|image| load(image, &meta, &options));
        let (current, next) = match loaded {
            Some(generations) => generations,
            None => {
                let mut rebuild = Rebuild {
                    engine: &engine,
                    options: &options,
                    image: image.as_ref(),
                    progress: &mut *progress,
                    records: 0,
                };
                let current = rebuild.generation(&meta.current)?;
                let next = match &meta.next {
                    Some((series, frontier)) => Some((rebuild.generation(series)?, *frontier)),
                    None => None,
                };
                tracing::info!(
                    records = rebuild.records,
                    "the filter was built from the records"
                );
                (current, next)
            }
        };
        drop(image);

        let store = Store {
            engine,
            files,
            options,
            id: meta.id,
            current: ArcSwap::from_pointee(current),
            gate: RwLock::new(()),
            // Whether or not its file was of any use: the next commit must say that it is stale.
            clean: AtomicBool::new(meta.checkpoint.is_some()),
            journal: Journal::default(),
            wants_image: AtomicBool::new(false),
            saving: Busy::default(),
            recalling: AtomicBool::new(true),
            rotation: Rotator::default(),
            rotations: AtomicU64::new(0),
            past: Mutex::default(),
            longest_step: AtomicU64::new(0),
            layout: PhantomData,
        };
        if let Some((next, frontier)) = next {
            let current = store.current.load_full();
            store.rotation.resume(&current, &Arc::new(next), frontier);
        }
        store.recall();
        store.recalling.store(false, Ordering::Relaxed);
        Ok(store)
    }
}

fn read_image(files: &dyn Files) -> Option<Vec<u8>> {
    files.read(FILTER).unwrap_or_else(|error| {
        tracing::warn!(%error, "the saved filter can't be read");
        None
    })
}

/// Makes a store of an empty engine.
fn create<E: Engine, L: Layout>(engine: &E, options: &Options) -> Result<Meta, Error> {
    if meta::is_in_use(&engine.snapshot()?)? {
        return Err(Error::foreign(
            "its tables hold entries that no store wrote; give the store an engine of its own",
        ));
    }
    let seed = options.seed.map_or_else(Seed::random, Ok)?;
    let meta = Meta {
        id: Seed::random()?.to_bytes(),
        current: Series {
            table: crate::engine::Table::Even,
            seed,
        },
        next: None,
        checkpoint: None,
    };
    engine.write(&meta.create(L::CODE), Durability::Sync)?;
    Ok(meta)
}

type Loaded = (Generation, Option<(Generation, u128)>);

/// The filter of an image, if it is of the state that the engine is in and of the kind that is
/// wanted.
fn load(image: &Image<'_>, meta: &Meta, options: &Options) -> Option<Loaded> {
    if image.epoch == NO_EPOCH || meta.checkpoint != Some(image.epoch) {
        return None;
    }
    let find = |series: &Series, moved: u128| {
        let found = image
            .generations
            .iter()
            .find(|found| found.series() == *series)?;
        let result = load_generation(found, options, moved);
        result
            .map_err(|error| tracing::warn!(%error, "the saved filter is damaged"))
            .ok()?
    };
    let moved = meta.next.map_or(0, |(_, frontier)| frontier);
    let current = find(&meta.current, moved)?;
    let next = match &meta.next {
        Some((series, frontier)) => Some((find(series, 0)?, *frontier)),
        None => None,
    };
    Some((current, next))
}

/// The filters of an image. Records with hashes below `moved` are not its any more.
fn load_generation(
    image: &GenerationImage<'_>,
    options: &Options,
    moved: u128,
) -> Result<Option<Generation>, twiceshy::Error> {
    let measures = image.measures;
    let same = measures.choice == options.choice && image.bits == options.shard_bits;
    if !same || measures.remainder_bits != options.remainder_bits {
        return Ok(None);
    }
    let filter = |place: Place| -> Result<_, twiceshy::Error> {
        // As many shards as places.
        let shard = &image.shards[place.index as usize];
        // A shard that all records have left has no filter any more.
        if moved > u128::from(*place.all().end()) {
            return Ok((Filter::None, shard.records));
        }
        let filter = Filter::from_bytes(&measures, shard.filter)?;
        Ok((filter, shard.records))
    };
    let (table, bits, policy) = (image.table, image.bits, options.policy);
    let generation = Generation::from_fn(table, measures, bits, policy, filter)?;
    for (shard, image) in generation.shards().iter().zip(&image.shards) {
        if let Some((frontier, filter)) = image.growth {
            shard.restore_growth(frontier, Filter::from_bytes(&measures, filter)?);
        }
    }
    Ok(Some(generation))
}

/// Builds filters from the records.
struct Rebuild<'o, E> {
    engine: &'o E,
    options: &'o Options,
    image: Option<&'o Image<'o>>,
    progress: &'o mut (dyn FnMut(Progress) + Send),
    records: u64,
}

impl<E: Engine> Rebuild<'_, E> {
    fn generation(&mut self, series: &Series) -> Result<Generation, Error> {
        let options = self.options;
        let measures = options.measures(series.seed);
        let bits = options.shard_bits;
        let policy = options.policy;
        Generation::from_fn(series.table, measures, bits, policy, |place| {
            let (filter, records) = self.shard(series, &measures, place)?;
            self.records += records;
            (self.progress)(Progress {
                records: self.records,
                done: (place.index + 1) as f64 / (1_u64 << bits) as f64,
            });
            Ok((filter, records))
        })
    }

    /// The filter of a shard and how many records it stands for.
    fn shard(
        &self,
        series: &Series,
        measures: &Measures,
        place: Place,
    ) -> Result<(Filter, u64), Error> {
        let snapshot = self.engine.snapshot()?;
        let planned = slots_for(self.options.capacity >> place.bits);
        if let Some(old) = self.learnt(series, measures, place) {
            let keys = hash_order::keys(&snapshot, series.table, &place.all())?;
            let hashed = || {
                keys.iter()
                    .map(|key| rest_of(&series.seed, place.bits, key))
            };
            let filter = rebuild(&old, measures, planned, keys.len() as u64, hashed)?;
            return Ok((Filter::Adaptive(filter), keys.len() as u64));
        }
        let mut hashes = Vec::new();
        hash_order::scan(&snapshot, series.table, &place.all(), |h0, _, _| {
            hashes.push(h0 << place.bits);
            ControlFlow::Continue(())
        })?;
        let filter = Filter::from_sorted(measures, planned, &hashes)?;
        Ok((filter, hashes.len() as u64))
    }

    /// What an older image knows of this shard.
    fn learnt(
        &self,
        series: &Series,
        measures: &Measures,
        place: Place,
    ) -> Option<AdaptiveFilter<Sip13>> {
        let mut images = self.image?.generations.iter();
        let image = images.find(|image| image.series() == *series)?;
        if image.measures != *measures || image.bits != place.bits {
            return None;
        }
        let shard = &image.shards[place.index as usize];
        // A growing filter's larger half has learnt later, but does not have all keys yet.
        match Filter::from_bytes(measures, shard.filter) {
            Ok(Filter::Adaptive(filter)) => Some(filter),
            _ => None,
        }
    }
}

/// A filter of these keys with what the old one has learnt, in the old number of slots or a
/// multiple of it, so that no mistake that was fixed comes back.
fn rebuild<'k, I: Iterator<Item = Hashed<'k>>>(
    old: &AdaptiveFilter<Sip13>,
    measures: &Measures,
    planned: u64,
    keys: u64,
    hashed: impl Fn() -> I,
) -> Result<AdaptiveFilter<Sip13>, Error> {
    let mut slots = grown(old.geometry().slots(), keys);
    while slots < planned {
        slots *= 2;
    }
    loop {
        let empty = AdaptiveFilter::builder()
            .slots(slots)
            .remainder_bits(measures.remainder_bits)
            .seed(measures.seed)
            .build()?;
        match old.rebuild(empty, hashed()) {
            Ok((filter, _)) => return Ok(filter),
            // Many long extensions.
            Err(twiceshy::Error::Full { .. }) => slots *= 2,
            Err(error) => return Err(error.into()),
        }
    }
}

impl<E: Engine, L: Layout> Store<E, L> {
    /// Learns once more what was learnt since the image was saved.
    fn recall(&self) {
        let queries = match self.journal.read(&*self.files) {
            Ok(queries) => queries,
            Err(error) => {
                tracing::warn!(%error, "the journal can't be read");
                return;
            }
        };
        if queries.is_empty() {
            return;
        }
        let bytes = queries.iter().map(|query| 8 + query.len() as u64).sum();
        self.journal.muted(bytes, || {
            for query in &queries {
                if let Err(error) = self.contains(query) {
                    tracing::warn!(%error, "what was learnt last is not recalled");
                    return;
                }
            }
        });
        tracing::debug!(queries = queries.len(), "what was learnt last is recalled");
    }
}
