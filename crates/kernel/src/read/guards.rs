//! The guards of a conversation for people: what is held, refused or near its limit, and what lifts
//! it. (Rulings 14, 16, 18, 20 and 38.)
//!
//! Nothing is decided here. The counts and limits are those of the decisions.

use std::collections::BTreeMap;

use strum::Display;

use crate::decide::floor::REPEATS_MAX;
use crate::decide::own::{HALL_OWN_AN_HOUR, OWN_A_MINUTE, OWN_AN_HOUR};
use crate::model::event::Guard;
use crate::model::ids::ParticipantId;
use crate::model::refused::KEPT_MAX;
use crate::model::state::{Conversation, PAIR_MAX};
use crate::model::time::Timestamp;
use crate::model::voices::{MINUTE, REMEMBERED, Voices};

/// Quarters of a limit from which it is near, rounded to a whole number.
const NEAR_QUARTERS: u128 = 3;
/// Highest value of the setting `max_queued_messages`.
const QUEUED_CEILING: u64 = 4096;

/// One guard of a conversation, with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardRow {
    /// Thing that is guarded.
    pub guard: Check,
    /// State of the guard.
    pub state: GuardState,
    /// Start of the state, if known.
    pub since: Option<Timestamp>,
    /// Counted number and its limit, for guards that count.
    pub count: Option<Count>,
    /// Action that lifts the guard.
    pub lift: Lift,
    /// True if only a proven person can lift the guard this way.
    pub proof: bool,
    /// Number of times that a person's unproven words still lift the guard, if words do.
    pub words_left: Option<usize>,
}

/// A thing that is guarded.
#[derive(Clone, Debug, PartialEq, Eq, Display)]
#[strum(serialize_all = "snake_case")]
pub enum Check {
    /// A guard holds the floor.
    Hold(Guard),
    /// A pause stops the agents.
    Pause,
    /// A Stop of this person holds back agents' own words.
    Stop(ParticipantId),
    /// A participant is muted.
    Mute(ParticipantId),
    /// Contributions of agents since a person's last word.
    Exchanges,
    /// The words of one agent that woke another within a minute.
    Pair(ParticipantId, ParticipantId),
    /// Equal words among the latest ones.
    Repeat,
    /// Messages that wait in the queue.
    Queue,
    /// Waiting messages of one sender.
    QueueShare(ParticipantId),
    /// Visible replies to the current message.
    Replies,
    /// Agents' own words within a minute.
    Pace,
    /// Refused words of this participant that were stored within an hour.
    Refused(ParticipantId),
}

/// The state of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display)]
#[strum(serialize_all = "snake_case")]
pub enum GuardState {
    /// The guard stops the conversation, or agents' own words in it.
    Held,
    /// The guard refuses new words, or lets them ask no agent.
    Refused,
    /// A call waits until the budget has room for it.
    Waiting,
    /// A part of the limit is reserved for calls under way.
    Reserved,
    /// At least three quarters of the limit are used.
    Near,
}

/// A number and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Current number.
    pub count: u64,
    /// Highest allowed number.
    pub limit: u64,
}

/// The action that lifts a guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lift {
    /// A resume: the guards' counts begin anew, and a pause ends.
    Resume,
    /// Unmuting this participant.
    Unmute(ParticipantId),
    /// Changing a setting.
    Config {
        /// Key of the setting.
        key: &'static str,
        /// Suggested value: twice the limit, up to the setting's maximum.
        value: u64,
    },
    /// A Stop: open turns are cancelled and the queue is cleared.
    Stop,
    /// A person's words.
    Words,
    /// Waiting until this time.
    Until(Timestamp),
}

impl Count {
    /// Returns a count and its limit. Numbers outside `u64` become `u64::MAX`.
    pub fn of(count: impl TryInto<u64>, limit: impl TryInto<u64>) -> Self {
        let number = |given: Result<u64, _>| given.unwrap_or(u64::MAX);
        Self {
            count: number(count.try_into().map_err(drop)),
            limit: number(limit.try_into().map_err(drop)),
        }
    }

    /// True if the limit is reached.
    pub fn is_full(self) -> bool {
        self.count >= self.limit
    }

    /// True from three quarters of the limit on.
    pub fn is_near(self) -> bool {
        // In `u128`, because `Count::of` may give a limit of `u64::MAX`.
        let near = (u128::from(self.limit) * NEAR_QUARTERS + 2) / 4;
        self.count > 0 && u128::from(self.count) >= near
    }
}

impl Lift {
    /// Returns the slash command that people type for the action, if there is one.
    pub fn command(&self) -> Option<String> {
        match self {
            Lift::Resume => Some("/resume".into()),
            Lift::Unmute(id) => Some(format!("/unmute {id}")),
            Lift::Config { key, value } => Some(format!("/group config {key} {value}")),
            Lift::Stop => Some("/stop".into()),
            Lift::Words | Lift::Until(_) => None,
        }
    }
}

impl GuardRow {
    /// True if all participants see this guard in the conversation: a hold, a pause, a Stop or a
    /// mute.
    pub fn is_public(&self) -> bool {
        match self.guard {
            Check::Hold(_) | Check::Pause | Check::Stop(_) | Check::Mute(_) => true,
            Check::Exchanges
            | Check::Pair(..)
            | Check::Repeat
            | Check::Queue
            | Check::QueueShare(_)
            | Check::Replies
            | Check::Pace
            | Check::Refused(_) => false,
        }
    }

    fn held(guard: Check, since: Option<Timestamp>, proof: bool) -> Self {
        let (state, lift) = (GuardState::Held, Lift::Resume);
        Self { guard, state, since, count: None, lift, proof, words_left: None }
    }

    /// Returns a row for a count that is near its limit or has reached it.
    fn counted(guard: Check, count: Count, lift: Lift) -> Option<Self> {
        let state = if count.is_full() { GuardState::Refused } else { GuardState::Near };
        let proof = matches!(lift, Lift::Resume | Lift::Config { .. });
        let count = Some(count).filter(|count| count.is_near())?;
        Some(Self { guard, state, since: None, count: Some(count), lift, proof, words_left: None })
    }
}

impl Conversation {
    /// Returns the guards that hold at this time, then those that refuse, then those near their
    /// limit.
    pub fn guards(&self, now: Timestamp) -> Vec<GuardRow> {
        if self.archived {
            return Vec::new();
        }
        let mut rows = self.holds(now);
        rows.extend(self.mutes());
        let mut counted = self.loops(now);
        counted.extend(self.queues_near());
        counted.extend(self.replies_near());
        counted.extend(self.pace_near(now));
        counted.extend(self.refused_words(now));
        counted.sort_by_key(|row| row.state);
        rows.extend(counted);
        rows
    }

    /// Returns the guard, the pause and the Stop that hold now, if any.
    fn holds(&self, now: Timestamp) -> Vec<GuardRow> {
        let hold = self.guards.held.map(|guard| GuardRow {
            words_left: Some(self.lifts_left(now)),
            ..GuardRow::held(Check::Hold(guard), self.guards.held_since, true)
        });
        let pause = self.paused.then(|| {
            let proof = self.paused_by_proof || self.guards.held.is_some();
            GuardRow::held(Check::Pause, self.paused_since, proof)
        });
        let stop = self.restraint.stop.as_ref().map(|stop| {
            let proof = self.guards.held.is_some() || self.paused && self.paused_by_proof;
            GuardRow::held(Check::Stop(stop.by.clone()), stop.at, proof)
        });
        hold.into_iter().chain(pause).chain(stop).collect()
    }

    fn mutes(&self) -> impl Iterator<Item = GuardRow> {
        self.muted.iter().map(|id| GuardRow {
            state: GuardState::Refused,
            lift: Lift::Unmute(id.clone()),
            ..GuardRow::held(Check::Mute(id.clone()), None, self.muted_by_proof.contains(id))
        })
    }

    /// Returns the counts against loops, unless a guard holds.
    fn loops(&self, now: Timestamp) -> Vec<GuardRow> {
        if self.guards.held.is_some() {
            return Vec::new();
        }
        let exchanges = Count::of(self.guards.exchanges, self.policy.max_exchanges_without_human);
        let mut rows = vec![GuardRow::counted(Check::Exchanges, exchanges, Lift::Resume)];
        if self.task().is_none() {
            rows.extend(self.guards.pairs.keys().map(|pair| {
                let count = Count::of(self.pair_count(pair, now), PAIR_MAX);
                GuardRow::counted(Check::Pair(pair.0.clone(), pair.1.clone()), count, Lift::Resume)
            }));
        }
        if self.rules().passes_on {
            let count = Count::of(self.repeat_count(), REPEATS_MAX);
            rows.push(GuardRow::counted(Check::Repeat, count, Lift::Resume));
        }
        rows.into_iter().flatten().collect()
    }

    /// Returns the queue if it is nearly full, and each sender near its share of the queue.
    fn queues_near(&self) -> Vec<GuardRow> {
        let all = Count::of(self.queued().count(), self.queue_max());
        let lift = if all.limit < QUEUED_CEILING {
            let value = all.limit.saturating_mul(2).min(QUEUED_CEILING);
            Lift::Config { key: "max_queued_messages", value }
        } else {
            Lift::Stop
        };
        let mut own: BTreeMap<&ParticipantId, u64> = BTreeMap::new();
        for cause in self.queued() {
            *own.entry(&cause.from).or_default() += 1;
        }
        let shares = own.into_iter().filter_map(|(id, count)| {
            let count = Count::of(count, self.queue_share());
            GuardRow::counted(Check::QueueShare(id.clone()), count, lift.clone())
        });
        GuardRow::counted(Check::Queue, all, lift.clone()).into_iter().chain(shares).collect()
    }

    /// Returns the replies to the current message if they are near their limit. The next message
    /// has a count of its own.
    fn replies_near(&self) -> Option<GuardRow> {
        let floor = &self.floor;
        let goes_on = floor.round.is_some() || !floor.turns.is_empty();
        // Own words are charged to the newest message even after its round.
        let is_charged = goes_on || !self.restraint.said.is_empty();
        if !self.counts_replies() || !is_charged {
            return None;
        }
        let used = floor.spent.saturating_add(floor.reserved());
        GuardRow::counted(Check::Replies, Count::of(used, floor.cap), Lift::Words)
    }

    fn pace_near(&self, now: Timestamp) -> Option<GuardRow> {
        if self.task().is_some() {
            return None;
        }
        let said = self.restraint.said.iter().filter(|at| **at > now - MINUTE).count();
        GuardRow::counted(Check::Pace, Count::of(said, OWN_A_MINUTE), Lift::Words)
    }

    /// Returns the refused words of each participant, within an hour of the first.
    fn refused_words(&self, now: Timestamp) -> impl Iterator<Item = GuardRow> {
        let lately = self.refused.0.iter().filter(move |(_, refused)| refused.until() > now);
        lately.map(|(id, refused)| {
            let (lift, proof) = if self.muted.contains(id) {
                (Lift::Unmute(id.clone()), self.muted_by_proof.contains(id))
            } else if self.guards.held.is_some() {
                (Lift::Resume, true)
            } else if self.paused || self.restraint.stop.is_some() {
                (Lift::Resume, self.paused_by_proof)
            } else {
                (Lift::Until(refused.until()), false)
            };
            GuardRow {
                guard: Check::Refused(id.clone()),
                state: GuardState::Refused,
                since: Some(refused.since),
                count: Some(Count::of(refused.kept, KEPT_MAX)),
                lift,
                proof,
                words_left: None,
            }
        })
    }
}

/// The speakers whose own words have an hourly limit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speakers {
    /// All speakers of the hall.
    Hall,
    /// One participant, in all of its conversations.
    Participant(String),
    /// All speakers with one credential, by its public id.
    Credential(String),
}

/// The count of own words within an hour that is near its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnWordsRow {
    /// Counted speakers.
    pub of: Speakers,
    /// Number of words and its limit.
    pub count: Count,
    /// Time at which the oldest of the words is an hour old, and makes room for another.
    pub until: Timestamp,
}

impl Voices {
    /// Returns the speakers near their hourly limit.
    pub fn guards(&self, now: Timestamp) -> Vec<OwnWordsRow> {
        let mut said: BTreeMap<Speakers, (usize, Timestamp)> = BTreeMap::new();
        for voice in self.own(now) {
            let of_credential = voice.credential.clone().map(Speakers::Credential);
            let of_speaker = Speakers::Participant(voice.speaker.clone());
            for of in [Speakers::Hall, of_speaker].into_iter().chain(of_credential) {
                // Voices come oldest first, so the time of the first one of a speaker is its
                // oldest.
                said.entry(of).or_insert((0, voice.at)).0 += 1;
            }
        }
        let rows = said.into_iter().map(|(of, (count, oldest))| {
            let limit = match of {
                Speakers::Hall => HALL_OWN_AN_HOUR,
                Speakers::Participant(_) | Speakers::Credential(_) => OWN_AN_HOUR,
            };
            OwnWordsRow { of, count: Count::of(count, limit), until: oldest + REMEMBERED }
        });
        rows.filter(|row| row.count.is_near()).collect()
    }
}
