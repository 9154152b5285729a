//! The sequential writer at the end of a table.

use twiceshy::raw::{Bare, Mark, Marks, Slot, Table, TableOptions, Writer};
use twiceshy::{Error, HugePages};

fn options(quotients: u64) -> TableOptions {
    TableOptions {
        quotients,
        slot_bits: 5,
        ignored_bits: 0,
        huge_pages: HugePages::Never,
        blocks: None,
    }
}

/// A writer that is refused another slot has changed nothing: the table it finishes holds
/// what was written before.
#[test]
fn a_writer_that_is_full_keeps_what_it_has() {
    for quotients in [1, 65, 200] {
        let last = quotients - 1;
        let table = Table::<Marks>::new(options(quotients)).unwrap();
        let slots = table.slots();
        let mut writer = Writer::new(table);
        for at in last..slots {
            writer.push(last, at % 32, Mark::Last).unwrap();
        }
        let used = slots - last;
        let full = Err(Error::Full { used, slots });
        assert_eq!(writer.push(last, 1, Mark::Last), full);
        let digit = Slot {
            item: Mark::GoesOn,
            ..Slot::default()
        };
        assert_eq!(writer.push_tail(digit), full);
        let table = writer.finish();
        assert_eq!(table.used(), used);
        assert_eq!(table.check_invariants(), Ok(()));
        let runs: Vec<_> = table.runs().collect();
        assert_eq!(runs.len(), 1);
        assert_eq!(
            (runs[0].quotient, runs[0].start, runs[0].end),
            (last, last, slots)
        );
        for at in last..slots {
            let slot = table.slot(at);
            assert_eq!((slot.value, slot.runend), (at % 32, at + 1 == slots));
        }
    }
}

/// The same when it is the first slot of a new run that finds no room.
#[test]
fn a_run_that_finds_no_room_is_not_begun() {
    let table = Table::<Bare>::new(options(100)).unwrap();
    let slots = table.slots();
    let mut writer = Writer::new(table);
    for _ in 0..slots {
        writer.push(0, 7, ()).unwrap();
    }
    let full = Err(Error::Full { used: slots, slots });
    assert_eq!(writer.push(50, 1, ()), full);
    assert_eq!(writer.push(99, 1, ()), full);
    let table = writer.finish();
    assert_eq!(table.check_invariants(), Ok(()));
    assert_eq!((table.used(), table.runs().count()), (slots, 1));
}

#[test]
fn a_writer_starts_from_nothing() {
    let mut writer = Writer::new(Table::<Bare>::new(options(100)).unwrap());
    writer.push(3, 1, ()).unwrap();
    let table = Writer::new(writer.finish()).finish();
    assert_eq!((table.used(), table.runs().count()), (0, 0));
    assert_eq!(table.check_invariants(), Ok(()));
}

#[test]
#[should_panic(expected = "ascending order")]
fn a_writer_refuses_disorder() {
    let mut writer = Writer::new(Table::<Bare>::new(options(10)).unwrap());
    writer.push(5, 1, ()).unwrap();
    let _ = writer.push(4, 1, ());
}

#[test]
#[should_panic(expected = "inside the table")]
fn a_writer_refuses_quotients_beyond_the_table() {
    let mut writer = Writer::new(Table::<Bare>::new(options(10)).unwrap());
    let _ = writer.push(10, 1, ());
}
