//! Answering a dialog: the key of an option, and words for its field.
//!
//! If a field holds words, the digit of its option submits them. If the field has the focus, a
//! digit is typed into it. So the screen is read before each key.
//! (`docs/decisions/0038-a-question-may-be-answered-in-words.md`)

use std::cmp::Ordering;
use std::time::Duration;

use moothall_engine::crash;
use moothall_engine::sessions::{Dialog, Field, HostFault, PaneState, View};

use super::hygiene::for_field;
use super::typing::{TAKES_PASTE, Typist};

/// Number of options that a digit can choose.
const DIGITS: usize = 9;

/// Time for a program to show the effect of a key; after it, the key failed.
const TAKES_KEY: Duration = Duration::from_secs(5);

/// The fault if another dialog has replaced the answered one.
const ANOTHER: &str = "The program shows another dialog now.";

/// Characters at the end of words that are looked for when the beginning of the dialog has scrolled
/// off the screen.
const END_CHARS: usize = 40;

impl Typist<'_> {
    /// Chooses options if this dialog is still shown. If the dialog has options to check, and the
    /// chosen ones are among them, exactly these are checked. Otherwise exactly one option can be
    /// chosen.
    pub(super) async fn choose(
        &mut self,
        dialog: &Dialog,
        chosen: &[usize],
        text: Option<&str>,
    ) -> Result<(), HostFault> {
        let is_checked = |at: &usize| dialog.options.get(*at).is_some_and(|one| one.with_others);
        match chosen {
            _ if dialog.checked.is_some() && chosen.iter().all(is_checked) => {
                self.check(dialog, chosen).await
            }
            [position] => self.choose_one(dialog, *position, text).await,
            _ => refused("This dialog takes only one answer."),
        }
    }

    /// Checks exactly these options, and moves to the next step. If the next step only asks to
    /// confirm the answers, it is confirmed. Refuses if a person has typed words into the dialog's
    /// field.
    async fn check(&mut self, dialog: &Dialog, chosen: &[usize]) -> Result<(), HostFault> {
        for (at, _) in dialog.options.iter().enumerate().filter(|(_, one)| one.with_others) {
            let shown = self.look_at(dialog).await?;
            self.leave(dialog, shown.field.clone()).await?;
            if shown.field.is_some_and(|field| !field.words.is_empty()) {
                return refused("A person is typing an answer in this dialog.");
            }
            let wanted = chosen.contains(&at);
            if shown.checked.is_some_and(|checked| checked.contains(&at) == wanted) {
                continue;
            }
            let Some(digit) = digit_of(dialog, at) else {
                return refused("This option has no key.");
            };
            self.send(&digit).await?;
            let is_so = |view: &View| {
                let shown = view.dialog.as_ref().filter(|shown| shown.is_same(dialog));
                let checked = shown.and_then(|shown| shown.checked.as_ref());
                checked.is_some_and(|checked| checked.contains(&at) == wanted)
            };
            if self.until(TAKES_KEY, is_so).await?.is_none() {
                return Err(HostFault::Failed("The program did not check this option.".to_owned()));
            }
        }
        self.look_at(dialog).await?;
        self.send(self.vendor.table().keys.next).await?;
        let next = |view: &View| view.dialog.as_ref().is_none_or(|shown| !shown.is_same(dialog));
        if self.until(TAKES_KEY, next).await?.is_none() {
            return Err(HostFault::Failed("The program did not move to the next step.".to_owned()));
        }
        self.settle().await;
        match self.look().await?.dialog {
            Some(shown) if shown.confirms => self.choose_one(&shown, 0, None).await,
            Some(_) | None => Ok(()),
        }
    }

    /// Chooses an option by its digit, or with the arrows and Enter if the dialog takes no digits.
    /// An option with a field needs a `text`, and no other option takes one. Refuses an option for
    /// which [`digit_of`] has no digit.
    async fn choose_one(
        &mut self,
        dialog: &Dialog,
        position: usize,
        text: Option<&str>,
    ) -> Result<(), HostFault> {
        let Some(key) = digit_of(dialog, position) else {
            return refused("This option has no key.");
        };
        let shown = self.look_at(dialog).await?;
        if shown.pointer.is_some() && text.is_none() {
            return self.point(dialog, position).await;
        }
        let field = shown.field;
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            field.into_iter().partition(|field| field.option == position);
        match (text, here.into_iter().next(), elsewhere.into_iter().next()) {
            (Some(text), Some(field), _) => self.fill(dialog, field, &key, &for_field(text)).await,
            (Some(_), None, _) => refused("This option takes no text."),
            (None, Some(_), _) => refused("This option needs a text."),
            (None, None, field) => {
                self.leave(dialog, field).await?;
                self.send(&key).await
            }
        }
    }

    /// Returns the dialog as it is shown now. Refuses if the program shows another one or none. On
    /// a busy computer a program first draws half of a dialog, which cannot be read or looks like
    /// another one. So this function waits before it refuses, unless the program no longer asks.
    async fn look_at(&mut self, dialog: &Dialog) -> Result<Dialog, HostFault> {
        let is_this = |shown: &Dialog| shown.is_same(dialog);
        let is_whole = |view: &View| {
            !matches!(view.state, PaneState::Asking | PaneState::Starting)
                || view.dialog.as_ref().is_some_and(is_this)
        };
        let view = self.until(TAKES_KEY, is_whole).await?;
        match view.and_then(|view| view.dialog).filter(is_this) {
            Some(shown) => Ok(shown),
            None => refused(ANOTHER),
        }
    }

    /// Moves the pointer of a dialog to an option, reads the screen at each step, and presses
    /// Enter.
    async fn point(&mut self, dialog: &Dialog, position: usize) -> Result<(), HostFault> {
        let keys = &self.vendor.table().keys;
        let pointer = |view: &View| {
            view.dialog
                .as_ref()
                .filter(|shown| shown.is_same(dialog))
                .and_then(|shown| shown.pointer)
        };
        for _ in 0..=dialog.options.len() {
            let Some(at) = self.look_at(dialog).await?.pointer else { break };
            match at.cmp(&position) {
                Ordering::Equal => return self.send(keys.submit).await,
                Ordering::Less => self.send(keys.down).await?,
                Ordering::Greater => self.send(keys.up).await?,
            }
            self.until(TAKES_KEY, |view| pointer(view) != Some(at)).await?;
        }
        Err(HostFault::Failed("The program did not move to this option.".to_owned()))
    }

    /// Takes the focus from a field, where a digit would be typed. Refuses if a person has typed
    /// words there.
    async fn leave(&mut self, dialog: &Dialog, field: Option<Field>) -> Result<(), HostFault> {
        let Some(field) = field.filter(|field| field.is_focused) else { return Ok(()) };
        if !field.words.is_empty() {
            return refused("A person is typing an answer in this dialog.");
        }
        self.send(self.vendor.table().keys.up).await?;
        let left = |field: &Field| !field.is_focused;
        self.until(TAKES_KEY, |view| field_of(view, dialog).is_none_or(left)).await?;
        if self.look_at(dialog).await?.field.is_some_and(|field| field.is_focused) {
            return Err(HostFault::Failed("The program did not leave its text field.".to_owned()));
        }
        Ok(())
    }

    /// Puts words into a field and submits them. If the field already holds these words, they are
    /// not typed again. Refuses if it holds other words.
    async fn fill(
        &mut self,
        dialog: &Dialog,
        field: Field,
        key: &str,
        text: &str,
    ) -> Result<(), HostFault> {
        if text.is_empty() {
            return refused("The text is empty.");
        }
        if !field.words.is_empty() && !is_alike(&field.words, text) {
            return refused(
                "The text field is not empty: a person is typing an answer in this dialog.",
            );
        }
        if field.words.is_empty() {
            self.focus(dialog, &field, key).await?;
            self.put(text).await?;
            let shows = |view: &View| is_filled(view, dialog, text);
            if self.until(TAKES_PASTE, shows).await?.is_none() {
                return Err(HostFault::Failed(
                    "The program does not show the text that was pasted into its field.".to_owned(),
                ));
            }
            crash::point("field_filled");
        }
        self.settle().await;
        let reads =
            |view: &View| is_filled(view, dialog, text) || view.state != PaneState::Starting;
        let view = self.until(TAKES_KEY, reads).await?;
        if !view.is_some_and(|view| is_filled(&view, dialog, text)) {
            return refused(ANOTHER);
        }
        // Without focus, typing the option's digit would submit the text.
        let is_there = field.is_focused || field.words.is_empty();
        self.send(if is_there { self.vendor.table().keys.submit } else { key }).await?;
        match self.until(TAKES_KEY, |view| !is_filled(view, dialog, text)).await {
            Ok(Some(_)) | Err(HostFault::Gone(_)) => Ok(()),
            // A second Enter might go into the next dialog.
            Ok(None) => Err(HostFault::Failed(
                "The program does not accept the text in its field.".to_owned(),
            )),
            Err(fault) => Err(fault),
        }
    }

    /// Moves the focus to an empty field, by the key of its option. Fails if the field does not get
    /// the focus or is not empty.
    async fn focus(&mut self, dialog: &Dialog, field: &Field, key: &str) -> Result<(), HostFault> {
        if !field.is_focused {
            self.send(key).await?;
        }
        let empty = |field: &Field| field.is_focused && field.words.is_empty();
        match self.until(TAKES_KEY, |view| field_of(view, dialog).is_some_and(empty)).await? {
            Some(_) => Ok(()),
            None => Err(HostFault::Failed("The program did not open its text field.".to_owned())),
        }
    }
}

/// Returns the digit that chooses an option; `None` if it would be above 9. A field between the
/// options to check and the others takes a digit too, though it is not an option.
fn digit_of(dialog: &Dialog, position: usize) -> Option<String> {
    let option = dialog.options.get(position)?;
    let is_behind_field = dialog.checked.is_some() && !option.with_others;
    let digit = position + 1 + usize::from(is_behind_field);
    (digit <= DIGITS).then(|| digit.to_string())
}

fn refused<T>(why: &str) -> Result<T, HostFault> {
    Err(HostFault::Refused(why.to_owned()))
}

fn field_of<'a>(view: &'a View, dialog: &Dialog) -> Option<&'a Field> {
    view.dialog.as_ref().filter(|shown| shown.is_same(dialog))?.field.as_ref()
}

/// True if the field of this dialog holds words. Long words fill the screen, so that the dialog
/// cannot be read: then the end of `text` must be on the screen.
fn is_filled(view: &View, dialog: &Dialog, text: &str) -> bool {
    match field_of(view, dialog) {
        Some(field) => !field.words.is_empty(),
        None => {
            view.state == PaneState::Starting
                && view.dialog.is_none()
                && squeezed(&view.text).contains(&end_of(text))
        }
    }
}

/// True if a screen shows these words, regardless of line breaks.
fn is_alike(shown: &str, text: &str) -> bool {
    squeezed(shown) == squeezed(text)
}

pub(super) fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn end_of(text: &str) -> String {
    let squeezed: Vec<char> = squeezed(text).chars().collect();
    squeezed[squeezed.len().saturating_sub(END_CHARS)..].iter().collect()
}
