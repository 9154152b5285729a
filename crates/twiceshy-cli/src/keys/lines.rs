//! Lines of an input, one at a time.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, bail};

use super::Format;
use crate::exit::{OrHint, Outcome};
use crate::shell::{Progress, Shell, Unit};

/// The longest line. A file without line ends must not fill the memory.
const LONGEST_LINE: usize = 64 << 20;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 17;

/// A file or standard input, open.
pub(crate) struct Input {
    name: String,
    reader: Box<dyn Read + Send>,
    /// Its length, if it is a file and has one.
    bytes: Option<u64>,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path, shell: &Shell) -> Outcome<Self> {
        if is_stdin(path) {
            if io::stdin().is_terminal() {
                shell.note("reading lines from the terminal; Ctrl-D ends them");
            }
            return Ok(Input {
                name: "standard input".into(),
                reader: Box::new(io::stdin()),
                bytes: None,
            });
        }
        let name = path.display().to_string();
        let file = File::open(path)
            .with_context(|| format!("can't open {name}"))
            .or_hint(|| "check the path, or use `-` for standard input".into())?;
        let metadata = file
            .metadata()
            .with_context(|| format!("can't open {name}"))?;
        if metadata.is_dir() {
            bail!("{name} is a directory; give a file with one key a line");
        }
        Ok(Input {
            name,
            reader: Box::new(file),
            bytes: metadata.is_file().then_some(metadata.len()),
        })
    }

    /// Anything else that can be read.
    #[cfg(test)]
    pub(crate) fn of_reader(name: &str, reader: Box<dyn Read + Send>) -> Self {
        Input {
            name: name.to_owned(),
            reader,
            bytes: None,
        }
    }

    /// A progress bar of the bytes that are read.
    pub(crate) fn progress(&self, what: &str, shell: &Shell) -> Progress {
        shell.progress(what, Unit::Bytes, self.bytes)
    }

    /// Its lines.
    pub(crate) fn lines(self) -> Lines {
        Lines {
            name: self.name,
            reader: BufReader::with_capacity(BUFFER, self.reader),
            bar: None,
            line: Vec::new(),
            key: Vec::new(),
            number: 0,
            bytes: 0,
        }
    }

    /// Its lines, and a bar that shows how far they are read.
    pub(crate) fn lines_with_bar(self, what: &str, shell: &Shell) -> Lines {
        let bar = Some(self.progress(what, shell));
        Lines {
            bar,
            ..self.lines()
        }
    }
}

/// Does `-` stand for standard input here?
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The lines of an input, each without its end.
pub(crate) struct Lines {
    name: String,
    reader: BufReader<Box<dyn Read + Send>>,
    bar: Option<Progress>,
    line: Vec<u8>,
    /// The key of the line, where that is not the line itself.
    key: Vec<u8>,
    number: u64,
    bytes: u64,
}

/// A key, and the text that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyLine<'l> {
    pub(crate) text: &'l [u8],
    pub(crate) key: &'l [u8],
}

impl Lines {
    /// The next line, or `None` at the end.
    pub(crate) fn next_line(&mut self) -> Outcome<Option<&[u8]>> {
        if let Some(bar) = &self.bar
            && self.is_drained()
        {
            bar.set(self.bytes);
        }
        self.line.clear();
        let most = LONGEST_LINE as u64 + 1;
        let read = (&mut self.reader)
            .take(most)
            .read_until(b'\n', &mut self.line);
        let read = read.with_context(|| format!("can't read {}", self.name))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += read as u64;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        } else if self.line.len() > LONGEST_LINE {
            bail!(
                "{} is longer than 64 MiB; is this the right file? Keys stand one a line",
                self.place()
            );
        }
        Ok(Some(&self.line))
    }

    /// The next key, or `None` at the end.
    pub(crate) fn next_key(&mut self, format: Format) -> Outcome<Option<KeyLine<'_>>> {
        if self.next_line()?.is_none() {
            return Ok(None);
        }
        if format == Format::Line {
            let text = &self.line[..];
            return Ok(Some(KeyLine { text, key: text }));
        }
        self.key.clear();
        let decoded = format.decode(&self.line, &mut self.key);
        decoded.with_context(|| self.place())?;
        let (text, key) = (&self.line, &self.key);
        Ok(Some(KeyLine { text, key }))
    }

    /// Must the next line wait for whoever writes them?
    pub(crate) fn is_drained(&self) -> bool {
        self.reader.buffer().is_empty()
    }

    /// Where the last line stood, for messages.
    pub(crate) fn place(&self) -> String {
        format!("line {} of {}", self.number, self.name)
    }

    /// Bytes read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("name", &self.name)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &'static [u8]) -> Lines {
        Input::of_reader("here", Box::new(text)).lines()
    }

    #[test]
    fn one_line_end_goes_and_everything_else_stays() {
        let mut lines = lines(b"a\r\nb\r\r\n\n c \nd\r");
        let mut next = || lines.next_line().unwrap().map(<[u8]>::to_vec);
        assert_eq!(next().unwrap(), b"a");
        assert_eq!(next().unwrap(), b"b\r");
        assert_eq!(next().unwrap(), b"");
        assert_eq!(next().unwrap(), b" c ");
        assert_eq!(next().unwrap(), b"d\r"); // no `\n`, so the `\r` is the key's
        assert_eq!(next(), None);
    }

    #[test]
    fn a_bad_key_is_named_by_its_line() {
        let mut lines = lines(b"00\nxy\n");
        let (text, key) = (&b"00"[..], &[0][..]);
        let first = lines.next_key(Format::Hex).unwrap();
        assert_eq!(first, Some(KeyLine { text, key }));
        let error = lines.next_key(Format::Hex).unwrap_err();
        assert!(format!("{error:#}").starts_with("line 2 of here: `xy`"));
    }
}
