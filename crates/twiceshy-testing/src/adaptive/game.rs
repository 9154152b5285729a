//! The game: all operations interleaved.

use std::collections::BTreeMap;
use std::fmt;

use super::Setting;
use super::model::{Model, Refusal};
use super::outcomes::{Outcome, Outcomes};
use super::universe::{Chosen, ChosenKey, Universe};
use super::whole::builder;
use crate::source::{Exhausted, Source};
use crate::stop::{Stop, expect, fail};
use twiceshy::hash::Hashed;
use twiceshy::{AdaptiveFilter, Minirun};

/// Plays `operations` operations on a filter of these measures, or as many as the source
/// has choices for.
///
/// # Errors
/// What differed from the model or which promise was broken, and after which operation.
///
/// # Panics
/// If there is no filter of such measures.
pub fn run(setting: Setting, source: &mut Source<'_>, operations: u64) -> Result<Outcomes, String> {
    let mut outcomes = Outcomes::new();
    let Ok(mut game) = Game::new(setting, source) else {
        return Ok(outcomes);
    };
    for number in 0..operations {
        match game.step(source) {
            Ok(outcome) => {
                outcomes.record(outcome);
                outcomes.longest = outcomes.longest.max(game.longest);
                outcomes.crowd = outcomes.crowd.max(game.crowd);
            }
            Err(Stop::Exhausted) => break,
            Err(Stop::Failed(what)) => {
                return Err(format!(
                    "{setting:?}: operation {number}, {}: {what}",
                    game.last
                ));
            }
        }
    }
    match game.compare() {
        Err(Stop::Failed(what)) => Err(format!("{setting:?}: at the end: {what}")),
        _ => Ok(outcomes),
    }
}

/// What to do next.
#[derive(Clone, Copy, Debug)]
enum Op {
    Insert,
    InsertMember,
    InsertValue,
    InsertWith,
    AdaptPositive,
    AdaptAny,
    Remove,
    RemoveKnown,
    Shorten,
    Contains,
    Compare,
    Clone,
    Clear,
    // Now and then in place of a comparison:
    Reload,
    Resize,
    Merge,
    Rebuild,
    InsertBatch,
    BulkLoad,
}

/// What a comparison is: for a key that nobody needs, there is a draw already.
const WHOLE: [Op; 8] = [
    Op::Compare,
    Op::Reload,
    Op::Merge,
    Op::Resize,
    Op::Compare,
    Op::Rebuild,
    Op::InsertBatch,
    Op::BulkLoad,
];

/// Operations after which a table counts as full enough.
const LONGEST_FILLING: u64 = 400;

#[derive(Clone, Copy, Debug)]
enum Mode {
    Filling,
    Churning,
    Draining,
}

impl Mode {
    /// How often each operation comes. They sum up to 256, a byte of a fuzzer's.
    fn weights(self, values: bool) -> [(Op, u32); 13] {
        // Insertions of strangers, of members, of values and with keys; adaptations to
        // mistakes and to anything; removals with keys and without; shortenings.
        let mut weights = match self {
            Mode::Filling => [70, 64, 6, 36, 32, 4, 4, 2, 2],
            Mode::Churning => [42, 10, 8, 30, 60, 12, 40, 10, 8],
            Mode::Draining => [10, 2, 4, 12, 50, 12, 90, 24, 16],
        };
        if values {
            // Hardly anything goes in without keys.
            weights[3] += weights[0] + weights[1] - 6;
            (weights[0], weights[1]) = (4, 2);
        }
        let [
            insert,
            member,
            value,
            with,
            positive,
            any,
            remove,
            known,
            shorten,
        ] = weights;
        [
            (Op::Insert, insert),
            (Op::InsertMember, member),
            (Op::InsertValue, value),
            (Op::InsertWith, with),
            (Op::AdaptPositive, positive),
            (Op::AdaptAny, any),
            (Op::Remove, remove),
            (Op::RemoveKnown, known),
            (Op::Shorten, shorten),
            (Op::Contains, 20),
            (Op::Compare, 8),
            (Op::Clone, 7),
            (Op::Clear, 1),
        ]
    }
}

/// What an operation may do to the answers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    Anything,
    Nothing,
    /// No key becomes positive, and this one is negative.
    Less(Option<usize>),
    /// No key becomes negative, and this one is positive.
    More(Option<usize>),
}

pub(super) type Step = Result<(Outcome, Effect), Stop>;

pub(super) struct Game {
    pub(super) filter: AdaptiveFilter<Chosen>,
    pub(super) model: Model,
    pub(super) setting: Setting,
    /// The measures at the beginning.
    pub(super) base: Setting,
    /// Bits of the keys' streams that make a difference.
    pub(super) stream_bits: usize,
    /// Is this game a move of another?
    is_sibling: bool,
    pub(super) keys: Vec<ChosenKey>,
    pub(super) twins: bool,
    /// Are there counts above one? They make insertions without keys impossible.
    pub(super) counts: bool,
    /// Members, with count and value.
    pub(super) members: BTreeMap<usize, (u64, u64)>,
    /// What the model says of each key.
    pub(super) foretold: Vec<Option<(u64, u64)>>,
    /// What the filter said of each key.
    pub(super) found: Vec<bool>,
    mode: Mode,
    /// Operations in this mode, and of those the ones refused for want of room.
    patience: u64,
    pub(super) refusals: u64,
    pub(super) steps: usize,
    pub(super) longest: usize,
    pub(super) crowd: usize,
    pub(super) last: Last,
}

/// The last operation, for messages.
#[derive(Default)]
pub(super) struct Last {
    op: Option<Op>,
    pub(super) key: Option<usize>,
    pub(super) list: Vec<usize>,
}

impl fmt::Display for Last {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(op) = self.op else { return Ok(()) };
        write!(f, "{op:?}")?;
        if let Some(key) = self.key {
            write!(f, " of key {key} with the keys {:?}", self.list)?;
        }
        Ok(())
    }
}

impl Game {
    fn new(setting: Setting, source: &mut Source<'_>) -> Result<Self, Exhausted> {
        let geometry = setting.geometry();
        let width = setting.remainder_bits + setting.value_bits;
        let universe = Universe::new(&geometry, width, source)?;
        let counts = source.one_in(2)?;
        let digits = universe.keys.first().map_or(0, |key| key.digits.len());
        Ok(Game {
            filter: builder(setting).build().expect("a small filter"),
            model: Model::new(geometry, setting.value_bits),
            setting,
            base: setting,
            stream_bits: digits * width as usize,
            is_sibling: false,
            members: BTreeMap::new(),
            foretold: vec![None; universe.keys.len()],
            found: vec![false; universe.keys.len()],
            keys: universe.keys,
            twins: universe.twins,
            counts,
            mode: Mode::Filling,
            patience: 0,
            refusals: 0,
            steps: 0,
            longest: 0,
            crowd: 0,
            last: Last::default(),
        })
    }

    /// A game on an empty filter of the same measures that is soon to churn. It takes the keys
    /// along, and has no siblings.
    pub(super) fn sibling(&mut self) -> Game {
        let setting = self.setting;
        Game {
            filter: builder(setting).build().expect("there is one already"),
            model: Model::new(setting.geometry(), setting.value_bits),
            members: BTreeMap::new(),
            foretold: vec![None; self.keys.len()],
            found: vec![false; self.keys.len()],
            keys: std::mem::take(&mut self.keys),
            is_sibling: true,
            patience: LONGEST_FILLING - 8,
            mode: Mode::Filling,
            refusals: 0,
            longest: 0,
            crowd: 0,
            last: Last::default(),
            ..*self
        }
    }

    /// A key in one of its two forms: they must not make a difference. Streams that are
    /// equal are one key, so with twins there is but one form.
    pub(super) fn hashed(&self, key: usize) -> Hashed<'_> {
        if self.twins || (key + self.steps) % 2 == 0 {
            self.keys[key].keyed()
        } else {
            self.keys[key].stream()
        }
    }

    pub(super) fn minirun(&self, key: usize) -> u64 {
        self.keys[key].minirun
    }

    /// One operation and all that must hold after it.
    pub(super) fn step(&mut self, source: &mut Source<'_>) -> Result<Outcome, Stop> {
        self.steps += 1;
        self.drift();
        let mut op = source.weighted(&self.mode.weights(self.setting.value_bits > 0))?;
        let key = source.below(self.keys.len() as u64)? as usize;
        if matches!(op, Op::Compare) && !self.is_sibling {
            op = WHOLE[(key + self.steps) % WHOLE.len()];
        }
        self.last.op = Some(op);
        self.last.key = None;
        let (outcome, effect) = match op {
            Op::Insert => self.insert(self.near(key, |game, key| !game.is_member(key))),
            Op::InsertMember => self.insert(self.near(key, Self::is_member)),
            Op::InsertValue => {
                let value = source.below(2 << self.setting.value_bits)?;
                self.insert_value(key, value)
            }
            Op::InsertWith => self.insert_with(key, source),
            Op::AdaptPositive => {
                let wrong = |game: &Self, key| game.found[key] && !game.is_member(key);
                self.adapt(self.near(key, wrong), source)
            }
            Op::AdaptAny => self.adapt(key, source),
            Op::Remove => {
                let stray = source.one_in(16)?;
                let key = if stray {
                    key
                } else {
                    self.near(key, Self::is_member)
                };
                self.remove(key, source)
            }
            Op::RemoveKnown => self.remove_known(self.near(key, Self::is_member)),
            Op::Shorten => self.shorten(key, source),
            Op::Contains => self.ask(key),
            Op::Compare => self.compare(),
            Op::Clone => self.change_over(key),
            // Rarely, or no table would ever be full.
            Op::Clear if source.one_in(4)? => self.clear(),
            Op::Clear => self.compare(),
            Op::Reload => self.reload(key),
            Op::Resize => self.resize(key),
            Op::Merge => self.merge(key),
            Op::Rebuild => self.rebuild(key),
            Op::InsertBatch => self.insert_batch(key),
            Op::BulkLoad => self.bulk_load(),
        }?;
        self.verify(effect)?;
        Ok(outcome)
    }

    /// Goes on to the next mode when it is time.
    fn drift(&mut self) {
        self.patience += 1;
        self.mode = match self.mode {
            Mode::Filling if self.refusals > 3 || self.patience > LONGEST_FILLING => Mode::Churning,
            Mode::Churning if self.patience > 250 => Mode::Draining,
            Mode::Draining if self.members.is_empty() || self.patience > 150 => Mode::Filling,
            _ => return,
        };
        self.patience = 0;
        self.refusals = 0;
    }

    pub(super) fn is_member(&self, key: usize) -> bool {
        self.members.contains_key(&key)
    }

    /// The first key from `from` on, round about, that is such; `from` if none is.
    fn near(&self, from: usize, which: impl Fn(&Self, usize) -> bool) -> usize {
        let round = (from..self.keys.len()).chain(0..from);
        let mut such = round.filter(|&key| which(self, key));
        such.next().unwrap_or(from)
    }

    /// The keys to give for a minirun: the right ones in some order, or wrong ones.
    pub(super) fn list(
        &mut self,
        minirun: u64,
        source: &mut Source<'_>,
    ) -> Result<Vec<usize>, Exhausted> {
        let here = |key: &usize| self.minirun(*key) == minirun;
        let mut list: Vec<usize> = self.members.keys().copied().filter(here).collect();
        let choice = source.below(32)?;
        let at = if list.is_empty() {
            0
        } else {
            choice as usize % list.len()
        };
        // Somebody of the minirun who is no member.
        let stranger = |from: usize| {
            let all = (from..self.keys.len()).chain(0..from);
            let mut strangers = all.filter(|key| here(key) && !self.is_member(*key));
            strangers.next()
        };
        match choice {
            0..16 => {}
            16..20 if !list.is_empty() => list.rotate_left(at),
            20..23 => list.reverse(),
            23..26 if !list.is_empty() => list.push(list[at]),
            26 if !list.is_empty() => drop(list.swap_remove(at)),
            27 => list.extend(stranger(self.steps % self.keys.len())),
            28 => list.insert(at, self.steps % self.keys.len()),
            29 if !list.is_empty() => {
                if let Some(stranger) = stranger(self.steps % self.keys.len()) {
                    list[at] = stranger;
                }
            }
            _ => {}
        }
        self.last.list.clone_from(&list);
        Ok(list)
    }

    /// The list without repetitions, or `Mismatch` if one is of another minirun.
    pub(super) fn as_set(&self, minirun: u64, list: &[usize]) -> Result<Vec<usize>, Refusal> {
        let mut set = vec![];
        for &key in list {
            if self.minirun(key) != minirun {
                return Err(Refusal::Mismatch);
            }
            if !set.contains(&key) {
                set.push(key);
            }
        }
        Ok(set)
    }

    /// Every way to ask for a key.
    pub(super) fn look_closely(&self, key: usize) -> Result<(), Stop> {
        let bytes = &self.keys[key].bytes[..];
        let foretold = self.foretold[key];
        let place = foretold.map(|_| self.minirun(key));
        for hashed in [self.keys[key].keyed(), self.keys[key].stream()] {
            let found = self.filter.contains_hashed(&hashed);
            expect("`contains_hashed`", found, foretold.is_some())?;
            let found = self.filter.lookup_hashed(&hashed).map(Minirun::id);
            expect("`lookup_hashed`", found, place)?;
            let entry = self.filter.entry_hashed(&hashed);
            let entry = entry.map(|entry| (entry.count, entry.value));
            expect("`entry_hashed`", entry, foretold)?;
        }
        expect(
            "`contains`",
            self.filter.contains(bytes),
            foretold.is_some(),
        )?;
        expect(
            "`lookup`",
            self.filter.lookup(bytes).map(Minirun::id),
            place,
        )?;
        let entry = self.filter.entry(bytes);
        expect(
            "`entry`",
            entry.map(|entry| (entry.count, entry.value)),
            foretold,
        )
    }

    /// All that must hold after an operation.
    fn verify(&mut self, effect: Effect) -> Result<(), Stop> {
        if let Err(violation) = self.filter.check_invariants() {
            return fail(violation.to_string());
        }
        expect("the length", self.filter.len(), self.model.live())?;
        expect(
            "the number of ghosts",
            self.filter.ghosts(),
            self.model.ghosts(),
        )?;
        let load = self.model.used() as f64 / self.setting.slots as f64;
        expect("the load", self.filter.load(), load)?;
        let minirun = self.last.key.map(|key| self.minirun(key));
        for key in 0..self.keys.len() {
            // All keys of the minirun, and some of the others in turn.
            let near = minirun.is_none_or(|minirun| minirun == self.minirun(key));
            if !near && (key + self.steps) % 8 != 0 {
                continue;
            }
            let (before, hashed) = (self.found[key], self.hashed(key));
            let now = self.filter.contains_hashed(&hashed);
            if now != self.foretold[key].is_some() {
                return fail(format!("the answer for key {key} is {now}"));
            }
            let broken = match effect {
                Effect::Anything => false,
                Effect::Nothing => now != before,
                Effect::Less(no) => now && (!before || no == Some(key)),
                Effect::More(yes) => !now && (before || yes == Some(key)),
            };
            if broken {
                return fail(format!("{effect:?}, but key {key}: {before}, then {now}"));
            }
            if let Some(&member) = self.members.get(&key) {
                if !now {
                    return fail(format!("member {key} is answered \"no\""));
                }
                if near {
                    let entry = self.filter.entry_hashed(&hashed);
                    let entry = entry.map(|entry| (entry.count, entry.value));
                    expect("a member's entry", entry, Some(member))?;
                }
            }
            drop(hashed);
            self.found[key] = now;
        }
        Ok(())
    }
}
