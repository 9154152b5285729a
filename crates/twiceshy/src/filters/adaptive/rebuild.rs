//! Rebuilding with the keys: any size, any false-positive rate, any seed.
//!
//! # The idea
//!
//! The keys come in hash order, as the reverse map has them, and so do the old
//! fingerprints: one pass over both finds the keys of each old minirun side by side with its
//! fingerprints. They are paired, and each key takes what its fingerprint has learnt along:
//!
//! ```text
//!   keys          x        y   z              u
//!   old miniruns  |   17   |        18        |   19   |
//!   old prints      17|d     18|a|a'  18|b      19         pair: x d, y aa', z b, u nothing
//!   new miniruns  | 34 | 35 | 36    |   37    | 38 | 39 |
//!   new prints      34|d'    36|a|a"  37|b"     38         re-cut along each key, rounded up
//! ```
//!
//! An extension is a prefix of the key's own stream in every geometry, so with the same seed
//! it is kept whatever the new size, and since the key is there to round up, no bit is lost.
//! If the new `N = n * 2^r` is a multiple of the old one, each new minirun lies inside one old
//! one, and every mistake that was fixed stays fixed ([`Learnt::Everything`]). At other sizes
//! the miniruns are cut elsewhere: a query may share one with a member that it never met
//! before ([`Learnt::Extensions`]). Another seed is another hash, and all mistakes are new
//! ([`Learnt::Nothing`]), which is also what makes an attacker's knowledge worthless.
//!
//! Counts and values are kept in every case, and told apart in the new miniruns.
//!
//! The keys are the truth: one without a fingerprint gets one, fingerprints without a key
//! are dropped. Time: one pass; memory: the new table and one minirun.
//!
//! ```
//! use twiceshy::AdaptiveFilter;
//! use twiceshy::filters::adaptive::rebuild::Learnt;
//! use twiceshy::hash::{Hashed, Seed, Sip13};
//!
//! let seed = Seed::from_u64(1);
//! let new = |slots| AdaptiveFilter::builder().slots(slots).remainder_bits(6).seed(seed).build();
//! let mut filter = new(100)?;
//! let mut keys: Vec<u64> = (0..90).collect();
//! for key in &keys {
//!     filter.insert(key)?;
//! }
//! // The reverse map has the keys in hash order.
//! keys.sort_by_key(|key| filter.hash(key).h0());
//! let hashed = keys.iter().map(|key| Hashed::new::<Sip13, _>(&seed, key));
//! let (larger, report) = filter.rebuild(new(200)?, hashed)?;
//! assert_eq!((report.members, report.learnt), (90, Learnt::Everything));
//! assert!(keys.iter().all(|key| larger.contains(key)));
//! # Ok::<(), twiceshy::Error>(())
//! ```

use super::AdaptiveFilter;
use crate::bits::Bytes;
use crate::error::Error;
use crate::filters::core::Core;
use crate::filters::core::fill::Fill;
use crate::hash::{Hashed, StreamHash};
use crate::merge::{Homes, too_full};
use crate::prints::edit::must_part;
use crate::prints::{Digits, Print, Stream, pair_some, recut};
use crate::table::Marks;

/// What a rebuild has kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rebuilt {
    /// How much of what was learnt holds.
    pub learnt: Learnt,
    /// Keys, each with a fingerprint now.
    pub members: u64,
    /// Those of them that kept an extension.
    pub extended: u64,
    /// Keys that had no fingerprint before.
    pub added: u64,
    /// Fingerprints that no key was left for.
    pub dropped: u64,
    /// Ghosts that are still there.
    pub ghosts: u64,
    /// Ghosts that are gone: without its key, a ghost can't be told where it belongs among
    /// smaller miniruns or under another seed.
    pub ghosts_dropped: u64,
}

/// How much of what a filter learnt survives a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learnt {
    /// All of it: every mistake that was fixed stays fixed.
    Everything,
    /// Every member keeps its extension, but queries may meet members that they did not
    /// share a minirun with before.
    Extensions,
    /// None: with another seed, all mistakes are new ones.
    Nothing,
}

impl<H: StreamHash, M: Bytes> AdaptiveFilter<H, M> {
    /// Builds this filter anew in `into`, another filter of any geometry and seed, from all
    /// its keys: hashed with the seed of `into`, and in hash order. What `into` held is
    /// forgotten; a key that comes twice counts once. See [`rebuild`](crate::filters::adaptive::rebuild)
    /// for what is kept.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the keys are not in hash order, [`Error::Full`] if they need
    /// more slots, [`Error::Geometry`] if `into` has fewer value bits than this filter,
    /// [`Error::Inseparable`] if two keys must be told apart and can't be.
    pub fn rebuild<'k>(
        &self,
        into: AdaptiveFilter<H>,
        keys: impl IntoIterator<Item = Hashed<'k>>,
    ) -> Result<(AdaptiveFilter<H>, Rebuilt), Error> {
        let (old, new) = (self.core.widths.value_bits, into.core.widths.value_bits);
        if old > new {
            return Err(Error::geometry(format!(
                "the values have {old} bits and do not fit into {new}"
            )));
        }
        let (old, new) = (self.geometry().ids(), into.geometry().ids());
        let learnt = match self.seed == into.seed {
            true if new % old == 0 => Learnt::Everything,
            true => Learnt::Extensions,
            false => Learnt::Nothing,
        };
        let mut pass = Pass {
            old: &self.core,
            homes: Homes::new(&[&self.core.table], old),
            same_seed: self.seed == into.seed,
            ids: (old, new),
            fill: Fill::new(into.core),
            minirun: Collected::default(),
            report: Rebuilt {
                learnt,
                members: 0,
                extended: 0,
                added: 0,
                dropped: 0,
                ghosts: 0,
                ghosts_dropped: 0,
            },
        };
        let used = self.core.table.used();
        pass.run(keys.into_iter(), |key| match key.key() {
            Some(bytes) => Hashed::from_bytes::<H>(&self.seed, bytes).into_owned(),
            None => key.clone().into_owned(),
        })
        .map_err(|error| too_full(error, used))?;
        let rebuilt = AdaptiveFilter {
            core: pass.fill.finish(),
            ..into
        };
        Ok((rebuilt, pass.report))
    }
}

/// What a key takes along.
#[derive(Clone, Copy)]
pub(super) struct Carried {
    /// Bits of its extension.
    bits: u64,
    count: u64,
    value: u64,
}

impl Carried {
    /// What a fingerprint of slots of `width` bits has to give; none of its extension if that is 0.
    pub(super) fn of(print: &Print, width: u32) -> Self {
        Carried {
            bits: print.extension.len() as u64 * u64::from(width),
            count: print.count,
            value: print.value,
        }
    }

    /// Is one unextended fingerprint, in its home slot, all of it?
    fn is_bare(&self) -> bool {
        self.bits == 0 && self.count == 1
    }
}

/// A key without a fingerprint has nothing to carry.
impl Default for Carried {
    fn default() -> Self {
        Carried {
            bits: 0,
            count: 1,
            value: 0,
        }
    }
}

/// The new minirun being collected.
#[derive(Default)]
struct Collected<'k> {
    id: u64,
    members: Vec<(Hashed<'k>, Carried)>,
    ghosts: Vec<Print>,
}

struct Pass<'f, 'k, M> {
    old: &'f Core<M>,
    homes: Homes<'f, Marks, M>,
    same_seed: bool,
    /// How many ids there were and will be.
    ids: (u64, u64),
    fill: Fill,
    minirun: Collected<'k>,
    report: Rebuilt,
}

impl<'k, M: Bytes> Pass<'_, 'k, M> {
    fn run(
        &mut self,
        mut keys: impl Iterator<Item = Hashed<'k>>,
        rehash: impl Fn(&Hashed<'k>) -> Hashed<'static>,
    ) -> Result<(), Error> {
        let mut stretch: Vec<Hashed<'k>> = Vec::new();
        let mut prints = Vec::new();
        let mut next = keys.next();
        let mut last = 0;
        while let Some(key) = next.take() {
            let id = self.id_of(key.h0());
            stretch.clear();
            self.take(key, &mut stretch, &mut last)?;
            for key in keys.by_ref() {
                if self.id_of(key.h0()) != id {
                    next = Some(key);
                    break;
                }
                self.take(key, &mut stretch, &mut last)?;
            }
            if self.same_seed {
                self.read_old(Some(id), &mut prints)?;
                self.carry_over(&mut stretch, &prints)?;
            } else {
                self.look_up(&mut stretch, &rehash)?;
            }
        }
        self.read_old(None, &mut prints)?;
        self.flush()
    }

    /// The stretch that a key belongs to: its old minirun, or its new one if there is no
    /// common hash.
    fn id_of(&self, h0: u64) -> u64 {
        if self.same_seed {
            self.old.table.geometry().id(h0)
        } else {
            self.fill.geometry().id(h0)
        }
    }

    /// Adds a key to a stretch, unless it is there.
    fn take(
        &self,
        key: Hashed<'k>,
        stretch: &mut Vec<Hashed<'k>>,
        last: &mut u64,
    ) -> Result<(), Error> {
        if key.h0() < *last {
            return Err(Error::mismatch(
                "the keys are not in hash order; sort them by `h0` under the new filter's seed",
            ));
        }
        *last = key.h0();
        let equals = stretch.iter().rev().take_while(|other| other.h0() == *last);
        if !equals.into_iter().any(|other| other.is_same_key(&key)) {
            stretch.push(key);
        }
        Ok(())
    }

    /// Reads the old minirun `id`; drops all before it, or all, but for their ghosts.
    fn read_old(&mut self, id: Option<u64>, prints: &mut Vec<Print>) -> Result<(), Error> {
        prints.clear();
        while let Some(home) = self
            .homes
            .peek()
            .filter(|home| id.is_none_or(|id| home.id() <= id))
        {
            self.homes.next()?;
            let print = self.old.read(self.old.table.slots_of_print(home.at));
            if print.is_ghost() {
                self.keep_ghost(home.id(), print)?;
            } else if Some(home.id()) == id {
                prints.push(print);
            } else {
                self.report.dropped += u64::from(self.same_seed);
            }
        }
        Ok(())
    }

    fn keep_ghost(&mut self, id: u64, mut ghost: Print) -> Result<(), Error> {
        let (old, new) = self.ids;
        if !self.same_seed || old % new != 0 {
            self.report.ghosts_dropped += 1;
            return Ok(());
        }
        let (from, to) = (self.old.widths.width, self.fill.widths().width);
        ghost.extension = recut(&ghost.extension, from, to).0;
        self.enter(id / (old / new))?;
        self.minirun.ghosts.push(ghost);
        self.report.ghosts += 1;
        Ok(())
    }

    /// Pairs the keys of an old minirun with its fingerprints.
    fn carry_over(&mut self, keys: &mut Vec<Hashed<'k>>, prints: &[Print]) -> Result<(), Error> {
        let width = self.old.widths.width;
        // What nearly every minirun is needs no search.
        if let ([key], [print]) = (&keys[..], prints) {
            if print.prefixes(&Digits { key, width }) {
                return keys
                    .drain(..)
                    .try_for_each(|key| self.admit(key, Carried::of(print, width)));
            }
        }
        let (found, dropped) = pair_up(prints, keys, width);
        self.report.dropped += dropped;
        for (key, found) in keys.drain(..).zip(found) {
            self.report.added += u64::from(found.is_none());
            self.admit(key, found.unwrap_or_default())?;
        }
        Ok(())
    }

    /// Finds each key of a stretch by its old hash.
    fn look_up(
        &mut self,
        keys: &mut Vec<Hashed<'k>>,
        rehash: impl Fn(&Hashed<'k>) -> Hashed<'static>,
    ) -> Result<(), Error> {
        for key in keys.drain(..) {
            let found = self.old.find(&rehash(&key));
            self.report.added += u64::from(found.is_none());
            let carried = found.map(|print| Carried::of(&print, 0));
            self.admit(key, carried.unwrap_or_default())?;
        }
        Ok(())
    }

    /// Adds a member to its new minirun.
    fn admit(&mut self, key: Hashed<'k>, carried: Carried) -> Result<(), Error> {
        self.enter(self.fill.geometry().id(key.h0()))?;
        self.report.members += 1;
        self.report.extended += u64::from(carried.bits > 0);
        self.minirun.members.push((key, carried));
        Ok(())
    }

    /// Goes on to the new minirun `id`, if it is not the one being collected.
    fn enter(&mut self, id: u64) -> Result<(), Error> {
        if self.minirun.id != id {
            self.flush()?;
            self.minirun.id = id;
        }
        Ok(())
    }

    /// Writes the minirun being collected.
    fn flush(&mut self) -> Result<(), Error> {
        let Collected {
            id,
            members,
            ghosts,
        } = &mut self.minirun;
        if let ([(_, carried)], []) = (&members[..], &ghosts[..]) {
            if carried.is_bare() {
                self.fill.home(*id, carried.value)?;
                members.clear();
                return Ok(());
            }
        }
        let mut prints = prints_of(members, self.fill.widths().width)?;
        prints.append(ghosts);
        prints.sort_unstable();
        for print in &prints {
            self.fill.print(*id, print)?;
        }
        members.clear();
        Ok(())
    }
}

/// What each key of a minirun takes along from its fingerprints, in slots of `width` bits, and how many
/// of these no key is left for.
pub(super) fn pair_up(
    prints: &[Print],
    keys: &[Hashed<'_>],
    width: u32,
) -> (Vec<Option<Carried>>, u64) {
    let streams: Vec<_> = keys.iter().map(|key| Digits { key, width }).collect();
    let (pairing, _) = pair_some(prints, &streams);
    let (mut found, mut left) = (vec![None; keys.len()], 0);
    for (print, key) in prints.iter().zip(pairing.key_of) {
        match key {
            Some(key) => found[key] = Some(Carried::of(print, width)),
            None => left += 1,
        }
    }
    (found, left)
}

/// The fingerprints of the members of one minirun, in slots of `width` bits.
pub(super) fn prints_of(
    members: &[(Hashed<'_>, Carried)],
    width: u32,
) -> Result<Vec<Print>, Error> {
    let keys: Vec<_> = members
        .iter()
        .map(|(key, _)| Digits { key, width })
        .collect();
    let mut prints: Vec<_> = members
        .iter()
        .zip(&keys)
        .map(|((_, carried), key)| Print {
            extension: (0..carried.bits.div_ceil(u64::from(width)))
                .map(|k| key.digit(k as usize))
                .collect(),
            value: carried.value,
            count: carried.count,
        })
        .collect();
    part(&mut prints, &keys)?;
    Ok(prints)
}

/// Lengthens fingerprints, each along its key, until no count above one or value is
/// ambiguous.
fn part<S: Stream>(prints: &mut [Print], keys: &[S]) -> Result<(), Error> {
    let alike = |print: &Print| print.count == 1 && print.value == prints[0].value;
    if prints.iter().all(alike) {
        return Ok(());
    }
    for i in 0..prints.len() {
        for j in 0..prints.len() {
            if i != j && must_part(&prints[i], &prints[j]) && prints[i].prefixes(&keys[j]) {
                prints[i].extend(&keys[i], &keys[j])?;
            }
        }
    }
    Ok(())
}
