//! The cuckoo and the Bloom filters as subjects of the suite: one-sided, all of them.

use crate::adaptive::universe::Chosen;
use crate::subject::{Exactness, Subject};
use crate::subjects::answers;
use twiceshy::Geometry;
use twiceshy::bloom::{BitFilter, OneSided};
use twiceshy::cuckoo::{
    AdaptiveCuckooBuilder, AdaptiveCuckooFilter, Alternate, MemoryCells, PartialKeyFilter,
};
use twiceshy::hash::{Hashed, Key, StreamHash};
use twiceshy::{Error, Filter, Insert, Removed, Stats, View};

/// What is spelt alike for all that have files.
macro_rules! common_abilities {
    () => {
        const EXACTNESS: Exactness = Exactness::OneSided;

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

impl<H: StreamHash, A: Alternate> Subject for PartialKeyFilter<H, A> {
    common_abilities!();

    fn geometry(&self) -> Geometry {
        let shape = self.shape();
        Geometry::new(shape.buckets(), shape.fingerprint_bits()).expect("a shape is a geometry")
    }

    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        Some(self.remove_hashed(key))
    }
}

impl<H: StreamHash, P: OneSided> Subject for BitFilter<H, P> {
    common_abilities!();

    fn geometry(&self) -> Geometry {
        Geometry::new(self.bits(), 1).expect("bits are a geometry")
    }
}

/// An adaptive cuckoo filter with its store. A hash of the suite is its own key, by [`Chosen`].
#[derive(Clone, Debug)]
pub struct CuckooInLockStep {
    filter: AdaptiveCuckooFilter<Chosen>,
    store: MemoryCells,
}

impl CuckooInLockStep {
    /// An empty one.
    ///
    /// # Errors
    /// Those of the builder.
    pub fn new(builder: AdaptiveCuckooBuilder<Chosen>) -> Result<Self, Error> {
        Ok(CuckooInLockStep {
            filter: builder.build()?,
            store: MemoryCells::default(),
        })
    }
}

impl Filter for CuckooInLockStep {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.filter.hash(key)
    }

    fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.filter.contains(&key.h0())
    }

    fn contains_batch_hashed_into(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        let keys: Vec<u64> = keys.iter().map(Hashed::h0).collect();
        self.filter.contains_batch_into(&keys, found);
    }

    fn len(&self) -> u64 {
        self.filter.len()
    }

    fn stats(&self) -> Stats {
        self.filter.stats()
    }
}

impl Insert for CuckooInLockStep {
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        let h0 = key.h0();
        let key = self.filter.hash(&h0);
        self.filter.insert_hashed(&key, &mut self.store)
    }
}

impl Subject for CuckooInLockStep {
    const EXACTNESS: Exactness = Exactness::OneSided;

    fn geometry(&self) -> Geometry {
        let plan = self.filter.plan();
        Geometry::new(plan.bins(), plan.fingerprint_bits()).expect("a plan is a geometry")
    }

    fn check(&self) -> Result<(), String> {
        let checked = self.filter.check_lock_step(&self.store);
        checked.map_err(|error| error.to_string())
    }

    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        let h0 = key.h0();
        let key = self.filter.hash(&h0);
        Some(self.filter.remove_hashed(&key, &mut self.store))
    }

    fn forget_all(&mut self) -> Option<()> {
        self.filter.clear();
        self.store = MemoryCells::default();
        Some(())
    }
}
