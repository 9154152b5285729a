//! The steps in which a filter is built from all its keys at once.
//!
//! The clock runs from a slice of keys to a filter that can be asked: hashing, sorting, and
//! the table's memory are all in. The keys themselves, and their order where one is wanted,
//! are made before.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};

use super::filters::{Contender, Order};
use super::measure::{Record, Sample, Setting};
use super::operation::Operation;
use super::workload::time;

pub(super) fn any_order(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let sample = load(filter, setting, setting.members(), Order::Any)?;
    record.add(Operation::BulkLoad, sample);
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
    let sample = load(filter, setting, keys, Order::ByHash)?;
    record.add(Operation::BulkLoadSorted, sample);
    Ok(())
}

fn load(filter: &dyn Contender, setting: &Setting, keys: &[u64], order: Order) -> Result<Sample> {
    let start = Instant::now();
    let loaded = black_box(filter.bulk_load(black_box(keys), order)?);
    let elapsed = start.elapsed();

    let workload = &setting.workload;
    ensure!(
        loaded.bytes() == filter.bytes(),
        "the loaded filter is not as large as the filled one"
    );
    let hit = |i| workload.random_member(i);
    let hits = time(0..workload.warm_up(), hit, |keys| {
        Ok(loaded.contains_all(keys))
    })?;
    ensure!(hits.count == workload.warm_up(), "a member was lost");
    Ok(Sample::new(elapsed.as_nanos() as f64 / keys.len() as f64))
}
