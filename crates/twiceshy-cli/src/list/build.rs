//! `twiceshy list build`: a list from its two lists of keys.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::bail;
use clap::ValueEnum;
use indicatif::HumanBytes;
use serde::Serialize;
use twiceshy::Error;
use twiceshy::any::AnyList;
use twiceshy::hash::{HashKind, Seed, Sip13, StreamHash, Xxh3};
use twiceshy::lists::static_::{HEADROOM, Like};
use twiceshy::lists::{Bloomier, BuildList, Cascade, IntegratedXor, List, ListFile, StaticYesNo};

use super::keys;
use crate::exit::{Outcome, Status};
use crate::files::{self, is_stdout};
use crate::keys::{FormatArgs, HashArg, Keys, one_stdin};
use crate::numbers::{count, one_in};
use crate::shell::Shell;

/// Build a list from a file of YES keys and one of NO keys
///
/// Both lists are in memory while it is built. The keys are also written to OUT.keys, for
/// `list update`; ship OUT alone.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Keys that must be answered "yes"; `-` is standard input
    #[arg(long, value_name = "FILE")]
    yes: PathBuf,
    /// Keys that must be answered "no"; `-` is standard input
    #[arg(long, value_name = "FILE")]
    no: PathBuf,
    /// The highest share of other keys that are answered "yes"
    #[arg(long, default_value_t = 0.01, value_name = "P", value_parser = crate::keys::rate)]
    fpr: f64,
    /// The list file to write; `-` is standard output, without OUT.keys
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// The kind of list
    #[arg(long, value_enum, default_value = "static")]
    kind: KindArg,
    /// Share of the slots to leave free for later versions (static) [default: 0.03]
    #[arg(long, value_name = "SHARE")]
    headroom: Option<f64>,
    /// Take seed and size from this older version, so that deltas between the two are small
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "headroom", "hash"])]
    like: Option<PathBuf>,
    /// The hash
    #[arg(long, value_enum, default_value = "sip13")]
    hash: HashArg,
    /// Makes the same file every time; random if not given, so that nobody can prepare keys
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Don't write OUT.keys; the list can't be updated then
    #[arg(long)]
    no_keys: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// A kind of list, as the command line calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindArg {
    /// Adaptive fingerprints: can be updated, with small deltas
    Static,
    /// Cascade of Bloom filters: the smallest where other keys don't matter (`--fpr 1`)
    Cascade,
    /// Bloomier filter
    Bloomier,
    /// Integrated xor filter
    Xor,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy list build --yes revoked.txt --no good.txt --fpr 0.01 --out crl.list
  twiceshy list build --yes revoked2.txt --no good2.txt --like crl.list --out crl2.list";

#[derive(Serialize)]
struct Report {
    out: String,
    yes: u64,
    no: u64,
    bytes: u64,
    bits_per_yes_key: Option<f64>,
    expected_fpr: f64,
    /// With `--like`: is a delta from that version small?
    same_size: Option<bool>,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let inputs = [args.yes.as_path(), &args.no];
    one_stdin(inputs)?;
    files::refuse_to_replace(&args.out, inputs)?;
    files::refuse_to_replace(&keys::path_of(&args.out), inputs)?;
    let format = args.format.format;
    let yes = Keys::read(&args.yes, format, shell)?;
    let no = Keys::read(&args.no, format, shell)?;
    let old = args.like.as_deref().map(super::read_list).transpose()?;
    let hash = match (&args.like, &old) {
        (Some(path), Some(old)) => {
            let info = twiceshy::any::peek(old);
            info.map_err(|error| files::explain(path, error))?.hash
        }
        _ => args.hash.into(),
    };
    let (file, like) = shell.busy("building", || match hash {
        HashKind::Xxh3 => build::<Xxh3>(args, old.as_deref(), &yes, &no),
        _ => build::<Sip13>(args, old.as_deref(), &yes, &no),
    })?;
    // Beside standard output there is no place.
    if args.no_keys || is_stdout(&args.out) {
        files::replace(&args.out, |out| std::io::Write::write_all(out, &file))?;
    } else {
        let on_list = |keys, list| Keys::iter(keys).map(move |key| (list, key));
        let keys = on_list(&yes, List::Yes).chain(on_list(&no, List::No));
        keys::write(&args.out, &file, args.fpr, keys)?;
    }
    if like == Some(Like::Grown) {
        shell.note(
            "the old size has no room for these lists: a delta from the old version is a whole \
             file this once",
        );
    }
    report(args, &AnyList::read_from(&file[..])?, like, shell)?;
    Ok(Status::Success)
}

/// The file of the list.
fn build<H: StreamHash>(
    args: &Args,
    old: Option<&[u8]>,
    yes: &Keys,
    no: &Keys,
) -> Outcome<(Vec<u8>, Option<Like>)> {
    let (yes, no) = (yes.slices(), no.slices());
    let explain = |error: Error| match (error, common(&yes, &no)) {
        (Error::Mismatch { .. }, Some(key)) => anyhow::anyhow!(
            "`{}` is a YES key and a NO key; take it out of one of the two files",
            key.escape_ascii()
        ),
        (error, _) => error.into(),
    };
    if let (Some(old), Some(path)) = (old, &args.like) {
        if args.kind != KindArg::Static {
            bail!("only static lists have versions; leave out `--like` or `--kind`");
        }
        let old = StaticYesNo::<H>::from_bytes(old).map_err(|error| files::explain(path, error))?;
        let built = old.build_like(&yes, &no, args.fpr);
        let (list, like) = built.map_err(explain)?;
        return Ok((list.to_bytes(), Some(like)));
    }
    let seed = args
        .seed
        .map_or_else(Seed::random, |number| Ok(Seed::from_u64(number)))?;
    let file = match args.kind {
        KindArg::Static => {
            let builder = StaticYesNo::builder().hash::<H>().fpr(args.fpr).seed(seed);
            let builder = builder.headroom(args.headroom.unwrap_or(HEADROOM));
            builder.build(&yes, &no).map(|list| list.to_bytes())
        }
        KindArg::Cascade => Cascade::<H>::build_seeded(&yes, &no, args.fpr, seed)
            .map(|list| ListFile::to_bytes(&list)),
        KindArg::Bloomier => Bloomier::<H>::build_seeded(&yes, &no, args.fpr, seed)
            .map(|list| ListFile::to_bytes(&list)),
        KindArg::Xor => IntegratedXor::<H>::build_seeded(&yes, &no, args.fpr, seed)
            .map(|list| ListFile::to_bytes(&list)),
    };
    Ok((file.map_err(explain)?, None))
}

/// A key that is on both lists.
fn common<'k>(yes: &[&'k [u8]], no: &[&'k [u8]]) -> Option<&'k [u8]> {
    let yes: HashSet<&[u8]> = yes.iter().copied().collect();
    no.iter().copied().find(|key| yes.contains(key))
}

fn report(args: &Args, list: &AnyList, like: Option<Like>, shell: &Shell) -> Outcome<()> {
    let (yes, no) = (list.len_of(List::Yes), list.len_of(List::No));
    let size = list.info().file_bytes;
    let bits = size as f64 * 8.0 / yes as f64;
    let report = Report {
        out: args.out.display().to_string(),
        yes,
        no,
        bytes: size,
        bits_per_yes_key: bits.is_finite().then_some(bits),
        expected_fpr: list.expected_fpr(),
        same_size: like.map(|like| like == Like::Same),
    };
    shell.print_written(&args.out, &report, || {
        format!(
            "wrote {}: yes for {}, no for {}, {}, yes for {} other keys",
            report.out,
            count(yes, "key"),
            count(no, "key"),
            HumanBytes(size),
            one_in(report.expected_fpr)
        )
    })
}
