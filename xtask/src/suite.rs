//! The library's test suite, run by a compiler or on a machine of choice, and counted.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::workspace::{LIBRARY, TESTING, Workspace};
use crate::{Result, command};

/// What the longest tests divide their work by; they read it from the environment.
const SHARE: &str = "TWICESHY_TEST_SHARE";

/// Emulators and sanitizers are some eight times slower.
pub(crate) const DEFAULT_SHARE: u32 = 8;

/// `cargo test` for unit and integration tests of the library and of what tests it. Doctests are left out: a
/// program for each of them is too many for an emulator. A failure doesn't hide the next.
pub(crate) fn cargo(workspace: &Workspace, target_dir: &str, share: u32) -> Command {
    let packages = format!("-p {LIBRARY} -p {TESTING}");
    let args = format!("test --locked {packages} --all-features --lib --tests --no-fail-fast");
    let mut cargo = workspace.cargo(&args);
    cargo.arg("--target-dir").arg(workspace.target(target_dir));
    cargo.env(SHARE, share.to_string());
    cargo
}

/// What became of the tests, and how long they took to build and run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tally {
    programs: u64,
    passed: u64,
    failed: u64,
    ignored: u64,
    took: Duration,
}

/// Runs the tests with the terminal as their output, and counts them.
pub(crate) fn run(cargo: &mut Command) -> Result<Tally> {
    command::announce(cargo);
    let start = Instant::now();
    let mut child = cargo.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or("cargo has no output")?;
    let mut tally = Tally::default();
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        if let Some(program) = Tally::of_line(&line) {
            tally += program;
        }
    }
    let status = child.wait()?;
    tally.took = start.elapsed();
    if !status.success() {
        return Err(format!("the tests failed ({status}): {tally}").into());
    }
    if tally.passed == 0 {
        return Err("cargo ran no tests".into());
    }
    Ok(tally)
}

impl Tally {
    /// Reads `test result: ok. 12 passed; 0 failed; 1 ignored; …`, a program's last line.
    fn of_line(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let count = |what: &str| {
            let mut parts = counts.split("; ");
            parts.find_map(|part| part.strip_suffix(what)?.trim().parse().ok())
        };
        Some(Self {
            programs: 1,
            passed: count("passed")?,
            failed: count("failed")?,
            ignored: count("ignored")?,
            took: Duration::ZERO,
        })
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.took += other.took;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} tests passed, {} failed, {} ignored, in {} programs, after {:.0} s",
            self.passed,
            self.failed,
            self.ignored,
            self.programs,
            self.took.as_secs_f64()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_summed() {
        let output = [
            "test bits::tests::select ... ok",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
        ];
        let mut tally = Tally::default();
        for line in output {
            if let Some(program) = Tally::of_line(line) {
                tally += program;
            }
        }
        let expected = Tally {
            programs: 2,
            passed: 15,
            failed: 2,
            ignored: 1,
            took: Duration::ZERO,
        };
        assert_eq!(tally, expected);
    }
}
