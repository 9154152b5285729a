//! The dynamic YES/NO lists against a pair of sets.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| twiceshy_testing::fuzz::fuzz_lists(data));
