//! Hashes that hurt.
//!
//! With random hashes a run is a slot or two long, and the interesting paths of a quotient
//! table are all but dead code: runs that leave their block, that swallow whole blocks,
//! clusters that shove each other to the last spare slot. A [`Shape`] says which of those
//! to aim for, and [`Hashes`] makes `h0` that do, by way of
//! [`Geometry::hash_range`].

use crate::source::{Exhausted, Source};
use twiceshy::Geometry;

/// A way for hashes to be unfortunate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Not at all: any `h0`.
    Uniform,
    /// All in one run.
    OneRun,
    /// In a few adjacent quotients, so that their runs form one cluster.
    OneCluster,
    /// Quotients in descending order: every insertion moves all that came before.
    Descending,
    /// In quotients just before the end of a block, mostly one of them: its run soon
    /// crosses two block boundaries.
    AcrossBlocks,
    /// All in the last quotient: only the spare slots are left to go to.
    LastQuotient,
    /// A handful of fingerprints, over and over.
    FewFingerprints,
    /// In the first and last quotients of blocks.
    BlockEdges,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 8] = [
        Shape::Uniform,
        Shape::OneRun,
        Shape::OneCluster,
        Shape::Descending,
        Shape::AcrossBlocks,
        Shape::LastQuotient,
        Shape::FewFingerprints,
        Shape::BlockEdges,
    ];
}

/// Makes hashes of one [`Shape`].
///
/// ```
/// use twiceshy::Geometry;
/// use twiceshy_testing::{Exhausted, Hashes, Shape, Source};
///
/// let geometry = Geometry::new(100, 5)?;
/// let source = &mut Source::from_seed(1);
/// let mut hashes = Hashes::new(geometry, Shape::LastQuotient, source)?;
/// for _ in 0..10 {
///     assert_eq!(geometry.fingerprint(hashes.next(source)?).quotient, 99);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hashes {
    geometry: Geometry,
    shape: Shape,
    /// The quotient that the shape is centred on; moves for [`Shape::Descending`].
    centre: u64,
    /// The fingerprints of [`Shape::FewFingerprints`].
    few: [u64; 5],
}

impl Hashes {
    /// Hashes of a shape, its place chosen by the source.
    ///
    /// # Errors
    /// [`Exhausted`] if the source is.
    pub fn new(
        geometry: Geometry,
        shape: Shape,
        source: &mut Source<'_>,
    ) -> Result<Self, Exhausted> {
        let last = geometry.slots() - 1;
        let centre = match shape {
            Shape::Uniform | Shape::BlockEdges | Shape::FewFingerprints => 0,
            Shape::LastQuotient | Shape::Descending => last,
            Shape::OneRun | Shape::OneCluster => source.below(geometry.slots())?,
            Shape::AcrossBlocks => {
                let block = source.below(last / 64 + 1)?;
                (block * 64 + 61 + source.below(3)?).min(last)
            }
        };
        let mut few = [0; 5];
        if shape == Shape::FewFingerprints {
            for id in &mut few {
                *id = source.below(geometry.ids())?;
            }
        }
        Ok(Hashes {
            geometry,
            shape,
            centre,
            few,
        })
    }

    /// The same shape in the same place of a geometry with as many ids.
    #[must_use]
    pub fn resized(self, geometry: Geometry) -> Self {
        let (old, new) = (self.geometry.slots(), geometry.slots());
        let last = new - 1;
        let scaled = match new > old {
            true => self.centre * (new / old),
            false => self.centre / (old / new),
        };
        let centre = match self.shape {
            Shape::LastQuotient => last,
            Shape::AcrossBlocks => scaled / 64 * 64 + 62,
            _ => scaled,
        };
        Hashes {
            geometry,
            centre: centre.min(last),
            ..self
        }
    }

    /// The next hash.
    ///
    /// # Errors
    /// [`Exhausted`] if the source is.
    pub fn next(&mut self, source: &mut Source<'_>) -> Result<u64, Exhausted> {
        let slots = self.geometry.slots();
        let last = slots - 1;
        let quotient = match self.shape {
            Shape::Uniform => return source.word(),
            Shape::FewFingerprints => {
                let id = source.pick(&self.few)?;
                return hash_of(&self.geometry, id, source);
            }
            Shape::OneRun | Shape::LastQuotient => self.centre,
            Shape::OneCluster => (self.centre + source.below(4)?).min(last),
            Shape::Descending => {
                let quotient = self.centre;
                let step = source.below(3)?;
                self.centre = quotient.checked_sub(step).unwrap_or(last);
                quotient
            }
            Shape::AcrossBlocks if source.one_in(8)? => {
                (self.centre + source.below(130)?).min(last)
            }
            Shape::AcrossBlocks => self.centre,
            Shape::BlockEdges => {
                let block = source.below(last / 64 + 1)?;
                (block * 64 + source.pick(&[0, 63])?).min(last)
            }
        };
        let remainder = source.below(1 << self.geometry.remainder_bits())?;
        let id = quotient << self.geometry.remainder_bits() | remainder;
        hash_of(&self.geometry, id, source)
    }
}

/// Some `h0` of a minirun: its first, its last or one between.
///
/// # Errors
/// [`Exhausted`] if the source is.
pub fn hash_of(geometry: &Geometry, id: u64, source: &mut Source<'_>) -> Result<u64, Exhausted> {
    let range = geometry.hash_range(id);
    let (first, last) = (*range.start(), *range.end());
    Ok(match source.below(3)? {
        0 => first,
        1 => last,
        // The difference is below 2^64 - 1, as there are at least two ids.
        _ => first + source.below(last - first + 1)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotients(slots: u64, shape: Shape) -> Vec<u64> {
        let geometry = Geometry::new(slots, 4).unwrap();
        let mut source = Source::from_seed(5);
        let mut hashes = Hashes::new(geometry, shape, &mut source).unwrap();
        let mut next = || hashes.next(&mut source).unwrap();
        (0..2_000)
            .map(|_| geometry.fingerprint(next()).quotient)
            .collect()
    }

    /// Smallest, largest and number of different ones.
    fn spread(values: &[u64]) -> (u64, u64, usize) {
        let different: std::collections::BTreeSet<_> = values.iter().copied().collect();
        let ends = (different.first(), different.last());
        let (Some(&low), Some(&high)) = ends else {
            panic!("no values")
        };
        (low, high, different.len())
    }

    #[test]
    fn shapes_are_what_they_say() {
        let slots = 300;
        let of = |shape| spread(&quotients(slots, shape));
        assert!(of(Shape::Uniform).2 > 290);
        assert_eq!(of(Shape::OneRun).2, 1);
        let (low, high, different) = of(Shape::OneCluster);
        assert_eq!((high - low, different), (3, 4));
        assert_eq!(of(Shape::Descending), (0, 299, 300));
        assert_eq!(of(Shape::LastQuotient), (299, 299, 1));
        assert!(of(Shape::FewFingerprints).2 <= 5);
        // 0, 63, 64, …, 255, 256 and 299.
        assert_eq!(of(Shape::BlockEdges), (0, 299, 10));

        let across = quotients(slots, Shape::AcrossBlocks);
        let centre = spread(&across).0;
        assert!(centre % 64 >= 61);
        let at_centre = across.iter().filter(|&&quotient| quotient == centre);
        assert!(at_centre.count() > 1_500, "one run is the long one");

        let descending = quotients(slots, Shape::Descending);
        let ascents = descending.windows(2).filter(|pair| pair[0] < pair[1]);
        assert!((1..10).contains(&ascents.count()), "only where it wraps");
    }

    #[test]
    fn every_shape_fits_every_geometry() {
        for (slots, bits) in [(1, 1), (1, 56), (2, 3), (63, 1), (64, 2), (65, 9), (16, 56)] {
            let geometry = Geometry::new(slots, bits).unwrap();
            for shape in Shape::ALL {
                let mut source = Source::from_seed(9);
                let mut hashes = Hashes::new(geometry, shape, &mut source).unwrap();
                for _ in 0..200 {
                    let h0 = hashes.next(&mut source).unwrap();
                    assert!(geometry.id(h0) < geometry.ids());
                }
            }
        }
    }

    #[test]
    fn shapes_keep_their_place_in_other_sizes() {
        for shape in Shape::ALL {
            let mut source = Source::from_seed(11);
            let small = Geometry::new(100, 5).unwrap();
            let large = Geometry::new(200, 4).unwrap();
            let mut hashes = Hashes::new(small, shape, &mut source).unwrap();
            for geometry in [large, small, large] {
                let before = hashes.clone();
                hashes = hashes.resized(geometry);
                let mut ids = |mut hashes: Hashes| -> Vec<u64> {
                    let next = |_| geometry.id(hashes.next(&mut source).unwrap());
                    (0..500).map(next).collect()
                };
                let (old, new) = (ids(before), ids(hashes.clone()));
                let mean = |ids: &[u64]| ids.iter().sum::<u64>() / ids.len() as u64;
                // Within an eighth of the table.
                let apart = mean(&old).abs_diff(mean(&new));
                assert!(apart < geometry.ids() / 8, "{shape:?} {apart}");
                assert!(new.iter().all(|&id| id < geometry.ids()));
            }
        }
    }

    #[test]
    fn a_hash_of_an_id_has_that_id() {
        let geometry = Geometry::new(77, 6).unwrap();
        let mut source = Source::from_seed(2);
        for id in 0..geometry.ids() {
            let h0 = hash_of(&geometry, id, &mut source).unwrap();
            assert_eq!(geometry.id(h0), id);
        }
    }
}
