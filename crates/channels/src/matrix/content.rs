//! The contents of messages: Markdown as text with HTML, in parts that fit into an event, and the
//! words that people write.

use serde_json::{Value, json};

use crate::telegram::text::{Entity, EntityKind, Part, parts, plain};

/// Longest part, in UTF-16 code units. An event has at most 65,536 bytes, and a part is in it
/// twice: as text, and as HTML in which a letter can take five bytes.
const PART_UNITS_MAX: usize = 8_000;
/// Longest card, in UTF-16 code units: an edit of it has the text four times.
const CARD_UNITS_MAX: usize = 3_000;
/// Field of a message that names the delivery and the part which it carries. After a doubt it is
/// looked for in the room.
pub(super) const TXN: &str = "org.moothall.txn";
/// Field of a message that is a card: the signed code of its question.
pub(super) const CARD: &str = "org.moothall.card";

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// Words of a participant.
    Words,
    /// A line of the server, which programs do not answer.
    Notice,
}

/// Returns a text as the contents of messages, under a head such as `Ann (page):`.
pub(super) fn contents(markdown: &str, head: Option<&str>, voice: Voice) -> Vec<Value> {
    let parts = match voice {
        Voice::Words => parts(markdown, head, PART_UNITS_MAX),
        Voice::Notice => plain(markdown, head, PART_UNITS_MAX),
    };
    parts.iter().map(|part| content(part, voice)).collect()
}

/// Returns the content of a card, whose text is perhaps cut.
pub(super) fn card_content(markdown: &str) -> Value {
    let first = parts(markdown, None, CARD_UNITS_MAX).into_iter().next();
    content(&first.unwrap_or_default(), Voice::Words)
}

/// Returns the content of one message. Its list of mentions is empty, so that it pings no person.
fn content(part: &Part, voice: Voice) -> Value {
    let kind = if voice == Voice::Words { "m.text" } else { "m.notice" };
    let mut content = json!({"msgtype": kind, "body": part.text, "m.mentions": {}});
    if !part.entities.is_empty() {
        content["format"] = "org.matrix.custom.html".into();
        content["formatted_body"] = html(part).into();
    }
    content
}

/// Returns the content as a later version of a message that was sent.
pub(super) fn edit_of(event: &str, new: &Value) -> Value {
    let mut content = new.clone();
    content["body"] = format!("* {}", new["body"].as_str().unwrap_or_default()).into();
    content["m.new_content"] = new.clone();
    content["m.relates_to"] = json!({"rel_type": "m.replace", "event_id": event});
    content
}

/// Returns a part as HTML. Its entities are in the order of their starts, an outer one first.
fn html(part: &Part) -> String {
    let (mut html, mut at) = (String::new(), 0);
    let mut open: Vec<&Entity> = Vec::new();
    let mut coming = part.entities.iter().peekable();
    for letter in part.text.chars() {
        close(&mut html, &mut open, at);
        while let Some(entity) = coming.next_if(|entity| entity.offset <= at) {
            html.push_str(&tag(entity));
            open.push(entity);
        }
        let is_code = open.iter().any(|entity| entity.kind == EntityKind::Pre);
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '\n' if !is_code => html.push_str("<br>"),
            other => html.push(other),
        }
        at += u32::try_from(letter.len_utf16()).unwrap_or_default();
    }
    close(&mut html, &mut open, u32::MAX);
    html
}

/// Closes the entities that end before a place.
fn close(html: &mut String, open: &mut Vec<&Entity>, at: u32) {
    while let Some(entity) = open.pop_if(|entity| entity.offset + entity.length <= at) {
        html.push_str(match entity.kind {
            EntityKind::Blockquote => "</blockquote>",
            EntityKind::Pre => "</code></pre>",
            EntityKind::Code => "</code>",
            EntityKind::TextLink => "</a>",
            EntityKind::Bold => "</strong>",
            EntityKind::Italic => "</em>",
            EntityKind::Strikethrough => "</del>",
        });
    }
}

/// Returns the tag that begins an entity.
fn tag(entity: &Entity) -> String {
    match entity.kind {
        EntityKind::Blockquote => "<blockquote>".into(),
        EntityKind::Pre => "<pre><code>".into(),
        EntityKind::Code => "<code>".into(),
        EntityKind::TextLink => {
            let url = entity.url.as_deref().unwrap_or_default();
            let url = url.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
            format!("<a href=\"{url}\">")
        }
        EntityKind::Bold => "<strong>".into(),
        EntityKind::Italic => "<em>".into(),
        EntityKind::Strikethrough => "<del>".into(),
    }
}

/// Returns the words of a message without the quotation of the message to which it replies.
pub(super) fn words_of(content: &Value) -> String {
    let body = content["body"].as_str().unwrap_or_default();
    let is_reply = content["m.relates_to"]["m.in_reply_to"]["event_id"].is_string();
    if !is_reply || !body.starts_with("> <") {
        return body.to_owned();
    }
    let mut lines = body.lines().skip_while(|line| line.starts_with("> ")).peekable();
    if lines.peek().is_some_and(|line| line.is_empty()) {
        lines.next();
    }
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the line for a file; `None` for a message of words.
pub(super) fn attachment_line(content: &Value) -> Option<String> {
    let kind = match content["msgtype"].as_str()? {
        "m.text" | "m.emote" => return None,
        "m.image" => "a photo",
        "m.audio" => "a recording",
        "m.video" => "a video",
        "m.file" => "a file",
        "m.location" => "a place",
        _ => "something",
    };
    let name = content["filename"].as_str().or(content["body"].as_str()).unwrap_or_default();
    Some(format!("[sent {kind}: {name}; agents do not see it yet]"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn markdown_becomes_text_and_html_and_hostile_letters_stay_letters() {
        let all =
            contents("It is **b & *i***: [x](https://e.org/?a=1&b=2)\n\n`<b>`", None, Voice::Words);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0]["body"], "It is b & i: x\n\n<b>");
        assert_eq!(
            all[0]["formatted_body"],
            "It is <strong>b &amp; <em>i</em></strong>: \
             <a href=\"https://e.org/?a=1&amp;b=2\">x</a><br><br><code>&lt;b&gt;</code>"
        );
        let notice = contents("**plain** <b>", None, Voice::Notice);
        assert_eq!(
            (&notice[0]["body"], &notice[0]["msgtype"]),
            (&json!("**plain** <b>"), &json!("m.notice"))
        );
        assert!(notice[0].get("formatted_body").is_none());
    }

    #[test]
    fn a_long_text_fits_into_events() {
        for letter in ["&", "ä", "𝄞", "\""] {
            let text = format!("**{}**", letter.repeat(40_000));
            for content in contents(&text, Some("Ann (page):"), Voice::Words) {
                assert!(serde_json::to_string(&content).unwrap().len() < 60_000, "{letter}");
            }
            let edit = edit_of("$e", &card_content(&text));
            assert!(serde_json::to_string(&edit).unwrap().len() < 60_000, "{letter}");
        }
    }

    #[test]
    fn the_quotation_of_a_reply_is_not_said_again() {
        let reply = json!({"body": "> <@a:b> old\n> more\n\nnew\nline",
            "m.relates_to": {"m.in_reply_to": {"event_id": "$e"}}});
        assert_eq!(words_of(&reply), "new\nline");
        let words = json!({"body": "> <@a:b> quoted by hand"});
        assert_eq!(words_of(&words), "> <@a:b> quoted by hand");
    }
}
