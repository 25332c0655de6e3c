//! Slash commands: one grammar and one help text for every surface. The engine carries them out.

use serde_json::Value;

/// A parsed command.
#[derive(Clone, Debug, PartialEq)]
pub enum Slash {
    /// Makes this conversation a group of these agents, under `hybrid`.
    GroupCreate(Vec<String>),
    /// Invites one more agent.
    GroupAdd(String),
    /// Removes the agent with this name.
    GroupRemove(String),
    /// Shows the participants and the settings.
    GroupList,
    /// Removes all agents, unbinds all chats and returns to the plain policy, under which only
    /// addressed agents answer.
    GroupDissolve,
    /// Changes one setting.
    GroupConfig {
        /// Key of the setting, as in a policy object.
        key: String,
        /// New value of the setting.
        value: Value,
    },
    /// Has only these agents answer these words, one after the other.
    Ask {
        /// Names of the agents. Without `--` the words begin after the last name.
        names: String,
        /// Words after `--`.
        text: Option<String>,
    },
    /// Invites a participant.
    Invite {
        /// Name of the client in the registry.
        client: String,
        /// `key=value` pairs: `id`, `model`, `nickname`, `roles`.
        options: Vec<(String, String)>,
    },
    /// Removes the participant with this name.
    Uninvite(String),
    /// Mutes the participants with these names.
    Mute(String),
    /// Unmutes the participants with these names.
    Unmute(String),
    /// Pauses the agents.
    Pause,
    /// Resumes the agents and lifts a guard's hold.
    Resume,
    /// Cancels all turns and clears the queue.
    Stop,
    /// Ends the caller's own turn, or hands the talking piece on, to this name if given.
    Pass(Option<String>),
    /// Chooses another policy. The flag confirms the end of an open gathering.
    Policy(String, bool),
    /// Changes the title.
    Rename(String),
    /// Archives the conversation.
    Archive,
    /// Opens the conversation again.
    Unarchive,
    /// Shows which agents were asked about the latest message, with the outcomes.
    Why,
    /// Shows the help.
    Help,
}

/// One line of the help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandHelp {
    /// Name of the command with its slash.
    pub name: &'static str,
    /// Arguments after the name. Square brackets mark optional ones.
    pub arguments: &'static str,
    /// Effect of the command, in one sentence.
    pub does: &'static str,
    /// Example that can be typed as it is.
    pub example: &'static str,
}

const fn usage(
    name: &'static str,
    arguments: &'static str,
    does: &'static str,
    example: &'static str,
) -> CommandHelp {
    CommandHelp { name, arguments, does, example }
}

/// All commands, in the order in which help shows them.
pub const COMMANDS: [CommandHelp; 21] = [
    usage(
        "/ask",
        "<agent>… [text]",
        "Ask only these agents, one after the other.",
        "/ask analyst writer -- What changed?",
    ),
    usage(
        "/invite",
        "<client> [id=…] [nickname=…] [model=…] [roles=a,b]",
        "Invite an agent or a person.",
        "/invite critic nickname=Cato",
    ),
    usage("/uninvite", "<id>", "Remove a participant; the history stays.", "/uninvite critic"),
    usage("/mute", "<id>…", "Mute these agents.", "/mute critic"),
    usage("/unmute", "<id>…", "Unmute them.", "/unmute critic"),
    usage("/pause", "", "Pause the agents; messages wait.", "/pause"),
    usage("/resume", "", "Resume the agents; also lifts a guard's hold.", "/resume"),
    usage("/stop", "", "Cancel all running and waiting turns and messages.", "/stop"),
    usage("/pass", "[name]", "End your turn, or pass the talking piece on.", "/pass"),
    usage("/why", "", "Show who was asked about the latest message, and the results.", "/why"),
    usage(
        "/policy",
        "<name> [confirm]",
        "Choose who speaks: hybrid, mention_only, round_robin or open. confirm ends a gathering \
         after its harvest.",
        "/policy round_robin",
    ),
    usage("/rename", "<title>", "Rename the conversation.", "/rename Earnings review"),
    usage("/archive", "", "Archive the conversation; /unarchive reopens it.", "/archive"),
    usage("/unarchive", "", "Reopen an archived conversation.", "/unarchive"),
    usage(
        "/group create",
        "<agent>…",
        "Make this a group with these agents, with hybrid turns. Other participants stay.",
        "/group create analyst writer",
    ),
    usage("/group add", "<agent>", "Add an agent to the group.", "/group add critic"),
    usage("/group remove", "<agent>", "Remove an agent from the group.", "/group remove critic"),
    usage("/group list", "", "Show the participants and the settings.", "/group list"),
    usage(
        "/group dissolve",
        "",
        "Remove all agents and unbind all chats; only addressed agents answer from then on.",
        "/group dissolve",
    ),
    usage(
        "/group config",
        "<key> <value>",
        "Change a setting of the group.",
        "/group config cooldown_seconds 5",
    ),
    usage("/help", "", "Show this list.", "/help"),
];

/// Most characters of an unknown command that are repeated.
const SHOWN_CHARS_MAX: usize = 40;

/// Returns the help text, one line for each command.
pub fn help() -> String {
    COMMANDS
        .iter()
        .map(|c| format!("{} — {}\n", [c.name, c.arguments].join(" ").trim_end(), c.does))
        .collect()
}

/// True if a text is meant as a command.
pub fn is_command(text: &str) -> bool {
    text.trim_start()
        .strip_prefix('/')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Returns the words of a line. If it begins like a command with a doubled slash, it is meant as
/// words, and one slash is removed.
pub fn words(text: &str) -> &str {
    text.strip_prefix('/').filter(|rest| rest.starts_with('/') && is_command(rest)).unwrap_or(text)
}

/// True if a line that may begin with a pasted path is meant as a command: `/word`, known or not,
/// but not `/etc/hosts`.
pub fn is_command_line(text: &str) -> bool {
    let word = split_word(text.trim()).0;
    is_command(text) && word.matches('/').count() == 1
}

/// Parses a command.
///
/// # Errors
/// One line for people. For wrong arguments it has the usage and an example, and for an unknown
/// command the nearest known command, if one is similar.
pub fn parse(text: &str) -> Result<Slash, String> {
    let text = text.trim();
    let (name, rest) = split_word(text);
    let name = name.to_ascii_lowercase();
    if name == "/" && !rest.is_empty() {
        let word = split_word(rest).0.chars().take(SHOWN_CHARS_MAX).collect::<String>();
        return Err(format!("Write /{word} without a space in it. /help lists all commands."));
    }
    if name == "/group" {
        let (word, rest) = split_word(rest);
        return parse_group(&word.to_ascii_lowercase(), rest);
    }
    let wrong = || wrong_arguments(&name);
    match name.as_str() {
        "/ask" => {
            let (names, text) = split_words(rest);
            named(names).map(|names| Slash::Ask { names, text }).ok_or_else(wrong)
        }
        "/invite" => parse_invite(rest).ok_or_else(wrong),
        "/uninvite" => named(rest).map(Slash::Uninvite).ok_or_else(wrong),
        "/mute" => named(rest).map(Slash::Mute).ok_or_else(wrong),
        "/unmute" => named(rest).map(Slash::Unmute).ok_or_else(wrong),
        "/pass" if rest.is_empty() => Ok(Slash::Pass(None)),
        "/pass" => bare(rest).map(|to| Slash::Pass(Some(to))).ok_or_else(wrong),
        "/policy" => policy(rest).ok_or_else(wrong),
        "/rename" if !rest.is_empty() => Ok(Slash::Rename(rest.to_owned())),
        "/rename" => Err(wrong()),
        "/pause" => alone(rest, Slash::Pause).ok_or_else(wrong),
        "/resume" => alone(rest, Slash::Resume).ok_or_else(wrong),
        "/stop" => alone(rest, Slash::Stop).ok_or_else(wrong),
        "/why" => alone(rest, Slash::Why).ok_or_else(wrong),
        "/archive" => alone(rest, Slash::Archive).ok_or_else(wrong),
        "/unarchive" => alone(rest, Slash::Unarchive).ok_or_else(wrong),
        "/help" => Ok(Slash::Help),
        _ => Err(unknown(&name)),
    }
}

/// Parses a `/group` command from its second word and the rest of the line.
fn parse_group(word: &str, rest: &str) -> Result<Slash, String> {
    let wrong = || wrong_arguments(&format!("/group {word}"));
    match word {
        "create" => some(rest).map(Slash::GroupCreate).ok_or_else(wrong),
        "add" => one(rest).map(Slash::GroupAdd).ok_or_else(wrong),
        "remove" => named(rest).map(Slash::GroupRemove).ok_or_else(wrong),
        "list" => alone(rest, Slash::GroupList).ok_or_else(wrong),
        "dissolve" => alone(rest, Slash::GroupDissolve).ok_or_else(wrong),
        "config" => {
            let (key, value) = split_word(rest);
            if key.is_empty() || value.is_empty() {
                return Err(wrong());
            }
            let value =
                serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            Ok(Slash::GroupConfig { key: key.to_owned(), value })
        }
        "" => {
            Err("/group needs a command: /group create, add, remove, list, dissolve or config."
                .into())
        }
        _ => Err(unknown(&format!("/group {word}"))),
    }
}

/// Parses the arguments of `/invite`; `None` without a client, or with an unknown key or an empty
/// value.
fn parse_invite(rest: &str) -> Option<Slash> {
    let (client, rest) = split_word(rest);
    let options: Option<Vec<_>> = split_quoted(rest)
        .iter()
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let known = ["id", "model", "nickname", "roles"].contains(&key) && !value.is_empty();
            known.then(|| (key.to_owned(), value.to_owned()))
        })
        .collect();
    Some(Slash::Invite { client: bare(client)?, options: options? })
}

/// Splits a text at spaces. Double quotes keep spaces inside a word.
fn split_quoted(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => words.last_mut().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// Returns the text before and after `--`.
fn split_words(text: &str) -> (&str, Option<String>) {
    match text.split_once("--") {
        Some((before, after)) => {
            (before.trim(), Some(after.trim().to_owned()).filter(|words| !words.is_empty()))
        }
        None => (text, None),
    }
}

/// Returns a name without the `@` and the comma around it, if anything is left.
fn bare(word: &str) -> Option<String> {
    let name = word.trim().trim_start_matches('@').trim_end_matches(',').trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn names(text: &str) -> Vec<String> {
    text.split_whitespace().filter_map(bare).collect()
}

/// Returns the words if there are names in them.
fn named(rest: &str) -> Option<String> {
    (!names(rest).is_empty()).then(|| rest.trim().to_owned())
}

fn some(rest: &str) -> Option<Vec<String>> {
    Some(names(rest)).filter(|names| !names.is_empty())
}

fn one(rest: &str) -> Option<String> {
    names(rest).into_iter().next().filter(|_| names(rest).len() == 1)
}

/// Reads the name of a policy, and `confirm` if the gathering that it ends may end.
fn policy(rest: &str) -> Option<Slash> {
    match &names(rest)[..] {
        [name] => Some(Slash::Policy(name.clone(), false)),
        [name, word] if word == "confirm" => Some(Slash::Policy(name.clone(), true)),
        _ => None,
    }
}

fn alone(rest: &str, slash: Slash) -> Option<Slash> {
    rest.is_empty().then_some(slash)
}

/// Returns the line for a command with wrong arguments: its usage and an example. A name that is
/// not a command gets the line of [`unknown`].
fn wrong_arguments(name: &str) -> String {
    match COMMANDS.iter().find(|usage| usage.name == name) {
        Some(usage) => format!(
            "Write {}, for example {}",
            [usage.name, usage.arguments].join(" ").trim_end(),
            usage.example
        ),
        None => unknown(name),
    }
}

/// Returns the line for an unknown command, which suggests the nearest known one if it is similar.
fn unknown(name: &str) -> String {
    let shown: String = name.chars().take(SHOWN_CHARS_MAX).collect();
    let nearest = COMMANDS
        .iter()
        .flat_map(|usage| [usage.name, split_word(usage.name).0])
        .map(|known| (strsim::levenshtein(known, &shown), known))
        .min_by_key(|(distance, _)| *distance);
    let meant = match nearest {
        Some((near, known)) if near <= 3 => format!(" Did you mean {known}?"),
        _ => String::new(),
    };
    format!(
        "Unknown command {shown}.{meant} /help lists all commands. To send it as a message, begin \
         with two slashes: /{shown}"
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use moothall_testkit::fuzz;

    use super::*;

    #[test]
    fn the_help_names_every_policy_that_people_choose() {
        let sentence = COMMANDS.iter().find(|command| command.name == "/policy").unwrap().does;
        let mut names = crate::model::settings::PolicyName::chosen();
        assert!(names.all(|name| sentence.contains(<&str>::from(name))), "{sentence}");
    }

    #[test]
    fn every_example_is_understood() {
        for usage in COMMANDS {
            assert!(parse(usage.example).is_ok(), "{}", usage.example);
            assert!(is_command(usage.example));
        }
    }

    #[test]
    fn commands_carry_their_arguments() {
        let ask = Slash::Ask { names: "@analyst, writer".into(), text: Some("hm -- ok?".into()) };
        assert_eq!(parse("/ask @analyst, writer -- hm -- ok?"), Ok(ask));
        let config =
            Slash::GroupConfig { key: "max_voluntary_responders".into(), value: Value::Null };
        assert_eq!(parse("/group config max_voluntary_responders null"), Ok(config));
        let named = parse("/invite codex id=c2 nickname=\"Ann Lee\"");
        let options = vec![("id".into(), "c2".into()), ("nickname".into(), "Ann Lee".into())];
        assert_eq!(named, Ok(Slash::Invite { client: "codex".into(), options }));
    }

    #[test]
    fn wrong_arguments_get_one_useful_line() {
        for wrong in [
            "/ask",
            "/mute",
            "/pause now",
            "/group config x",
            "/invite",
            "/invite codex colour=red",
            "/invite @",
            "/pass @ ,",
        ] {
            let line = parse(wrong).unwrap_err();
            assert!(line.contains("for example /") && !line.contains('\n'), "{wrong}: {line}");
        }
        assert!(
            parse("/grup list")
                .unwrap_err()
                .starts_with("Unknown command /grup. Did you mean /group?")
        );
        assert!(parse("/mut a").unwrap_err().contains("/mute"));
        assert!(parse("/group lst").unwrap_err().contains("/group list"));
        assert!(parse("/ group list").unwrap_err().starts_with("Write /group without a space"));
    }

    #[test]
    fn paths_and_dates_are_not_commands() {
        for text in ["//x", "/", "/1", "1/2", " / x"] {
            assert!(!is_command(text), "{text:?}");
        }
    }

    #[test]
    fn a_pasted_path_is_not_a_command_line() {
        for text in ["/pause", " /Pause ", "/grup list", "/ask a and/or b"] {
            assert!(is_command_line(text), "{text:?}");
        }
        for text in ["/etc/hosts is wrong", "//pause", "// a comment", "either/or", "/1", "/"] {
            assert!(!is_command_line(text), "{text:?}");
        }
    }

    #[test]
    fn two_slashes_begin_words() {
        for (line, said) in [
            ("//tmp is full", "/tmp is full"),
            ("//stop", "/stop"),
            ("// a comment", "// a comment"),
            ("///tmp", "///tmp"),
            ("/tmp", "/tmp"),
            ("a //b", "a //b"),
            ("//1", "//1"),
        ] {
            assert_eq!(words(line), said);
        }
        assert!(parse("/tmp/x is full").unwrap_err().ends_with("//tmp/x"));
    }

    /// Returns the names in a command.
    fn named(slash: &Slash) -> Vec<&str> {
        match slash {
            Slash::GroupCreate(names) => names.iter().map(String::as_str).collect(),
            Slash::Mute(names) | Slash::Unmute(names) | Slash::Ask { names, .. } => vec![names],
            Slash::GroupAdd(name)
            | Slash::GroupRemove(name)
            | Slash::Uninvite(name)
            | Slash::Policy(name, _) => vec![name],
            Slash::Invite { client, .. } => vec![client],
            Slash::Pass(name) => name.iter().map(String::as_str).collect(),
            Slash::GroupList
            | Slash::GroupDissolve
            | Slash::GroupConfig { .. }
            | Slash::Pause
            | Slash::Resume
            | Slash::Stop
            | Slash::Rename(_)
            | Slash::Archive
            | Slash::Unarchive
            | Slash::Why
            | Slash::Help => Vec::new(),
        }
    }

    #[test]
    fn fuzzed_commands_name_somebody_or_get_one_line() {
        const LINE_MAX: usize = 400;
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/slash");
        let words: Vec<&str> = COMMANDS
            .iter()
            .flat_map(|usage| usage.name.split(' '))
            .chain(["@", ",", "--", " ", "id=", "\""])
            .collect();
        fuzz::texts("slash", &fuzz::corpus(&corpus), &words, |text| {
            match parse(text) {
                Ok(slash) => {
                    assert!(is_command(text), "what is no command is none: {slash:?}");
                    let names = named(&slash);
                    assert!(
                        names.iter().all(|name| !name.is_empty() && *name == name.trim()),
                        "{slash:?}"
                    );
                }
                Err(line) => assert!(line.len() <= LINE_MAX && !line.contains('\n'), "{line:?}"),
            }
            assert_eq!(parse(text), parse(&format!("  {text}\n")), "spaces around it mean nothing");
        });
    }
}
