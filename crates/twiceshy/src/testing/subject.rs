//! What the suite needs to know of a filter.

use crate::counting::CountingFilter;
use crate::error::Error;
use crate::hash::{Hashed, StreamHash};
use crate::plain::{Inserted, QuotientFilter};
use crate::quotient::{Geometry, spare_slots};
use crate::traits::{Filter, Insert, Removed};

/// How much of a filter's answers the oracle can foretell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exactness {
    /// All: the filter is an exact multiset of the minirun ids of its
    /// [`geometry`](Subject::geometry).
    Multiset,
    /// All: the filter is an exact set of those ids, and inserting one that is there
    /// changes nothing.
    Set,
    /// That members are found: the filter places fingerprints in ways of its own and may
    /// answer "maybe" to anything else. Only members are removed from it.
    OneSided,
}

/// A filter under test. Methods with a default are abilities that a filter may lack; the
/// suite then leaves them out.
///
/// See the [module](super) for an example.
pub trait Subject: Filter + Insert + Clone {
    /// What can be foretold.
    const EXACTNESS: Exactness = Exactness::Multiset;

    /// The geometry that hashes are crafted for and, unless the filter is
    /// [one-sided](Exactness::OneSided), by which it tells them apart.
    fn geometry(&self) -> Geometry;

    /// Verifies the filter's invariants from scratch; called after every operation.
    ///
    /// # Errors
    /// What does not hold.
    fn check(&self) -> Result<(), String>;

    /// The minirun ids of all fingerprints in ascending order, if they can be iterated.
    fn ids(&self) -> Option<Vec<u64>> {
        None
    }

    /// All slots of the quotient table, the spare ones included, if every item takes
    /// exactly one. The suite then knows when [`Error::Full`] is due, and how long
    /// clusters are; otherwise it believes the filter.
    fn slots(&self) -> Option<u64> {
        None
    }

    /// Adds a key unless its fingerprint is there.
    fn insert_once(&mut self, key: &Hashed<'_>) -> Option<Result<Inserted, Error>> {
        let _ = key;
        None
    }

    /// Removes one copy of a key.
    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        let _ = key;
        None
    }

    /// Removes everything.
    fn forget_all(&mut self) -> Option<()> {
        None
    }
}

impl<H: StreamHash> Subject for QuotientFilter<H> {
    fn geometry(&self) -> Geometry {
        self.geometry()
    }

    fn check(&self) -> Result<(), String> {
        self.check_invariants()
            .map_err(|violation| violation.to_string())
    }

    fn ids(&self) -> Option<Vec<u64>> {
        let geometry = self.geometry();
        Some(self.iter().map(|found| geometry.id_of(found)).collect())
    }

    fn slots(&self) -> Option<u64> {
        let quotients = self.geometry().slots();
        Some((quotients + spare_slots(quotients)).next_multiple_of(64))
    }

    fn insert_once(&mut self, key: &Hashed<'_>) -> Option<Result<Inserted, Error>> {
        Some(self.insert_unique_hashed(key))
    }

    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        Some(self.remove_hashed(key))
    }

    fn forget_all(&mut self) -> Option<()> {
        self.clear();
        Some(())
    }
}

impl<H: StreamHash> Subject for CountingFilter<H> {
    fn geometry(&self) -> Geometry {
        self.geometry()
    }

    fn check(&self) -> Result<(), String> {
        self.check_invariants()
            .map_err(|violation| violation.to_string())
    }

    fn ids(&self) -> Option<Vec<u64>> {
        let geometry = self.geometry();
        let copies = |(found, count)| std::iter::repeat_n(geometry.id_of(found), count as usize);
        Some(self.iter().flat_map(copies).collect())
    }

    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        Some(self.remove_hashed(key))
    }

    fn forget_all(&mut self) -> Option<()> {
        self.clear();
        Some(())
    }
}
