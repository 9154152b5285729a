//! The bodies of the fuzz targets: any bytes are a game.
//!
//! The targets in `fuzz/` are a few lines each; what they found is kept in `fuzz/corpus`, and the
//! library's `tests/corpus.rs` replays it.

use crate::adaptive::universe::Chosen;
use crate::adaptive::{self, Setting};
use crate::conformance;
use crate::files;
use crate::keyed;
use crate::lists;
use crate::relatives::CuckooInLockStep;
use crate::source::{Exhausted, Source};
use twiceshy::QuotientFilter;
use twiceshy::cuckoo::{AdaptiveCuckooFilter, Bins, CuckooFilter, Packing, Scheme, VacuumFilter};
use twiceshy::hash::Seed;
use twiceshy::raw::{
    Alphabet, CODE_BITS, Coder, Coding, Extension, Extensions, Selector, Selectors,
};

/// Plays the [conformance suite](conformance) on a plain quotient filter as the bytes say.
///
/// # Panics
/// If the filter did anything wrong.
pub fn fuzz_plain(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    let measures = |source: &mut Source<'_>| -> Result<_, Exhausted> {
        Ok((1 + source.below(200)?, 1 + source.below(12)? as u32))
    };
    let Ok((slots, remainder_bits)) = measures(&mut source) else {
        return;
    };
    let filter = QuotientFilter::builder()
        .hash::<Chosen>()
        .slots(slots)
        .remainder_bits(remainder_bits)
        .seed(Seed::from_u64(0))
        .build()
        .expect("a small filter");
    if let Err(error) = conformance::run(filter, &mut source, u64::MAX) {
        panic!("{slots} slots, {remainder_bits} bits: {error}");
    }
}

/// Plays the [game of the adaptive filter](adaptive) as the bytes say.
///
/// # Panics
/// If the filter did anything wrong.
pub fn fuzz_adaptive(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    let Ok(setting) = Setting::any(&mut source) else {
        return;
    };
    if let Err(error) = adaptive::run(setting, &mut source, u64::MAX) {
        panic!("{error}");
    }
}

/// Plays the [game of the dynamic lists](lists) as the bytes say.
///
/// # Panics
/// If a list did anything wrong.
pub fn fuzz_lists(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    if let Err(error) = lists::play_any(&mut source, u64::MAX) {
        panic!("{error}");
    }
}

/// Plays the [game of the telescoping and extension filters](keyed) as the bytes say.
///
/// # Panics
/// If the filter did anything wrong.
pub fn fuzz_telescoping(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    let Ok(player) = source.pick(&keyed::PLAYERS) else {
        return;
    };
    if let Err(error) = keyed::run(player, &mut source, u64::MAX) {
        panic!("{error}");
    }
}

/// Codes symbols as the bytes say, and decodes any number.
///
/// # Panics
/// If symbols are lost, or a number decodes to what it can't stand for.
pub fn fuzz_code(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    let Ok(width) = source.below(57) else { return };
    let result = if width == 0 {
        let symbol = |source: &mut Source<'_>| -> Result<Extension, Exhausted> {
            let len = 1 + source.below(u64::from(Extension::MAX_LEN))?;
            let bits = source.below(1 << len)?;
            Ok(Extension::new(len as u32, bits).unwrap_or_default())
        };
        code_symbols(&Coder::new(Extensions), &mut source, symbol)
    } else {
        let coder = Coder::new(Selectors::for_width(width as u32));
        let symbol = |source: &mut Source<'_>| -> Result<Selector, Exhausted> {
            Ok(1 + source.below(u64::from(Selectors::MAX))? as Selector)
        };
        code_symbols(&coder, &mut source, symbol)
    };
    // The bytes end somewhere.
    result.unwrap_or(());
}

/// Moves the symbols of a number from some slot up to one without: as if coded afresh.
fn raise_symbols<A: Alphabet>(coder: &Coder<A>, number: u64, symbols: &[(u32, A::Symbol)]) {
    let low = (number % 64) as u32;
    let is_free = |slot: &u32| symbols.iter().all(|(other, _)| other != slot);
    // Up to the first free slot, and up to the last.
    for high in [(low..64).find(is_free), (low..64).rfind(is_free)] {
        let high = high.unwrap_or(64);
        let raised = symbols.iter().map(|&(slot, symbol)| {
            let moves = (low..high).contains(&slot);
            (slot + u32::from(moves), symbol)
        });
        let out = raised.clone().find(|&(slot, _)| slot == 64);
        let out = out.map_or_else(A::Symbol::default, |(_, symbol)| symbol);
        let code = coder.encode(raised.filter(|&(slot, _)| slot < 64));
        let stays = symbols.iter().all(|(slot, _)| !(low..high).contains(slot));
        // A number that is no code is left alone where nothing moves.
        let expected = code.map(|code| (if stays { number } else { code }, out));
        let result = coder.raise(number, low, high, A::Symbol::default());
        // Nor need it be understood to its end.
        let is_code = coder.encode(symbols.iter().copied()) == Some(number);
        assert!(result == expected || (result.is_none() && !is_code));
        // The short way, where it can be gone.
        let mut lane = [0; 7];
        Coder::<A>::store(&mut lane, number);
        if coder.raise_few(&mut lane, low, high) {
            let raised = Coder::<A>::load(&lane);
            assert_eq!(expected, Some((raised, A::Symbol::default())));
        }
    }
}

fn code_symbols<A: Alphabet>(
    coder: &Coder<A>,
    source: &mut Source<'_>,
    mut symbol: impl FnMut(&mut Source<'_>) -> Result<A::Symbol, Exhausted>,
) -> Result<(), Exhausted> {
    loop {
        // Any number is refused, or is the code of what it decodes to.
        let number = source.word()? >> 8;
        let decoded: Vec<_> = coder.decode(number).collect();
        let code = coder.encode(decoded.iter().copied());
        // The highest numbers are lists. Of those most are no words, and neither is a lower
        // number whose symbols can be listed.
        let is_list = |number: u64| number >= 0xff << 48;
        assert!(
            code.is_some_and(|code| code <= number || is_list(code)),
            "{number}"
        );
        if code == Some(number) || !code.is_some_and(is_list) && !is_list(number) {
            raise_symbols(coder, number, &decoded);
        }
        let mut symbols = Vec::new();
        let mut slot = source.below(64)? as u32;
        while slot < 64 {
            symbols.push((slot, symbol(source)?));
            slot += 1 + source.below(64)? as u32;
        }
        if let Some(code) = coder.encode(symbols.iter().copied()) {
            assert!(code < 1 << CODE_BITS);
            assert!(
                coder.decode(code).eq(symbols.iter().copied()),
                "{symbols:?}"
            );
            raise_symbols(coder, code, &symbols);
            for to in 0..64 {
                let clear = symbols.first().is_none_or(|&(slot, _)| slot > to);
                assert_eq!(coder.is_clear(code, 0, to), clear);
            }
        }
    }
}

/// Gives the bytes the checksum of a file and loads them in every way; see [`files`].
///
/// # Panics
/// If a loader did anything wrong.
pub fn fuzz_loader(data: &[u8]) {
    let mut bytes = data.to_vec();
    files::repair(&mut bytes);
    files::judge(&bytes);
}

/// Plays the [conformance suite](conformance) on a cuckoo or vacuum filter, plain or
/// semi-sorted, or on an adaptive cuckoo filter with its keys, as the bytes say.
///
/// # Panics
/// If the filter did anything wrong.
pub fn fuzz_cuckoo(data: &[u8]) {
    let mut source = Source::from_bytes(data);
    let measures = |source: &mut Source<'_>| -> Result<_, Exhausted> {
        let kind = source.below(8)?;
        Ok((kind, 1 + source.below(40)?, 4 + source.below(29)? as u32))
    };
    let Ok((kind, buckets, bits)) = measures(&mut source) else {
        return;
    };
    let packing = match kind {
        1 | 3 => Packing::SemiSorted,
        _ => Packing::Whole,
    };
    let adaptive = |scheme, layout| {
        let builder = AdaptiveCuckooFilter::builder(scheme).hash::<Chosen>();
        let builder = builder.bins(buckets).fingerprint_bits(bits).layout(layout);
        CuckooInLockStep::new(builder.seed(Seed::from_u64(0))).expect("a small filter")
    };
    let result = match kind {
        0 | 1 => {
            let builder = CuckooFilter::builder().hash::<Chosen>().packing(packing);
            let filter = builder.buckets(buckets).fingerprint_bits(bits);
            let filter = filter.seed(Seed::from_u64(0)).build();
            conformance::run(filter.expect("a small filter"), &mut source, u64::MAX)
        }
        2 | 3 => {
            let builder = VacuumFilter::builder().hash::<Chosen>().packing(packing);
            let filter = builder.buckets(buckets).fingerprint_bits(bits);
            let filter = filter.seed(Seed::from_u64(0)).build();
            conformance::run(filter.expect("a small filter"), &mut source, u64::MAX)
        }
        4 => {
            let filter = adaptive(Scheme::Swapping, Bins::TwoOfFour);
            conformance::run(filter, &mut source, u64::MAX)
        }
        5 => {
            let filter = adaptive(Scheme::Cuckooing, Bins::FourOfOne);
            conformance::run(filter, &mut source, u64::MAX)
        }
        selector_bits => {
            let selector_bits = selector_bits as u32 - 5;
            let filter = adaptive(Scheme::Cyclic { selector_bits }, Bins::FourOfOne);
            conformance::run(filter, &mut source, u64::MAX)
        }
    };
    if let Err(error) = result {
        panic!("kind {kind}, {buckets} buckets, {bits} bits: {error}");
    }
}
