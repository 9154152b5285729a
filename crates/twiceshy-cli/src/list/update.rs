//! `twiceshy list update`: the next version of a list.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::bail;
use indicatif::HumanBytes;
use serde::Serialize;
use twiceshy::file::FilterKind;
use twiceshy::hash::{HashKind, Sip13, StreamHash, Xxh3};
use twiceshy::lists::static_::Like;
use twiceshy::lists::{List, StaticYesNo, delta};

use super::keys;
use crate::exit::{OrHint, Outcome, Status};
use crate::files;
use crate::keys::{FormatArgs, Keys, one_stdin};
use crate::numbers::count;
use crate::shell::Shell;

/// Put keys on a list, or take them off
///
/// Needs the keys that `list build` has written beside the list. A key that is on the other list
/// moves. The new version has the seed of the old and, as long as it fits, its size, so that
/// the delta between them is small.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The list file
    list: PathBuf,
    /// Keys that must be answered "yes" from now on; `-` is standard input
    #[arg(long, value_name = "FILE")]
    add_yes: Option<PathBuf>,
    /// Keys that must be answered "no" from now on
    #[arg(long, value_name = "FILE")]
    add_no: Option<PathBuf>,
    /// Keys that shall be on neither list; done before the others
    #[arg(long, value_name = "FILE")]
    remove: Option<PathBuf>,
    /// Write the delta from the old version to the new here
    #[arg(long, value_name = "FILE")]
    delta: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy list update block.list --add-yes new.txt --remove mistakes.txt
  twiceshy list update block.list --add-yes today.txt --delta today.delta";

#[derive(Default, Serialize)]
struct Report {
    added: u64,
    moved: u64,
    removed: u64,
    yes: u64,
    no: u64,
    bytes: u64,
    /// Is the delta from the old version small?
    same_size: bool,
    delta_bytes: Option<u64>,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    if args.add_yes.is_none() && args.add_no.is_none() && args.remove.is_none() {
        bail!("nothing to do; say `--add-yes`, `--add-no` or `--remove`");
    }
    let inputs = [&args.add_yes, &args.add_no, &args.remove];
    let inputs = inputs.into_iter().flatten().map(PathBuf::as_path);
    one_stdin(inputs.clone())?;
    let keys_path = keys::path_of(&args.list);
    for out in [Some(&args.list), Some(&keys_path), args.delta.as_ref()] {
        let Some(out) = out else { continue };
        files::refuse_to_replace(out, inputs.clone())?;
    }
    if let Some(delta) = &args.delta {
        files::refuse_to_replace(delta, [args.list.as_path(), &keys_path])?;
    }
    let old = super::read_list(&args.list)?;
    let info = twiceshy::any::peek(&old).map_err(|error| files::explain(&args.list, error))?;
    if info.kind != FilterKind::StaticYesNo {
        bail!(
            "{} is a list of the kind {}, which can't change; build it again, or with `--kind static`",
            args.list.display(),
            info.kind
        );
    }
    let (head, mut keys) = shell.busy("reading keys", || keys::read(&args.list, &old))?;
    let mut report = Report::default();
    change(args, &mut keys, &mut report, shell)?;
    let new = shell.busy("building", || match info.hash {
        HashKind::Xxh3 => build::<Xxh3>(args, &old, &keys, head.fpr, &mut report),
        _ => build::<Sip13>(args, &old, &keys, head.fpr, &mut report),
    })?;
    if let Some(path) = &args.delta {
        let delta = delta::diff(&old, &new)?;
        report.delta_bytes = Some(delta.as_bytes().len() as u64);
        files::replace(path, |file| file.write_all(delta.as_bytes()))?;
    }
    let all = keys.iter().map(|(key, &list)| (list, &key[..]));
    keys::write(&args.list, &new, head.fpr, all)?;
    if !report.same_size {
        shell.note(
            "the old size had no room: a delta from the old version is a whole file this once",
        );
    }
    shell.print(&report, || {
        let mut text = format!(
            "added {}, moved {}, removed {}: yes for {}, no for {}, {}",
            count(report.added, "key"),
            report.moved,
            report.removed,
            count(report.yes, "key"),
            count(report.no, "key"),
            HumanBytes(report.bytes)
        );
        if let Some(delta) = report.delta_bytes {
            text += &format!("; the delta has {}", HumanBytes(delta));
        }
        text
    })?;
    Ok(Status::Success)
}

/// Does what the arguments say to the keys.
fn change(
    args: &Args,
    keys: &mut BTreeMap<Vec<u8>, List>,
    report: &mut Report,
    shell: &Shell,
) -> Outcome<()> {
    let format = args.format.format;
    if let Some(path) = &args.remove {
        for key in Keys::read(path, format, shell)?.iter() {
            report.removed += u64::from(keys.remove(key).is_some());
        }
    }
    let mut put: BTreeMap<Vec<u8>, List> = BTreeMap::new();
    for (path, list) in [(&args.add_yes, List::Yes), (&args.add_no, List::No)] {
        let Some(path) = path else { continue };
        for key in Keys::read(path, format, shell)?.iter() {
            if put.insert(key.to_vec(), list) == Some(list.other()) {
                bail!(
                    "`{}` is in both `--add-yes` and `--add-no`; take it out of one of them",
                    key.escape_ascii()
                );
            }
        }
    }
    for (key, list) in put {
        match keys.insert(key, list) {
            None => report.added += 1,
            Some(before) => report.moved += u64::from(before != list),
        }
    }
    Ok(())
}

/// The file of the new version.
fn build<H: StreamHash>(
    args: &Args,
    old: &[u8],
    keys: &BTreeMap<Vec<u8>, List>,
    fpr: f64,
    report: &mut Report,
) -> Outcome<Vec<u8>> {
    let explain = |error| files::explain(&args.list, error);
    let old = StaticYesNo::<H>::from_bytes(old).map_err(explain)?;
    let on = |wanted: List| -> Vec<&[u8]> {
        let keys = keys.iter().filter(|&(_, &list)| list == wanted);
        keys.map(|(key, _)| &key[..]).collect()
    };
    let (list, like) = old
        .build_like(&on(List::Yes), &on(List::No), fpr)
        .or_hint(|| "build the list again with another seed".into())?;
    let file = list.to_bytes();
    report.yes = list.yes_len();
    report.no = list.no_len();
    report.bytes = file.len() as u64;
    report.same_size = like == Like::Same;
    Ok(file)
}
