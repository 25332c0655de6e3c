//! Questions of agents as cards: their text, the codes of their answers, and an answer's effect.

use moothall_engine::access::{AccessError, Caller, Scope, Token};
use moothall_engine::hall::HallError;
use moothall_kernel::chat::Chat;
use moothall_kernel::command::ClientCommand;
use moothall_kernel::ids::{Seq, StreamId};

use crate::inbox::{Inbox, is_passing};
use crate::outbound::{Card, Outbound};
use crate::receive::{TryAgain, passing};

/// Number of hexadecimal digits of a code's signature.
const MARK_CHARS: usize = 12;
/// The answer to an account that is not paired.
pub(crate) const NOT_PAIRED: &str =
    "This account is not paired with the server, so it cannot answer.";
/// The answer to a code that means nothing here.
pub(crate) const NO_MEANING: &str = "This button has no meaning any more.";

/// One answer to a question: its conversation, the position of the event that asks, and the number
/// of the option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CardAnswer {
    /// The conversation.
    pub(crate) stream: StreamId,
    /// The position of the event that asks.
    pub(crate) seq: Seq,
    /// The number of the option, from 0.
    pub(crate) option: usize,
}

impl CardAnswer {
    /// Returns the answer as a signed code of at most 64 bytes. Only this server and the product
    /// have the secret from which `key` is made.
    pub(crate) fn code(&self, key: &[u8; 32]) -> String {
        let stream = self.stream.as_str().replace('-', "");
        let plain = format!("{stream}.{:x}.{:x}", self.seq.0, self.option);
        format!("{plain}.{}", mark(key, &plain))
    }

    /// Reads a code; `None` if it was not made with this key.
    pub(crate) fn read(code: &str, key: &[u8; 32]) -> Option<Self> {
        let (plain, given) = code.rsplit_once('.')?;
        if mark(key, plain) != given {
            return None;
        }
        let mut fields = plain.split('.');
        let (hex, seq, option) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self {
            stream: stream_of(hex)?,
            seq: Seq(u64::from_str_radix(seq, 16).ok()?),
            option: usize::from_str_radix(option, 16).ok()?,
        })
    }
}

fn mark(key: &[u8; 32], plain: &str) -> String {
    blake3::keyed_hash(key, plain.as_bytes()).to_hex()[..MARK_CHARS].to_owned()
}

/// Returns the stream whose id has these 32 hexadecimal digits.
fn stream_of(hex: &str) -> Option<StreamId> {
    let is_id = hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| {
        let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        StreamId::new(format!("{a}-{b}-{c}-{d}-{e}"))
    })
}

/// Returns the text of a card, as Markdown.
pub(crate) fn card_text(card: &Card) -> String {
    let more =
        if card.is_partial { "\n\nThe question is incomplete here: see the page." } else { "" };
    let typed = card.options.iter().any(|option| option.takes_text || option.with_others);
    let page = match (card.options.is_empty(), typed) {
        (true, _) => "\n\nThis can be answered on the page, and not by an account.",
        (false, true) => "\n\nOther answers can be given on the page.",
        (false, false) => "",
    };
    format!("**{}** asks:\n\n{}{more}{page}", card.name, card.action)
}

/// Returns the options of a card that need no words: the number and the label of each.
pub(crate) fn plain_options(card: &Card) -> impl Iterator<Item = (usize, &str)> {
    let all = card.options.iter().enumerate();
    all.filter(|(_, option)| !option.takes_text && !option.with_others)
        .map(|(number, option)| (number, option.label.as_str()))
}

/// Returns the line that tells a group of a question, without the details of the question.
pub(crate) fn group_line(card: &Card, has_readers: bool) -> String {
    // The people who may answer are perhaps not in the group, so it learns no names.
    match has_readers && !card.options.is_empty() {
        true => format!("{} waits for an answer.", card.name),
        false => format!("{} waits for an answer, which can be given on the page.", card.name),
    }
}

impl Inbox {
    /// Returns the accounts of a channel that may answer the questions of a conversation, without
    /// the channel's name before them.
    ///
    /// # Errors
    /// The reason in words, if the accounts cannot be read.
    pub(crate) async fn answerers(
        &self,
        channel: &str,
        stream: &StreamId,
    ) -> Result<Vec<String>, String> {
        let accounts = self.access().accounts().await.map_err(|error| error.to_string())?;
        let may_answer = |token: &Token| {
            token.scopes.has(Scope::PermissionsAnswer) && token.reach.includes(stream)
        };
        let account = |token: Token| {
            let account = token.label.strip_prefix(channel)?.strip_prefix(':')?;
            Some(account.to_owned())
        };
        Ok(accounts.into_iter().filter(may_answer).filter_map(account).collect())
    }

    /// Answers a question for a person, and returns the words for that person. The press is
    /// recorded before it takes effect. `chat` is any chat of the channel.
    ///
    /// # Errors
    /// [`TryAgain`] if the answer could not be stored now.
    pub(crate) async fn answer_card(
        &self,
        person: &Caller,
        account: &str,
        answer: &CardAnswer,
        chat: &Chat,
    ) -> Result<String, TryAgain> {
        let Some(hall) = self.hall().weak().enter() else {
            return Err(passing(HallError::ShuttingDown));
        };
        let read = Outbound::read(&hall, &answer.stream, answer.seq, chat).await;
        let Ok(Outbound::Card(card)) = read else { return Ok(NO_MEANING.into()) };
        let Some(option) = card.options.get(answer.option) else { return Ok(NO_MEANING.into()) };
        // The label and the id of an option are words of the agent's program.
        let record = format!("pressed {} for {} by {account}", option.kind, card.permission);
        self.access().record_command(person, record).await.map_err(passing)?;
        let command = ClientCommand::AnswerPermission {
            permission: card.permission,
            option: option.id.clone(),
            text: None,
            by: person.asking_as(None).map_err(|denied| TryAgain::after(&denied.into()))?,
        };
        match self.submit_as(person, &answer.stream, command).await {
            Ok(()) => Ok(format!("Answered: {}", option.label)),
            Err(error) if is_passing(&error) => Err(TryAgain::after(&error)),
            Err(error) => Ok(error.to_string()),
        }
    }

    /// Submits a command in the name of a person, with the rights of that person.
    async fn submit_as(
        &self,
        person: &Caller,
        stream: &StreamId,
        command: ClientCommand,
    ) -> Result<(), AccessError> {
        let door = self.hall().as_(person.clone());
        let permitted = door.permit(stream, command).await?;
        door.submit(permitted, None).await?;
        Ok(())
    }
}
