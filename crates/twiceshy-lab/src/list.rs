//! `list`: what can be run.

use anyhow::Result;
use twiceshy_report::Table;

use crate::declared::Declared;
use crate::experiments::spec::Scale;
use crate::{filters, kinds, workloads};

/// List the experiments
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The filters, the workloads, and the ways to measure, too
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
        let mut table = Table::new(["filter", "timed", "about"]).words(1).words(2);
        for entry in filters::ALL {
            let is_timed = if entry.is_timed() { "yes" } else { "" };
            table.row([entry.name, is_timed, entry.about]);
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
