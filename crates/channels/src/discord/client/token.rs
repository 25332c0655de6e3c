//! The token of a bot in Discord, which is a credential.

use std::fmt;
use std::str::FromStr;

/// Longest token that is taken for one, in bytes.
const BYTES_MAX: usize = 200;

/// The token of a bot, such as `MTMz….GxYz….abc…`. It cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct DiscordToken(String);

/// The error of a text that is not the token of a bot. It does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "A bot's token has three parts with dots between them. Copy it from the page *Bot* of the \
     application in Discord's developer portal."
)]
pub struct NotADiscordToken;

impl DiscordToken {
    /// Returns the token in the form in which it is stored and sent.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns a text without the token.
    pub(super) fn strike(&self, text: &str) -> String {
        text.replace(&self.0, "…")
    }
}

impl FromStr for DiscordToken {
    type Err = NotADiscordToken;

    fn from_str(text: &str) -> Result<Self, NotADiscordToken> {
        let text = text.trim();
        let text = text.strip_prefix("Bot ").unwrap_or(text);
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let is_part = |part: &str| !part.is_empty() && part.bytes().all(is_letter);
        let is_token =
            text.len() <= BYTES_MAX && text.split('.').count() == 3 && text.split('.').all(is_part);
        if is_token { Ok(Self(text.to_owned())) } else { Err(NotADiscordToken) }
    }
}

impl fmt::Debug for DiscordToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BotToken(…)")
    }
}
