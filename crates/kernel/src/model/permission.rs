//! What a person is asked to allow: the action, the answers that are offered, and which of them
//! somebody's words mean.

mod choice;

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::ids::{ParticipantId, PermissionId, Seq};
use crate::model::time::Timestamp;
use crate::text;

pub use choice::{ChoiceFault, ChosenOptions, answered, choose, positions};

/// Longest description of an action that a permission shows, in bytes.
const ACTION_BYTES_MAX: usize = 16 * 1024;
/// Longest words of an option, of a folder, and of how to look, in bytes.
const WORDS_BYTES_MAX: usize = 1024;
/// Most options that are offered.
const OPTIONS_MAX: usize = 32;
/// Most questions of one agent that wait for people at a time, and most of its requests.
pub const CARDS_MAX: usize = 8;
/// Longest words of one's own that answer a question, in bytes. They have to fit on the screen that
/// takes them, to be read back there.
pub const TEXT_BYTES_MAX: usize = 4 * 1024;

/// One of the answers that are offered. No order of them is assumed, and their words may be those
/// of another question's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermissionOption {
    /// Names it among the options of its question.
    pub id: String,
    /// Its words, as whoever asks has them.
    pub label: String,
    /// What it comes to.
    pub kind: OptionKind,
    /// It is answered in words of one's own, and with them alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_text: bool,
    /// It may be chosen together with others of the kind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_others: bool,
}

/// What an answer comes to. The words are those of the Agent Client Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum OptionKind {
    /// Do it this time.
    AllowOnce,
    /// Do it, and do not ask again about the like of it.
    AllowAlways,
    /// Do not do it.
    RejectOnce,
    /// Do not do it, nor the like of it.
    RejectAlways,
    /// Neither is known: it is answered by its own words alone.
    Other,
}

impl OptionKind {
    /// True if what was asked is not done.
    pub const fn refuses(self) -> bool {
        matches!(self, OptionKind::RejectOnce | OptionKind::RejectAlways)
    }
}

impl PermissionOption {
    /// An option.
    pub fn new(id: impl Into<String>, label: impl Into<String>, kind: OptionKind) -> Self {
        let (id, label) = (id.into(), label.into());
        Self { id, label, kind, takes_text: false, with_others: false }
    }

    /// The same, answered in words of one's own.
    #[must_use]
    pub fn taking_text(self) -> Self {
        Self { takes_text: true, ..self }
    }

    /// The same, chosen alone or together with others.
    #[must_use]
    pub fn with_others(self) -> Self {
        Self { with_others: true, ..self }
    }

    /// The two answers of whoever can only be told yes or no.
    pub fn allow_or_deny() -> Vec<Self> {
        vec![Self::from("allow"), Self::from("deny")]
    }
}

/// An option that is nothing but its words. Of those only two say what they come to.
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

/// Logs of earlier versions hold nothing but the words.
impl<'de> Deserialize<'de> for PermissionOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum StoredOption {
            Words(String),
            Whole {
                id: String,
                label: String,
                kind: OptionKind,
                #[serde(default)]
                takes_text: bool,
                #[serde(default)]
                with_others: bool,
            },
        }
        Ok(match StoredOption::deserialize(deserializer)? {
            StoredOption::Words(words) => Self::from(words.as_str()),
            StoredOption::Whole { id, label, kind, takes_text, with_others } => {
                Self { id, label, kind, takes_text, with_others }
            }
        })
    }
}

/// What a person is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The exact action.
    pub action: String,
    /// The action is only a part of what would be done, or none of it is known.
    pub partial: bool,
    /// What can be answered.
    pub options: Vec<PermissionOption>,
    /// The folder in which it would be done.
    pub folder: Option<String>,
    /// The command with which a person can look at it.
    pub look: Option<String>,
    /// It is asked as long as its dialog stands. Its time is a bound for the log alone.
    pub stands: bool,
}

impl Question {
    /// A question about an action that is known whole.
    pub fn new(action: impl Into<String>, options: Vec<PermissionOption>) -> Self {
        Self { action: action.into(), options, ..Self::default() }
    }

    /// The question as people see it: with nothing hidden, and of bounded length. What is cut off
    /// is counted, and the rest is called what it is then, a part.
    #[must_use]
    pub fn shown(&self) -> Self {
        let action = text::revealed(&self.action);
        let first = text::cut(&action, ACTION_BYTES_MAX);
        let more = action.len() - first.len();
        let option = |option: &PermissionOption| PermissionOption {
            id: text::cut(&option.id, WORDS_BYTES_MAX).to_owned(),
            label: words(&option.label),
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
            folder: self.folder.as_deref().map(words),
            look: self.look.as_deref().map(words),
        }
    }
}

fn words(text: &str) -> String {
    text::cut(&text::revealed(text), WORDS_BYTES_MAX).to_owned()
}

/// Why nobody needs to answer a question any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum WithdrawalReason {
    /// It is not asked any more: it was answered where it was asked, or given up.
    Gone,
    /// Something else is asked in its place.
    Replaced,
    /// It was answered, and something else stood there before the answer got to it: the answer was
    /// given to nobody.
    NotGiven,
    /// Its asker has stopped waiting for an answer. It may ask again.
    GaveUp,
    /// Its asker has left, or its conversation was archived.
    Left,
}

/// A permission that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenPermission {
    pub(crate) expires: Timestamp,
    pub(crate) options: Vec<PermissionOption>,
}

/// A question of no turn: it waits for as long as whoever asks it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenQuestion {
    /// The event that asks.
    pub(crate) at: Seq,
    pub(crate) participant: ParticipantId,
    pub(crate) options: Vec<PermissionOption>,
}

/// A permission that waits no more, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SettledPermission {
    pub(crate) permission: PermissionId,
    pub(crate) at: Timestamp,
    pub(crate) how: Settlement,
}

/// What came of a permission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Settlement {
    Answered {
        by: ParticipantId,
        option: String,
        label: String,
    },
    Expired,
    Withdrawn(WithdrawalReason),
    /// Its turn was over.
    TurnOver,
}

/// The words that mean the option of a kind, whatever it is called.
const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// Sets each line of an agent's words apart, so that none passes for a line of the card.
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
        .shown();
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
        .shown();
        assert_eq!(
            (short.action.as_str(), short.options[0].label.as_str()),
            ("echo \\u{202e}\\u{3164}x", "Yes\\u{200b}")
        );
        assert!(!short.partial);
    }
}
