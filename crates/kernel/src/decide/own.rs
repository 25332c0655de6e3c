//! Own words: words of agents that answer no turn. They are classified, limited, and held back
//! while a guard or a Stop holds. (Rulings 14 and 16.)

use crate::decide::Decider;
use crate::model::command::{HELD, Post, Refusal, Rejection, STOPPED};
use crate::model::event::{Recipient, SuppressedBecause};
use crate::model::fold::{LIFTS_KEPT, OWN_KEPT};
use crate::model::ids::ParticipantId;
use crate::model::own::OwnWords;
use crate::model::state::Conversation;
use crate::model::time::{Millis, Timestamp};
use crate::model::voices::{MINUTE, REMEMBERED, WordCounter};
use crate::planted::{self, Bug};
use crate::text::mentions::Mentions;

/// Own words within this time after another agent's words count as an answer to them.
const NEAR: Millis = Millis::from_secs(10);
/// Most times that unproven words lift a hold within [`LIFTS_WINDOW`].
const LIFTS_MAX: usize = 6;
const LIFTS_WINDOW: Millis = Millis::from_secs(3600);
/// Most posts of own words in a minute: by a participant, by a credential, and in a conversation.
pub const OWN_A_MINUTE: usize = 30;
/// Most posts of own words in a minute in a task's conversations: by a participant, and by a
/// credential.
pub const TASK_OWN_A_MINUTE: usize = 60;
/// Most posts of own words in an hour: by a participant, and by a credential.
pub const OWN_AN_HOUR: usize = 600;
/// Most posts of own words in an hour in the whole hall.
pub const HALL_OWN_AN_HOUR: usize = 2000;

// The buffers must be at least as long as the limits counted in them.
const _: () = assert!(OWN_A_MINUTE <= OWN_KEPT && LIFTS_MAX <= LIFTS_KEPT);

impl Conversation {
    /// Returns the guard or the Stop that holds back an agent's own words, if any.
    pub(crate) fn holds_back(&self, agent: &ParticipantId) -> Option<HoldReason> {
        let stop = self.restraint.stop.as_ref().filter(|stop| !stop.excused.contains(agent));
        if let Some(stop) = stop {
            return Some(HoldReason::Stop(stop.by.clone()));
        }
        self.guards.held.map(|_| HoldReason::Guard)
    }

    /// True if unproven words of a person would lift a hold now.
    pub(crate) fn may_lift(&self, now: Timestamp) -> bool {
        self.lifts_left(now) > 0
    }

    /// Returns the number of holds that unproven words may still lift within the hour.
    pub(crate) fn lifts_left(&self, now: Timestamp) -> usize {
        let recent = |at: &&Timestamp| now.since(**at) < LIFTS_WINDOW;
        LIFTS_MAX.saturating_sub(self.restraint.lifts.iter().filter(recent).count())
    }
}

/// The reason why an agent's own words are held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HoldReason {
    /// A guard holds the conversation.
    Guard,
    /// This person stopped the conversation.
    Stop(ParticipantId),
}

impl Decider<'_> {
    /// Rejects an agent's own words while a guard or a Stop holds them back, or if they come too
    /// fast.
    pub(super) fn check_own(&mut self, post: &Post) -> Result<(), Rejection> {
        if planted::has(Bug::OwnWordsPassGuards) {
            return Ok(());
        }
        match self.state.holds_back(&post.by.id) {
            Some(HoldReason::Stop(by)) => {
                let by = self.state.name_of(&by);
                let reason = format!(
                    "{by} stopped this conversation. Messages outside a turn wait until a person \
                     speaks."
                );
                Err(self.refuse(post, SuppressedBecause::AfterStop, STOPPED, &reason))
            }
            Some(HoldReason::Guard) => {
                let reason = "A guard holds this conversation. Messages outside a turn wait until \
                              a person speaks.";
                Err(self.refuse(post, SuppressedBecause::Held, HELD, reason))
            }
            None => self.check_pace(post),
        }
    }

    /// Rejects own words above a limit, without storing them. The limits count the posts of the
    /// speaker, of the credential and of the hall. Outside of tasks they also count the posts of
    /// the conversation since a person spoke.
    fn check_pace(&self, post: &Post) -> Result<(), Rejection> {
        let is_task = self.state.task().is_some();
        let said = &self.state.restraint.said;
        let oldest = said.len().checked_sub(OWN_A_MINUTE).and_then(|nth| said.get(nth));
        let here = oldest.filter(|_| !is_task).map(|oldest| *oldest + MINUTE);
        let speaker = self.state.speaker(&post.by.id);
        let a_minute = if is_task { TASK_OWN_A_MINUTE } else { OWN_A_MINUTE };
        let room =
            |counted, most, window| self.facts.voices.room_at(counted, (most, window), self.now);
        let both = |most, window| {
            let of_speaker = room(WordCounter::Speaker(&speaker), most, window);
            let credential = post.credential.as_deref().map(WordCounter::Credential);
            of_speaker.max(credential.and_then(|counted| room(counted, most, window)))
        };
        let soon = here.filter(|at| *at > self.now).max(both(a_minute, MINUTE));
        let hour = both(OWN_AN_HOUR, REMEMBERED).max(room(
            WordCounter::Hall,
            HALL_OWN_AN_HOUR,
            REMEMBERED,
        ));
        match soon.max(hour) {
            Some(at) => Err(self.too_soon(post, at, hour.is_some())),
            None => Ok(()),
        }
    }

    /// Returns the rejection of words above a limit, with the time to wait until `at`.
    fn too_soon(&self, post: &Post, at: Timestamp, is_hour: bool) -> Rejection {
        let wait = at.since(self.now).max(Millis(1));
        let (code, limit) = if is_hour {
            ("own_words_limit", "too many messages outside a turn within an hour")
        } else {
            ("own_words_rate", "too many messages outside a turn within a minute")
        };
        let seconds = wait.0.div_ceil(1000);
        let message = format!("There were {limit}. Nothing was decided; try again in {seconds} s.");
        let rejection = Rejection::new(Refusal::TooSoon, code, message).about(&post.by.id);
        Rejection { wait: Some(wait), ..rejection }
    }

    /// Classifies an agent's own words. They are an exchange if they concern another agent, if they
    /// repeat another speaker's words, or if the policy passes them on to another agent.
    pub(super) fn own_words(&self, post: &Post, named: &Mentions) -> OwnWords {
        let by = &post.by.id;
        let near =
            self.state.restraint.newest_not_by(by).filter(|other| self.now.since(other.at) <= NEAR);
        let to = if let Recipient::One(id) = &post.to { Some(id) } else { None };
        // Words that a single participant may see count as addressed to it.
        let readers: Vec<_> = post.only_for.iter().flatten().filter(|id| *id != by).collect();
        let to = to.or(if let [only] = readers[..] { Some(only) } else { None });
        let answered = post.reply_to.as_ref().map(|replied| &replied.from);
        let mut with: Vec<ParticipantId> = Vec::new();
        let others = to.into_iter().chain(&named.participants).chain(answered);
        for id in others.chain(near.map(|other| &other.agent)) {
            if self.is_other_agent(by, id) && !with.contains(id) {
                with.push(id.clone());
            }
        }
        let speaker = self.state.speaker(by);
        let repeats = self.state.task().is_none()
            && self.facts.voices.is_repeated(&speaker, &post.body, self.now);
        let exchange = !planted::has(Bug::OwnWordsPassGuards)
            && (!with.is_empty() || repeats || self.wakes_all(post));
        OwnWords { exchange, with, repeats, credential: post.credential.clone() }
    }

    fn is_other_agent(&self, by: &ParticipantId, id: &ParticipantId) -> bool {
        id != by && !self.state.is_human(id) && id.as_str() != ParticipantId::MOOTHALL
    }

    /// True if the policy passes all words on, and another agent that can take a turn would get
    /// these words.
    fn wakes_all(&self, post: &Post) -> bool {
        let receives = |id: &ParticipantId| *id != post.by.id && !post.elsewhere.contains(id);
        let hears = |id: &ParticipantId| receives(id) && self.unable(id).is_none();
        self.state.rules().passes_on && self.state.agents().any(|agent| hears(&agent.id))
    }

    /// True if a person's words without proof reset the guards' counts. They do until a guard
    /// holds, and then lift a hold at most [`LIFTS_MAX`] times an hour. Without this limit, an
    /// agent that passes for a person could lift every guard. Words typed at a terminal reset
    /// nothing.
    pub(super) fn resets_guards(&self, post: &Post) -> bool {
        let lacks_proof = !post.by.proven && post.typed_at.is_none();
        lacks_proof && (self.state.guards.held.is_none() || self.state.may_lift(self.now))
    }
}
