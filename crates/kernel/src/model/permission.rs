//! Questions to people: the action to allow, the offered options, and the matching of answers to
//! options.

mod choice;
mod detail;

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::ids::{ParticipantId, PermissionId, Seq};
use crate::model::time::Timestamp;
use crate::text;

pub use choice::{ChoiceFault, ChosenOptions, answered, choose, positions};
pub use detail::{ActionDetail, ActionPart, PartRole, QuestionStep};

/// Maximum length of an action as shown, in bytes.
const ACTION_BYTES_MAX: usize = 16 * 1024;
/// Maximum length of an option's id and label, of a folder, and of the command to look, in bytes.
const WORDS_BYTES_MAX: usize = 1024;
/// Maximum number of options.
const OPTIONS_MAX: usize = 32;
/// Maximum number of questions of one agent that wait for people at a time; its requests have the
/// same limit.
pub const CARDS_MAX: usize = 8;
/// Maximum length of an answer in a person's own words, in bytes. The words must fit on the
/// terminal's screen, where they are read back.
pub const TEXT_BYTES_MAX: usize = 4 * 1024;

/// One offered answer to a question. The order of options has no meaning, and labels may repeat
/// those of another question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermissionOption {
    /// The id, unique among the options of the question.
    pub id: String,
    /// The label, as the asker wrote it.
    pub label: String,
    /// The asker's words about the option, apart from its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The effect of the answer.
    pub kind: OptionKind,
    /// True if the option is answered in the person's own words, and only with them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_text: bool,
    /// True if the option may be chosen together with others that allow it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_others: bool,
}

/// The effect of an answer. The words are those of the Agent Client Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum OptionKind {
    /// The action is done this time.
    AllowOnce,
    /// The action is done, and similar ones are not asked about again.
    AllowAlways,
    /// The action is not done this time.
    RejectOnce,
    /// The action is not done, nor are similar ones.
    RejectAlways,
    /// The effect is unknown. Only the option's own words choose it.
    Other,
}

impl OptionKind {
    /// True if the answer refuses the action.
    pub const fn refuses(self) -> bool {
        matches!(self, OptionKind::RejectOnce | OptionKind::RejectAlways)
    }
}

impl PermissionOption {
    /// Returns an option that neither takes text nor can be combined.
    pub fn new(id: impl Into<String>, label: impl Into<String>, kind: OptionKind) -> Self {
        let (id, label) = (id.into(), label.into());
        Self { id, label, description: None, kind, takes_text: false, with_others: false }
    }

    /// Returns the option with its label and its description apart.
    #[must_use]
    pub fn described(self, label: impl Into<String>, description: impl Into<String>) -> Self {
        Self { label: label.into(), description: Some(description.into()), ..self }
    }

    /// Returns the option, answered in a person's own words.
    #[must_use]
    pub fn taking_text(self) -> Self {
        Self { takes_text: true, ..self }
    }

    /// Returns the option, which can be chosen alone or together with others.
    #[must_use]
    pub fn with_others(self) -> Self {
        Self { with_others: true, ..self }
    }

    /// Returns the options for an asker that only understands yes or no.
    pub fn allow_or_deny() -> Vec<Self> {
        vec![Self::from("allow"), Self::from("deny")]
    }
}

/// Reads an option from its words alone. Only `allow` and `deny` have a known effect.
impl From<&str> for PermissionOption {
    fn from(words: &str) -> Self {
        let kind = match words {
            ALLOW => OptionKind::AllowOnce,
            DENY => OptionKind::RejectOnce,
            _ => OptionKind::Other,
        };
        Self::new(words, words, kind)
    }
}

/// Logs of earlier versions hold just the words.
impl<'de> Deserialize<'de> for PermissionOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum StoredOption {
            Words(String),
            Whole {
                id: String,
                label: String,
                #[serde(default)]
                description: Option<String>,
                kind: OptionKind,
                #[serde(default)]
                takes_text: bool,
                #[serde(default)]
                with_others: bool,
            },
        }
        Ok(match StoredOption::deserialize(deserializer)? {
            StoredOption::Words(words) => Self::from(words.as_str()),
            StoredOption::Whole { id, label, description, kind, takes_text, with_others } => {
                Self { id, label, description, kind, takes_text, with_others }
            }
        })
    }
}

/// A question to people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The exact action.
    pub action: String,
    /// True if the action is not known, or if `action` names only a part of it.
    pub partial: bool,
    /// The answers that are offered.
    pub options: Vec<PermissionOption>,
    /// The parts of the action, if the asker reports them one by one.
    pub detail: Option<ActionDetail>,
    /// The folder in which it would be done.
    pub folder: Option<String>,
    /// The command with which a person can look at the question.
    pub look: Option<String>,
    /// True if the question stays open as long as its dialog is shown. Its deadline then only
    /// bounds the log.
    pub stands: bool,
}

impl Question {
    /// Returns a question whose action is known in full.
    pub fn new(action: impl Into<String>, options: Vec<PermissionOption>) -> Self {
        Self { action: action.into(), options, ..Self::default() }
    }

    /// Returns the question as people see it: hidden characters are made visible, and lengths are
    /// bounded. A shortened action names the number of bytes left out and makes the question
    /// partial.
    #[must_use]
    pub fn for_display(&self) -> Self {
        let action = text::revealed(&self.action);
        let first = text::cut(&action, ACTION_BYTES_MAX);
        let more = action.len() - first.len();
        let option = |option: &PermissionOption| PermissionOption {
            id: text::cut(&option.id, WORDS_BYTES_MAX).to_owned(),
            label: words(&option.label),
            description: option.description.as_deref().map(words),
            kind: option.kind,
            takes_text: option.takes_text,
            with_others: option.with_others,
        };
        Self {
            action: if more == 0 {
                action.clone()
            } else {
                format!("{first}\n[{more} more bytes are not shown]")
            },
            partial: self.partial || more > 0,
            options: self.options.iter().take(OPTIONS_MAX).map(option).collect(),
            stands: self.stands,
            detail: self.detail.as_ref().and_then(ActionDetail::for_display),
            folder: self.folder.as_deref().map(words),
            look: self.look.as_deref().map(words),
        }
    }
}

fn words(text: &str) -> String {
    text::cut(&text::revealed(text), WORDS_BYTES_MAX).to_owned()
}

/// The reason for which a permission needs no answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum WithdrawalReason {
    /// The question was answered at its terminal, or given up there.
    Gone,
    /// Another question took its place.
    Replaced,
    /// The question was answered, but the answer could not be given to the program, for example
    /// because another question had taken its place.
    NotGiven,
    /// The asker stopped waiting for an answer. It may ask again.
    GaveUp,
    /// The asker left, or the conversation was archived.
    Left,
}

/// A permission that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenPermission {
    /// The position of the event that asks, and its time.
    pub(crate) at: Seq,
    pub(crate) asked_at: Timestamp,
    pub(crate) expires: Timestamp,
    pub(crate) options: Vec<PermissionOption>,
}

/// An open question outside of turns. It waits until its asker withdraws it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenQuestion {
    /// The position of the event that asks, and its time.
    pub(crate) at: Seq,
    pub(crate) asked_at: Timestamp,
    pub(crate) participant: ParticipantId,
    pub(crate) options: Vec<PermissionOption>,
}

/// A permission that was settled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SettledPermission {
    pub(crate) permission: PermissionId,
    pub(crate) at: Timestamp,
    pub(crate) how: Settlement,
}

/// The outcome of a permission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Settlement {
    Answered {
        by: ParticipantId,
        option: String,
        label: String,
        /// The position of the answer, whose event has the person's own words.
        at: Seq,
    },
    Expired,
    Withdrawn(WithdrawalReason),
    /// Its turn ended.
    TurnOver,
}

/// Words that choose the option of this kind, whatever its label.
const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// Returns an agent's words with each line quoted, so that none looks like a line of the card.
pub(crate) fn set_apart(words: &str) -> String {
    let lines: Vec<String> = words.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_earlier_logs_are_options_still() {
        let stored = r#"["allow", "deny", "Yes, proceed (y)", {"id": "1", "label": "Yes", "kind": "allow_once"}]"#;
        let options: Vec<PermissionOption> = serde_json::from_str(stored).unwrap();
        let kinds: Vec<_> =
            options.iter().map(|option| (option.id.as_str(), option.kind)).collect();
        assert_eq!(
            kinds,
            [
                ("allow", OptionKind::AllowOnce),
                ("deny", OptionKind::RejectOnce),
                ("Yes, proceed (y)", OptionKind::Other),
                ("1", OptionKind::AllowOnce)
            ]
        );
    }

    #[test]
    fn a_question_hides_nothing_and_counts_what_it_cuts() {
        let long = format!("echo {}\u{202e}; rm -r ~", "x".repeat(20_000));
        let shown = Question {
            folder: Some("/a\u{1b}[2J".into()),
            ..Question::new(long, PermissionOption::allow_or_deny())
        }
        .for_display();
        assert!(
            shown.partial && shown.action.ends_with("[3638 more bytes are not shown]"),
            "{}",
            shown.action.len()
        );
        assert_eq!(shown.folder.as_deref(), Some("/a\\u{1b}[2J"));
        let short = Question::new(
            "echo \u{202e}\u{3164}x",
            vec![PermissionOption::new("1", "Yes\u{200b}", OptionKind::AllowOnce)],
        )
        .for_display();
        assert_eq!(
            (short.action.as_str(), short.options[0].label.as_str()),
            ("echo \\u{202e}\\u{3164}x", "Yes\\u{200b}")
        );
        assert!(!short.partial);
    }
}
