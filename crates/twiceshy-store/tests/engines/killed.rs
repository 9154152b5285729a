//! Processes that die without a word.

use std::path::Path;
use std::process::{self, Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use tempfile::tempdir;
use twiceshy_store::engine::{Durability, Engine};

use super::Kind;
use super::script::{Commit, commits, position, state};

const COMMITS: usize = 12;
const DIRECTORY: &str = "TWICESHY_ENGINES_DIRECTORY";
const STOP: &str = "TWICESHY_ENGINES_STOP";

/// Runs the test called `name` in another process, which plays the first `stop` commits of a
/// script and dies, and looks at what it left.
pub(super) fn keeps_what_it_promised<K: Kind>(name: &str) {
    if !K::KEEPS {
        return;
    }
    let commits = commits(7, COMMITS);
    if let (Ok(directory), Ok(stop)) = (env::var(DIRECTORY), env::var(STOP)) {
        let engine = K::open(Path::new(&directory)).unwrap();
        for commit in &commits[..stop.parse().unwrap()] {
            engine.write(&commit.changes, commit.durability).unwrap();
        }
        // No destructor runs, as with SIGKILL.
        process::abort();
    }
    for stop in 0..=COMMITS {
        let directory = tempdir().unwrap();
        let mut child = child(name, directory.path());
        child.env(STOP, stop.to_string());
        assert!(!child.status().unwrap().success());

        let engine = K::open(directory.path()).unwrap();
        let at = position(&state(&engine), &commits).expect("the state after a commit");
        let is_synced = |commit: &Commit| commit.durability == Durability::Sync;
        let synced = commits[..stop].iter().rposition(is_synced);
        let least = match K::OUTLIVES {
            true => stop,
            false => synced.map_or(0, |at| at + 1),
        };
        assert!((least..=stop).contains(&at), "{at} of {stop} commits");
    }
}

/// Runs the test called `name` in another process, which makes one database after the other
/// until it is killed, and opens all of them.
pub(super) fn opens_what_was_being_made<K: Kind>(name: &str) {
    if !K::KEEPS {
        return;
    }
    if let Ok(directory) = env::var(DIRECTORY) {
        for number in 0.. {
            let directory = Path::new(&directory).join(number.to_string());
            fs::create_dir(&directory).unwrap();
            drop(K::open(&directory).unwrap());
        }
    }
    for round in 0..8 {
        let directory = tempdir().unwrap();
        let mut child = child(name, directory.path()).spawn().unwrap();
        // Some hundred microseconds more each time, after whatever the start takes.
        while !directory.path().join("0").exists() {
            assert_eq!(child.try_wait().unwrap(), None);
            thread::sleep(Duration::from_micros(100));
        }
        thread::sleep(Duration::from_micros(100 + 600 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        for made in fs::read_dir(directory.path()).unwrap() {
            let engine = K::open(&made.unwrap().path()).unwrap();
            assert!(state(&engine).is_empty());
        }
    }
}

/// Another process for the test called `name`.
fn child(name: &str, directory: &Path) -> Command {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args([name, "--exact"]);
    child.stdout(Stdio::null()).stderr(Stdio::null());
    child.env(DIRECTORY, directory);
    child
}
