//! The writer against a simple one, which keeps nothing in registers: each slot goes into
//! the table by itself, and so do its occupied and its runend bit.

use super::model::{Lane, Made, Random, Tag};
use super::{bytes, options};
use crate::bits::mask_below;
use crate::error::Error;
use crate::table::layout::{self, Slot};
use crate::table::storage::split;
use crate::table::{Mark, Sidecar, Table, TableOptions, Writer};

struct SimpleWriter<S: Sidecar> {
    table: Table<S>,
    quotient: Option<u64>,
    end: u64,
    offsets_to: u64,
}

impl<S: Sidecar> SimpleWriter<S> {
    fn new(table: Table<S>) -> Self {
        SimpleWriter {
            table,
            quotient: None,
            end: 0,
            offsets_to: 0,
        }
    }

    fn push(&mut self, quotient: u64, value: u64, item: S::Item) -> Result<(), Error> {
        let place = self.end.max(quotient);
        if place >= self.table.slots {
            return Err(self.table.full());
        }
        if self.quotient != Some(quotient) {
            self.end_run();
            self.write_offsets_to(quotient / 64 + 1);
            self.table.set_occupied(quotient, true);
            self.quotient = Some(quotient);
        }
        self.end = place;
        self.put(Slot {
            value,
            runend: false,
            item,
        });
        Ok(())
    }

    fn push_tail(&mut self, digit: Slot<S::Item>) -> Result<(), Error> {
        if self.end >= self.table.slots {
            return Err(self.table.full());
        }
        // The slot before once more, with the mark.
        self.end -= 1;
        let Slot { value, item, .. } = self.table.slot(self.end);
        self.put(Slot { value, ..digit });
        self.put(Slot {
            value: digit.value,
            runend: false,
            item,
        });
        self.table.used -= 1;
        Ok(())
    }

    fn put(&mut self, slot: Slot<S::Item>) {
        let (block, i) = split(self.end);
        layout::overwrite::<S>(&mut self.table.block_mut(block), i, slot);
        self.end += 1;
        self.table.used += 1;
    }

    fn end_run(&mut self) {
        if self.quotient.is_some() {
            self.table.set_runend(self.end - 1, true);
        }
    }

    fn write_offsets_to(&mut self, block: u64) {
        for block in self.offsets_to..block {
            let offset = self.end.saturating_sub(block * 64);
            let offset = offset.min(u64::from(S::MAX_OFFSET)) as u16;
            layout::set_offset(&mut self.table.block_mut(block), offset);
        }
        self.offsets_to = self.offsets_to.max(block);
    }

    fn finish(mut self) -> Table<S> {
        self.end_run();
        self.write_offsets_to(self.table.blocks());
        self.table
    }
}

/// One call to a writer.
#[derive(Clone, Copy, Debug)]
enum Call {
    Push(u64, u64, Tag),
    Tail(Slot<Tag>),
}

/// Sorted calls: about `load` slots a quotient, or more than there is room for. `clumps`
/// is how many of eight quotients get nothing, so that others get more.
fn calls<S: Made>(options: TableOptions, load: f64, clumps: u64, random: &mut Random) -> Vec<Call> {
    let mut calls = Vec::new();
    let slots = (options.quotients as f64 * load) as u64 + 1;
    let skipped = |quotient: u64, salt: u64| (quotient / 8 * 7 + salt) % 8 < clumps;
    let salt = random.below(8);
    let mut quotients: Vec<u64> = (0..slots)
        .map(|_| random.below(options.quotients))
        .map(|quotient| {
            let kept = (quotient..options.quotients).find(|&q| !skipped(q, salt));
            kept.unwrap_or(quotient)
        })
        .collect();
    quotients.sort_unstable();
    for quotient in quotients {
        let value = random.word() & mask_below(options.slot_bits);
        let item = S::item(Mark::Last, random.word());
        calls.push(Call::Push(quotient, value, item));
        let tail = match random.below(16) {
            _ if !S::MARKS => 0,
            0 => random.below(100),
            1..4 => random.below(4),
            _ => 0,
        };
        for _ in 0..tail {
            calls.push(Call::Tail(Slot {
                value: random.word() & mask_below(options.slot_bits),
                runend: random.one_in(2),
                item: S::item(Mark::GoesOn, random.word()),
            }));
        }
    }
    calls
}

/// Both writers do the same calls, and what they refuse is the same.
fn compare<S: Made>(options: TableOptions, calls: &[Call]) -> bool {
    let mut simple = SimpleWriter::<S>::new(Table::new(options).unwrap());
    let mut fast = Writer::<S>::new(Table::new(options).unwrap());
    let mut all_in = true;
    for &call in calls {
        let (expected, got) = match call {
            Call::Push(quotient, value, item) => (
                simple.push(quotient, value, item),
                fast.push(quotient, value, item),
            ),
            Call::Tail(digit) => (simple.push_tail(digit), fast.push_tail(digit)),
        };
        assert_eq!(expected, got, "{call:?}");
        all_in &= got.is_ok();
    }
    let (simple, fast) = (simple.finish(), fast.finish());
    assert_eq!(simple.used(), fast.used());
    assert_eq!(bytes(&simple), bytes(&fast), "{options:?}");
    assert_eq!(fast.check_invariants(), Ok(()));
    all_in
}

/// `push_all`, in pieces, is `push` for each.
fn compare_all<S: Made>(options: TableOptions, calls: &[Call], random: &mut Random) {
    let homes: Vec<(u64, u64)> = calls
        .iter()
        .filter_map(|call| match *call {
            Call::Push(quotient, value, _) => Some((quotient, value)),
            Call::Tail(_) => None,
        })
        .collect();
    let mut simple = SimpleWriter::<S>::new(Table::new(options).unwrap());
    let mut fast = Writer::<S>::new(Table::new(options).unwrap());
    let mut rest = &homes[..];
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(random.below(rest.len() as u64 + 1) as usize);
        let expected = piece
            .iter()
            .try_for_each(|&(quotient, value)| simple.push(quotient, value, S::Item::default()));
        assert_eq!(fast.push_all(piece.iter().copied()), expected);
        if expected.is_err() {
            break;
        }
        rest = more;
    }
    assert_eq!(
        bytes(&simple.finish()),
        bytes(&fast.finish()),
        "{options:?}"
    );
}

fn against_the_simple_one<S: Made>() {
    let mut random = Random(u64::from(S::MAX_OFFSET) + S::BYTES as u64);
    let (mut in_all, mut in_some) = (0, 0);
    for bits in 1..=56 {
        for quotients in [1, 2, 63, 64, 65, 130, 192] {
            for (load, clumps) in [(0.1, 0), (0.9, 0), (0.9, 7), (1.5, 3), (3.0, 5)] {
                // The number of a minirun has 60 bits.
                let bits = bits.min(60 - u64::next_power_of_two(quotients).ilog2());
                let options = options(quotients, bits, 0);
                let calls = calls::<S>(options, load, clumps, &mut random);
                if compare::<S>(options, &calls) {
                    in_all += 1;
                } else {
                    in_some += 1;
                }
                compare_all::<S>(options, &calls, &mut random);
            }
        }
    }
    // Tables that are filled to the last slot, and others.
    assert!(in_all > 100 && in_some > 100, "{in_all} {in_some}");
}

#[test]
fn bare_slots_are_written_as_by_the_simple_writer() {
    against_the_simple_one::<Lane<false, false>>();
    against_the_simple_one::<Lane<false, true>>();
    against_the_simple_one::<Lane<false, false, 64>>();
    against_the_simple_one::<Lane<false, true, 100>>();
}

#[test]
fn marked_slots_are_written_as_by_the_simple_writer() {
    against_the_simple_one::<Lane<true, false>>();
    against_the_simple_one::<Lane<true, false, 64>>();
    against_the_simple_one::<Lane<true, false, 65>>();
}

/// Fingerprints that end exactly at the end of a block, or go on over whole blocks, before the
/// next run begins: then the mark, or the end of the run, is in the block before.
#[test]
fn fingerprints_go_on_over_whole_blocks() {
    type Marked = Lane<true, false>;
    for tail in [1, 2, 62, 63, 64, 65, 127, 128, 129, 200] {
        for quotient in [0, 1, 62, 63, 64] {
            for next in [0, 1, 64, 130, 250] {
                let digit = Slot {
                    value: 3,
                    runend: true,
                    item: (Mark::GoesOn, 0),
                };
                let mut calls = vec![Call::Push(quotient, 5, (Mark::Last, 0))];
                calls.extend((0..tail).map(|_| Call::Tail(digit)));
                calls.push(Call::Push(quotient + next, 6, (Mark::Last, 0)));
                assert!(compare::<Marked>(options(400, 3, 0), &calls));
            }
        }
    }
}
