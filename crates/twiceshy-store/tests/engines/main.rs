//! What every engine must do, whatever it is made of: the same as a `BTreeMap` for each table.

// Helpers of tests are tests, which clippy does not know.
#![allow(clippy::unwrap_used)]

mod breaking;
mod killed;
#[cfg(any(feature = "redb", feature = "fjall", feature = "lmdb"))]
mod own;
#[cfg(feature = "redb")]
mod power;
mod script;
mod suite;

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use twiceshy_store::engine::{Counting, Engine, EngineError, InMemory};
use twiceshy_store_testing::{Crashing, Cut, Delayed, FailedWrite, Failing};

/// A kind of engine under test.
trait Kind {
    type Engine: Engine + Debug;

    /// Is what was written there when it is opened again?
    const KEEPS: bool = true;

    /// Does it take keys of no bytes? The store has none.
    const EMPTY_KEYS: bool = true;

    /// Does the end of the process leave all commits, those that are buffered too?
    const OUTLIVES: bool = true;

    /// The engine in this directory.
    fn open(directory: &Path) -> Result<Self::Engine, EngineError>;
}

struct Memory;

impl Kind for Memory {
    type Engine = InMemory;
    const KEEPS: bool = false;

    fn open(_directory: &Path) -> Result<InMemory, EngineError> {
        Ok(InMemory::new())
    }
}

/// All that tests put around an engine, doing nothing.
struct Wrapped;

impl Kind for Wrapped {
    type Engine = Arc<Counting<Delayed<Failing<Crashing>>>>;
    const KEEPS: bool = false;

    fn open(_directory: &Path) -> Result<Self::Engine, EngineError> {
        let crashing = Crashing::new(Cut::new());
        let failing = Failing::new(crashing, Cut::new(), FailedWrite::NotApplied);
        let delayed = Delayed::new(failing, Duration::ZERO);
        Ok(Arc::new(Counting::new(delayed)))
    }
}

#[cfg(feature = "redb")]
struct Redb;

#[cfg(feature = "redb")]
impl Kind for Redb {
    type Engine = twiceshy_store::engine::Redb;
    const OUTLIVES: bool = false;

    fn open(directory: &Path) -> Result<Self::Engine, EngineError> {
        twiceshy_store::engine::Redb::with_cache(directory.join("file"), 1 << 20)
    }
}

#[cfg(feature = "fjall")]
struct Fjall;

#[cfg(feature = "fjall")]
impl Kind for Fjall {
    type Engine = twiceshy_store::engine::Fjall;

    fn open(directory: &Path) -> Result<Self::Engine, EngineError> {
        let options = twiceshy_store::engine::FjallOptions::new();
        options.cache(1 << 20).filters(false).open(directory)
    }
}

#[cfg(feature = "lmdb")]
struct Lmdb;

#[cfg(feature = "lmdb")]
impl Kind for Lmdb {
    type Engine = twiceshy_store::engine::Lmdb;
    const EMPTY_KEYS: bool = false;

    fn open(directory: &Path) -> Result<Self::Engine, EngineError> {
        use twiceshy_store::engine::Lmdb;
        Lmdb::open(directory, Lmdb::DEFAULT_MAP_SIZE)
    }
}

macro_rules! suite {
    ($($name:ident: $kind:ty, $($feature:literal)?;)*) => { $(
        $(#[cfg(feature = $feature)])?
        mod $name {
            use super::*;

            #[test]
            fn does_what_the_model_does() {
                suite::does_what_the_model_does::<$kind>();
            }

            #[test]
            fn takes_large_values() {
                suite::takes_large_values::<$kind>();
            }

            #[test]
            fn takes_the_longest_keys_and_none_longer() {
                suite::takes_the_longest_keys_and_none_longer::<$kind>();
            }

            #[test]
            fn takes_empty_values_and_perhaps_keys() {
                suite::takes_empty_values_and_perhaps_keys::<$kind>();
            }

            #[test]
            fn readers_see_whole_commits_in_order() {
                suite::readers_see_whole_commits_in_order::<$kind>();
            }

            #[test]
            fn keeps_buffered_commits_over_a_clean_end() {
                suite::keeps_buffered_commits_over_a_clean_end::<$kind>();
            }

            #[test]
            fn keeps_what_it_promised_when_the_process_dies() {
                let name = "keeps_what_it_promised_when_the_process_dies";
                let name = format!("{}::{name}", stringify!($name));
                killed::keeps_what_it_promised::<$kind>(&name);
            }

            #[test]
            fn opens_what_was_being_made_when_the_process_died() {
                let name = "opens_what_was_being_made_when_the_process_died";
                let name = format!("{}::{name}", stringify!($name));
                killed::opens_what_was_being_made::<$kind>(&name);
            }

            #[test]
            fn opens_after_a_crash_while_it_was_made() {
                suite::opens_after_a_crash_while_it_was_made::<$kind>();
            }

            #[test]
            fn opens_once_at_a_time() {
                suite::opens_once_at_a_time::<$kind>();
            }
        }
    )* };
}

suite! {
    memory: Memory, ;
    wrapped: Wrapped, ;
    redb: Redb, "redb";
    fjall: Fjall, "fjall";
    lmdb: Lmdb, "lmdb";
}
