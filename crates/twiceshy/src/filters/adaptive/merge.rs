//! Merging, doubling and halving adaptive filters.

use super::AdaptiveFilter;
use super::core::Core;
use super::fill::Fill;
use crate::bits::{Bytes, mask_below};
use crate::builder::{Buildable, Parts};
use crate::entry::Entry;
use crate::error::Error;
use crate::hash::StreamHash;
use crate::mem::Memory;
use crate::merge::{
    Collision, Contender, Ground, Homes, Merge, Resized, Resolver, Target, too_full,
};
use crate::prints::{Print, recut};
use crate::table::{Home, Minirun};

impl<H: StreamHash> AdaptiveFilter<H> {
    /// All fingerprints of several filters of equal seed and equal `slots * 2^remainder_bits`,
    /// in the geometry of the one with the most slots: what any of them learnt is kept. Merge
    /// the reverse maps as well. [`Merge`] has more choices, and settles counts and values
    /// that collide.
    ///
    /// # Errors
    /// Those of [`Merge::build`].
    pub fn merge<'f, M: Bytes + 'f>(
        filters: impl IntoIterator<Item = &'f AdaptiveFilter<H, M>>,
    ) -> Result<Self, Error>
    where
        H: 'f,
    {
        Merge::of(filters).build()
    }
}

impl<H: StreamHash, M: Bytes> AdaptiveFilter<H, M> {
    /// The same fingerprints in twice the slots, with remainders of one bit less. Extensions
    /// are re-cut and may lose their last bits, see [`merge`](crate::merge): then a few fixed
    /// mistakes come back. With the keys, [`rebuild`](Self::rebuild) loses nothing.
    ///
    /// # Errors
    /// [`Error::Geometry`] if remainders have but one bit, or the result does not fit in
    /// memory; [`Error::NeedsKeys`] if shorter extensions would make counts or values
    /// ambiguous; [`Error::Full`] if long counters need more slots than there are, or
    /// the last quotients more spare slots (only in tiny or crafted filters).
    pub fn doubled(&self) -> Result<(AdaptiveFilter<H>, Resized), Error> {
        Merge::of([self]).doubled(1).build_reported()
    }

    /// The same fingerprints in half the slots, with remainders of one bit more: the inverse
    /// of [`doubled`](Self::doubled), where nothing is extended.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the number of slots is odd or there are 56 bits in a slot,
    /// [`Error::NeedsKeys`] if an extension does not fill the wider slots,
    /// [`Error::Full`] if the fingerprints need more slots.
    pub fn halved(&self) -> Result<AdaptiveFilter<H>, Error> {
        let target = Target::halved(&self.core.geometry)?;
        let mut merge = Merge::of([self]);
        merge.target = target;
        merge.build()
    }
}

impl<'f, H: StreamHash, M: Bytes> Merge<'f, AdaptiveFilter<H, M>> {
    /// What to make of counts and values that collide. All the fingerprints of the
    /// [`Collision`] get the entry that `resolver` gives; an error ends the merge.
    ///
    /// ```
    /// use twiceshy::Entry;
    /// use twiceshy::hash::Seed;
    /// use twiceshy::{AdaptiveFilter, Merge};
    ///
    /// let new = || AdaptiveFilter::builder().capacity(100).seed(Seed::from_u64(1)).build();
    /// let (mut a, mut b) = (new()?, new()?);
    /// let anna = a.hash("anna");
    /// a.insert_with(&anna, 2, 0, &[])?;
    /// b.insert_with(&anna, 3, 0, &[])?;
    /// assert!(AdaptiveFilter::merge([&a, &b]).is_err());
    /// let both = Merge::of([&a, &b])
    ///     .resolve(|collision| Ok(Entry::new(collision.total()?, 0)))
    ///     .build()?;
    /// assert_eq!(both.entry("anna"), Some(Entry::new(5, 0)));
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    pub fn resolve(
        self,
        resolver: impl FnMut(&Collision<'_>) -> Result<Entry, Error> + 'f,
    ) -> Self {
        self.set_resolver(resolver)
    }

    /// Merges them.
    ///
    /// # Errors
    /// [`Error::Merge`] if the filters differ in seed, number of ids or value bits, or if
    /// counts or values collide and there is no resolver; the resolver's own errors;
    /// [`Error::Geometry`] if there is no result of this size; [`Error::NeedsKeys`] if
    /// extensions can't be re-cut; [`Error::Full`] if the fingerprints need more slots.
    pub fn build(self) -> Result<AdaptiveFilter<H>, Error> {
        self.build_reported().map(|(filter, _)| filter)
    }

    /// [`build`](Self::build) that also says what happened to extensions.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_reported(self) -> Result<(AdaptiveFilter<H>, Resized), Error> {
        let ground = Ground::common(self.filters.iter().map(|filter| Ground {
            geometry: filter.core.geometry,
            seed: filter.seed,
            value_bits: filter.core.layout.value_bits,
        }))?;
        let result = AdaptiveFilter::<H, Memory>::from_parts(Parts {
            geometry: self.target.geometry(&ground.geometry)?,
            seed: ground.seed,
            huge_pages: self.huge_pages,
            value_bits: ground.value_bits,
        })?;
        let inputs: Vec<_> = self.filters.iter().map(|filter| &filter.core).collect();
        let used = inputs.iter().map(|core| core.table.used()).sum();
        let mut union = Union {
            fill: Fill::new(result.core),
            inputs,
            resolver: self.resolver,
            report: Resized::default(),
        };
        union.run().map_err(|error| too_full(error, used))?;
        let merged = AdaptiveFilter {
            core: union.fill.finish(),
            ..result
        };
        Ok((merged, union.report))
    }
}

/// A fingerprint on its way.
struct Member {
    print: Print,
    source: usize,
}

struct Union<'f, M> {
    inputs: Vec<&'f Core<M>>,
    fill: Fill,
    resolver: Option<Resolver<'f>>,
    report: Resized,
}

impl<M: Bytes> Union<'_, M> {
    fn run(&mut self) -> Result<(), Error> {
        let tables: Vec<_> = self.inputs.iter().map(|core| &core.table).collect();
        let mut homes = Homes::new(&tables, self.fill.geometry().ids());
        let value_bits = self.fill.layout().value_bits;
        let mut minirun: Vec<(usize, u64)> = Vec::new();
        loop {
            if value_bits == 0 {
                let geometry = self.fill.geometry();
                let place = |home: &Home| geometry.fingerprint_of(home.id());
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
            let mut bare = !(home.is_continued() || value_bits > 0);
            while let Some(next) = homes.peek().filter(|next| next.id() == home.id()) {
                bare &= !next.is_continued();
                minirun.push(homes.place(next));
                homes.next()?;
            }
            if !bare {
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
        core.table.slot(at).value & mask_below(core.layout.value_bits)
    }

    /// Writes a minirun that has more than bare remainders.
    #[cold]
    fn minirun(&mut self, id: u64, homes: &[(usize, u64)]) -> Result<(), Error> {
        let mut members = Vec::with_capacity(homes.len());
        for &(source, at) in homes {
            let print = self.recut(source, id, at)?;
            members.push(Member { print, source });
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
        let (from, to) = (core.layout.width, self.fill.layout().width);
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

    /// Settles what collides in a sorted minirun, and says whether anything did.
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
                self.settle(id, &mut members[stretch])?;
                any = true;
            }
            from += length;
        }
        Ok(any)
    }

    /// Asks for one entry, and gives it to all.
    fn settle(&mut self, id: u64, members: &mut [Member]) -> Result<(), Error> {
        let minirun = Minirun::from_id(id);
        let live = members.iter().filter(|member| !member.print.is_ghost());
        let entries: Vec<_> = live
            .map(|member| {
                let Print { count, value, .. } = member.print;
                Contender::new(member.source, Entry { count, value })
            })
            .collect();
        let Some(resolver) = &mut self.resolver else {
            if self.inputs.len() == 1 {
                return Err(Error::NeedsKeys { minirun });
            }
            return Err(Error::merge(format!(
                "counts or values collide in minirun {id}; say with `Merge::resolve` what becomes \
                 of them"
            )));
        };
        let Entry { count, value } = resolver(&Collision::new(minirun, &entries))?;
        let bits = self.fill.layout().value_bits;
        if count == 0 || value >> bits != 0 {
            return Err(Error::merge(format!(
                "an entry has a count of at least one and a value of {bits} bits, not the count \
                 {count} and the value {value} that the resolver gave for minirun {id}"
            )));
        }
        for member in members.iter_mut().filter(|member| !member.print.is_ghost()) {
            member.print.count = count;
            member.print.value = value;
        }
        self.report.resolved += 1;
        Ok(())
    }
}

/// May these two, which match a common key, not stand side by side?
fn collide(a: &Member, b: &Member) -> bool {
    let (a_print, b_print) = (&a.print, &b.print);
    let counted = a_print.count > 1 || b_print.count > 1;
    a_print.value != b_print.value
        || counted && (a_print.count != b_print.count || a.source != b.source)
}
