//! The answer of a running turn so far, and the part of it that may be shown.

use moothall_kernel::pass::may_become_pass;

/// Maximum streamed text of one turn, in bytes. The answer itself has its own limits.
pub(crate) const STREAMED_BYTES_MAX: usize = 1 << 20;

/// Text of at most `MAX` bytes. It ends before the first piece that does not fit, and takes no
/// piece after that, so that it has no gaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct CappedText<const MAX: usize> {
    text: String,
    is_full: bool,
}

impl<const MAX: usize> CappedText<MAX> {
    /// Adds a piece. Returns false if the text has ended, and the piece was not added.
    pub(crate) fn push(&mut self, piece: &str) -> bool {
        self.is_full |= self.text.len() + piece.len() > MAX;
        if !self.is_full {
            self.text.push_str(piece);
        }
        !self.is_full
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

/// The text that a turn has streamed.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamedText {
    text: CappedText<STREAMED_BYTES_MAX>,
    shown: usize,
}

impl StreamedText {
    /// Adds a piece. Returns the text that may be shown now and was not shown yet, with its offset.
    /// `None` while the text may still become a pass, and after the text has ended.
    pub(crate) fn push(&mut self, piece: &str) -> Option<(usize, String)> {
        if !self.text.push(piece) {
            return None;
        }
        let text = self.text.as_str();
        if self.shown == 0 && may_become_pass(text) {
            return None;
        }
        let offset = std::mem::replace(&mut self.shown, text.len());
        (offset < self.shown).then(|| (offset, text[offset..].to_owned()))
    }

    /// Returns the text shown so far, for a listener that joins now.
    pub(crate) fn shown(&self) -> Option<&str> {
        (self.shown > 0).then(|| &self.text.as_str()[..self.shown])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_become_a_pass_is_held_back_and_comes_whole() {
        let mut partial = StreamedText::default();
        assert_eq!(partial.push("[PA"), None);
        assert_eq!(partial.shown(), None);
        assert_eq!(partial.push("RTY] "), Some((0, "[PARTY] ".into())));
        assert_eq!(partial.push("on"), Some((8, "on".into())));
        assert_eq!(partial.shown(), Some("[PARTY] on"));
    }

    #[test]
    fn a_flood_ends_at_the_limit() {
        let mut partial = StreamedText::default();
        let flood = "x".repeat(STREAMED_BYTES_MAX);
        assert!(partial.push(&flood).is_some());
        assert_eq!(partial.push("y"), None);
        assert_eq!(partial.shown().map(str::len), Some(STREAMED_BYTES_MAX));
    }

    #[test]
    fn a_text_ends_before_the_piece_that_is_too_long() {
        let mut partial = StreamedText::default();
        assert!(partial.push("begin").is_some());
        assert_eq!(partial.push(&"x".repeat(STREAMED_BYTES_MAX)), None);
        assert_eq!(partial.push("end"), None);
        assert_eq!(partial.shown(), Some("begin"));
    }
}
