//! The program as a user runs it: in a directory of its own, with a shell's eyes on it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file takes what it needs, and a failure here is a failed test"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A place to work in.
pub struct Desk {
    folder: TempDir,
}

/// What the program said.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: String,
}

impl Desk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Desk { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The program, ready to start with these words (no quotes, no spaces in them).
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_twiceshy"));
        command.args(line.split_whitespace());
        command.current_dir(self.folder.path());
        command
    }

    /// Runs it with nothing to read.
    pub fn run(&self, line: &str) -> Said {
        self.feed(line, "")
    }

    /// Runs it with this on standard input.
    pub fn feed(&self, line: &str, input: impl AsRef<[u8]>) -> Said {
        feed(self.command(line), input.as_ref())
    }

    /// Runs it, and demands that it ends with 0 and says nothing on standard error.
    pub fn ok(&self, line: &str) -> String {
        self.feed_ok(line, "")
    }

    pub fn feed_ok(&self, line: &str, input: impl AsRef<[u8]>) -> String {
        let said = self.feed(line, input);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{line}");
        said.text()
    }

    /// Runs it, and demands an error: exit code 2, a message, and nothing else.
    pub fn fails(&self, line: &str) -> String {
        self.feed_fails(line, "")
    }

    pub fn feed_fails(&self, line: &str, input: impl AsRef<[u8]>) -> String {
        let said = self.feed(line, input);
        assert_eq!(said.code, Some(2), "{line}: {said:?}");
        assert!(said.err.starts_with("twiceshy: "), "{line}: {}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{line}: {}", said.err);
        said.err
    }
}

impl Said {
    pub fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Said {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Starts a command with all its ends in hand.
pub fn start(mut command: Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

pub fn feed(command: Command, input: &[u8]) -> Said {
    let mut child = start(command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Both ends at once: neither waits for the other.
    let writer = std::thread::spawn(move || {
        // Whoever fails at once does not read.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

/// A line of JSON.
pub fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Lines from a format.
pub fn lines(numbers: impl IntoIterator<Item = u64>, line: impl Fn(u64) -> String) -> String {
    numbers
        .into_iter()
        .map(|number| line(number) + "\n")
        .collect()
}

/// The library's golden files.
pub fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../twiceshy/tests/golden")
}
