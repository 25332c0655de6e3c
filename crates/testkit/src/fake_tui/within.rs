//! The stand-in inside a test's own executable, so that tests need no other build.

use std::collections::BTreeMap;

use super::Options;

/// The variable with the stand-in's command line.
const VARIABLE: &str = "FAKE_TUI";
const SEPARATOR: char = '\u{1f}';

/// Returns the command and the variables that run this executable as the stand-in. `test` is the
/// full name of a test that calls [`act`].
pub fn within(test: &str, arguments: &[&str]) -> (Vec<String>, BTreeMap<String, String>) {
    let program = std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned();
    // With several threads, the test harness writes over the screen after a minute.
    let argv = [program.as_str(), "--exact", test, "--nocapture", "--test-threads=1"];
    let argv = argv.map(str::to_owned).to_vec();
    let arguments = arguments.join(&SEPARATOR.to_string());
    (argv, BTreeMap::from([(VARIABLE.to_owned(), arguments)]))
}

/// Returns the body of a shell script that runs this executable as the stand-in. Arguments of the
/// script are for the stand-in, and not for this executable, which a server does not know of.
pub fn script(test: &str, arguments: &[&str]) -> String {
    let (argv, variables) = within(test, arguments);
    let set: String = variables.iter().map(|(name, value)| format!("{name}='{value}'\n")).collect();
    let more = format!("for word; do {VARIABLE}=${VARIABLE}$(printf '\\037')$word; done");
    format!("{set}{more}\nexport {VARIABLE}\nexec {}", argv.join(" "))
}

/// Runs the stand-in to its end if this process was started as one; otherwise does nothing.
///
/// # Panics
/// The command line is invalid, or the terminal cannot be used.
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
