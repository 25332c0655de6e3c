//! Recent words of agents in all conversations of a hall. They are a fact of decisions, which need
//! them to find echoes and to limit agents' own words. (Ruling 16.)

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::model::event::{Event, Posted, RecordedEvent};
use crate::model::ids::{ParticipantId, StreamId};
use crate::model::participant::Address;
use crate::model::state::Conversation;
use crate::model::time::{Millis, Timestamp};
use crate::text::sketch::Sketch;

/// Time for which words are remembered.
pub const REMEMBERED: Millis = Millis::from_secs(3600);
/// Maximum number of contributions that are remembered.
const VOICES_MAX: usize = 4096;
/// Time within which resembling words of another agent count as a repetition.
const RESEMBLES_WITHIN: Millis = Millis::from_secs(10);
/// The window of the rate limit. A person's words reset the rate.
pub const MINUTE: Millis = Millis::from_secs(60);

/// A contribution of an agent, for comparison with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voice {
    /// Time of the contribution.
    pub at: Timestamp,
    /// The conversation.
    pub stream: StreamId,
    /// The speaker: a session's id, or the id of a participant.
    pub speaker: String,
    /// Public id of the credential that the words came with.
    pub credential: Option<String>,
    /// True if the words answer no turn.
    pub is_own: bool,
    sketch: Sketch,
}

/// Agents' words within an hour, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Voices {
    said: VecDeque<Arc<Voice>>,
    /// Time of a person's last words, in conversations with own words within the last minute.
    people: BTreeMap<StreamId, Timestamp>,
}

/// The own words that a limit counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WordCounter<'a> {
    /// Words of one speaker.
    Speaker(&'a str),
    /// Words that came with one credential.
    Credential(&'a str),
    /// All words.
    Hall,
}

impl Conversation {
    /// Returns the speaker behind an id. A session is the same speaker in all its conversations.
    pub(crate) fn speaker(&self, id: &ParticipantId) -> String {
        let address = self.participant(id).and_then(|participant| participant.address.as_ref());
        address.map_or_else(|| id.to_string(), Address::full_id)
    }
}

impl Voices {
    /// Notes an event of a conversation. Words from other computers are not noted, and answers to
    /// other computers are not noted either: the servers of those computers count them.
    pub fn note(&mut self, state: &Conversation, recorded: &RecordedEvent) {
        let Event::Posted(posted) = &recorded.event else { return };
        if posted.hosted.is_some() || posted.far.is_some() {
            return;
        }
        if posted.is_persons() {
            if posted.typed_at.is_none() {
                self.note_person(state.stream(), recorded.ts);
            }
        } else if posted.is_agents_voice() {
            self.note_agent(state, posted, recorded.ts);
        }
    }

    fn note_person(&mut self, stream: &StreamId, ts: Timestamp) {
        let recent = |voice: &&Arc<Voice>| voice.at > ts - MINUTE;
        if self.said.iter().rev().take_while(recent).any(|voice| voice.stream == *stream) {
            self.people.retain(|_, at| *at > ts - MINUTE);
            self.people.insert(stream.clone(), ts);
        }
    }

    /// Remembers an agent's words, and forgets those older than an hour or beyond [`VOICES_MAX`].
    fn note_agent(&mut self, state: &Conversation, posted: &Posted, ts: Timestamp) {
        while self.said.front().is_some_and(|oldest| oldest.at <= ts - REMEMBERED)
            || self.said.len() >= VOICES_MAX
        {
            self.said.pop_front();
        }
        self.said.push_back(Arc::new(Voice {
            at: ts,
            stream: state.stream().clone(),
            speaker: state.speaker(&posted.from),
            credential: posted.own.as_ref().and_then(|own| own.credential.clone()),
            is_own: posted.own.is_some(),
            sketch: Sketch::of(&posted.body),
        }));
    }

    /// True if another speaker said the same words within an hour, or similar words within ten
    /// seconds.
    pub(crate) fn is_repeated(&self, speaker: &str, words: &str, now: Timestamp) -> bool {
        if self.said.is_empty() {
            return false;
        }
        let sketch = Sketch::of(words);
        let since = |length: Millis| now - length;
        let heard = |voice: &Voice| {
            voice.sketch.repeats(&sketch)
                || voice.at > since(RESEMBLES_WITHIN) && voice.sketch.resembles(&sketch)
        };
        let lately = |voice: &&Arc<Voice>| voice.at > since(REMEMBERED);
        self.said
            .iter()
            .rev()
            .take_while(lately)
            .any(|voice| voice.speaker != speaker && heard(voice))
    }

    /// Returns agents' own words within the hour, oldest first.
    pub(crate) fn own(&self, now: Timestamp) -> impl Iterator<Item = &Voice> {
        let lately = move |voice: &&Voice| voice.is_own && voice.at > now - REMEMBERED;
        self.said.iter().map(|voice| &**voice).filter(lately)
    }

    /// Returns the time at which one more contribution that `counted` counts has room in a window;
    /// `None` if it has room now. In the window of a minute, words before a person's words do not
    /// count.
    pub(crate) fn room_at(
        &self,
        counted: WordCounter<'_>,
        (most, window): (usize, Millis),
        now: Timestamp,
    ) -> Option<Timestamp> {
        let is_counted = |voice: &&Arc<Voice>| {
            let answered = || self.people.get(&voice.stream).is_some_and(|at| *at > voice.at);
            let matches = match counted {
                WordCounter::Speaker(speaker) => voice.speaker == speaker,
                WordCounter::Credential(token) => voice.credential.as_deref() == Some(token),
                WordCounter::Hall => true,
            };
            voice.is_own && matches && (window > MINUTE || !answered())
        };
        let within = |voice: &&Arc<Voice>| voice.at > now - window;
        let oldest =
            self.said.iter().rev().take_while(within).filter(is_counted).nth(most.checked_sub(1)?);
        oldest.map(|voice| voice.at + window)
    }
}
