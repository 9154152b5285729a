//! Operations of bare filters, in turns: what `compare` measures.
//!
//! | panel | figures |
//! | --- | --- |
//! | an [operation](Operation) | millions a second |
//! | `O ns` | nanoseconds an operation |
//! | `O rate` | the share of the strangers that were taken for members, where `O` asks for some |
//! | `space` | bits a key of the filled filter |
//! | `zipf bits`, `zipf_again bits` | bits a key that learning took |
//! | `zipf distinct` | different strangers that were taken for members before anything was learnt |
//! | `GB/s verified`, `opened on trust` | of the file; nanoseconds to open it without verification |
//!
//! Places are log₂ of the slots; each round is a sample. Series are the filters, of which each does what it
//! can.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`measure`] | rounds, and what a filter does in one |
//! | [`learning`] | what it does in one if it can learn |
//! | [`batch`] | what it does with many keys in a call |
//! | [`bulk`] | what it does to be built at once, from keys or from two others |
//! | [`mod@file`] | how its file is opened |
//! | [`zipf`] | keys of different popularity |

mod batch;
mod bulk;
mod file;
pub(crate) mod learning;
pub(crate) mod measure;
pub(crate) mod zipf;

use anyhow::Result;
use serde::Deserialize;

use crate::experiments::bench::Bench;
use crate::filters::Operation;
use crate::timed::Workload;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// One place each.
    log2_slots: Vec<u32>,
    load: f64,
    #[serde(default)]
    adapted: f64,
    operations: Vec<Operation>,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let entries = bench.filters()?;
    let (rounds, sizes) = (bench.rounds(), parameters.log2_slots.len());
    let operations = with_others(bench, parameters.operations);
    for (i, &log2_slots) in parameters.log2_slots.iter().enumerate() {
        let workload = Workload {
            log2_slots,
            load: parameters.load,
            adapted: parameters.adapted,
            seed: bench.seed(),
        };
        let x = f64::from(log2_slots);
        let mut hear = |filter: &'static str, what: &str, figure: f64, done: f64| {
            match Operation::by_name(what) {
                Some(_) => {
                    bench.note(&format!("{what} ns"), filter, x, figure);
                    bench.note(what, filter, x, 1e3 / figure);
                }
                None => bench.note(what, filter, x, figure),
            }
            bench.progress((i as f64 + done) / sizes as f64);
        };
        measure::measure(&workload, rounds, &entries, &operations, &mut hear)?;
    }
    Ok(())
}

/// These operations and those that their panels are compared with.
fn with_others(bench: &Bench<'_>, operations: Vec<Operation>) -> Vec<Operation> {
    let others = operations.iter().filter_map(|operation| {
        let panel = bench.experiment.panel(&format!("{operation} ns"))?;
        Operation::by_name(panel.by_panel.as_ref()?.strip_suffix(" ns")?)
    });
    let others: Vec<Operation> = others.collect();
    [operations, others].concat()
}
