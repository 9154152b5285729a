//! `twiceshy filter build`: a filter of keys.
//!
//! In two passes, so that memory is the filter's and no more: the first counts keys, the second
//! inserts them. A stream is copied to a temporary file for that, unless `--capacity` says how
//! many there are.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::Serialize;
use twiceshy::Error;
use twiceshy::any::AnyFilter;
use twiceshy::file::FilterKind;
use twiceshy::hash::{HashKind, Seed};

use super::kind::KindArg;
use super::recent::Recent;
use super::spool::Spool;
use super::weighted;
use crate::exit::{OrHint, Outcome, Status};
use crate::files;
use crate::keys::{Format, FormatArgs, HashArg, Input, Lines};
use crate::numbers::{bytes, count, one_in};
use crate::shell::Shell;

/// Build a filter of keys, one a line
///
/// Reads the input twice, to count the keys and to insert them, so that it takes no more
/// memory than the filter; a stream is copied to a temporary file for that. Copies of a key are left out where they come close together,
/// but counted by a counting filter.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The kind of filter [default: plain]
    #[arg(long, value_enum, hide_default_value = true)]
    kind: Option<KindArg>,
    /// The highest share of other keys that are answered "maybe" [default: 0.01]
    #[arg(long, value_name = "P", value_parser = crate::keys::rate)]
    fpr: Option<f64>,
    /// Where keys are read from; `-` is standard input
    #[arg(long, short, default_value = "-", value_name = "FILE")]
    input: PathBuf,
    /// The filter file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Room for so many keys, whatever the input has: it is then read only once
    #[arg(long, value_name = "N")]
    capacity: Option<u64>,
    /// The hash [default: sip13]
    #[arg(long, value_enum)]
    hash: Option<HashArg>,
    /// Makes the same file every time; random if not given, so that nobody can prepare keys
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Take kind, hash, seed and size from this filter, so that the two can be merged
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "capacity", "hash"])]
    like: Option<PathBuf>,
    /// Keys that are asked for most, which get more hashes (weighted-bloom)
    #[arg(long, value_name = "FILE")]
    popular: Option<PathBuf>,
    /// The share of the questions that are for such keys (weighted-bloom)
    #[arg(long, default_value_t = 0.9, value_name = "SHARE", value_parser = crate::keys::rate)]
    popular_share: f64,
    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy filter build --kind plain --fpr 0.001 --input words.txt --out words.filter
  cut -f1 access.log | twiceshy filter build --kind counting --capacity 1000000 --out ips.filter
  twiceshy filter build --kind weighted-bloom --popular top.txt --input rest.txt --out w.filter
  twiceshy filter build --like monday.filter --input tuesday.txt --out tuesday.filter";

#[derive(Serialize)]
struct Report {
    out: String,
    kind: String,
    hash: String,
    keys: u64,
    items: u64,
    slots: u64,
    remainder_bits: u32,
    load: f64,
    bytes: u64,
    bits_per_item: Option<f64>,
    expected_fpr: f64,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let is_weighted = args.like.is_none() && kind(args) == FilterKind::WeightedBloom;
    if args.popular.is_some() && !is_weighted {
        bail!("only `--kind weighted-bloom` takes `--popular`; all keys are alike to the others");
    }
    let (filter, keys) = match is_weighted {
        true => {
            let plan = weighted::Plan {
                input: &args.input,
                popular: args.popular.as_ref(),
                popular_share: args.popular_share,
                format: args.format.format,
                hash: hash(args),
                fpr: fpr(args),
                seed: args.seed,
            };
            plan.build(shell)?
        }
        false => build(args, shell)?,
    };
    files::replace(&args.out, |file| filter.write_to(file))?;
    report(args, &filter, keys, shell)?;
    Ok(Status::Success)
}

/// The filter, and how many keys it was built from.
fn build(args: &Args, shell: &Shell) -> Outcome<(AnyFilter, u64)> {
    let mut recent = Recent::new()?;
    let format = args.format.format;
    let (mut filter, input) = match (&args.like, args.capacity) {
        (Some(like), _) => (empty_like(args, like)?, Input::open(&args.input, shell)?),
        (None, Some(capacity)) => {
            let input = Input::open(&args.input, shell)?;
            (empty(args, capacity)?, input)
        }
        (None, None) => {
            let mut spool = Spool::of(&args.input, shell)?;
            let keys = count_keys(spool.open(shell)?, format, &mut recent, shell)?;
            recent.forget();
            (empty(args, keys)?, spool.open(shell)?)
        }
    };
    let bar = input.progress("building", shell);
    let mut lines = input.lines();
    let counts = filter.info().kind == FilterKind::Counting;
    let mut keys = 0;
    let mut key = Vec::new();
    while lines.next_key(format, &mut key)?.is_some() {
        keys += 1;
        if counts || recent.is_news(&key) {
            insert(&mut filter, &key, &lines)?;
        }
        if lines.is_drained() {
            bar.set(lines.bytes());
        }
    }
    Ok((filter, keys))
}

fn fpr(args: &Args) -> f64 {
    args.fpr.unwrap_or(0.01)
}

fn hash(args: &Args) -> HashKind {
    args.hash.unwrap_or(HashArg::Sip13).into()
}

fn kind(args: &Args) -> FilterKind {
    args.kind.unwrap_or(KindArg::Plain).into()
}

fn empty(args: &Args, capacity: u64) -> Outcome<AnyFilter> {
    let mut builder = AnyFilter::builder(kind(args))
        .hash(hash(args))
        .capacity(capacity)
        .fpr(fpr(args));
    if let Some(seed) = args.seed {
        builder = builder.seed(Seed::from_u64(seed));
    }
    Ok(builder.build()?)
}

/// An empty filter with everything of another.
fn empty_like(args: &Args, like: &Path) -> Outcome<AnyFilter> {
    let mut filter = super::open(like)?;
    let is = filter.info().kind;
    if args.kind.is_some() && kind(args) != is {
        bail!(
            "{} is a {is} filter, so one like it can't be {}; leave out `--kind` or `--like`",
            like.display(),
            kind(args)
        );
    }
    filter.clear();
    Ok(filter)
}

pub(super) fn count_keys(
    input: Input,
    format: Format,
    recent: &mut Recent,
    shell: &Shell,
) -> Outcome<u64> {
    let bar = input.progress("counting keys", shell);
    let mut lines = input.lines();
    let mut keys = 0;
    let mut key = Vec::new();
    while lines.next_key(format, &mut key)?.is_some() {
        keys += u64::from(recent.is_news(&key));
        if lines.is_drained() {
            bar.set(lines.bytes());
        }
    }
    Ok(keys)
}

/// Inserts a key; a filter that is full and can grow does.
fn insert(filter: &mut AnyFilter, key: &[u8], lines: &Lines) -> Outcome<()> {
    loop {
        match filter.insert(key) {
            Ok(()) => return Ok(()),
            Err(Error::Full { .. }) => match filter.doubled() {
                Ok(doubled) => *filter = doubled,
                Err(_) => bail!(
                    "the filter is full at {}; give it more room with `--capacity`, and leave \
                     out copies of keys (`sort -u`): some kinds take only eight of one",
                    lines.place()
                ),
            },
            Err(error) => {
                return Err(error).or_hint(|| "take another `--kind` or leave out `--like`".into());
            }
        }
    }
}

fn report(args: &Args, filter: &AnyFilter, keys: u64, shell: &Shell) -> Outcome<()> {
    let (info, stats) = (filter.info(), filter.stats());
    let report = Report {
        out: args.out.display().to_string(),
        kind: info.kind.to_string(),
        hash: info.hash.to_string(),
        keys,
        items: stats.items,
        slots: stats.slots,
        remainder_bits: stats.remainder_bits,
        load: stats.load,
        bytes: info.file_bytes,
        bits_per_item: stats
            .bits_per_item
            .is_finite()
            .then_some(stats.bits_per_item),
        expected_fpr: stats.expected_fpr,
    };
    if args
        .capacity
        .is_some_and(|capacity| info.fingerprints > capacity)
    {
        shell.note(&format!(
            "these are more keys than the `--capacity`: the filter is wrong for {} other keys, \
             not {}; give a larger one",
            one_in(stats.expected_fpr),
            one_in(fpr(args))
        ));
    }
    let words = || {
        format!(
            "wrote {}: {} filter of {}, {}, wrong for {} other keys",
            report.out,
            report.kind,
            count(keys, "key"),
            bytes(report.bytes),
            one_in(report.expected_fpr)
        )
    };
    if files::is_stdout(&args.out) {
        shell.note(&words());
        return Ok(());
    }
    shell.print(&report, words)
}
