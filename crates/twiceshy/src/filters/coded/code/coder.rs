//! The coder: intervals of integers, narrowed gap by gap.

use super::few;
use super::{CODE_BITS, Coding, SLOTS};
use crate::table::Bare;
use std::fmt::Debug;

/// Bytes of a code.
const LANE: usize = CODE_BITS as usize / 8;

/// A part of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it starts, counted from the start of the interval.
    pub low: u64,
    /// How many numbers it has; at least one.
    pub width: u64,
}

/// The symbols of a slot and how likely they are.
pub trait Alphabet: Clone + Debug + Send + Sync {
    /// A symbol. The default is *nothing*.
    type Symbol: Copy + Default + Eq + Debug + Send + Sync;

    /// The probability of *nothing*, times `2^64`.
    fn nothing(&self) -> u64;

    /// The part of an interval of `width` numbers, from one to `2^60`, that stands for a symbol
    /// that is not *nothing*; `None` if there is none left for it.
    fn part(&self, width: u64, symbol: Self::Symbol) -> Option<Part>;

    /// The symbol in whose part the number `at` lies, and that part; `None` if it lies in no
    /// symbol's.
    fn find(&self, width: u64, at: u64) -> Option<(Self::Symbol, Part)>;

    /// The symbol in a byte that is not 0; `None` if it does not fit.
    fn byte_of(&self, symbol: Self::Symbol) -> Option<u8>;

    /// The symbol of a byte; `None` if there is no such symbol.
    fn symbol_of(&self, byte: u8) -> Option<Self::Symbol>;
}

/// Codes the symbols of a block as one number.
#[derive(Clone, Debug)]
pub struct Coder<A> {
    alphabet: A,
    /// The probability of so many *nothings*, times `2^64`. The first, which would be one, is
    /// not used.
    nothings: [u64; SLOTS as usize + 1],
    /// Numbers below `clear[k]` have no symbol in the first `k` slots. Those behind the last slot
    /// are like it.
    clear: [u64; SLOTS as usize + 2],
    /// Numbers below this have no symbol at all.
    least: u64,
    slots: u32,
    numbers: u64,
    /// How many *nothings* make up a factor of two, times `2^12`.
    per_bit: u64,
    /// The logarithm of all numbers, and a little more: see [`first_slot`](Self::first_slot).
    top: u64,
}

/// The logarithm of a number, with 52 bits behind the point and a constant too much; about.
#[inline(always)]
fn logarithm(number: u64) -> u64 {
    // Numbers have 56 bits at most, and signed ones are converted at once.
    (number as i64 as f64).to_bits()
}

/// The highest word of a product: `a` times the fraction `b`.
#[inline(always)]
pub(super) fn times(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

impl<A: Alphabet> Coder<A> {
    /// A coder of blocks of 64 slots in [`CODE_BITS`] bits.
    #[must_use]
    pub fn new(alphabet: A) -> Self {
        Self::with_size(alphabet, SLOTS, few::FEW)
    }

    /// A smaller one, for tests that try everything. It has no lists.
    pub(super) fn with_size(alphabet: A, slots: u32, numbers: u64) -> Self {
        debug_assert!(slots <= SLOTS && numbers <= few::FEW);
        let one = alphabet.nothing();
        let mut coder = Coder {
            alphabet,
            nothings: [u64::MAX; SLOTS as usize + 1],
            clear: [numbers; SLOTS as usize + 2],
            least: 0,
            slots,
            numbers,
            per_bit: (-4096.0 / (one as f64 / 2_f64.powi(64)).log2()) as u64,
            top: logarithm(numbers),
        };
        for k in 1..=SLOTS as usize {
            coder.nothings[k] = if k == 1 {
                one
            } else {
                times(coder.nothings[k - 1], one)
            };
        }
        for k in 1..coder.clear.len() {
            coder.clear[k] = coder.bound(coder.numbers, slots.min(k as u32));
        }
        coder.least = coder.clear[slots as usize];
        for slot in 0..SLOTS as usize {
            let width = coder.clear[slot] - coder.clear[slot + 1];
            // It falls as numbers rise, so it is the last of each slot that matters.
            while width > 0 && coder.guess_first(coder.clear[slot] - 1) < slot {
                coder.top += 1 << 44;
            }
        }
        coder
    }

    /// The numbers of an interval below this have `gap` *nothings* to begin with. Never less
    /// than one: that nothing follows fits into every interval.
    #[inline(always)]
    fn bound(&self, width: u64, gap: u32) -> u64 {
        if gap == 0 {
            width
        } else {
            times(width - 1, self.nothings[gap as usize]) + 1
        }
    }

    /// About how many *nothings* leave `at` numbers of `width`, which are more: their logarithm,
    /// divided by that of one *nothing*. What the bits of a floating-point number say of its
    /// logarithm, a straight line between powers of two, is near enough.
    #[inline(always)]
    fn guess(&self, at: u64, width: u64) -> u32 {
        times(logarithm(width).wrapping_sub(logarithm(at)), self.per_bit) as u32
    }

    /// Not below the slot of the first symbol of a code that has one, and seldom above it by more
    /// than one: [`guess`](Self::guess), with as much more as it takes to be sure.
    #[inline(always)]
    fn guess_first(&self, code: u64) -> usize {
        let guess = times(self.top.wrapping_sub(logarithm(code)), self.per_bit);
        guess.min(u64::from(SLOTS) - 1) as usize
    }

    /// The slot of the first symbol of a code that has one: with constants alone, and without a
    /// branch that depends on it.
    #[inline(always)]
    pub(super) fn first_slot(&self, code: u64) -> usize {
        debug_assert!(self.least <= code && code < self.numbers);
        let guess = self.guess_first(code);
        debug_assert!(code >= self.clear[guess + 1], "it is not below the slot");
        // Masks tell the compiler that all slots are in the table.
        let slot = (guess - usize::from(code >= self.clear[guess])) & 63;
        match code < self.clear[slot] {
            true => slot,
            false => self.first_slot_below(code, slot) & 63,
        }
    }

    #[cold]
    #[inline(never)]
    fn first_slot_below(&self, code: u64, mut slot: usize) -> usize {
        while code >= self.clear[slot] {
            slot -= 1;
        }
        slot
    }

    /// How many bits a message takes: the logarithm of how often its interval goes into all
    /// numbers.
    #[cfg(test)]
    pub(super) fn bits(&self, symbols: impl IntoIterator<Item = (u32, A::Symbol)>) -> Option<f64> {
        let mut encode = Encode::new(self);
        for (slot, symbol) in symbols {
            encode.put(slot, symbol)?;
        }
        let width = self.bound(encode.width, self.slots - encode.slot);
        Some((self.numbers as f64 / width as f64).log2())
    }

    /// The symbols of a word, in the order of their slots. Of a number that is no word, those
    /// that come out of it.
    #[inline(always)]
    pub fn decode(&self, word: u64) -> Message<'_, A> {
        match few::is_few(word) {
            true => Message::Few(Few {
                alphabet: &self.alphabet,
                list: word,
                number: 0,
                next: 0,
            }),
            false => Message::Coded(self.decode_number(word)),
        }
    }

    #[inline(always)]
    fn decode_number(&self, code: u64) -> Decode<'_, A> {
        Decode {
            coder: self,
            at: code,
            width: self.numbers,
            slot: 0,
        }
    }
}

/// The symbols of a word.
#[derive(Clone, Debug)]
pub enum Message<'c, A> {
    /// Of a list.
    Few(Few<'c, A>),
    /// Of a code.
    Coded(Decode<'c, A>),
}

impl<A: Alphabet> Iterator for Message<'_, A> {
    type Item = (u32, A::Symbol);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Message::Few(few) => few.next(),
            Message::Coded(coded) => coded.next(),
        }
    }
}

/// The symbols of a list.
#[derive(Clone, Debug)]
pub struct Few<'c, A> {
    alphabet: &'c A,
    list: u64,
    number: usize,
    /// The first slot that can follow.
    next: u32,
}

impl<A: Alphabet> Iterator for Few<'_, A> {
    type Item = (u32, A::Symbol);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        // A number that is no list may have slots in any order, and no symbols.
        let (slot, byte) =
            few::get(self.list, self.number).filter(|&(slot, _)| slot >= self.next)?;
        let symbol = self.alphabet.symbol_of(byte)?;
        self.number += 1;
        self.next = slot + 1;
        Some((slot, symbol))
    }
}

/// The interval of a message that goes on.
struct Encode<'c, A> {
    coder: &'c Coder<A>,
    low: u64,
    width: u64,
    /// The first slot whose symbol has not been given yet.
    slot: u32,
}

impl<'c, A: Alphabet> Encode<'c, A> {
    #[inline(always)]
    fn new(coder: &'c Coder<A>) -> Self {
        Encode {
            coder,
            low: 0,
            width: coder.numbers,
            slot: 0,
        }
    }

    /// Goes on behind the symbols that were read from a code: they need not be coded again.
    #[inline(always)]
    fn behind(symbols: &Decode<'c, A>, code: u64) -> Self {
        Encode {
            coder: symbols.coder,
            low: code - symbols.at,
            width: symbols.width,
            slot: symbols.slot,
        }
    }

    /// Narrows the interval to this symbol; `None` if it has no numbers there.
    #[inline(always)]
    fn put(&mut self, slot: u32, symbol: A::Symbol) -> Option<()> {
        let coder = self.coder;
        debug_assert!(slot < coder.slots && symbol != A::Symbol::default());
        // There is one already only in a table that nobody has checked.
        let gap = slot.checked_sub(self.slot)?;
        let (from, to) = (
            coder.bound(self.width, gap + 1),
            coder.bound(self.width, gap),
        );
        if from >= to {
            return None;
        }
        let part = coder.alphabet.part(to - from, symbol)?;
        self.low += from + part.low;
        self.width = part.width;
        self.slot = slot + 1;
        Some(())
    }
}

/// The symbols of a code.
#[derive(Clone, Debug)]
pub struct Decode<'c, A> {
    coder: &'c Coder<A>,
    /// The code, counted from the start of the interval.
    at: u64,
    width: u64,
    /// The first slot whose symbol is not known yet.
    slot: u32,
}

/// Where the next symbol is, and where its numbers are in the interval.
struct Next {
    slot: u32,
    from: u64,
    to: u64,
}

impl<A: Alphabet> Decode<'_, A> {
    /// [`locate`](Self::locate) for the first symbol, which is there: with constants alone.
    #[inline(always)]
    fn locate_first(&self) -> Next {
        let coder = self.coder;
        let slot = coder.first_slot(self.at);
        Next {
            slot: slot as u32,
            from: coder.clear[slot + 1],
            to: coder.clear[slot],
        }
    }

    #[inline(always)]
    fn locate(&self) -> Option<Next> {
        let coder = self.coder;
        let left = coder.slots - self.slot;
        // Behind the last symbol of a code it is zero, which is below every bound.
        if self.at == 0 || left == 0 {
            return None;
        }
        // The last gap whose bound is above: bounds fall as gaps grow. A guess by the
        // logarithm is off by one at most, or by more if widths are small; then it is mended.
        let mut gap = coder.guess(self.at, self.width).min(left - 1);
        let mut to = coder.bound(self.width, gap);
        let mut from = coder.bound(self.width, gap + 1);
        while self.at >= to && gap > 0 {
            gap -= 1;
            (from, to) = (to, coder.bound(self.width, gap));
        }
        while self.at < from && gap + 1 < left {
            gap += 1;
            (to, from) = (from, coder.bound(self.width, gap + 1));
        }
        let slot = self.slot + gap;
        // A number that is no code may be below the last bound, too.
        (self.at >= from).then_some(Next { slot, from, to })
    }

    #[inline(always)]
    fn read(&mut self, next: &Next) -> Option<A::Symbol> {
        let Next { slot, from, to } = *next;
        let at = self.at.wrapping_sub(from);
        let width = to.wrapping_sub(from);
        // A number that is no code may lie beyond all symbols.
        let found = match at < width {
            true => self.coder.alphabet.find(width, at),
            false => None,
        };
        let Some((symbol, part)) = found else {
            self.stop();
            return None;
        };
        self.at = at - part.low;
        self.width = part.width;
        self.slot = slot + 1;
        Some(symbol)
    }
}

impl<A: Alphabet> Coder<A> {
    /// The code after the symbols of the slots `low..high` have moved up by one: the outer `None` if
    /// they do not fit then, the inner one if the last of them leaves. Nothing is coded again that
    /// lies before the first slot that moves, and nothing at all if no symbol moves.
    #[inline(always)]
    fn raise_code(&self, code: u64, low: u32, high: u32) -> Option<Option<u64>> {
        let mut symbols = self.decode_number(code);
        let mut next = (code >= self.least).then(|| symbols.locate_first());
        while let Some(stays) = next.take_if(|next| next.slot < low) {
            symbols.read(&stays)?;
            next = symbols.locate();
        }
        if next.as_ref().is_none_or(|next| next.slot >= high) {
            return Some(Some(code));
        }
        let mut encode = Encode::behind(&symbols, code);
        while let Some(moves) = next {
            let symbol = symbols.read(&moves)?;
            let slot = moves.slot + u32::from(moves.slot < high);
            if slot >= self.slots {
                return Some(None);
            }
            encode.put(slot, symbol)?;
            next = symbols.locate();
        }
        Some(Some(encode.low))
    }
}

impl<A: Alphabet> Iterator for Decode<'_, A> {
    type Item = (u32, A::Symbol);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.locate()?;
        Some((next.slot, self.read(&next)?))
    }
}

impl<A> Decode<'_, A> {
    #[cold]
    fn stop(&mut self) {
        self.slot = self.coder.slots;
        self.at = 0;
    }
}

/// The first four bytes of a lane and the last four, which share one: a copy to make eight bytes of
/// seven would be read back before it is written.
#[inline(always)]
fn halves(lane: &[u8]) -> (u32, u32) {
    let lane: &[u8; LANE] = lane.first_chunk().expect("the lane has seven bytes");
    let first = lane.first_chunk().expect("four are fewer than seven");
    let last = lane.last_chunk().expect("four are fewer than seven");
    (u32::from_le_bytes(*first), u32::from_le_bytes(*last))
}

impl<A: Alphabet> Coding for Coder<A> {
    type Symbol = A::Symbol;
    type Lane = Bare<LANE>;
    type Word = u64;

    #[inline(always)]
    fn load(lane: &[u8]) -> u64 {
        let (first, last) = halves(lane);
        u64::from(first) | u64::from(last) << 24
    }

    #[inline(always)]
    fn store(lane: &mut [u8], word: u64) {
        let lane: &mut [u8; LANE] = lane.first_chunk_mut().expect("the lane has seven bytes");
        lane[..4].copy_from_slice(&(word as u32).to_le_bytes());
        lane[3..].copy_from_slice(&((word >> 24) as u32).to_le_bytes());
    }

    /// Exact for lists; of a code, only the first symbol is seen.
    #[inline(always)]
    fn is_clear(&self, word: u64, from: u32, to: u32) -> bool {
        let to = to & 63;
        let is_clear = word < self.clear[to as usize + 1];
        is_clear | (few::is_few(word) & few::is_clear(word, from, to + 1))
    }

    #[inline(always)]
    fn has_symbol(&self, word: u64, from: u32, to: u32) -> bool {
        debug_assert!(!self.is_clear(word, from, to));
        if few::is_few(word) {
            return true;
        }
        // There is a symbol up to `to`.
        let mut symbols = self.decode_number(word);
        let mut next = symbols.locate_first();
        while next.slot < from {
            if symbols.read(&next).is_none() {
                return false;
            }
            match symbols.locate() {
                Some(later) => next = later,
                None => return false,
            }
        }
        next.slot <= to
    }

    #[inline(always)]
    fn symbols(&self, word: u64) -> impl Iterator<Item = (u32, A::Symbol)> {
        self.decode(word)
    }

    #[inline(always)]
    fn encode(&self, symbols: impl IntoIterator<Item = (u32, A::Symbol)>) -> Option<u64> {
        let mut list = few::List::new();
        let mut encode = Encode::new(self);
        let mut fits = true;
        for (slot, symbol) in symbols {
            list.push(slot, self.alphabet.byte_of(symbol));
            fits = fits && encode.put(slot, symbol).is_some();
        }
        match list.finish() {
            // The small coders of tests write no lists.
            Some(list) if self.numbers == few::FEW => Some(list),
            _ => fits.then_some(encode.low),
        }
    }

    #[inline(always)]
    fn raise_few(&self, lane: &mut [u8], low: u32, high: u32) -> bool {
        let Some(raised) = few::raise(halves(lane), low, high) else {
            return false;
        };
        lane[..4].copy_from_slice(&raised.to_le_bytes());
        true
    }

    /// A code stays a code if no symbol comes or leaves.
    #[inline(always)]
    fn raise(&self, word: u64, low: u32, high: u32, carry: A::Symbol) -> Option<(u64, A::Symbol)> {
        let nothing = A::Symbol::default();
        if carry == nothing && !few::is_few(word) {
            if let Some(raised) = self.raise_code(word, low, high)? {
                return Some((raised, nothing));
            }
        }
        let mut out = nothing;
        let first = (carry != nothing).then_some((0, carry));
        let moved = self.decode(word).filter_map(|(slot, symbol)| {
            let slot = slot + u32::from(low <= slot && slot < high);
            if slot < self.slots {
                return Some((slot, symbol));
            }
            out = symbol;
            None
        });
        let raised = self.encode(first.into_iter().chain(moved))?;
        Some((raised, out))
    }
}
