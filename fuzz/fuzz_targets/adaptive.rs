//! The adaptive filter against its model.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| twiceshy_testing::fuzz::fuzz_adaptive(data));
