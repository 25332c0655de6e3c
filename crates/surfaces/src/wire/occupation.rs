//! States of participants on the wire.

use moothall_engine::door::SeenOccupation;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::occupation::{Occupation, StateWord};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::turn::turn_id;

/// Answer of `GET /states`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatesAnswer {
    /// The states, by thread, in the order of invitations. A participant that is not listed is
    /// ready, muted or away, or its session has ended.
    pub states: Vec<OccupationEntry>,
}

/// The `states` signal of `GET /events/stream`: states that have changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatesSignal {
    /// Id of the thread of the participants.
    pub thread: String,
    /// The new states. A participant that is not named keeps its state.
    pub states: Vec<OccupationEntry>,
}

/// The state of a participant in one word. A session has one state in all of its threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OccupationEntry {
    /// Id of the thread.
    pub thread: String,
    /// Id of the participant.
    pub participant: String,
    /// Name of the participant.
    pub name: String,
    /// The word: `thinking`, `writing`, `working`, `asks`, `waits`, `queued`, `paused`, `muted`,
    /// `ready`, `away` or `ended`.
    pub word: String,
    /// The state in words for people, after the participant's name: `asks you`, `waits for ann`,
    /// `3rd`.
    pub says: String,
    /// True if the participant asks a question that the reader may answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_you: bool,
    /// Start of the state; absent if no clock runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Id of the participant whose turn comes before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// Place among those that are asked next, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// Id of the participant's open turn in this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// Name of the tool that the participant uses; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The use of the tool in a few words. Of a session, only for readers of its screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Id of the session that the participant is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Id of the thread in which the session works or asks, if it is another one that the reader
    /// reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// True if the session works or waits in a thread that the reader does not read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
}

impl OccupationEntry {
    /// Returns a state for the wire.
    pub fn of(seen: &SeenOccupation) -> Self {
        let SeenOccupation { thread, shown, asks_reader, is_elsewhere } = seen;
        let occupation = &shown.occupation;
        let (tool, line) =
            occupation.tool.clone().map_or((None, None), |used| (used.tool, used.line));
        Self {
            thread: thread.to_string(),
            participant: occupation.participant.to_string(),
            name: shown.name.clone(),
            word: occupation.word.to_string(),
            says: words(seen),
            asks_you: *asks_reader,
            since: occupation.since.map(|since| since.to_string()),
            waits_for: occupation.waits_for.as_ref().map(ToString::to_string),
            place: occupation.place,
            turn: occupation.turn.map(|turn| turn_id(thread, turn)),
            tool,
            line,
            session: shown.session.as_ref().map(ToString::to_string),
            at: shown.at.as_ref().map(ToString::to_string),
            elsewhere: *is_elsewhere,
        }
    }
}

/// Returns a state in words for people. A question that the reader may not answer is one to the
/// owner of the server, who always may.
fn words(seen: &SeenOccupation) -> String {
    let Occupation { word, place, .. } = &seen.shown.occupation;
    match word {
        StateWord::Asks if seen.asks_reader => "asks you".into(),
        StateWord::Asks => format!("asks {}", ParticipantId::USER),
        StateWord::Waits if seen.is_elsewhere => "waits elsewhere".into(),
        StateWord::Waits => match &seen.shown.waits_for_name {
            Some(name) => format!("waits for {name}"),
            None => "waits".into(),
        },
        StateWord::Working if seen.is_elsewhere => "works elsewhere".into(),
        StateWord::Queued => place.map_or_else(|| "next".into(), ordinal),
        StateWord::Writing
        | StateWord::Working
        | StateWord::Thinking
        | StateWord::Paused
        | StateWord::Muted
        | StateWord::Ready
        | StateWord::Away
        | StateWord::Ended => word.to_string(),
    }
}

/// Returns the word for a place in a queue: `next`, `2nd`, `3rd`, `4th`, …
fn ordinal(place: usize) -> String {
    let ending = match (place % 10, place % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    if place == 1 { "next".into() } else { format!("{place}{ending}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_queue_has_its_ending() {
        let words = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 111].map(ordinal);
        let expected =
            ["next", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "111th"];
        assert_eq!(words, expected);
    }
}
