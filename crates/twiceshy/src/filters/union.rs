//! The union of tables with marked slots: what merges, doublings and halvings of counting and adaptive
//! filters are.
//!
//! Fingerprints come in the order of their miniruns, from all tables at once. Nearly all are alone in theirs
//! and have one slot; they are copied. The others are read, and where two of a minirun can't stand side by
//! side, [`Equal`] says what becomes of them.

use super::core::Core;
use super::core::fill::Fill;
use crate::bits::{Bytes, mask_below};
use crate::entry::Entry;
use crate::error::Error;
use crate::merge::{Collision, Contender, Homes, Resized, Resolver, too_full};
use crate::minirun::Minirun;
use crate::prints::{Print, recut};
use crate::table::HomeSlot;

/// What becomes of fingerprints of one minirun that match a common key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Equal {
    /// All stay. Where counts or values collide, all get the resolver's entry.
    Stay,
    /// They become one, with the sum of their counts or the resolver's.
    Count,
}

/// Writes all fingerprints of `inputs` into the table of `into`, which may have other measures but the same
/// minirun ids. Gives the sum of all counts as well.
///
/// # Errors
/// See [`Merge::build`](crate::Merge) of the filters.
pub(super) fn unite<M: Bytes>(
    inputs: Vec<&Core<M>>,
    into: Core,
    equal: Equal,
    resolver: Option<Resolver<'_>>,
) -> Result<(Core, Resized, u128), Error> {
    let used = inputs.iter().map(|core| core.table.used()).sum();
    let mut union = Union {
        inputs,
        fill: Fill::new(into),
        equal,
        resolver,
        report: Resized::default(),
    };
    union.run().map_err(|error| too_full(error, used))?;
    let total = union.fill.total();
    Ok((union.fill.finish(), union.report, total))
}

struct Union<'f, M> {
    inputs: Vec<&'f Core<M>>,
    fill: Fill,
    equal: Equal,
    resolver: Option<Resolver<'f>>,
    report: Resized,
}

/// A fingerprint on its way.
struct Member {
    print: Print,
    source: usize,
}

impl<M: Bytes> Union<'_, M> {
    fn run(&mut self) -> Result<(), Error> {
        let tables: Vec<_> = self.inputs.iter().map(|core| &core.table).collect();
        let mut homes = Homes::new(&tables, self.fill.geometry().ids());
        let value_bits = self.fill.widths().value_bits;
        let copies_alike = value_bits == 0 && self.equal == Equal::Stay;
        let mut minirun: Vec<(usize, u64)> = Vec::new();
        loop {
            if value_bits == 0 {
                let geometry = self.fill.geometry();
                let place = |home: &HomeSlot| geometry.fingerprint_of(home.id());
                self.fill.homes(homes.bare().iter().map(place))?;
            }
            let Some(home) = homes.next()? else {
                return Ok(());
            };
            let more = homes.peek().is_some_and(|next| next.id() == home.id());
            if !(more || home.is_continued()) {
                let value = match value_bits {
                    0 => 0,
                    _ => self.value(homes.place(home)),
                };
                self.fill.home(home.id(), value)?;
                continue;
            }
            minirun.clear();
            minirun.push(homes.place(home));
            let mut alike = copies_alike && !home.is_continued();
            while let Some(next) = homes.peek().filter(|next| next.id() == home.id()) {
                alike &= !next.is_continued();
                minirun.push(homes.place(next));
                homes.next()?;
            }
            if !alike {
                self.minirun(home.id(), &minirun)?;
                continue;
            }
            for _ in &minirun {
                self.fill.home(home.id(), 0)?;
            }
        }
    }

    /// The value in a home slot.
    fn value(&self, (source, at): (usize, u64)) -> u64 {
        let core = self.inputs[source];
        core.table.slot(at).value & mask_below(core.widths.value_bits)
    }

    /// Writes a minirun that has more than bare remainders.
    #[cold]
    fn minirun(&mut self, id: u64, homes: &[(usize, u64)]) -> Result<(), Error> {
        let mut members = Vec::with_capacity(homes.len());
        for &(source, at) in homes {
            let print = self.recut(source, id, at)?;
            members.push(Member { print, source });
        }
        if self.equal == Equal::Count {
            return self.count(id, members);
        }
        members.sort_unstable_by(|a, b| a.print.cmp(&b.print));
        if self.resolve(id, &mut members)? {
            members.sort_unstable_by(|a, b| a.print.cmp(&b.print));
        }
        for member in &members {
            self.fill.print(id, &member.print)?;
        }
        Ok(())
    }

    /// Reads a fingerprint for slots of the result's width.
    fn recut(&mut self, source: usize, id: u64, home: u64) -> Result<Print, Error> {
        let core = self.inputs[source];
        let mut print = core.read(core.table.slots_of_print(home));
        if print.extension.is_empty() {
            return Ok(print);
        }
        self.report.extended += 1;
        let (from, to) = (core.widths.width, self.fill.widths().width);
        if from != to {
            let (extension, lost) = recut(&print.extension, from, to);
            if lost > 0 && to > from {
                let minirun = Minirun::from_id(id);
                return Err(Error::NeedsKeys { minirun });
            }
            self.report.shortened += u64::from(lost > 0);
            print.extension = extension;
        }
        Ok(print)
    }

    /// Writes one fingerprint for all of a minirun.
    fn count(&mut self, id: u64, mut members: Vec<Member>) -> Result<(), Error> {
        members.sort_unstable_by_key(|member| member.source);
        let count = match &members[..] {
            [one] => one.print.count,
            several => self.ask(id, several)?.count,
        };
        self.fill.print(id, &Print::new(count, 0))
    }

    /// Resolves what collides in a sorted minirun, and says whether anything did.
    ///
    /// Fingerprints that match a common key are nested, and sorted they stand in stretches:
    /// first the shortest, which prefixes all the others. Wherever two of a stretch collide,
    /// one of them collides with the first, so only that is looked at. (It differs in value
    /// or count from one of the two if they differ from each other; and if all agree on a
    /// count above one, it is of another input than one of the two.)
    fn resolve(&mut self, id: u64, members: &mut [Member]) -> Result<bool, Error> {
        let mut any = false;
        let mut from = 0;
        while from < members.len() {
            let root = &members[from];
            if root.print.is_ghost() {
                from += 1;
                continue;
            }
            let inside = |other: &Member| other.print.extension.starts_with(&root.print.extension);
            let length = (members[from..].iter().position(|other| !inside(other)))
                .unwrap_or(members.len() - from);
            let stretch = from..from + length;
            let live = |member: &&Member| !member.print.is_ghost();
            let collides =
                (members[stretch.clone()].iter().filter(live)).any(|other| collide(root, other));
            if collides {
                let Entry { count, value } = self.ask(id, &members[stretch.clone()])?;
                let live = |member: &&mut Member| !member.print.is_ghost();
                for member in members[stretch].iter_mut().filter(live) {
                    member.print.count = count;
                    member.print.value = value;
                }
                any = true;
            }
            from += length;
        }
        Ok(any)
    }

    /// The entry that the live ones of these members get.
    fn ask(&mut self, id: u64, members: &[Member]) -> Result<Entry, Error> {
        let minirun = Minirun::from_id(id);
        let live = members.iter().filter(|member| !member.print.is_ghost());
        let entries: Vec<_> = live
            .map(|&Member { ref print, source }| {
                let entry = Entry::new(print.count, print.value);
                Contender { source, entry }
            })
            .collect();
        let collision = Collision {
            minirun,
            entries: &entries,
        };
        let entry = match &mut self.resolver {
            Some(resolver) => resolver(&collision)?,
            None if self.equal == Equal::Count => Entry::new(collision.total()?, 0),
            None if self.inputs.len() == 1 => return Err(Error::NeedsKeys { minirun }),
            None => {
                return Err(Error::merge(format!(
                    "counts or values collide in minirun {id}; say with `Merge::resolve` what \
                     becomes of them"
                )));
            }
        };
        let (Entry { count, value }, bits) = (entry, self.fill.widths().value_bits);
        if count == 0 || value >> bits != 0 {
            return Err(Error::merge(format!(
                "an entry has a count of at least one and a value of {bits} bits, not the count \
                 {count} and the value {value} that the resolver gave for minirun {id}"
            )));
        }
        self.report.resolved += 1;
        Ok(entry)
    }
}

/// May these two, which match a common key, not stand side by side?
fn collide(a: &Member, b: &Member) -> bool {
    let (a_print, b_print) = (&a.print, &b.print);
    let counted = a_print.count > 1 || b_print.count > 1;
    a_print.value != b_print.value
        || counted && (a_print.count != b_print.count || a.source != b.source)
}
