//! Filters as serde values (feature `serde`): the bytes of their files.
//!
//! Serialising is `to_bytes`, and deserialising `from_bytes`, which verifies everything. A
//! format without a type for bytes, such as JSON, gets a sequence of numbers.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::bits::Bytes;
use crate::bloom::{BitFilter, Probes};
use crate::cuckoo::{AdaptiveCuckooFilter, Alternate, PartialKeyFilter};
use crate::file::{FileFilter, read, write};
use crate::filters::adaptive::AdaptiveFilter;
use crate::filters::counting::CountingFilter;
use crate::filters::plain::QuotientFilter;
use crate::hash::StreamHash;
use crate::mem::Memory;

/// Serialised over any memory, deserialised into its own.
macro_rules! as_file {
    ($([$($more:tt)*] $over:ty => $owned:ty;)*) => {$(
        impl<H: StreamHash, M: Bytes, $($more)*> Serialize for $over {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&write::to_bytes(self))
            }
        }

        impl<'de, H: StreamHash, $($more)*> Deserialize<'de> for $owned {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_bytes(ByteVisitor(PhantomData))
            }
        }
    )*};
}

as_file! {
    [] QuotientFilter<H, M> => QuotientFilter<H>;
    [] CountingFilter<H, M> => CountingFilter<H>;
    [] AdaptiveFilter<H, M> => AdaptiveFilter<H>;
    [A: Alternate] PartialKeyFilter<H, A, M> => PartialKeyFilter<H, A>;
    [] AdaptiveCuckooFilter<H, M> => AdaptiveCuckooFilter<H>;
    [P: Probes] BitFilter<H, P, M> => BitFilter<H, P>;
}

/// Takes the bytes of a file in whatever way they come.
struct ByteVisitor<F>(PhantomData<F>);

impl<'de, F: FileFilter<Memory>> Visitor<'de> for ByteVisitor<F> {
    type Value = F;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bytes of a file with the {} filter", F::KIND)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<F, E> {
        read::from_bytes(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<F, A::Error> {
        // It may say that it is long; memory is taken for what arrives.
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
