//! The command line as a whole.

use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::exit::{Outcome, Status};
use crate::shell::Shell;
use crate::{completions, demo, filter, list, man, store};

/// Filters, lists and a store that learn from their mistakes
///
/// A filter answers "maybe" or "no", and never "no" for a member. An adaptive one is told
/// when a "maybe" was wrong and does not make that mistake again.
#[derive(Debug, Parser)]
#[command(name = "twiceshy", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy demo
  twiceshy store create shop.db
  printf 'anna\\t1\\notto\\t2\\n' | twiceshy store put shop.db
  twiceshy store get shop.db anna
  twiceshy filter build --kind plain --fpr 0.01 --input words.txt --out words.filter
  twiceshy filter query words.filter hello
  twiceshy list build --yes blocked.txt --no never-block.txt --out block.list

Exit codes:
  0  success
  1  \"no\" or absent, where one key was given as an argument
  2  an error";

/// What every command takes.
#[derive(Args, Debug)]
struct Global {
    /// Write JSON: one object, or one a line where keys are answered
    #[arg(long, global = true, help_heading = "Output")]
    json: bool,
    /// No progress bar and no notes on standard error
    #[arg(long, short, global = true, help_heading = "Output")]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Store(store::Args),
    Filter(filter::Args),
    List(list::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Cli {
    /// Does what was asked for.
    pub(crate) fn run(&self) -> Outcome<Status> {
        let shell = Shell::new(self.global.json, self.global.quiet);
        match &self.command {
            Command::Demo(args) => demo::run(args, &shell),
            Command::Store(args) => store::run(args, &shell),
            Command::Filter(args) => filter::run(args, &shell),
            Command::List(args) => list::run(args, &shell),
            Command::Completions(args) => completions::run(args, Cli::command()),
            Command::Man(args) => man::run(args, Cli::command()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    /// Every command that does something has an example in its help.
    #[test]
    fn every_help_has_an_example() {
        fn check(command: &mut Command, path: &str) {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example"), "{path} --help has no example");
            assert!(
                help.contains("twiceshy "),
                "{path}: the example calls nothing"
            );
            for sub in command.get_subcommands_mut() {
                if sub.get_name() != "help" {
                    let path = format!("{path} {}", sub.get_name());
                    check(sub, &path);
                }
            }
        }
        let mut command = super::Cli::command();
        command.build();
        check(&mut command, "twiceshy");
    }
}
