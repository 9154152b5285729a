//! The filter from its file.

use super::checkpoint::NO_EPOCH;
use crate::filter::Filter;
use crate::generation::{Generation, Place};
use crate::image::{GenerationImage, Image};
use crate::meta::{Meta, Series};
use crate::options::Options;

/// The generation that lookups start with, and the one that records move to, with the hash below
/// which they have.
pub(super) type Generations = (Generation, Option<(Generation, u128)>);

/// The filter of an image, if it is of the state that the engine is in and of the kind that is
/// wanted.
pub(super) fn load(image: &Image<'_>, meta: &Meta, options: &Options) -> Option<Generations> {
    if image.epoch == NO_EPOCH || meta.checkpoint != Some(image.epoch) {
        return None;
    }
    let find = |series: &Series, moved: u128| {
        let result = load_generation(image.of(series)?, options, moved);
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
    let plan = options.plan(&image.series());
    let measures = plan.measures;
    if image.measures != measures || image.bits != plan.bits {
        return Ok(None);
    }
    let nothing = |_| Ok(());
    let filter = |place: Place, ()| -> Result<_, twiceshy::Error> {
        let shard = image.shard(place);
        // A shard that all records have left has no filter any more.
        if moved > u128::from(*place.all().end()) {
            return Ok((Filter::None, shard.records));
        }
        let filter = Filter::from_bytes(&measures, shard.filter)?;
        Ok((filter, shard.records))
    };
    let generation: Result<_, twiceshy::Error> = Generation::build(&plan, nothing, filter, |_| ());
    let generation = generation?;
    for (shard, image) in generation.shards().iter().zip(&image.shards) {
        if let Some((frontier, filter)) = image.growth {
            shard.restore_growth(frontier, Filter::from_bytes(&measures, filter)?);
        }
    }
    Ok(Some(generation))
}
