//! How bytes are written as text.

use anyhow::{Context, anyhow, bail};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use clap::ValueEnum;

use crate::exit::Outcome;

/// How keys (or values) are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// As they are, one a line
    #[default]
    Line,
    /// Hexadecimal digits, two a byte
    Hex,
    /// Base64 with the standard alphabet; padding may be left out
    Base64,
    /// Decimal numbers from 0 to 2^64 - 1, stored as eight bytes, the lowest first
    U64,
}

/// With padding on the way out, with or without it on the way in.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Format {
    /// Appends the bytes that `text` stands for.
    pub(crate) fn decode(self, text: &[u8], bytes: &mut Vec<u8>) -> Outcome<()> {
        match self {
            Format::Line => bytes.extend_from_slice(text),
            Format::Hex => decode_hex(text, bytes)?,
            Format::Base64 => BASE64
                .decode_vec(text, bytes)
                .map_err(|error| anyhow!("`{}` is not base64: {error}", show(text)))?,
            Format::U64 => {
                let number = std::str::from_utf8(text).ok().map(str::parse::<u64>);
                let number = number.context("not text").and_then(|number| Ok(number?));
                let number = number.map_err(|error| {
                    anyhow!("`{}` is no number from 0 to 2^64 - 1: {error}", show(text))
                })?;
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        Ok(())
    }

    /// Appends `bytes` as text.
    pub(crate) fn encode(self, bytes: &[u8], text: &mut Vec<u8>) -> Outcome<()> {
        match self {
            Format::Line => text.extend_from_slice(bytes),
            Format::Hex => {
                for byte in bytes {
                    text.extend([byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]));
                }
            }
            Format::Base64 => text.extend_from_slice(BASE64.encode(bytes).as_bytes()),
            Format::U64 => match bytes.try_into() {
                Ok(bytes) => {
                    text.extend_from_slice(u64::from_le_bytes(bytes).to_string().as_bytes());
                }
                Err(_) => bail!(
                    "a key of {} bytes is no number of 8 bytes; use `--format hex`",
                    bytes.len()
                ),
            },
        }
        Ok(())
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

fn decode_hex(text: &[u8], bytes: &mut Vec<u8>) -> Outcome<()> {
    if !text.len().is_multiple_of(2) {
        bail!(
            "`{}` has {} hexadecimal digits, where two make a byte; put a 0 in front of the first",
            show(text),
            text.len()
        );
    }
    let digit = |digit: u8| match char::from(digit).to_digit(16) {
        Some(value) => Ok(value as u8),
        None => Err(anyhow!(
            "`{}` has other characters than 0-9, a-f and A-F",
            show(text)
        )),
    };
    for pair in text.chunks_exact(2) {
        bytes.push(digit(pair[0])? << 4 | digit(pair[1])?);
    }
    Ok(())
}

/// The text in a message: not too long, and nothing that a terminal would act on.
fn show(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    let start = &text[..text.len().min(LONGEST)];
    let dots = if text.len() > LONGEST { "…" } else { "" };
    format!("{}{dots}", start.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(format: Format, text: &str, bytes: &[u8]) {
        let mut decoded = Vec::new();
        format.decode(text.as_bytes(), &mut decoded).unwrap();
        assert_eq!(decoded, bytes);
        let mut encoded = Vec::new();
        format.encode(bytes, &mut encoded).unwrap();
        assert_eq!(encoded, text.as_bytes());
    }

    #[test]
    fn every_format_reads_what_it_writes() {
        there_and_back(Format::Line, "päär", "päär".as_bytes());
        there_and_back(Format::Line, "", b"");
        there_and_back(Format::Hex, "00ff0a", &[0, 255, 10]);
        there_and_back(Format::Base64, "AP8K", &[0, 255, 10]);
        there_and_back(Format::Base64, "AA==", &[0]);
        there_and_back(Format::U64, "258", &[2, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn what_can_be_meant_is_taken() {
        let mut bytes = Vec::new();
        Format::Hex.decode(b"AbCd", &mut bytes).unwrap();
        Format::Base64.decode(b"AA", &mut bytes).unwrap();
        assert_eq!(bytes, [0xab, 0xcd, 0]);
    }

    #[test]
    fn the_rest_is_an_error_that_quotes_it() {
        let error = |format: Format, text: &[u8]| {
            let result = format.decode(text, &mut Vec::new());
            result.unwrap_err().to_string()
        };
        assert!(error(Format::Hex, b"abc").contains("`abc` has 3"));
        assert!(error(Format::Hex, b"zz").contains("`zz`"));
        assert!(error(Format::Base64, b"*").contains("base64"));
        assert!(error(Format::U64, b"-1").contains("`-1`"));
        assert!(error(Format::U64, b"18446744073709551616").contains("2^64"));
        assert!(error(Format::Hex, b"\x1b[31").contains("\\x1b"));
        let result = Format::U64.encode(b"abc", &mut Vec::new());
        assert!(result.unwrap_err().to_string().contains("--format hex"));
    }
}
