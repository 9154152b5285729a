//! The step in which a filter's file is opened where it lies.
//!
//! The file is that of the filled filter, with all that it has adapted to. It has just been
//! written and is opened once before the clock starts: as much of it is in the caches as
//! fits, and none of its pages is touched for the first time.
//!
//! An opening takes microseconds or milliseconds, so a round has many of them. Its figure is
//! their median: all do the very same, and what differs is what else the machine does.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::measure::{Record, Setting};
use crate::experiments::outcome::median;
use crate::filters::{Contender, Operation, Trust};

/// Bytes to verify between two looks at the clock, which takes some time itself.
const STRETCH_BYTES: usize = 1 << 20;

/// Bytes to verify in a round, and the least number of stretches.
const ROUND_BYTES: usize = 1 << 25;
const MIN_STRETCHES: usize = 3;

/// The same for openings on trust, which take the same time at any size.
const TRUSTED_STRETCH: usize = 100;
const TRUSTED_STRETCHES: usize = 100;

pub(super) fn load(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let (file, items) = (filter.to_file()?, setting.workload.members());
    ensure!(
        filter.open(&file, Trust::Nothing)? == items,
        "the file has not all members"
    );
    // The median of so many stretches, each of so many openings.
    let time = |trust, stretches: usize, openings: usize| -> Result<f64> {
        let stretch = || -> Result<f64> {
            let start = Instant::now();
            for _ in 0..openings {
                filter.open(&file, trust)?;
            }
            Ok(start.elapsed().as_nanos() as f64 / openings as f64)
        };
        let times: Vec<f64> = (0..stretches).map(|_| stretch()).collect::<Result<_>>()?;
        Ok(median(times))
    };
    let openings = (STRETCH_BYTES / file.len()).max(1);
    let stretches = (ROUND_BYTES / (openings * file.len())).max(MIN_STRETCHES);
    let verified = time(Trust::Nothing, stretches, openings)?;
    let trusted = time(Trust::Table, TRUSTED_STRETCHES, TRUSTED_STRETCH)?;

    record.time(Operation::LoadFile, verified / items as f64);
    record.note("GB/s verified", file.len() as f64 / verified);
    record.note("opened on trust", trusted);
    Ok(())
}
