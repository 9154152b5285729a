//! What a store knows of itself, in the engine's table [`Meta`](Table::Meta).
//!
//! | entry | bytes | |
//! | --- | --- | --- |
//! | `format` | version `u16`, layout `u8` | |
//! | `id` | 16 | names this store, so that no other's files are taken for its own |
//! | `current` | table `u8`, seed 16 | the generation that holds the records |
//! | `next` | table `u8`, seed 16, frontier `u128` | the one that they move to, and how far they are; missing while they don't |
//! | `checkpoint` | epoch `u64` | which filter file is of this very state; missing if none is |
//!
//! Little-endian. The first commit after a checkpoint deletes `checkpoint` in the same
//! transaction.

use twiceshy::hash::Seed;

use crate::engine::{Changes, EngineError, Snapshot, Table};
use crate::error::Error;

/// The number of the format that this version writes.
pub(crate) const VERSION: u16 = 1;

const FORMAT: &[u8] = b"format";
const ID: &[u8] = b"id";
const CURRENT: &[u8] = b"current";
const NEXT: &[u8] = b"next";
const CHECKPOINT: &[u8] = b"checkpoint";

/// A generation, as the engine knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Series {
    pub(crate) table: Table,
    pub(crate) seed: Seed,
}

/// All of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) id: [u8; 16],
    pub(crate) current: Series,
    /// Where records move, and the hash below which they have.
    pub(crate) next: Option<(Series, u128)>,
    pub(crate) checkpoint: Option<u64>,
}

impl Meta {
    /// What the engine says; `None` if there is no store in it yet.
    pub(crate) fn read(
        snapshot: &impl Snapshot,
        layout: u8,
        layout_name: &str,
    ) -> Result<Option<Self>, Error> {
        let get = |key| snapshot.get(Table::Meta, key, <[u8]>::to_vec);
        let Some(format) = get(FORMAT)? else {
            return Ok(None);
        };
        let [low, high, stored] = format[..] else {
            return Err(Error::foreign("its entry `format` has an unknown form"));
        };
        let version = u16::from_le_bytes([low, high]);
        if version != VERSION {
            return Err(Error::foreign(format!(
                "it has format {version}, and this version knows {VERSION} only; open it with the \
                 version that wrote it"
            )));
        }
        if stored != layout {
            return Err(Error::foreign(format!(
                "it does not have the {layout_name} layout; open it with the other one \
                 (`Merged` or `Split`)"
            )));
        }
        let missing = |what: &str| Error::foreign(format!("its entry `{what}` is missing or odd"));
        let id = get(ID)?
            .and_then(|id| id.try_into().ok())
            .ok_or_else(|| missing("id"))?;
        let current = get(CURRENT)?
            .and_then(|bytes| {
                decode_series(&bytes)
                    .filter(|(_, rest)| rest.is_empty())
                    .map(|(series, _)| series)
            })
            .ok_or_else(|| missing("current"))?;
        let next = match get(NEXT)? {
            None => None,
            Some(bytes) => Some(decode_next(&bytes).ok_or_else(|| missing("next"))?),
        };
        let checkpoint = match get(CHECKPOINT)? {
            None => None,
            Some(bytes) => {
                let bytes = bytes.try_into().map_err(|_| missing("checkpoint"))?;
                Some(u64::from_le_bytes(bytes))
            }
        };
        Ok(Some(Meta {
            id,
            current,
            next,
            checkpoint,
        }))
    }

    /// What makes an engine a store.
    pub(crate) fn create(&self, layout: u8) -> Changes {
        let mut changes = Changes::new();
        let [low, high] = VERSION.to_le_bytes();
        changes.put(Table::Meta, FORMAT, [low, high, layout]);
        changes.put(Table::Meta, ID, self.id);
        set_current(&mut changes, &self.current);
        changes
    }
}

/// Is there anything in the engine that is not ours?
pub(crate) fn is_in_use(snapshot: &impl Snapshot) -> Result<bool, EngineError> {
    use std::ops::{Bound::Unbounded, ControlFlow::Break};
    let mut found = false;
    for table in Table::ALL {
        snapshot.range(table, (Unbounded, Unbounded), |_, _| {
            found = true;
            Break(())
        })?;
    }
    Ok(found)
}

pub(crate) fn set_current(changes: &mut Changes, series: &Series) {
    changes.put(Table::Meta, CURRENT, encode_series(series));
}

pub(crate) fn set_next(changes: &mut Changes, series: &Series, frontier: u128) {
    let mut bytes = encode_series(series);
    bytes.extend_from_slice(&frontier.to_le_bytes());
    changes.put(Table::Meta, NEXT, bytes);
}

pub(crate) fn clear_next(changes: &mut Changes) {
    changes.delete(Table::Meta, NEXT);
}

pub(crate) fn set_checkpoint(changes: &mut Changes, epoch: u64) {
    changes.put(Table::Meta, CHECKPOINT, epoch.to_le_bytes());
}

pub(crate) fn clear_checkpoint(changes: &mut Changes) {
    changes.delete(Table::Meta, CHECKPOINT);
}

fn encode_series(series: &Series) -> Vec<u8> {
    let mut bytes = vec![series.table.index() as u8];
    bytes.extend_from_slice(&series.seed.to_bytes());
    bytes
}

fn decode_series(bytes: &[u8]) -> Option<(Series, &[u8])> {
    let (table, bytes) = bytes.split_first()?;
    let table = *Table::ALL.get(usize::from(*table))?;
    let (seed, rest) = bytes.split_first_chunk()?;
    let seed = Seed::from_bytes(*seed);
    Some((Series { table, seed }, rest))
}

fn decode_next(bytes: &[u8]) -> Option<(Series, u128)> {
    let (series, rest) = decode_series(bytes)?;
    Some((series, u128::from_le_bytes(rest.try_into().ok()?)))
}
