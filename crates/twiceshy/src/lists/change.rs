//! What a change of a dynamic list does, and what makes its filter from the map.

use super::List;
use super::dynamic::{DynamicList, Form, Outcome, empty};
use super::minirun::{Members, entry};
use crate::error::Error;
use crate::filters::adaptive::AdaptiveFilter;
use crate::filters::core::fill::Fill;
use crate::geometry::Geometry;
use crate::hash::{Hashed, StreamHash};
use crate::minirun::Minirun;
use crate::sets::reverse_map::ReverseMap;
use crate::sizing::MAX_LOAD;
use crate::table::{Put, Taken};

impl<F: Form, R: ReverseMap<Error: From<Error>>, H: StreamHash> DynamicList<F, R, H> {
    /// Reads the minirun of a hash.
    fn read(&mut self, h0: u64) -> Outcome<Minirun, R> {
        let geometry = self.filter.geometry();
        let id = geometry.id(h0);
        let members = &mut self.members;
        members.clear();
        let each = |h0, entry: &[u8]| members.read(h0, entry);
        self.map.keys(geometry.hash_range(id), each)?;
        members.check()?;
        Ok(Minirun::from_id(id))
    }

    /// Puts a key where it shall be, and says where it was.
    pub(super) fn change(
        &mut self,
        key: &Hashed<'_>,
        after: Option<List>,
    ) -> Outcome<Option<List>, R> {
        let (h0, bytes) = (key.h0(), key.key().expect("a key was hashed"));
        if after.is_some() && self.filter.load() >= MAX_LOAD {
            self.grow()?;
        }
        let (minirun, before) = loop {
            let minirun = self.read(h0)?;
            let before = self.members.find(bytes);
            if before == after {
                return Ok(before);
            }
            match self.apply(h0, bytes, minirun, before, after) {
                // The map does not know of the change yet, so this is as it was, but larger.
                Err(Error::Full { .. }) => self.grow()?,
                result => {
                    result?;
                    break (minirun, before);
                }
            }
        };
        if let Err((error, now)) = self.write(h0, bytes, before, after) {
            self.members.relist(h0, bytes, now);
            self.recount(before, now);
            if self.rewrite(minirun).is_err() {
                self.fill(self.filter.geometry())?;
            }
            return Err(error);
        }
        self.recount(before, after);
        Ok(before)
    }

    /// A key was on the one list, and is on the other.
    fn recount(&mut self, before: Option<List>, after: Option<List>) {
        for (list, step) in [(before, u64::MAX), (after, 1)] {
            match list {
                Some(List::Yes) => self.yes = self.yes.wrapping_add(step),
                Some(List::No) => self.no = self.no.wrapping_add(step),
                None => {}
            }
        }
    }

    /// Makes the filter what it must be when the key is where it shall be.
    fn apply(
        &mut self,
        h0: u64,
        bytes: &[u8],
        minirun: Minirun,
        before: Option<List>,
        after: Option<List>,
    ) -> Result<(), Error> {
        self.members.relist(h0, bytes, after);
        let ((Some(list), None) | (None, Some(list))) = (after, before) else {
            return self.rewrite(minirun);
        };
        if self.members.any(list.other()) {
            return self.rewrite(minirun);
        }
        // No key must be told apart from this one, before or after.
        if F::value(list).is_none() {
            return Ok(());
        }
        let is_last = !self.members.any(list);
        let core = self.filter.core_mut();
        let done = F::TAG_BITS == 0
            && match after {
                Some(_) => core.insert_bare(h0) == Put::Done,
                None => is_last && core.remove_plain(h0) == Taken::One,
            };
        if done {
            return Ok(());
        }
        self.rewrite(minirun)
    }

    /// Makes the fingerprints of a minirun what its members demand.
    fn rewrite(&mut self, minirun: Minirun) -> Result<(), Error> {
        let seed = self.filter.seed();
        let core = self.filter.core_mut();
        let prints = self.members.prints::<F, H>(&seed, core.widths.width)?;
        let contents = core.contents_of(minirun);
        if contents.prints == prints {
            return Ok(());
        }
        core.replace(minirun, &contents, prints)
    }

    /// Twice the slots.
    #[cold]
    fn grow(&mut self) -> Outcome<(), R> {
        self.fill(self.filter.geometry().grown()?)
    }

    /// Makes a new filter from the map and takes it for the old one.
    pub(super) fn fill(&mut self, geometry: Geometry) -> Outcome<(), R> {
        let mut geometry = geometry;
        let mut members = Members::default();
        let seed = self.filter.seed();
        loop {
            let core = empty::<F>(geometry, seed)?;
            let width = core.widths.width;
            let mut fill = Fill::new(core);
            let filled = self.scan(geometry, &mut members, |members| {
                let id = |h0| geometry.id(h0);
                members.miniruns::<F, H>(&seed, width, id, |id, prints| {
                    prints.iter().try_for_each(|print| fill.print(id, print))
                })
            });
            match filled? {
                Ok(()) => {
                    self.filter = AdaptiveFilter::from_core(fill.finish(), seed);
                    return Ok(());
                }
                Err(Error::Full { .. }) => {
                    let slots = geometry.slots() + geometry.slots() / 4 + 64;
                    geometry = Geometry::new(slots, geometry.remainder_bits())?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads the whole map in hash order, whole miniruns of some thousand keys at a time, until `each`
    /// fails: its error is in the inner result, the map's in the outer one.
    pub(super) fn scan(
        &self,
        geometry: Geometry,
        members: &mut Members,
        mut each: impl FnMut(&mut Members) -> Result<(), Error>,
    ) -> Outcome<Result<(), Error>, R> {
        let keys = u128::from(self.yes) + u128::from(self.no);
        let ids = u128::from(geometry.ids());
        let pieces = (keys / 4096 + 1).min(ids);
        for piece in 0..pieces {
            let first = (piece * ids / pieces) as u64;
            let last = ((piece + 1) * ids / pieces - 1) as u64;
            let hashes = *geometry.hash_range(first).start()..=*geometry.hash_range(last).end();
            members.clear();
            self.map.keys(hashes, |h0, entry| members.read(h0, entry))?;
            let done = members.check().and_then(|()| each(members));
            if done.is_err() {
                return Ok(done);
            }
        }
        Ok(Ok(()))
    }

    /// Writes a change to the map. If that fails, the key is where it was, or, if the map failed
    /// at putting it back as well, on no list: the error says which.
    fn write(
        &mut self,
        h0: u64,
        key: &[u8],
        before: Option<List>,
        after: Option<List>,
    ) -> Result<(), (R::Error, Option<List>)> {
        if let Some(list) = before {
            let removed = self.map.remove(h0, &entry(list, key));
            removed.map_err(|error| (error, before))?;
        }
        let Some(list) = after else {
            return Ok(());
        };
        self.map.insert(h0, &entry(list, key)).map_err(|error| {
            let put_back = |list: &List| self.map.insert(h0, &entry(*list, key)).is_ok();
            (error, before.filter(put_back))
        })?;
        Ok(())
    }
}
