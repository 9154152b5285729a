//! Filters whose kind is known only at run time, from a file.
//!
//! # The idea
//!
//! Everywhere else a filter's kind and hash are types, and the compiler knows them. A program
//! that opens whatever file it is given can't: a tool, a server with filters of its users, a
//! binding for another language. [`AnyFilter`] holds any filter that has a file, of any hash
//! that this library has, behind one pointer, and does what all of them can do, plus what only
//! some can, with an error that says why where it can't:
//!
//! | | quotient family | cuckoo, vacuum | adaptive cuckoo | Bloom family |
//! | --- | --- | --- | --- | --- |
//! | [`read_from`](AnyFilter::read_from), [`contains`](AnyFilter::contains), [`stats`](AnyFilter::stats), [`clear`](AnyFilter::clear), [`write_to`](AnyFilter::write_to) | yes | yes | yes | yes |
//! | [`insert`](AnyFilter::insert) | yes | yes | if it was empty at first | yes |
//! | [`insert_hashes`](AnyFilter::insert_hashes) | yes, where no ghosts are | yes | no | yes |
//! | [`merge`](AnyFilter::merge) | plain, counting, adaptive | no | no | standard, blocked |
//! | [`doubled`](AnyFilter::doubled), [`halved`](AnyFilter::halved) | plain, counting, adaptive | no | no | no |
//! | [`convert`](AnyFilter::convert) | from plain, counting, adaptive to any of the family | no | no | standard to retouched |
//!
//! [`AnyList`] does the same for the files of [YES/NO lists](crate::lists).
//!
//! A query costs one indirect call more than with the type. Adapting, removing, values and
//! counts need the type.
//!
//! # Example
//!
//! ```
//! use twiceshy::any::AnyFilter;
//! use twiceshy::file::FilterKind;
//!
//! let mut filter = AnyFilter::builder(FilterKind::Cuckoo).capacity(1_000).fpr(0.01).build()?;
//! filter.insert(b"anna")?;
//! let mut file = Vec::new(); // or a `File`
//! filter.write_to(&mut file).expect("a vector takes everything");
//!
//! // Whatever it is:
//! let filter = AnyFilter::read_from(&file[..])?;
//! assert!(filter.contains(b"anna"));
//! assert_eq!(filter.info().kind, FilterKind::Cuckoo);
//!
//! // One more of the same size, seed, kind and hash.
//! let mut like = AnyFilter::read_from(&file[..])?;
//! like.clear();
//! like.insert(b"otto")?;
//! # Ok::<(), twiceshy::Error>(())
//! ```

mod build;
mod convert;
mod kinds;
mod lists;
#[cfg(feature = "serde")]
mod serde;

use std::any::Any;
use std::fmt;
use std::io::{self, Read, Write};

use crate::batch::Interrupted;
use crate::error::Error;
use crate::file::{self, Check, FileFilter, FilterKind, Header, Info, read, write};
use crate::hash::{HashKind, Seed, Sip13, StreamHash};
use crate::mem::Memory;
use crate::stats::Stats;

pub use self::build::AnyBuilder;
pub use self::lists::AnyList;

use self::kinds::{Held, Kind};

/// A filter of any kind and hash. See the [module](self).
pub struct AnyFilter {
    object: Box<dyn Object>,
}

impl AnyFilter {
    /// Builds an empty filter of this kind.
    pub fn builder(kind: FilterKind) -> AnyBuilder {
        AnyBuilder::new(kind)
    }

    /// The filter of a file, whatever it is; all of it is verified. No byte behind the file is
    /// read.
    ///
    /// # Errors
    /// [`Error::Format`] if it is no filter file of ours, [`Error::Corrupt`] if it is damaged,
    /// [`Error::Geometry`] if there is no memory for it, [`Error::Io`] if the reader fails.
    pub fn read_from(mut reader: impl Read) -> Result<Self, Error> {
        let (info, start) = start_of(&mut reader)?;
        let mut whole = start.chain(reader);
        let object = match info.hash {
            HashKind::SipHash13 => open::<Sip13>(info.kind, &mut whole),
            #[cfg(feature = "xxh3")]
            HashKind::Xxh3 => open::<crate::hash::Xxh3>(info.kind, &mut whole),
            other => Err(no_such_hash(other)),
        }?;
        Ok(AnyFilter { object })
    }

    /// What its file would say about it.
    #[must_use]
    pub fn info(&self) -> Info {
        self.object.info()
    }

    /// The seed of the hash. Keep it from those who may choose keys.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.object.header().seed
    }

    /// May this key be a member? `false` is certain, but for a retouched Bloom filter.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.object.contains(key)
    }

    /// Size, load, space and expected error. May read the whole table.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.object.stats()
    }

    /// Adds a key.
    ///
    /// # Errors
    /// [`Error::Full`] if there is no room, [`Error::Mismatch`] if this takes keys that no
    /// file has; nothing has changed then.
    pub fn insert(&mut self, key: &[u8]) -> Result<(), Error> {
        self.object.insert(key)
    }

    /// Adds keys that are hashed already with this filter's hash and seed, given by the first word of
    /// their hash ([`first_word`](crate::hash::first_word)), in their order: the same as
    /// [`insert`](Self::insert) for each key, and faster where the filter is larger than the caches; see
    /// [`batch`](crate::batch).
    ///
    /// # Errors
    /// [`Interrupted`] at the first that is refused; those before it are in. With
    /// [`Error::Full`] if there is no room, [`Error::Mismatch`] if it takes more of a key than a
    /// hash: always for an adaptive cuckoo filter, and for an adaptive one that has ghosts.
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), Interrupted> {
        self.object.insert_hashes(hashes)
    }

    /// Removes everything and keeps memory, seed and measures.
    pub fn clear(&mut self) {
        self.object.clear();
    }

    /// Writes the filter as a file.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
        self.object.write_to(&mut writer)
    }

    /// The union of all, one or more: counts add up. Where there are too many fingerprints
    /// for the slots of the largest, the result has twice as many, or four times, and so on.
    ///
    /// # Errors
    /// [`Error::Merge`] if they differ in kind, hash, seed or measures, or are of a kind that
    /// can't be merged; [`Error::Geometry`] if the result is too large.
    pub fn merge(filters: &[AnyFilter]) -> Result<AnyFilter, Error> {
        let Some((first, others)) = filters.split_first() else {
            return Err(Error::merge("there are none; give at least one"));
        };
        let others: Vec<&dyn Object> = others.iter().map(|filter| &*filter.object).collect();
        let object = first.object.merge(&others)?;
        Ok(AnyFilter { object })
    }

    /// The same in twice the slots, with remainders of one bit less, so with room for as much
    /// again. What adaptive filters may lose by it is said in [`merge`](crate::merge).
    ///
    /// # Errors
    /// [`Error::Geometry`] if remainders have but one bit, or if there is no such thing for
    /// this kind.
    pub fn doubled(&self) -> Result<AnyFilter, Error> {
        let object = self.object.resized(Resize::Double)?;
        Ok(AnyFilter { object })
    }

    /// The same in half the slots, with remainders of one bit more.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the number of slots is odd, or if there is no such thing for
    /// this kind; [`Error::Full`] if there is too much in it.
    pub fn halved(&self) -> Result<AnyFilter, Error> {
        let object = self.object.resized(Resize::Halve)?;
        Ok(AnyFilter { object })
    }

    /// The same members in a filter of another kind, as far as that can be told without the
    /// keys: from plain, counting and adaptive filters to any of the quotient family, and from
    /// standard to retouched Bloom filters. It has the same seed and measures. What the new
    /// kind can't say is lost: counts, values, and whatever was learnt. A counting filter does
    /// not know whether a count of two is one key or two that share a fingerprint, and hands
    /// over one.
    ///
    /// # Errors
    /// [`Error::Geometry`] that says why, where it can't be done; [`Error::Full`] if slots are
    /// missing.
    pub fn convert(&self, to: FilterKind) -> Result<AnyFilter, Error> {
        let object = self.object.convert(to)?;
        Ok(AnyFilter { object })
    }
}

impl fmt::Debug for AnyFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyFilter").field(&self.object).finish()
    }
}

/// Twice or half the slots.
#[derive(Clone, Copy)]
enum Resize {
    Double,
    Halve,
}

/// What any filter can do, without its type.
trait Object: fmt::Debug + Send + Sync {
    fn header(&self) -> Header;
    fn info(&self) -> Info;
    fn contains(&self, key: &[u8]) -> bool;
    fn stats(&self) -> Stats;
    fn insert(&mut self, key: &[u8]) -> Result<(), Error>;
    fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), Interrupted>;
    fn clear(&mut self);
    fn write_to(&self, writer: &mut dyn Write) -> io::Result<()>;
    fn merge(&self, others: &[&dyn Object]) -> Result<Box<dyn Object>, Error>;
    fn resized(&self, how: Resize) -> Result<Box<dyn Object>, Error>;
    fn convert(&self, to: FilterKind) -> Result<Box<dyn Object>, Error>;
    fn as_any(&self) -> &dyn Any;
}

impl<F: Kind> Object for Held<F> {
    fn header(&self) -> Header {
        self.filter.header()
    }

    fn info(&self) -> Info {
        file::info(&self.filter)
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.has(key)
    }

    fn stats(&self) -> Stats {
        self.filter.figures()
    }

    fn insert(&mut self, key: &[u8]) -> Result<(), Error> {
        self.filter.put(&mut self.keys, key)
    }

    fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), Interrupted> {
        self.filter.put_hashes(hashes)
    }

    fn clear(&mut self) {
        self.filter.empty();
        self.keys = F::Keys::default();
    }

    fn write_to(&self, writer: &mut dyn Write) -> io::Result<()> {
        write::write_to(&self.filter, writer)
    }

    fn merge(&self, others: &[&dyn Object]) -> Result<Box<dyn Object>, Error> {
        let mut filters = vec![&self.filter];
        for (i, other) in (1..).zip(others) {
            let Some(held) = other.as_any().downcast_ref::<Self>() else {
                let name = |header: Header| format!("{} with {}", header.kind, header.hash);
                return Err(Error::merge(format!(
                    "filter {i} is {}, filter 0 is {}",
                    name(other.header()),
                    name(self.header())
                )));
            };
            filters.push(&held.filter);
        }
        Ok(boxed(F::union(&filters)?))
    }

    fn resized(&self, how: Resize) -> Result<Box<dyn Object>, Error> {
        Ok(boxed(self.filter.resized(how)?))
    }

    fn convert(&self, to: FilterKind) -> Result<Box<dyn Object>, Error> {
        self.filter.converted(to)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn boxed<F: Kind>(filter: F) -> Box<dyn Object> {
    Box::new(Held::new(filter))
}

/// The filter of a file of this kind.
fn open<H: StreamHash>(kind: FilterKind, reader: &mut dyn Read) -> Result<Box<dyn Object>, Error> {
    use crate::filters::{adaptive, coded, counting, plain};
    use crate::{bloom, cuckoo};

    fn read<F: Kind + FileFilter<Memory>>(reader: &mut dyn Read) -> Result<Box<dyn Object>, Error> {
        Ok(boxed::<F>(read::read_from(reader)?))
    }

    match kind {
        FilterKind::Plain => read::<plain::QuotientFilter<H>>(reader),
        FilterKind::Counting => read::<counting::CountingFilter<H>>(reader),
        FilterKind::Adaptive => read::<adaptive::AdaptiveFilter<H>>(reader),
        FilterKind::Telescoping => read::<coded::TelescopingFilter<H>>(reader),
        FilterKind::PlainTelescoping => read::<coded::PlainTelescopingFilter<H>>(reader),
        FilterKind::Extension => read::<coded::ExtensionFilter<H>>(reader),
        FilterKind::Cuckoo => read::<cuckoo::CuckooFilter<H>>(reader),
        FilterKind::Vacuum => read::<cuckoo::VacuumFilter<H>>(reader),
        FilterKind::AdaptiveCuckoo => read::<cuckoo::AdaptiveCuckooFilter<H>>(reader),
        FilterKind::Bloom => read::<bloom::BloomFilter<H>>(reader),
        FilterKind::BlockedBloom => read::<bloom::BlockedBloomFilter<H>>(reader),
        FilterKind::RetouchedBloom => read::<bloom::RetouchedBloomFilter<H>>(reader),
        FilterKind::WeightedBloom => read::<bloom::WeightedBloomFilter<H>>(reader),
        list => Err(Error::format(format!(
            "it holds a YES/NO list ({list}), which is no filter"
        ))),
    }
}

/// What a file of any kind says about itself, from its first [`HEADER_BYTES`](file::HEADER_BYTES) bytes (more do no
/// harm). Neither the checksum nor the table is looked at, so it may be false, but never
/// impossible.
///
/// # Errors
/// [`Error::Format`] if this is no file of ours, or one of a later version;
/// [`Error::Corrupt`] if what it says is impossible.
pub fn peek(bytes: &[u8]) -> Result<Info, Error> {
    file::peek(bytes, check_of)
}

/// The check for headers of this kind; their hash does not matter.
fn check_of(kind: FilterKind) -> Check {
    use crate::filters::{adaptive, coded, counting, plain};
    use crate::{bloom, cuckoo, lists};

    fn of<F: FileFilter<Memory>>() -> Check {
        Header::check::<Memory, F>
    }

    match kind {
        FilterKind::Plain => of::<plain::QuotientFilter>(),
        FilterKind::Counting => of::<counting::CountingFilter>(),
        FilterKind::Adaptive => of::<adaptive::AdaptiveFilter>(),
        FilterKind::Telescoping => of::<coded::TelescopingFilter>(),
        FilterKind::PlainTelescoping => of::<coded::PlainTelescopingFilter>(),
        FilterKind::Extension => of::<coded::ExtensionFilter>(),
        FilterKind::Cuckoo => of::<cuckoo::CuckooFilter>(),
        FilterKind::Vacuum => of::<cuckoo::VacuumFilter>(),
        FilterKind::AdaptiveCuckoo => of::<cuckoo::AdaptiveCuckooFilter>(),
        FilterKind::Bloom => of::<bloom::BloomFilter>(),
        FilterKind::BlockedBloom => of::<bloom::BlockedBloomFilter>(),
        FilterKind::RetouchedBloom => of::<bloom::RetouchedBloomFilter>(),
        FilterKind::WeightedBloom => of::<bloom::WeightedBloomFilter>(),
        FilterKind::StaticYesNo => of::<lists::StaticYesNo>(),
        FilterKind::Cascade => of::<lists::Cascade>(),
        FilterKind::Bloomier => of::<lists::Bloomier>(),
        FilterKind::IntegratedXor => of::<lists::IntegratedXor>(),
        FilterKind::Seesaw => of::<lists::Seesaw>(),
    }
}

/// What a file says about itself, and the bytes that say it.
fn start_of(reader: &mut impl Read) -> Result<(Info, io::Cursor<Vec<u8>>), Error> {
    let start = read::read_header(reader)?;
    Ok((peek(&start)?, io::Cursor::new(start)))
}

fn no_such_hash(hash: HashKind) -> Error {
    Error::format(format!(
        "its hash is {hash}, which this build of the library does not have"
    ))
}
