//! `data`: real keys for the examples and experiments, fetched and never kept with the code.
//!
//! Each set is a public package, fetched by its name with the tool that knows it, and what is
//! made of it: text files with one key a line (words with their frequency in front; or a genome),
//! in the ignored folder `data/`. To add one, add a line to [`SETS`] and, if no function of `make`
//! fits, one there.

mod fetch;
mod make;
mod words;

use std::fs;
use std::path::Path;

use self::fetch::Package;
use crate::workspace::Workspace;
use crate::{Result, command};

/// Fetch real keys for the examples and experiments into `data/`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these sets [default: all]
    #[arg(value_name = "SET")]
    sets: Vec<String>,

    /// Say what there is and fetch nothing
    #[arg(long)]
    list: bool,
}

/// A file of a set: its name and its content.
type Made = (&'static str, String);

/// A package and what is made of it.
struct Set {
    name: &'static str,
    about: &'static str,
    package: Package,
    /// From the unpacked package to files.
    make: fn(&Path) -> Result<Vec<Made>>,
}

const SETS: &[Set] = &[
    Set {
        name: "eth-phishing",
        about: "domains that wallets block, and those that they never do",
        package: Package::Npm("eth-phishing-detect"),
        make: make::eth_phishing,
    },
    Set {
        name: "adguard",
        about: "domains of ad and tracking servers (GPL: fetched, never copied here)",
        package: Package::Npm("@adguard/dnr-rulesets"),
        make: make::adguard,
    },
    Set {
        name: "e-coli",
        about: "the genome of E. coli K-12 MG1655",
        package: Package::Debian("ragout-examples"),
        make: |root| make::genome(root, "MG1655-K12.fasta.gz", "e-coli.fasta"),
    },
    Set {
        name: "e-coli-536",
        about: "the genome of E. coli 536",
        package: Package::Debian("bowtie-examples"),
        make: |root| make::genome(root, "NC_008253.fna.gz", "e-coli-536.fasta"),
    },
    Set {
        name: "package-names",
        about: "the names of all packages of npm",
        package: Package::Npm("all-the-package-names"),
        make: make::package_names,
    },
    Set {
        name: "words",
        about: "words of many languages, and how often they are used",
        package: Package::Pip("wordfreq"),
        make: words::wordfreq,
    },
    Set {
        name: "paths",
        about: "the paths of all files of Debian's packages",
        package: Package::Contents,
        make: make::paths,
    },
];

pub(crate) fn run(args: &Args) -> Result {
    if args.list {
        for set in SETS {
            println!("{:<14}{} ({})", set.name, set.about, set.package);
        }
        return Ok(());
    }
    if let Some(unknown) =
        (args.sets.iter()).find(|name| !SETS.iter().any(|set| set.name == **name))
    {
        return Err(format!("there is no set `{unknown}`; `--list` says which there are").into());
    }
    let folder = Workspace::load()?.root().join("data");
    let wanted = |set: &&Set| args.sets.is_empty() || args.sets.iter().any(|name| name == set.name);
    for set in SETS.iter().filter(wanted) {
        let unpacked = folder.join("packages").join(set.name);
        if !unpacked.exists() {
            // Unpacked beside it and renamed, so that what is there is whole.
            let partial = folder
                .join("packages")
                .join(format!("{}.partial", set.name));
            if partial.exists() {
                fs::remove_dir_all(&partial)?;
            }
            fs::create_dir_all(&partial)?;
            set.package.fetch(&partial)?;
            fs::rename(&partial, &unpacked)?;
        }
        for (name, content) in (set.make)(&unpacked)? {
            fs::write(folder.join(name), &content)?;
            println!("data/{name}: {} lines", content.lines().count());
        }
    }
    Ok(())
}

/// What a program writes, with its command line printed before.
fn output(program: &mut std::process::Command) -> Result<String> {
    Ok(String::from_utf8(bytes(program)?)?)
}

/// The same, if it is no text.
fn bytes(program: &mut std::process::Command) -> Result<Vec<u8>> {
    command::announce(program);
    command::stdout_bytes(program)
}
