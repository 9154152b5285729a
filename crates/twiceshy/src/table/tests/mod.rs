//! The table against a model: a list of runs, each a list of fingerprints, each a home
//! slot and the slots behind it that continue it. Here slots are opened and closed one by one;
//! what filters do is in [`verbs`].
//!
//! Everything is done twice, with the portable instructions and with those of this
//! machine (each set of them in turn), and must come out the same to the byte. Sidecars with a low `MAX_OFFSET` make
//! the long walks of large tables happen in small ones.

mod model;
#[path = "../../../tests/share/mod.rs"]
mod share;
mod verbs;
mod verify;
mod writer;

use self::model::{Lane, Made, Model, Random, Stored, Tag, Unended};
use super::*;
use crate::bits::{Cpu, Isa, Operation, Portable, mask_below};
use crate::error::Error;
use crate::mem::HugePages;

/// A change to a table.
#[derive(Clone, Copy, Debug)]
enum Edit {
    OpenHome { at: u64, value: u64, item: Tag },
    OpenTail { at: u64, digit: Slot<Tag> },
    Close { at: u64 },
    Overwrite { at: u64, value: u64 },
}

struct Apply<'t, S: Made> {
    table: &'t mut Table<S>,
    quotient: u64,
    edit: Edit,
}

impl<S: Made> Operation for Apply<'_, S> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let run = self.table.run_on::<I>(self.quotient);
        match self.edit {
            Edit::OpenHome { at, value, item } => self.table.open_home::<I>(&run, at, value, item),
            Edit::OpenTail { at, digit } => self.table.open_tail::<I>(&run, at, digit),
            Edit::Close { at } => {
                self.table.close::<I>(&run, at);
                Ok(())
            }
            Edit::Overwrite { at, value } => {
                self.table.set_value(at, value);
                Ok(())
            }
        }
    }
}

/// The first empty slot behind a run.
struct FirstEmpty<'t, S: Sidecar> {
    table: &'t Table<S>,
    end: u64,
}

impl<S: Sidecar> Operation for FirstEmpty<'_, S> {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        self.table.first_empty::<I>(self.end)
    }
}

/// Is there a fingerprint with this remainder, and is one of them of one slot?
fn found(run: &[Stored], ignored: u32, remainder: u64) -> Found {
    let equal = || run.iter().filter(|one| one.home.0 >> ignored == remainder);
    match (equal().next(), equal().any(|one| one.tail.is_empty())) {
        (None, _) => Found::No,
        (_, true) => Found::Yes,
        (_, false) => Found::Ask,
    }
}

/// The slots of the minirun of a remainder in a run that starts at slot `start`.
fn minirun(run: &[Stored], ignored: u32, remainder: u64, start: u64) -> std::ops::Range<u64> {
    let slots = |prints: &[Stored]| {
        prints
            .iter()
            .map(|one| 1 + one.tail.len() as u64)
            .sum::<u64>()
    };
    let remainder_of = |one: &Stored| one.home.0 >> ignored;
    let from = run.partition_point(|one| remainder_of(one) < remainder);
    let to = run.partition_point(|one| remainder_of(one) <= remainder);
    start + slots(&run[..from])..start + slots(&run[..to])
}

/// Where quotients come from.
#[derive(Clone, Copy, Debug)]
enum Where {
    Anywhere,
    OneRun,
    LastQuotient,
    Descending,
    Edges,
}

const PLACES: [Where; 5] = [
    Where::Anywhere,
    Where::OneRun,
    Where::LastQuotient,
    Where::Descending,
    Where::Edges,
];

/// Quotients from a place.
struct Quotients {
    last: u64,
    place: Where,
    centre: u64,
}

impl Quotients {
    fn new(quotients: u64, place: Where, random: &mut Random) -> Self {
        let last = quotients - 1;
        let centre = match place {
            Where::LastQuotient | Where::Descending => last,
            _ => random.below(quotients),
        };
        Quotients {
            last,
            place,
            centre,
        }
    }

    fn next(&mut self, random: &mut Random) -> u64 {
        let last = self.last;
        match self.place {
            Where::Anywhere => random.below(last + 1),
            // A neighbour now and then, so that something is pushed along.
            Where::OneRun if random.one_in(16) => (self.centre + random.below(3)).min(last),
            Where::OneRun | Where::LastQuotient => self.centre,
            Where::Descending => {
                let step = random.below(3);
                self.centre = self.centre.checked_sub(step).unwrap_or(last);
                self.centre
            }
            Where::Edges => {
                let block = random.below(last / 64 + 1);
                (block * 64 + [0, 63][random.below(2) as usize]).min(last)
            }
        }
    }
}

/// A table in both ways, and its model.
struct Game<S: Made> {
    portable: Table<S>,
    fast: Table<S>,
    model: Model,
    options: TableOptions,
    random: Random,
    quotients: Quotients,
    /// Edits, and openings refused.
    edits: u64,
    /// The sets of instructions that this machine has; the portable one, if it has no other.
    cpus: Vec<Cpu>,
    full: u64,
    /// The most blocks in a row, at any time, whose offsets were too long to be stored.
    longest_walk: u64,
}

fn options(quotients: u64, slot_bits: u32, ignored_bits: u32) -> TableOptions {
    TableOptions {
        quotients,
        slot_bits,
        ignored_bits,
        huge_pages: HugePages::Never,
        blocks: None,
    }
}

fn bytes<S: Sidecar>(table: &Table<S>) -> &[u8] {
    table.blocks.bytes()
}

impl<S: Made> Game<S> {
    fn new(options: TableOptions, place: Where, seed: u64) -> Self {
        let mut random = Random(seed);
        let quotients = Quotients::new(options.quotients, place, &mut random);
        Game {
            portable: Table::new(options).unwrap(),
            fast: Table::new(options).unwrap(),
            model: Model::new(options.quotients),
            options,
            quotients,
            random,
            edits: 0,
            cpus: Cpu::all(),
            full: 0,
            longest_walk: 0,
        }
    }

    fn quotient(&mut self) -> u64 {
        self.quotients.next(&mut self.random)
    }

    /// The instructions to compare with the portable ones, in turn.
    fn cpu(&self) -> Cpu {
        let fast = &self.cpus[self.cpus.len().min(2) - 1..];
        fast[self.edits as usize % fast.len()]
    }

    fn apply(&mut self, quotient: u64, edit: Edit) -> Result<(), Error> {
        let cpu = self.cpu();
        let portable = Apply {
            table: &mut self.portable,
            quotient,
            edit,
        };
        let fast = Apply {
            table: &mut self.fast,
            quotient,
            edit,
        };
        let result = portable.run::<Portable>();
        assert_eq!(cpu.run(fast), result);
        assert!(bytes(&self.portable) == bytes(&self.fast), "{edit:?}");
        self.edits += 1;
        result
    }

    /// Opens a slot somewhere; says whether there was room.
    fn open(&mut self) -> bool {
        let quotient = self.quotient();
        let layout = self.model.layout(self.portable.slots());
        let run = layout.runs[quotient as usize];
        let stored = self.model.runs[quotient as usize].len();
        let value = self.random.word() & mask_below(self.options.slot_bits);
        let word = self.random.word();
        let marked = S::MARKS && stored > 0 && self.random.one_in(2);
        let i = self.random.below(stored as u64 + u64::from(!marked)) as usize;
        let home_at = run.start + self.model.slot_of(quotient, i);
        let before = bytes(&self.portable).to_vec();
        let result = if marked {
            let tail = self.model.runs[quotient as usize][i].tail.len() as u64;
            let behind = self.random.below(tail + 1);
            let runend = S::MARKED_RUNENDS && word >> 63 == 1;
            let item = S::item(Mark::GoesOn, word);
            #[rustfmt::skip]
            let digit = Slot { value, runend, item };
            let at = home_at + 1 + behind;
            let result = self.apply(quotient, Edit::OpenTail { at, digit });
            if result.is_ok() {
                let tail = &mut self.model.runs[quotient as usize][i].tail;
                tail.insert(behind as usize, digit);
            }
            result
        } else {
            let (at, item) = (home_at, S::item(Mark::Last, word));
            let result = self.apply(quotient, Edit::OpenHome { at, value, item });
            if result.is_ok() {
                let (home, tail) = ((value, item), Vec::new());
                self.model.runs[quotient as usize].insert(i, Stored { home, tail });
            }
            result
        };
        let slots = self.portable.slots();
        let room = layout.first_empty(run.end) < slots;
        if room {
            assert_eq!(result, Ok(()));
        } else {
            let used = self.model.used();
            assert_eq!(result, Err(Error::Full { used, slots }));
            assert!(bytes(&self.portable) == before, "full, but changed");
            self.full += 1;
        }
        room
    }

    /// Some fingerprint, if there is any: its quotient, its number in the run and the slot
    /// that it starts at.
    fn pick(&mut self) -> Option<(u64, usize, u64)> {
        let occupied: Vec<u64> = (0..self.options.quotients)
            .filter(|&quotient| !self.model.runs[quotient as usize].is_empty())
            .collect();
        if occupied.is_empty() {
            return None;
        }
        let quotient = occupied[self.random.below(occupied.len() as u64) as usize];
        let layout = self.model.layout(self.portable.slots());
        let start = layout.runs[quotient as usize].start;
        let stored = self.model.runs[quotient as usize].len() as u64;
        let i = self.random.below(stored) as usize;
        Some((quotient, i, start + self.model.slot_of(quotient, i)))
    }

    /// Changes the value of a slot somewhere, if any is open.
    fn overwrite(&mut self) {
        let Some((quotient, i, home_at)) = self.pick() else {
            return;
        };
        let value = self.random.word() & mask_below(self.options.slot_bits);
        let Stored { home, tail } = &mut self.model.runs[quotient as usize][i];
        let behind = self.random.below(tail.len() as u64 + 1);
        match behind.checked_sub(1) {
            Some(at) => tail[at as usize].value = value,
            None => home.0 = value,
        }
        let at = home_at + behind;
        assert_eq!(self.apply(quotient, Edit::Overwrite { at, value }), Ok(()));
    }

    /// Closes a slot somewhere, if any is open.
    fn close(&mut self) {
        let Some((quotient, i, home_at)) = self.pick() else {
            return;
        };
        let tail = self.model.runs[quotient as usize][i].tail.len() as u64;
        let at = if tail > 0 {
            let behind = self.random.below(tail);
            let tail = &mut self.model.runs[quotient as usize][i].tail;
            tail.remove(behind as usize);
            home_at + 1 + behind
        } else {
            self.model.runs[quotient as usize].remove(i);
            home_at
        };
        assert_eq!(self.apply(quotient, Edit::Close { at }), Ok(()));
    }

    /// What is cheap to check, after every edit.
    fn check(&mut self) {
        assert_eq!(self.portable.used(), self.model.used());
        assert_eq!(self.fast.used(), self.model.used());
        if let Err(violation) = self.portable.check_invariants() {
            panic!("{violation}");
        }
        let mut walk = 0;
        for block in 0..self.portable.blocks() {
            let is_stored = self.portable.header(block).offset < S::MAX_OFFSET;
            walk = if is_stored { 0 } else { walk + 1 };
            self.longest_walk = self.longest_walk.max(walk);
        }
    }

    /// Everything.
    fn check_all(&mut self) {
        let cpu = self.cpu();
        let table = &self.portable;
        let layout = self.model.layout(table.slots());
        for (at, expected) in (0..).zip(&layout.slots) {
            assert_eq!(table.slot(at), expected.unwrap_or_default(), "slot {at}");
        }
        for expected in &layout.runs {
            let quotient = expected.quotient;
            let first_empty = layout.first_empty(expected.end);
            let end = expected.end;
            for cpu in [Cpu::portable(), cpu] {
                assert_eq!(table.on(cpu).run(quotient), *expected);
                assert_eq!(table.on(cpu).run_slow(quotient), *expected);
                assert_eq!(cpu.run(FirstEmpty { table, end }), first_empty);
            }
            assert_eq!(table.is_occupied(quotient), expected.occupied);
            let stored = &self.model.runs[quotient as usize];
            let ignored = self.options.ignored_bits;
            let guess = self.random.word();
            let some = stored.first().map_or(guess, |first| first.home.0);
            for value in [guess, some].map(|value| value & mask_below(self.options.slot_bits)) {
                let remainder = value >> ignored;
                let fingerprint = Fingerprint {
                    quotient,
                    remainder,
                };
                let found = found(stored, ignored, remainder);
                let id = table.geometry().id_of(fingerprint);
                let h0 = *table.geometry().hash_range(id).start();
                for cpu in [Cpu::portable(), cpu] {
                    let table = table.on(cpu);
                    assert_eq!(table.contains_with::<S>(h0), found);
                    assert_eq!(table.contains_slow(h0), found);
                    if stored.is_sorted_by_key(|one| one.home.0 >> ignored) {
                        let minirun = minirun(stored, ignored, remainder, expected.start);
                        assert_eq!(table.minirun(fingerprint), minirun);
                    }
                }
            }
        }
        let runs = layout.runs.iter().copied().filter(|run| run.occupied);
        assert!(table.runs().eq(runs));
        assert_eq!(table.longest_cluster(), layout.longest_cluster());
        let written = written::<S>(&self.model, self.options).unwrap();
        assert!(bytes(&written) == bytes(table), "written otherwise");
        assert_eq!(written.used(), table.used());
        let copy = table.try_clone().unwrap();
        assert!(bytes(&copy) == bytes(table) && copy.used() == table.used());
    }

    /// Fills up to the brim, churns there, and drains, until `edits` are done.
    fn play(&mut self, edits: u64) {
        while self.edits < edits {
            self.phase(edits, 15, |game| game.full < 3);
            self.full = self.full.min(1);
            let until = self.edits + self.random.below(300);
            self.phase(edits.min(until), 8, |_| true);
            self.phase(edits, 2, |game| game.model.used() > 0);
            self.full = 0;
        }
        self.check_all();
    }

    /// Opens slots `opening` times out of 16 and closes slots otherwise.
    fn phase(&mut self, edits: u64, opening: u64, more: impl Fn(&Self) -> bool) {
        while self.edits < edits && more(self) {
            if self.random.one_in(16) {
                self.overwrite();
            } else if self.random.below(16) < opening {
                self.open();
            } else {
                self.close();
            }
            self.check();
            if self.random.one_in(48) {
                self.check_all();
            }
        }
        self.check_all();
    }
}

/// The model's content, written in order.
fn written<S: Made>(model: &Model, options: TableOptions) -> Result<Table<S>, Error> {
    let mut writer = Writer::new(Table::new(options)?);
    for (quotient, stored) in (0..).zip(&model.runs) {
        for fingerprint in stored {
            let (value, item) = fingerprint.home;
            writer.push(quotient, value, item)?;
            for &digit in &fingerprint.tail {
                writer.push_tail(digit)?;
            }
        }
    }
    Ok(writer.finish())
}

/// All places at several geometries.
fn against_the_model<S: Made>() {
    let geometries = [
        (1, 1, 0),
        (2, 56, 3),
        (63, 5, 0),
        (64, 9, 4),
        (65, 2, 1),
        (130, 16, 0),
        (200, 31, 2),
        (320, 3, 0),
    ];
    // With fewer, the larger ones would not get full.
    let edits = 6_000 / share::divisor().min(8) as u64;
    let mut longest_walk = 0;
    for (quotients, bits, ignored) in geometries {
        for place in PLACES {
            let options = options(quotients, bits, ignored);
            let mut game = Game::<S>::new(options, place, quotients);
            game.play(edits);
            longest_walk = longest_walk.max(game.longest_walk);
        }
    }
    // No table here is large enough for an offset that does not fit its 16 bits.
    assert_eq!(longest_walk > 0, S::MAX_OFFSET < u16::MAX);
}

#[test]
fn bare_slots_follow_the_model() {
    against_the_model::<Lane<false, false>>();
    against_the_model::<Lane<false, true>>();
}

#[test]
fn marked_slots_follow_the_model() {
    against_the_model::<Lane<true, false>>();
    against_the_model::<Unended>();
}

#[test]
fn offsets_of_bare_slots_saturate_and_walk_back() {
    against_the_model::<Lane<false, false, 64>>();
    against_the_model::<Lane<false, false, 65>>();
    against_the_model::<Lane<false, true, 100>>();
}

#[test]
fn offsets_of_marked_slots_saturate_and_walk_back() {
    against_the_model::<Lane<true, false, 64>>();
    against_the_model::<Lane<true, false, 65>>();
    against_the_model::<Lane<true, false, 100>>();
    against_the_model::<Unended<64>>();
    against_the_model::<Unended<100>>();
}

/// Nearly all in three quotients of one block or two, in a table of a dozen blocks: most
/// offsets are too long to be stored, and the walk back goes over many blocks.
fn walk_far<S: Made>() {
    for quotients in [300, 640] {
        for centre in [0, 30, 62, 63, 190].into_iter().step_by(share::divisor()) {
            let mut game = Game::<S>::new(options(quotients, 7, 0), Where::OneRun, centre);
            game.quotients.centre = centre;
            game.play(3_000);
            let blocks = game.portable.blocks() - centre / 64;
            // All later blocks but those that the end of the run is near to.
            let expected = blocks - 1 - u64::from(S::MAX_OFFSET).div_ceil(64);
            assert!(
                game.longest_walk >= expected,
                "{} of {blocks} blocks, {quotients} quotients, centre {centre}",
                game.longest_walk
            );
        }
    }
}

#[test]
fn long_offsets_of_bare_slots_are_found_over_many_blocks() {
    walk_far::<Lane<false, false, 64>>();
    walk_far::<Lane<false, false, 65>>();
    walk_far::<Lane<false, true, 100>>();
}

#[test]
fn long_offsets_of_marked_slots_are_found_over_many_blocks() {
    walk_far::<Lane<true, false, 64>>();
    walk_far::<Lane<true, false, 65>>();
    walk_far::<Lane<true, false, 100>>();
    walk_far::<Unended<64>>();
}

/// All in the last quotient: every slot behind its home, the spare ones, and not one more.
#[test]
fn the_last_quotient_fills_every_spare_slot() {
    fn fill<S: Made>() {
        for quotients in [1, 64, 65, 200, 257] {
            let options = options(quotients, 4, 0);
            let mut game = Game::<S>::new(options, Where::LastQuotient, 1);
            let mut opened = 0;
            while game.open() {
                opened += 1;
                game.check();
            }
            let spare = game.portable.slots() - quotients;
            assert_eq!(opened, spare + 1);
            assert!(spare >= 4 * quotients.isqrt() + 64);
            assert!(!game.open() && !game.open());
            game.check_all();
            while game.model.used() > 0 {
                game.close();
                game.check();
            }
            assert!(bytes(&game.portable).iter().all(|&byte| byte == 0));
        }
    }
    fill::<Lane<false, false>>();
    fill::<Lane<true, false>>();
    fill::<Lane<false, false, 64>>();
    fill::<Lane<true, false, 64>>();
}

/// Every slot of the table, from the first: all in quotient 0.
#[test]
fn the_first_quotient_fills_every_slot() {
    let mut game = Game::<Lane<false, false>>::new(options(200, 3, 0), Where::LastQuotient, 1);
    game.quotients.centre = 0;
    while game.open() {
        game.check();
    }
    assert_eq!(game.portable.used(), game.portable.slots());
    game.check_all();
}

/// The used slots and what they hold.
fn content<S: Made>(table: &Table<S>) -> Vec<(Run, Vec<Slot<Tag>>)> {
    let slots = |run: &Run| (run.start..run.end).map(|at| table.slot(at)).collect();
    table.runs().map(|run| (run, slots(&run))).collect()
}

/// Flips every bit of a table; gives how many flips changed nothing but the content.
fn flip_every_bit<S: Made>(quotients: u64, slots: u64, seed: u64) -> u64 {
    let mut game = Game::<S>::new(options(quotients, 3, 0), Where::Anywhere, seed);
    while game.model.used() < slots {
        game.open();
    }
    game.check_all();
    let mut table = game.portable;
    let before = content(&table);
    let mut unnoticed = 0;
    for bit in 0..8 * table.bytes() as usize {
        table.blocks.bytes_mut()[bit / 8] ^= 1 << (bit % 8);
        if table.check_invariants().is_ok() {
            assert!(content(&table) != before, "bit {bit} goes unnoticed");
            unnoticed += 1;
        }
        table.blocks.bytes_mut()[bit / 8] ^= 1 << (bit % 8);
    }
    assert_eq!(table.check_invariants(), Ok(()));
    table.used += 1;
    assert!(table.check_invariants().is_err());
    unnoticed
}

#[test]
fn no_damaged_bit_goes_unnoticed() {
    for (quotients, slots) in [(1, 1), (40, 10), (100, 100), (100, 120), (130, 200)] {
        for seed in 0..3 {
            // Other remainders make another table that is just as right; any other flip
            // makes one that is wrong.
            let remainder_bits = 3 * slots;
            let bare = flip_every_bit::<Lane<false, false>>(quotients, slots, seed);
            assert_eq!(bare, remainder_bits);
            let low = flip_every_bit::<Lane<false, false, 64>>(quotients, slots, seed);
            assert_eq!(low, remainder_bits);
            // With marks, other divisions of a run into fingerprints are right as well.
            let marked = flip_every_bit::<Lane<true, false>>(quotients, slots, seed);
            assert!(marked >= remainder_bits && marked <= remainder_bits + 2 * slots);
            let tagged = flip_every_bit::<Lane<false, true>>(quotients, slots, seed);
            assert_eq!(tagged, (3 + 8) * slots);
        }
    }
}
