//! Running other programs: every command line is printed before it runs, so that it
//! can be repeated by hand.

use std::io::{self, Write};
use std::process::{Command, ExitStatus, Stdio};

use crate::Result;

/// Prints the command, runs it with the terminal as its output, and fails unless it
/// succeeds.
pub(crate) fn run(command: &mut Command) -> Result {
    announce(command);
    let status = command
        .status()
        .map_err(|error| unstarted(command, &error))?;
    expect_success(command, status)
}

/// Runs the command and returns what it wrote to standard output.
pub(crate) fn stdout(command: &mut Command) -> Result<String> {
    Ok(String::from_utf8(stdout_bytes(command)?)?)
}

/// The same, if that is no text.
pub(crate) fn stdout_bytes(command: &mut Command) -> Result<Vec<u8>> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| unstarted(command, &error))?;
    expect_success(command, output.status)?;
    Ok(output.stdout)
}

/// Runs the command and returns what it wrote to standard error, where valgrind
/// reports. A failure shows all of it.
pub(crate) fn stderr(command: &mut Command) -> Result<String> {
    let output = command
        .stdout(Stdio::null())
        .output()
        .map_err(|error| unstarted(command, &error))?;
    if !output.status.success() {
        io::stderr().write_all(&output.stderr)?;
    }
    expect_success(command, output.status)?;
    Ok(String::from_utf8(output.stderr)?)
}

/// Does the command start and succeed? Its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Prints the command line as a shell would take it.
pub(crate) fn announce(command: &Command) {
    println!("$ {}", line(command));
}

/// The command line as a shell would take it, the variables that it sets first.
fn line(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        let value = quoted(&value?.to_string_lossy());
        Some(format!("{}={value}", name.to_string_lossy()))
    });
    let words = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| quoted(&word.to_string_lossy()));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_+=./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn unstarted(command: &Command, error: &io::Error) -> String {
    let program = command.get_program().to_string_lossy();
    format!("`{program}` could not be started: {error}")
}

fn expect_success(command: &Command, status: ExitStatus) -> Result {
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` failed ({status})", line(command)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_pasted_into_a_shell() {
        let mut command = Command::new("cargo");
        command
            .args(["test", "--name", "it's", ""])
            .env("RUSTFLAGS", "--cfg x")
            .env_remove("IGNORED");
        let expected = r"RUSTFLAGS='--cfg x' cargo test --name 'it'\''s' ''";
        assert_eq!(line(&command), expected);
    }
}
