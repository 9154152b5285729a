//! Filters to merge: random members of a small world of chosen streams, ghosts, and mistakes
//! that were fixed.

use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Hashed, Seed, StreamHash};
use twiceshy::{AdaptiveFilter, Geometry, Minirun};
use twiceshy_testing::adaptive::universe::{Chosen, ChosenKey, Universe};
use twiceshy_testing::{Exhausted, Source};

pub type Filter = AdaptiveFilter<Chosen>;

pub fn adaptive<H: StreamHash>(geometry: Geometry, value_bits: u32) -> AdaptiveFilter<H> {
    AdaptiveFilter::builder()
        .hash::<H>()
        .slots(geometry.slots())
        .remainder_bits(geometry.remainder_bits())
        .value_bits(value_bits)
        .seed(Seed::from_u64(1))
        .build()
        .expect("a small filter")
}

pub fn geometry(slots: u64, bits: u32) -> Geometry {
    Geometry::new(slots, bits).expect("a small geometry")
}

/// A key of a minirun of 8-bit slots, given the first bytes of its stream behind `h0`.
pub fn stream(geometry: Geometry, minirun: u64, bytes: &[u8]) -> Hashed<'static> {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let h1 = u64::from_le_bytes(word).swap_bytes();
    Hashed::from_words(&[*geometry.hash_range(minirun).start(), h1]).into_owned()
}

/// A filter, and which keys of the universe are its members.
pub struct Side {
    pub filter: Filter,
    pub members: Vec<usize>,
}

/// All members of a minirun, hashed.
pub fn keys_of<'u>(universe: &'u Universe, members: &[usize], minirun: u64) -> Vec<Hashed<'u>> {
    let of = |&&i: &&usize| universe.keys[i].minirun == minirun;
    let keyed = |&i: &usize| universe.keys[i].keyed();
    members.iter().filter(of).map(keyed).collect()
}

impl Side {
    /// Random members, random removals that leave ghosts, and every third mistake fixed.
    pub fn new(
        geometry: Geometry,
        universe: &Universe,
        source: &mut Source<'_>,
    ) -> Result<Self, Exhausted> {
        let mut side = Side {
            filter: adaptive(geometry, 0),
            members: Vec::new(),
        };
        let among = 1 + source.below(6)?;
        for i in 0..universe.keys.len() {
            if source.one_in(among)? && side.filter.insert_hashed(&universe.keys[i].keyed()).is_ok()
            {
                side.members.push(i);
            }
        }
        for (i, query) in universe.keys.iter().enumerate() {
            let key = query.keyed();
            let keys = keys_of(universe, &side.members, query.minirun);
            let minirun = Minirun::from_id(query.minirun);
            if side.members.contains(&i) {
                if source.one_in(5)? && side.filter.remove(&key, &keys, Leave::Ghost).is_ok() {
                    side.members.retain(|&member| member != i);
                }
            } else if source.one_in(3)? && side.filter.contains_hashed(&key) {
                // `Full` leaves the mistake as it is.
                let _ = side.filter.adapt(&key, minirun, &keys);
            }
        }
        Ok(side)
    }

    pub fn contains(&self, key: &ChosenKey) -> bool {
        self.filter.contains_hashed(&key.keyed())
    }
}

pub fn universe(geometry: &Geometry, source: &mut Source<'_>) -> Result<Universe, Exhausted> {
    loop {
        let width = geometry.remainder_bits();
        let universe = Universe::new(geometry, width, source)?;
        if !universe.twins {
            return Ok(universe);
        }
    }
}
