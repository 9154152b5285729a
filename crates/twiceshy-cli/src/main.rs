//! `twiceshy`: filters, lists and a store that learn from their mistakes, from a shell.
//!
//! ```text
//! twiceshy demo      see in a minute what an adaptive filter is good for
//! twiceshy store     records in a database with an adaptive filter in front
//! twiceshy filter    filter files of every kind
//! twiceshy list      lists that are exact on what must never be wrong
//! ```
//!
//! One subcommand, one file: its `Args` say what it takes, its `run` does it. What they share:
//!
//! | module | what |
//! | --- | --- |
//! | [`shell`] | `--json` and `--quiet`; standard output; notes and progress bars on standard error |
//! | [`keys`] | keys as lines, hexadecimal, base64 or numbers, in constant memory |
//! | [`files`] | output files that are there whole or not at all |
//! | [`scratch`] | what goes away again, whatever happens |
//! | [`numbers`], [`table`] | figures for people |
//! | [`exit`] | exit codes, and errors that say what to do next |
//!
//! # What it promises
//!
//! *Streaming.* Keys are lines, read into one buffer, which holds the longest line (64 MiB at most). One `\n`, and a
//! `\r` before it, are dropped, and nothing else: an empty line is the empty key. Answers are flushed whenever the
//! input has no more at hand, so that a partner who asks one question at a time gets each answer before the next.
//!
//! *Building.* A filter must know its size, so `filter build` counts keys before it inserts them. It reads its input
//! once and hashes each key once, with the filter's seed; until the keys are counted, the first words of their hashes,
//! eight bytes each, wait in memory or, beyond 16 MiB, in a temporary file, unless `--capacity` says how many come. A
//! table of 2^16 recent hashes leaves copies out: two different keys are taken for one with probability 2^-64 a pair,
//! and then a filter of first words could not tell them apart either. Hashes are inserted in batches. An adaptive
//! cuckoo filter moves keys, so it is built from the keys themselves, all of them in memory.
//!
//! *Exit codes.* 0 is success, 1 "no" or absent for the one key that was an argument, 2 an error; a stream of keys ends
//! with 0 whatever the answers are. A reader that goes away is no error, unless it is the acknowledgements of `put` or
//! the answers of `delete` that nobody reads any more: records are left then, and that is said.
//!
//! *Durability of `put --ack`.* A number of lines is printed, and flushed, after `Store::write` has committed them with
//! `Durability::Sync`. So at every moment the records that were acknowledged are a prefix of the input, and whatever
//! ends the process or the machine, they are there. *Files* are written beside their place, synced and renamed, and
//! have the mode and the owner of what they replace. *The attack* works on a copy, made under a shared lock of the file
//! that the engine locks. Parts and copies are their owner's alone and are locked; those that nobody locks are removed.

mod cli;
mod completions;
mod demo;
mod exit;
mod files;
mod filter;
mod interrupt;
mod keys;
mod list;
mod man;
mod numbers;
mod scratch;
mod shell;
mod store;
mod table;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    exit::code(cli.run())
}
