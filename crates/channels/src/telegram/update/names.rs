//! The names and the command in a message.

use super::{Message, TextEntityKind};

/// A command at the beginning of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlashCommand<'a> {
    /// Name of the command, without `/`.
    pub name: &'a str,
    /// Words after the command.
    pub rest: &'a str,
    /// True if the command names another bot than this one.
    pub addressed_to_other: bool,
}

impl Message {
    /// Returns the command with which the text begins, as the bot of this username reads it.
    pub fn command(&self, own_username: &str) -> Option<SlashCommand<'_>> {
        let begin = self.text.len() - self.text.trim_start().len();
        let is_first = |kind: &TextEntityKind, at| *kind == TextEntityKind::Command && at == begin;
        let entity = self.entities.iter().find(|part| is_first(&part.kind, part.range.start))?;
        let (word, rest) = self.text[begin..].split_at(entity.range.len());
        let word = word.strip_prefix('/')?;
        let (name, bot) = word.split_once('@').map_or((word, None), |(name, to)| (name, Some(to)));
        let addressed_to_other = bot.is_some_and(|bot| !bot.eq_ignore_ascii_case(own_username));
        Some(SlashCommand { name, rest: rest.trim(), addressed_to_other })
    }

    /// Returns the usernames that the text names, without `@` and each one time. They are in
    /// mentions and in commands such as `/ask@username`.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for entity in &self.entities {
            let words = &self.text[entity.range.clone()];
            let name = match entity.kind {
                TextEntityKind::Mention => words.strip_prefix('@'),
                TextEntityKind::Command => words.split_once('@').map(|(_, name)| name),
                _ => None,
            };
            names.extend(name.filter(|name| {
                !name.is_empty() && !names.iter().any(|seen| seen.eq_ignore_ascii_case(name))
            }));
        }
        names
    }

    /// Returns the ids of the accounts that the text names without a username.
    pub fn named_accounts(&self) -> impl Iterator<Item = i64> {
        self.entities.iter().filter_map(|entity| match entity.kind {
            TextEntityKind::TextMention(id) => Some(id),
            _ => None,
        })
    }

    /// Returns the text with `@` and the agent's name for each mention of a bot. `participant`
    /// returns the agent of a username, which it gets in lower case.
    pub fn words_without_names(&self, participant: impl Fn(&str) -> Option<String>) -> String {
        let mentions = self.entities.iter().filter(|part| part.kind == TextEntityKind::Mention);
        let (mut words, mut from) = (String::with_capacity(self.text.len()), 0);
        for range in mentions.map(|entity| entity.range.clone()) {
            let name = self.text[range.clone()].strip_prefix('@').map(str::to_ascii_lowercase);
            if let Some(id) = name.and_then(|name| participant(&name))
                && range.start >= from
            {
                words.push_str(&self.text[from..range.start]);
                words.push('@');
                words.push_str(&id);
                from = range.end;
            }
        }
        words.push_str(&self.text[from..]);
        words
    }
}
