//! The filters as files, and over them; see [`file`](crate::file).

use std::io::{self, Read, Write};

use super::filter::{BitFilter, checked_bytes};
use super::probes::{OneLine, Probes, Scattered};
use crate::bits::{Bytes, Cpu};
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, Stored, read, sealed, write};
use crate::hash::{HashKind, Seed, StreamHash};
use crate::table::{Geometry, Violation};

impl<H: StreamHash, M: Bytes, P: Probes> BitFilter<H, P, M> {
    /// The filter as a [file](crate::file) in memory. The same keys and seed give the same
    /// bytes, in whatever order they came.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        write::to_bytes(self)
    }

    /// Writes what [`to_bytes`](Self::to_bytes) gives, without making it in memory first.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        write::write_to(self, writer)
    }
}

impl<H: StreamHash, P: Probes> BitFilter<H, P> {
    /// The filter of a [file](crate::file) in memory, all of which is verified.
    ///
    /// # Errors
    /// [`Error::Format`] if it holds something else, or with another hash,
    /// [`Error::Corrupt`] if it is damaged, [`Error::Geometry`] if there is no memory for it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        read::from_bytes(bytes)
    }

    /// The same from a stream, of which nothing behind the file is read.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and [`Error::Io`] if the reader fails.
    pub fn read_from(reader: impl Read) -> Result<Self, Error> {
        read::read_from(reader)
    }
}

impl<H: StreamHash, P: Probes> sealed::Stored for BitFilter<H, P> {}

impl<H: StreamHash, P: Probes> Stored for BitFilter<H, P> {
    type View<'b> = BitFilter<H, P, &'b [u8]>;
}

/// Bits and bytes of the array of a header; `None` if there can be no such filter.
pub(crate) fn size(header: &Header) -> Option<(u64, usize)> {
    let [hashes, most, cleared @ ..] = header.extra;
    let (own, rest) = cleared.split_first_chunk::<8>()?;
    let is_retouched = header.kind == FilterKind::RetouchedBloom;
    let bits = header.geometry.slots();
    let bytes = match header.kind {
        FilterKind::BlockedBloom => checked_bytes::<OneLine>(bits, hashes.into()),
        _ => checked_bytes::<Scattered>(bits, hashes.into()),
    };
    let possible = match header.kind {
        FilterKind::WeightedBloom => {
            hashes <= most
                && u32::from(most) <= <Scattered as super::probes::sealed::Probes>::MAX_HASHES
        }
        _ => most == 0,
    };
    let spare = rest.iter().any(|&byte| byte != 0) || !is_retouched && *own != [0; 8];
    if !possible || spare || header.geometry.remainder_bits() != 1 {
        return None;
    }
    Some((bits, bytes.ok()?))
}

/// What the header of a Bloom filter says.
pub(super) struct Facts {
    pub(super) kind: FilterKind,
    pub(super) hash: HashKind,
    pub(super) seed: Seed,
    pub(super) bits: u64,
    pub(super) len: u64,
    /// The fewest hashes of a key.
    pub(super) hashes: u32,
    /// The most hashes of a key, where that may be more.
    pub(super) most: u32,
    /// Bits that were cleared again.
    pub(super) cleared: u64,
}

impl From<Facts> for Header {
    fn from(facts: Facts) -> Header {
        let mut extra = [0; 32];
        extra[0] = facts.hashes as u8;
        extra[1] = facts.most as u8;
        extra[2..10].copy_from_slice(&facts.cleared.to_le_bytes());
        Header {
            kind: facts.kind,
            hash: facts.hash,
            geometry: Geometry::new(facts.bits, 1).expect("checked when it was built"),
            value_bits: 0,
            seed: facts.seed,
            used: facts.len,
            live: facts.len,
            ghosts: 0,
            total: 0,
            extra,
        }
    }
}

impl From<&Header> for Facts {
    fn from(header: &Header) -> Facts {
        let mut cleared = [0; 8];
        cleared.copy_from_slice(&header.extra[2..10]);
        Facts {
            kind: header.kind,
            hash: header.hash,
            seed: header.seed,
            bits: header.geometry.slots(),
            len: header.live,
            hashes: header.extra[0].into(),
            most: header.extra[1].into(),
            cleared: u64::from_le_bytes(cleared),
        }
    }
}

/// A filter over an array that a header describes.
pub(super) fn assemble<H: StreamHash, M: Bytes, P: Probes>(
    facts: &Facts,
    memory: M,
) -> Result<BitFilter<H, P, M>, Error> {
    if memory.as_ref().len() != checked_bytes::<P>(facts.bits, facts.hashes)? {
        return Err(Error::geometry("the array has another length"));
    }
    Ok(BitFilter {
        memory,
        probes: P::new(facts.bits, facts.hashes),
        len: facts.len,
        keyed: H::keyed(&facts.seed),
        seed: facts.seed,
        cpu: Cpu::detect(),
    })
}

impl<H: StreamHash, M: Bytes, P: Probes> FileFilter<M> for BitFilter<H, P, M> {
    const KIND: FilterKind = P::KIND;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        Header::from(Facts {
            kind: P::KIND,
            hash: H::KIND,
            seed: self.seed,
            bits: self.bits(),
            len: self.len,
            hashes: self.hashes(),
            most: 0,
            cleared: 0,
        })
    }

    fn table(&self) -> &[u8] {
        self.memory.as_ref()
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        assemble(&Facts::from(header), memory)
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.check_invariants()
    }
}
