//! How keys become bytes.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::KeyBytes;
use super::key_bytes::Joined;

/// Something that can be a key: it has one encoding into bytes, the same on every
/// machine and in every version of this crate.
///
/// Filters and reverse maps know keys by these bytes alone, and files outlive programs,
/// so the encoding is a contract:
///
/// | type | bytes | width |
/// | --- | --- | --- |
/// | `[u8]`, `Vec<u8>` | as they are | varies |
/// | `str`, `String` | UTF-8, as it is | varies |
/// | `u8` … `u128`, `i8` … `i128` | little-endian, two's complement | 1, 2, 4, 8, 16 |
/// | `usize`, `isize` | as `u64`, `i64` | 8 |
/// | `bool` | 0 or 1 | 1 |
/// | `char` | as `u32` | 4 |
/// | `()` | none | 0 |
/// | `[T; N]`, tuples up to eight | one component after the other | the sum, if all are fixed |
/// | `&T`, `Box<T>`, `Rc<T>`, `Arc<T>`, `Cow<T>` | as `T` | as `T` |
///
/// A component of a tuple or an array whose width varies has its length in bytes before
/// it, as an unsigned LEB128 number (one byte up to 127). So different values of one
/// type always have different bytes:
///
/// ```
/// use twiceshy::hash::Key;
///
/// assert_eq!(&*("ab", "c").to_bytes(), b"\x02ab\x01c");
/// assert_eq!(&*("a", "bc").to_bytes(), b"\x01a\x02bc");
/// assert_eq!(&*(1_u16, 2_u8).to_bytes(), [1, 0, 2]); // fixed: no lengths
/// ```
///
/// Values of *different* types may well have the same ones, as `"a"`, `b"a"` and `97_u8`
/// do: that is what lets a `str` find a `String`. Do not mix key types in one filter
/// unless that is what you want; `1_u32` and `1_u64` are different keys, and a literal
/// without a type, as in `filter.insert(&1)`, is an `i32`.
///
/// # Your own keys
///
/// Lend bytes, or borrow the encoding of a tuple:
///
/// ```
/// use twiceshy::hash::{Key, KeyBytes};
///
/// struct Flow { source: [u8; 4], port: u16 }
///
/// impl Key for Flow {
///     const WIDTH: Option<usize> = <([u8; 4], u16)>::WIDTH;
///
///     fn to_bytes(&self) -> KeyBytes<'_> {
///         (self.source, self.port).to_bytes().into_owned()
///     }
/// }
///
/// let flow = Flow { source: [10, 0, 0, 1], port: 443 };
/// assert_eq!(&*flow.to_bytes(), [10, 0, 0, 1, 0xbb, 1]);
/// ```
pub trait Key {
    /// The length of the encoding in bytes, if it is the same for all values. `None` is
    /// always right; a wrong number makes tuples of such keys ambiguous.
    const WIDTH: Option<usize> = None;

    /// The encoding, lent if possible.
    fn to_bytes(&self) -> KeyBytes<'_>;

    /// Calls `f` with the encoding: a shorter way than [`to_bytes`](Key::to_bytes), with
    /// the same bytes, where they are needed only for a moment.
    #[inline]
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        f(&self.to_bytes())
    }

    /// The encoding of all of `keys`, one after the other, if it already stands in
    /// memory. Only bytes have this; it spares arrays of them a copy.
    #[doc(hidden)]
    #[inline]
    fn lend_slice(keys: &[Self]) -> Option<&[u8]>
    where
        Self: Sized,
    {
        let _ = keys;
        None
    }
}

/// Keys that are bytes already.
macro_rules! bytes {
    ($($type:ty: $as_bytes:expr;)*) => {$(
        impl Key for $type {
            #[inline]
            fn to_bytes(&self) -> KeyBytes<'_> {
                let as_bytes: fn(&$type) -> &[u8] = $as_bytes;
                KeyBytes::borrowed(as_bytes(self))
            }
        }
    )*};
}

bytes! {
    [u8]: |bytes| bytes;
    Vec<u8>: |bytes| bytes;
    str: |text| text.as_bytes();
    String: |text| text.as_bytes();
}

/// Keys that are numbers of a fixed width.
macro_rules! numbers {
    ($($type:ty as $number:ty { $($more:tt)* })*) => {$(
        impl Key for $type {
            const WIDTH: Option<usize> = Some(size_of::<$number>());

            #[inline]
            fn to_bytes(&self) -> KeyBytes<'_> {
                KeyBytes::copied(&(*self as $number).to_le_bytes())
            }

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                f(&(*self as $number).to_le_bytes())
            }

            $($more)*
        }
    )*};
}

numbers! {
    u8 as u8 {
        #[inline]
        fn lend_slice(keys: &[u8]) -> Option<&[u8]> {
            Some(keys)
        }
    }
    u16 as u16 {}
    u32 as u32 {}
    u64 as u64 {}
    u128 as u128 {}
    usize as u64 {}
    i8 as i8 {}
    i16 as i16 {}
    i32 as i32 {}
    i64 as i64 {}
    i128 as i128 {}
    isize as i64 {}
    bool as u8 {}
    char as u32 {}
}

/// Keys behind a pointer.
macro_rules! pointers {
    ($([$($bound:tt)*] $type:ty;)*) => {$(
        impl<$($bound)*> Key for $type {
            const WIDTH: Option<usize> = T::WIDTH;

            #[inline]
            fn to_bytes(&self) -> KeyBytes<'_> {
                (**self).to_bytes()
            }

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                (**self).with_bytes(f)
            }
        }
    )*};
}

pointers! {
    [T: Key + ?Sized] &T;
    [T: Key + ?Sized] Box<T>;
    [T: Key + ?Sized] Rc<T>;
    [T: Key + ?Sized] Arc<T>;
    [T: Key + ToOwned + ?Sized] Cow<'_, T>;
}

/// Adds one component of an array or a tuple.
#[inline]
fn join<T: Key>(joined: &mut Joined, component: &T) {
    component.with_bytes(|bytes| match T::WIDTH {
        Some(width) => {
            debug_assert_eq!(width, bytes.len(), "a wrong `Key::WIDTH`");
            joined.push(bytes);
        }
        None => joined.push_framed(bytes),
    });
}

impl<T: Key, const N: usize> Key for [T; N] {
    const WIDTH: Option<usize> = match T::WIDTH {
        Some(width) => Some(width * N),
        None => None,
    };

    #[inline]
    fn to_bytes(&self) -> KeyBytes<'_> {
        match T::lend_slice(self) {
            Some(bytes) => KeyBytes::borrowed(bytes),
            None => join_array(self).into_key_bytes(),
        }
    }

    #[inline]
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        match T::lend_slice(self) {
            Some(bytes) => f(bytes),
            None => f(join_array(self).bytes()),
        }
    }
}

#[inline]
fn join_array<T: Key>(components: &[T]) -> Joined {
    let mut joined = Joined::new();
    for component in components {
        join(&mut joined, component);
    }
    joined
}

impl Key for () {
    const WIDTH: Option<usize> = Some(0);

    #[inline]
    fn to_bytes(&self) -> KeyBytes<'_> {
        KeyBytes::borrowed(&[])
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),+);)*) => {$(
        impl<$($name: Key),+> Key for ($($name,)+) {
            const WIDTH: Option<usize> = sum(&[$($name::WIDTH),+]);

            #[inline]
            fn to_bytes(&self) -> KeyBytes<'_> {
                let mut joined = Joined::new();
                $(join(&mut joined, &self.$at);)+
                joined.into_key_bytes()
            }

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                let mut joined = Joined::new();
                $(join(&mut joined, &self.$at);)+
                f(joined.bytes())
            }
        }
    )*};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}

/// The width of several components, if each has one.
const fn sum(widths: &[Option<usize>]) -> Option<usize> {
    let mut total = 0;
    let mut at = 0;
    while at < widths.len() {
        match widths[at] {
            Some(width) => total += width,
            None => return None,
        }
        at += 1;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::{GOLDEN, mix};
    use super::*;

    /// Both ways to the bytes, and the promised width, agree.
    #[track_caller]
    fn encodes<K: Key + ?Sized>(key: &K, bytes: &[u8]) {
        assert_eq!(&*key.to_bytes(), bytes);
        key.with_bytes(|with| assert_eq!(with, bytes));
        assert_eq!(&*(&key).to_bytes(), bytes);
        if let Some(width) = K::WIDTH {
            assert_eq!(width, bytes.len());
        }
    }

    #[test]
    fn golden_numbers() {
        encodes(&0x12_u8, &[0x12]);
        encodes(&0x1234_u16, &[0x34, 0x12]);
        encodes(&0x1234_5678_u32, &[0x78, 0x56, 0x34, 0x12]);
        encodes(&7_u64, &[7, 0, 0, 0, 0, 0, 0, 0]);
        encodes(&7_usize, &[7, 0, 0, 0, 0, 0, 0, 0]);
        encodes(
            &(1_u128 << 120),
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        );
        encodes(&-2_i8, &[0xfe]);
        encodes(&-2_i16, &[0xfe, 0xff]);
        encodes(&-2_i32, &[0xfe, 0xff, 0xff, 0xff]);
        encodes(&-2_i64, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        encodes(&-2_isize, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        encodes(&-1_i128, &[0xff; 16]);
        encodes(&true, &[1]);
        encodes(&false, &[0]);
        encodes(&'é', &[0xe9, 0, 0, 0]);
        encodes(&(), &[]);
    }

    #[test]
    fn golden_strings() {
        let raw = "bitten, shy".as_bytes();
        encodes("bitten, shy", raw);
        encodes(&String::from("bitten, shy"), raw);
        encodes(raw, raw);
        encodes(b"bitten, shy", raw);
        encodes(&raw.to_vec(), raw);
        encodes(&Box::<[u8]>::from(raw), raw);
        encodes(&Rc::<str>::from("bitten, shy"), raw);
        encodes(&Arc::<[u8]>::from(raw), raw);
        encodes(&Cow::Borrowed("bitten, shy"), raw);
        encodes(&Cow::<[u8]>::Owned(raw.to_vec()), raw);
        encodes("", &[]);
        encodes(&[0_u8; 0], &[]);
    }

    #[test]
    fn golden_composites() {
        encodes(&(1_u16, 2_u8), &[1, 0, 2]);
        encodes(&[1_u16, 2], &[1, 0, 2, 0]);
        encodes(&[[1_u8, 2], [3, 4]], &[1, 2, 3, 4]);
        encodes(&("ab", "c"), b"\x02ab\x01c");
        encodes(&["ab", "", "c"], b"\x02ab\x00\x01c");
        encodes(&("ab",), b"\x02ab");
        encodes(&(9_u8, "ab", true), b"\x09\x02ab\x01");
        encodes(&(("ab", 1_u8), 2_u8), b"\x04\x02ab\x01\x02");
        encodes(&((1_u8, 2_u8), 3_u8), &[1, 2, 3]);
        encodes(&(*b"ab", b"c".as_slice()), b"ab\x01c");
        encodes(
            &(1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8, 7_u8, 8_u8),
            &[1, 2, 3, 4, 5, 6, 7, 8],
        );
        let long = "x".repeat(300);
        encodes(&(1_u8, &long), &[b"\x01\xac\x02", long.as_bytes()].concat());
    }

    #[test]
    fn arrays_of_bytes_are_lent() {
        let key = [7_u8; 100];
        assert!(std::ptr::eq(&*key.to_bytes(), key.as_slice()));
    }

    #[test]
    fn widths() {
        assert_eq!(<(u8, [u32; 3], &bool, ())>::WIDTH, Some(14));
        assert_eq!(<(u8, &str)>::WIDTH, None);
        assert_eq!(<[String; 2]>::WIDTH, None);
        assert_eq!(<[(); 5]>::WIDTH, Some(0));
        assert_eq!(<Box<u64>>::WIDTH, Some(8));
    }

    /// Equal bytes mean equal values, for short strings over a nasty alphabet: small
    /// numbers that look like lengths.
    #[test]
    fn composites_are_injective() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_add(GOLDEN);
            mix(state) % below
        };
        let mut tuples = HashMap::new();
        let mut nested = HashMap::new();
        let mut arrays = HashMap::new();
        for _ in 0..200_000 {
            let mut string = || -> Vec<u8> { (0..random(4)).map(|_| random(4) as u8).collect() };
            let (a, b, c) = (string(), string(), string());
            let number = random(4) as u8;

            let tuple = (a.clone(), number, b.clone(), c.clone());
            let before = tuples.insert(tuple.to_bytes().to_vec(), tuple.clone());
            assert!(before.is_none_or(|before| before == tuple));

            let nest = ((a.clone(), b.clone()), (c.clone(), number));
            let before = nested.insert(nest.to_bytes().to_vec(), nest.clone());
            assert!(before.is_none_or(|before| before == nest));

            let array = [a, b, c];
            let before = arrays.insert(array.to_bytes().to_vec(), array.clone());
            assert!(before.is_none_or(|before| before == array));
        }
        assert!(tuples.len() > 10_000);
    }
}
