//! The methods that every filter with a file has, written once.

/// Gives a filter type `to_bytes`, `write_to`, `from_bytes` and `read_from` as methods of its own, and a
/// [`View`](crate::View) where its last parameter is the memory that holds the table. Attributes in front
/// are those of `to_bytes`; they say when two files are the same.
macro_rules! file_methods {
    ($(#[$same:meta])* $filter:ident<$($param:ident: $bound:path),+; M>) => {
        impl<$($param: $bound,)+ M: $crate::bits::Bytes> $filter<$($param,)+ M> {
            file_methods!(@write $(#[$same])*);
        }

        impl<$($param: $bound),+> $filter<$($param),+> {
            file_methods!(@read);
        }

        impl<$($param: $bound),+> $crate::file::sealed::Stored for $filter<$($param),+> {}

        impl<$($param: $bound),+> $crate::file::Stored for $filter<$($param),+> {
            type View<'b> = $filter<$($param,)+ &'b [u8]>;
        }
    };
    ($(#[$same:meta])* $filter:ident<$($param:ident: $bound:path),+>) => {
        impl<$($param: $bound),+> $filter<$($param),+> {
            file_methods!(@write $(#[$same])*);
            file_methods!(@read);
        }
    };
    (@write $(#[$same:meta])*) => {
        /// The whole as a [file](crate::file) in memory, with all that it has learnt.
        $(#[$same])*
        #[must_use]
        pub fn to_bytes(&self) -> Vec<u8> {
            $crate::file::write::to_bytes(self)
        }

        /// Writes what [`to_bytes`](Self::to_bytes) gives, without making it in memory first.
        ///
        /// # Errors
        /// Those of the writer.
        pub fn write_to(&self, writer: impl std::io::Write) -> std::io::Result<()> {
            $crate::file::write::write_to(self, writer)
        }
    };
    (@read) => {
        /// Reads a [file](crate::file) in memory, all of which is verified.
        ///
        /// # Errors
        /// [`Error::Format`](crate::Error::Format) if it holds something else, or with another hash,
        /// [`Error::Corrupt`](crate::Error::Corrupt) if it is damaged,
        /// [`Error::Geometry`](crate::Error::Geometry) if there is no memory for it.
        pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::Error> {
            $crate::file::read::from_bytes(bytes)
        }

        /// The same from a stream, of which nothing behind the file is read.
        ///
        /// # Errors
        /// As [`from_bytes`](Self::from_bytes), and [`Error::Io`](crate::Error::Io) if the reader fails.
        pub fn read_from(reader: impl std::io::Read) -> Result<Self, $crate::Error> {
            $crate::file::read::read_from(reader)
        }
    };
}

pub(crate) use file_methods;
