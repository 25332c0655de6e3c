//! The words of a message, as far as they may give agents a turn.

use serde::{Deserialize, Serialize};

use crate::model::event::{Cause, Posted, Recipient};
use crate::model::ids::{ParticipantId, Seq};
use crate::planted::{self, Bug};

/// Words that may give agents a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WakingWords {
    pub(crate) cause: Cause,
    /// The participant who knows the words already: see [`Posted::author`].
    pub(crate) author: ParticipantId,
    pub(crate) to: Recipient,
    pub(crate) mentions: Vec<ParticipantId>,
    /// The members that hear the words in another conversation.
    pub(crate) elsewhere: Vec<ParticipantId>,
    /// The author of the message that a person's words reply to.
    pub(crate) replies_to: Option<ParticipantId>,
    /// Agents that a person asks to answer, one after the other. No other agent is asked.
    pub(crate) asks: Vec<ParticipantId>,
    pub(crate) human: bool,
    /// The message that the words answer, if its round was already closed.
    pub(crate) late: Option<Seq>,
}

impl WakingWords {
    /// Reads the words from a message; `cause` points to it.
    pub(crate) fn of(posted: &Posted, cause: Cause) -> Self {
        let human = posted.is_persons();
        // An agent's reply does not address the author of the message that it replies to. (Ruling
        // 15.)
        let addresses = human && !planted::has(Bug::ReplyAddressesNobody);
        let replies_to =
            posted.reply_to.as_ref().filter(|_| addresses).map(|replied| replied.from.clone());
        let (author, to, mentions) =
            (posted.author().clone(), posted.to.clone(), posted.mentions.clone());
        Self {
            cause,
            author,
            to,
            mentions,
            elsewhere: posted.elsewhere.clone(),
            replies_to,
            asks: posted.asks.clone(),
            human,
            late: posted.late,
        }
    }
}
