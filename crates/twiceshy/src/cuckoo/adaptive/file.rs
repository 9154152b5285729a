//! The filter as a file, and over one; the keys are the store's.

use super::cells::Cells;
use super::filter::AdaptiveCuckooFilter;
use super::plan::{Bins, MAX_SELECTOR_BITS, Plan, Scheme};
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::geometry::Geometry;
use crate::hash::{HashKind, StreamHash};
use crate::violation::Violation;

file_methods! {
    /// File and store must be of the same moment.
    AdaptiveCuckooFilter<H: StreamHash; M>
}

/// The plan that a header tells of, if there can be such.
fn decode(header: &Header) -> Option<Plan> {
    let [scheme, slots, rest @ ..] = header.extra;
    let layout = match slots {
        1 => Bins::FourOfOne,
        4 => Bins::TwoOfFour,
        _ => return None,
    };
    let scheme = match (scheme, header.value_bits) {
        (1, selector_bits) => Scheme::Cyclic { selector_bits },
        (2, 0) => Scheme::Swapping,
        (3, 0) => Scheme::Cuckooing,
        _ => return None,
    };
    let (cells, bits) = (header.geometry.slots(), header.geometry.remainder_bits());
    let slots = u64::from(layout.slots());
    if cells % slots != 0 || rest.iter().any(|&byte| byte != 0) {
        return None;
    }
    Plan::new(cells / slots, bits, scheme, layout).ok()
}

impl<H: StreamHash, M: Bytes> FileFilter<M> for AdaptiveCuckooFilter<H, M> {
    const KIND: FilterKind = FilterKind::AdaptiveCuckoo;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        let plan = self.plan();
        let mut extra = [0; 32];
        extra[0] = match plan.scheme() {
            Scheme::Cyclic { .. } => 1,
            Scheme::Swapping => 2,
            Scheme::Cuckooing => 3,
        };
        extra[1] = plan.layout().slots() as u8;
        let geometry = Geometry::new(plan.cells(), plan.fingerprint_bits());
        let geometry = geometry.expect("a plan is a geometry");
        Header {
            value_bits: plan.selector_bits(),
            extra,
            ..Header::new::<M, Self>(geometry, self.seed, self.len)
        }
    }

    fn table(&self) -> &[u8] {
        self.cells.bytes()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        let plan = decode(header)?;
        Some((plan.cells(), plan.checked_bytes()?))
    }

    fn most_value_bits(_header: &Header) -> u32 {
        MAX_SELECTOR_BITS
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        let plan =
            decode(header).ok_or_else(|| Error::corrupt("its header is not one of this filter"))?;
        let cells = Cells::over(memory, plan)?;
        Ok(Self::over(cells, header.used, header.seed))
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.check_invariants()
    }
}
