//! The coder of a block's letters: nothing is lost.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| twiceshy_testing::fuzz::fuzz_code(data));
