//! A store in front of a real database: what [`store`](crate::store) measures, sample by sample.
//!
//! The declaration's `workloads` are parts of that measurement, beside the filling of the stores,
//! which always happens. Panels:
//!
//! | panel | places | figures |
//! | --- | --- | --- |
//! | `inserts` | engines | a second, from empty to 90% |
//! | `operations` | what is asked of the engine | for each insert |
//! | `misses` | engines | lookups of strangers a second |
//! | `threads` | engines | lookups a second |
//! | each cache of the adversary's | percent of hostile lookups | lookups a second |
//! | the same, `reads` | | engine reads per lookup |

use std::fs;

use anyhow::Result;
use serde::Deserialize;

use super::super::bench::Bench;
use super::super::result::X;
use crate::store::adversary::{ADVERSARY, READS};
use crate::store::book::Name;
use crate::store::data::Data;
use crate::store::inserts::{INSERTS, OPERATIONS};
use crate::store::misses::{MISSES, THREADS};
use crate::store::record::{Part, record};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    keys: u64,
    value_bytes: usize,
    engines: Vec<String>,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let names = bench.experiment.workloads.iter();
    let parts: Vec<Part> = names
        .map(|name| Part::by_name(name))
        .collect::<Result<_>>()?;
    let data = Data {
        keys: parameters.keys,
        value_bytes: parameters.value_bytes,
    };
    for (i, engine) in parameters.engines.iter().enumerate() {
        let rounds = u32::try_from(bench.rounds())?;
        let root = bench.scratch.join(engine);
        fs::create_dir_all(&root)?;
        let book = record(engine, data, rounds, &parts, &root)?;
        for (name, samples) in book.samples() {
            let Some((panel, x, unit)) = place(name) else {
                continue;
            };
            for &sample in samples {
                let figure = match unit {
                    Unit::AsItIs => sample,
                    Unit::PerSecond => 1e9 / sample,
                };
                bench.note(&panel, subject(name), x.clone(), figure);
            }
        }
        fs::remove_dir_all(&root)?;
        bench.step(i + 1, parameters.engines.len());
    }
    Ok(())
}

/// What a figure is turned into.
enum Unit {
    AsItIs,
    /// It is in nanoseconds.
    PerSecond,
}

/// Where a figure of the store's measurement belongs, if it does.
fn place(name: &Name) -> Option<(String, X, Unit)> {
    let engine = X::from(name.engine);
    let setting = &*name.setting;
    match name.experiment {
        INSERTS if setting == "batches of 1000, 0 to 90% load" => {
            Some(("inserts".to_owned(), engine, Unit::AsItIs))
        }
        OPERATIONS => Some(("operations".to_owned(), setting.into(), Unit::AsItIs)),
        MISSES if setting.is_empty() => Some(("misses".to_owned(), engine, Unit::PerSecond)),
        THREADS => Some(("threads".to_owned(), engine, Unit::AsItIs)),
        ADVERSARY | READS => {
            // `cache of 1% of the data, 10% hostile`
            let (cache, share) = setting.rsplit_once(", ")?;
            let share: f64 = share.split_once('%')?.0.parse().ok()?;
            let panel = match name.experiment {
                ADVERSARY => cache.to_owned(),
                _ => format!("{cache}, reads"),
            };
            Some((panel, share.into(), Unit::AsItIs))
        }
        _ => None,
    }
}

/// The names that these have in the other experiments.
fn subject(name: &Name) -> &'static str {
    match name.subject {
        "plain" => "quotient",
        subject => subject,
    }
}
