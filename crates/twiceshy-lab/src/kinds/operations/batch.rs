//! The steps in which many keys go into one call.
//!
//! The keys, and the chunks that they come in, are those of the steps with one key a call; so
//! is the clock.

use anyhow::{Result, ensure};

use super::bulk::check_filled;
use super::measure::{Record, Setting};
use crate::filters::{Contender, Operation};
use crate::timed::{CHUNK, time};

/// Fills another filter.
pub(super) fn insert(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let workload = &setting.workload;
    let mut fresh = record.entry.contender(workload)?;
    let inserted = time(
        0..workload.members(),
        |i| workload.member(i),
        |keys| fresh.insert_batch(keys),
    )?;
    check_filled(fresh.as_ref(), filter, setting)?;
    record.time(Operation::InsertBatch, inserted.ns_per_op());
    Ok(())
}

pub(super) fn query(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let workload = &setting.workload;
    let (cold, end) = (workload.warm_up(), workload.queries());
    let hit = |i| workload.random_member(i);
    let miss = |i| workload.stranger(i);
    let mut found = Vec::with_capacity(CHUNK);
    let mut ask = |keys: &[u64]| filter.contains_batch(keys, &mut found);

    time(end..end + cold, hit, &mut ask)?;
    let hits = time(0..end, hit, &mut ask)?;
    ensure!(
        hits.count == end,
        "{} of {end} queries for members were answered \"no\"",
        end - hits.count
    );
    let misses = time(0..end, miss, &mut ask)?;

    ensure!(
        record.alone.is_none_or(|alone| alone == misses.count),
        "asked in batches, {} strangers were taken for members; asked alone, {:?}",
        misses.count,
        record.alone
    );
    record.time(Operation::QueryHitBatch, hits.ns_per_op());
    record.asked(Operation::QueryMissBatch, &misses);
    Ok(())
}
