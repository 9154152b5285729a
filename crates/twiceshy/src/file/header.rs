//! The first 128 bytes of a file.

use super::{FileFilter, FilterKind, checksum};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::hash::{HashKind, Seed};

/// What every file starts with.
pub(super) const MAGIC: [u8; 8] = *b"twiceshy";

/// The number of the newest format: see [`FilterKind::version`].
pub const VERSION: u16 = 2;

/// Bytes before the table.
pub const HEADER_BYTES: usize = 128;

/// Where the checksum stands: the last word of the header.
pub(super) const CHECKSUM: usize = HEADER_BYTES - 8;

/// What a file says before its table. Everything in it is possible, but only what
/// [`read`](super::read) verifies is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub(crate) kind: FilterKind,
    pub(crate) hash: HashKind,
    pub(crate) geometry: Geometry,
    pub(crate) value_bits: u32,
    pub(crate) seed: Seed,
    /// Slots that hold something.
    pub(crate) used: u64,
    /// Fingerprints that are not ghosts.
    pub(crate) live: u64,
    pub(crate) ghosts: u64,
    /// The sum of all counts in a counting filter; for a static yes/no list the length of its
    /// NO list, and above it, from bit 64 on, how many blocks its table has; otherwise zero.
    pub(crate) total: u128,
    /// What only the filter's own kind understands; zero in the quotient family.
    pub(crate) extra: [u8; EXTRA_BYTES],
}

/// Bytes of a header that each kind has for itself.
const EXTRA_BYTES: usize = 32;

impl Header {
    /// That of a filter in which all items are alike, each in a slot of its own.
    pub(crate) fn new<M, F: FileFilter<M>>(geometry: Geometry, seed: Seed, items: u64) -> Self {
        Header {
            kind: F::KIND,
            hash: F::HASH,
            geometry,
            value_bits: 0,
            seed,
            used: items,
            live: items,
            ghosts: 0,
            total: 0,
            extra: [0; EXTRA_BYTES],
        }
    }

    /// The header of a file with this table.
    pub(super) fn encode(&self, table: &[u8]) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC);
        put(&self.kind.version().to_le_bytes());
        put(&[self.kind.code(), self.hash.code()]);
        put(&[self.geometry.remainder_bits() as u8, self.value_bits as u8]);
        put(&[0; 2]);
        put(&self.geometry.slots().to_le_bytes());
        put(&self.seed.to_bytes());
        put(&self.used.to_le_bytes());
        put(&self.live.to_le_bytes());
        put(&self.ghosts.to_le_bytes());
        put(&self.total.to_le_bytes());
        put(&(table.len() as u64).to_le_bytes());
        put(&self.extra);
        let checksum = checksum::of(&bytes[..CHECKSUM], table);
        bytes[CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the header at the start of `bytes` and how many bytes it says that its table has, without
    /// looking at a table. Only [`check`](Self::check) tells whether there can be such a filter.
    ///
    /// # Errors
    /// [`Error::Format`] if this is no file of ours, or one of a later version;
    /// [`Error::Corrupt`] if some field is impossible.
    pub(super) fn decode(bytes: &[u8]) -> Result<(Self, u64), Error> {
        let start = &bytes[..bytes.len().min(MAGIC.len())];
        if start.is_empty() || !MAGIC.starts_with(start) {
            return Err(Error::format("it does not start with \"twiceshy\""));
        }
        let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(Error::corrupt(format!(
                "it ends after {} bytes, within its header of {HEADER_BYTES}",
                bytes.len()
            )));
        };
        let mut fields = Fields(&header[MAGIC.len()..CHECKSUM]);
        let version = u16::from_le_bytes(fields.take());
        if !(1..=VERSION).contains(&version) {
            return Err(Error::format(format!(
                "its format has number {version}; this library reads numbers 1 to {VERSION}"
            )));
        }
        let [kind, hash, remainder_bits, value_bits] = fields.take();
        let kind = FilterKind::from_code(kind)
            .ok_or_else(|| Error::format(format!("it holds a filter of kind {kind}")))?;
        if version != kind.version() {
            return Err(Error::format(format!(
                "its format has number {version}; this library reads {kind} filters of number {}",
                kind.version()
            )));
        }
        let [0, 0] = fields.take() else {
            return Err(Error::corrupt("bytes 14 and 15 of its header are not zero"));
        };
        let slots = u64::from_le_bytes(fields.take());
        let seed = Seed::from_bytes(fields.take());
        let table_bytes;
        // Each `take` reads on, so the fields stand here in the order of the bytes.
        let header = Header {
            kind,
            hash: HashKind::from_code(hash)
                .ok_or_else(|| Error::format(format!("its hash has number {hash}")))?,
            geometry: Geometry::new(slots, remainder_bits.into())
                .map_err(|error| Error::corrupt(format!("its header is impossible: {error}")))?,
            value_bits: value_bits.into(),
            seed,
            used: u64::from_le_bytes(fields.take()),
            live: u64::from_le_bytes(fields.take()),
            ghosts: u64::from_le_bytes(fields.take()),
            total: u128::from_le_bytes(fields.take()),
            extra: {
                table_bytes = u64::from_le_bytes(fields.take());
                fields.take()
            },
        };
        if !header.kind.has_extra() && header.extra != [0; EXTRA_BYTES] {
            return Err(Error::corrupt(
                "the bytes of its header that are kept for later use are not zero",
            ));
        }
        Ok((header, table_bytes))
    }

    /// Could there be a file of a filter `F` like this, with so many bytes of a table?
    ///
    /// # Errors
    /// [`Error::Corrupt`] if not.
    pub(crate) fn check<M, F: FileFilter<M>>(&self, table_bytes: u64) -> Result<(), Error> {
        let most_bits = F::most_value_bits(self);
        if self.value_bits > most_bits {
            return Err(Error::corrupt(format!(
                "its values have {} bits, where at most {most_bits} are possible",
                self.value_bits
            )));
        }
        let Some((slots, bytes)) = F::size(self) else {
            return Err(Error::corrupt(
                "its table is larger than any memory, or of no kind that there is",
            ));
        };
        if table_bytes != bytes as u64 {
            return Err(Error::corrupt(format!(
                "its table has {table_bytes} bytes, where {} slots take {bytes}",
                self.geometry.slots()
            )));
        }
        match self.kind.is_words() {
            true => self.check_words(),
            false => self.check_counts(slots),
        }
    }
}

impl Header {
    /// Do the counts of a filter with so many slots fit together?
    fn check_counts(&self, slots: u64) -> Result<(), Error> {
        let fingerprints = self.live.checked_add(self.ghosts);
        let is_bloom = self.kind.is_bloom();
        let possible = (self.used <= slots || is_bloom)
            && fingerprints.is_some_and(|fingerprints| fingerprints <= self.used)
            && match self.kind {
                FilterKind::Counting => self.ghosts == 0 && self.total >= self.live.into(),
                FilterKind::Adaptive => self.total == 0,
                FilterKind::StaticYesNo => self.ghosts == 0,
                // All that the others hold is alike.
                _ => self.live == self.used && self.total == 0,
            };
        if possible {
            Ok(())
        } else {
            Err(Error::corrupt(format!(
                "its counts contradict each other: {} used slots of {slots}, {} fingerprints and \
                 {} ghosts with a sum of {}",
                self.used, self.live, self.ghosts, self.total
            )))
        }
    }

    /// A list that is words and nothing else has no slots: `live` and `ghosts` are the lengths
    /// of its YES and NO lists.
    fn check_words(&self) -> Result<(), Error> {
        if self.geometry.remainder_bits() == 1 && self.used == 0 && self.total == 0 {
            return Ok(());
        }
        Err(Error::corrupt(
            "its header speaks of slots, which such a list does not have",
        ))
    }
}

/// The fields of a header that are still to be read. There are always enough.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self
            .0
            .split_first_chunk()
            .expect("the fields of a header fit into it");
        self.0 = rest;
        *field
    }
}

/// What a file says about itself; see [`peek`](crate::any::peek).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// The number of the format.
    pub version: u16,
    /// Which filter it holds.
    pub kind: FilterKind,
    /// Which hash it was built with.
    pub hash: HashKind,
    /// Slots and remainder bits. Those of a cuckoo filter are all its slots and the bits of a
    /// fingerprint, those of a Bloom filter its bits, slots of one bit each, those of a list
    /// that has no slots its words.
    pub geometry: Geometry,
    /// Bits of the value beside each remainder.
    pub value_bits: u32,
    /// Slots that hold something.
    pub used_slots: u64,
    /// What the filter calls its length: fingerprints without ghosts, and for a counting
    /// filter the sum of all counts.
    pub items: u128,
    /// Fingerprints without ghosts: the distinct ones of a counting filter.
    pub fingerprints: u64,
    /// Removed fingerprints that keep what was learnt.
    pub ghosts: u64,
    /// Bytes of the whole file.
    pub file_bytes: u64,
}

impl Info {
    /// What a file of this header and so many bytes of a table says.
    pub(super) fn new(header: &Header, table_bytes: u64) -> Self {
        Info {
            version: header.kind.version(),
            kind: header.kind,
            hash: header.hash,
            geometry: header.geometry,
            value_bits: header.value_bits,
            used_slots: header.used,
            items: match header.kind {
                FilterKind::Counting => header.total,
                _ => header.live.into(),
            },
            fingerprints: header.live,
            // A list of words keeps the length of its NO list there.
            ghosts: match header.kind.is_words() {
                true => 0,
                false => header.ghosts,
            },
            file_bytes: HEADER_BYTES as u64 + table_bytes,
        }
    }
}
