//! The state of each participant in one word: what it does, since when, and who keeps it waiting.
//! All surfaces show this word, and no surface works out another one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, StreamId, TurnNo};
use crate::model::participant::Participant;
use crate::model::state::{Conversation, Turn};
use crate::model::time::Timestamp;
use crate::read::cards::OpenCard;

#[cfg(test)]
mod tests;

/// The word for the state of a participant. The words of a session's own work come first, the
/// strongest of them first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[derive(strum::Display, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum StateWord {
    /// The program of the session has exited.
    Ended,
    /// A person has to answer a question before the participant goes on.
    Asks,
    /// A part of the answer is shown.
    Writing,
    /// The participant uses a tool.
    Working,
    /// The turn runs, and nothing of its answer is shown yet.
    Thinking,
    /// The participant must not speak.
    Muted,
    /// The conversation is paused, or a guard holds its floor.
    Paused,
    /// The participant is next, after the one that it waits for.
    Waits,
    /// The participant is asked later, or its turn has not begun.
    Queued,
    /// The participant can be asked.
    Ready,
    /// The participant's client is not connected.
    Away,
}

impl StateWord {
    /// True if the participant works, or waits for a person's answer to go on.
    pub fn is_at_work(self) -> bool {
        match self {
            Self::Asks | Self::Writing | Self::Working | Self::Thinking => true,
            Self::Ended
            | Self::Muted
            | Self::Paused
            | Self::Waits
            | Self::Queued
            | Self::Ready
            | Self::Away => false,
        }
    }
}

/// The latest sign of work on a turn that its runtime gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnProgress {
    /// A part of the answer was shown.
    Writing,
    /// The participant uses a tool.
    Working(ToolUse),
}

/// A use of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The name of the tool, if known.
    pub tool: Option<String>,
    /// The use in a few words, such as the command that runs.
    pub line: Option<String>,
}

/// Facts about participants that are not in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveFacts {
    /// The latest signs of work on open turns.
    pub progress: BTreeMap<TurnNo, TurnProgress>,
    /// The present clients of participants, with the word that each gave for its presence.
    pub present: BTreeMap<ParticipantId, String>,
}

/// The state of a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupation {
    /// The participant.
    pub participant: ParticipantId,
    /// The state in one word.
    pub word: StateWord,
    /// Start of the state. `None` if its clock stands still, or the start is not known.
    pub since: Option<Timestamp>,
    /// The participant whose turn comes before.
    pub waits_for: Option<ParticipantId>,
    /// Place among those that are asked next, from 1.
    pub place: Option<usize>,
    /// The turn.
    pub turn: Option<TurnNo>,
    /// The use of a tool.
    pub tool: Option<ToolUse>,
}

impl Occupation {
    /// Returns a state that consists of its word.
    pub fn of(participant: &ParticipantId, word: StateWord) -> Self {
        Self {
            participant: participant.clone(),
            word,
            since: None,
            waits_for: None,
            place: None,
            turn: None,
            tool: None,
        }
    }

    fn since(self, since: impl Into<Option<Timestamp>>) -> Self {
        Self { since: since.into(), ..self }
    }
}

/// The activity of a session's program, whichever conversation it works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionWork {
    /// The program draws its first screen.
    Starting,
    /// The program waits for work.
    Idle,
    /// The composer holds a person's draft, so nothing is typed.
    Drafting,
    /// The program works.
    Busy,
    /// The program waits for a person's answer.
    Asking,
    /// The program has exited.
    Ended,
}

/// The activity of a session's program, and the tool that it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionActivity {
    /// The activity.
    pub work: SessionWork,
    /// The use of a tool that the program reported and whose end it has not reported yet.
    pub tool: Option<ToolUse>,
}

impl From<SessionWork> for SessionActivity {
    fn from(work: SessionWork) -> Self {
        Self { work, tool: None }
    }
}

/// The one state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOccupation {
    /// The state.
    pub occupation: Occupation,
    /// The conversation of the state, if it is another one than that of the participant.
    pub at: Option<StreamId>,
}

/// Returns the one state of a session as a conversation shows it. `own` is the state there,
/// `elsewhere` has the states in its other conversations, and `home` is the conversation in which
/// it is asked outside of turns.
pub fn of_session(
    own: &Occupation,
    elsewhere: &[(StreamId, Occupation)],
    home: &StreamId,
    activity: &SessionActivity,
) -> SessionOccupation {
    let SessionOccupation { occupation, at } = without_tool(own, elsewhere, home, activity.work);
    SessionOccupation { occupation: with_tool(occupation, activity), at }
}

/// Adds the tool that a busy program uses, unless the turn's own sign of work is more exact.
fn with_tool(occupation: Occupation, activity: &SessionActivity) -> Occupation {
    let is_silent = match occupation.word {
        StateWord::Thinking | StateWord::Working => occupation.tool.is_none(),
        StateWord::Ended
        | StateWord::Asks
        | StateWord::Writing
        | StateWord::Muted
        | StateWord::Paused
        | StateWord::Waits
        | StateWord::Queued
        | StateWord::Ready
        | StateWord::Away => false,
    };
    match &activity.tool {
        Some(tool) if is_silent && activity.work == SessionWork::Busy => {
            Occupation { word: StateWord::Working, tool: Some(tool.clone()), ..occupation }
        }
        Some(_) | None => occupation,
    }
}

/// Returns the state of a session without the tool of its program. Own work comes first, then the
/// strongest work in another conversation, then work or a question of the program that no turn
/// explains. Without any of these, the session has its own state.
fn without_tool(
    own: &Occupation,
    elsewhere: &[(StreamId, Occupation)],
    home: &StreamId,
    work: SessionWork,
) -> SessionOccupation {
    let here = |occupation| SessionOccupation { occupation, at: None };
    let bare = |word| Occupation::of(&own.participant, word);
    if work == SessionWork::Ended {
        return here(bare(StateWord::Ended));
    }
    if own.word.is_at_work() {
        return here(own.clone());
    }
    let strongest = elsewhere.iter().filter(|(_, other)| other.word.is_at_work());
    if let Some((stream, other)) = strongest.min_by_key(|(_, other)| other.word) {
        let occupation = Occupation {
            participant: own.participant.clone(),
            place: own.place,
            turn: own.turn,
            waits_for: None,
            ..other.clone()
        };
        return SessionOccupation { occupation, at: Some(stream.clone()) };
    }
    let at_home = |word| SessionOccupation { occupation: bare(word), at: Some(home.clone()) };
    match work {
        SessionWork::Asking => at_home(StateWord::Asks),
        SessionWork::Busy | SessionWork::Starting if own.word == StateWord::Ready => {
            at_home(StateWord::Working)
        }
        // A draft of a person in the composer keeps the turn waiting.
        SessionWork::Drafting if own.word == StateWord::Queued => {
            here(Occupation { word: StateWord::Waits, ..own.clone() })
        }
        SessionWork::Starting
        | SessionWork::Idle
        | SessionWork::Drafting
        | SessionWork::Busy
        | SessionWork::Ended => here(own.clone()),
    }
}

impl Conversation {
    /// Returns the state of each participant, in invitation order.
    pub fn occupations(&self, live: &LiveFacts) -> Vec<Occupation> {
        let floor = FloorView {
            state: self,
            live,
            cards: self.open_cards(),
            next: self.upcoming().into_iter().map(|(id, _)| id).collect(),
        };
        self.participants.iter().map(|one| floor.occupation_of(one)).collect()
    }
}

/// A conversation with the lists that the states of all participants need.
struct FloorView<'a> {
    state: &'a Conversation,
    live: &'a LiveFacts,
    cards: Vec<OpenCard>,
    /// The agents still to be asked, in order.
    next: Vec<ParticipantId>,
}

impl FloorView<'_> {
    /// Returns the first state that applies. A question comes first, because the participant goes
    /// on only after its answer. A pause comes before turns, because their words during the pause
    /// are not shown.
    fn occupation_of(&self, one: &Participant) -> Occupation {
        let id = &one.id;
        self.asks(id, false)
            .or_else(|| self.is_muted(id).then(|| Occupation::of(id, StateWord::Muted)))
            .or_else(|| self.is_paused(one))
            .or_else(|| self.runs(id))
            .or_else(|| self.is_granted(id))
            .or_else(|| self.is_upcoming(id))
            .or_else(|| self.waits_for_piece(id))
            // An agent works on while its request is open, so every state of work comes before it.
            .or_else(|| self.asks(id, true))
            .or_else(|| self.is_held(one))
            .unwrap_or_else(|| self.rests(one))
    }

    /// Returns the state of an agent whose question or request is open.
    fn asks(&self, id: &ParticipantId, is_request: bool) -> Option<Occupation> {
        let own = |card: &&OpenCard| card.participant == *id && card.is_request == is_request;
        let oldest = self.cards.iter().find(own)?;
        let turn = self.turn_of(id).map(|turn| turn.no);
        Some(Occupation { turn, ..Occupation::of(id, StateWord::Asks).since(oldest.asked_at) })
    }

    fn is_muted(&self, id: &ParticipantId) -> bool {
        self.state.muted.contains(id)
    }

    fn is_paused(&self, one: &Participant) -> Option<Occupation> {
        let applies = self.state.paused && one.takes_turns();
        let turn = self.turn_of(&one.id).map(|turn| turn.no);
        let paused = Occupation::of(&one.id, StateWord::Paused);
        applies.then(|| Occupation { turn, ..paused.since(self.state.paused_since) })
    }

    fn is_held(&self, one: &Participant) -> Option<Occupation> {
        let guards = &self.state.guards;
        let applies = guards.held.is_some() && one.takes_turns();
        applies.then(|| Occupation::of(&one.id, StateWord::Paused).since(guards.held_since))
    }

    /// Returns the turn of a participant that runs, or comes next.
    fn turn_of(&self, id: &ParticipantId) -> Option<&Turn> {
        let own = || self.state.open_turns().filter(|turn| turn.participant == *id);
        own().find(|turn| turn.running.is_some()).or_else(|| own().next())
    }

    /// Returns the state of a participant whose turn runs, by the latest sign of work on it.
    fn runs(&self, id: &ParticipantId) -> Option<Occupation> {
        let turn = self.turn_of(id)?;
        let running = turn.running?;
        let (word, tool) = match self.live.progress.get(&turn.no) {
            Some(TurnProgress::Writing) => (StateWord::Writing, None),
            Some(TurnProgress::Working(tool)) => (StateWord::Working, Some(tool.clone())),
            None => (StateWord::Thinking, None),
        };
        let occupation = Occupation::of(id, word).since(running.started_at);
        Some(Occupation { turn: Some(turn.no), tool, ..occupation })
    }

    /// Returns the state of a participant whose turn was granted and has not begun.
    fn is_granted(&self, id: &ParticipantId) -> Option<Occupation> {
        let turn = self.turn_of(id)?;
        let occupation = self.behind(id, 1).since(turn.granted_at);
        Some(Occupation { turn: Some(turn.no), ..occupation })
    }

    fn is_upcoming(&self, id: &ParticipantId) -> Option<Occupation> {
        let before = self.next.iter().position(|next| next == id)?;
        let began_at = self.state.floor.round.as_ref().and_then(|round| round.began_at);
        Some(self.behind(id, before + 1).since(began_at))
    }

    fn waits_for_piece(&self, id: &ParticipantId) -> Option<Occupation> {
        let gathering = self.state.gathering()?;
        let before = gathering.order.iter().position(|next| next == id)?;
        let since = gathering.tenure.as_ref().map(|tenure| tenure.since);
        Some(self.behind(id, before + 1).since(since))
    }

    /// Returns the state of a participant at a place among those that are asked next.
    fn behind(&self, id: &ParticipantId, place: usize) -> Occupation {
        let first = self.speaker().filter(|speaker| speaker != &id).cloned();
        let word = if place == 1 && first.is_some() { StateWord::Waits } else { StateWord::Queued };
        Occupation { waits_for: first, place: Some(place), ..Occupation::of(id, word) }
    }

    /// Returns the participant for whose words the others wait: the participant of the round's
    /// current turn, or the member that a gathering waits for.
    fn speaker(&self) -> Option<&ParticipantId> {
        let current = self.state.floor.round.as_ref().and_then(|round| round.current);
        let turn = current.and_then(|no| self.state.turn(no)).filter(|turn| !turn.released);
        turn.map(|turn| &turn.participant).or_else(|| self.state.awaited_in_gathering())
    }

    /// Returns the state of a participant without a part in the floor now.
    fn rests(&self, one: &Participant) -> Occupation {
        let word = match self.live.present.get(&one.id).map(String::as_str) {
            _ if !one.answers_by_posting() => StateWord::Ready,
            Some("typing") => StateWord::Writing,
            Some("thinking") => StateWord::Thinking,
            Some(_) => StateWord::Ready,
            None => StateWord::Away,
        };
        Occupation::of(&one.id, word)
    }
}
