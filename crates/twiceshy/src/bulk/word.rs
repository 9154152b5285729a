//! The two sizes in which ids wait to be sorted.

/// The low bits of a minirun id. Those of one bucket agree in all others.
pub(super) trait Word: Copy + Default + Ord + Send + Sync {
    /// Bytes of one.
    const BYTES: usize;

    /// How many bits of an id are kept.
    const BITS: u32 = Self::BYTES as u32 * 8;

    /// The low bits of an id.
    fn cut(id: u64) -> Self;

    /// As a number.
    fn widen(self) -> u64;

    /// Writes it to the first [`BYTES`](Self::BYTES) bytes.
    fn store(self, bytes: &mut [u8]);

    /// Reads it from the first [`BYTES`](Self::BYTES) bytes.
    fn load(bytes: &[u8]) -> Self;
}

/// Generic code can't name the length of `to_le_bytes`.
macro_rules! words {
    ($($word:ty)*) => {$(
        impl Word for $word {
            const BYTES: usize = size_of::<$word>();

            #[inline]
            fn cut(id: u64) -> Self {
                id as $word
            }

            #[inline]
            fn widen(self) -> u64 {
                u64::from(self)
            }

            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes[..Self::BYTES].copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn load(bytes: &[u8]) -> Self {
                let mut word = [0; Self::BYTES];
                word.copy_from_slice(&bytes[..Self::BYTES]);
                <$word>::from_le_bytes(word)
            }
        }
    )*};
}

words!(u32 u64);
