//! The bytes of a key, lent or owned.

use std::fmt;
use std::ops::Deref;

/// A key's encoding: borrowed from the key where it can be, kept in place where it is
/// small, on the heap otherwise.
///
/// It is what [`Key::to_bytes`](super::Key::to_bytes) returns and dereferences to the
/// bytes themselves.
///
/// ```
/// use twiceshy::hash::{Key, KeyBytes};
///
/// let name = String::from("teal");
/// assert_eq!(&*name.to_bytes(), b"teal"); // lent
/// assert_eq!(&*258_u16.to_bytes(), [2, 1]); // kept in place
/// assert_eq!(KeyBytes::borrowed(b"teal"), KeyBytes::copied(b"teal"));
/// ```
#[derive(Clone)]
pub struct KeyBytes<'k>(Repr<'k>);

#[derive(Clone)]
enum Repr<'k> {
    Borrowed(&'k [u8]),
    Inline { len: u8, bytes: [u8; INLINE] },
    Boxed(Box<[u8]>),
}

/// As many bytes as fit beside a length and a tag in the room of three words.
const INLINE: usize = 22;

impl<'k> KeyBytes<'k> {
    /// Bytes that live elsewhere.
    #[inline]
    #[must_use]
    pub const fn borrowed(bytes: &'k [u8]) -> Self {
        KeyBytes(Repr::Borrowed(bytes))
    }

    /// A copy of `bytes`, without an allocation if there are no more than 22 of them.
    #[inline]
    #[must_use]
    pub fn copied(bytes: &[u8]) -> KeyBytes<'static> {
        let mut inline = [0; INLINE];
        KeyBytes(match inline.get_mut(..bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                Repr::Inline {
                    len: bytes.len() as u8,
                    bytes: inline,
                }
            }
            None => Repr::Boxed(bytes.into()),
        })
    }

    /// The same bytes, independent of the key that lent them.
    #[must_use]
    pub fn into_owned(self) -> KeyBytes<'static> {
        KeyBytes(match self.0 {
            Repr::Borrowed(bytes) => return KeyBytes::copied(bytes),
            Repr::Inline { len, bytes } => Repr::Inline { len, bytes },
            Repr::Boxed(bytes) => Repr::Boxed(bytes),
        })
    }
}

impl From<Vec<u8>> for KeyBytes<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        KeyBytes(Repr::Boxed(bytes.into()))
    }
}

impl Deref for KeyBytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Repr::Borrowed(bytes) => bytes,
            Repr::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Boxed(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for KeyBytes<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for KeyBytes<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for KeyBytes<'_> {}

impl fmt::Debug for KeyBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A buffer that puts several encodings into one: on the stack, unless it gets long.
pub(super) struct Joined {
    stack: [u8; STACK],
    /// How much of `stack` is used, while `heap` is empty.
    len: usize,
    /// Everything, from the moment that `stack` was too small.
    heap: Vec<u8>,
}

const STACK: usize = 64;

impl Joined {
    #[inline]
    pub(super) fn new() -> Self {
        Joined {
            stack: [0; STACK],
            len: 0,
            heap: Vec::new(),
        }
    }

    /// Adds one part as it is.
    #[inline]
    pub(super) fn push(&mut self, part: &[u8]) {
        let end = self.len + part.len();
        match self.stack.get_mut(self.len..end) {
            Some(room) if self.heap.is_empty() => {
                room.copy_from_slice(part);
                self.len = end;
            }
            _ => self.spill(part),
        }
    }

    #[cold]
    fn spill(&mut self, part: &[u8]) {
        if self.heap.is_empty() {
            self.heap.reserve(2 * (self.len + part.len()));
            self.heap.extend_from_slice(&self.stack[..self.len]);
        }
        self.heap.extend_from_slice(part);
    }

    /// Adds one part with its length before it, as an unsigned LEB128 number: seven bits
    /// a byte, the lowest first, the top bit of every byte but the last set.
    #[inline]
    pub(super) fn push_framed(&mut self, part: &[u8]) {
        let mut len = part.len();
        while len >= 0x80 {
            self.push(&[len as u8 | 0x80]);
            len >>= 7;
        }
        self.push(&[len as u8]);
        self.push(part);
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        if self.heap.is_empty() {
            &self.stack[..self.len]
        } else {
            &self.heap
        }
    }

    #[inline]
    pub(super) fn into_key_bytes(self) -> KeyBytes<'static> {
        if self.heap.is_empty() {
            KeyBytes::copied(&self.stack[..self.len])
        } else {
            self.heap.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_words() {
        assert_eq!(size_of::<KeyBytes<'_>>(), 24);
    }

    #[test]
    fn every_representation_lends_the_same_bytes() {
        let bytes: Vec<u8> = (0..200).collect();
        for len in 0..bytes.len() {
            let bytes = &bytes[..len];
            let all = [
                KeyBytes::borrowed(bytes),
                KeyBytes::copied(bytes),
                KeyBytes::from(bytes.to_vec()),
            ];
            for key in all {
                assert_eq!(&*key, bytes);
                assert_eq!(key.as_ref(), bytes);
                assert_eq!(&*key.clone().into_owned(), bytes);
                assert_eq!(key, KeyBytes::borrowed(bytes));
            }
            let inline = matches!(KeyBytes::copied(bytes).0, Repr::Inline { .. });
            assert_eq!(inline, len <= INLINE);
        }
    }

    #[test]
    fn joined_is_concatenation() {
        // Parts of every length at every fill of the stack, empty parts included.
        for first in 0..2 * STACK {
            for second in [0, 1, 7, STACK - 1, STACK, 300] {
                let mut joined = Joined::new();
                let mut plain = Vec::new();
                for (len, byte) in [(first, 1), (second, 2), (0, 3), (5, 4)] {
                    joined.push(&vec![byte; len]);
                    plain.extend(vec![byte; len]);
                }
                assert_eq!(joined.bytes(), plain);
                assert_eq!(&*joined.into_key_bytes(), plain);
            }
        }
    }

    #[test]
    fn frames_are_leb128() {
        let frame = |len: usize| {
            let mut joined = Joined::new();
            joined.push_framed(&vec![0; len]);
            joined.bytes()[..joined.bytes().len() - len].to_vec()
        };
        assert_eq!(frame(0), [0]);
        assert_eq!(frame(127), [127]);
        assert_eq!(frame(128), [0x80, 1]);
        assert_eq!(frame(300), [0xac, 2]);
        assert_eq!(frame(1 << 14), [0x80, 0x80, 1]);
    }
}
