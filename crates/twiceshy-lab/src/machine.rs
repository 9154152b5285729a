//! Where it is measured, as far as the system says; and one core of it.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The machine, its load, and the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cpu: Option<String>,
    pub(crate) cores: Option<usize>,
    pub(crate) memory_gib: Option<u64>,
    pub(crate) system: String,
    /// Others that wanted a core when it began, over one, five and fifteen minutes.
    pub(crate) load_average: Option<[f64; 3]>,
    /// With a `+` behind it if the sources have changed since.
    pub(crate) commit: Option<String>,
    pub(crate) version: String,
}

impl Machine {
    pub(crate) fn look() -> Self {
        Machine {
            cpu: cpu(),
            cores: available_parallelism().ok().map(usize::from),
            memory_gib: memory_gib(),
            system: std::env::consts::OS.to_owned(),
            load_average: load_average(),
            commit: commit(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Is it the same hardware? Load and code may differ.
    pub(crate) fn is_same(&self, other: &Machine) -> bool {
        let hardware = |m: &Machine| (m.cpu.clone(), m.cores, m.memory_gib, m.system.clone());
        hardware(self) == hardware(other)
    }

    /// The hardware in one line.
    pub(crate) fn describe(&self) -> String {
        let mut parts = vec![self.cpu.clone().unwrap_or_else(|| "unknown CPU".to_owned())];
        parts.extend(self.cores.map(|cores| format!("{cores} cores")));
        parts.extend(self.memory_gib.map(|gib| format!("{gib} GiB of memory")));
        parts.push(self.system.clone());
        parts.join(", ")
    }
}

fn cpu() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory_gib() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = info.split_whitespace().nth(1)?.parse().ok()?;
    Some((kib + (1 << 19)) >> 20)
}

fn load_average() -> Option<[f64; 3]> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    let mut words = text.split_whitespace().map(str::parse);
    let mut next = || words.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// The commit of the sources, if they are in a repository and this is run there.
fn commit() -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok();
        output.filter(|output| output.status.success())
    };
    let hash = String::from_utf8(git(&["rev-parse", "HEAD"])?.stdout).ok()?;
    let is_clean = git(&["diff-index", "--quiet", "HEAD"]).is_some();
    let mark = if is_clean { "" } else { "+" };
    Some(format!("{}{mark}", hash.trim()))
}

/// The core that this thread is pinned to.
pub(crate) struct Core {
    since: Instant,
    waited: Option<Duration>,
}

impl Core {
    /// Pins this thread to the last core it may use; the first ones serve most
    /// interrupts. Where that is impossible, says so and goes on.
    pub(crate) fn pin() -> Self {
        let core = core_affinity::get_core_ids().and_then(|cores| cores.last().copied());
        if !core.is_some_and(core_affinity::set_for_current) {
            eprintln!("warning: can't pin to one core on this system; expect more noise");
        }
        Core {
            since: Instant::now(),
            waited: time_waited(),
        }
    }

    /// The share of the time so far in which other programs had the core: the clock ran on
    /// meanwhile.
    pub(crate) fn shared(&self) -> Option<f64> {
        let (before, after) = self.waited.zip(time_waited())?;
        let waited = after.saturating_sub(before).as_secs_f64();
        Some(waited / self.since.elapsed().as_secs_f64())
    }
}

/// How long this thread has been ready to run while another had the core. Linux only:
/// the second number in `schedstat`.
fn time_waited() -> Option<Duration> {
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = schedstat.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}
