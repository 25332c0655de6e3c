//! The messages of a conversation, the outcomes of requests and the steps of a gathering, in the
//! order in which they took effect.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use crate::model::chat::PostOrigin;
use crate::model::event::{Event, Posted, RecordedEvent};
use crate::model::ids::{ParticipantId, Seq};
use crate::model::state::{Conversation, QueuedMessage};
use crate::read::templates::LEFT_OUT;
use crate::read::view::{Viewer, visible};
use crate::text::shortened;

/// The events that were read for a prompt.
#[derive(Clone, Copy, Debug, Default)]
pub struct Material<'a> {
    /// Messages before `events`, in order, and without a gap up to those.
    pub messages: &'a [RecordedEvent],
    /// All events after some position, in order: up to the end of the prompt, and later ones.
    pub events: &'a [RecordedEvent],
    /// Single events that the other events and the turn refer to.
    pub apart: &'a [RecordedEvent],
    /// Messages before `messages` that were counted instead of read.
    pub unread: OmittedCount,
}

/// Messages that a prompt leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OmittedCount {
    /// Number of counted messages.
    pub messages: u64,
    /// True if there are more, uncounted messages.
    pub more: bool,
}

impl OmittedCount {
    /// Returns the line with the number of left-out messages, or an empty text if none is left out.
    pub fn line(self) -> String {
        let (count, more) = (self.messages, if self.more { "more than " } else { "" });
        if self == Self::default() {
            String::new()
        } else {
            LEFT_OUT.fill(&[&format!("{more}{count}")]) + "\n"
        }
    }

    pub(super) fn and(self, messages: u64) -> Self {
        Self { messages: self.messages + messages, ..self }
    }
}

impl<'a> Material<'a> {
    /// Returns material with all events from the beginning, or from some position on.
    pub fn of(events: &'a [RecordedEvent]) -> Self {
        Self { events, ..Self::default() }
    }

    /// Returns the messages that left the queue before `events` and that some participant has not
    /// been shown since.
    pub fn waited(&self, state: &Conversation) -> impl Iterator<Item = QueuedMessage> {
        let begins = self.events.first().map(|first| first.seq);
        state.waited().filter(move |waited| begins.is_some_and(|begins| waited.left < begins))
    }

    /// Returns an event, if it was read.
    pub fn find(&self, seq: Seq) -> Option<&'a RecordedEvent> {
        let among = |events: &'a [RecordedEvent]| {
            events.binary_search_by_key(&seq, |recorded| recorded.seq).ok().map(|at| &events[at])
        };
        let apart = || self.apart.iter().find(|recorded| recorded.seq == seq);
        among(self.events).or_else(|| among(self.messages)).or_else(apart)
    }
}

/// Words at the position where they took effect.
pub(super) struct Utterance<'a> {
    pub(super) at: Seq,
    pub(super) recorded: &'a RecordedEvent,
    pub(super) posted: Source<'a>,
}

/// Longest part of a prompt with words of people who are not known, in bytes. (Ruling 44.)
const OVERHEARD_BYTES_MAX: usize = 8 * 1024;

/// The origin of words.
pub(super) enum Source<'a> {
    /// A participant said the words.
    Message(&'a Posted),
    /// A person who is not known to the server said the words in a bound chat.
    Overheard(Box<Posted>),
    /// The server tells the outcome of a request.
    Outcome(Box<Posted>),
    /// The server announces a step of a gathering.
    Announcement(Box<Posted>),
}

impl Deref for Source<'_> {
    type Target = Posted;

    fn deref(&self) -> &Posted {
        match self {
            Source::Message(posted) => posted,
            Source::Overheard(posted) | Source::Outcome(posted) | Source::Announcement(posted) => {
                posted
            }
        }
    }
}

impl Utterance<'_> {
    pub(super) fn is_message(&self) -> bool {
        matches!(self.posted, Source::Message(_))
    }
}

/// The messages and the outcomes of requests in the material that the viewer may see.
///
/// A message that waited is placed at the point at which it left the queue: when it was taken, or
/// when a stop removed it. For messages that left before the events of the material, the state has
/// that point until each participant was shown them. Other messages are placed at their own
/// position.
pub struct Story<'a> {
    pub(super) material: Material<'a>,
    pub(super) words: Vec<Utterance<'a>>,
}

impl<'a> Story<'a> {
    /// Returns the story of the material for a viewer.
    pub fn of(state: &Conversation, material: Material<'a>, viewer: &Viewer) -> Self {
        Self { words: visible_utterances(state, &material, viewer), material }
    }

    /// Returns the messages up to a position, in the order in which they took effect.
    pub fn messages(&self, through: Seq) -> impl DoubleEndedIterator<Item = &'a RecordedEvent> {
        let messages =
            self.words.iter().filter(move |words| words.is_message() && words.at <= through);
        messages.map(|words| words.recorded)
    }
}

/// Returns the messages, the outcomes and the announcements that the viewer may see, in the order
/// in which they took effect. Messages that still wait in the queue are left out.
fn visible_utterances<'a>(
    state: &Conversation,
    material: &Material<'a>,
    viewer: &Viewer,
) -> Vec<Utterance<'a>> {
    let taken: BTreeSet<Seq> = material.events.iter().filter_map(takes).collect();
    let waits = |recorded: &RecordedEvent| {
        is_queued(recorded)
            && (taken.contains(&recorded.seq)
                || state.queued().any(|cause| cause.seq == recorded.seq))
    };
    let (mut waiting, older): (Vec<&RecordedEvent>, Vec<&RecordedEvent>) =
        material.messages.iter().partition(|recorded| waits(recorded));
    let mut story: Vec<Utterance<'a>> = Vec::with_capacity(older.len() + material.events.len() / 2);
    story.extend(before_events(state, material, &older));
    for recorded in material.events {
        match &recorded.event {
            Event::Posted(_) if is_queued(recorded) => waiting.push(recorded),
            Event::Posted(_) => story.extend(words(recorded.seq, recorded)),
            Event::Overheard { origin, body, .. } if !body.is_empty() => {
                story.push(overheard(recorded, origin, body));
            }
            Event::Redacted { seq, edited: true, .. } => waiting.retain(|waits| waits.seq != *seq),
            Event::Taken { cause } => {
                waiting.retain(|waits| waits.seq != cause.seq);
                story.extend(material.find(cause.seq).and_then(|said| words(recorded.seq, said)));
            }
            Event::Stopped { .. } | Event::Archived { .. } => {
                story.extend(waiting.drain(..).filter_map(|said| words(recorded.seq, said)));
            }
            Event::StartSettled { participant, start, outcome, .. } => {
                let account = state.account_of_start(start, participant, outcome);
                story.push(outcome_of(recorded, account));
            }
            Event::TalkSettled { participant, talk, outcome, .. } => {
                let account = state.account_of_talk(talk, participant, outcome);
                story.push(outcome_of(recorded, account));
            }
            Event::Gathering(step) => {
                let announced = (state.rules().announcement)(state, step);
                story.extend(announced.map(|body| Utterance {
                    at: recorded.seq,
                    recorded,
                    posted: Source::Announcement(Box::new(Posted::of_server(body))),
                }));
            }
            _ => {}
        }
    }
    story.retain(|words| visible(&words.recorded.event, viewer));
    bound_overheard(&mut story);
    story
}

/// Returns words of a person who is not known to the server. The name that such a person chose is
/// left out, because it can be that of a participant.
fn overheard<'a>(recorded: &'a RecordedEvent, origin: &PostOrigin, body: &str) -> Utterance<'a> {
    let account = origin.account();
    let posted = Posted {
        from: ParticipantId::new(format!("stranger {account}, unproven")),
        ..Posted::of_server(shortened(body, OVERHEARD_BYTES_MAX / 4).into_owned())
    };
    Utterance { at: recorded.seq, recorded, posted: Source::Overheard(Box::new(posted)) }
}

/// Leaves out the older words of people who are not known, if they do not fit into their part.
fn bound_overheard(story: &mut Vec<Utterance<'_>>) {
    let mut room = Some(OVERHEARD_BYTES_MAX);
    story.reverse();
    story.retain(|words| {
        let Source::Overheard(posted) = &words.posted else { return true };
        room = room.and_then(|left| left.checked_sub(posted.body.len()));
        room.is_some()
    });
    story.reverse();
}

/// Returns the outcome of a request as words of the server.
fn outcome_of(recorded: &RecordedEvent, account: String) -> Utterance<'_> {
    let posted = Source::Outcome(Box::new(Posted::of_server(account)));
    Utterance { at: recorded.seq, recorded, posted }
}

/// Returns messages from before the events, in the order in which they took effect as far as that
/// is known.
fn before_events<'a>(
    state: &Conversation,
    material: &Material<'a>,
    messages: &[&'a RecordedEvent],
) -> Vec<Utterance<'a>> {
    let left: BTreeMap<Seq, Seq> =
        material.waited(state).map(|waited| (waited.said, waited.left)).collect();
    let apart = material.apart.iter().filter(|recorded| left.contains_key(&recorded.seq));
    let at = |recorded: &RecordedEvent| left.get(&recorded.seq).copied().unwrap_or(recorded.seq);
    let all = messages.iter().copied().chain(apart);
    let mut utterances: Vec<Utterance<'a>> =
        all.filter_map(|recorded| words(at(recorded), recorded)).collect();
    if !left.is_empty() {
        utterances.sort_by_key(|words| words.at);
    }
    utterances
}

/// Returns the position of the message that an event takes from the queue.
fn takes(recorded: &RecordedEvent) -> Option<Seq> {
    match &recorded.event {
        Event::Taken { cause } => Some(cause.seq),
        _ => None,
    }
}

fn is_queued(recorded: &RecordedEvent) -> bool {
    matches!(&recorded.event, Event::Posted(posted) if posted.queued)
}

/// Returns a message at the position `at`; `None` for other events and for messages not in prompts.
fn words(at: Seq, recorded: &RecordedEvent) -> Option<Utterance<'_>> {
    let Event::Posted(posted) = &recorded.event else { return None };
    recorded.event.is_in_prompts().then_some(Utterance {
        at,
        recorded,
        posted: Source::Message(posted),
    })
}
