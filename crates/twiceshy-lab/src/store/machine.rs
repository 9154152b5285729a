//! Where it was measured, as far as the system says.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use serde::Serialize;

/// The machine, its load, and the code.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Machine {
    pub(super) cpu: Option<String>,
    pub(super) cores: Option<usize>,
    pub(super) system: &'static str,
    /// Others that wanted a core when it began, over one, five and fifteen minutes.
    pub(super) load_average: Option<[f64; 3]>,
    pub(super) commit: Option<String>,
    pub(super) version: &'static str,
}

impl Machine {
    pub(super) fn look() -> Self {
        Machine {
            cpu: cpu(),
            cores: available_parallelism().ok().map(usize::from),
            system: std::env::consts::OS,
            load_average: load_average(),
            commit: commit(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

fn cpu() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn load_average() -> Option<[f64; 3]> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    let mut words = text.split_whitespace().map(str::parse);
    let mut next = || words.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// The commit of the sources, if they are in a repository and this is run there.
fn commit() -> Option<String> {
    let git = Command::new("git").args(["rev-parse", "HEAD"]).output();
    let output = git.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
