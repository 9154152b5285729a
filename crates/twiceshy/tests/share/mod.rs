//! A part of a long test, for slow machines: under an emulator or a sanitizer, the
//! environment variable `TWICESHY_TEST_SHARE=8` leaves an eighth of the cases.

use std::env;

/// What to divide the number of cases by: 1 unless the environment says otherwise.
pub fn divisor() -> usize {
    let Ok(text) = env::var("TWICESHY_TEST_SHARE") else {
        return 1;
    };
    match text.parse() {
        Ok(divisor) if divisor > 0 => divisor,
        _ => panic!("TWICESHY_TEST_SHARE={text} is not a number from 1 on"),
    }
}
