//! How the program ends: exit codes, and errors that say what to do next.
//!
//! | code | when |
//! | --- | --- |
//! | 0 | success; also "no" for keys that came in a stream |
//! | 1 | "no" or absent for the one key that was an argument |
//! | 2 | an error, the command line's included |
//!
//! A reader that goes away (`twiceshy … | head`) is no error and no message: what was asked
//! for is done. Where it is not, because each answer is a change, it is an error.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::anyhow;

/// What commands return.
pub(crate) type Outcome<T> = anyhow::Result<T>;

/// How a command ended, if it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done.
    Success,
    /// The one key that was asked for is not there.
    No,
}

impl Status {
    /// `Success` if the one key that was asked for is there.
    pub(crate) fn yes_if(yes: bool) -> Self {
        if yes { Status::Success } else { Status::No }
    }
}

/// An error, and what to do about it.
#[derive(Debug)]
struct Hint {
    error: anyhow::Error,
    next: String,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", chain(&self.error), self.next)
    }
}

impl std::error::Error for Hint {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.error)
    }
}

/// Adds to an error what to do next.
pub(crate) trait OrHint<T> {
    /// `next` ends the sentence that the error begins, behind a semicolon.
    fn or_hint(self, next: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: Into<anyhow::Error>> OrHint<T> for Result<T, E> {
    fn or_hint(self, next: impl FnOnce() -> String) -> Outcome<T> {
        self.map_err(|error| {
            let (error, next) = (error.into(), next());
            Hint { error, next }.into()
        })
    }
}

/// Both outcomes of which neither hides the other: two errors become one.
pub(crate) fn both<T>(one: Outcome<T>, other: Outcome<()>) -> Outcome<T> {
    match (one, other) {
        (Err(one), Err(other)) => Err(anyhow!("{}; and {}", chain(&one), chain(&other))),
        (one, Ok(())) => one,
        (Ok(_), Err(other)) => Err(other),
    }
}

/// Ends the program: prints the error, if there is one.
pub(crate) fn code(outcome: Outcome<Status>) -> ExitCode {
    match outcome {
        Ok(Status::Success) => ExitCode::SUCCESS,
        Ok(Status::No) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::from(2)
        }
    }
}

/// Prints an error.
pub(crate) fn report(error: &anyhow::Error) {
    // Where nobody listens, the exit code still tells.
    let _ = writeln!(io::stderr(), "twiceshy: {}", chain(error));
}

/// Did whoever reads our output go away?
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes.any(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The error and its causes, those left out that it has already told.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if text.contains(&cause) {
            continue;
        }
        let colon = if text.is_empty() { "" } else { ": " };
        text += &format!("{colon}{cause}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn an_error_is_told_once_with_its_cause_and_what_to_do() {
        let cause: Outcome<()> = Err(anyhow!("no such file"));
        let error = cause.context("opening keys.txt");
        let error = error.or_hint(|| "check the path".into()).unwrap_err();
        assert_eq!(
            chain(&error),
            "opening keys.txt: no such file; check the path"
        );
    }

    #[test]
    fn neither_of_two_errors_is_lost() {
        let error = |text: &str| -> Outcome<()> { Err(anyhow!(text.to_owned())) };
        let text = |outcome: Outcome<()>| chain(&outcome.unwrap_err());
        assert!(both(Ok(()), Ok(())).is_ok());
        assert_eq!(text(both(error("read"), Ok(()))), "read");
        assert_eq!(text(both(Ok(()), error("close"))), "close");
        assert_eq!(text(both(error("read"), error("close"))), "read; and close");
    }

    #[test]
    fn a_broken_pipe_is_found_below_other_words() {
        let pipe = io::Error::from(io::ErrorKind::BrokenPipe);
        let error: Outcome<()> = Err(pipe).context("writing answers");
        assert!(is_broken_pipe(&error.unwrap_err()));
    }
}
