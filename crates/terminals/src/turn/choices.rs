//! A program's questions to its user, as its report has them and its dialog shows them.

use moothall_engine::sessions::{Dialog, ReportedQuestion};
use moothall_kernel::permission::{
    ActionDetail, ActionPart, PartRole, PermissionOption, QuestionStep,
};

/// Returns the question of a report that a dialog shows, with the dialog's options; `None` if the
/// dialog shows none of the report's questions. The dialog takes the answer, so the report only
/// separates the label of an option from its description.
pub(super) fn asked(
    asks: &ReportedQuestion,
    dialog: &Dialog,
) -> Option<(ActionDetail, Vec<PermissionOption>)> {
    let at = asks.choices.iter().position(|choice| dialog.asks(choice))?;
    let choice = &asks.choices[at];
    let of = asks.choices.len();
    let text = choice.question.clone();
    let question = ActionPart { role: PartRole::Question, name: choice.header.clone(), text };
    let detail = ActionDetail {
        tool: asks.detail.as_ref().map(|detail| detail.tool.clone()).unwrap_or_default(),
        parts: vec![question],
        screen: None,
        step: (of > 1).then_some(QuestionStep { number: at + 1, of }),
    };
    let described = |(at, option): (usize, PermissionOption)| match choice.options.get(at) {
        Some((label, words)) if !words.is_empty() => option.described(label, words),
        Some(_) | None => option,
    };
    Some((detail, dialog.options.iter().cloned().enumerate().map(described).collect()))
}

/// True if a dialog may show a report. If the report has questions to the user, the dialog must ask
/// one of these questions.
pub(super) fn is_about(asks: &ReportedQuestion, dialog: &Dialog) -> bool {
    match asks.choices.as_slice() {
        [] => dialog.shows(&asks.action),
        choices => choices.iter().any(|choice| dialog.asks(choice)),
    }
}
