//! The parts of an action, if the program that asks reports them one by one.

use serde::{Deserialize, Serialize};

use super::ACTION_BYTES_MAX;
use crate::text;

/// The line before the words of a dialog.
const ON_SCREEN: &str = "On its screen:";

/// The tool that a program wants to use, and all of its input. The action of the question holds the
/// same in one text; this is for surfaces that draw a command as a command and an edit as a
/// difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionDetail {
    /// The name of the tool, as the program has it.
    pub tool: String,
    /// The parts of the input, in the order in which they are read.
    pub parts: Vec<ActionPart>,
    /// The words of the dialog on the program's screen, if the question comes from the screen and
    /// the program's report was added to it. Neither is enough alone: a screen may show only a
    /// part, and a report may be of an earlier dialog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<String>,
    /// The place of the question among those that the program asks in one call, if it asks several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<QuestionStep>,
}

/// The place of a question among several that a program asks one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionStep {
    /// The number of the question, from 1.
    pub number: usize,
    /// The number of questions in all.
    pub of: usize,
}

/// One part of an action's input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionPart {
    /// The meaning of the part.
    pub role: PartRole,
    /// The name of the part, as the program has it.
    pub name: String,
    /// The text of the part.
    pub text: String,
}

/// The meaning of a part of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PartRole {
    /// A command line.
    Command,
    /// The file or folder that the action concerns.
    Path,
    /// Text that an edit removes.
    Before,
    /// Text that an edit puts in the place of the one before it.
    After,
    /// The whole text of a file that is written.
    Content,
    /// An address that is fetched.
    Address,
    /// The agent's own words about the action, which prove nothing.
    Claim,
    /// A question to the person, whose answers are the options.
    Question,
    /// Any other part.
    Other,
}

impl ActionDetail {
    /// Returns all parts as lines of text: a command after `$`, removed lines after `-`, added
    /// lines after `+`, and the agent's own words as a quotation. The name of the tool stands
    /// before the first part, unless that part is a command or a question. The words of the dialog
    /// come last.
    pub fn to_text(&self) -> String {
        let says_all =
            |part: &ActionPart| matches!(part.role, PartRole::Command | PartRole::Question);
        let tool = if self.parts.first().is_some_and(says_all) { "" } else { &self.tool };
        let mut lines = Vec::new();
        for part in &self.parts {
            let behind = |sign: &str| {
                let marked = part.text.lines().map(|line| format!("{sign} {line}"));
                marked.collect::<Vec<_>>().join("\n")
            };
            lines.push(match part.role {
                PartRole::Command => format!("$ {}", part.text),
                PartRole::Path | PartRole::Address => part.text.clone(),
                PartRole::Question => format!("{}{}", self.step_text(), part.text),
                PartRole::Before => behind("-"),
                PartRole::After | PartRole::Content => behind("+"),
                PartRole::Claim => format!("it says of that: {:?}", part.text),
                PartRole::Other => format!("{}: {}", part.name, part.text),
            });
        }
        lines.extend(self.screen.iter().map(|screen| format!("\n{ON_SCREEN}\n{screen}")));
        format!("{tool} {}", lines.join("\n")).trim_start().to_owned()
    }

    /// Returns the place among several questions, as words before the question.
    fn step_text(&self) -> String {
        let step = |QuestionStep { number, of }| format!("Question {number} of {of}: ");
        self.step.map(step).unwrap_or_default()
    }

    /// Returns the detail as people see it, with hidden characters made visible; `None` if it is
    /// too long to be shown whole, because a part of it could mislead.
    pub(super) fn for_display(&self) -> Option<Self> {
        let part = |part: &ActionPart| ActionPart {
            role: part.role,
            name: text::revealed(&part.name),
            text: text::revealed(&part.text),
        };
        let shown = Self {
            tool: text::revealed(&self.tool),
            parts: self.parts.iter().map(part).collect(),
            screen: self.screen.as_deref().map(text::revealed),
            step: self.step,
        };
        let parts = shown.parts.iter().map(|part| part.name.len() + part.text.len());
        let around = shown.tool.len() + shown.screen.as_ref().map_or(0, String::len);
        (around + parts.sum::<usize>() <= ACTION_BYTES_MAX).then_some(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(text: &str) -> ActionDetail {
        let part =
            ActionPart { role: PartRole::Command, name: "command".into(), text: text.into() };
        ActionDetail { tool: "Bash".into(), parts: vec![part], screen: None, step: None }
    }

    #[test]
    fn all_parts_are_in_the_text() {
        let part = |role, text: &str| ActionPart { role, name: "n".into(), text: text.into() };
        let parts = [
            (PartRole::Path, "/x"),
            (PartRole::Before, "a\nb"),
            (PartRole::After, "c"),
            (PartRole::Other, "7"),
            (PartRole::Claim, "harmless"),
        ];
        let parts = parts.map(|(role, text)| part(role, text)).to_vec();
        let screen = Some("Apply this change?".to_owned());
        let text = ActionDetail { tool: "Edit".into(), parts, screen, step: None }.to_text();
        let expected = "Edit /x\n- a\n- b\n+ c\nn: 7\nit says of that: \"harmless\"\n\n\
                        On its screen:\nApply this change?";
        assert_eq!(text, expected);
        assert_eq!(detail("ls").to_text(), "$ ls");
        let mut asked = detail("Which database?");
        (asked.parts[0].role, asked.step) =
            (PartRole::Question, Some(QuestionStep { number: 2, of: 3 }));
        assert_eq!(asked.to_text(), "Question 2 of 3: Which database?");
    }

    #[test]
    fn hidden_characters_are_shown_and_a_long_detail_is_left_out() {
        let shown = detail("ls \u{202e}x").for_display().unwrap();
        assert_eq!(shown.parts[0].text, "ls \\u{202e}x");
        assert_eq!(detail(&"x".repeat(ACTION_BYTES_MAX)).for_display(), None);
    }
}
