//! The filters as files, and over them; see [`file`](crate::file).

use super::alternate::Alternate;
use super::filter::{Core, PartialKeyFilter};
use super::lanes::SLOTS;
use super::shape::{Packing, Shape};
use super::table::Table;
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::geometry::Geometry;
use crate::hash::{HashKind, StreamHash};
use crate::violation::Violation;

file_methods! {
    PartialKeyFilter<H: StreamHash, A: Alternate; M>
}

/// The shape and the rule that a header tells of, if there can be such.
fn decode<A: Alternate>(header: &Header) -> Option<(Shape, A)> {
    let [packing, a, b, c, d, rest @ ..] = header.extra;
    let packing = Packing::from_code(packing)?;
    let (slots, bits) = (header.geometry.slots(), header.geometry.remainder_bits());
    if slots % u64::from(SLOTS) != 0 || rest.iter().any(|&byte| byte != 0) {
        return None;
    }
    let shape = Shape::new(slots / u64::from(SLOTS), bits, packing).ok()?;
    Some((shape, A::from_bytes(shape.buckets(), [a, b, c, d])?))
}

impl<H: StreamHash, M: Bytes, A: Alternate> FileFilter<M> for PartialKeyFilter<H, A, M> {
    const KIND: FilterKind = A::KIND;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        let shape = self.shape();
        let mut extra = [0; 32];
        extra[0] = shape.packing().code();
        extra[1..5].copy_from_slice(&self.core.alternate.to_bytes());
        let geometry = Geometry::new(shape.slots(), shape.fingerprint_bits());
        let geometry = geometry.expect("a shape is a geometry");
        Header {
            extra,
            ..Header::new::<M, Self>(geometry, self.seed, self.len())
        }
    }

    fn table(&self) -> &[u8] {
        self.core.table.bytes()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        let (shape, _) = decode::<A>(header)?;
        Some((shape.slots(), shape.checked_bytes()?))
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        let (shape, alternate) = decode::<A>(header)
            .ok_or_else(|| Error::corrupt("its header is not one of this filter"))?;
        Ok(PartialKeyFilter {
            core: Core::new(Table::over(memory, shape)?, alternate, header.used),
            hasher: H::keyed(&header.seed),
            seed: header.seed,
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.core.check()
    }
}
