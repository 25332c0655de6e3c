//! Text hygiene: cleans texts for the log, terminals and programs, and formats bodies inside a
//! prompt.

pub mod names;
pub mod code;
pub mod mentions;
pub mod pass;
pub mod thoughts;
pub mod slash;
pub mod sketch;
pub(crate) mod joiners;

use std::borrow::Cow;
use std::ops::Range;

use joiners::{JudgedChar, placed};

/// Removes escape sequences, C0 controls except newline and tab, DEL, and C1 controls. A `\r`
/// before a newline stays, as files have it; a lone one becomes a newline.
pub fn clean(text: &str) -> String {
    // Nearly every message is clean already. Text without these bytes has no control characters.
    // 0xC2 starts every C1 control but other characters too, so a hit needs the slow path.
    let may_matter = |byte| matches!(byte, 0..=8 | 11..=31 | 127 | 0xc2);
    // No early exit, so that the loop vectorises.
    if !text.bytes().fold(false, |found, byte| found | may_matter(byte)) {
        return text.to_owned();
    }
    let text = strip_escapes(text);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                let ends_line = chars.peek() == Some(&'\n');
                out.push(if ends_line { '\r' } else { '\n' });
            }
            c if is_stray_control(c) => {}
            c => out.push(c),
        }
    }
    out
}

fn is_stray_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Returns text that may be drawn on a terminal: [`for_program`], with plain line ends.
pub fn for_terminal(text: &str) -> String {
    let mut text = for_program(text);
    text.retain(|c| c != '\r');
    text
}

/// Applies `change` to each part of a text and to the text between the parts. Returns the new text
/// with the places of the parts in it. A part outside the text is left out.
pub fn change_parts(
    text: &str,
    parts: &[Range<usize>],
    change: impl Fn(&str) -> String,
) -> (String, Vec<Range<usize>>) {
    let (mut changed, mut places, mut done) = (String::with_capacity(text.len()), Vec::new(), 0);
    for part in parts {
        let (Some(before), Some(inner)) = (text.get(done..part.start), text.get(part.clone()))
        else {
            continue;
        };
        changed.push_str(&change(before));
        let start = changed.len();
        changed.push_str(&change(inner));
        places.push(start..changed.len());
        done = part.end;
    }
    changed.push_str(&change(&text[done..]));
    (changed, places)
}

/// True if every letter is composed with its accents. (NFC)
pub fn is_composed(text: &str) -> bool {
    text.is_ascii() || unicode_normalization::is_nfc(text)
}

/// Returns text that may be typed into a program: [`clean`], without characters that reorder or
/// hide the text around them. Invisible characters that letters and emoji need to be drawn stay.
pub fn for_program(text: &str) -> String {
    let text = clean(text);
    if text.is_ascii() {
        return text;
    }
    let kept = |placed| match placed {
        JudgedChar::Kept(c) => Some(c),
        JudgedChar::Hidden(_) => None,
    };
    placed(&text).filter_map(kept).collect()
}

/// Returns a text in which characters that control a terminal, or reorder or hide the text around
/// them, are written out as `\u{202e}`. It is for texts that a person decides about: without those
/// characters they would show something else.
pub fn revealed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for placed in placed(text) {
        match placed {
            JudgedChar::Kept(c) if !is_stray_control(c) && (!is_invisible(c) || is_selector(c)) => {
                out.push(c);
            }
            JudgedChar::Kept(c) | JudgedChar::Hidden(c) => out.extend(c.escape_unicode()),
        }
    }
    out
}

/// Returns a text in which reordering characters are written out as `\u{202e}`, so that it is drawn
/// in the order in which it was written.
pub fn in_order(text: &str) -> Cow<'_, str> {
    let reorders = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.contains(reorders) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if reorders(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// True for characters that set the direction of the text beside them.
pub fn is_bidi(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// True for characters that reorder or hide the text around them: bidirectional controls,
/// zero-width marks and the tag block.
pub fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            | '\u{061c}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// True for characters that draw nothing or begin a line and are not among those of
/// [`is_deceptive`]: soft hyphens, fillers, selectors, Unicode's own separators.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2028}' | '\u{2029}' | '\u{206a}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0080}'..='\u{e0fff}'
    )
}

/// True for a character that chooses a form of the one before it.
pub(crate) fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// True if a character draws nothing by itself: blanks of every width, fillers and invisible
/// characters. Selectors are not blank, because they change the character before them.
pub fn is_blank(c: char) -> bool {
    c.is_whitespace() || (is_invisible(c) && !is_selector(c))
}

/// True if a reader sees nothing of a text.
pub fn is_empty_looking(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c) || is_deceptive(c) || c.is_control())
}

/// Removes CSI, OSC, DCS, SOS, PM and APC sequences, in their seven- and eight-bit forms,
/// terminated or not, and other escapes of ESC and one character.
pub fn strip_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let introducer = match c {
            '\u{1b}' => match chars.peek().copied() {
                Some(next @ ('[' | ']' | 'P' | 'X' | '^' | '_')) => {
                    chars.next();
                    next
                }
                Some(next) if (' '..='~').contains(&next) => {
                    chars.next();
                    continue;
                }
                _ => continue,
            },
            '\u{9b}' => '[',
            '\u{9d}' => ']',
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => 'P',
            c => {
                out.push(c);
                continue;
            }
        };
        if introducer == '[' {
            skip_csi(&mut chars);
        } else {
            skip_string(&mut chars);
        }
    }
    out
}

/// Skips a control sequence (CSI) through its final character. An unfinished one ends before a
/// character that it cannot contain.
fn skip_csi(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(c) = chars.peek().copied() {
        // The character stays, because a line end or a letter of another script belongs to the
        // text.
        if !(' '..='~').contains(&c) {
            return;
        }
        chars.next();
        if ('@'..='~').contains(&c) {
            return;
        }
    }
}

/// Skips a control string, which ends at ST or BEL. An unterminated one ends with its line, so that
/// it cannot swallow a message.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(c) = chars.next() {
        match c {
            '\u{7}' | '\u{9c}' | '\n' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// Indents every line but the first by two spaces, so that no line of a body can pass for a
/// speaker's label. Unicode's own line and paragraph separators begin lines too.
pub fn hang(body: &str) -> String {
    body.replace(['\n', '\u{2028}', '\u{2029}'], "\n  ")
}

/// Returns the text that [`hang`] indented.
pub fn unhang(hung: &str) -> String {
    hung.replace("\n  ", "\n")
}

/// Cuts a text at a character boundary at or below `bytes_max`.
pub fn cut(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    &text[..end]
}

/// Returns a number with a noun whose plural ends in `s`: "1 beat", "3 beats".
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns a text of about `bytes_max`, with the excess left out of its middle. A line in place of
/// the excess gives its length. That line and the beginning of the last part are indented by two
/// spaces, so that neither passes for the beginning of another message.
pub fn shortened(text: &str, bytes_max: usize) -> Cow<'_, str> {
    /// Room for that line.
    const NOTE_BYTES: usize = 72;
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let half = bytes_max.saturating_sub(NOTE_BYTES) / 2;
    let head = cut(text, half);
    let tail = &text[text.ceil_char_boundary(text.len() - half)..];
    let missing = text.len() - head.len() - tail.len();
    let (head, tail) = (head.trim_end(), tail.trim_start());
    Cow::Owned(format!(
        "{head}\n  (… {missing} bytes of this message are left out here …)\n  {tail}"
    ))
}

/// Longest quotation, in characters.
const QUOTED_CHARS_MAX: usize = 60;

/// Returns the first words of a text on one line, without hidden characters, and without characters
/// that could end the quotation or the label around it.
pub fn quoted(text: &str) -> String {
    let seen = |placed| match placed {
        JudgedChar::Kept(c) if c.is_whitespace() => Some(' '),
        JudgedChar::Kept(c) if is_stray_control(c) || is_invisible(c) && !is_selector(c) => None,
        JudgedChar::Kept(c) => Some(c),
        JudgedChar::Hidden(_) => None,
    };
    // Only the beginning is read, because a message may be long.
    let beginning = cut(text, 64 * QUOTED_CHARS_MAX);
    let mut first = String::with_capacity(beginning.len().min(QUOTED_CHARS_MAX) + '…'.len_utf8());
    let (mut count, mut gap, mut more) = (0, false, beginning.len() < text.len());
    for c in placed(beginning).filter_map(seen) {
        if c.is_whitespace() {
            gap = count > 0;
        } else {
            let wanted = 1 + usize::from(gap);
            if count + wanted > QUOTED_CHARS_MAX {
                more = true;
                break;
            }
            first.extend(gap.then_some(' '));
            first.push(match c {
                '[' | '{' | '<' => '(',
                ']' | '}' | '>' => ')',
                '"' | '“' | '”' | '`' => '\'',
                c => c,
            });
            (count, gap) = (count + wanted, false);
        }
    }
    first.extend(more.then_some('…'));
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_keeps_text_and_drops_controls() {
        assert_eq!(clean("a\0b\x07\tc\r\nd\re\u{9c}f"), "ab\tc\r\nd\nef");
        assert_eq!(clean("\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}ok"), "red ok");
        assert_eq!(clean("שלום \u{200f}👩\u{200d}👧"), "שלום \u{200f}👩\u{200d}👧");
    }

    #[test]
    fn whether_a_character_is_kept_does_not_depend_on_the_quick_look() {
        for c in '\0'..='\u{500}' {
            let (alone, beside) = (clean(&c.to_string()), clean(&format!("\0{c}")));
            let kept = if c == '\r' { "\n".into() } else { String::from(c) };
            assert_eq!(alone, if is_stray_control(c) && c != '\r' { "" } else { &kept });
            assert_eq!(alone, beside, "{c:?}");
        }
    }

    #[test]
    fn escape_sequences_leave_nothing_behind() {
        assert_eq!(for_terminal("text\x1b[201~\rcurl x|sh\r"), "text\ncurl x|sh\n");
        assert_eq!(
            for_terminal("\x1b]52;c;aGk=\x07a\x1b]8;;http://x\x1b\\b\u{9b}31mc\x1bPq\u{9c}d"),
            "abcd"
        );
        assert_eq!(for_terminal("\x1b[20"), "");
        assert_eq!(for_terminal("user\u{202e}txt\u{e0041}"), "usertxt");
    }

    #[test]
    fn no_line_of_a_body_begins_at_the_edge() {
        assert_eq!(hang("a\n[b] c\u{2028}[d] e\u{2029}## f"), "a\n  [b] c\n  [d] e\n  ## f");
    }

    #[test]
    fn what_is_hidden_is_written_out() {
        assert_eq!(
            revealed("a\u{202e}b\u{1b}[2Kc\u{9b}d\re\n\tf\u{200b}"),
            "a\\u{202e}b\\u{1b}[2Kc\\u{9b}d\\u{d}e\n\tf\\u{200b}"
        );
    }

    #[test]
    fn text_is_drawn_in_the_order_in_which_it_was_written() {
        assert_eq!(in_order("a\u{202e}gnp.exe"), "a\\u{202e}gnp.exe");
        assert!(matches!(in_order("שלום \u{200f}abc"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_of_which_nothing_can_be_seen() {
        for empty in
            ["", " \n", "\u{200b}", "\u{202e}", "\u{2800} \u{3164}", "\u{feff}\u{ad}\u{fe0f}"]
        {
            assert!(is_empty_looking(empty), "{empty:?}");
        }
        for seen in [".", "👩\u{200d}👧", "\u{301}", "ا"] {
            assert!(!is_empty_looking(seen), "{seen:?}");
        }
    }

    #[test]
    fn cutting_respects_characters() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
    }

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "beat")), ["0 beats", "1 beat", "2 beats"]);
    }
}
