//! The coder alone: everything at small sizes, much at the real one.

use std::collections::BTreeMap;

use super::*;
use crate::hash::mix;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

/// All messages of `slots` symbols out of `symbols`, the first of which is nothing.
fn messages<L: Copy>(slots: u32, symbols: &[L]) -> impl Iterator<Item = Vec<L>> + '_ {
    let count = (symbols.len() as u64).pow(slots);
    (0..count).map(move |mut number| {
        let mut message = Vec::new();
        for _ in 0..slots {
            message.push(symbols[(number % symbols.len() as u64) as usize]);
            number /= symbols.len() as u64;
        }
        message
    })
}

fn sparse<L: Copy + Default + Eq>(message: &[L]) -> Vec<(u32, L)> {
    let symbols = (0..).zip(message.iter().copied());
    symbols
        .filter(|&(_, symbol)| symbol != L::default())
        .collect()
}

/// The symbols of a word, moved one by one and coded afresh.
fn raise_naively<C: Coding>(
    coding: &C,
    slots: u32,
    word: C::Word,
    (low, high): (u32, u32),
    carry: C::Symbol,
) -> Option<(C::Word, C::Symbol)> {
    let mut message = vec![C::Symbol::default(); slots as usize + 1];
    for (slot, symbol) in coding.symbols(word) {
        let moves = (low..high).contains(&slot);
        message[slot as usize + usize::from(moves)] = symbol;
    }
    if carry != C::Symbol::default() {
        message[0] = carry;
    }
    let out = message.pop().expect("one more than there are slots");
    Some((coding.encode(sparse(&message))?, out))
}

/// Every move of the symbols of a code.
fn raise_everything<C: Coding>(coding: &C, slots: u32, word: C::Word, carries: &[C::Symbol]) {
    let is_there = |at| coding.symbols(word).any(|(slot, _)| slot == at);
    for high in (0..=slots).filter(|&high| !is_there(high)) {
        for low in 0..=high {
            let carries = if low == 0 { carries } else { &carries[..1] };
            for &carry in carries {
                let raised = coding.raise(word, low, high, carry);
                let naively = raise_naively(coding, slots, word, (low, high), carry);
                assert_eq!(raised, naively, "{word:?} {low}..{high} {carry:?}");
            }
            raise_few(coding, slots, word, (low, high));
        }
    }
}

/// The short way, if it can be gone. Has it been?
fn raise_few<C: Coding>(coding: &C, slots: u32, word: C::Word, (low, high): (u32, u32)) -> bool {
    let nothing = C::Symbol::default();
    let mut lane = [0; 24];
    C::store(&mut lane, word);
    let is_done = coding.raise_few(&mut lane, low, high);
    let raised = C::load(&lane);
    if !is_done {
        assert_eq!(raised, word, "nothing has changed");
        return false;
    }
    let naively = raise_naively(coding, slots, word, (low, high), nothing);
    assert_eq!(Some((raised, nothing)), naively, "{word:?} {low}..{high}");
    true
}

/// Every message: those that fit come back, no two of them overlap, and every number between
/// decodes to the message whose interval it is in, or to none.
fn try_everything<A: Alphabet>(alphabet: A, slots: u32, bits: u32, symbols: &[A::Symbol]) -> usize {
    let coder = Coder::with_size(alphabet, slots, 1 << bits);
    let mut codes = BTreeMap::new();
    for message in messages(slots, symbols) {
        let message = sparse(&message);
        let Some(code) = coder.encode(message.iter().copied()) else {
            continue;
        };
        assert!(code < 1 << bits);
        assert_eq!(coder.decode(code).collect::<Vec<_>>(), message);
        let first = message.first().map_or(slots, |&(slot, _)| slot);
        for to in 0..slots {
            let is_clear = Coding::is_clear(&coder, code, 0, to);
            assert_eq!(is_clear, to < first, "{message:?} up to {to}");
            for from in (0..=to).filter(|_| !is_clear) {
                let is_there = message.iter().any(|&(slot, _)| (from..=to).contains(&slot));
                assert_eq!(coder.has_symbol(code, from, to), is_there, "{message:?}");
            }
        }
        raise_everything(&coder, slots, code, &symbols[..symbols.len().min(3)]);
        assert!(codes.insert(code, message).is_none(), "two for one code");
    }
    assert_eq!(codes.get(&0), Some(&vec![]), "nothing is zero");
    for code in 0..1_u64 << bits {
        let message: Vec<_> = coder.decode(code).collect();
        let again = coder.encode(message.iter().copied());
        // What comes out of any number can be coded, and no later than there.
        assert!(again.is_some_and(|again| again <= code), "{code}");
    }
    codes.len()
}

#[test]
fn everything_at_small_sizes() {
    let selectors: Vec<Selector> = (0..=4).collect();
    for width in [1, 2, 3, 5, 8, 20, 56] {
        let mut fit = 0;
        for (slots, bits) in [(1, 6), (2, 9), (3, 12), (4, 14), (5, 10)] {
            fit += try_everything(Selectors::for_width(width), slots, bits, &selectors);
        }
        assert!(fit > 100, "{width}: {fit}");
    }
    let mut extensions = vec![Extension::default()];
    for len in 1..=3 {
        extensions.extend((0..1 << len).map(|bits| Extension::new(len, bits).unwrap()));
    }
    for (slots, bits) in [(1, 8), (2, 12), (3, 15), (4, 10)] {
        let fit = try_everything(Extensions, slots, bits, &extensions);
        assert!(fit >= 10, "{slots} slots: {fit}");
    }
}

/// Symbols that move, at the real size: with few symbols and with as many as there is room for.
fn raise_at_random<A: Alphabet>(alphabet: A, seed: u64) {
    let coder = Coder::new(alphabet.clone());
    let mut random = Random::new(seed);
    let (mut moved, mut left, mut full, mut few) = (0, 0, 0, 0);
    for _ in 0..20_000 {
        let mut message = vec![A::Symbol::default(); SLOTS as usize];
        for _ in 0..random.below(100) {
            message[random.below(64) as usize] = draw(&alphabet, &mut random);
        }
        let low = random.below(64) as u32;
        let high = low + random.below(u64::from(65 - low)) as u32;
        if let Some(symbol) = message.get_mut(high as usize) {
            *symbol = A::Symbol::default();
        }
        let carry = match low {
            0 => draw(&alphabet, &mut random),
            _ => A::Symbol::default(),
        };
        let Some(code) = coder.encode(sparse(&message)) else {
            continue;
        };
        let raised = coder.raise(code, low, high, carry);
        let naively = raise_naively(&coder, SLOTS, code, (low, high), carry);
        assert_eq!(raised, naively, "{message:?} {low}..{high} {carry:?}");
        few += u32::from(raise_few(&coder, SLOTS, code, (low, high)));
        moved += u32::from(raised.is_some_and(|(word, _)| word != code));
        left += u32::from(raised.is_some_and(|(_, out)| out != A::Symbol::default()));
        full += u32::from(raised.is_none());
    }
    assert!(
        moved > 1_000 && left > 5 && full > 0 && few > 100,
        "{moved} {left} {full} {few}"
    );
}

#[test]
fn symbols_that_move_are_coded_as_if_afresh() {
    for width in [1, 4, 9] {
        raise_at_random(Selectors::for_width(width), u64::from(width));
    }
    raise_at_random(Extensions, 0);
}

/// Up to three symbols, wherever they are and wherever they go, need no coder. Unless one leaves.
fn raise_lists<A: Alphabet>(alphabet: A, symbols: [A::Symbol; 3]) {
    let coder = Coder::new(alphabet);
    for slot in 0..SLOTS {
        let slots = [slot, slot + 1 + slot % 3, 63 - slot % 2];
        let list: Vec<_> = slots.into_iter().zip(symbols).collect();
        for count in 1..=3 {
            let list = &list[..count];
            if !list.windows(2).all(|two| two[0].0 < two[1].0) || list[count - 1].0 > 63 {
                continue;
            }
            let word = coder.encode(list.iter().copied()).expect("few symbols fit");
            assert!(few::is_few(word) && coder.decode(word).eq(list.iter().copied()));
            let next = (slot + 1..=64).find(|next| list.iter().all(|(slot, _)| slot != next));
            let next = next.expect("no symbol is behind the block");
            for (low, high) in [(0, 64), (slot, 64), (slot, next), (slot + 1, 64), (64, 64)] {
                let is_done = raise_few(&coder, SLOTS, word, (low, high));
                let leaves = list[count - 1].0 == 63 && low <= 63 && high == 64;
                assert_eq!(is_done, !leaves, "{list:?} {low}..{high}");
            }
        }
    }
}

#[test]
fn few_symbols_are_moved_by_a_list() {
    for width in [1, 8, 20] {
        raise_lists(Selectors::for_width(width), [1, 2, Selectors::MAX]);
    }
    for len in 1..=7 {
        let longest = Extension::new(len, u64::MAX).unwrap();
        let shortest = Extension::new(1, 0).unwrap();
        raise_lists(
            Extensions,
            [longest, shortest, Extension::new(len, 0).unwrap()],
        );
    }
}

/// What no list can hold is coded: four symbols, and one that is long.
#[test]
fn other_symbols_are_coded() {
    let coder = Coder::new(Extensions);
    let long = [(9, Extension::new(8, 77).unwrap())];
    let word = coder.encode(long).unwrap();
    assert!(!few::is_few(word) && coder.decode(word).eq(long));
    let coder = Coder::new(Selectors::for_width(8));
    let four = [(9, 1), (10, 1), (20, 2), (63, 1)];
    let word = coder.encode(four).unwrap();
    assert!(!few::is_few(word) && coder.decode(word).eq(four));
    // The last one leaves: then it is a list. It comes into the next block: a code again.
    let (three, out) = coder.raise(word, 9, 64, 0).unwrap();
    assert!(few::is_few(three) && out == 1);
    assert!(coder.decode(three).eq([(10, 1), (11, 1), (21, 2)]));
    let (again, out) = coder.raise(three, 0, 64, 1).unwrap();
    assert!(!few::is_few(again) && out == 0);
    assert!(coder.decode(again).eq([(0, 1), (11, 1), (12, 1), (22, 2)]));
}

/// The numbers of each slot, from the first to the last: all have their first symbol there.
fn first_symbols<A: Alphabet>(alphabet: A) {
    let coder = Coder::new(alphabet);
    for slot in 0..SLOTS {
        // Below the last number there is none before it, below the first none up to it.
        let is_before = |code: u64| slot > 0 && !coder.is_clear(code, 0, slot - 1);
        let (mut first, mut end) = (1, few::FEW);
        for step in (0..CODE_BITS).rev() {
            if first + (1 << step) < few::FEW && coder.is_clear(first + (1 << step), 0, slot) {
                first += 1 << step;
            }
            if is_before(end - (1 << step)) {
                end -= 1 << step;
            }
        }
        for code in [first + 1, first + (end - first) / 2, end - 1] {
            assert_eq!(coder.first_slot(code), slot as usize, "{code}");
            assert!(coder.has_symbol(code, slot, slot), "{code} at {slot}");
        }
    }
}

#[test]
fn the_first_symbol_is_found_by_constants() {
    for width in [1, 2, 3, 5, 8, 20, 56] {
        first_symbols(Selectors::for_width(width));
    }
    first_symbols(Extensions);
}

/// Every number of every small interval: the extension that is found has a part there, and
/// that part is the one that it has.
#[test]
fn extensions_are_found_where_they_are() {
    for width in 1..300_u64 {
        let mut found = 0;
        for at in 0..width {
            let Some((extension, part)) = Extensions.find(width, at) else {
                continue;
            };
            assert_eq!(Extensions.part(width, extension), Some(part));
            assert!((part.low..part.low + part.width).contains(&at));
            found += 1;
        }
        let mut parts = 0;
        for len in 1..=9 {
            for bits in 0..1 << len {
                let extension = Extension::new(len, bits).unwrap();
                let part = Extensions.part(width, extension);
                parts += part.map_or(0, |part| part.width);
            }
        }
        assert_eq!(parts, found, "the parts of {width} do not overlap");
    }
}

#[test]
fn a_word_is_seven_bytes() {
    let mut lane = [0; 7];
    for word in [0, 1, 0x0011_2233_4455_6677, (1 << 56) - 1] {
        Coder::<Selectors>::store(&mut lane, word);
        assert_eq!(Coder::<Selectors>::load(&lane), word);
    }
}

/// Symbols as the alphabet expects them, from uniform numbers.
fn draw<A: Alphabet>(alphabet: &A, random: &mut Random) -> A::Symbol {
    if random.next() < alphabet.nothing() {
        return A::Symbol::default();
    }
    let width = 1 << 60;
    let found = alphabet.find(width, random.below(width));
    found.map_or_else(Default::default, |(symbol, _)| symbol)
}

/// Codes many random blocks. Gives the mean number of bits over the ideal ones of those that
/// certainly fit (of the others only the lucky ones do), and the share that fit.
fn loss<A: Alphabet>(alphabet: A, blocks: u32, seed: u64) -> (f64, f64) {
    let coder = Coder::new(alphabet.clone());
    let mut random = Random::new(seed);
    let ideal = |symbol: A::Symbol| {
        let nothing = alphabet.nothing() as f64 / 2_f64.powi(64);
        if symbol == A::Symbol::default() {
            return -nothing.log2();
        }
        let part = alphabet.part(1 << 60, symbol).expect("it was drawn");
        -((1.0 - nothing) * part.width as f64 / 2_f64.powi(60)).log2()
    };
    let (mut lost, mut easy, mut fit) = (0.0, 0.0, 0);
    for _ in 0..blocks {
        let message: Vec<_> = (0..SLOTS).map(|_| draw(&alphabet, &mut random)).collect();
        let entropy: f64 = message.iter().map(|&symbol| ideal(symbol)).sum();
        let symbols = sparse(&message);
        let Some(bits) = coder.bits(symbols.iter().copied()) else {
            assert!(entropy > 50.0, "{entropy} bits do not fit: {symbols:?}");
            continue;
        };
        let code = coder.encode(symbols.iter().copied()).expect("as just seen");
        assert!(coder.decode(code).eq(symbols));
        if entropy < 50.0 {
            lost += bits - entropy;
            easy += 1.0;
        }
        fit += 1;
    }
    (lost / easy, f64::from(fit) / f64::from(blocks))
}

/// The integers lose next to nothing against the entropy, for every width: what they lose is
/// in the roundings of the last, narrow intervals.
#[test]
fn the_loss_against_the_entropy() {
    for width in 1..=56 {
        let (lost, fit) = loss(Selectors::for_width(width), 400, u64::from(width));
        println!("selectors, {width} bits: {lost:.4} bits lost a block, {fit:.3} fit");
        assert!(lost.abs() < 0.1 && fit > 0.4, "{width}: {lost} {fit}");
    }
    let (lost, fit) = loss(Extensions, 4_000, 0);
    println!("extensions: {lost:.4} bits lost a block, {fit:.3} fit");
    assert!(lost.abs() < 0.1 && fit > 0.4, "{lost} {fit}");
}

/// The probabilities are those of Corollary 3, normalized.
#[test]
fn probabilities_of_the_corollary() {
    for bits in 1..=56_u32 {
        let alphabet = Selectors::for_width(bits);
        let epsilon = 2_f64.powi(-(bits as i32));
        let nothing = alphabet.nothing() as f64 / 2_f64.powi(64);
        let expected = [0.08, 0.12, 0.15, 0.175, 0.185, 0.19, 0.195, 0.2];
        let c = expected[bits.min(8) as usize - 1] / epsilon;
        let mut weights = vec![(-c * epsilon).exp()];
        for k in 1..=i32::from(Selectors::MAX) {
            let mut term = 1.0;
            let mut sum = 0.0;
            for i in 1..=k {
                term *= c * epsilon / f64::from(i);
                sum += term * epsilon.powi(k - i);
            }
            weights.push(sum);
        }
        let total: f64 = weights.iter().sum();
        assert!((nothing - weights[0] / total).abs() < 1e-9, "{bits}");
        for (k, weight) in weights.iter().enumerate().skip(1).take(6) {
            let width = 1 << 60;
            let part = alphabet.part(width, k as Selector).expect("likely enough");
            let share = part.width as f64 / width as f64 * (1.0 - nothing);
            let wanted = weight / total;
            assert!((share / wanted - 1.0).abs() < 1e-6, "{bits} bits, {k}");
        }
    }
}

/// What the thesis says of its code: around eight single-bit extensions, or one of 19 bits.
#[test]
fn room_for_extensions() {
    let coder = Coder::new(Extensions);
    let one = Extension::new(1, 1).unwrap();
    let spread = |count: u32| (0..count).map(move |i| (64 * i / count, one));
    let most = (1..64)
        .take_while(|&n| coder.encode(spread(n)).is_some())
        .count();
    assert!(most >= 8, "{most} extensions of one bit");
    let longest = (1..=Extension::MAX_LEN)
        .filter(|&len| {
            let extension = Extension::new(len, 0).unwrap();
            coder.encode([(40, extension)]).is_some()
        })
        .count();
    assert!(longest >= 19, "one extension of {longest} bits");
    println!("{most} of one bit, or one of {longest} bits");
}

/// Room for at least sixteen selectors of 1 at eight bits, as in the thesis, wherever they are.
#[test]
fn room_for_selectors() {
    let mut random = Random::new(5);
    let coder = Coder::new(Selectors::for_width(8));
    for _ in 0..1_000 {
        let mut slots = [false; 64];
        for _ in 0..16 {
            slots[random.below(64) as usize] = true;
        }
        let symbols = (0..).zip(slots).filter(|&(_, set)| set);
        assert!(coder.encode(symbols.map(|(slot, _)| (slot, 1))).is_some());
    }
}

#[test]
fn plain_hold_what_they_are_given() {
    let mut random = Random::new(6);
    for _ in 0..1_000 {
        let message: Vec<Selector> = (0..64).map(|_| random.below(8) as Selector).collect();
        let symbols = sparse(&message);
        let word = PlainSelectors
            .encode(symbols.iter().copied())
            .expect("all fit");
        assert!(PlainSelectors.symbols(word).eq(symbols.iter().copied()));
        if random.below(10) == 0 {
            raise_everything(&PlainSelectors, SLOTS, word, &[0, 1, 7]);
        }
        let (from, to) = (random.below(64) as u32, random.below(64) as u32);
        let (from, to) = (from.min(to), from.max(to));
        let clear = message[from as usize..=to as usize]
            .iter()
            .all(|&symbol| symbol == 0);
        assert_eq!(PlainSelectors.is_clear(word, from, to), clear);
        let mut lane = [0; 24];
        PlainSelectors::store(&mut lane, word);
        assert_eq!(PlainSelectors::load(&lane), word);
    }
    assert_eq!(PlainSelectors.encode([(3, 8)]), None);
}
