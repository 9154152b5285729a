//! The filters as files, and over them; see [`file`](crate::file).

use super::RetouchedBloomFilter;
use super::filter::{BitFilter, checked_bytes};
use super::probes::sealed::Knowledge;
use super::probes::{OneSided, Probes};
use crate::bits::{Bytes, Cpu};
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::geometry::Geometry;
use crate::hash::{HashKind, StreamHash};
use crate::violation::Violation;

file_methods! {
    /// The same keys and seed give the same bytes, in whatever order they came.
    BitFilter<H: StreamHash, P: OneSided; M>
}

file_methods! {
    RetouchedBloomFilter<H: StreamHash>
}

/// The rule that a header tells of and the bytes of its array; `None` if there can be no such filter.
fn decode<P: Probes>(header: &Header) -> Option<(P, usize)> {
    let (&hashes, rest) = header.extra.split_first()?;
    let (facts, spare) = rest.split_first_chunk()?;
    if header.geometry.remainder_bits() != 1 || spare.iter().any(|&byte| byte != 0) {
        return None;
    }
    let (bits, hashes) = (header.geometry.slots(), hashes.into());
    let bytes = checked_bytes::<P>(bits, hashes).ok()?;
    let knows = Knowledge::from_bytes(hashes, *facts)?;
    Some((P::of(bits, hashes, knows), bytes))
}

impl<H: StreamHash, M: Bytes, P: Probes> FileFilter<M> for BitFilter<H, P, M> {
    const KIND: FilterKind = P::KIND;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        let geometry = Geometry::new(self.bits(), 1).expect("checked when it was built");
        let facts = self.probes.knows().to_bytes();
        let mut extra = [0; 32];
        extra[0] = self.hashes() as u8;
        extra[1..][..facts.len()].copy_from_slice(&facts);
        Header {
            extra,
            ..Header::new::<M, Self>(geometry, self.seed, self.len)
        }
    }

    fn table(&self) -> &[u8] {
        self.memory.as_ref()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        let (probes, bytes) = decode::<P>(header)?;
        Some((probes.bits(), bytes))
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        let measures = decode::<P>(header);
        let measures = measures.filter(|&(_, bytes)| bytes == memory.as_ref().len());
        let (probes, _) =
            measures.ok_or_else(|| Error::geometry("the array has another length"))?;
        Ok(BitFilter {
            memory,
            probes,
            len: header.live,
            hasher: H::keyed(&header.seed),
            seed: header.seed,
            cpu: Cpu::detect(),
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.check_invariants()
    }
}
