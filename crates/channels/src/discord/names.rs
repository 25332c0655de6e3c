//! Names in Discord: the names under which a webhook speaks, and the names of users in a text.

use std::collections::BTreeMap;

use moothall_kernel::text::{for_program, is_empty_looking};
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation as _;

use super::client::id_in;

/// Longest name of a webhook's message, in UTF-16 code units.
const NAME_UNITS_MAX: usize = 80;
/// Words that Discord does not allow in the name of a webhook's message, each in two halves. A dot
/// between the halves makes the name acceptable.
const RESERVED: [(&str, &str); 2] = [("dis", "cord"), ("cly", "de")];
/// Names that Discord refuses whole.
const REFUSED: [&str; 2] = ["everyone", "here"];
/// Name of a speaker whose name has no visible letter.
const NAMELESS: &str = "agent";

/// Returns the name under which a webhook says the words of a speaker, in the form that Discord
/// takes: at most 80 units, without reserved words.
pub(super) fn hook_name(name: &str) -> String {
    let clean = for_program(name);
    let mut name = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    for (first, last) in RESERVED {
        while let Some(at) = name.to_ascii_lowercase().find(&format!("{first}{last}")) {
            name.insert(at + first.len(), '·');
        }
    }
    if REFUSED.contains(&name.to_ascii_lowercase().as_str()) {
        name.push('·');
    }
    let name = cut_units(&name, NAME_UNITS_MAX);
    if is_empty_looking(&name) { NAMELESS.to_owned() } else { name }
}

/// Returns the beginning of a text that fits into a number of UTF-16 code units. A text that does
/// not fit ends with an ellipsis, and no letter is cut.
pub(super) fn cut_units(text: &str, units_max: usize) -> String {
    if text.encode_utf16().count() <= units_max {
        return text.to_owned();
    }
    let mut left = units_max.saturating_sub(1);
    let fits = |letter: &&str| {
        let units = letter.encode_utf16().count();
        let is_in = units <= left;
        left = left.saturating_sub(units);
        is_in
    };
    let kept: String = text.graphemes(true).take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// Returns a text in which mentions of users are their names: `@analyst` for the bot of an agent,
/// `@Ann` for a person in the message's list of mentions. A mention of the relay is removed, and an
/// unknown one stays as it is.
pub(super) fn with_names(
    text: &str,
    message: &Value,
    bots: &BTreeMap<u64, Option<String>>,
) -> String {
    let mut words = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<@") {
        let (before, mention) = rest.split_at(at);
        words.push_str(before);
        let end = mention.find('>');
        let id = end.and_then(|end| mention[2..end].trim_start_matches(['!', '&']).parse().ok());
        let (Some(end), Some(id)) = (end, id) else {
            words.push_str("<@");
            rest = &mention[2..];
            continue;
        };
        rest = &mention[end + 1..];
        match bots.get(&id) {
            Some(Some(agent)) => words.push_str(&format!("@{agent}")),
            Some(None) => rest = rest.trim_start_matches(' '),
            None => match named(message, id) {
                Some(name) => words.push_str(&format!("@{name}")),
                None => words.push_str(&mention[..=end]),
            },
        }
    }
    words.push_str(rest);
    words
}

/// Returns the ids that a text mentions, of users and of roles.
pub(super) fn mentioned(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split("<@").skip(1).filter_map(|part| {
        let (id, _) = part.split_once('>')?;
        id.trim_start_matches(['!', '&']).parse().ok()
    })
}

/// Returns the name of a user that a message mentions.
fn named(message: &Value, id: u64) -> Option<&str> {
    let mut mentions = message["mentions"].as_array()?.iter();
    let user = mentions.find(|user| id_in(user, "id") == Some(id))?;
    Some(shown_name(user)).filter(|name| !name.is_empty())
}

/// Returns the name of a user as people see it.
pub(super) fn shown_name(user: &Value) -> &str {
    user["global_name"].as_str().or_else(|| user["username"].as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn names_take_the_form_that_discord_allows() {
        for (name, shown) in [
            ("Analyst", "Analyst"),
            ("  two \n lines ", "two lines"),
            ("My Discord helper", "My Dis·cord helper"),
            ("CLYDE", "CLY·DE"),
            ("Everyone", "Everyone·"),
            ("\u{200b}", "agent"),
            ("", "agent"),
        ] {
            assert_eq!(hook_name(name), shown, "{name:?}");
        }
        let long = hook_name(&"n".repeat(81));
        assert_eq!((long.chars().count(), long.ends_with("n…")), (80, true));
    }

    proptest! {
        #[test]
        fn any_name_is_taken(name in ".{0,200}|(discord|clyde|d|i|s|c|o|r){0,40}") {
            let shown = hook_name(&name);
            let units = shown.encode_utf16().count();
            prop_assert!((1..=NAME_UNITS_MAX).contains(&units), "{shown:?}");
            let lower = shown.to_ascii_lowercase();
            prop_assert!(!lower.contains("discord") && !lower.contains("clyde"), "{shown:?}");
        }

        #[test]
        fn no_text_is_lost_beside_mentions(text in "[a<@!&>1 ]{0,60}") {
            let words = with_names(&text, &json!({}), &BTreeMap::new());
            prop_assert_eq!(words, text);
        }
    }

    #[test]
    fn mentions_become_names() {
        let message = json!({"mentions": [{"id": "9", "username": "ann", "global_name": "Ann"}]});
        let bots = [(1, None), (2, Some("analyst".to_owned()))].into();
        let words = |text: &str| with_names(text, &message, &bots);
        assert_eq!(words("<@1> hi"), "hi");
        assert_eq!(words("<@!2>, ask <@9> or <@77>"), "@analyst, ask @Ann or <@77>");
        assert_eq!(words("a <@ b <@x> c"), "a <@ b <@x> c");
        assert_eq!(mentioned("<@1> <@&2> <@x>").collect::<Vec<_>>(), [1, 2]);
    }
}
