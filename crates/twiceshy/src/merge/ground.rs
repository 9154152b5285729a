//! What filters must have in common to be merged, and the geometry of the result.

use crate::error::Error;
use crate::geometry::Geometry;
use crate::hash::Seed;

/// What one input brings.
#[derive(Clone, Copy)]
pub(crate) struct Ground {
    pub(crate) geometry: Geometry,
    pub(crate) seed: Seed,
    pub(crate) value_bits: u32,
}

/// The size of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// That of the largest input, doubled so often.
    Doubled(u32),
    /// This many slots.
    Slots(u64),
    /// Half of the slots.
    Halved,
}

impl Default for Target {
    fn default() -> Self {
        Target::Doubled(0)
    }
}

impl Ground {
    /// What all inputs have in common, with the geometry of the one with the most slots.
    ///
    /// # Errors
    /// [`Error::Merge`] that names the difference.
    pub(crate) fn common(inputs: impl IntoIterator<Item = Ground>) -> Result<Ground, Error> {
        let mut inputs = inputs.into_iter();
        let Some(first) = inputs.next() else {
            return Err(Error::merge("there are none; give at least one"));
        };
        let mut common = first;
        for (i, input) in (1..).zip(inputs) {
            if input.seed != first.seed {
                return Err(Error::merge(format!(
                    "filter {i} has another seed than filter 0, so their hashes have nothing to \
                     do with each other; rebuild one of them with its keys"
                )));
            }
            if input.geometry.ids() != first.geometry.ids() {
                let of = |geometry: &Geometry| {
                    let (slots, bits) = (geometry.slots(), geometry.remainder_bits());
                    format!("{slots} * 2^{bits} = {}", geometry.ids())
                };
                return Err(Error::merge(format!(
                    "filter {i} has slots * 2^remainder_bits = {}, filter 0 has {}; rebuild one \
                     of them with its keys",
                    of(&input.geometry),
                    of(&first.geometry)
                )));
            }
            if input.value_bits != first.value_bits {
                return Err(Error::merge(format!(
                    "filter {i} has {} value bits, filter 0 has {}",
                    input.value_bits, first.value_bits
                )));
            }
            if input.geometry.slots() > common.geometry.slots() {
                common = input;
            }
        }
        Ok(common)
    }
}

impl Target {
    /// The geometry of the result.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is none with the same ids.
    pub(crate) fn geometry(self, from: &Geometry) -> Result<Geometry, Error> {
        let bits = from.remainder_bits();
        match self {
            Target::Doubled(times) => doubled(from, times),
            Target::Halved if from.slots() % 2 == 1 => Err(Error::geometry(format!(
                "{} slots can't be halved, their number is odd; rebuild it with the keys",
                from.slots()
            ))),
            Target::Halved => Geometry::new(from.slots() / 2, bits + 1),
            Target::Slots(slots) if slots >= from.slots() => {
                let times = (slots / from.slots()).ilog2();
                if from.slots().checked_shl(times) != Some(slots) {
                    return Err(impossible(from, slots));
                }
                doubled(from, times)
            }
            Target::Slots(slots) => {
                let times = from.slots().checked_div(slots).map_or(0, u64::ilog2);
                if slots.checked_shl(times) != Some(from.slots()) {
                    return Err(impossible(from, slots));
                }
                Geometry::new(slots, bits + times)
            }
        }
    }
}

fn doubled(from: &Geometry, times: u32) -> Result<Geometry, Error> {
    let bits = from.remainder_bits();
    if times >= bits {
        return Err(Error::geometry(format!(
            "each doubling takes a bit of the remainders, which have {bits} and keep at least \
             one; rebuild it with the keys"
        )));
    }
    // At most `ids`, so the shift loses nothing.
    Geometry::new(from.slots() << times, bits - times)
}

fn impossible(from: &Geometry, slots: u64) -> Error {
    Error::geometry(format!(
        "without the keys {} slots can only be doubled or halved, which does not lead to {slots}",
        from.slots()
    ))
}
