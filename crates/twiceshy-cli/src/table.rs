//! Names and figures, a line each. (Tables come from `twiceshy_report`.)

/// What is what, a line each: the names to the left, what they are behind them.
pub(crate) fn pairs(lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or(0) + 2;
    let line = |(name, value): &(&str, String)| format!("{name:width$}{value}\n");
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_said_stands_in_one_column() {
        let lines = [
            ("kind", "plain".to_owned()),
            ("error", "1 in 512".to_owned()),
        ];
        assert_eq!(super::pairs(&lines), "kind   plain\nerror  1 in 512\n");
    }
}
