//! Where runs can start and have ended, against the definition.

use super::model::Random;
use crate::quotient::block::Header;
use crate::quotient::{Marks, Unmarked};

/// A header of runs that may be: no end is marked, nor the slot of the offset.
fn header(random: &mut Random) -> Header {
    let offset = (random.word() % 64) as u16;
    // Few, many and nearly all, so that there are tails of all lengths.
    let marked = match random.word() % 3 {
        0 => random.word() & random.word() & random.word(),
        1 => random.word(),
        _ => random.word() | random.word() | random.word(),
    };
    let marked = marked & !(1 << offset);
    Header {
        offset,
        occupieds: random.word(),
        ends: random.word() & !marked,
        marked,
    }
}

/// The slot behind the tail that begins at `slot`, if there is one.
fn behind_tail(header: &Header, slot: u32) -> u32 {
    (slot..64)
        .find(|&slot| header.marked >> slot & 1 == 0)
        .unwrap_or(64)
}

#[test]
fn bounds_are_behind_runs_and_their_tails() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let header = header(&mut random);
        let offset = u32::from(header.offset);
        let own = |slot: &u32| header.own_ends() >> slot & 1 == 1;
        let all = |ends: &dyn Fn(u32) -> u32| {
            let behind = (0..64).filter(own).map(ends).filter(|&slot| slot < 64);
            behind.fold(0_u64, |all, slot| all | 1 << slot)
        };
        let marked = all(&|end| behind_tail(&header, end + 1));
        assert_eq!(header.bounds::<Marks>(), marked | 1 << offset, "{header:?}");
        assert_eq!(header.last_slots::<Marks>(), marked >> 1, "{header:?}");
        let unmarked = all(&|end| end + 1) | 1 << offset;
        assert_eq!(header.bounds::<Unmarked>(), unmarked, "{header:?}");
        assert_eq!(header.last_slots::<Unmarked>(), header.own_ends());
    }
}
