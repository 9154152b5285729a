//! `twiceshy filter build`: a filter of keys.
//!
//! The input is read once, and each key is hashed once:
//!
//! ```text
//! lines ──▶ hashes, without copies ──▶ kept aside and counted ──▶ the filter
//!                                 └─── `--capacity`, `--like` ───▶┘
//! ```
//!
//! How large a filter must be is known when its keys have been counted. What is kept aside until
//! then are eight bytes a key, in a temporary file where they are many: memory is the filter's and
//! no more. An adaptive cuckoo filter needs the keys themselves.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::bail;
use twiceshy::Error;
use twiceshy::any::AnyFilter;
use twiceshy::batch::Interrupted;
use twiceshy::file::FilterKind;
use twiceshy::hash::{HashKind, Seed, Sip13, StreamHash, Xxh3};

use super::intake::Intake;
use super::kind::KindArg;
use super::report::{self, Source};
use super::spool::Spool;
use super::weighted;
use crate::exit::{OrHint, Outcome, Status};
use crate::files;
use crate::keys::{self, FormatArgs, HashArg, Keys};
use crate::numbers::{count, one_in};
use crate::shell::Shell;

/// Build a filter of keys, one a line
///
/// Takes no more memory than the filter: until the keys are counted, their hashes wait in a
/// temporary file, eight bytes each, if they are many and `--capacity` does not say how many. Copies
/// of a key are left out where they come close together, but counted by a counting filter.
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
    /// Room for so many keys, whatever the input has: no hash has to wait then
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

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let popular = args.popular.as_deref();
    let inputs = [args.input.as_path()].into_iter().chain(popular);
    keys::one_stdin(inputs.clone())?;
    files::refuse_to_replace(&args.out, inputs)?;
    let plan = Plan::of(args)?;
    let (filter, keys) = match plan.hash {
        HashKind::Xxh3 => plan.build::<Xxh3>(shell),
        _ => plan.build::<Sip13>(shell),
    }?;
    files::replace(&args.out, |file| filter.write_to(file))?;
    if args
        .capacity
        .is_some_and(|capacity| filter.info().fingerprints > capacity)
    {
        shell.note(&format!(
            "these are more keys than the `--capacity`: the filter is wrong for {} other keys, \
             not {}; give a larger one",
            one_in(filter.stats().expected_fpr),
            one_in(fpr(args))
        ));
    }
    report::print(&args.out, Source::Keys(keys), &filter, shell)?;
    Ok(Status::Success)
}

fn fpr(args: &Args) -> f64 {
    args.fpr.unwrap_or(0.01)
}

/// What is known of a filter before its keys are.
struct Plan<'a> {
    args: &'a Args,
    kind: FilterKind,
    hash: HashKind,
    seed: Seed,
    /// The filter itself, empty, if it is to be like another.
    like: Option<AnyFilter>,
}

impl<'a> Plan<'a> {
    fn of(args: &'a Args) -> Outcome<Self> {
        let plan = match &args.like {
            Some(path) => {
                let mut like = super::open(path)?;
                like.clear();
                Plan {
                    args,
                    kind: like.info().kind,
                    hash: like.info().hash,
                    seed: like.seed(),
                    like: Some(like),
                }
            }
            None => Plan {
                args,
                kind: args.kind.unwrap_or(KindArg::Plain).into(),
                hash: args.hash.unwrap_or(HashArg::Sip13).into(),
                seed: args
                    .seed
                    .map_or_else(Seed::random, |seed| Ok(Seed::from_u64(seed)))?,
                like: None,
            },
        };
        if let (Some(path), Some(kind)) = (&args.like, args.kind.map(FilterKind::from))
            && kind != plan.kind
        {
            bail!(
                "{} is a {} filter, so one like it can't be {kind}; leave out `--kind` or `--like`",
                path.display(),
                plan.kind
            );
        }
        if args.popular.is_some() && !plan.is_weighted() {
            bail!(
                "only `--kind weighted-bloom` takes `--popular`; all keys are alike to the others"
            );
        }
        Ok(plan)
    }

    /// Must it be told which keys are popular?
    fn is_weighted(&self) -> bool {
        self.kind == FilterKind::WeightedBloom && self.like.is_none()
    }

    /// The filter, and how many keys it was built from.
    fn build<H: StreamHash>(self, shell: &Shell) -> Outcome<(AnyFilter, u64)> {
        match self.kind {
            _ if self.is_weighted() => {
                let plan = weighted::Plan {
                    input: &self.args.input,
                    popular: self.args.popular.as_ref(),
                    popular_share: self.args.popular_share,
                    format: self.args.format.format,
                    fpr: fpr(self.args),
                    seed: self.seed,
                };
                plan.build::<H>(shell)
            }
            FilterKind::AdaptiveCuckoo => self.build_from_keys(shell),
            _ => self.build_from_hashes::<H>(shell),
        }
    }

    fn build_from_hashes<H: StreamHash>(mut self, shell: &Shell) -> Outcome<(AnyFilter, u64)> {
        let (input, format) = (&self.args.input, self.args.format.format);
        let with_copies = self.kind == FilterKind::Counting;
        let mut intake = Intake::<H>::new(&self.seed, format, with_copies);
        let empty = match self.args.capacity {
            Some(capacity) => Some(self.empty(capacity)?),
            None => self.like.take(),
        };
        let filter = match empty {
            Some(mut filter) => {
                intake.read(input, shell, |hashes| insert(&mut filter, hashes))?;
                filter
            }
            None => {
                let mut spool = Spool::new();
                intake.read(input, shell, |hashes| spool.write(hashes))?;
                let mut filter = self.empty(intake.news())?;
                spool.read(shell, |hashes| insert(&mut filter, hashes))?;
                filter
            }
        };
        Ok((filter, intake.keys()))
    }

    /// With all keys in memory, where they are needed to move others.
    fn build_from_keys(mut self, shell: &Shell) -> Outcome<(AnyFilter, u64)> {
        let keys = Keys::read(&self.args.input, self.args.format.format, shell)?;
        let mut seen = HashSet::new();
        let news: Vec<&[u8]> = keys.iter().filter(|&key| seen.insert(key)).collect();
        let mut filter = match self.like.take() {
            Some(like) => like,
            None => self.empty(self.args.capacity.unwrap_or(news.len() as u64))?,
        };
        for key in news {
            filter
                .insert(key)
                .or_else(|error| refused(&filter, error))?;
        }
        Ok((filter, keys.len()))
    }

    fn empty(&self, capacity: u64) -> Outcome<AnyFilter> {
        let builder = AnyFilter::builder(self.kind)
            .hash(self.hash)
            .seed(self.seed);
        Ok(builder.capacity(capacity).fpr(fpr(self.args)).build()?)
    }
}

/// Inserts hashes; a filter that is full and can grow does.
fn insert(filter: &mut AnyFilter, mut hashes: &[u64]) -> Outcome<()> {
    while let Err(Interrupted { inserted, error }) = filter.insert_hashes(hashes) {
        hashes = &hashes[inserted as usize..];
        if matches!(error, Error::Full { .. })
            && let Ok(doubled) = filter.doubled()
        {
            *filter = doubled;
        } else {
            return refused(filter, error);
        }
    }
    Ok(())
}

/// Why a key could not be inserted, and what to do.
fn refused(filter: &AnyFilter, error: Error) -> Outcome<()> {
    match error {
        Error::Full { .. } => bail!(
            "the filter is full after {}; give it more room with `--capacity`, and leave out \
             copies of keys (`sort -u`): some kinds take only eight of one",
            count(filter.stats().items, "key")
        ),
        error => Err(error).or_hint(|| "take another `--kind` or leave out `--like`".into()),
    }
}
