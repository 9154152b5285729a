//! Opening: the filter from its file, or from the records.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use twiceshy::hash::Seed;

use super::Store;
use super::checkpoint::FILTER;
use super::load::load;
use super::rebuild::rebuild;
use super::rotation::Rotator;
use crate::counters::Longest;
use crate::engine::{Durability, Engine, Table};
use crate::error::Error;
use crate::files::Files;
use crate::image;
use crate::journal::Journal;
use crate::layout::Layout;
use crate::meta::{self, Meta, Series};
use crate::options::{Options, Progress};
use crate::sync::{Busy, Mutex, RwLock};

impl<E: Engine, L: Layout> Store<E, L> {
    /// Opens the store in an engine, or makes one there if the engine is empty.
    pub(crate) fn open(
        engine: E,
        files: Box<dyn Files>,
        options: Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, Error> {
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
                let image = image.as_ref();
                rebuild(&engine, &options, &meta, image, progress)?
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
            longest_step: Longest::default(),
            longest_save: Longest::default(),
            layout: PhantomData,
        };
        if let Some((next, frontier)) = next {
            let current = store.current.load_full();
            store.resume(current, Arc::new(next), frontier);
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
            table: Table::Even,
            seed,
        },
        next: None,
        checkpoint: None,
    };
    engine.write(&meta.create(L::CODE), Durability::Sync)?;
    Ok(meta)
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
