//! YES/NO lists whose kind is known only at run time.

use std::fmt;
use std::io::{self, Read, Write};

use super::{no_such_hash, start_of};
use crate::error::Error;
use crate::file::{self, FileFilter, FilterKind, Info, read, write};
use crate::hash::{HashKind, Sip13, StreamHash};
use crate::lists::{
    Answer, Bloomier, Cascade, IntegratedXor, List, Seesaw, StaticYesNo, YesNoList,
};
use crate::mem::Memory;

/// A YES/NO list of any kind and hash, from a file.
///
/// ```
/// use twiceshy::any::AnyList;
/// use twiceshy::file::FilterKind;
/// use twiceshy::lists::{Answer, Cascade, ListFile};
///
/// let file = Cascade::build(&["revoked"], &["good", "fine"], 1.0)?.to_bytes();
/// let list = AnyList::read_from(&file[..])?;
/// assert_eq!(list.info().kind, FilterKind::Cascade);
/// assert_eq!(list.answer(b"revoked"), Answer::Yes);
/// assert_eq!(list.answer(b"good"), Answer::No);
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub struct AnyList {
    object: Box<dyn Object>,
}

impl AnyList {
    /// The list of a file, whatever it is; all of it is verified. No byte behind the file is
    /// read.
    ///
    /// # Errors
    /// [`Error::Format`] if it is no file of a list, [`Error::Corrupt`] if it is damaged,
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
        Ok(AnyList { object })
    }

    /// What its file says about it.
    #[must_use]
    pub fn info(&self) -> Info {
        self.object.info()
    }

    /// The answer for a key.
    #[must_use]
    pub fn answer(&self, key: &[u8]) -> Answer {
        self.object.answer_bytes(key)
    }

    /// How many keys are on a list.
    #[must_use]
    pub fn len_of(&self, list: List) -> u64 {
        self.object.len_of(list)
    }

    /// The chance that a key on neither list is answered [`Answer::Yes`].
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.object.expected_fpr()
    }

    /// Writes the list as a file.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
        self.object.write_to(&mut writer)
    }
}

impl fmt::Debug for AnyList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyList")
            .field("info", &self.info())
            .finish_non_exhaustive()
    }
}

/// A list that has a file.
trait ListKind: YesNoList + FileFilter<Memory> + Send + Sync + 'static {}

impl<H: StreamHash> ListKind for StaticYesNo<H> {}
impl<H: StreamHash> ListKind for Cascade<H> {}
impl<H: StreamHash> ListKind for Bloomier<H> {}
impl<H: StreamHash> ListKind for IntegratedXor<H> {}
impl<H: StreamHash> ListKind for Seesaw<H> {}

/// What any list can do, without its type.
trait Object: YesNoList + Send + Sync {
    fn info(&self) -> Info;
    fn answer_bytes(&self, key: &[u8]) -> Answer;
    fn write_to(&self, writer: &mut dyn Write) -> io::Result<()>;
}

impl<T: ListKind> Object for T {
    fn info(&self) -> Info {
        file::info(self)
    }

    fn answer_bytes(&self, key: &[u8]) -> Answer {
        self.answer(key)
    }

    fn write_to(&self, writer: &mut dyn Write) -> io::Result<()> {
        write::write_to(self, writer)
    }
}

/// The list of a file of this kind.
fn open<H: StreamHash>(kind: FilterKind, reader: &mut dyn Read) -> Result<Box<dyn Object>, Error> {
    match kind {
        FilterKind::StaticYesNo => Ok(Box::new(read::read_from::<StaticYesNo<H>>(reader)?)),
        FilterKind::Cascade => Ok(Box::new(read::read_from::<Cascade<H>>(reader)?)),
        FilterKind::Bloomier => Ok(Box::new(read::read_from::<Bloomier<H>>(reader)?)),
        FilterKind::IntegratedXor => Ok(Box::new(read::read_from::<IntegratedXor<H>>(reader)?)),
        FilterKind::Seesaw => Ok(Box::new(read::read_from::<Seesaw<H>>(reader)?)),
        filter => Err(Error::format(format!(
            "it holds a {filter} filter, which is no YES/NO list"
        ))),
    }
}
