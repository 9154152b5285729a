//! The plain quotient filter against its oracle.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| twiceshy_testing::fuzz::fuzz_plain(data));
