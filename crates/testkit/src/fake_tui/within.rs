//! The stand-in within a test's own program, so that nothing else must be built for a test.

use std::collections::BTreeMap;

use super::Options;

/// Holds the command line for a program that shall act.
const VARIABLE: &str = "FAKE_TUI";
const SEPARATOR: char = '\u{1f}';

/// The command and the variables that run this very program as the stand-in. `test` is the full
/// name of a test that calls [`act`].
pub fn within(test: &str, arguments: &[&str]) -> (Vec<String>, BTreeMap<String, String>) {
    let program = std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned();
    let argv = [program.as_str(), "--exact", test, "--nocapture"].map(str::to_owned).to_vec();
    let arguments = arguments.join(&SEPARATOR.to_string());
    (argv, BTreeMap::from([(VARIABLE.to_owned(), arguments)]))
}

/// Is the stand-in until it ends, where this program was started as one; otherwise nothing.
///
/// # Panics
/// When its command line makes no sense, or its terminal cannot be used.
pub fn act() {
    let Ok(arguments) = std::env::var(VARIABLE) else { return };
    let arguments =
        arguments.split(SEPARATOR).filter(|argument| !argument.is_empty()).map(str::to_owned);
    let outcome = match Options::read(arguments) {
        Ok(options) => super::run(options.unwrap_or_default()).map_err(|error| error.to_string()),
        Err(why) => Err(why),
    };
    assert_eq!(outcome, Ok(()), "the stand-in could not run");
    std::process::exit(0);
}
