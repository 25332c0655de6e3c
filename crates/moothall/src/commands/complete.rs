//! `complete`: completes names that only the server knows. The user waits for it at each key press,
//! so it answers quickly or prints nothing, and hides errors of the server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, Command};
use moothall_surfaces::wire::{AgentList, SessionList};

use super::credential_options;
use crate::cli::{self, Complete, Global};
use crate::client::Client;
use crate::config;
use crate::credential::ResolvedServer;
use crate::fault::Fault;
use crate::paint::Printer;
use crate::threads;

/// Time limit for all completions.
const WITHIN: Duration = Duration::from_millis(300);
/// Maximum number of completions.
const OFFERED_MAX: usize = 200;
/// Stands for the conversation used last.
const LAST: &str = "-";

/// The kind of name that an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Conversation,
    Agent,
    Session,
}

/// The typed line: the kind of name to complete, and the options that choose the server.
#[derive(Debug, PartialEq, Eq)]
struct TypedLine {
    kind: Kind,
    options: BTreeMap<String, String>,
}

/// Prints the matching names, one per line.
///
/// # Errors
/// Standard output is closed.
pub async fn run(global: &Global, args: &Complete, printer: &Printer) -> Result<(), Fault> {
    let Some((begun, before)) = args.words.split_last() else { return Ok(()) };
    let begun = plain(begun);
    let Some(typed) = typed(before) else { return Ok(()) };
    let names = tokio::time::timeout(WITHIN, names(global, &typed)).await;
    let Ok(Some(names)) = names else { return Ok(()) };
    let fitting = names.iter().filter(|name| {
        name.starts_with(&begun) && !name.is_empty() && !name.contains(char::is_control)
    });
    fitting.take(OFFERED_MAX).try_for_each(|name| printer.line(name))
}

/// Finds the argument that follows these words, and returns the kind of its names. `None` if the
/// argument takes no name that the server knows. Everything up to the program's own name, such as
/// another command of a pipe, is ignored.
fn typed(words: &[String]) -> Option<TypedLine> {
    let own = words
        .iter()
        .rposition(|word| word.rsplit('/').next() == Some("moothall"))
        .map_or(0, |at| at + 1);
    let mut program = cli::command();
    program.build();
    let (mut command, mut place, mut options) = (&program, 0, BTreeMap::new());
    let mut words = words[own..].iter().map(|word| plain(word));
    while let Some(word) = words.next() {
        if word == "--" {
            return None;
        }
        if let Some(option) = option(command, &word) {
            match (word.split_once('='), takes_value(option)) {
                (Some((_, value)), _) => {
                    drop(options.insert(option.get_id().to_string(), value.to_owned()))
                }
                (None, false) => {}
                (None, true) => match words.next() {
                    Some(value) => drop(options.insert(option.get_id().to_string(), value)),
                    None => return Some(TypedLine { kind: kind_of(option)?, options }),
                },
            }
        } else if let Some(inner) = command.find_subcommand(&word).filter(|_| place == 0) {
            command = inner;
        } else {
            place += 1;
        }
    }
    let last = command
        .get_positionals()
        .last()
        .filter(|last| last.get_num_args().is_some_and(|number| number.max_values() > 1));
    let positional = command.get_positionals().nth(place).or(last)?;
    Some(TypedLine { kind: kind_of(positional)?, options })
}

/// Finds the option that a word names, with or without `=VALUE`.
fn option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let long =
        |arg: &&Arg| name.strip_prefix("--").is_some_and(|name| arg.get_long() == Some(name));
    let short = |arg: &&Arg| arg.get_short().is_some_and(|short| name == format!("-{short}"));
    command.get_arguments().find(|arg| long(arg) || short(arg))
}

fn takes_value(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Returns the kind of name that an argument takes; `None` for other text, and for fixed values,
/// which the shell knows already.
fn kind_of(argument: &Arg) -> Option<Kind> {
    if !argument.get_possible_values().is_empty() {
        return None;
    }
    match argument.get_id().as_str() {
        "thread" | "conversation" => Some(Kind::Conversation),
        "client" | "with" | "agent" | "participant" => Some(Kind::Agent),
        "session" | "members" => Some(Kind::Session),
        _ => None,
    }
}

/// Removes quotes and backslashes: shells pass the word as typed.
fn plain(word: &str) -> String {
    let mut meant = String::new();
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => meant.extend(chars.next()),
            '"' | '\'' => {}
            c => meant.push(c),
        }
    }
    meant
}

/// Asks the server for all names of the wanted kind. Options in the typed line override the options
/// of this process. Returns `None` on any error.
async fn names(global: &Global, typed: &TypedLine) -> Option<Vec<String>> {
    let option = |name: &str| typed.options.get(name).cloned();
    let global = Global {
        server: option("server").or_else(|| global.server.clone()),
        profile: option("profile").or_else(|| global.profile.clone()),
        token_file: option("token_file").map(PathBuf::from).or_else(|| global.token_file.clone()),
        cacert: option("cacert").map(PathBuf::from).or_else(|| global.cacert.clone()),
        ..global.clone()
    };
    let meant = ResolvedServer::find(&credential_options(&global), &config::environment()).ok()?;
    let client = Client::new(&meant.server, meant.cacert.as_deref()).ok()?.with(meant.credential);
    match typed.kind {
        Kind::Conversation => conversations(&client).await,
        Kind::Agent => {
            let agents: AgentList = client.get("/agents").await.ok()?;
            Some(agents.agents.into_iter().map(|agent| agent.client).collect())
        }
        Kind::Session => {
            let sessions: SessionList = client.get("/sessions").await.ok()?;
            Some(sessions.sessions.into_iter().map(|session| session.name).collect())
        }
    }
}

/// Returns `-`, and then the names of all conversations, the one with the newest event first. An id
/// stands in place of a name that several conversations share, or that begins with `-`.
async fn conversations(client: &Client) -> Option<Vec<String>> {
    let mut threads = threads::all(client).await.ok()?;
    threads.sort_by(|a, b| b.updated_at.cmp(&a.updated_at));
    let count = |name: &str| threads.iter().filter(|thread| thread.name == name).count();
    let name = |thread: &moothall_surfaces::wire::ThreadEntry| match count(&thread.name) {
        1 if !thread.name.starts_with('-') => thread.name.clone(),
        _ => thread.id.clone(),
    };
    Some(std::iter::once(LAST.to_owned()).chain(threads.iter().map(name)).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn kind(line: &str) -> Option<Kind> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        typed(&words).map(|typed| typed.kind)
    }

    #[test]
    fn the_place_of_a_word_says_what_it_is() {
        use Kind::{Agent, Conversation, Session};
        for (line, expected) in [
            ("moothall say", Some(Conversation)),
            ("moothall say Plan", None),
            ("moothall --json say --to critic", Some(Conversation)),
            ("moothall --server http://127.0.0.1:1 tail", Some(Conversation)),
            ("/usr/bin/moothall why", Some(Conversation)),
            ("git diff | moothall say", Some(Conversation)),
            ("moothall budget --conversation", Some(Conversation)),
            ("moothall token create critic --thread", Some(Conversation)),
            ("moothall new Plan --with", Some(Agent)),
            ("moothall invite Plan", Some(Agent)),
            ("moothall run", Some(Agent)),
            ("moothall end", Some(Session)),
            ("moothall link ada", Some(Session)),
            ("moothall link ada bob", Some(Session)),
            ("moothall link list --session", Some(Session)),
            ("moothall mcp install", None),
            ("moothall token revoke", None),
            ("moothall run claude --", None),
            ("moothall", None),
            ("moothall nonsense", None),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
    }

    #[test]
    fn the_server_that_the_line_names_is_asked() {
        let words =
            ["moothall", "--server=http://a", "say", "--token-file", "t"].map(str::to_owned);
        let options = typed(&words).unwrap().options;
        assert_eq!((options["server"].as_str(), options["token_file"].as_str()), ("http://a", "t"));
    }

    #[test]
    fn words_are_meant_without_their_quotes() {
        assert_eq!(plain(r#"Launch\ p"#), "Launch p");
        assert_eq!(plain(r#""Launch p"#), "Launch p");
    }
}
