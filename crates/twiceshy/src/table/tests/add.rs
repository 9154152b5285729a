//! The short ways to add a slot, one after the other, as far as they go.

use super::super::*;
use super::Short;
use super::model::{Made, Tag};
use crate::bits::{Isa, Operation};

pub(super) struct InsertShort<'t, S: Made>(
    pub(super) &'t mut Table<S>,
    pub(super) u64,
    pub(super) u64,
    pub(super) Tag,
);

impl<S: Made> Operation for InsertShort<'_, S> {
    type Output = Short<()>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let opening = match self.0.insert_short::<I, S>(self.1, self.2, self.3) {
            Added::Done => return Short::Done(()),
            Added::Across(opening) => opening,
            Added::NotHere => {
                let done = self.0.insert_displaced::<I, S>(self.1, self.2, self.3);
                return if done {
                    Short::Done(())
                } else {
                    Short::NotHere
                };
            }
        };
        match self.0.open_across::<I, S>(&opening, Still) {
            true => Short::Done(()),
            false => Short::NotHere,
        }
    }
}

pub(super) struct ExtendShort<'t, S: Made>(
    pub(super) &'t mut Table<S>,
    pub(super) Fingerprint,
    pub(super) Slot<Tag>,
);

impl<S: Made> Operation for ExtendShort<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        match self.0.extend_short::<I, S>(self.1, self.2) {
            Added::Done => true,
            Added::Across(opening) => self.0.open_across::<I, S>(&opening, Still),
            Added::NotHere => self.0.extend_displaced::<I>(self.1, self.2),
        }
    }
}
