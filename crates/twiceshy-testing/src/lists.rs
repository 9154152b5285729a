//! Exactness on two lists: the one property that all YES/NO lists share.
//!
//! [`check_static`] builds a list in every way that it can be built and asks it for every key.
//! [`play`] is a game of the dynamic lists against a pair of sets: keys with chosen hash streams
//! that collide come, go and move, the reverse map fails now and then, and after every move all
//! of `Y` is answered YES, all of `N` NO, and the filter is what the lists demand to the byte.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::adaptive::universe::{Chosen, ChosenKey, Universe};
use crate::source::{Exhausted, Source};
use twiceshy::hash::{Hashed, Seed};
use twiceshy::lists::dynamic::{Change, DynamicList, Form, Untagged};
use twiceshy::lists::static_::Like;
use twiceshy::lists::tagged::Tagged;
use twiceshy::lists::{Answer, BuildList, List, ListFile, StaticYesNo, YesNo, delta};
use twiceshy::sets::reverse_map::{MemoryMap, ReverseMap};
use twiceshy::{Error, Geometry};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Builds a list of so many keys, a few of them twice, and asks it for all of them, as it was
/// built and as it comes back from a file. Gives how many answers were checked.
///
/// # Errors
/// What was wrong.
pub fn check_static<L: BuildList + ListFile>(
    yes: u64,
    no: u64,
    fpr: f64,
    seed: u64,
) -> Result<u64, String> {
    let case = format!("{yes} and {no} keys at {fpr}, seed {seed}");
    // Different keys for different seeds; a tenth of the YES keys stands twice.
    let key = |i: u64| seed << 40 | i;
    let lens = [yes, no];
    let yes: Vec<u64> = (0..yes).chain(0..yes / 10).map(key).collect();
    let no: Vec<u64> = (0..no).map(|i| key(i | 1 << 39)).collect();
    let built = L::build_seeded(&yes, &no, fpr, Seed::from_u64(seed));
    let list = built.map_err(|error| format!("{case}: {error}"))?;
    let file = list.to_bytes();
    let read = L::from_bytes(&file).map_err(|error| format!("{case}: {error}"))?;
    if read.to_bytes() != file {
        return Err(format!("{case}: a file is not written as it was read"));
    }
    if [list.len_of(List::Yes), list.len_of(List::No)] != lens {
        return Err(format!("{case}: it counts its keys wrongly"));
    }
    // A Bloom filter keeps its rate over seeds; one of them has somewhat more bits set.
    let luck = 1.0 + 8.0 / f64::max(1.0, yes.len() as f64).sqrt();
    if list.expected_fpr() > fpr * luck {
        return Err(format!("{case}: other keys at {}", list.expected_fpr()));
    }
    for (keys, answer) in [(&yes, Answer::Yes), (&no, Answer::No)] {
        for key in keys {
            if list.answer(key) != answer || read.answer_hashed(&read.hash(key)) != answer {
                return Err(format!("{case}: {key} is not answered {answer:?}"));
            }
        }
    }
    Ok(2 * (yes.len() + no.len()) as u64)
}

/// A reverse map that fails when it is told to.
#[derive(Debug, Default)]
pub struct Flaky {
    map: MemoryMap,
    /// Operations until one fails; none does at zero.
    fuse: Cell<u32>,
    /// How many fail then.
    failures: Cell<u32>,
}

/// What goes wrong with a list over a [`Flaky`] map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The map failed.
    Map,
    /// The list did.
    List(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::List(error)
    }
}

impl Flaky {
    fn burn(&self) -> Result<(), Failed> {
        match (self.fuse.get(), self.failures.get()) {
            (0, _) | (1, 0) => Ok(()),
            (1, failures) => {
                self.failures.set(failures - 1);
                Err(Failed::Map)
            }
            (fuse, _) => {
                self.fuse.set(fuse - 1);
                Ok(())
            }
        }
    }
}

impl ReverseMap for Flaky {
    type Error = Failed;

    fn keys(&self, h0: RangeInclusive<u64>, each: impl FnMut(u64, &[u8])) -> Result<(), Failed> {
        self.burn()?;
        self.map.keys(h0, each).map_err(Failed::from)
    }

    fn insert(&mut self, h0: u64, key: &[u8]) -> Result<bool, Failed> {
        self.burn()?;
        self.map.insert(h0, key).map_err(Failed::from)
    }

    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, Failed> {
        self.burn()?;
        self.map.remove(h0, key).map_err(Failed::from)
    }
}

/// How often things happened in a game, so that a test can't pass by doing nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Keys that came.
    pub added: u64,
    /// Keys that went to the other list.
    pub moved: u64,
    /// Keys that went.
    pub removed: u64,
    /// Changes that the map refused.
    pub failed: u64,
    /// Keys whose streams can't be told from one on the other list.
    pub inseparable: u64,
    /// Times that the filter grew.
    pub grown: u64,
    /// Answers that were checked.
    pub answers: u64,
    /// Deltas that were made and applied.
    pub deltas: u64,
}

/// Plays a game of one of the two dynamic lists in a small geometry, as the source says.
///
/// # Errors
/// What was wrong.
pub fn play_any(source: &mut Source<'_>, steps: u64) -> Result<Moves, String> {
    let setting = |source: &mut Source<'_>| -> Result<_, Exhausted> {
        let slots = 1 + source.below(200)?;
        let bits = 1 + source.below(9)? as u32;
        Ok((slots, bits, source.one_in(2)?))
    };
    let Ok((slots, bits, tagged)) = setting(source) else {
        return Ok(Moves::default());
    };
    let geometry = Geometry::new(slots, bits).expect("a small geometry");
    if tagged {
        play::<Tagged>(geometry, source, steps, |_, _| Ok(()))
    } else {
        let mut last = None;
        play::<Untagged>(geometry, source, steps, |list, moves| {
            check_snapshot(list, &mut last, moves)
        })
    }
}

/// A snapshot is the list that would be built, and a delta leads from each to the next.
fn check_snapshot(
    list: &YesNo<Flaky, Chosen>,
    last: &mut Option<Vec<u8>>,
    moves: &mut Moves,
) -> Result<(), String> {
    let snapshot = list.snapshot().map_err(|error| error.to_string())?;
    let mut keys = [Vec::new(), Vec::new()];
    for (_, entry) in list.map().map.iter() {
        keys[usize::from(entry[0] == b'N')].push(entry[1..].to_vec());
    }
    let (built, like) = snapshot
        .build_like(&keys[0], &keys[1], 1.0)
        .map_err(|error| error.to_string())?;
    let (bytes, built) = (snapshot.to_bytes(), built.to_bytes());
    if like != Like::Same || bytes != built {
        return Err("the snapshot is not the list that would be built".to_owned());
    }
    if let Some(last) = last.replace(bytes.clone()) {
        let delta = delta::diff(&last, &bytes).map_err(|error| error.to_string())?;
        let applied = delta::apply(&last, delta.as_bytes()).map_err(|error| error.to_string())?;
        if applied != bytes {
            return Err("a delta does not lead to the next version".to_owned());
        }
        let wrong = delta::apply(&bytes, delta.as_bytes());
        if last != bytes && !matches!(wrong, Err(Error::Delta { .. })) {
            return Err(format!("a delta was applied to the wrong base: {wrong:?}"));
        }
        moves.deltas += 1;
    }
    StaticYesNo::<Chosen>::from_bytes(&bytes)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

/// Plays a game of a dynamic list against a pair of sets.
///
/// # Errors
/// What was wrong, and after how many steps.
pub fn play<F: Form>(
    geometry: Geometry,
    source: &mut Source<'_>,
    steps: u64,
    mut look: impl FnMut(&DynamicList<F, Flaky, Chosen>, &mut Moves) -> Result<(), String>,
) -> Result<Moves, String> {
    let mut moves = Moves::default();
    let width = geometry.remainder_bits() + u32::from(F::value(List::No).is_some());
    let Ok(universe) = Universe::new(&geometry, width, source) else {
        return Ok(moves);
    };
    let list = DynamicList::with_geometry(Flaky::default(), geometry, Seed::from_u64(0));
    let mut game = Game::<F> {
        list: list.map_err(|error| format!("{error:?}"))?,
        keys: &universe.keys,
        twins: universe.twins,
        truth: BTreeMap::new(),
    };
    for step in 0..steps {
        let before = game.list.filter().geometry();
        match game.step(source, &mut moves) {
            Ok(()) => {}
            Err(Stop::Exhausted) => break,
            Err(Stop::Wrong(what)) => return Err(format!("step {step}: {what}")),
        }
        moves.grown += u64::from(game.list.filter().geometry() != before);
        let looked = game.check(&mut moves).and_then(|()| match step % 8 {
            0 => look(&game.list, &mut moves),
            _ => Ok(()),
        });
        looked.map_err(|what| format!("after step {step}: {what}"))?;
    }
    Ok(moves)
}

struct Game<'u, F: Form> {
    list: DynamicList<F, Flaky, Chosen>,
    keys: &'u [ChosenKey],
    twins: bool,
    truth: BTreeMap<&'u [u8], List>,
}

enum Stop {
    Exhausted,
    Wrong(String),
}

impl From<Exhausted> for Stop {
    fn from(_: Exhausted) -> Self {
        Stop::Exhausted
    }
}

impl<'u, F: Form> Game<'u, F> {
    fn step(&mut self, source: &mut Source<'_>, moves: &mut Moves) -> Result<(), Stop> {
        let key = &self.keys[source.below(self.keys.len() as u64)? as usize];
        let bytes = &key.bytes[..];
        let before = self.truth.get(bytes).copied();
        let wish = source.weighted(&[(Some(List::Yes), 5), (Some(List::No), 4), (None, 4)])?;
        if source.one_in(12)? {
            self.list.map().fuse.set(1 + source.below(4)? as u32);
            self.list.map().failures.set(1 + source.below(2)? as u32);
        }
        let result = match wish {
            Some(list) => self.list.add(bytes, list).map(|change| {
                match change {
                    Change::Added => moves.added += 1,
                    Change::Moved => moves.moved += 1,
                    Change::Nothing => {}
                }
                let expected = match before {
                    None => Change::Added,
                    Some(before) if before == list => Change::Nothing,
                    Some(_) => Change::Moved,
                };
                change == expected
            }),
            None => self.list.remove(bytes).map(|listed| {
                moves.removed += u64::from(listed.is_some());
                listed == before
            }),
        };
        self.list.map().fuse.set(0);
        match result {
            Ok(true) => {
                match wish {
                    Some(list) => self.truth.insert(bytes, list),
                    None => self.truth.remove(bytes),
                };
                Ok(())
            }
            Ok(false) => Err(Stop::Wrong(format!(
                "{wish:?} of a key that was {before:?}"
            ))),
            Err(Failed::Map) => {
                moves.failed += 1;
                // Who could not be put back is on neither list, and the filter knows.
                let lost = self.list.lookup_exact(bytes) == Ok(None);
                if before.is_some() && lost {
                    if self.list.map().failures.get() > 0 || before == wish || wish.is_none() {
                        return Err(Stop::Wrong("a failed change lost a key".to_owned()));
                    }
                    self.truth.remove(bytes);
                }
                Ok(())
            }
            Err(Failed::List(Error::Inseparable)) if self.twins => {
                moves.inseparable += 1;
                Ok(())
            }
            Err(error) => Err(Stop::Wrong(format!("{wish:?}: {error:?}"))),
        }
    }

    /// All that must hold at every moment.
    fn check(&self, moves: &mut Moves) -> Result<(), String> {
        let list = &self.list;
        if let Err(error) = list.check_invariants() {
            return Err(format!("{error:?}"));
        }
        for key in self.keys {
            let hashed = Hashed::from_bytes::<Chosen>(&Seed::from_u64(0), &key.bytes);
            let answer = list.answer_hashed(&hashed);
            let truth = self.truth.get(&key.bytes[..]).copied();
            let right = match truth {
                Some(List::Yes) => answer == Answer::Yes,
                Some(List::No) => answer == Answer::No,
                None => true,
            };
            let exact = list.lookup_exact(&key.bytes[..]) == Ok(truth);
            if !right || !exact {
                return Err(format!("a key of {truth:?} is answered {answer:?}"));
            }
            moves.answers += 1;
        }
        let count = |which| self.truth.values().filter(|&&list| list == which).count() as u64;
        let lens = [list.len_of(List::Yes), list.len_of(List::No)];
        if lens != [count(List::Yes), count(List::No)] {
            return Err(format!("it says that it has {lens:?} keys"));
        }
        Ok(())
    }
}

/// Writes the right checksum into a delta: that of its content, seeded with that of the fields
/// before the checksum. Bytes that are no whole start of a delta stay as they are.
fn repair_delta(delta: &mut [u8]) {
    let Some((start, content)) = delta.split_first_chunk_mut::<40>() else {
        return;
    };
    let (fields, checksum) = start.split_at_mut(32);
    checksum.copy_from_slice(&xxh3_64_with_seed(content, xxh3_64(fields)).to_le_bytes());
}

/// Gives a delta the right checksum, which nothing looks behind otherwise, and applies it.
/// Gives whether it was accepted.
///
/// # Panics
/// If it makes anything but a sound list, or fails in another way than by what it holds.
pub fn judge_delta(base: &[u8], delta: &mut [u8]) -> bool {
    repair_delta(delta);
    match delta::apply(base, delta) {
        Ok(file) => {
            let again = delta::diff(base, &file).map(|delta| delta.into_bytes());
            assert!(again.is_ok(), "what a delta makes is a list");
            true
        }
        Err(Error::Corrupt { .. } | Error::Format { .. } | Error::Delta { .. }) => false,
        Err(error) => panic!("a damaged delta: {error}"),
    }
}
