//! Keys that are answered one by one.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Format, FormatArgs, Input, argument, bytes_of};
use crate::exit::{Outcome, Status};
use crate::shell::{Out, Shell};

/// One key as an argument, or many in a file or a stream.
#[derive(Args, Clone, Debug)]
pub(crate) struct Questions {
    /// One key; without it, or if it is `-`, keys are read from the input, one a line
    #[arg(value_name = "KEY", conflicts_with = "input")]
    key: Option<OsString>,
    /// Where keys are read from; `-` is standard input
    #[arg(long, short, default_value = "-", value_name = "FILE")]
    input: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

/// What there is to say about a key.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// In a word: `maybe`, `no`, `found`, …
    pub(crate) word: &'static str,
    /// Is it the answer that ends with 0 for a single key?
    pub(crate) is_yes: bool,
    /// A record's value, as text.
    pub(crate) value: Option<Vec<u8>>,
}

impl Reply {
    /// One of two words.
    pub(crate) fn new(is_yes: bool, yes: &'static str, no: &'static str) -> Self {
        Reply {
            word: if is_yes { yes } else { no },
            is_yes,
            value: None,
        }
    }
}

/// Keys that are there to be answered.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The one that was an argument, with its text.
    One { text: Vec<u8>, key: Vec<u8> },
    /// Those of an input.
    Many(Input, Format),
}

impl Questions {
    /// Opens the input, if there is one.
    pub(crate) fn open(&self, shell: &Shell) -> Outcome<Asked> {
        let format = self.format.format;
        match self.key.as_ref().filter(|&key| key != "-") {
            Some(text) => Ok(Asked::One {
                text: bytes_of(text),
                key: argument(text, format)?,
            }),
            None => Ok(Asked::Many(Input::open(&self.input, shell)?, format)),
        }
    }
}

impl Asked {
    /// Answers all of them in their order.
    pub(crate) fn answer(
        self,
        shell: &Shell,
        mut answer: impl FnMut(&[u8]) -> Outcome<Reply>,
    ) -> Outcome<Status> {
        let mut out = shell.out();
        let status = match self {
            Asked::One { text, key } => {
                let reply = answer(&key)?;
                write(&mut out, shell, &text, &reply)?;
                Status::yes_if(reply.is_yes)
            }
            Asked::Many(input, format) => {
                let mut lines = input.lines_with_bar("answering", &shell.while_printing());
                while let Some(line) = lines.next_key(format)? {
                    let reply = answer(line.key)?;
                    write(&mut out, shell, line.text, &reply)?;
                    if lines.is_drained() {
                        // Whoever asks one question at a time gets each answer before the next.
                        out.flush()?;
                    }
                }
                Status::Success
            }
        };
        out.finish()?;
        Ok(status)
    }
}

fn write(out: &mut Out, shell: &Shell, key: &[u8], reply: &Reply) -> Outcome<()> {
    let value = reply.value.as_deref();
    if shell.is_json() {
        return out.json(&Line {
            key,
            answer: Some(reply.word),
            value,
        });
    }
    match value {
        Some(value) => out.line(&[key, reply.word.as_bytes(), value]),
        None => out.line(&[key, reply.word.as_bytes()]),
    }
}

/// A line of JSON about a key: `{"key": …, "answer": …, "value": …}`. What is no Unicode goes
/// under `key_hex` or `value_hex` instead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) answer: Option<&'static str>,
    pub(crate) value: Option<&'a [u8]>,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut put = |name: &str, bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => map.serialize_entry(name, text),
            Err(_) => {
                let mut hex = Vec::new();
                // Hexadecimal digits can write everything.
                let _ = Format::Hex.encode(bytes, &mut hex);
                map.serialize_entry(&format!("{name}_hex"), &String::from_utf8_lossy(&hex))
            }
        };
        put("key", self.key)?;
        if let Some(answer) = self.answer {
            put("answer", answer.as_bytes())?;
        }
        if let Some(value) = self.value {
            put("value", value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_can_say_any_bytes() {
        let line = |key, value| {
            let answer = Some("found");
            serde_json::to_string(&Line { key, answer, value }).unwrap()
        };
        assert_eq!(line(b"a\"", None), r#"{"key":"a\"","answer":"found"}"#);
        assert_eq!(
            line(b"\xff", Some(b"\xfe\0")),
            r#"{"key_hex":"ff","answer":"found","value_hex":"fe00"}"#
        );
    }
}
