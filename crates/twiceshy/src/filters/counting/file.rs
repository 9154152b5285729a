//! The filter as a file, and over one; see [`file`](crate::file).

use super::CountingFilter;
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::filters::core::Core;
use crate::filters::table_size;
use crate::hash::{HashKind, StreamHash};
use crate::table::Marks;
use crate::table::Order;
use crate::violation::Violation;

file_methods! {
    /// The same fingerprints, counts and seed give the same bytes.
    CountingFilter<H: StreamHash; M>
}

impl<H: StreamHash, M: Bytes> FileFilter<M> for CountingFilter<H, M> {
    const KIND: FilterKind = FilterKind::Counting;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        Header {
            total: self.total,
            ..self.core.header::<Self>(self.seed)
        }
    }

    fn table(&self) -> &[u8] {
        self.core.table.as_bytes()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        table_size::<Marks>(header)
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        Ok(CountingFilter {
            core: Core::over(header, memory)?,
            total: header.total,
            keyed: H::keyed(&header.seed),
            seed: header.seed,
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        let mut extra = 0;
        self.core.verify(Order::Distinct, |home, print| {
            if print.extended || print.count == 0 {
                return Err(Violation::new("a counting filter holds but counts", home));
            }
            extra += u128::from(print.count - 1);
            Ok(())
        })?;
        if u128::from(self.distinct()) + extra != self.total {
            return Err(Violation::new("the sum of all counts is wrong", self.len()));
        }
        Ok(())
    }
}
