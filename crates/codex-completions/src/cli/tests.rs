use clap::CommandFactory as _;

use super::*;

/// The words of our command in a line of an example, as a shell would give them to us.
fn words(line: &str) -> Vec<String> {
    let start = line.find("codex-completions ").unwrap();
    let mut words = vec![String::new()];
    let mut quote = None;
    for character in line[start..].chars() {
        let word = words.last_mut().unwrap();
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None, '>' | '<' | '|' | ')' | '`') => break,
            (None, ' ') if !word.is_empty() => words.push(String::new()),
            (None, ' ') => {}
            _ => word.push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn every_command_has_examples_that_can_be_typed() {
    let mut command = Cli::command();
    command.build();
    let commands = command.get_subcommands().filter(|command| command.get_name() != "help");
    let mut count = 0;
    for command in commands {
        let name = command.get_name().to_owned();
        let help = command.get_after_help().or(command.get_after_long_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        let examples: Vec<_> = help
            .lines()
            .filter(|line| line.contains(&format!("codex-completions {name}")))
            .collect();
        assert!(!examples.is_empty(), "{name} has no example");
        for example in examples {
            let words = words(example);
            // A file that it names is not there.
            let is_file = words.iter().any(|word| word.starts_with('@'));
            let outcome = Cli::try_parse_from(&words);
            assert!(outcome.is_ok() || is_file, "{example}: {}", outcome.unwrap_err());
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    for line in [
        "codex-completions login --browser --device-code",
        "codex-completions login --import --with-api-key",
        "codex-completions login --force",
        "codex-completions ask x --json --raw",
        "codex-completions ask x --tool {}",
    ] {
        let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
    }
}
