//! Every experiment at the smallest scale, end to end; and verdicts that can fail.

use super::*;
