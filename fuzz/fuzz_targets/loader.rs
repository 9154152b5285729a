//! The loaders against the invariants, behind a right checksum.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| twiceshy_testing::fuzz::fuzz_loader(data));
