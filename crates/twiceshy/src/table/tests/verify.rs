//! The fast check against the slow one, on tables that are damaged in every way.

use super::model::{Lane, Made, Random};
use super::options;
use crate::bits::Cpu;
use crate::table::{Mark, Order, Sidecar, Slot, Table, Tailed, Violation, Writer};

/// A table of sorted runs, some of them with marked slots, as full as `fill` says.
fn random_table<S: Made>(random: &mut Random, quotients: u64, bits: u32, fill: u64) -> Table<S> {
    let value = |random: &mut Random| random.below(1 << bits);
    let mut writer = Writer::<S>::new(Table::new(options(quotients, bits, 0)).expect("small"));
    for quotient in 0..quotients {
        if random.below(10) >= fill {
            continue;
        }
        let length = match random.below(40) {
            0 => random.below(150),
            _ => 1 + random.below(3),
        };
        let mut values: Vec<u64> = (0..length).map(|_| value(random)).collect();
        values.sort_unstable();
        for home in values {
            let item = S::item(Mark::Last, 0);
            if writer.push(quotient, home, item).is_err() {
                return writer.finish();
            }
            let tail = match random.below(60) {
                0 => random.below(140),
                1..12 => random.below(3),
                _ => 0,
            };
            for _ in 0..if S::MARKS { tail } else { 0 } {
                let digit = Slot {
                    value: value(random),
                    runend: random.one_in(2),
                    item: S::item(Mark::GoesOn, 0),
                };
                if writer.push_tail(digit).is_err() {
                    return writer.finish();
                }
            }
        }
    }
    writer.finish()
}

/// What [`Verify`] shall say: the invariants, the order of unmarked neighbours, and each
/// fingerprint with marked slots.
fn naive<S: Made>(table: &Table<S>, order: Order) -> Option<Vec<(u64, bool)>> {
    table.check_invariants().ok()?;
    let mut tailed = Vec::new();
    for run in table.runs() {
        let mut last: Option<u64> = None;
        let mut at = run.start;
        while at < run.end {
            let end = table.end_of_print(at);
            let value = table.slot(at).value;
            if end > at + 1 {
                tailed.push((at, at == run.start));
                last = None;
            } else {
                let wrong = last.is_some_and(|last| match order {
                    Order::Ascending => last > value,
                    Order::Distinct => last >= value,
                });
                if wrong {
                    return None;
                }
                last = Some(value);
            }
            at = end;
        }
    }
    Some(tailed)
}

fn fast<S: Sidecar>(table: &Table<S>, order: Order, cpu: Cpu) -> Option<Vec<(u64, bool)>> {
    let mut tailed = Vec::new();
    let each = |print: Tailed| {
        tailed.push((print.home, print.first));
        Ok(())
    };
    let marked = table.on(cpu).verify(order, each).ok()?;
    let is_marked = |&slot: &u64| S::is_mark(table.slot(slot).item);
    assert_eq!(marked, (0..table.slots()).filter(is_marked).count() as u64);
    Some(tailed)
}

/// Checks random tables, and each with many small changes. Gives how many of the changed ones
/// were right.
fn against_the_slow_check<S: Made>(tables: u64, changes: u64, seed: u64) -> u64 {
    let mut random = Random(seed);
    let mut right = 0;
    for round in 0..tables {
        let quotients = 1 + random.below(250);
        let bits = [1, 2, 3, 4, 9, 26][round as usize % 6];
        let fill = random.below(10);
        let mut table = random_table::<S>(&mut random, quotients, bits, fill);
        let order = match random.below(8) {
            0 => Order::Distinct,
            _ => Order::Ascending,
        };
        let check = |table: &Table<S>| {
            let expected = naive(table, order);
            assert_eq!(fast(table, order, Cpu::portable()), expected);
            assert_eq!(fast(table, order, Cpu::detect()), expected);
            expected.is_some()
        };
        assert!(check(&table) || order == Order::Distinct);
        let blocks = table.blocks();
        let header = 18 + S::BYTES as u64;
        let stride = header + 8 * u64::from(table.packed().bits());
        for _ in 0..changes {
            let before = table.blocks.bytes().to_vec();
            for _ in 0..1 + random.below(3) {
                // Headers are a fifth of a block, and most of what can be wrong.
                let block = random.below(blocks) * stride;
                let place = if random.one_in(2) { header } else { stride };
                let mut at = (block + random.below(place)) as usize;
                if random.one_in(50) {
                    at = random.below(before.len() as u64) as usize;
                }
                let noise = random.word();
                let byte = &mut table.blocks.bytes_mut()[at];
                match noise % 4 {
                    0 => *byte = (noise >> 8) as u8,
                    1 => *byte = byte.wrapping_add(1),
                    _ => *byte ^= 1 << (noise >> 8 & 7),
                }
            }
            let used = table.used;
            table.used = used.wrapping_add_signed([0, 0, 1, -1][random.below(4) as usize]);
            right += u64::from(check(&table));
            table.used = used;
            if !random.one_in(4) || naive(&table, order).is_none() {
                table.blocks.bytes_mut().copy_from_slice(&before);
            }
        }
    }
    right
}

#[test]
fn verification_agrees_with_the_slow_check() {
    let mut right = 0;
    right += against_the_slow_check::<Lane<false, false>>(8_000, 60, 1);
    right += against_the_slow_check::<Lane<false, false, 64>>(8_000, 60, 2);
    right += against_the_slow_check::<Lane<false, false, 70>>(4_000, 60, 3);
    right += against_the_slow_check::<Lane<true, false>>(8_000, 60, 4);
    right += against_the_slow_check::<Lane<true, false, 64>>(8_000, 60, 5);
    right += against_the_slow_check::<Lane<true, false, 100>>(4_000, 60, 6);
    assert!(right > 100_000, "{right}");
}

/// What a filter finds wrong with a fingerprint ends the check.
#[test]
fn the_filter_has_the_last_word() {
    let mut random = Random(9);
    let table = random_table::<Lane<true, false>>(&mut random, 100, 4, 7);
    let expected = fast(&table, Order::Ascending, Cpu::detect()).expect("a right table");
    assert!(expected.len() > 3);
    let mut seen = 0;
    let result = table.verify(Order::Ascending, |print| {
        seen += 1;
        match seen {
            3 => Err(Violation::new("no", print.home)),
            _ => Ok(()),
        }
    });
    assert_eq!(result, Err(Violation::new("no", expected[2].0)));
    assert_eq!(seen, 3);
}
