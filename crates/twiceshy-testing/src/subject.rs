//! What the suite needs to know of a filter.

use twiceshy::hash::Hashed;
use twiceshy::{Error, Filter, Geometry, Insert, Inserted, Removed};

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

    /// The filter as the bytes of a file. Filters with the same contents, geometry and seed
    /// have the same bytes.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }

    /// The filter of such a file.
    fn load(bytes: &[u8]) -> Option<Result<Self, Error>> {
        let _ = bytes;
        None
    }

    /// What views of such a file, a verified one and an unverified one, answer for `keys`.
    fn view(bytes: &[u8], keys: &[Hashed<'_>]) -> Option<Result<[Vec<bool>; 2], Error>> {
        let _ = (bytes, keys);
        None
    }

    /// The same contents in twice the slots, with remainders of one bit less.
    fn double(&self) -> Option<Result<Self, Error>> {
        None
    }

    /// The same contents in half the slots, with remainders of one bit more.
    fn halve(&self) -> Option<Result<Self, Error>> {
        None
    }

    /// The contents of both in one filter, of the geometry of the larger one.
    fn unite(one: &Self, two: &Self) -> Option<Result<Self, Error>> {
        let _ = (one, two);
        None
    }

    /// Filters with the seed of this one, each loaded with all of `hashes` in another way. They
    /// come in no order.
    fn bulk_load(&self, geometry: Geometry, hashes: &[u64]) -> Option<Vec<Result<Self, Error>>> {
        let _ = (geometry, hashes);
        None
    }
}
