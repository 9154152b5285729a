//! Parts of the inside, for this project's own tests alone. There is no promise about anything
//! here: it changes with any version.

pub use crate::filters::coded::code::{
    Alphabet, CODE_BITS, Coder, Coding, Extension, Extensions, Selector, Selectors,
};
pub use crate::table::{Bare, Mark, Marks, Slot, Table, TableOptions, Writer};
