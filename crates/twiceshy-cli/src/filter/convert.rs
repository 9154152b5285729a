//! `twiceshy filter convert`: another kind or size, without the keys.

use std::path::PathBuf;

use anyhow::bail;
use twiceshy::Error;
use twiceshy::file::FilterKind;

use super::kind::KindArg;
use super::report::{self, Source};
use crate::exit::{Outcome, Status};
use crate::files;
use crate::shell::Shell;

/// Change the kind or the size of a filter, without its keys
///
/// From plain, counting and adaptive to any of the quotient family (plain, counting, adaptive,
/// telescoping, plain-telescoping, extension), and from bloom to retouched-bloom; plain, counting
/// and adaptive filters can be doubled and halved. What the new kind can't say is lost:
/// counts, values, and what was learnt. Everything else takes the keys: `filter build`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter file
    filter: PathBuf,
    /// The filter file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// The kind that it shall be
    #[arg(long, value_enum)]
    kind: Option<KindArg>,
    /// Double the slots so often, for more keys at the same seed; each takes a remainder bit
    #[arg(long, value_name = "TIMES", conflicts_with = "halve")]
    double: Option<u32>,
    /// Halve the slots so often; their number must be even
    #[arg(long, value_name = "TIMES")]
    halve: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy filter convert counted.filter --kind plain --out plain.filter
  twiceshy filter convert full.filter --double 1 --out roomy.filter";

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    if (args.kind, args.double, args.halve) == (None, None, None) {
        bail!("nothing to do; say `--kind`, `--double` or `--halve`");
    }
    let mut filter = super::open(&args.filter)?;
    let from = filter.info().kind;
    let kind = args.kind.map_or(from, FilterKind::from);
    let explain = |error: Error| match error {
        Error::Geometry { reason } => anyhow::anyhow!("{reason} (`twiceshy filter build`)"),
        Error::Full { .. } => {
            anyhow::anyhow!("there is too much in it for fewer slots; leave out `--halve`")
        }
        other => other.into(),
    };
    if kind != from {
        filter = filter.convert(kind).map_err(explain)?;
    }
    for _ in 0..args.double.unwrap_or(0) {
        filter = filter.doubled().map_err(explain)?;
    }
    for _ in 0..args.halve.unwrap_or(0) {
        filter = filter.halved().map_err(explain)?;
    }
    files::replace(&args.out, |file| filter.write_to(file))?;
    report::print(&args.out, Source::Filter, &filter, shell)?;
    Ok(Status::Success)
}
