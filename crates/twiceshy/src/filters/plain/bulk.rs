//! Loading a filter from sorted fingerprints.

use super::{Core, QuotientFilter};
use crate::bulk::{BulkLoad, IntoLoader, Loader};
use crate::error::Error;
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::{Seed, StreamHash};
use crate::table::{Bare, Writer};

/// The table of a filter that is being loaded.
#[derive(Debug)]
pub struct PlainLoader {
    writer: Writer<Bare>,
}

impl<H: StreamHash> BulkLoad for QuotientFilter<H> {
    type Hash = H;
}

impl<H: StreamHash> IntoLoader for QuotientFilter<H> {
    type Loader = PlainLoader;

    fn into_loader(self) -> PlainLoader {
        PlainLoader {
            writer: Writer::new(self.core.table),
        }
    }

    fn from_loader(loader: PlainLoader, seed: Seed) -> Result<Self, Error> {
        Ok(QuotientFilter {
            core: Core {
                table: loader.writer.finish(),
            },
            keyed: H::keyed(&seed),
            seed,
        })
    }
}

impl Loader for PlainLoader {
    fn geometry(&self) -> Geometry {
        self.writer.geometry()
    }

    fn room(&self) -> Option<u64> {
        Some(self.writer.slots())
    }

    #[inline]
    fn load(&mut self, fingerprints: impl Iterator<Item = Fingerprint>) -> Result<(), Error> {
        let slots = fingerprints.map(|print| (print.quotient, print.remainder));
        self.writer.push_all(slots)
    }
}
