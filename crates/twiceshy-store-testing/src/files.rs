//! Files that lose their power.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use twiceshy_testing::Source;

use crate::cut::{Cut, Fate, Survivors};
use twiceshy_store::files::Files;

/// Files in memory that keep for sure only what was synced: [`Directory`](twiceshy_store::files::Directory),
/// step by step, on a file system that promises no more than it must.
///
/// ```text
///    replace:  write aside ─► sync it ─► rename ─► sync names      4 operations of the Cut
///    append:   write                                               1
///    remove:   unlink                                              1
/// ```
///
/// Reads are not counted, but fail as well when the power is off.
///
/// With [`Cut::at`] one operation fails, as on a full disk, and the process goes on; with
/// [`Cut::from`] the power is off, and [`restart`](Self::restart) shows what is left: appended
/// bytes are lost or torn, and names that were not synced are the old ones. Clones are handles
/// of the same files.
#[derive(Clone, Debug)]
pub struct LossyFiles {
    cut: Cut,
    state: Arc<Mutex<State>>,
}

type Names = BTreeMap<String, usize>;

#[derive(Clone, Debug, Default)]
struct State {
    contents: Vec<Contents>,
    /// Which name is which file for the process, and which one for sure.
    now: Names,
    synced: Names,
    /// How to get from the one to the other.
    since: Vec<Step>,
}

#[derive(Clone, Debug, Default)]
struct Contents {
    bytes: Vec<u8>,
    /// So many of them are safe.
    synced: usize,
}

#[derive(Clone, Debug)]
enum Step {
    Link(String, usize),
    Rename(String, String),
    Unlink(String),
}

impl Step {
    fn apply(&self, names: &mut Names) {
        match self {
            Step::Link(name, file) => {
                names.insert(name.clone(), *file);
            }
            Step::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
            Step::Unlink(name) => {
                names.remove(name);
            }
        }
    }
}

impl State {
    fn step(&mut self, step: Step) {
        step.apply(&mut self.now);
        self.since.push(step);
    }

    fn file(&mut self, name: &str) -> &mut Contents {
        let file = match self.now.get(name) {
            Some(&file) => file,
            None => self.create(name),
        };
        &mut self.contents[file]
    }

    fn create(&mut self, name: &str) -> usize {
        let file = self.contents.len();
        self.contents.push(Contents::default());
        self.step(Step::Link(name.to_owned(), file));
        file
    }
}

impl LossyFiles {
    /// No files.
    #[must_use]
    pub fn new(cut: Cut) -> Self {
        LossyFiles {
            cut,
            state: Arc::default(),
        }
    }

    /// The files as they come up again, with the same [`Cut`], which is to be set anew.
    #[must_use]
    pub fn restart(&self, survivors: Survivors) -> LossyFiles {
        let mut state = self.state().clone();
        match survivors {
            Survivors::None => {
                state.now.clone_from(&state.synced);
                for file in &mut state.contents {
                    file.bytes.truncate(file.synced);
                }
            }
            Survivors::All => {}
            Survivors::Some { seed } => {
                let mut source = Source::from_seed(seed);
                let mut below = |end: usize| {
                    let draw = source.below(end as u64).expect("a seed never ends");
                    usize::try_from(draw).expect("it is below a usize")
                };
                // Names change in order: all up to some moment.
                state.now.clone_from(&state.synced);
                let kept = below(state.since.len() + 1);
                for step in &state.since[..kept] {
                    step.apply(&mut state.now);
                }
                for file in &mut state.contents {
                    tear(file, &mut below);
                }
            }
        }
        state.synced.clone_from(&state.now);
        state.since.clear();
        for file in &mut state.contents {
            file.synced = file.bytes.len();
        }
        LossyFiles {
            cut: self.cut.clone(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self) -> io::Result<()> {
        self.cut.passes().then_some(()).ok_or_else(failure)
    }

    /// Writes at the end of a file, or of a new one. When it is cut off, half of the bytes are
    /// there.
    fn write(&self, name: &str, bytes: &[u8], anew: bool) -> io::Result<()> {
        let fate = self.cut.count();
        let written = match fate {
            Fate::Passes => bytes,
            Fate::CutOff => &bytes[..bytes.len() / 2],
            Fate::Off => return Err(failure()),
        };
        let mut state = self.state();
        if anew {
            state.create(name);
        }
        state.file(name).bytes.extend_from_slice(written);
        (fate == Fate::Passes).then_some(()).ok_or_else(failure)
    }
}

fn failure() -> io::Error {
    io::Error::other("an injected failure")
}

/// What was not synced is cut short anywhere, and a part of the rest may be zeros: a file
/// system can know the length of a file before it has its bytes.
fn tear(file: &mut Contents, below: &mut impl FnMut(usize) -> usize) {
    let unsynced = file.bytes.len() - file.synced;
    let kept = file.synced + below(unsynced + 1);
    file.bytes.truncate(kept);
    if below(2) == 0 {
        let from = file.synced + below(kept - file.synced + 1);
        file.bytes[from..].fill(0);
    }
}

impl Files for LossyFiles {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        if self.cut.is_off() {
            return Err(failure());
        }
        let state = self.state();
        let file = state.now.get(name);
        Ok(file.map(|&file| state.contents[file].bytes.clone()))
    }

    fn replace(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        let aside = format!("{name}.new");
        self.write(&aside, contents, true)?;

        self.pass()?;
        let mut state = self.state();
        let file = state.file(&aside);
        file.synced = file.bytes.len();
        drop(state);

        self.pass()?;
        self.state().step(Step::Rename(aside, name.to_owned()));

        self.pass()?;
        let mut state = self.state();
        state.synced = state.now.clone();
        state.since.clear();
        Ok(())
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write(name, bytes, false)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.pass()?;
        self.state().step(Step::Unlink(name.to_owned()));
        Ok(())
    }
}
