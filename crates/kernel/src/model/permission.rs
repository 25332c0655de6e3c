//! What a person is asked to allow: the action, the answers that are offered, and which of them
//! somebody's words mean.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::ids::{ParticipantId, PermissionId, Seq};
use crate::model::time::Timestamp;
use crate::text;

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
        Self { id: id.into(), label: label.into(), kind, takes_text: false }
    }

    /// The same, answered in words of one's own.
    #[must_use]
    pub fn taking_text(self) -> Self {
        Self { takes_text: true, ..self }
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
        enum Stored {
            Words(String),
            Whole {
                id: String,
                label: String,
                kind: OptionKind,
                #[serde(default)]
                takes_text: bool,
            },
        }
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Words(words) => Self::from(words.as_str()),
            Stored::Whole { id, label, kind, takes_text } => Self { id, label, kind, takes_text },
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
pub enum Withdrawn {
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
pub(crate) struct Waiting {
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
pub(crate) struct Settled {
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
    Withdrawn(Withdrawn),
    /// Its turn was over.
    TurnOver,
}

/// The words that mean the option of a kind, whatever it is called.
const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// Why somebody's words are no answer. All say what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceFault {
    /// They mean none.
    Unknown {
        /// The answer as it was given: an option's id, label or beginning.
        given: String,
        /// The labels of the options that there are, for the message of the error.
        offered: String,
    },
    /// They mean more than one.
    Ambiguous {
        /// The answer as it was given: an option's id, label or beginning.
        given: String,
        /// The labels of the options that there are, for the message of the error.
        offered: String,
    },
    /// There are words of one's own, and the option takes none.
    TakesNoText {
        /// The option's words.
        label: String,
        /// The options that do.
        offered: String,
    },
    /// The option takes words, and there are none.
    TextMissing {
        /// The option's words.
        label: String,
    },
    /// There are too many words.
    TextTooLong {
        /// Bytes of UTF-8.
        bytes: usize,
    },
}

impl ChoiceFault {
    /// What a refusal for it is called.
    pub const fn code(&self) -> &'static str {
        match self {
            ChoiceFault::Unknown { .. } | ChoiceFault::Ambiguous { .. } => "unknown_option",
            ChoiceFault::TakesNoText { .. } => "takes_no_text",
            ChoiceFault::TextMissing { .. } => "text_missing",
            ChoiceFault::TextTooLong { .. } => "message_too_large",
        }
    }
}

impl fmt::Display for ChoiceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChoiceFault::Unknown { given, offered } => {
                write!(f, "{given:?} is none of the answers here. They are: {offered}")
            }
            ChoiceFault::Ambiguous { given, offered } => {
                write!(
                    f,
                    "{given:?} may be several of the answers here. Say one by its number or its words: {offered}"
                )
            }
            ChoiceFault::TakesNoText { label, offered } if offered.is_empty() => {
                write!(
                    f,
                    "{label:?} takes no words, and no other answer here does. Answer without `text`"
                )
            }
            ChoiceFault::TakesNoText { label, offered } => {
                write!(
                    f,
                    "{label:?} takes no words. Answer without `text`, or choose what takes them: {offered}"
                )
            }
            ChoiceFault::TextMissing { label } => {
                write!(
                    f,
                    "{label:?} is answered in words of your own, and there are none that can be seen. Give them as `text`"
                )
            }
            ChoiceFault::TextTooLong { bytes } => {
                write!(
                    f,
                    "This answer has {bytes} bytes; at most {TEXT_BYTES_MAX} are taken. Say the rest in a message"
                )
            }
        }
    }
}

/// The option that somebody's words mean: its id; `allow` or `deny`, which mean the one option that
/// allows or refuses it this once; its whole words; its number, counted from 1; or the beginning of
/// its words, if no other begins like that.
///
/// # Errors
/// [`ChoiceFault`], when it is none or not one.
pub fn choose<'a>(
    options: &'a [PermissionOption],
    given: &str,
) -> Result<&'a PermissionOption, ChoiceFault> {
    let said = given.trim().to_lowercase();
    let kind = match said.as_str() {
        ALLOW => Some(OptionKind::AllowOnce),
        DENY => Some(OptionKind::RejectOnce),
        _ => None,
    };
    let number = said.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let is_id = |_: usize, option: &PermissionOption| option.id == given;
    let is_kind = |_: usize, option: &PermissionOption| kind == Some(option.kind);
    let is_label = |_: usize, option: &PermissionOption| option.label.to_lowercase() == said;
    let is_number = |at: usize, _: &PermissionOption| number == Some(at);
    let begins = |_: usize, option: &PermissionOption| {
        !said.is_empty() && option.label.to_lowercase().starts_with(&said)
    };
    type Fits<'a> = &'a dyn Fn(usize, &PermissionOption) -> bool;
    let tests: [Fits<'_>; 5] = [&is_id, &is_kind, &is_label, &is_number, &begins];
    let offered = || listed(options, |_| true);
    for test in tests {
        let mut fitting = options
            .iter()
            .enumerate()
            .filter(|(at, option)| test(*at, option))
            .map(|(_, option)| option);
        match (fitting.next(), fitting.next()) {
            (Some(one), None) => return Ok(one),
            (Some(_), Some(_)) => {
                return Err(ChoiceFault::Ambiguous { given: given.to_owned(), offered: offered() });
            }
            (None, _) => {}
        }
    }
    Err(ChoiceFault::Unknown { given: given.to_owned(), offered: offered() })
}

/// The options of which this holds, with their numbers.
fn listed(options: &[PermissionOption], of: impl Fn(&PermissionOption) -> bool) -> String {
    let lines = options.iter().enumerate().filter(|(_, option)| of(option));
    lines
        .map(|(at, option)| format!("{}. {}", at + 1, option.label))
        .collect::<Vec<_>>()
        .join(" · ")
}

/// The option that an answer means, and the words of one's own that go with it, as they are kept.
/// Words without an option mean the one option that takes any; words never decide which option is
/// meant.
///
/// # Errors
/// [`ChoiceFault`], when it means none or not one, or when its words and the option do not fit.
pub fn answered<'a>(
    options: &'a [PermissionOption],
    given: &str,
    text: Option<&str>,
) -> Result<(&'a PermissionOption, Option<String>), ChoiceFault> {
    let text = text.map(text::clean);
    let option = if given.trim().is_empty() && text.is_some() {
        taker(options)?
    } else {
        choose(options, given)?
    };
    let label = || option.label.clone();
    match (option.takes_text, &text) {
        (false, Some(_)) => Err(ChoiceFault::TakesNoText {
            label: label(),
            offered: listed(options, |option| option.takes_text),
        }),
        (true, text) if text.as_ref().is_none_or(|text| text::is_empty_looking(text)) => {
            Err(ChoiceFault::TextMissing { label: label() })
        }
        (true, Some(text)) if text.len() > TEXT_BYTES_MAX => {
            Err(ChoiceFault::TextTooLong { bytes: text.len() })
        }
        (true, _) | (false, None) => Ok((option, text)),
    }
}

/// The one option that takes words.
fn taker(options: &[PermissionOption]) -> Result<&PermissionOption, ChoiceFault> {
    let mut takers = options.iter().filter(|option| option.takes_text);
    let (given, offered) = (String::new(), || listed(options, |_| true));
    match (takers.next(), takers.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(ChoiceFault::Ambiguous {
            given,
            offered: listed(options, |option| option.takes_text),
        }),
        (None, _) => Err(ChoiceFault::Unknown { given, offered: offered() }),
    }
}

/// Sets each line of an agent's words apart, so that none passes for a line of the card.
pub(crate) fn set_apart(words: &str) -> String {
    let lines: Vec<String> = words.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codex() -> Vec<PermissionOption> {
        vec![
            PermissionOption::new("1", "Yes, proceed (y)", OptionKind::AllowOnce),
            PermissionOption::new(
                "2",
                "Yes, and don't ask again for commands that start with `touch` (p)",
                OptionKind::AllowAlways,
            ),
            PermissionOption::new(
                "3",
                "No, and tell Codex what to do differently (esc)",
                OptionKind::RejectOnce,
            ),
        ]
    }

    #[test]
    fn words_mean_an_option_by_id_kind_words_number_or_beginning() {
        let options = codex();
        let id = |given: &str| {
            choose(&options, given)
                .map(|option| option.id.clone())
                .map_err(|fault| fault.to_string())
        };
        for (given, meant) in [
            ("allow", "1"),
            (" Allow ", "1"),
            ("deny", "3"),
            ("2", "2"),
            ("no", "3"),
            ("yes, and", "2"),
            ("yes, proceed (Y)", "1"),
        ] {
            assert_eq!(id(given), Ok(meant.to_owned()), "{given}");
        }
        assert!(
            id("yes")
                .is_err_and(|why| why.contains("several") && why.contains("3. No, and tell Codex")),
            "{:?}",
            id("yes")
        );
        for given in ["", "4", "0", "nope", "allow_once"] {
            assert!(id(given).is_err_and(|why| why.contains("none of the answers")), "{given}");
        }
    }

    #[test]
    fn words_of_ones_own_go_with_an_option_that_takes_them() {
        let text = |id: &str| {
            PermissionOption::new(id, "Type something.", OptionKind::Other).taking_text()
        };
        let options = [PermissionOption::new("1", "SQLite", OptionKind::Other), text("2")];
        let said = |given: &str, text: Option<&str>| {
            let answer = answered(&options, given, text);
            answer
                .map(|(option, text)| (option.id.clone(), text))
                .map_err(|fault| (fault.code(), fault.to_string()))
        };
        let kept = |id: &str, text: Option<&str>| Ok((id.to_owned(), text.map(str::to_owned)));
        assert_eq!(said("sqlite", None), kept("1", None));
        assert_eq!(said("2", Some("Maria\r\nDB\u{1b}")), kept("2", Some("Maria\r\nDB")));
        assert_eq!(said("", Some("1")), kept("2", Some("1")), "words decide nothing");
        for (given, text, code, way) in [
            ("1", Some("x"), "takes_no_text", "2. Type something."),
            ("1", Some(""), "takes_no_text", "2. Type something."),
            ("2", None, "text_missing", "`text`"),
            ("2", Some(" \u{200b}\n"), "text_missing", "`text`"),
            ("", None, "unknown_option", "1. SQLite"),
            ("MariaDB", Some("x"), "unknown_option", "1. SQLite"),
            ("2", Some(&*"x".repeat(TEXT_BYTES_MAX + 1)), "message_too_large", "4096"),
        ] {
            let fault = said(given, text).unwrap_err();
            assert!(fault.0 == code && fault.1.contains(way), "{given:?} {fault:?}");
        }
        assert!(
            answered(&[text("a"), text("b")], "", Some("x"))
                .is_err_and(|fault| matches!(fault, ChoiceFault::Ambiguous { .. }))
        );
        assert!(
            answered(&codex(), "", Some("x"))
                .is_err_and(|fault| matches!(fault, ChoiceFault::Unknown { .. }))
        );
        assert!(
            answered(&codex(), "1", Some("x"))
                .is_err_and(|fault| fault.to_string().contains("no other answer"))
        );
    }

    #[test]
    fn no_order_is_assumed_and_allow_is_never_guessed() {
        let turned: Vec<_> = codex().into_iter().rev().collect();
        assert_eq!(choose(&turned, "allow").map(|option| option.id.as_str()), Ok("1"));
        assert_eq!(
            choose(&turned, "1").map(|option| option.id.as_str()),
            Ok("1"),
            "an id is an id"
        );
        let always = [
            PermissionOption::new("a", "Always", OptionKind::AllowAlways),
            PermissionOption::new("b", "Skip", OptionKind::Other),
        ];
        assert!(matches!(choose(&always, "allow"), Err(ChoiceFault::Unknown { .. })));
        let two = [
            PermissionOption::new("a", "Yes", OptionKind::AllowOnce),
            PermissionOption::new("b", "Here", OptionKind::AllowOnce),
        ];
        assert!(matches!(choose(&two, "allow"), Err(ChoiceFault::Ambiguous { .. })));
    }

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
        let shown =
            Question { folder: Some("/a\u{1b}[2J".into()), ..Question::new(long, codex()) }.shown();
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
