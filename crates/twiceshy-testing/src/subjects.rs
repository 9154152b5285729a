//! The library's filters as subjects of the suite.

use crate::subject::Subject;
use twiceshy::bulk::BulkLoad;
use twiceshy::filters::coded::{CodedFilter, Symbols};
use twiceshy::hash::{Hashed, Seed, StreamHash};
use twiceshy::sizing::spare_slots;
use twiceshy::{
    AdaptiveFilter, CountingFilter, Error, Filter, Inserted, QuotientFilter, Removed, View,
};
use twiceshy::{Buildable, Builder, Geometry};

/// All slots of a table with so many quotients.
pub(super) fn all_slots(quotients: u64) -> u64 {
    (quotients + spare_slots(quotients)).next_multiple_of(64)
}

fn builder<F: Buildable>(geometry: Geometry, seed: Seed) -> Builder<F> {
    Builder::new()
        .slots(geometry.slots())
        .remainder_bits(geometry.remainder_bits())
        .seed(seed)
}

/// Both ways that all filters have: in any order, and sorted.
fn loaded<F: BulkLoad>(geometry: Geometry, seed: Seed, hashes: &[u64]) -> Vec<Result<F, Error>> {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    vec![
        builder(geometry, seed).build_from_hashes(hashes.iter().copied()),
        builder(geometry, seed).build_from_sorted_hashes(sorted),
    ]
}

pub(super) fn answers<F: Filter>(filter: &F, keys: &[Hashed<'_>]) -> Vec<bool> {
    keys.iter().map(|key| filter.contains_hashed(key)).collect()
}

/// What is spelt alike for all of them.
macro_rules! common_abilities {
    () => {
        fn geometry(&self) -> Geometry {
            self.geometry()
        }

        fn check(&self) -> Result<(), String> {
            self.check_invariants()
                .map_err(|violation| violation.to_string())
        }

        fn forget_all(&mut self) -> Option<()> {
            self.clear();
            Some(())
        }

        fn save(&self) -> Option<Vec<u8>> {
            Some(self.to_bytes())
        }

        fn load(bytes: &[u8]) -> Option<Result<Self, Error>> {
            Some(Self::from_bytes(bytes))
        }

        fn view(bytes: &[u8], keys: &[Hashed<'_>]) -> Option<Result<[Vec<bool>; 2], Error>> {
            let both = || {
                let verified = View::<Self>::new(bytes)?;
                let unverified = View::<Self>::new_unverified(bytes)?;
                Ok([answers(&verified, keys), answers(&unverified, keys)])
            };
            Some(both())
        }
    };
}

/// What is spelt alike for those that can be resized and merged.
macro_rules! other_sizes {
    () => {
        fn halve(&self) -> Option<Result<Self, Error>> {
            Some(self.halved())
        }

        fn unite(one: &Self, two: &Self) -> Option<Result<Self, Error>> {
            Some(Self::merge([one, two]))
        }
    };
}

impl<H: StreamHash> Subject for QuotientFilter<H> {
    common_abilities!();
    other_sizes!();

    fn ids(&self) -> Option<Vec<u64>> {
        let geometry = self.geometry();
        Some(self.iter().map(|found| geometry.id_of(found)).collect())
    }

    fn slots(&self) -> Option<u64> {
        Some(all_slots(self.geometry().slots()))
    }

    fn insert_once(&mut self, key: &Hashed<'_>) -> Option<Result<Inserted, Error>> {
        Some(self.insert_unique_hashed(key))
    }

    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        Some(self.remove_hashed(key))
    }

    fn double(&self) -> Option<Result<Self, Error>> {
        Some(self.doubled())
    }

    fn bulk_load(&self, geometry: Geometry, hashes: &[u64]) -> Option<Vec<Result<Self, Error>>> {
        Some(loaded(geometry, self.seed(), hashes))
    }
}

impl<H: StreamHash> Subject for CountingFilter<H> {
    common_abilities!();
    other_sizes!();

    fn ids(&self) -> Option<Vec<u64>> {
        let geometry = self.geometry();
        let copies = |(found, count)| std::iter::repeat_n(geometry.id_of(found), count as usize);
        Some(self.iter().flat_map(copies).collect())
    }

    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        Some(self.remove_hashed(key))
    }

    fn double(&self) -> Option<Result<Self, Error>> {
        Some(self.doubled())
    }

    fn bulk_load(&self, geometry: Geometry, hashes: &[u64]) -> Option<Vec<Result<Self, Error>>> {
        let mut all = loaded(geometry, self.seed(), hashes);
        // Counted here, once for each hash and not once for each fingerprint.
        let mut sorted = hashes.to_vec();
        sorted.sort_unstable();
        let equal = sorted.chunk_by(|one, two| one == two);
        let counts = equal.map(|hashes| (hashes[0], hashes.len() as u64));
        all.push(builder(geometry, self.seed()).build_from_sorted_counts(counts));
        Some(all)
    }
}

/// As long as it has not adapted: hashes are crafted here, and there are no keys to adapt
/// with. What it has learnt is the matter of the [game](super::adaptive).
impl<H: StreamHash> Subject for AdaptiveFilter<H> {
    common_abilities!();
    other_sizes!();

    fn ids(&self) -> Option<Vec<u64>> {
        let geometry = self.geometry();
        let found = self.iter().map(|found| geometry.id_of(found.home));
        Some(found.collect())
    }

    fn slots(&self) -> Option<u64> {
        Some(all_slots(self.geometry().slots()))
    }

    /// Where a minirun holds several, it takes their keys.
    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        match self.remove_known_member_hashed(key) {
            Err(Error::NeedsKeys { .. }) => None,
            result => Some(result),
        }
    }

    fn double(&self) -> Option<Result<Self, Error>> {
        Some(self.doubled())
    }

    fn bulk_load(&self, geometry: Geometry, hashes: &[u64]) -> Option<Vec<Result<Self, Error>>> {
        Some(loaded(geometry, self.seed(), hashes))
    }
}

/// As long as it has not adapted, as above; what it has learnt is the matter of the
/// [game](super::keyed).
impl<S: Symbols, H: StreamHash> Subject for CodedFilter<S, H> {
    common_abilities!();

    fn ids(&self) -> Option<Vec<u64>> {
        assert_eq!(self.adapted(), 0);
        let geometry = self.geometry();
        Some(self.iter().map(|found| geometry.id_of(found)).collect())
    }

    fn slots(&self) -> Option<u64> {
        Some(all_slots(self.geometry().slots()))
    }

    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        Some(self.remove_known_member_hashed(key))
    }
}
