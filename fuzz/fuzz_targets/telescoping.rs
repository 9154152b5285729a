//! The telescoping and extension filters against the set of their keys.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| twiceshy_testing::fuzz::fuzz_telescoping(data));
