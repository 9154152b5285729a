//! Words and how often they are used, from the lists of `wordfreq`.
//!
//! A list is MessagePack: an array whose first item describes it, and whose item `1 + n` is the
//! array of the words with a frequency of `10^(-n / 100)`. Only what such a list has is read.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use super::fetch::files_below;
use super::{Made, bytes};
use crate::Result;

/// All words of all languages, each language with the same weight: frequency, tab, word.
pub(super) fn wordfreq(root: &Path) -> Result<Vec<Made>> {
    let mut words: BTreeMap<String, f64> = BTreeMap::new();
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let files = files_below(root)?;
    let names: Vec<String> = files.iter().filter_map(|path| name(path)).collect();
    let mut languages = 0;
    for path in &files {
        let Some(list) = name(path) else { continue };
        let Some(language) = list.strip_suffix(".msgpack.gz") else {
            continue;
        };
        // The small list of a language is a part of the large one, if it has one.
        let is_list = match language.split_once('_') {
            Some(("large", _)) => true,
            Some(("small", code)) => !names.contains(&format!("large_{code}.msgpack.gz")),
            _ => false,
        };
        if is_list {
            languages += 1;
            for (word, frequency) in read(&bytes(Command::new("gzip").arg("-dc").arg(path))?)? {
                *words.entry(word).or_default() += frequency;
            }
        }
    }
    if words.is_empty() {
        return Err("the package has another form than expected: there are no lists".into());
    }
    let mut text = String::new();
    for (word, frequency) in &words {
        writeln!(text, "{:.3e}\t{word}", frequency / f64::from(languages))?;
    }
    Ok(vec![("words.tsv", text)])
}

/// The words of one list.
fn read(list: &[u8]) -> Result<Vec<(String, f64)>> {
    let mut rest = Reader(list);
    let mut words = Vec::new();
    let bins = rest.array()?;
    rest.skip_map()?;
    for centibels in 0..bins.saturating_sub(1) {
        let frequency = 10_f64.powf(f64::from(centibels) / -100.0);
        for _ in 0..rest.array()? {
            words.push((rest.string()?.to_owned(), frequency));
        }
    }
    Ok(words)
}

/// What is left to read.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        let (taken, rest) = (self.0.split_at_checked(count)).ok_or("a list of words ends early")?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number of so many bytes, the highest first.
    fn number(&mut self, bytes: usize) -> Result<u32> {
        let bytes = self.take(bytes)?.iter();
        Ok(bytes.fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    fn array(&mut self) -> Result<u32> {
        match self.number(1)? {
            tag @ 0x90..=0x9f => Ok(tag & 0xf),
            0xdc => self.number(2),
            0xdd => self.number(4),
            _ => Err("a list of words has no array where one should be".into()),
        }
    }

    fn string(&mut self) -> Result<&'b str> {
        let length = match self.number(1)? {
            tag @ 0xa0..=0xbf => tag & 0x1f,
            0xd9 => self.number(1)?,
            0xda => self.number(2)?,
            _ => return Err("a list of words has no word where one should be".into()),
        };
        Ok(std::str::from_utf8(self.take(length as usize)?)?)
    }

    /// The description: names, and short strings or small numbers.
    fn skip_map(&mut self) -> Result {
        let tag @ 0x80..=0x8f = self.number(1)? else {
            return Err("a list of words has no description".into());
        };
        for _ in 0..tag & 0xf {
            self.string()?;
            match self.0.first() {
                Some(0..0x80) => self.number(1).map(drop)?,
                _ => self.string().map(drop)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = b"\x95\x82\xa6format\xa2cB\xa7version\x01\x90\x91\xa3the\x90\
                          \xdc\x00\x02\xa2to\xd9\x03and";

    #[test]
    fn a_word_has_the_frequency_of_its_bin() {
        let words = read(LIST).unwrap();
        let names: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(names, ["the", "to", "and"]);
        assert_eq!(words[0].1, 10_f64.powf(-0.01));
        assert_eq!(words[1].1, 10_f64.powf(-0.03));
    }

    #[test]
    fn a_list_that_ends_early_is_an_error() {
        for end in 0..LIST.len() {
            assert!(read(&LIST[..end]).is_err(), "{end}");
        }
        assert!(read(b"\x92\x80\xc0").is_err());
    }
}
