//! Reasons for silence: of messages that asked no agent, and of agents that were not asked. (Ruling
//! 19.)
//!
//! One table has all reasons, with their condition, their audience and their cure. `docs/rules.md`
//! shows it, and a test compares the two.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::model::ids::ParticipantId;
use crate::model::message_part::Span;

/// The audience of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub enum ReasonAudience {
    /// The readers of the message.
    #[strum(serialize = "readers")]
    Readers,
    /// The speaker in the answer to the message, and its readers.
    #[strum(serialize = "speaker at once, readers")]
    SpeakerToo,
}

/// The row of a reason in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReasonRow {
    /// A phrase for people. For a reason of one agent it follows the agent's name.
    pub phrase: &'static str,
    /// The condition under which the reason holds.
    pub condition: &'static str,
    /// The audience of the reason.
    pub audience: ReasonAudience,
    /// A way forward, as a sentence; empty if nothing has to be done.
    pub cure: &'static str,
}

macro_rules! reasons {
    ($($name:ident = $told:ident, $phrase:literal, $condition:literal, $cure:literal;)*) => {
        /// A reason for silence.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[derive(strum::Display)]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum Reason {
            $(#[doc = $condition] $name,)*
        }

        impl Reason {
            /// All reasons, in the order of the table.
            pub const ALL: &'static [Reason] = &[$(Reason::$name,)*];

            /// Returns the reason's row of the table.
            pub const fn row(self) -> ReasonRow {
                match self {
                    $(Reason::$name => ReasonRow {
                        phrase: $phrase,
                        condition: $condition,
                        audience: ReasonAudience::$told,
                        cure: $cure,
                    },)*
                }
            }
        }
    };
}

reasons! {
    NoAgentNamed = Readers, "nobody was named",
        "The message names no agent, and only named agents answer here.",
        "Name an agent with @, or turn on `invited_auto` to ask all agents.";
    UnknownName = SpeakerToo, "nobody here is called that",
        "The message addresses only names without a participant.",
        "Send it again with the right name, or invite that agent.";
    SharedName = Readers, "several participants have that name",
        "The message addresses a name that several participants have.",
        "Send it again with an id.";
    NameInCode = Readers, "the name is in code or a quote",
        "The message names an agent only in code or in a quote.",
        "Send it again with the name outside of code and quotes.";
    Broadcast = SpeakerToo, "there is no name for everyone here",
        "The message says @all, @everyone or @here, and names no agent.",
        "Name the agents, or use /ask.";
    ToPerson = Readers, "it is for a person",
        "The message is for a person, or names only people.",
        "Name an agent with @ to get an answer.";
    NoAgents = Readers, "no agent is invited",
        "The conversation has no agents.",
        "Invite one: `moothall invite`.";
    Piece = Readers, "the holder of the talking piece speaks",
        "A gathering is open, in which only the holder of the talking piece speaks.",
        "";
    NoDiscussion = Readers, "mentions by agents ask nobody here",
        "An agent names another under mention_only, and discussion is off.",
        "Turn discussion on, or name the agent yourself.";
    OutsideRound = Readers, "an agent named it outside a round",
        "An agent names another while no round is open, and only a person begins one here.",
        "Name the agent yourself.";
    Waiting = Readers, "it waits its turn",
        "Earlier messages come first, or the agent that it asks has to wait.",
        "";
    Stopped = Readers, "a person stopped the conversation",
        "A person stopped the conversation while it waited.",
        "Send it again.";
    Archived = Readers, "the conversation was archived",
        "The conversation was archived while it waited.",
        "Unarchive the conversation, and send it again.";
    AnsweredPrivately = Readers, "the answer is for others",
        "An agent answered with a message that the reader may not see.",
        "";
    HeardElsewhere = Readers, "its agents hear the same words in another link",
        "The agents here are also in another link that got the same message.",
        "";
    NoneAsked = Readers, "nobody was asked",
        "An earlier version wrote the message without a reason.",
        "";
    Passed = Readers, "had nothing to say",
        "The agent was asked and passed.",
        "";
    Capped = Readers, "the limit of replies is reached",
        "A limit of replies, polls or depth was reached.",
        "Name the agent, or raise the limit.";
    Cooled = Readers, "spoke a moment ago",
        "The agent spoke less than cooldown_seconds ago, and this is a reaction.",
        "";
    Muted = Readers, "is muted",
        "The agent is muted.",
        "Unmute it: /unmute.";
    Paused = Readers, "the conversation is paused",
        "The conversation is paused.",
        "Resume it: /resume.";
    Offline = Readers, "is not connected",
        "The agent connects by itself, and none of its clients is connected.",
        "Start its client.";
    Skipped = Readers, "was not asked",
        "Another agent is addressed, this agent usually passes, or one of its turns covers the \
         message.",
        "Name the agent.";
    Held = SpeakerToo, "a guard holds the conversation",
        "A guard, a Stop or a gathering is active, and this message does not lift it.",
        "A person can lift it with any message, or with /resume.";
    OverBudget = Readers, "its budget is used up",
        "A budget of turns or money is used up.",
        "Wait for the next window. Or raise the budget: `moothall budget`.";
    ReadsOnly = Readers, "reads only, and takes no turns",
        "The agent's client takes no turns; it reads and posts by itself.",
        "Have its client take turns (turns=1).";
    Ended = Readers, "has ended its session",
        "The agent's session has ended, and the message does not name the agent.",
        "Bring it back: `moothall resume NAME`. Or take it out: `moothall uninvite`.";
    QueueFull = SpeakerToo, "too many messages wait already",
        "Too many messages were waiting when it arrived.",
        "Wait for the others or stop the conversation, then send it again.";
    RoundOver = Readers, "was not asked: the next message came first",
        "Another message was waiting, and the round's time was used up before the agent's turn.",
        "Name the agent.";
}

/// The reason for which a message asked no agent, with details. Words of the message are given as
/// places, so that erasing the message erases them here too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// The reason.
    pub reason: Reason,
    /// Place of the name that the reason is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Span>,
    /// The participant that the reason is about: the nearest to an unknown name, the one named in
    /// code, the person addressed, or the person who stopped the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<ParticipantId>,
}

impl Silence {
    /// Returns a reason without details.
    pub fn of(reason: Reason) -> Self {
        Self { reason, name: None, participant: None }
    }

    /// Returns the silence with a participant.
    #[must_use]
    pub fn about(self, participant: Option<ParticipantId>) -> Self {
        Self { participant, ..self }
    }

    /// Returns the silence with a name, at its first place in the words.
    #[must_use]
    pub(crate) fn naming(self, body: &str, name: &str) -> Self {
        let place = body.find(&format!("@{name}")).map(|at| Span::of(at..at + 1 + name.len()));
        Self { name: place, ..self }
    }

    /// Returns the silence with the name at a place in the words.
    #[must_use]
    pub(crate) fn naming_at(self, place: Range<usize>) -> Self {
        Self { name: Some(Span::of(place)), ..self }
    }

    /// Returns the name that the reason is about, as the message writes it; `None` if the message
    /// was erased.
    pub fn name_in(&self, body: &str) -> Option<String> {
        self.name.and_then(|place| place.words(body))
    }

    /// Returns a sentence for people, without a full stop. `name` is the name as the message writes
    /// it, and `participant` the name of the participant.
    pub fn sentence(&self, name: Option<&str>, participant: Option<&str>) -> String {
        let phrase = self.reason.row().phrase;
        match (self.reason, name, participant) {
            (Reason::UnknownName, Some(name), Some(near)) => {
                format!("nobody here is called {name}; the nearest name is {near}")
            }
            (Reason::UnknownName, Some(name), None) => format!("nobody here is called {name}"),
            (Reason::SharedName, Some(name), _) => {
                format!("several participants are called {name}")
            }
            (Reason::NameInCode, _, Some(named)) => {
                format!("{named} is named only in code or a quote, which asks nobody")
            }
            (Reason::Broadcast, Some(name), _) => format!("there is no {name} here"),
            (Reason::ToPerson, _, Some(person)) => format!("it is for {person}, a person"),
            (Reason::Stopped, _, Some(person)) => format!("stopped by {person}"),
            _ => phrase.to_owned(),
        }
    }
}
