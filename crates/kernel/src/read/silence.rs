//! Explains silence: decides why words ask no agent, and finds in a log why a message asked none.
//! (Ruling 19.)

use std::collections::{BTreeMap, BTreeSet};

use crate::model::event::{Cause, Event, Fault, Guard, Posted, Recipient, RecordedEvent, WhyNot};
use crate::model::ids::{EventId, ParticipantId, Seq, StreamId};
use crate::model::participant::Participant;
use crate::model::silence::{Reason, Silence};
use crate::model::state::{Conversation, Turn, WakingWords};
use crate::policy::UnsolicitedRule;
use crate::read::view::{Viewer, visible};
use crate::text::mentions::{self, Mentions};

impl From<WhyNot> for Reason {
    fn from(why_not: WhyNot) -> Self {
        match why_not {
            WhyNot::Passed => Self::Passed,
            WhyNot::Capped => Self::Capped,
            WhyNot::Cooled => Self::Cooled,
            WhyNot::Muted => Self::Muted,
            WhyNot::Paused => Self::Paused,
            WhyNot::Offline => Self::Offline,
            WhyNot::Skipped => Self::Skipped,
            WhyNot::Held => Self::Held,
            WhyNot::OverBudget => Self::OverBudget,
            WhyNot::ReadsOnly => Self::ReadsOnly,
            WhyNot::Ended => Self::Ended,
            WhyNot::QueueFull => Self::QueueFull,
            WhyNot::RoundOver => Self::RoundOver,
        }
    }
}

impl Guard {
    /// Returns the beginning of a sentence that says which guard holds.
    pub fn holds(self) -> &'static str {
        match self {
            Guard::Exchanges => "the guard exchanges holds (too many words of agents)",
            Guard::Pair => "the guard pair holds (two agents answer each other)",
            Guard::Repeat => "the guard repeat holds (the same words again)",
            Guard::Stopped => "a Stop holds",
        }
    }
}

impl Fault {
    /// True if the message of a fault with this code has only fixed words of the rules, and no
    /// output of a program.
    pub fn is_of_rules(code: &str) -> bool {
        const CODES: [&str; 13] = [
            Fault::CANCELLED,
            "client_removed",
            "covered",
            "interrupted",
            "merged",
            "never_started",
            "offline",
            "over_budget",
            "participant_muted",
            "stopped",
            "thread_archived",
            "thread_paused",
            "timeout",
        ];
        CODES.contains(&code)
    }
}

impl Conversation {
    /// Returns the reason why some words ask no agent. `None` if they ask one, or if they are an
    /// agent's and name none. In a gathering, only a person's words have a reason. Decisions and
    /// previews share this function.
    pub(crate) fn silence_of(
        &self,
        spoken: &WakingWords,
        body: &str,
        named: &Mentions,
    ) -> Option<Silence> {
        let names_any = || !spoken.mentions.is_empty() || spoken.to != Recipient::All;
        if !spoken.asks.is_empty() || (!spoken.human && !names_any()) {
            return None;
        }
        if self.gathering().is_some() {
            return spoken.human.then(|| Silence::of(Reason::Piece));
        }
        let nomination = (self.rules().nominate)(self, spoken);
        if !nomination.forced.is_empty() || !nomination.polled.is_empty() {
            return None;
        }
        if spoken.human {
            return Some(self.silence_of_person(spoken, body, named));
        }
        let other = spoken
            .mentions
            .iter()
            .find(|id| self.participant(id).is_some_and(Participant::takes_turns));
        other.map(|id| Silence::of(Reason::NoDiscussion).about(Some(id.clone())))
    }

    /// Returns the reason why an agent's own words ask none of the agents that they name: the
    /// policy asks in rounds, and no open round could still react to the words.
    pub(crate) fn outside_round(&self, own: &Posted) -> Option<Silence> {
        let reacts = self.floor.round.as_ref().is_some_and(|round| !round.reacting);
        if self.rules().unsolicited != UnsolicitedRule::Charged || reacts {
            return None;
        }
        let asks = |id: &&ParticipantId| {
            **id != own.from && self.participant(id).is_some_and(Participant::takes_turns)
        };
        let named = own.addressees().into_iter().find(|id| asks(&id))?;
        Some(Silence::of(Reason::OutsideRound).about(Some(named)))
    }

    /// Returns the first reason that applies to a person's words that ask no agent.
    fn silence_of_person(&self, spoken: &WakingWords, body: &str, named: &Mentions) -> Silence {
        let speaker = &spoken.cause.from;
        if !self.agents().any(|agent| agent.id != *speaker) {
            return Silence::of(Reason::NoAgents);
        }
        if !spoken.elsewhere.is_empty() {
            return Silence::of(Reason::HeardElsewhere);
        }
        if let Recipient::One(person) = &spoken.to {
            return Silence::of(Reason::ToPerson).about(Some(person.clone()));
        }
        if let Some(stray) = self.stray_name(body, named, speaker) {
            return stray;
        }
        if let Some(person) = spoken.mentions.first() {
            return Silence::of(Reason::ToPerson).about(Some(person.clone()));
        }
        match mentions::named_in_code(body, &self.participants, speaker) {
            Some(agent) => Silence::of(Reason::NameInCode).about(Some(agent)),
            None => Silence::of(Reason::NoAgentNamed),
        }
    }

    /// Returns the first name in some words that reaches no participant.
    pub(crate) fn stray_name(
        &self,
        body: &str,
        named: &Mentions,
        speaker: &ParticipantId,
    ) -> Option<Silence> {
        let shared = named.ambiguous.first();
        let shared = || shared.map(|(name, _)| Silence::of(Reason::SharedName).naming(body, name));
        self.unknown_name(named, speaker)
            .or_else(shared)
            .or_else(|| Self::broadcast_of(body, named))
    }

    /// Returns the first name in some words that means all, such as `@all`.
    pub(crate) fn broadcast_of(body: &str, named: &Mentions) -> Option<Silence> {
        let name = named.broadcast.first()?;
        Some(Silence::of(Reason::Broadcast).naming(body, name))
    }

    /// Returns the first name in some words that no participant bears, with the nearest one.
    pub(crate) fn unknown_name(
        &self,
        named: &Mentions,
        speaker: &ParticipantId,
    ) -> Option<Silence> {
        let unknown = named.unknown.as_ref()?;
        let near = mentions::nearest_in(&unknown.name, &self.participants, speaker);
        let (nearest, length) = near.unzip();
        let behind = length.map_or(0, |length| unknown.name.len() - length);
        let place = unknown.place.start..unknown.place.end - behind;
        Some(Silence::of(Reason::UnknownName).naming_at(place).about(nearest))
    }

    /// Returns the thing for which a message of a person waits now, if it waits.
    pub fn wait_of(&self, message: Seq) -> Option<Wait> {
        let queued = self.floor.queue.iter().any(|spoken| spoken.cause.seq == message);
        let round = self.floor.round.as_ref();
        let in_round = round.is_some_and(|round| round.cause.seq == message);
        if !queued && !in_round {
            return self.wait_for_members(message);
        }
        if self.paused {
            return Some(Wait::Paused);
        }
        let current = round.and_then(|round| self.turn(round.current?));
        if let Some(turn) = current {
            let (participant, cause) = (turn.participant.clone(), turn.cause.seq);
            let asks = turn.permissions.keys().next().is_some();
            return Some(if asks {
                Wait::Permission { participant, cause }
            } else {
                Wait::Answer { participant, cause }
            });
        }
        let next = self.upcoming().into_iter().next().map(|(id, _)| id);
        match (self.cooling_until(), next, round) {
            (Some(_), Some(participant), Some(round)) => {
                Some(Wait::Cooldown { participant, cause: round.cause.seq })
            }
            _ => Some(Wait::Earlier),
        }
    }

    /// Returns the message that is being answered and the agent that must answer it next, if only a
    /// cooldown delays the agent.
    pub fn cooling(&self) -> Option<(&Cause, ParticipantId)> {
        self.cooling_until()?;
        let round = self.floor.round.as_ref()?;
        let (participant, must) = self.upcoming().into_iter().next()?;
        must.then_some((&round.cause, participant))
    }

    /// Returns the wait of a message under `open`: a member that works on an older message gets
    /// this one afterwards.
    fn wait_for_members(&self, message: Seq) -> Option<Wait> {
        let older = |turn: &&Turn| turn.cause.seq < message && turn.running.is_some();
        let turn = self.open_turns().filter(|_| self.rules().passes_on).find(older)?;
        Some(Wait::Answer { participant: turn.participant.clone(), cause: turn.cause.seq })
    }
}

/// The thing that a message waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Answers to earlier messages.
    Earlier,
    /// The end of a pause.
    Paused,
    /// An agent's answer about an event.
    Answer {
        /// The agent that answers.
        participant: ParticipantId,
        /// Position of that event.
        cause: Seq,
    },
    /// A person's permission in a turn about an event.
    Permission {
        /// The agent that asks for it.
        participant: ParticipantId,
        /// Position of that event.
        cause: Seq,
    },
    /// The end of an agent's cooldown.
    Cooldown {
        /// The agent that cools down.
        participant: ParticipantId,
        /// Position of the message that the agent has to answer.
        cause: Seq,
    },
}

impl Wait {
    /// Returns the reason that readers see.
    pub fn reason(&self) -> Reason {
        match self {
            Wait::Paused => Reason::Paused,
            Wait::Earlier
            | Wait::Answer { .. }
            | Wait::Permission { .. }
            | Wait::Cooldown { .. } => Reason::Waiting,
        }
    }

    /// Returns the wait as a reader may know it. A wait about an event that the reader does not see
    /// becomes [`Wait::Earlier`].
    #[must_use]
    pub fn for_reader(self, sees: impl Fn(Seq) -> bool) -> Self {
        match self {
            Wait::Answer { cause, .. }
            | Wait::Permission { cause, .. }
            | Wait::Cooldown { cause, .. }
                if !sees(cause) =>
            {
                Wait::Earlier
            }
            other => other,
        }
    }

    /// Returns a sentence for people, without a full stop.
    pub fn sentence(&self, state: &Conversation) -> String {
        match self {
            Wait::Earlier => "it waits until earlier messages are answered".into(),
            Wait::Paused => Reason::Paused.row().phrase.into(),
            Wait::Answer { participant, cause } => {
                format!("it waits for {}'s answer to {cause}", state.name_of(participant))
            }
            Wait::Permission { participant, cause } => format!(
                "it waits for a person: {} asks a permission to answer {cause}",
                state.name_of(participant)
            ),
            Wait::Cooldown { participant, .. } => {
                format!("it waits for the cooldown of {}", state.name_of(participant))
            }
        }
    }
}

/// A message with the reason why it asked no agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentMessage {
    /// Public id of the message.
    pub id: EventId,
    /// Position of the message.
    pub seq: Seq,
    /// The reason. [`Reason::NoneAsked`] only means that the log has no reason: such a message may
    /// have asked an agent.
    pub silence: Silence,
    /// The name that the reason is about, as the message writes it.
    pub name: Option<String>,
}

/// The messages of a log that may have asked no agent. Feed it every event in order; messages that
/// the viewer does not see are left out.
pub struct Silences {
    stream: StreamId,
    viewer: Viewer,
    messages: BTreeMap<Seq, SilentMessage>,
    /// Messages that wait in the queue.
    queued: BTreeSet<Seq>,
    /// The message whose round is open.
    round: Option<Seq>,
}

impl Silences {
    /// Returns an empty collection for the log of this stream.
    pub fn new(stream: StreamId, viewer: Viewer) -> Self {
        Self { stream, viewer, messages: BTreeMap::new(), queued: BTreeSet::new(), round: None }
    }

    /// Reads the next event.
    pub fn observe(&mut self, recorded: &RecordedEvent) {
        match &recorded.event {
            Event::Posted(posted) if visible(&recorded.event, &self.viewer) => {
                self.observe_posted(posted, recorded);
            }
            Event::Taken { cause } => drop(self.queued.remove(&cause.seq)),
            Event::RoundOpened { cause, .. } => self.round = Some(cause.seq),
            Event::RoundClosed => self.round = None,
            Event::Stopped { by, .. } => {
                self.end_waiting(&Silence::of(Reason::Stopped).about(Some(by.clone())));
            }
            Event::Archived { .. } => self.end_waiting(&Silence::of(Reason::Archived)),
            _ => {}
        }
    }

    /// Adds a message with its recorded reason; a person's message without one gets `NoneAsked`.
    fn observe_posted(&mut self, posted: &Posted, recorded: &RecordedEvent) {
        let silence = match &posted.silence {
            _ if posted.queue_full => Silence::of(Reason::QueueFull),
            Some(found) => Silence::clone(found),
            None if posted.is_persons() => Silence::of(Reason::NoneAsked),
            None => return,
        };
        if posted.queued && posted.is_persons() {
            self.queued.insert(recorded.seq);
        }
        let (id, name) = (recorded.id(&self.stream), silence.name_in(&posted.body));
        let message = SilentMessage { id, seq: recorded.seq, silence, name };
        self.messages.insert(recorded.seq, message);
    }

    /// Replaces the reason of the open round's message, and of the messages in the queue that would
    /// have asked an agent. The other messages keep their own reason, because they would ask no
    /// agent if they were sent again.
    fn end_waiting(&mut self, silence: &Silence) {
        let queued = std::mem::take(&mut self.queued).into_iter();
        let would_ask = |seq: &Seq| {
            self.messages
                .get(seq)
                .is_some_and(|message| message.silence.reason == Reason::NoneAsked)
        };
        let ended: Vec<Seq> = queued.filter(would_ask).chain(self.round.take()).collect();
        for seq in ended {
            if let Some(message) = self.messages.get_mut(&seq) {
                *message =
                    SilentMessage { silence: silence.clone(), name: None, ..message.clone() };
            }
        }
    }

    /// Returns the messages in their order.
    pub fn into_messages(self) -> impl Iterator<Item = SilentMessage> {
        self.messages.into_values()
    }
}
