//! The token of a bot, which is a credential.

use std::fmt;
use std::str::FromStr;

/// Shortest secret part that is taken for one, in bytes. Telegram makes 35.
const SECRET_BYTES_MIN: usize = 20;
/// Longest secret part that is taken for one, in bytes.
const SECRET_BYTES_MAX: usize = 64;

/// The token of a bot, such as `110201543:AAHdqTcv…`. It cannot be printed, and its debug form
/// shows only the bot's id.
#[derive(Clone, PartialEq, Eq)]
pub struct BotToken {
    bot_id: i64,
    secret: String,
}

/// The error of a text that is not the token of a bot. It does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A bot's token looks like `123456:ABC-…`: the bot's number, a colon and about 35 letters.")]
pub struct NotAToken;

impl BotToken {
    /// Returns the id of the bot, which is its account's id too.
    pub fn bot_id(&self) -> i64 {
        self.bot_id
    }

    /// Returns the token in the form in which it is stored, and written in the path of a call.
    pub(crate) fn reveal(&self) -> String {
        format!("{}:{}", self.bot_id, self.secret)
    }

    /// Returns a text without the secret part of the token.
    pub(super) fn strike(&self, text: &str) -> String {
        text.replace(&self.secret, "…")
    }
}

impl FromStr for BotToken {
    type Err = NotAToken;

    fn from_str(text: &str) -> Result<Self, NotAToken> {
        let (digits, secret) = text.trim().split_once(':').ok_or(NotAToken)?;
        let is_number =
            digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        let is_secret = (SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&secret.len())
            && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        let bot_id = digits.parse().ok().filter(|_| is_number && is_secret).ok_or(NotAToken)?;
        Ok(Self { bot_id, secret: secret.to_owned() })
    }
}

impl fmt::Debug for BotToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BotToken({}:…)", self.bot_id)
    }
}
