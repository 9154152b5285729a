//! The steps in which many keys go into one call.
//!
//! The keys, and the chunks that they come in, are those of the steps with one key a call; so
//! is the clock.

use anyhow::{Result, ensure};

use super::bulk::check_filled;
use super::filters::Contender;
use super::measure::{Record, Sample, Setting};
use super::operation::Operation;
use super::workload::{CHUNK, time};

/// Fills another filter.
pub(super) fn insert(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let workload = &setting.workload;
    let mut fresh = (record.entry.build)(workload)?;
    let inserted = time(
        0..workload.members(),
        |i| workload.member(i),
        |keys| fresh.insert_batch(keys),
    )?;
    check_filled(fresh.as_ref(), filter, setting)?;
    record.add(Operation::InsertBatch, Sample::new(inserted.ns_per_op()));
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

    let alone = record.samples(Operation::QueryMiss).last();
    ensure!(
        alone.is_none_or(|alone| alone.false_positives == Some(misses.count)),
        "asked in batches, {} strangers were taken for members; asked alone, {alone:?}",
        misses.count
    );
    record.add(Operation::QueryHitBatch, Sample::new(hits.ns_per_op()));
    let miss = Sample {
        false_positives: Some(misses.count),
        ..Sample::new(misses.ns_per_op())
    };
    record.add(Operation::QueryMissBatch, miss);
    Ok(())
}
