//! Ctrl-C in the middle of something that should end well.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use crate::exit::Outcome;

/// Catches the first SIGINT or SIGTERM; the second one ends the program at once.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    /// The signal that came, or zero.
    signal: Arc<AtomicI32>,
}

impl Interrupt {
    /// Watches from now on, and calls `wake` on another thread when it happens.
    #[cfg(unix)]
    pub(crate) fn watch(wake: impl FnOnce() + Send + 'static) -> Outcome<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::iterator::Signals;
        use signal_hook::low_level::emulate_default_handler;

        let signal = Arc::new(AtomicI32::new(0));
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let seen = signal.clone();
        std::thread::spawn(move || {
            let mut coming = signals.forever();
            if let Some(first) = coming.next() {
                seen.store(first, Relaxed);
                // Whoever is to be woken may be busy for a while; a second signal must not wait.
                std::thread::spawn(wake);
            }
            if let Some(second) = coming.next() {
                let _ = emulate_default_handler(second);
            }
        });
        Ok(Interrupt { signal })
    }

    /// Elsewhere the system's own way has to do.
    #[cfg(not(unix))]
    pub(crate) fn watch(_wake: impl FnOnce() + Send + 'static) -> Outcome<Self> {
        let signal = Arc::new(AtomicI32::new(0));
        Ok(Interrupt { signal })
    }

    /// Has it happened?
    pub(crate) fn is_set(&self) -> bool {
        self.signal.load(Relaxed) != 0
    }

    /// Ends the process as the signal would have, so that a shell's loop ends with it.
    pub(crate) fn end(&self) -> ! {
        #[cfg(unix)]
        let _ = signal_hook::low_level::emulate_default_handler(self.signal.load(Relaxed));
        std::process::exit(2)
    }
}
