//! A filter of lists that is right, or wrong in a way of choice.

use super::{Filter, Key, QUOTIENTS, Refused};
use twiceshy::sizing::spare_slots;

/// What is wrong with a [`Naive`] filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    None,
    /// A removal leaves the extension, which then continues the fingerprint before.
    RemovesTheHomeSlotOnly,
    /// Runends of counter slots count as ends of runs.
    CountsRunendsOfCounters,
    /// A removal takes the first fingerprint of the minirun.
    RemovesTheFirstOfTheMinirun,
    /// An adaptation pushes the last slots out of the table.
    AdaptsWithoutRoom,
    /// An adaptation believes that the first key given is the one.
    AdaptsAlongAnyKey,
    /// The first fingerprint belongs to the first key, and so on.
    PairsByRank,
    /// Digits repeat after 64 bits.
    HasSixtyFourBits,
    /// Blocks know their offset modulo 256.
    TruncatesOffsets,
    /// An adaptation is done when one fingerprint was lengthened.
    ExtendsTheFirstMatchOnly,
    /// Fingerprints without a key stay.
    KeepsSurplus,
    /// A removal does not ask whether the key is one of the keys.
    RemovesWhateverMatches,
    /// A fingerprint counts as one slot, however long it is.
    CountsKeysNotSlots,
    /// An insertion pushes the last slot out of the table.
    InsertsWithoutRoom,
    /// A larger table is given the fingerprints as they were: the remainder's first bit is not moved to
    /// the quotient.
    ResizesWithoutMoving,
    /// What is merged in is put where it was in its own table, which is smaller.
    MergesBySmallerQuotients,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Print {
    quotient: u64,
    remainder: u8,
    digits: Vec<u8>,
    count: u64,
}

#[derive(Clone, Copy)]
struct Slot {
    value: u8,
    runend: bool,
    marked: bool,
}

/// All fingerprints in order.
pub struct Naive {
    prints: Vec<Print>,
    defect: Defect,
    /// Has it twice as many quotients, and remainders of a bit less?
    doubled: bool,
}

/// The quotient and the remainder of a key in a table of twice as many quotients.
fn doubled(quotient: u64, remainder: u8) -> (u64, u8) {
    (quotient << 1 | u64::from(remainder >> 7), remainder & 127)
}

impl Print {
    fn counter(&self) -> Vec<u8> {
        let mut digits = vec![];
        let mut rest = if self.count == 1 { 0 } else { self.count };
        while rest > 0 {
            digits.push(rest as u8);
            rest >>= 8;
        }
        digits
    }

    fn slots(&self) -> usize {
        1 + self.digits.len() + self.counter().len()
    }
}

impl Naive {
    pub fn new(defect: Defect) -> Self {
        let prints = vec![];
        let doubled = false;
        Naive {
            prints,
            defect,
            doubled,
        }
    }

    fn quotients(&self) -> u64 {
        QUOTIENTS << u32::from(self.doubled)
    }

    fn slots(&self) -> usize {
        let quotients = self.quotients();
        (quotients + spare_slots(quotients)).next_multiple_of(64) as usize
    }

    fn home(&self, key: &Key) -> (u64, u8) {
        if self.doubled {
            doubled(key.quotient, key.remainder)
        } else {
            (key.quotient, key.remainder)
        }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn digit(&self, key: &Key, k: usize) -> u8 {
        let has = if self.has(Defect::HasSixtyFourBits) {
            8
        } else {
            64
        };
        key.digits[k % has]
    }

    fn fits(&self, print: &Print, key: &Key) -> bool {
        (print.quotient, print.remainder) == self.home(key)
            && (0..)
                .zip(&print.digits)
                .all(|(k, &digit)| self.digit(key, k) == digit)
    }

    fn in_minirun(&self, key: &Key) -> Vec<usize> {
        let here = |i: &usize| {
            let print = &self.prints[*i];
            (print.quotient, print.remainder) == self.home(key)
        };
        (0..self.prints.len()).filter(here).collect()
    }

    /// The slots of the table, and one past the last slot of each quotient's run.
    fn layout(&self) -> (Vec<Slot>, Vec<usize>) {
        let empty = Slot {
            value: 0,
            runend: false,
            marked: false,
        };
        let mut slots = vec![empty; self.slots() + 1_000];
        let mut ends = vec![];
        let mut end = 0;
        for quotient in 0..self.quotients() {
            let run = self
                .prints
                .iter()
                .filter(|print| print.quotient == quotient);
            let run: Vec<&Print> = run.collect();
            if !run.is_empty() {
                end = end.max(quotient as usize);
            }
            for (i, print) in run.iter().enumerate() {
                let counter = print.counter();
                let digits = print.digits.iter().map(|&digit| (digit, false, true));
                let counter = counter.iter().map(|&digit| (digit, true, true));
                let home = [(print.remainder, i + 1 == run.len(), false)];
                for (value, runend, marked) in home.into_iter().chain(digits).chain(counter) {
                    slots[end] = Slot {
                        value,
                        runend,
                        marked,
                    };
                    end += 1;
                }
            }
            ends.push(end);
        }
        // What does not fit is lost.
        slots.truncate(self.slots());
        slots.resize(self.slots() + 1_000, empty);
        (slots, ends)
    }

    /// The fingerprints of a quotient's run, found by rank and select.
    fn run(&self, quotient: u64) -> Vec<Print> {
        let occupied = |q: u64| self.prints.iter().any(|print| print.quotient == q);
        if !occupied(quotient) {
            return vec![];
        }
        let (slots, ends) = self.layout();
        let base = quotient / 64 * 64;
        let before = if base == 0 {
            0
        } else {
            ends[base as usize - 1]
        };
        let mut offset = before.saturating_sub(base as usize);
        if self.has(Defect::TruncatesOffsets) {
            offset %= 256;
        }
        let mut at = base as usize + offset;
        let is_end = |slot: &Slot| {
            slot.runend && (!slot.marked || self.has(Defect::CountsRunendsOfCounters))
        };
        // Behind the runs of the block's lower quotients.
        for _ in (base..quotient).filter(|&quotient| occupied(quotient)) {
            while at < slots.len() && !is_end(&slots[at]) {
                at += 1;
            }
            at += 1;
            while at < slots.len() && slots[at].marked {
                at += 1;
            }
        }
        at = at.max(quotient as usize);
        let mut run: Vec<Print> = vec![];
        let mut ended = false;
        let mut shift = 0;
        while let Some(slot) = slots.get(at).filter(|slot| !ended || slot.marked) {
            match run.last_mut() {
                Some(last) if slot.marked && slot.runend => {
                    last.count = if shift == 0 { 0 } else { last.count };
                    last.count |= u64::from(slot.value) << shift;
                    shift += 8;
                }
                Some(last) if slot.marked => last.digits.push(slot.value),
                _ => {
                    shift = 0;
                    run.push(Print {
                        quotient,
                        remainder: slot.value,
                        digits: vec![],
                        count: 1,
                    });
                    ended = slot.runend;
                }
            }
            at += 1;
        }
        run
    }

    /// Puts fingerprints in place of those of a minirun, if there is room.
    fn commit(&mut self, prints: Vec<Print>, unchecked: Defect) -> Result<(), Refused> {
        let before = std::mem::replace(&mut self.prints, prints);
        self.prints.sort();
        let end = *self.layout().1.last().expect("there are quotients");
        let grows = slots_of(&self.prints) > slots_of(&before);
        if grows && end > self.slots() && !self.has(unchecked) {
            self.prints = before;
            return Err(Refused);
        }
        Ok(())
    }

    /// A key for each fingerprint of a minirun, longest first; or none at all.
    fn pair<'k>(
        &self,
        key: &Key,
        keys: &'k [Key],
    ) -> Result<Vec<(usize, Option<&'k Key>)>, Refused> {
        let mut free: Vec<&Key> = keys.iter().collect();
        let mut order = self.in_minirun(key);
        order.sort_by_key(|&i| usize::MAX - self.prints[i].digits.len());
        let mut pairs = vec![];
        for i in order {
            let fit = free.iter().position(|key| self.fits(&self.prints[i], key));
            pairs.push((i, fit.map(|at| free.remove(at))));
        }
        if free.is_empty() {
            Ok(pairs)
        } else {
            Err(Refused)
        }
    }
}

fn slots_of(prints: &[Print]) -> usize {
    prints.iter().map(Print::slots).sum()
}

impl Filter for Naive {
    fn insert(&mut self, key: &Key) -> Result<(), Refused> {
        self.insert_counted(key, 1, &[])
    }

    fn insert_counted(&mut self, key: &Key, count: u64, _: &[Key]) -> Result<(), Refused> {
        let mut prints = self.prints.clone();
        let (quotient, remainder) = self.home(key);
        prints.push(Print {
            quotient,
            remainder,
            digits: vec![],
            count,
        });
        self.commit(prints, Defect::InsertsWithoutRoom)
    }

    fn contains(&self, key: &Key) -> bool {
        self.run(self.home(key).0)
            .iter()
            .any(|print| self.fits(print, key))
    }

    fn count(&self, key: &Key) -> u64 {
        let run = self.run(self.home(key).0);
        let found = run.iter().find(|print| self.fits(print, key));
        found.map_or(0, |print| print.count)
    }

    fn adapt(&mut self, query: &Key, keys: &[Key]) -> Result<(), Refused> {
        let ranks = || {
            self.in_minirun(query)
                .into_iter()
                .zip(keys.iter().map(Some))
        };
        let pairs = match self.defect {
            Defect::PairsByRank => ranks().collect(),
            Defect::AdaptsAlongAnyKey => {
                let all = self.in_minirun(query).into_iter();
                all.map(|i| (i, keys.first())).collect()
            }
            _ => self.pair(query, keys)?,
        };
        let mut prints = self.prints.clone();
        let mut surplus = vec![];
        for (i, own) in pairs {
            let Some(own) = own else {
                surplus.push(i);
                continue;
            };
            let mut changed = false;
            while self.fits(&prints[i], query) && prints[i].digits.len() < 64 {
                let next = self.digit(own, prints[i].digits.len());
                prints[i].digits.push(next);
                changed = true;
            }
            if changed && self.has(Defect::ExtendsTheFirstMatchOnly) {
                break;
            }
        }
        surplus.sort_unstable();
        for i in surplus.into_iter().rev() {
            if !self.has(Defect::KeepsSurplus) {
                prints.remove(i);
            }
        }
        self.commit(prints, Defect::AdaptsWithoutRoom)
    }

    fn remove(&mut self, key: &Key, keys: &[Key]) -> Result<(), Refused> {
        let mut prints = self.prints.clone();
        if self.has(Defect::RemovesWhateverMatches) {
            let found = prints.iter().position(|print| self.fits(print, key));
            prints.remove(found.ok_or(Refused)?);
            return self.commit(prints, Defect::None);
        }
        let others: Vec<Key> = keys.iter().filter(|other| *other != key).cloned().collect();
        if others.len() == keys.len() {
            return Err(Refused);
        }
        self.pair(key, keys)?;
        let mut pairs = self.pair(key, &others)?;
        pairs.sort_by_key(|pair| pair.0);
        for (i, own) in pairs.iter().rev() {
            if own.is_some() {
                continue;
            }
            let i = match self.defect {
                Defect::RemovesTheFirstOfTheMinirun => pairs[0].0,
                _ => *i,
            };
            let removed = prints.remove(i);
            if self.has(Defect::RemovesTheHomeSlotOnly) && i > 0 {
                prints[i - 1].digits.extend(removed.digits);
            }
        }
        self.commit(prints, Defect::None)
    }

    fn double(&mut self) {
        self.doubled = true;
        if self.has(Defect::ResizesWithoutMoving) {
            return;
        }
        for print in &mut self.prints {
            (print.quotient, print.remainder) = doubled(print.quotient, print.remainder);
        }
        self.prints.sort();
    }

    fn merge_single(&mut self, keys: &[Key]) -> Result<(), Refused> {
        let mut prints = self.prints.clone();
        for key in keys {
            let home = if self.has(Defect::MergesBySmallerQuotients) {
                (key.quotient, key.remainder)
            } else {
                self.home(key)
            };
            prints.push(Print {
                quotient: home.0,
                remainder: home.1,
                digits: vec![],
                count: 1,
            });
        }
        self.commit(prints, Defect::None)
    }

    fn used(&self) -> u64 {
        if self.has(Defect::CountsKeysNotSlots) {
            return self.prints.len() as u64;
        }
        slots_of(&self.prints) as u64
    }
}
