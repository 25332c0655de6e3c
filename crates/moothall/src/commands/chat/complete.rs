//! Completions and hints: names of participants, commands and their arguments.

use std::collections::BTreeSet;

use moothall_kernel::mentions;
use moothall_kernel::policy::PolicyName;
use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::{CommandUsage, ThreadStateAnswer};

/// Commands of the chat itself: name, arguments, effect.
const OWN: [(&str, &str, &str); 4] = [
    (
        "/permit",
        "<option> [number]",
        "Answer an agent's request; /permit: text answers with your own text.",
    ),
    ("/reply", "<number> [text]", "Reply to a message by its number; >12 text does the same."),
    ("/to", "[id] [text]", "Address one participant; without an id, all participants."),
    ("/quit", "", "Leave; Ctrl-D does the same."),
];

/// Returns the help text of the chat's own commands, one line each, in the server's format.
pub fn own_help() -> String {
    OWN.iter()
        .map(|(name, arguments, does)| {
            format!("{} — {does}\n", [*name, *arguments].join(" ").trim_end())
        })
        .collect()
}

/// Argument placeholders that stand for a participant.
const PARTICIPANT: [&str; 4] = ["<id>", "<agent>", "[id]", "[name]"];

/// Everything that can be completed now.
#[derive(Clone, Debug, Default)]
pub struct Book {
    ids: Vec<String>,
    /// Ids, nicknames and roles: every name usable in a mention.
    names: Vec<String>,
    clients: Vec<String>,
    commands: Vec<CommandUsage>,
}

/// Completions for the word before the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Byte at which the word begins.
    pub from: usize,
    /// Whole replacements for the word.
    pub words: Vec<String>,
}

impl Book {
    /// Creates a book of the slash commands and clients of a server, and of the chat's own
    /// commands.
    pub fn new(mut commands: Vec<CommandUsage>, clients: Vec<String>) -> Self {
        commands.extend(OWN.iter().map(|(name, arguments, does)| CommandUsage {
            name: (*name).into(),
            arguments: (*arguments).into(),
            does: (*does).into(),
            example: String::new(),
        }));
        Self { commands, clients, ..Self::default() }
    }

    /// Stores the ids, nicknames and roles of the participants.
    pub fn update(&mut self, state: &ThreadStateAnswer) {
        let invited = &state.state.participants.invited;
        self.ids = invited.iter().map(|entry| entry.id.clone()).collect();
        let mut names = BTreeSet::new();
        for entry in invited {
            names.insert(entry.id.clone());
            let traits = entry.profile.nickname.iter().chain(entry.profile.roles.iter().flatten());
            names.extend(traits.cloned());
        }
        self.names = names.into_iter().collect();
    }

    #[cfg(test)]
    pub fn of_names(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Self { ids: names.clone(), names, ..Self::new(Vec::new(), Vec::new()) }
    }

    /// Returns completions for the command, the argument or the mention at the end of this text.
    pub fn offer(&self, before: &str) -> Option<Offer> {
        let from = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        if before.starts_with('/') && !before.contains('\n') {
            return self.command(before).or_else(|| self.argument(before, from));
        }
        let (signed, begun) = mentions::typed(before)?;
        let sign = signed.chars().next_back().map_or(0, char::len_utf8);
        // A name with a space may be typed up to and after its space.
        let words = starting(&self.names, begun).into_iter().map(|name| format!("@{name}"));
        let offer = Offer { from: signed.len() - sign, words: words.collect() };
        (!offer.words.is_empty()).then_some(offer)
    }

    /// Completes a command; a command can be two words.
    fn command(&self, before: &str) -> Option<Offer> {
        let names: Vec<String> = self.commands.iter().map(|command| command.name.clone()).collect();
        let words = starting(&names, before);
        (!words.is_empty()).then_some(Offer { from: 0, words })
    }

    /// Completes the word at `from` as an argument: ids, clients or policies, as the command's
    /// usage says. `None` if the text does not begin with a known command.
    fn argument(&self, before: &str, from: usize) -> Option<Offer> {
        let usage = self.usage(before)?;
        let begun = before[from..].trim_start_matches('@');
        let mut words = Vec::new();
        if PARTICIPANT.iter().any(|word| usage.arguments.contains(word)) {
            words.extend(starting(&self.ids, begun));
        }
        if usage.arguments.contains("<client>")
            || ["/group create", "/group add"].contains(&usage.name.as_str())
        {
            words.extend(starting(&self.clients, begun));
        }
        if usage.name == "/policy" {
            let known: Vec<_> = PolicyName::chosen().map(|name| name.to_string()).collect();
            words.extend(starting(&known, begun));
        }
        words.sort();
        words.dedup();
        Some(Offer { from: before.len() - begun.len(), words })
    }

    /// Returns the command at the beginning of a line, if a space follows it.
    fn usage(&self, line: &str) -> Option<&CommandUsage> {
        let named = |usage: &&CommandUsage| {
            line.strip_prefix(&usage.name).is_some_and(|rest| rest.starts_with(' '))
        };
        self.commands.iter().filter(named).max_by_key(|usage| usage.name.len())
    }

    /// Returns the text shown in grey after the cursor: the arguments of a command if only its name
    /// and a space are typed, otherwise the rest of the first completion. Empty if nothing fits.
    pub fn ghost(&self, line: &str) -> String {
        if let Some(usage) = self.usage(line) {
            let empty = line.len() == usage.name.len() + 1;
            return if empty { usage.arguments.clone() } else { String::new() };
        }
        match self.offer(line) {
            Some(offer) if line.len() > offer.from + 1 => {
                let begun = line.len() - offer.from;
                offer
                    .words
                    .first()
                    .and_then(|word| word.get(begun..))
                    .unwrap_or_default()
                    .to_owned()
            }
            _ => String::new(),
        }
    }

    /// Describes the command at the beginning of the line; `None` without a known one.
    pub fn hint(&self, line: &str) -> Option<String> {
        let exact = self.commands.iter().find(|usage| line.trim_end() == usage.name);
        let usage = self.usage(line).or(exact)?;
        Some(format!("{} — {}", for_terminal(&usage.name), for_terminal(&usage.does)))
    }
}

/// Returns the words with this beginning, in upper or lower case. Leaves out words with characters
/// that are not shown in a terminal.
fn starting(words: &[String], begun: &str) -> Vec<String> {
    let mut found: Vec<String> = words
        .iter()
        .filter(|word| mentions::begins_with(word, begun) && for_terminal(word) == **word)
        .cloned()
        .collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use moothall_kernel::slash::COMMANDS;

    /// Returns a book with all commands and a few participants, one of them with a space in the
    /// name.
    fn book() -> Book {
        let usage = |usage: &moothall_kernel::slash::CommandHelp| CommandUsage {
            name: usage.name.into(),
            arguments: usage.arguments.into(),
            does: usage.does.into(),
            example: usage.example.into(),
        };
        let mut book =
            Book::new(COMMANDS.iter().map(usage).collect(), vec!["codex".into(), "critic".into()]);
        book.ids = vec!["analyst".into(), "critic".into()];
        let names = ["Ann", "Zoë Lee", "analyst", "critic", "reviewer", "小明"];
        book.names = names.map(str::to_owned).into();
        book
    }

    fn offered(before: &str) -> Vec<String> {
        book().offer(before).map(|offer| offer.words).unwrap_or_default()
    }

    #[test]
    fn mentions_are_ids_nicknames_and_roles() {
        assert_eq!(offered("so, @a"), ["@Ann", "@analyst"]);
        assert_eq!(offered("(@rev"), ["@reviewer"]);
        assert_eq!(book().offer("(@rev").map(|offer| offer.from), Some(1));
        assert_eq!(offered("ann@rev"), Vec::<String>::new());
        assert_eq!(offered("plain"), Vec::<String>::new());
        assert_eq!(offered("交给@rev"), ["@reviewer"]);
        assert_eq!(offered("请＠小"), ["@小明"]);
        assert_eq!(book().offer("请＠小").map(|offer| offer.from), Some("请".len()));
        assert_eq!(offered("so @zoe\u{308} l"), ["@Zoë Lee"]);
        for none in ["so @ann l", "x/@rev", "\\@rev", "@@rev", "@ann, r"] {
            assert_eq!(offered(none), Vec::<String>::new(), "{none}");
        }
    }

    #[test]
    fn commands_and_their_arguments() {
        assert_eq!(offered("/mu"), ["/mute"]);
        assert_eq!(offered("/group c"), ["/group create", "/group config"]);
        assert_eq!(offered("/mute "), ["analyst", "critic"]);
        assert_eq!(offered("/mute analyst @c"), ["critic"]);
        assert_eq!(offered("/invite c"), ["codex", "critic"]);
        assert_eq!(offered("/group add co"), ["codex"]);
        assert_eq!(offered("/policy h"), ["hybrid"]);
        assert_eq!(offered("/to an"), ["analyst"]);
        assert_eq!(offered("/q"), ["/quit"]);
    }

    #[test]
    fn hints_say_what_may_follow() {
        assert_eq!(book().ghost("/mute "), "<id>…");
        assert_eq!(book().ghost("/mute x"), "");
        assert_eq!(book().ghost("@cri"), "tic");
        assert_eq!(book().ghost("hello"), "");
        assert!(book().hint("/stop").is_some_and(|hint| hint.contains("Cancel all running")));
        assert_eq!(book().hint("hello"), None);
    }
}
