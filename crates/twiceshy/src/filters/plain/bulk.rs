//! Loading a filter from sorted fingerprints.

use super::{Core, QuotientFilter};
use crate::bulk::{BulkLoad, IntoLoader, Loader};
use crate::error::Error;
use crate::hash::{Seed, StreamHash};
use crate::table::{Bare, Fingerprint, Geometry, Writer};

/// A filter that is being loaded.
#[derive(Debug)]
pub struct PlainLoader<H: StreamHash> {
    writer: Writer<Bare>,
    geometry: Geometry,
    keyed: H::Keyed,
    seed: Seed,
}

impl<H: StreamHash> BulkLoad for QuotientFilter<H> {
    type Hash = H;
}

impl<H: StreamHash> IntoLoader for QuotientFilter<H> {
    type Loader = PlainLoader<H>;

    fn into_loader(self) -> PlainLoader<H> {
        PlainLoader {
            writer: Writer::new(self.core.table),
            geometry: self.core.geometry,
            keyed: self.keyed,
            seed: self.seed,
        }
    }
}

impl<H: StreamHash> Loader for PlainLoader<H> {
    type Filter = QuotientFilter<H>;

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn room(&self) -> Option<u64> {
        Some(self.writer.slots())
    }

    #[inline]
    fn load(&mut self, fingerprints: impl Iterator<Item = Fingerprint>) -> Result<(), Error> {
        let slots = fingerprints.map(|print| (print.quotient, print.remainder));
        self.writer.push_all(slots)
    }

    fn finish(self) -> Result<QuotientFilter<H>, Error> {
        Ok(QuotientFilter {
            core: Core {
                table: self.writer.finish(),
                geometry: self.geometry,
            },
            keyed: self.keyed,
            seed: self.seed,
        })
    }
}
