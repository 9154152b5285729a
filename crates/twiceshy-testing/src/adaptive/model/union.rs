//! Several filters in one, in slots of any width, and the same filter anew: the slow way.

use std::collections::BTreeSet;

use super::{Model, Refusal, Stored, must_part};
use twiceshy::hash::StreamHash;
use twiceshy::{AdaptiveFilter, Geometry};

/// What a union has done to extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Fingerprints with an extension.
    pub extended: u64,
    /// Those of them that lost bits.
    pub shortened: u64,
}

impl Stored {
    /// The fingerprint in digits of another width, bit by bit, and how many bits are left over.
    fn recut(&self, from: u32, to: u32) -> (Stored, usize) {
        let bits_of = |&digit: &u64| (0..from).rev().map(move |bit| digit >> bit & 1);
        let bits: Vec<u64> = self.digits.iter().flat_map(bits_of).collect();
        let digits = bits.chunks_exact(to as usize);
        let lost = digits.remainder().len();
        let digit = |bits: &[u64]| bits.iter().fold(0, |digit, bit| digit << 1 | bit);
        let digits = digits.map(digit).collect();
        #[rustfmt::skip]
        let cut = Stored { digits, ..self.clone() };
        (cut, lost)
    }

    /// Is there a key that both match?
    fn meets(&self, other: &Stored) -> bool {
        let live = !self.is_ghost() && !other.is_ghost();
        live && (self.starts(&other.digits) || other.starts(&self.digits))
    }
}

impl Model {
    /// What a filter holds.
    #[must_use]
    pub fn of<H: StreamHash>(filter: &AdaptiveFilter<H>, value_bits: u32) -> Self {
        let geometry = filter.geometry();
        let mut model = Model::new(geometry, value_bits);
        for print in filter.iter() {
            let stored = Stored {
                digits: print.extension,
                value: print.value,
                count: print.count,
            };
            model.push(geometry.id_of(print.home), stored);
        }
        model
    }

    fn push(&mut self, id: u64, print: Stored) {
        let quotient = self.geometry.fingerprint_of(id).quotient;
        *self.used.entry(quotient).or_default() += print.slots(self.width);
        self.miniruns.entry(id).or_default().push(print);
    }

    /// A minirun that is not the same in both, for messages.
    #[must_use]
    pub fn difference(&self, other: &Model) -> Option<String> {
        let ids: BTreeSet<&u64> = self.miniruns.keys().chain(other.miniruns.keys()).collect();
        let (&id, ..) = ids.into_iter().find_map(|id| {
            let (one, two) = (self.minirun(*id), other.minirun(*id));
            (one != two).then_some((id, one, two))
        })?;
        let (one, two) = (self.minirun(id), other.minirun(id));
        Some(format!("minirun {id} holds {one:?}, not {two:?}"))
    }

    /// The fingerprints of all inputs, which have as many ids as `geometry`.
    ///
    /// # Errors
    /// As the filter: whatever goes wrong in the lowest minirun.
    pub fn union(inputs: &[&Model], geometry: Geometry) -> Result<(Model, Cut), Refusal> {
        let value_bits = inputs.first().map_or(0, |input| input.value_bits);
        let mut union = Model::new(geometry, value_bits);
        let mut cut = Cut::default();
        let needed: u64 = inputs.iter().map(|input| input.used()).sum();
        let ids: BTreeSet<u64> = inputs
            .iter()
            .flat_map(|input| input.miniruns.keys().copied())
            .collect();
        // One past the last slot, and how many were written.
        let (mut end, mut written) = (0, 0);
        for id in ids {
            let mut members = vec![];
            for (source, input) in inputs.iter().enumerate() {
                for print in input.minirun(id) {
                    let (print, lost) = print.recut(input.width, union.width);
                    if lost > 0 && union.width > input.width {
                        return Err(Refusal::NeedsKeys(id));
                    }
                    cut.shortened += u64::from(lost > 0);
                    members.push((print, source));
                }
                let extended = |print: &&Stored| !print.digits.is_empty();
                cut.extended += input.minirun(id).iter().filter(extended).count() as u64;
            }
            for (i, (one, from)) in members.iter().enumerate() {
                for (two, other) in &members[..i] {
                    let counted = one.count > 1 && from != other;
                    let differ = (one.count, one.value) != (two.count, two.value);
                    if one.meets(two) && (differ || counted) {
                        return Err(match inputs {
                            [_] => Refusal::NeedsKeys(id),
                            _ => Refusal::Merge,
                        });
                    }
                }
            }
            members.sort();
            let quotient = geometry.fingerprint_of(id).quotient;
            for (print, _) in members {
                for _ in 0..print.slots(union.width) {
                    end = quotient.max(end) + 1;
                    if end > union.slots() {
                        return Err(Refusal::Full {
                            used: needed.max(written),
                            slots: union.slots(),
                        });
                    }
                    written += 1;
                }
                union.push(id, print);
            }
        }
        Ok((union, cut))
    }

    /// What a rebuild in the same geometry leaves: one fingerprint for each key, the longest
    /// ones that there are, and all ghosts. `keys` gives those of a minirun.
    ///
    /// # Errors
    /// [`Refusal::Mismatch`] if some key has no fingerprint.
    pub fn rebuilt<'k>(&self, keys: impl Fn(u64) -> Vec<&'k [u64]>) -> Result<Model, Refusal> {
        let mut rebuilt = Model::new(self.geometry, self.value_bits);
        for &id in self.miniruns.keys() {
            let (kept, mut prints) = self.paired(id, &keys(id))?;
            prints.extend(kept.into_iter().map(|(print, _)| print));
            prints.sort();
            for print in prints {
                rebuilt.push(id, print);
            }
        }
        Ok(rebuilt)
    }

    /// Live fingerprints with an extension.
    #[must_use]
    pub fn extended(&self) -> u64 {
        self.count(|print| !print.is_ghost() && !print.digits.is_empty())
    }

    /// Digits of the longest extension.
    #[must_use]
    pub fn longest_extension(&self) -> usize {
        let all = self.miniruns.values().flatten();
        all.map(|print| print.digits.len()).max().unwrap_or(0)
    }

    /// Are there two that match a common key, though a count or a value hangs on one? With
    /// the keys at hand they can be told apart.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        let pairs = |prints: &Vec<Stored>| {
            let with = |i: usize| prints[..i].iter().map(move |other| (&prints[i], other));
            let mut all = (0..prints.len()).flat_map(with);
            all.any(|(one, two)| one.meets(two) && must_part(one, two))
        };
        self.miniruns.values().any(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(digits: &[u64], count: u64) -> Stored {
        Stored {
            digits: digits.to_vec(),
            value: 0,
            count,
        }
    }

    fn model(slots: u64, bits: u32, prints: &[(u64, Stored)]) -> Model {
        let mut model = Model::new(Geometry::new(slots, bits).unwrap(), 0);
        for (id, print) in prints {
            model.push(*id, print.clone());
        }
        model
    }

    #[test]
    fn digits_are_cut_anew_from_the_same_bits() {
        // 101 110 are 10 11 10, and 1011 with two bits left.
        let stored = print(&[0b101, 0b110], 1);
        assert_eq!(stored.recut(3, 2), (print(&[0b10, 0b11, 0b10], 1), 0));
        assert_eq!(stored.recut(3, 4), (print(&[0b1011], 1), 2));
        assert_eq!(stored.recut(3, 3), (stored, 0));
    }

    #[test]
    fn a_union_has_all_and_says_what_can_not_be() {
        let geometry = |slots, bits| Geometry::new(slots, bits).unwrap();
        let (short, long) = (print(&[], 1), print(&[5], 1));
        let one = model(10, 3, &[(17, short.clone()), (40, long.clone())]);
        let two = model(10, 3, &[(17, long.clone()), (17, print(&[6], 0))]);
        let (union, cut) = Model::union(&[&one, &two], geometry(10, 3)).unwrap();
        assert_eq!(union.minirun(17), [short, long.clone(), print(&[6], 0)]);
        assert_eq!((union.live(), union.ghosts(), union.used()), (3, 1, 8));
        assert_eq!((cut.extended, cut.shortened), (3, 0));

        // In slots of two bits, 101 is 10.
        let (doubled, cut) = Model::union(&[&one], geometry(20, 2)).unwrap();
        assert_eq!(doubled.minirun(40), [print(&[0b10], 1)]);
        assert_eq!((cut.extended, cut.shortened), (1, 1));
        let halved = Model::union(&[&one], geometry(5, 4));
        assert_eq!(halved.unwrap_err(), Refusal::NeedsKeys(40));

        // Counts: of one filter they may be equal, of two they may not.
        let counted = model(10, 3, &[(17, print(&[5], 3)), (17, print(&[5], 3))]);
        assert!(Model::union(&[&counted], geometry(10, 3)).is_ok());
        assert!(counted.is_ambiguous() && !union.is_ambiguous());
        let refused = Model::union(&[&counted, &counted], geometry(10, 3));
        assert_eq!(refused.unwrap_err(), Refusal::Merge);
        let differ = model(10, 3, &[(17, print(&[5], 3)), (17, print(&[4], 2))]);
        assert!(Model::union(&[&differ], geometry(10, 3)).is_ok());
        let refused = Model::union(&[&differ], geometry(20, 2));
        assert_eq!(refused.unwrap_err(), Refusal::NeedsKeys(17));
    }

    #[test]
    fn a_union_is_full_to_the_slot() {
        let geometry = Geometry::new(1, 1).unwrap();
        let slots = Model::new(geometry, 0).slots();
        let of = |count: u64| {
            let prints: Vec<_> = (0..count).map(|_| (1, print(&[], 1))).collect();
            model(1, 1, &prints)
        };
        let (most, one) = (of(slots - 1), of(1));
        assert!(Model::union(&[&most, &one], geometry).is_ok());
        let refused = Model::union(&[&one, &most, &one], geometry);
        let used = slots + 1;
        assert_eq!(refused.unwrap_err(), Refusal::Full { used, slots });
    }
}
