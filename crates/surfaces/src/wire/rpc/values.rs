//! Texts of one form: ids, addresses and times, each read strictly.

use std::fmt;

use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A text that lacks the form of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatError(&'static str);

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for FormatError {}

/// An id: a UUID with hyphens. The server writes lower-case letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, format = "uuid")]
pub struct Uuid(pub uuid::Uuid);

impl TryFrom<String> for Uuid {
    type Error = FormatError;

    fn try_from(text: String) -> Result<Self, FormatError> {
        /// A UUID in braces or without hyphens has another length.
        const HYPHENATED_LEN: usize = 36;
        let read = uuid::Uuid::try_parse(&text).ok().filter(|_| text.len() == HYPHENATED_LEN);
        read.map(Self).ok_or(FormatError("takes a UUID with hyphens"))
    }
}

impl From<Uuid> for String {
    fn from(id: Uuid) -> Self {
        id.to_string()
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// An absolute URI of at most 2,048 characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(format = "uri", max_length = 2048)]
pub struct Uri(String);

impl Uri {
    /// Maximum number of characters.
    pub const CHARS_MAX: usize = 2048;

    /// Returns the address as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Uri {
    type Error = FormatError;

    fn try_from(text: String) -> Result<Self, FormatError> {
        if text.len() <= Self::CHARS_MAX && is_absolute(&text) {
            Ok(Self(text))
        } else {
            Err(FormatError("takes an absolute URI of at most 2048 characters"))
        }
    }
}

impl From<Uri> for String {
    fn from(uri: Uri) -> Self {
        uri.0
    }
}

/// True if a text has a scheme, something after the scheme, and only characters that RFC 3986
/// allows.
fn is_absolute(text: &str) -> bool {
    const PUNCTUATION: &str = "-._~:/?#[]@!$&'()*+,;=";
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let mut pieces = rest.split('%');
    let plain = |piece: &str| piece.chars().all(|c| is_plain(c, PUNCTUATION));
    let escaped = |piece: &str| {
        piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit())
    };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(in_scheme)
        && !rest.is_empty()
        && pieces.next().is_some_and(plain)
        && pieces.all(|piece| escaped(piece) && plain(piece))
}

fn is_plain(c: char, punctuation: &str) -> bool {
    c.is_ascii_alphanumeric() || punctuation.contains(c)
}

/// A name that an agent chooses: 3 to 32 lower-case letters, digits, `-` and `_`, with a letter or
/// a digit at both ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(pattern = "^[a-z0-9][a-z0-9_-]{1,30}[a-z0-9]$")]
pub struct ChosenName(String);

impl TryFrom<String> for ChosenName {
    type Error = FormatError;

    fn try_from(text: String) -> Result<Self, FormatError> {
        let end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let inside = |byte: &u8| end(byte) || b"_-".contains(byte);
        let bytes = text.as_bytes();
        let fits = (3..=32).contains(&bytes.len())
            && bytes.iter().all(inside)
            && bytes.first().is_some_and(end)
            && bytes.last().is_some_and(end);
        let wrong = "takes 3 to 32 of a-z 0-9 _ -, with a letter or a digit at both ends";
        if fits { Ok(Self(text)) } else { Err(FormatError(wrong)) }
    }
}

impl From<ChosenName> for String {
    fn from(name: ChosenName) -> Self {
        name.0
    }
}

/// A time in UTC with milliseconds, as in RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, format = "date-time")]
pub struct DateTime(pub Timestamp);

impl TryFrom<String> for DateTime {
    type Error = FormatError;

    fn try_from(text: String) -> Result<Self, FormatError> {
        text.parse().map(Self).map_err(|_| FormatError("takes a time of RFC 3339"))
    }
}

impl From<DateTime> for String {
    fn from(time: DateTime) -> Self {
        time.0.to_string()
    }
}

impl From<Timestamp> for DateTime {
    fn from(time: Timestamp) -> Self {
        Self(time)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn an_id_is_a_uuid_with_hyphens_and_is_written_in_lower_case() {
        let read = |text: &str| from_value::<Uuid>(json!(text));
        let id = read("ABCDEF01-3333-4333-8333-333333333333").unwrap();
        assert_eq!(to_value(id).unwrap(), json!("abcdef01-3333-4333-8333-333333333333"));
        for bad in [
            "",
            "abcdef01333343338333333333333333",
            "{abcdef01-3333-4333-8333-333333333333}",
            "urn:uuid:abcdef01-3333-4333-8333-333333333333",
            "gbcdef01-3333-4333-8333-333333333333",
            "abcdef01-3333-4333-8333-333333333333 ",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_chosen_name_is_a_plain_word() {
        let fits = |name: &str| from_value::<ChosenName>(json!(name)).is_ok();
        for good in ["abc", "a-b", "a_1", &"a".repeat(32)] {
            assert!(fits(good), "{good}");
        }
        for bad in ["", "ab", "-ab", "ab-", "_ab", "Abc", "a b", "a.b", "äbc", &"a".repeat(33)] {
            assert!(!fits(bad), "{bad}");
        }
    }

    #[test]
    fn an_address_is_absolute() {
        let fits = |text: &str| from_value::<Uri>(json!(text)).is_ok();
        for good in ["https://a.example/b?c=d%20e#f", "data:text/plain,a", "urn:x:y", "h+1:/"] {
            assert!(fits(good), "{good}");
        }
        for bad in [
            "", "a", "/a", "//a/b", "https:", ":a", "1a:b", "a b:c", "a:b c", "a:b%2", "a:é",
            "a:%é",
        ] {
            assert!(!fits(bad), "{bad}");
        }
        assert!(fits(&format!("a:{}", "b".repeat(2046))));
        assert!(!fits(&format!("a:{}", "b".repeat(2047))));
    }

    #[test]
    fn a_time_has_milliseconds_and_is_utc() {
        let time = from_value::<DateTime>(json!("2026-05-23T01:02:03+01:00")).unwrap();
        assert_eq!(to_value(time).unwrap(), json!("2026-05-23T00:02:03.000Z"));
        assert!(from_value::<DateTime>(json!("yesterday")).is_err());
    }
}
