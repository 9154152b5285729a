//! Words of bits: rank, select, packed slots, and the choice of instructions.
//!
//! This is the one place with unsafe code: intrinsics, choices spelled out in assembly, numbers
//! that can't be too large, and reads and writes of a block or a cell whose bytes were counted
//! when the table was made. Every fast routine has a portable twin with the same surface; the
//! twin is the oracle of the fast one in tests, and `--cfg twiceshy_portable` makes it the only
//! one. What [`dispatch`] expands to elsewhere are calls of functions that were compiled for
//! instructions, each behind the flag that says that the machine has them.

#[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
mod avx2_scan;
#[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
mod avx512;
#[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
mod avx512_room;
mod below;
mod blocks;
mod cells;
mod choose;
mod cpu;
mod dispatch;
#[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
#[cfg_attr(
    not(twiceshy_has_avx512),
    allow(dead_code, reason = "some are for vectors only")
)]
mod masks;
mod packed;
mod prefetch;
mod raw_block;
mod register;
mod scan;
mod select;
mod two_blocks;
mod word;

#[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
pub(crate) use avx2::Avx2;
#[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
pub(crate) use avx512::Avx512;
pub use below::Below;
pub use blocks::{Blocks, Bytes, Lane, OpenBlocks, bytes_of_blocks};
pub use cells::{AtBits, AtBytes, Cells, Starts, bytes_of_cells};
pub use choose::first_marked;
#[cfg(test)]
pub use cpu::Operation;
pub use cpu::{Cpu, Isa, Portable};
#[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
pub(crate) use dispatch::OnAvx2;
#[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
pub(crate) use dispatch::OnAvx512;
pub(crate) use dispatch::{OnAny, dispatch};
pub use packed::Packed;
pub use prefetch::prefetch;
pub use raw_block::{RawBlock, RawBlockMut};
pub use register::in_register;
pub use scan::SlotScan;
pub use two_blocks::TwoBlocks;
pub use word::{
    load_word, mask_below, mask_through, open_bit, rank_through, shift_bits_down, shift_bits_up,
    store_word,
};
