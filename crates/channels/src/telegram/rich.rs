//! The forms of a text in Telegram: rich messages, or text with entities.
//!
//! A text is begun as rich messages if the configuration and the Bot API server allow it. If
//! Telegram refuses one of them, the rest goes as text with entities. The notes of the delivery
//! tell which messages were rich, so that a crash changes neither the form nor the parts.

use moothall_engine::outbox::CarryNotes;

use super::Telegram;
use super::bot::Bot;
use super::client::Method;
use super::text::{self, Part};
use crate::config::RichRule;

/// The content of one message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// Markdown for a rich message.
    Rich(String),
    /// Text with entities.
    Text(Part),
}

/// Returns text with entities as messages.
pub(super) fn text_pieces(parts: Vec<Part>) -> Vec<Piece> {
    parts.into_iter().map(Piece::Text).collect()
}

/// Returns the messages of a text. Those that were sent before, as the notes tell, keep their form.
/// `is_allowed` is true if a text that is not begun may be sent as rich messages.
pub(super) fn pieces(
    markdown: &str,
    head: Option<&str>,
    is_allowed: bool,
    notes: &CarryNotes,
) -> Vec<Piece> {
    let plain =
        |markdown: &str, head| text_pieces(text::parts(markdown, head, text::TEXT_UNITS_MAX));
    let is_begun = !notes.sent.is_empty();
    let is_rich = if is_begun { notes.rich } else { is_allowed && notes.text_after.is_none() };
    let Some(parts) = is_rich.then(|| text::rich_parts(markdown, head)).flatten() else {
        return plain(markdown, head);
    };
    let count = notes.text_after.unwrap_or(parts.len());
    let rest = parts.get(count).map(|part| part.source.start);
    let mut pieces: Vec<Piece> =
        parts.into_iter().take(count).map(|part| Piece::Rich(part.markdown)).collect();
    if let Some(start) = rest {
        pieces.extend(plain(&markdown[start..], head.filter(|_| count == 0)));
    }
    pieces
}

impl Telegram {
    /// True if a bot's texts may be sent as rich messages.
    pub(super) fn may_be_rich(&self, bot: &Bot) -> bool {
        self.settings.rich == RichRule::Auto && !bot.lacks(Method::SendRichMessage)
    }
}

#[cfg(test)]
mod tests {
    use moothall_engine::outbox::SentPart;

    use super::*;

    fn notes(sent: usize, rich: bool, text_after: Option<usize>) -> CarryNotes {
        let part = SentPart { bot: "a".into(), chat: "7".into(), id: None, only_to: None };
        CarryNotes { sent: vec![part; sent], rich, text_after, ..CarryNotes::default() }
    }

    /// Returns a letter for each message: `r` for a rich one.
    fn forms(pieces: &[Piece]) -> String {
        pieces.iter().map(|piece| if matches!(piece, Piece::Rich(_)) { 'r' } else { 't' }).collect()
    }

    #[test]
    fn a_text_that_is_begun_keeps_its_form() {
        let text = format!("# Title\n\n{}\n\n", "word ".repeat(3000)).repeat(4);
        let whole = pieces(&text, None, true, &CarryNotes::default());
        assert_eq!(forms(&whole), "rr");
        let plain = pieces(&text, None, false, &CarryNotes::default());
        assert!(forms(&plain).chars().all(|form| form == 't'), "{}", forms(&plain));
        // The configuration changed, or the bot learnt that the method is unknown.
        assert_eq!(pieces(&text, None, false, &notes(1, true, None)), whole);
        assert_eq!(pieces(&text, None, true, &notes(1, false, None)), plain);
        let mixed = pieces(&text, None, true, &notes(1, true, Some(1)));
        assert!(forms(&mixed).starts_with("rt") && !forms(&mixed)[1..].contains('r'));
        assert_eq!(pieces(&text, Some("Ann:"), true, &notes(0, false, Some(0))), {
            pieces(&text, Some("Ann:"), false, &CarryNotes::default())
        });
    }
}
