//! The steps in which a filter is built from all its keys at once.
//!
//! The clock runs from a slice of keys to a filter that can be asked: hashing, sorting, and
//! the table's memory are all in. The keys themselves, and their order where one is wanted,
//! are made before. A merge starts from two filters that are there, and includes the memory
//! of the result; what it was made from goes after the clock has stopped.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};

use super::measure::{Record, Setting};
use crate::filters::{Contender, Operation, Order};
use crate::timed::time;

pub(super) fn any_order(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let ns = load(filter, setting, setting.members(), Order::Any)?;
    record.time(Operation::BulkLoad, ns);
    Ok(())
}

pub(super) fn hash_order(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let keys = record.in_hash_order.get_or_init(|| {
        let mut keys = setting.members().to_vec();
        filter.sort_by_hash(&mut keys);
        keys
    });
    let ns = load(filter, setting, keys, Order::ByHash)?;
    record.time(Operation::BulkLoadSorted, ns);
    Ok(())
}

fn load(filter: &dyn Contender, setting: &Setting, keys: &[u64], order: Order) -> Result<f64> {
    let start = Instant::now();
    let loaded = black_box(filter.bulk_load(black_box(keys), order)?);
    let elapsed = start.elapsed();
    check_filled(loaded.as_ref(), filter, setting)?;
    Ok(elapsed.as_nanos() as f64 / keys.len() as f64)
}

pub(super) fn merge(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let keys = setting.members();
    let mut merge = filter.to_merge(keys.split_at(keys.len() / 2).into())?;
    let start = Instant::now();
    let merged = black_box(merge()?);
    let elapsed = start.elapsed();
    check_filled(merged.as_ref(), filter, setting)?;
    let ns = elapsed.as_nanos() as f64 / keys.len() as f64;
    record.time(Operation::Merge, ns);
    Ok(())
}

/// Is it as large as `filter`, and has it the same members?
pub(super) fn check_filled(
    other: &dyn Contender,
    filter: &dyn Contender,
    setting: &Setting,
) -> Result<()> {
    let workload = &setting.workload;
    ensure!(
        other.bytes() == filter.bytes(),
        "it is not as large as the filter that was filled one by one"
    );
    let hit = |i| workload.random_member(i);
    let hits = time(0..workload.warm_up(), hit, |keys| {
        Ok(other.contains_all(keys))
    })?;
    ensure!(hits.count == workload.warm_up(), "a member was lost");
    Ok(())
}
