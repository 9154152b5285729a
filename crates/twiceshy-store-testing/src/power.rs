//! A disk that loses its power.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;
use twiceshy_testing::Source;

use crate::cut::{Cut, Fate, Survivors};

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

/// A disk in memory for [`Redb::with_backend`](twiceshy_store::engine::Redb::with_backend) that keeps
/// for sure only what was synced.
///
/// Every write, change of length and sync is one operation of its [`Cut`]; reads are not
/// counted, but fail as well when the power is off: arm it with [`Cut::from`]. Clones are
/// handles of the same disk.
///
/// ```
/// use twiceshy_store_testing::{Cut, PowerLoss, Survivors};
/// use twiceshy_store::engine::{Engine, Redb};
///
/// let cut = Cut::new();
/// let disk = PowerLoss::new(cut.clone());
/// let engine = Redb::with_backend(disk.clone())?;
/// cut.from(0);
/// assert!(engine.sync().is_err());
/// drop(engine);
///
/// cut.never();
/// let engine = Redb::with_backend(disk.restart(Survivors::Some { seed: 1 }))?;
/// assert!(engine.sync().is_ok());
/// # Ok::<(), twiceshy_store::EngineError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PowerLoss {
    cut: Cut,
    disk: Arc<Mutex<Disk>>,
}

#[derive(Debug, Default)]
struct Disk {
    /// What the database sees.
    now: Vec<u8>,
    /// What is safe.
    synced: Vec<u8>,
    /// How to get from the one to the other.
    since: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    SetLen(usize),
    Write(usize, Vec<u8>),
}

impl Step {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Step::SetLen(len) => bytes.resize(*len, 0),
            Step::Write(at, data) => {
                let end = at + data.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[*at..end].copy_from_slice(data);
            }
        }
    }

    /// Half of the sectors, in no order.
    fn apply_some(&self, bytes: &mut Vec<u8>, heads: &mut impl FnMut() -> bool) {
        let Step::Write(at, data) = self else {
            // File systems change lengths in order, in their journals.
            return self.apply(bytes);
        };
        let mut at = *at;
        let mut data = &data[..];
        while !data.is_empty() {
            let (sector, rest) = data.split_at(data.len().min(SECTOR - at % SECTOR));
            if heads() {
                Step::Write(at, sector.to_vec()).apply(bytes);
            }
            at += sector.len();
            data = rest;
        }
    }
}

impl PowerLoss {
    /// An empty disk.
    #[must_use]
    pub fn new(cut: Cut) -> Self {
        PowerLoss {
            cut,
            disk: Arc::default(),
        }
    }

    /// The disk as it comes up again, with the same [`Cut`], which is to be set anew.
    #[must_use]
    pub fn restart(&self, survivors: Survivors) -> PowerLoss {
        let disk = self.disk();
        let mut bytes = disk.synced.clone();
        match survivors {
            Survivors::None => {}
            Survivors::All => disk.since.iter().for_each(|step| step.apply(&mut bytes)),
            Survivors::Some { seed } => {
                let mut source = Source::from_seed(seed);
                let mut heads = || source.one_in(2).expect("a seed never ends");
                for step in &disk.since {
                    step.apply_some(&mut bytes, &mut heads);
                }
            }
        }
        let disk = Disk {
            now: bytes.clone(),
            synced: bytes,
            since: Vec::new(),
        };
        PowerLoss {
            cut: self.cut.clone(),
            disk: Arc::new(Mutex::new(disk)),
        }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step that is cut off is under way: it may survive.
    fn step(&self, step: Step) -> io::Result<()> {
        let fate = self.cut.count();
        if fate != Fate::Off {
            let mut disk = self.disk();
            step.apply(&mut disk.now);
            disk.since.push(step);
        }
        (fate == Fate::Passes).then_some(()).ok_or_else(off)
    }
}

fn off() -> io::Error {
    io::Error::other("the power is off")
}

fn size(bytes: u64) -> io::Result<usize> {
    usize::try_from(bytes).map_err(io::Error::other)
}

impl StorageBackend for PowerLoss {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if self.cut.is_off() {
            return Err(off());
        }
        let at = size(offset)?;
        let disk = self.disk();
        let bytes = disk.now.get(at..).and_then(|rest| rest.get(..out.len()));
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.step(Step::SetLen(size(len)?))
    }

    fn sync_data(&self) -> io::Result<()> {
        if !self.cut.passes() {
            return Err(off());
        }
        let mut disk = self.disk();
        let Disk { synced, since, .. } = &mut *disk;
        for step in since.drain(..) {
            step.apply(synced);
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.step(Step::Write(size(offset)?, data.to_vec()))
    }
}
