//! The structured output of a program that runs once for each turn: its words apart from its usage.

use serde_json::Value;

use crate::spending::ReportedUsage;

/// The structured output of a program.
pub(crate) struct PrintedSpec {
    /// True if these arguments ask for structured output.
    pub(crate) is_asked: fn(&[String]) -> bool,
    /// True if a line of a long output is needed.
    pub(crate) keeps: fn(&str) -> bool,
    /// Reads the documents that were printed so far.
    pub(crate) read: fn(&[Value]) -> PrintedTurn,
}

/// A turn, as far as the program has printed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PrintedTurn {
    /// The last words of the agent.
    pub(crate) words: Option<String>,
    /// The error that ended the turn.
    pub(crate) failure: Option<String>,
    /// The usage, if printed.
    pub(crate) usage: ReportedUsage,
}

impl PrintedSpec {
    /// Reads the output so far; `None` if it has another form than the arguments ask for.
    pub(crate) fn turn(&self, output: &str) -> Option<PrintedTurn> {
        Some((self.read)(&documents(output)?))
    }
}

/// Returns the documents of JSON in an output: one, the items of a list, or one in each line. An
/// unfinished document is left out. `None` if the output does not begin like JSON.
fn documents(output: &str) -> Option<Vec<Value>> {
    let output = output.trim();
    if !output.is_empty() && !output.starts_with(['{', '[']) {
        return None;
    }
    let of_lines = || output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Some(match serde_json::from_str(output) {
        Ok(Value::Array(items)) => items,
        Ok(document) => vec![document],
        Err(_) => of_lines(),
    })
}

/// True if one of these options has a value that begins with this word.
pub(super) fn has_option(arguments: &[String], options: &[&str], word: &str) -> bool {
    let joined = arguments.iter().filter_map(|one| one.split_once('='));
    let apart = arguments.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
    joined.chain(apart).any(|(option, value)| options.contains(&option) && value.starts_with(word))
}
