//! Workloads by name: `name` or `name(parameter=value, …)`.

use anyhow::{Context, Result, bail, ensure};

use super::{ALL, Entry};

/// The parameters of a workload, defaults filled in.
pub(crate) struct Parameters {
    values: Vec<(&'static str, f64)>,
}

impl Parameters {
    /// A parameter that may be any number.
    pub(super) fn number(&self, name: &str) -> Result<f64> {
        let found = self.values.iter().find(|(known, _)| *known == name);
        Ok(found.with_context(|| format!("no parameter `{name}`"))?.1)
    }

    /// A parameter that must be greater than zero.
    pub(super) fn positive(&self, name: &str) -> Result<f64> {
        let value = self.number(name)?;
        ensure!(value > 0.0, "`{name}` must be above 0, not {value}");
        Ok(value)
    }

    /// A parameter that is a probability.
    pub(super) fn share(&self, name: &str) -> Result<f64> {
        let value = self.number(name)?;
        ensure!(
            (0.0..=1.0).contains(&value),
            "`{name}` must be from 0 to 1, not {value}"
        );
        Ok(value)
    }

    /// A parameter that counts something, at least `least` and below 2³².
    pub(super) fn count(&self, name: &str, least: u32) -> Result<u32> {
        let value = self.number(name)?;
        ensure!(
            value.fract() == 0.0 && (f64::from(least)..=f64::from(u32::MAX)).contains(&value),
            "`{name}` must be a whole number from {least} on, not {value}"
        );
        Ok(value as u32)
    }
}

/// Takes such a string apart.
pub(super) fn parse(text: &str) -> Result<(&'static Entry, Parameters)> {
    let (name, rest) = match text.split_once('(') {
        Some((name, rest)) => {
            let inside = rest.trim_end().strip_suffix(')');
            (
                name,
                inside.with_context(|| format!("`{text}` lacks its closing bracket"))?,
            )
        }
        None => (text, ""),
    };
    let name = name.trim();
    let Some(entry) = ALL.iter().find(|entry| entry.name == name) else {
        let names: Vec<_> = ALL.iter().map(|entry| entry.name).collect();
        bail!("there is no workload `{name}`, only {}", names.join(", "));
    };
    let mut values = entry.parameters.to_vec();
    for part in rest
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (known, value) = part
            .split_once('=')
            .with_context(|| format!("`{part}` in `{text}` should be `parameter=value`"))?;
        let Some(place) = values.iter_mut().find(|(name, _)| *name == known.trim()) else {
            let names: Vec<_> = entry.parameters.iter().map(|(name, _)| *name).collect();
            bail!(
                "`{name}` has no parameter `{known}`, only {}",
                names.join(", ")
            );
        };
        let value: f64 = value
            .trim()
            .parse()
            .with_context(|| format!("`{known}` in `{text}` should be a number"))?;
        ensure!(
            value.is_finite(),
            "`{known}` in `{text}` should be a number"
        );
        place.1 = value;
    }
    Ok((entry, Parameters { values }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_replace_defaults() {
        let (entry, parameters) = parse("zipf").unwrap();
        assert_eq!(entry.name, "zipf");
        assert_eq!(parameters.number("exponent").unwrap(), 1.5);
        let (_, parameters) = parse(" zipf ( keys = 1e6 , exponent=0.9 )").unwrap();
        assert_eq!(parameters.count("keys", 1).unwrap(), 1_000_000);
        assert_eq!(parameters.positive("exponent").unwrap(), 0.9);
    }

    #[test]
    fn what_makes_no_sense_is_an_error_that_says_what_does() {
        for (text, says) in [
            ("zipff", "uniform, zipf"),
            ("zipf(s=1)", "exponent, keys"),
            ("zipf(keys=10", "closing"),
            ("zipf(keys)", "parameter=value"),
            ("zipf(keys=many)", "number"),
            ("zipf(keys=NaN)", "number"),
            ("zipf(keys=0.5)", "whole number"),
            ("zipf(keys=-1)", "whole number"),
            ("zipf(exponent=0)", "above 0"),
            ("trace(train=1.5)", "from 0 to 1"),
        ] {
            let error = super::super::open(text, 1).err().unwrap().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
