//! `list`: what can be run.

use anyhow::Result;
use twiceshy_report::Table;

use super::spec::Scale;
use super::{Declared, kinds};
use crate::{sets, workloads};

/// List the experiments
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The filters with their keys, the workloads, and the ways to measure, too
    #[arg(long)]
    parts: bool,

    #[command(flatten)]
    declared: Declared,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut table = Table::new(["name", "of", "small takes", "claims", "title"])
        .words(1)
        .words(4);
    for experiment in args.declared.all()? {
        let seconds = experiment.size(Scale::Small)?.seconds;
        table.row([
            experiment.name.clone(),
            format!("{}, {}", experiment.paper, experiment.item),
            format!("{seconds:.0} s"),
            experiment.claims.len().to_string(),
            experiment.title.clone(),
        ]);
    }
    print!("{table}");
    if args.parts {
        let mut table = Table::new(["filter", "about"]).words(1);
        for entry in sets::ALL {
            table.row([entry.name, entry.about]);
        }
        print!("\n{table}");
        let mut table = Table::new(["workload", "asks"]).words(1);
        for entry in workloads::ALL {
            table.row([entry.to_string(), entry.about.to_owned()]);
        }
        print!("\n{table}");
        let mut table = Table::new(["kind", "measures"]).words(1);
        for kind in kinds::ALL {
            table.row([kind.name, kind.about]);
        }
        print!("\n{table}");
    }
    Ok(())
}
