//! The filters as files, and over them; see [`file`](crate::file).

use super::filter::{BitFilter, checked_bytes};
use super::probes::{OneLine, Probes, Scattered};
use crate::bits::{Bytes, Cpu};
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::geometry::Geometry;
use crate::hash::{HashKind, StreamHash};
use crate::violation::Violation;

file_methods! {
    /// The same keys and seed give the same bytes, in whatever order they came.
    BitFilter<H: StreamHash, P: Probes; M>
}

/// Bits and bytes of the array of a header; `None` if there can be no such filter.
pub(super) fn size(header: &Header) -> Option<(u64, usize)> {
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

/// What only the headers of Bloom filters say.
pub(super) struct Facts {
    /// The fewest hashes of a key.
    pub(super) hashes: u32,
    /// The most hashes of a key, where that may be more.
    pub(super) most: u32,
    /// Bits that were cleared again.
    pub(super) cleared: u64,
}

impl Facts {
    pub(super) fn to_bytes(&self) -> [u8; 32] {
        let mut extra = [0; 32];
        extra[0] = self.hashes as u8;
        extra[1] = self.most as u8;
        extra[2..10].copy_from_slice(&self.cleared.to_le_bytes());
        extra
    }

    pub(super) fn of(header: &Header) -> Self {
        let mut cleared = [0; 8];
        cleared.copy_from_slice(&header.extra[2..10]);
        Facts {
            hashes: header.extra[0].into(),
            most: header.extra[1].into(),
            cleared: u64::from_le_bytes(cleared),
        }
    }
}

impl<H: StreamHash, M: Bytes, P: Probes> FileFilter<M> for BitFilter<H, P, M> {
    const KIND: FilterKind = P::KIND;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        let geometry = Geometry::new(self.bits(), 1).expect("checked when it was built");
        let facts = Facts {
            hashes: self.hashes(),
            most: 0,
            cleared: 0,
        };
        Header {
            extra: facts.to_bytes(),
            ..Header::new::<M, Self>(geometry, self.seed, self.len)
        }
    }

    fn table(&self) -> &[u8] {
        self.memory.as_ref()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        size(header)
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        let (bits, hashes) = (header.geometry.slots(), Facts::of(header).hashes);
        if memory.as_ref().len() != checked_bytes::<P>(bits, hashes)? {
            return Err(Error::geometry("the array has another length"));
        }
        Ok(BitFilter {
            memory,
            probes: P::new(bits, hashes),
            len: header.live,
            keyed: H::keyed(&header.seed),
            seed: header.seed,
            cpu: Cpu::detect(),
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.check_invariants()
    }
}
