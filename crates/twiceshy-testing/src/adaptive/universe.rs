//! A small world of keys whose hash streams are chosen to collide.
//!
//! Random streams part after a bit or so, and then an extension is one digit long and
//! nothing ever goes wrong. Here the keys of a minirun are all paths of a little tree of
//! digits, below a common stem that may be long:
//!
//! ```text
//!   minirun   stem          tree                 behind it
//!   17        . . . . .  ┬─ 0 ┬─ 0                0 0 0 …
//!                        │    └─ 9                0 0 0 …
//!                        └─ 9 ┬─ 0 …
//! ```
//!
//! So many members share a minirun, some of them the first digits of their extensions too,
//! and every path that is not a member is a query that is hard to tell from one.

use crate::source::{Exhausted, Source};
use twiceshy::Geometry;
use twiceshy::hash::{HashKind, Hashed, Seed, StreamHash};

/// A hash whose keys are their own streams: words in little-endian order, zeros behind
/// them. Bytes after the last whole word are not hashed, so keys that differ only there
/// are inseparable.
#[derive(Clone, Copy, Debug)]
pub struct Chosen;

impl StreamHash for Chosen {
    const KIND: HashKind = HashKind::Other;
    type Keyed = ();

    fn keyed(_: &Seed) {}

    fn first((): &(), key: &[u8]) -> u64 {
        word(key, 0)
    }

    fn pair(_: &Seed, key: &[u8], number: u64) -> [u64; 2] {
        [word(key, 2 * number), word(key, 2 * number + 1)]
    }
}

fn word(key: &[u8], at: u64) -> u64 {
    let from = at as usize * 8;
    let mut word = [0; 8];
    if let Some(bytes) = key.get(from..from + 8) {
        word.copy_from_slice(bytes);
    }
    u64::from_le_bytes(word)
}

/// A key with a chosen hash stream.
#[derive(Clone, Debug)]
pub struct ChosenKey {
    /// The words of its stream; zeros follow.
    pub words: Vec<u64>,
    /// The key for [`Chosen`].
    pub bytes: Vec<u8>,
    /// The minirun that it belongs to.
    pub minirun: u64,
    /// Its stream from `h1` on, in digits: enough of them to tell it from all keys of its
    /// universe that can be told from it.
    pub digits: Vec<u64>,
}

impl ChosenKey {
    /// As a hashed key with bytes behind it.
    #[must_use]
    pub fn keyed(&self) -> Hashed<'_> {
        Hashed::from_bytes::<Chosen>(&Seed::from_u64(0), &self.bytes)
    }

    /// Finds its place in another geometry, and cuts the first `bits` bits of its stream into
    /// digits of another width.
    pub fn fit(&mut self, geometry: &Geometry, width: u32, bits: usize) {
        self.minirun = geometry.id(self.words[0]);
        self.digits = digits(&self.words, width, bits.div_ceil(width as usize));
    }

    /// As nothing but a stream.
    #[must_use]
    pub fn stream(&self) -> Hashed<'_> {
        Hashed::from_words(&self.words)
    }
}

/// All keys that there are.
#[derive(Clone, Debug)]
pub struct Universe {
    /// The keys; no two of them are equal.
    pub keys: Vec<ChosenKey>,
    /// Are there keys with the same stream?
    pub twins: bool,
}

/// Digits of the longest stem.
const LONGEST_STEM: usize = 70;

impl Universe {
    /// A universe for a geometry with extension digits of `width` bits.
    ///
    /// # Errors
    /// [`Exhausted`] if the source is.
    pub fn new(
        geometry: &Geometry,
        width: u32,
        source: &mut Source<'_>,
    ) -> Result<Self, Exhausted> {
        let mut builder = Builder {
            geometry,
            width,
            paths: Vec::new(),
        };
        let crowded = !source.one_in(4)?;
        if crowded {
            // A few miniruns with many keys.
            let few = 1 + source.below(5)?;
            let place = Place::new(geometry, source)?;
            for _ in 0..few {
                let id = place.id(geometry, source)?;
                builder.grow(id, source)?;
            }
        } else {
            // Many miniruns with a few keys, in equal steps over the table.
            let first = source.below(geometry.ids())?;
            let step = 1 + source.below(geometry.ids())?;
            let mut id = first;
            for _ in 0..30 {
                builder.tree(id, &[], 1, 2);
                id = (u128::from(id) + u128::from(step)).rem_euclid(u128::from(geometry.ids()))
                    as u64;
            }
        }
        let twins = source.one_in(6)?;
        Ok(builder.finish(twins))
    }
}

/// Where the crowded miniruns are.
#[derive(Clone, Copy)]
enum Place {
    Anywhere,
    /// In quotients from this one on.
    From(u64),
}

impl Place {
    fn new(geometry: &Geometry, source: &mut Source<'_>) -> Result<Self, Exhausted> {
        let last = geometry.slots() - 1;
        Ok(match source.below(4)? {
            0 => Place::Anywhere,
            1 => Place::From(source.below(last + 1)?),
            // Just before the end of a block.
            2 => Place::From((source.below(last / 64 + 1)? * 64 + 61).min(last)),
            _ => Place::From(last),
        })
    }

    fn id(self, geometry: &Geometry, source: &mut Source<'_>) -> Result<u64, Exhausted> {
        let from = match self {
            Place::Anywhere => return source.below(geometry.ids()),
            Place::From(quotient) => quotient,
        };
        let quotient = (from + source.below(4)?).min(geometry.slots() - 1);
        let last = (1 << geometry.remainder_bits()) - 1;
        let remainder = match source.below(4)? {
            0 => 0,
            1 => last,
            some => some.min(last),
        };
        Ok(quotient << geometry.remainder_bits() | remainder)
    }
}

struct Builder<'g> {
    geometry: &'g Geometry,
    width: u32,
    /// Minirun and digits of each key.
    paths: Vec<(u64, Vec<u64>)>,
}

impl Builder<'_> {
    /// Adds the keys of a crowded minirun.
    fn grow(&mut self, id: u64, source: &mut Source<'_>) -> Result<(), Exhausted> {
        let mask = u64::MAX >> (64 - self.width);
        let stem = source.pick(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 9, 9, LONGEST_STEM])?;
        // A stream has 63 words for digits.
        let stem = stem.min(3_800 / self.width as usize);
        let stem: Vec<u64> = match source.below(3)? {
            0 => vec![0; stem],
            1 => vec![mask; stem],
            _ => (0..stem as u64).map(|k| (5 * k + 3) & mask).collect(),
        };
        let (depth, arity) = source.pick(&[(1, 2), (2, 2), (3, 2), (2, 3), (4, 2), (1, 4)])?;
        self.tree(id, &stem, depth, arity);
        Ok(())
    }

    /// Adds all paths of a tree.
    fn tree(&mut self, id: u64, stem: &[u64], depth: usize, arity: usize) {
        if depth == 0 {
            let path = (id, stem.to_vec());
            // Digits behind a path are zero, so a shorter one may be there already.
            let same = |other: &(u64, Vec<u64>)| {
                let length = stem.len().max(other.1.len());
                other.0 == id && padded(&other.1, length) == padded(stem, length)
            };
            if !self.paths.iter().any(same) {
                self.paths.push(path);
            }
            return;
        }
        let mask = u64::MAX >> (64 - self.width);
        for digit in [0, mask, 1, mask / 2].into_iter().take(arity) {
            let stem = [stem, &[digit]].concat();
            self.tree(id, &stem, depth - 1, arity);
        }
    }

    fn finish(self, twins: bool) -> Universe {
        let longest = self.paths.iter().map(|(_, path)| path.len()).max();
        let length = longest.unwrap_or(0) + 1;
        let mut keys = Vec::with_capacity(self.paths.len());
        for (i, (id, path)) in self.paths.iter().enumerate() {
            let range = self.geometry.hash_range(*id);
            let h0 = match i % 3 {
                0 => *range.start(),
                1 => *range.end(),
                _ => range.start() + (range.end() - range.start()) / 2,
            };
            let words = stream(h0, path, self.width);
            let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            keys.push(ChosenKey {
                digits: digits(&words, self.width, length),
                words,
                bytes,
                minirun: *id,
            });
        }
        if twins {
            for at in [0, keys.len() / 2] {
                let mut twin = keys[at].clone();
                twin.bytes.push(b'2');
                keys.push(twin);
            }
            keys.dedup_by(|one, two| one.bytes == two.bytes);
        }
        Universe { keys, twins }
    }
}

fn padded(digits: &[u64], length: usize) -> Vec<u64> {
    let mut digits = digits.to_vec();
    digits.resize(length, 0);
    digits
}

/// The words of a stream with given digits, a bit at a time.
fn stream(h0: u64, digits: &[u64], width: u32) -> Vec<u64> {
    let mut words = vec![h0];
    let bits = digits
        .iter()
        .flat_map(|&digit| (0..width).rev().map(move |bit| digit >> bit & 1));
    for (i, bit) in bits.enumerate() {
        if i % 64 == 0 {
            words.push(0);
        }
        words[1 + i / 64] |= bit << (63 - i % 64);
    }
    words
}

/// The first digits of a stream, a bit at a time.
fn digits(words: &[u64], width: u32, length: usize) -> Vec<u64> {
    let bit = |i: usize| {
        words
            .get(1 + i / 64)
            .map_or(0, |word| word >> (63 - i % 64) & 1)
    };
    let width = width as usize;
    let digit = |k: usize| (k * width..(k + 1) * width).fold(0, |digit, i| digit << 1 | bit(i));
    (0..length).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_their_streams() {
        for seed in 0..300 {
            let mut source = Source::from_seed(seed);
            let slots = 1 + source.below(200).unwrap();
            let bits = 1 + source.below(50).unwrap() as u32;
            let geometry = Geometry::new(slots, bits).unwrap();
            let universe = Universe::new(&geometry, bits, &mut source).unwrap();
            assert!(universe.keys.len() > 1);
            for key in &universe.keys {
                for hashed in [key.keyed(), key.stream()] {
                    assert_eq!(geometry.id(hashed.h0()), key.minirun);
                    for (k, &digit) in (0..).zip(&key.digits) {
                        assert_eq!(hashed.bits(k * u64::from(bits), bits), digit);
                    }
                    assert!((0..80).all(|i| hashed.word(i) == key.keyed().word(i)));
                }
            }
            let mut same = 0;
            for (i, one) in universe.keys.iter().enumerate() {
                for two in &universe.keys[..i] {
                    assert_ne!(one.bytes, two.bytes);
                    same += u32::from(one.minirun == two.minirun && one.digits == two.digits);
                }
            }
            assert_eq!(same > 0, universe.twins);
        }
    }
}
