//! From hashes in any order to ids in order, bucket after bucket.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use super::partition::{Partition, Plan};
use super::sort::sort;
use super::word::Word;
use crate::error::Error;
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::Seed;

/// What takes the fingerprints: [`load`](Self::load) is called again and again, with
/// fingerprints that never descend.
pub trait Loader {
    /// Which fingerprints there are.
    fn geometry(&self) -> Geometry;

    /// How many can be taken at most, if each takes a slot.
    fn room(&self) -> Option<u64>;

    /// Takes some.
    fn load(&mut self, fingerprints: impl Iterator<Item = Fingerprint>) -> Result<(), Error>;
}

/// An empty filter that can be loaded. Out of reach outside of this crate, it keeps
/// [`BulkLoad`](super::BulkLoad) to it.
pub trait IntoLoader: Sized {
    /// Takes fingerprints in order.
    type Loader: Loader;

    /// Begins to load into an empty filter.
    fn into_loader(self) -> Self::Loader;

    /// The filter, loaded, of a seed.
    fn from_loader(loader: Self::Loader, seed: Seed) -> Result<Self, Error>;
}

/// Divides the ids of hashes in any order, but no more of them than there is room for.
pub(super) fn divide<W: Word>(
    plan: Plan,
    geometry: &Geometry,
    room: Option<u64>,
    hashes: impl Iterator<Item = u64>,
) -> Result<Partition<W>, Error> {
    let mut partition = Partition::new(plan);
    let mut left = room.unwrap_or(u64::MAX);
    for h0 in hashes {
        if left == 0 {
            return Err(too_many(room));
        }
        left -= 1;
        partition.push(geometry.id(h0))?;
    }
    Ok(partition)
}

/// More ids than slots: no need to try.
#[cold]
pub(super) fn too_many(room: Option<u64>) -> Error {
    let slots = room.unwrap_or(u64::MAX);
    Error::Full { used: slots, slots }
}

/// Sorts bucket after bucket and pours them into the loader, in order. With more than one
/// thread, these sort and this one pours.
pub(super) fn pour<W: Word, L: Loader>(
    plan: Plan,
    partitions: &[Partition<W>],
    threads: usize,
    loader: &mut L,
) -> Result<(), Error> {
    let geometry = loader.geometry();
    let mut load = |bucket: usize, words: &[W]| {
        // The bits that words lack are those of their bucket.
        let kept = u64::MAX >> (64 - W::BITS);
        let above = (bucket as u64) << plan.shift & !kept;
        let ids = words.iter().map(move |word| above | word.widen());
        loader.load(ids.map(move |id| geometry.fingerprint_of(id)))
    };
    let workers = threads.min(plan.buckets);
    if workers < 2 {
        let mut sorter = Sorter::new(plan, partitions);
        let mut words = Vec::new();
        for bucket in 0..plan.buckets {
            sorter.sort(bucket, &mut words)?;
            load(bucket, &words)?;
        }
        return Ok(());
    }
    thread::scope(|scope| {
        let mut lanes = Vec::new();
        for first in 0..workers {
            let (lane, end) = lane();
            lanes.push(lane);
            scope.spawn(move || {
                let buckets = (first..plan.buckets).step_by(workers);
                end.work(Sorter::new(plan, partitions), buckets);
            });
        }
        for bucket in 0..plan.buckets {
            let lane = &lanes[bucket % workers];
            let Ok(words) = lane.sorted.recv() else {
                // The worker has panicked, and so will this thread when the scope ends.
                break;
            };
            let words = words?;
            load(bucket, &words)?;
            // Its memory is used again, if anybody is left to do so.
            let _ = lane.done.send(words);
        }
        Ok(())
    })
}

/// What a sorter of buckets needs.
struct Sorter<'p, W> {
    plan: Plan,
    partitions: &'p [Partition<W>],
    spare: Vec<W>,
}

impl<'p, W: Word> Sorter<'p, W> {
    fn new(plan: Plan, partitions: &'p [Partition<W>]) -> Self {
        Sorter {
            plan,
            partitions,
            spare: Vec::new(),
        }
    }

    /// Puts the sorted words of a bucket in place of `words`.
    fn sort(&mut self, bucket: usize, words: &mut Vec<W>) -> Result<(), Error> {
        let len = self.partitions.iter().map(|part| part.len(bucket)).sum();
        for words in [&mut *words, &mut self.spare] {
            words.clear();
            words.try_reserve(len).map_err(|_| {
                Error::geometry(format!("{len} hashes to sort do not fit in memory"))
            })?;
        }
        for partition in self.partitions {
            partition.gather(bucket, words);
        }
        sort(words, &mut self.spare, self.plan.shift);
        Ok(())
    }
}

/// The pouring thread's end of the way to a worker.
struct Lane<W> {
    sorted: Receiver<Result<Vec<W>, Error>>,
    done: Sender<Vec<W>>,
}

/// The worker's end.
struct LaneEnd<W> {
    sorted: SyncSender<Result<Vec<W>, Error>>,
    done: Receiver<Vec<W>>,
}

/// A worker is at most two buckets ahead.
fn lane<W>() -> (Lane<W>, LaneEnd<W>) {
    let (send_sorted, sorted) = sync_channel(1);
    let (done, receive_done) = channel();
    let end = LaneEnd {
        sorted: send_sorted,
        done: receive_done,
    };
    (Lane { sorted, done }, end)
}

impl<W: Word> LaneEnd<W> {
    fn work(self, mut sorter: Sorter<'_, W>, buckets: impl Iterator<Item = usize>) {
        for bucket in buckets {
            let mut words = self.done.try_recv().unwrap_or_default();
            let sorted = sorter.sort(bucket, &mut words).map(|()| words);
            if self.sorted.send(sorted).is_err() {
                // The other end is gone: loading has failed.
                return;
            }
        }
    }
}
