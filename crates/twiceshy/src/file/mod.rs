//! Files that last: filters as bytes, and filters over bytes.
//!
//! # The idea
//!
//! A table is the same bytes in memory as in a file, on every machine, so writing is a header
//! and a copy, and reading needs no copy at all: a [`View`] asks a file where it lies, in a
//! buffer or in a memory map. The same keys and seed give the same file, in whatever order
//! they came, until something adapts.
//!
//! ```text
//! byte   0          8     10     11     12          13      14    16        24     40
//!        | twiceshy | u16 |  u8  |  u8  |    u8     |  u8   |  0  |   u64   |      |
//!        |  magic   | ver | kind | hash | remainder | value |     |  slots  | seed |
//!                                          bits       bits
//! byte   40     48     56       64      80            88            120        128
//!        | u64  | u64  |  u64   | u128  |     u64     |      0      |   u64    | table …
//!        | used | live | ghosts | total | table bytes | for later   | checksum | padding and all
//! ```
//!
//! All numbers are little-endian. *Ver* is the number of the kind's format ([`FilterKind::version`]),
//! *kind* is a [`FilterKind`], *hash* a [`HashKind`]. *Used* are the slots that hold something, *live* the
//! fingerprints that are no ghosts, *total* the sum of all counts (zero but in a counting
//! filter, and in [lists](crate::lists), whose NO keys and blocks it counts). Bytes 88 to 119 are
//! zero but in the cuckoo and Bloom families, which have measures of their own; there slots are
//! all slots, or the bits of a Bloom filter. The checksum is the XXH3-64 of the table, seeded with
//! the XXH3-64 of the 120 bytes
//! before the checksum. The table is described in `docs/design.md` and, byte by
//! byte, in `docs/format.md`, which also has every kind of file.
//!
//! The seed is in the file, and whoever knows it can predict the filter's mistakes: keep
//! files from those who may choose keys.
//!
//! # Trust
//!
//! | | checks | reads |
//! | --- | --- | --- |
//! | `from_bytes`, `read_from`, [`View::new`] | header, length, checksum, every invariant of the table | all bytes; fingerprints with extensions or counters take longest |
//! | [`View::new_unverified`] | header, length | the header: constant time |
//! | [`any::peek`](crate::any::peek) | header | the header |
//!
//! A damaged file fails by its checksum. A file with a right checksum and a
//! wrong table fails by its invariants: whatever is loaded is a filter that this library could
//! have written. No loader takes more memory than the bytes that it was given, and a constant.
//!
//! # Example
//!
//! ```
//! use twiceshy::any;
//! use twiceshy::file::{FilterKind, View};
//! use twiceshy::hash::HashKind;
//! use twiceshy::{AdaptiveFilter, Error, QuotientFilter};
//!
//! let mut filter = AdaptiveFilter::new(1_000, 0.001)?;
//! filter.insert("anna")?;
//! let mut bytes = Vec::new();
//! filter.write_to(&mut bytes).expect("a vector takes everything");
//!
//! // To change it again, load it; to ask it, look at it.
//! let mut filter: AdaptiveFilter = AdaptiveFilter::from_bytes(&bytes)?;
//! filter.insert("otto")?;
//! assert!(View::<AdaptiveFilter>::new(&bytes)?.contains("anna"));
//!
//! // What is in a file?
//! let info = any::peek(&bytes)?;
//! assert_eq!((info.kind, info.hash), (FilterKind::Adaptive, HashKind::SipHash13));
//! assert_eq!((info.items, info.file_bytes), (1, bytes.len() as u64));
//! assert!(matches!(View::<QuotientFilter>::new(&bytes), Err(Error::Format { .. })));
//!
//! // Damage does not go unnoticed.
//! bytes[300] ^= 1;
//! assert!(matches!(View::<AdaptiveFilter>::new(&bytes), Err(Error::Corrupt { .. })));
//! # Ok::<(), twiceshy::Error>(())
//! ```
//!
//! A program that opens whatever file it is given takes [`any`](crate::any).
//!
//! # An [`AdaptiveSet`](crate::AdaptiveSet)
//!
//! is a filter and its keys. Its keys are yours to store, in any order; to come back, build a
//! set and insert them. What it had learnt is lost then. To keep that as well, use an
//! [`AdaptiveFilter`](crate::AdaptiveFilter) beside the store that has the keys, and write the
//! filter's file whenever the store is at rest: file and keys must be of the same moment,
//! because a key that the file does not know is answered "no".

mod checksum;
mod header;
mod kind;
mod methods;
pub(crate) mod read;
mod view;
pub(crate) mod write;

use std::fmt;

use crate::error::Error;
use crate::hash::HashKind;
use crate::traits::Filter;
use crate::violation::Violation;

pub use self::header::{HEADER_BYTES, Info, VERSION};
pub use self::kind::FilterKind;
pub use self::view::View;
pub use crate::bits::Bytes;

pub(crate) use self::header::Header;
pub(crate) use self::methods::file_methods;

/// What tells whether there can be a file of this header, with so many bytes of a table.
pub(crate) type Check = fn(&Header, u64) -> Result<(), Error>;

/// What a file says about itself, checked as its kind asks for.
pub(crate) fn peek(bytes: &[u8], check_of: impl Fn(FilterKind) -> Check) -> Result<Info, Error> {
    let (header, table_bytes) = Header::decode(bytes)?;
    check_of(header.kind)(&header, table_bytes)?;
    Ok(Info::new(&header, table_bytes))
}

/// What the file of this filter would say.
pub(crate) fn info<M, F: FileFilter<M>>(filter: &F) -> Info {
    Info::new(&filter.header(), filter.table().len() as u64)
}

/// A filter that has a file format and can be asked in it:
/// [`QuotientFilter`](crate::QuotientFilter), [`CountingFilter`](crate::CountingFilter),
/// [`AdaptiveFilter`](crate::AdaptiveFilter), [`TelescopingFilter`](crate::TelescopingFilter),
/// [`ExtensionFilter`](crate::ExtensionFilter), and those of [`cuckoo`](crate::cuckoo) and
/// [`bloom`](crate::bloom).
pub trait Stored: sealed::Stored {
    /// The same filter over borrowed bytes.
    type View<'b>: sealed::FileFilter<&'b [u8]> + Filter + fmt::Debug;
}

pub(crate) use self::sealed::FileFilter;

pub(crate) mod sealed {
    use super::{Error, FilterKind, HashKind, Header, Violation};

    /// Filters outside of this crate have other files.
    pub trait Stored {}

    /// A filter over a table in `M`, taken apart for a file and put together from one.
    pub trait FileFilter<M>: Sized {
        const KIND: FilterKind;
        const HASH: HashKind;

        /// All but the table.
        fn header(&self) -> Header;

        /// The bytes of the table.
        fn table(&self) -> &[u8];

        /// How many slots a table of this header has and how many bytes it takes; `None` if there
        /// can be no such filter.
        fn size(header: &Header) -> Option<(u64, usize)>;

        /// The most bits that the values beside the slots of this header may have.
        fn most_value_bits(_header: &Header) -> u32 {
            0
        }

        /// A filter of this header, of its own kind and hash, over these bytes.
        ///
        /// # Errors
        /// [`Error::Geometry`] if they are not as many as the header says.
        fn assemble(header: &Header, memory: M) -> Result<Self, Error>;

        /// Everything that must hold, as `check_invariants` would find it, but fast. What it comes
        /// to know of the table it may note.
        fn verify(&mut self) -> Result<(), Violation>;
    }
}
