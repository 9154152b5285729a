//! One core for the whole measurement, and a check that it was ours alone.

use std::fs;
use std::time::{Duration, Instant};

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

    /// Warns if that was a noticeable share.
    pub(crate) fn warn_if_shared(&self) {
        if let Some(share) = self.shared().filter(|&share| share > 0.02) {
            eprintln!(
                "warning: other programs used this core {:.0}% of the time; run again on a quiet \
                 machine",
                share * 100.0
            );
        }
    }
}

/// How long this thread has been ready to run while another had the core. Linux only:
/// the second number in `schedstat`.
fn time_waited() -> Option<Duration> {
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = schedstat.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}
