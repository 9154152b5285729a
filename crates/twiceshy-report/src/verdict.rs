//! What became of a claim.

/// Whether a claim came out true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It doesn't.
    Fails,
    /// It could not be judged here.
    Open,
}

impl Verdict {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "doesn't hold",
            Verdict::Open => "not judged",
        }
    }

    pub(crate) const fn class(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::Open => "open",
        }
    }
}
