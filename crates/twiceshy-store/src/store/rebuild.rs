//! The filter from the records, in one scan of the engine, with all that its last file still knows.

use std::ops::ControlFlow;

use twiceshy::AdaptiveFilter;
use twiceshy::hash::Sip13;

use super::load::Generations;
use crate::engine::Engine;
use crate::error::Error;
use crate::filter::Filter;
use crate::generation::{Generation, Place, Plan, rest_of};
use crate::hash_order;
use crate::image::{GenerationImage, Image};
use crate::meta::{Meta, Series};
use crate::options::{Options, Progress};

/// The filter of all records that the engine has.
pub(super) fn rebuild(
    engine: &impl Engine,
    options: &Options,
    meta: &Meta,
    image: Option<&Image<'_>>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Generations, Error> {
    let mut records = 0;
    let mut build = |series: &Series| {
        let plan = options.plan(series);
        let image = image.and_then(|image| image.of(series));
        let image =
            image.filter(|image| image.measures == plan.measures && image.bits == plan.bits);
        let shard = |place, ()| build_shard(engine, &plan, image, place);
        let mut shards = 0_u32;
        let built = |count| {
            records += count;
            shards += 1;
            progress(Progress {
                records,
                done: f64::from(shards) / f64::from(1_u32 << plan.bits),
            });
        };
        Generation::build(&plan, |_| Ok::<_, Error>(()), shard, built)
    };
    let current = build(&meta.current)?;
    let next = match &meta.next {
        Some((series, frontier)) => Some((build(series)?, *frontier)),
        None => None,
    };
    tracing::info!(records, "the filter was built from the records");
    Ok((current, next))
}

/// The filter of a shard and how many records it stands for.
fn build_shard(
    engine: &impl Engine,
    plan: &Plan,
    image: Option<&GenerationImage<'_>>,
    place: Place,
) -> Result<(Filter, u64), Error> {
    let snapshot = engine.snapshot()?;
    let (table, measures) = (plan.table, &plan.measures);
    if let Some(old) = image.and_then(|image| learnt(image, place)) {
        let keys = hash_order::keys(&snapshot, table, &place.all())?;
        let count = keys.len() as u64;
        let rest = |key| rest_of(&measures.seed, place.bits, key);
        let hashed = || keys.iter().map(|key| rest(key));
        let filter = Filter::from_learnt(&old, measures, plan.slots(), count, hashed)?;
        return Ok((filter, count));
    }
    let mut rests = Vec::new();
    hash_order::scan(&snapshot, table, &place.all(), |h0, _, _| {
        rests.push(place.rest(h0));
        ControlFlow::Continue(())
    })?;
    Ok(plan.filter(&rests)?)
}

/// What an older image knows of a shard.
fn learnt(image: &GenerationImage<'_>, place: Place) -> Option<AdaptiveFilter<Sip13>> {
    // A growing filter's larger half has learnt later, but does not have all keys yet.
    match Filter::from_bytes(&image.measures, image.shard(place).filter) {
        Ok(Filter::Adaptive(filter)) => Some(filter),
        _ => None,
    }
}
