//! Matching of answers to the options of a question.

use std::fmt;

use super::{ALLOW, DENY, OptionKind, PermissionOption, TEXT_BYTES_MAX};
use crate::text;

/// The reason for which an answer does not fit a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceFault {
    /// The answer matches no option.
    Unknown {
        /// The answer as it was given: an option's id, label or beginning.
        given: String,
        /// The labels of the options that there are, for the message of the error.
        offered: String,
    },
    /// The answer matches several options.
    Ambiguous {
        /// The answer as it was given: an option's id, label or beginning.
        given: String,
        /// The labels of the options that there are, for the message of the error.
        offered: String,
    },
    /// The answer is the beginning of an option that may do more than this once.
    OnlyBeginning {
        /// The answer as it was given.
        given: String,
        /// The label of the option.
        label: String,
        /// The labels of the options that there are, for the message of the error.
        offered: String,
    },
    /// The answer names several options, and some of them cannot be combined.
    NotTogether {
        /// The answer as it was given.
        given: String,
        /// The options that can be combined.
        offered: String,
    },
    /// The answer has text, but the option takes none.
    TakesNoText {
        /// The label of the option.
        label: String,
        /// The options that take text.
        offered: String,
    },
    /// The option takes text, but the answer has none.
    TextMissing {
        /// The label of the option.
        label: String,
    },
    /// The text is too long.
    TextTooLong {
        /// Length of the text in bytes of UTF-8.
        bytes: usize,
    },
}

impl ChoiceFault {
    /// Returns the error code.
    pub const fn code(&self) -> &'static str {
        match self {
            ChoiceFault::Unknown { .. }
            | ChoiceFault::Ambiguous { .. }
            | ChoiceFault::OnlyBeginning { .. }
            | ChoiceFault::NotTogether { .. } => "unknown_option",
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
                write!(f, "{given:?} is not one of the options. The options are: {offered}")
            }
            ChoiceFault::Ambiguous { given, offered } => {
                write!(
                    f,
                    "{given:?} matches several options. Name one by its number or its text: \
                     {offered}"
                )
            }
            ChoiceFault::OnlyBeginning { given, label, offered } => {
                write!(
                    f,
                    "{given:?} is only the beginning of {label:?}, which may do more than this \
                     once. Name the option by its number or its whole text: {offered}"
                )
            }
            ChoiceFault::NotTogether { given, offered } => {
                write!(f, "{given:?} cannot be chosen together. These options can: {offered}")
            }
            ChoiceFault::TakesNoText { label, offered } if offered.is_empty() => {
                write!(
                    f,
                    "{label:?} takes no text, and neither does any other option. Answer without \
                     `text`"
                )
            }
            ChoiceFault::TakesNoText { label, offered } => {
                write!(
                    f,
                    "{label:?} takes no text. Answer without `text`, or choose an option that \
                     takes text: {offered}"
                )
            }
            ChoiceFault::TextMissing { label } => {
                write!(
                    f,
                    "{label:?} needs an answer in your own words. Give it as `text`, with some \
                     visible characters"
                )
            }
            ChoiceFault::TextTooLong { bytes } => {
                write!(
                    f,
                    "This answer has {bytes} bytes; the maximum is {TEXT_BYTES_MAX}. Send the \
                     rest in a message"
                )
            }
        }
    }
}

/// Returns the option that an answer means. The tests in order: the id; `allow` or `deny`, if one
/// option allows or refuses this once; the whole label; the number from 1; the beginning of the
/// label. The first test that any option passes decides. A beginning chooses no option that may do
/// more than this once. (See `docs/decisions/0014`.)
///
/// # Errors
/// [`ChoiceFault`] if no option or several pass.
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
    type Fits<'a> = &'a dyn Fn(usize, &PermissionOption) -> bool;
    let tests: [Fits<'_>; 4] = [&is_id, &is_kind, &is_label, &is_number];
    for test in tests {
        if let Some(option) = only(options, given, test)? {
            return Ok(option);
        }
    }
    // The words for this once are never the beginning of other words.
    let begins = |_: usize, option: &PermissionOption| {
        kind.is_none() && !said.is_empty() && option.label.to_lowercase().starts_with(&said)
    };
    let (given, offered) = (given.to_owned(), || listed(options, |_| true));
    match only(options, &given, &begins)? {
        Some(option) if may_do_more(options, option) => {
            let label = option.label.clone();
            Err(ChoiceFault::OnlyBeginning { given, label, offered: offered() })
        }
        Some(option) => Ok(option),
        None => Err(ChoiceFault::Unknown { given, offered: offered() }),
    }
}

/// Returns the option that passes a test, if one does.
///
/// # Errors
/// [`ChoiceFault::Ambiguous`] if several options pass.
fn only<'a>(
    options: &'a [PermissionOption],
    given: &str,
    test: &dyn Fn(usize, &PermissionOption) -> bool,
) -> Result<Option<&'a PermissionOption>, ChoiceFault> {
    let mut fitting = options.iter().enumerate().filter(|(at, option)| test(*at, option));
    match (fitting.next(), fitting.next()) {
        (Some(_), Some(_)) => {
            let (given, offered) = (given.to_owned(), listed(options, |_| true));
            Err(ChoiceFault::Ambiguous { given, offered })
        }
        (one, _) => Ok(one.map(|(_, option)| option)),
    }
}

/// True if an option may allow or refuse more than this once. An option of unknown effect may, if
/// it cannot be combined with others, and others of its question allow or refuse something.
fn may_do_more(options: &[PermissionOption], option: &PermissionOption) -> bool {
    match option.kind {
        OptionKind::AllowOnce | OptionKind::RejectOnce => false,
        OptionKind::AllowAlways | OptionKind::RejectAlways => true,
        OptionKind::Other => {
            !option.with_others && options.iter().any(|option| option.kind != OptionKind::Other)
        }
    }
}

/// Returns the labels of the matching options, with their numbers.
fn listed(options: &[PermissionOption], of: impl Fn(&PermissionOption) -> bool) -> String {
    let lines = options.iter().enumerate().filter(|(_, option)| of(option));
    lines
        .map(|(at, option)| format!("{}. {}", at + 1, option.label))
        .collect::<Vec<_>>()
        .join(" · ")
}

/// The answer to a question: one option, or several that can be chosen together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenOptions {
    /// The ids of the options, in the order of the question, with commas between them.
    pub option: String,
    /// The labels, in the same order.
    pub label: String,
    /// True if the answer refuses the action.
    pub refuses: bool,
}

impl ChosenOptions {
    fn of(options: &[&PermissionOption]) -> Self {
        let joined = |word: fn(&PermissionOption) -> &str, between: &str| {
            options.iter().map(|option| word(option)).collect::<Vec<_>>().join(between)
        };
        Self {
            option: joined(|option| &option.id, SEPARATOR),
            label: joined(|option| &option.label, ", "),
            refuses: options.iter().all(|option| option.kind.refuses()),
        }
    }
}

/// The separator of the ids of several options.
const SEPARATOR: &str = ",";

/// Returns the positions of the options whose ids an answer names; `None` if one of the ids is
/// unknown.
pub fn positions(options: &[PermissionOption], answer: &str) -> Option<Vec<usize>> {
    let position = |id: &str| options.iter().position(|option| option.id == id);
    match position(answer) {
        Some(at) => Some(vec![at]),
        None => answer.split(SEPARATOR).map(position).collect(),
    }
}

/// Returns the chosen options and the cleaned text of an answer. Text without an option means the
/// only option that takes text; the text itself never chooses an option. Several options are
/// separated by commas.
///
/// # Errors
/// [`ChoiceFault`] if no option or several match, or if the option and the text do not fit.
pub fn answered(
    options: &[PermissionOption],
    given: &str,
    text: Option<&str>,
) -> Result<(ChosenOptions, Option<String>), ChoiceFault> {
    if text.is_none()
        && let Some(several) = several(options, given)?
    {
        return Ok((ChosenOptions::of(&several), None));
    }
    let (option, text) = answered_by_one(options, given, text)?;
    Ok((ChosenOptions::of(&[option]), text))
}

/// Returns the options that a comma-separated answer names, in the order of the question; `None` if
/// it names one.
fn several<'a>(
    options: &'a [PermissionOption],
    given: &str,
) -> Result<Option<Vec<&'a PermissionOption>>, ChoiceFault> {
    let offers_several = options.iter().any(|option| option.with_others);
    if !offers_several || !given.contains(SEPARATOR) || choose(options, given).is_ok() {
        return Ok(None);
    }
    let named = given.split(SEPARATOR).map(|one| choose(options, one));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    if named.iter().any(|option| !option.with_others) {
        let offered = listed(options, |option| option.with_others);
        return Err(ChoiceFault::NotTogether { given: given.to_owned(), offered });
    }
    Ok(Some(options.iter().filter(|option| named.contains(option)).collect()))
}

/// Returns the one option that an answer means, and its cleaned text. Fails if text is missing, too
/// long, or given to an option without text.
fn answered_by_one<'a>(
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

/// Returns the only option that takes text.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the options of one of Codex's questions.
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
            ("yes, p", "1"),
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
            assert!(id(given).is_err_and(|why| why.contains("not one of the options")), "{given}");
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
                .map(|(chosen, text)| (chosen.option, text))
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
                .is_err_and(|fault| fault.to_string().contains("neither does any other"))
        );
    }

    #[test]
    fn several_are_chosen_together_where_a_question_offers_that() {
        let option = |id: &str, label: &str| PermissionOption::new(id, label, OptionKind::Other);
        let options = [
            option("1", "Unit").with_others(),
            option("2", "Style, and more").with_others(),
            option("5", "Chat about this"),
        ];
        let said = |given: &str| {
            answered(&options, given, None)
                .map(|(chosen, _)| (chosen.option, chosen.label))
                .map_err(|fault| (fault.code(), fault.to_string()))
        };
        let both = Ok(("1,2".to_owned(), "Unit, Style, and more".to_owned()));
        assert_eq!(said("2, 1"), both);
        assert_eq!(said("unit,2,1"), both);
        assert_eq!(said("style, and more").map(|(option, _)| option), Ok("2".to_owned()));
        for (given, way) in
            [("1,5", "cannot be chosen together"), ("1,9", "not one of the options")]
        {
            let (code, why) = said(given).unwrap_err();
            assert!(code == "unknown_option" && why.contains(way), "{given} {why}");
        }
        assert!(answered(&codex(), "1,3", None).is_err(), "one answer is offered there");
        assert_eq!(positions(&options, "1,5"), Some(vec![0, 2]));
        assert_eq!(positions(&options, "1,4"), None);
    }

    #[test]
    fn a_beginning_chooses_no_option_that_may_do_more_than_this_once() {
        use OptionKind::{AllowAlways, AllowOnce, Other, RejectAlways, RejectOnce};
        let question = |labels: &[(&str, OptionKind)]| -> Vec<_> {
            let option = |(at, (label, kind)): (usize, &(&str, OptionKind))| {
                PermissionOption::new(format!("o{}", at + 1), *label, *kind)
            };
            labels.iter().enumerate().map(option).collect()
        };
        let program = question(&[
            ("Yes, this time", AllowOnce),
            ("Allow for this session", AllowAlways),
            ("Edit by yourself", Other),
            ("Deny for this session", RejectAlways),
        ]);
        let plan = question(&[("Yes, and auto-accept", Other), ("No, keep planning", RejectOnce)]);
        let unclear = question(&[
            ("Allow for this session", AllowAlways),
            ("Allowlist this program", Other),
            ("Deny for this session", RejectAlways),
        ]);
        for (options, given) in [
            (&program, "a"),
            (&program, "allow for"),
            (&program, "e"),
            (&program, "deny"),
            (&program, "d"),
            (&plan, "yes"),
            (&unclear, "allow"),
            (&unclear, "deny"),
            (&unclear, "allow f"),
        ] {
            let why = choose(options, given).map_err(|fault| (fault.code(), fault.to_string()));
            let tells = |(code, why): &(&str, String)| {
                *code == "unknown_option" && why.contains(&format!("1. {}", options[0].label))
            };
            assert!(why.as_ref().is_err_and(tells), "{given} {why:?}");
        }
        let why = choose(&program, "a").unwrap_err().to_string();
        assert!(why.contains("by its number or its whole text"), "{why}");
        for (options, given, meant) in [
            (&program, "o2", "o2"),
            (&program, "2", "o2"),
            (&program, "allow for this SESSION", "o2"),
            (&program, "4", "o4"),
            (&program, "allow", "o1"),
            (&program, "y", "o1"),
            (&plan, "n", "o2"),
            (&plan, "yes, and auto-accept", "o1"),
        ] {
            let chosen = choose(options, given).map(|option| option.id.as_str());
            assert_eq!(chosen, Ok(meant), "{given}");
        }
        let words = question(&[("SQLite", Other), ("Postgres", Other)]);
        assert_eq!(choose(&words, "s").map(|option| option.id.as_str()), Ok("o1"));
        let several = question(&[("Unit", Other), ("No tests", RejectOnce)]);
        let several: Vec<_> = several.into_iter().map(PermissionOption::with_others).collect();
        assert_eq!(choose(&several, "u").map(|option| option.id.as_str()), Ok("o1"));
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
}
