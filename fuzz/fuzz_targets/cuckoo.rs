//! The cuckoo filters against their oracle.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| twiceshy_testing::fuzz::fuzz_cuckoo(data));
