//! Tables of format 1, in which a mark stood at the slot that continues the one before it.
//!
//! ```text
//! fingerprints        a     b b' b'   c     d d'        b' a digit of b, and so on
//! format 1   mark     .     .  1  1   .     .  1        continues the slot before
//!            runend   .     .  k  k   1     1  k        last home of the run; k: of the counter?
//! now        mark     .     1  1  .   .     1  .        goes on in the slot behind
//!            runend   .     k  k  .   1     k  1        last slot of the run; k as it was
//! ```
//!
//! So both move to the slot before, and the end of a run from its last home to its last slot. Then it
//! is seen in one block what was in two: whether the slot at its end goes on.

use super::block::RUNENDS;
use super::sidecar::Marks;
use crate::bits::{Lane, load_word, store_word};

/// Where the lane is in a block.
const LANE: usize = RUNENDS + 8;

/// Rewrites a table of format 1, of slots of so many bits, in place. What was none is none then.
pub(crate) fn upgrade(table: &mut [u8], slot_bits: u32) {
    let block = LANE + Marks::<true>::BYTES + 8 * slot_bits as usize;
    let blocks = table.len() / block;
    let read = |table: &[u8], number: usize| match number < blocks {
        true => (
            load_word(table, number * block + RUNENDS),
            load_word(table, number * block + LANE),
        ),
        false => (0, 0),
    };
    // Has the last home of a run been seen, and do its digits go on into this block?
    let mut tail = false;
    for number in 0..blocks {
        let (runends, marked) = read(table, number);
        let (next_runends, next_marked) = read(table, number + 1);
        let lasts;
        (lasts, tail) = last_slots(tail, runends & !marked, marked, next_marked);
        let goes_on = marked >> 1 | next_marked << 63;
        let counts = runends >> 1 | next_runends << 63;
        store_word(table, number * block + RUNENDS, goes_on & counts | lasts);
        store_word(table, number * block + LANE, goes_on);
    }
}

/// The last slots of runs, given their last homes, the slots that continue others, and those of the
/// next block; and whether a tail goes on there, as one may have come from the block before.
fn last_slots(tail: bool, ends: u64, marked: u64, next_marked: u64) -> (u64, bool) {
    // Adding the first slot of a tail to the marked slots carries through the tail to the slot
    // behind it.
    let tails = ends << 1 & marked | u64::from(tail);
    let (sum, through) = marked.overflowing_add(tails);
    let behind_tails = sum & !marked;
    let lasts = ends & !(marked >> 1) | behind_tails >> 1;
    // The end of the block may be the end of a tail, or not.
    let last = 1 << 63;
    let at_end = through || ends & last != 0;
    let tail = at_end && next_marked & 1 == 1;
    (lasts & !last | u64::from(at_end && !tail) << 63, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{GOLDEN, mix};
    use crate::mem::HugePages;
    use crate::table::block::{overwrite, set_runend};
    use crate::table::{Mark, Slot, Table, TableOptions, Writer, split};

    /// The same as in format 1, slot by slot.
    fn downgrade(table: &Table<Marks>) -> Table<Marks> {
        let mut old = table.try_clone().unwrap();
        for run in table.runs() {
            let mut last_home = run.start;
            for at in run.start..run.end {
                let (block, i) = split(at);
                let Slot { value, .. } = table.slot(at);
                let before = (at > run.start).then(|| table.slot(at - 1));
                let continued = before.filter(|slot| slot.item == Mark::GoesOn);
                if continued.is_none() {
                    last_home = at;
                }
                let slot = Slot {
                    value,
                    runend: continued.is_some_and(|slot| slot.runend),
                    item: continued.map_or(Mark::Last, |_| Mark::GoesOn),
                };
                overwrite::<Marks>(&mut old.block_mut(block), i, slot);
            }
            let (block, i) = split(last_home);
            set_runend(&mut old.block_mut(block), i, true);
        }
        old
    }

    #[test]
    fn tables_of_format_1_become_those_of_today() {
        let mut state = 0_u64;
        let mut below = |end: u64| {
            state = state.wrapping_add(GOLDEN);
            mix(state) % end
        };
        for round in 0..3_000 {
            let options = TableOptions {
                quotients: 1 + below(200),
                slot_bits: 1 + (round % 11) as u32,
                ignored_bits: 0,
                huge_pages: HugePages::Never,
            };
            let mut writer = Writer::new(Table::<Marks>::new(options).unwrap());
            let dense = 1 + below(4);
            for quotient in 0..options.quotients {
                if below(dense) > 0 {
                    continue;
                }
                for _ in 0..1 + below(2) {
                    if writer.push(quotient, below(2), Mark::Last).is_err() {
                        break;
                    }
                    for _ in 0..[0, 0, 1, 2, below(150)][below(5) as usize] {
                        let _ = writer.push_tail(Slot {
                            value: below(2),
                            runend: below(2) == 0,
                            item: Mark::GoesOn,
                        });
                    }
                }
            }
            let table = writer.finish();
            assert_eq!(table.check_invariants(), Ok(()));
            let mut bytes = downgrade(&table).as_bytes().to_vec();
            upgrade(&mut bytes, options.slot_bits);
            assert!(bytes == table.as_bytes(), "{options:?}");
        }
    }
}
