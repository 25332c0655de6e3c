//! The treatment of words that every channel shares: commands are run, other words are posted, and
//! accounts are paired.

use moothall_engine::access::{AccessError, Caller, PairingOutcome, Secret};
use moothall_engine::hall::HallError;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::slash;

use crate::inbox::{InboundWords, Inbox, is_passing};

/// Number of hexadecimal digits that tell the edits of a message apart.
const PRINT_CHARS: usize = 16;

/// An error that passes by itself. The message or event is received again.
#[derive(Debug)]
pub(crate) struct TryAgain {
    /// The error, for the log.
    pub(crate) why: String,
    /// True if the error is known to pass, so that the message or event is tried again without a
    /// limit.
    pub(crate) is_known: bool,
}

impl TryAgain {
    /// Returns the reason to receive something again after an error that passes.
    pub(crate) fn after(error: &AccessError) -> Self {
        // A conversation that cannot be read must not keep a channel from all others.
        let is_unknown =
            matches!(error, AccessError::Hall(HallError::Failed(_) | HallError::Unreadable(_)));
        Self { why: error.to_string(), is_known: !is_unknown }
    }
}

/// Returns the reason to receive something again after an error of the hall.
pub(crate) fn passing(error: HallError) -> TryAgain {
    TryAgain::after(&error.into())
}

/// The effect of words of a paired person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The words are in the conversation, at this position if they entered now.
    Posted(Option<Seq>),
    /// The words were a command or were refused. This is the answer for the chat.
    Answered(String),
    /// The message was answered before, perhaps because another bot received it too.
    Taken,
}

impl InboundWords {
    /// Returns the words as an edit, which replaces the message that entered before. A second
    /// delivery of the same edit has the same key, so it does nothing.
    pub(crate) fn replacing(self) -> Self {
        let text = slash::words(&self.text).to_owned();
        let print = blake3::hash(text.as_bytes()).to_hex();
        let key = format!("edit:{}:{}", self.key, &print[..PRINT_CHARS]);
        Self { key, text, ..self }
    }
}

/// Returns the pairing code in a line that a person writes to a bot alone. A single word that
/// begins with `pair_`, also after `/start`, counts as a code even if it is mistyped, so that the
/// person gets an answer about it. In any other line only a complete code counts.
pub(crate) fn pairing_code(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches(['/', '!']);
    let word = line.strip_prefix("start ").unwrap_or(line).trim();
    let is_code = word.starts_with("pair_") && !word.contains(char::is_whitespace);
    if is_code { Some(word) } else { Secret::pairing_code_in(line) }
}

impl Inbox {
    /// Makes a pairing code invalid that a message shows to several people. The caller drops the
    /// message, because a conversation has even more readers. Returns the answer for the chat;
    /// `None` if the message was answered before. A code that was not valid is answered at most
    /// once a minute.
    ///
    /// # Errors
    /// [`TryAgain`] if the end of the code could not be stored now.
    pub(crate) async fn void_code(
        &self,
        code: &str,
        chat: &Chat,
        key: &str,
    ) -> Result<Option<String>, TryAgain> {
        let is_void = match self.access().void_pairing_code(code, chat).await {
            Ok(is_void) => is_void,
            Err(error) => return Err(TryAgain::after(&error)),
        };
        // Codes that were used or made up are answered seldom, because each member can write them.
        let is_answered = is_void || self.may_answer_stranger(&chat.key());
        Ok((is_answered && self.take(key)).then(|| {
            format!(
                "Other members of this chat can read that code, so it is not valid, and the \
                 message is not part of the conversation. Make a new one with `moothall channels \
                 pair {}`, or on the page, and send it to this account alone.",
                chat.channel()
            )
        }))
    }

    /// Runs a command or posts words. `is_for_agent` is true if a line that looks like an unknown
    /// command is meant for an agent.
    ///
    /// # Errors
    /// [`TryAgain`] if they could not be stored now.
    pub(crate) async fn take_words(
        &self,
        person: &Caller,
        stream: &StreamId,
        words: InboundWords,
        is_for_agent: bool,
    ) -> Result<Entry, TryAgain> {
        if slash::is_command_line(&words.text) && !is_for_agent {
            return self.take_command(person, stream, words).await;
        }
        let (key, text) = (words.key.clone(), slash::words(&words.text).to_owned());
        match self.post(person, stream, InboundWords { text, ..words }).await {
            Ok(seq) => Ok(Entry::Posted(seq)),
            Err(error) => self.refusal(&key, error),
        }
    }

    /// Runs a command, one time for its key. After an error that passes, the key is free again,
    /// because the message is received again.
    async fn take_command(
        &self,
        person: &Caller,
        stream: &StreamId,
        words: InboundWords,
    ) -> Result<Entry, TryAgain> {
        let key = words.key.clone();
        if !self.take(&key) {
            return Ok(Entry::Taken);
        }
        match self.command(person, stream, words).await {
            Ok(text) => Ok(Entry::Answered(text)),
            Err(error) if is_passing(&error) => {
                self.give_back(&key);
                Err(TryAgain::after(&error))
            }
            Err(error) => Ok(Entry::Answered(error.to_string())),
        }
    }

    /// Returns the answer to words that were refused; [`Entry::Taken`] if their message was
    /// answered before.
    ///
    /// # Errors
    /// [`TryAgain`] if the error passes by itself. The message is then received again.
    pub(crate) fn refusal(&self, key: &str, error: AccessError) -> Result<Entry, TryAgain> {
        if is_passing(&error) {
            return Err(TryAgain::after(&error));
        }
        Ok(if self.take(key) { Entry::Answered(error.to_string()) } else { Entry::Taken })
    }

    /// Pairs the account that sent a code with the person who made the code. Returns the answer for
    /// the account. `use_of_it` is a sentence of that answer, about the use of the account.
    ///
    /// # Errors
    /// [`TryAgain`] if the pairing could not be stored now.
    pub(crate) async fn pair(
        &self,
        code: &str,
        account: &str,
        use_of_it: &str,
    ) -> Result<String, TryAgain> {
        Ok(match self.access().accept_pairing(code, account).await {
            Ok(PairingOutcome::Paired(token)) => format!(
                "You are now {} here, with the rights {}. {use_of_it} /help lists the commands.",
                token.principal.id,
                token.scopes.words().replace(' ', ", ")
            ),
            Ok(PairingOutcome::Already(token)) => format!(
                "This account is paired with {} already. To pair it anew, unpair it first: \
                 moothall channels unpair {account}",
                token.principal.id
            ),
            Ok(PairingOutcome::Unknown) => {
                let channel = account.split_once(':').map_or(account, |(channel, _)| channel);
                format!(
                    "This code is not valid: it works once and for 15 minutes. Make a new one \
                     with `moothall channels pair {channel}`, or on the page."
                )
            }
            Err(error) if is_passing(&error) => return Err(TryAgain::after(&error)),
            Err(error) => error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use moothall_engine::access::TokenKind;

    use super::*;

    #[test]
    fn a_code_is_read_from_a_line_in_any_form() {
        for line in ["/start pair_x", "!start pair_x", "start pair_x", " pair_x "] {
            assert_eq!(pairing_code(line), Some("pair_x"), "{line}");
        }
        let code = Secret::fresh(TokenKind::Pairing).unwrap();
        let code = code.reveal();
        let link = format!("here: https://t.me/analyst_bot?start={code}.");
        assert_eq!(pairing_code(&link), Some(code));
        for line in ["/start now", "pair_programming is fun", "/start"] {
            assert_eq!(pairing_code(line), None, "{line}");
        }
    }
}
