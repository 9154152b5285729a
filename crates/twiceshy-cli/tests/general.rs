//! What holds for all commands: help, manual pages, completions, and the session in the README.
#![allow(clippy::unwrap_used, reason = "a failure in a helper is a failed test")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::Desk;

/// All commands, found as a user would: by following the help.
fn commands(desk: &Desk) -> Vec<String> {
    fn follow(desk: &Desk, path: &str, found: &mut Vec<String>) {
        let help = desk.ok(&format!("{path} --help"));
        found.push(path.to_owned());
        let Some((_, list)) = help.split_once("\nCommands:\n") else {
            return;
        };
        let list = list.split("\n\n").next().unwrap();
        for line in list.lines() {
            let Some(name) = line
                .strip_prefix("  ")
                .and_then(|line| line.split(' ').next())
            else {
                continue;
            };
            if !name.is_empty() && name != "help" {
                follow(desk, &format!("{path} {name}"), found);
            }
        }
    }
    let mut found = Vec::new();
    follow(desk, "", &mut found);
    found
}

#[test]
fn every_help_has_an_example_of_its_own() {
    let desk = Desk::new();
    let commands = commands(&desk);
    assert!(commands.len() >= 24, "{commands:?}");
    for command in commands {
        let help = desk.ok(&format!("{command} --help"));
        let (_, examples) = help
            .split_once("Examples:")
            .unwrap_or_else(|| panic!("{command}"));
        assert!(
            examples.contains(&format!("twiceshy{command}")),
            "{command}"
        );
        for option in ["--json", "--quiet"] {
            assert!(help.contains(option), "{command}");
        }
    }
}

#[test]
fn no_words_at_all_show_the_help() {
    let desk = Desk::new();
    for line in ["", "store", "filter", "list"] {
        let said = desk.run(line);
        assert_eq!(said.code, Some(2), "{line}");
        assert!(said.err.contains("Examples:"), "{line}");
    }
    assert!(desk.ok("--version").starts_with("twiceshy "));
}

#[test]
fn completions_and_manual_pages() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk.ok(&format!("completions {shell}"));
        assert!(
            script.contains("twiceshy") && script.contains("attack"),
            "{shell}"
        );
    }
    assert_eq!(desk.run("completions csh").code, Some(2));
    let page = desk.ok("man");
    assert!(
        page.contains(".TH twiceshy 1") && page.contains("SYNOPSIS"),
        "{page}"
    );
    fs::create_dir(desk.path("man1")).unwrap();
    desk.ok("man --out man1");
    for command in commands(&desk) {
        let name = format!("twiceshy{}.1", command.replace(' ', "-"));
        assert!(desk.path("man1").join(&name).is_file(), "{name}");
    }
    assert!(
        desk.fails("man --out nowhere")
            .contains("make the directory")
    );
}

/// The session in the README, line by line: what is typed behind `$ ` is run by a shell, and
/// must say what stands below it.
#[test]
fn the_session_in_the_readme() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let Ok(readme) = fs::read_to_string(readme) else {
        eprintln!("skipped: this is not the repository");
        return;
    };
    let (_, section) = readme
        .split_once("## From a shell")
        .expect("the README has the section");
    let (_, session) = section
        .split_once("```console\n")
        .expect("the section has a session");
    let (session, _) = session.split_once("```").expect("the session has an end");

    let desk = Desk::new();
    let binary = Path::new(env!("CARGO_BIN_EXE_twiceshy"));
    let folder = binary.parent().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.display());
    let mut commands = 0;
    for step in session.split("\n$ ") {
        let step = step.strip_prefix("$ ").unwrap_or(step);
        let (line, expected) = step.split_once('\n').unwrap_or((step, ""));
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(line)
            .env("PATH", &path)
            .current_dir(desk.path("."));
        let output = shell.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert_eq!(said.trim_end(), expected.trim_end(), "$ {line}");
        commands += 1;
    }
    assert!(commands >= 8, "{commands} commands");
}
