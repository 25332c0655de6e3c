//! Previews of drafts: the agents that would answer, by the policy's own nomination. Nothing is
//! decided.

use strum::VariantArray;

use crate::model::budget::Measure;
use crate::model::command::Facts;
use crate::model::event::{Cause, Recipient, TurnReason, WhyNot};
use crate::model::ids::{EventId, ParticipantId};
use crate::model::silence::Silence;
use crate::model::state::{Conversation, WakingWords};
use crate::model::time::Timestamp;
use crate::text::mentions;

/// The forecast for one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Agent that the forecast is about.
    pub participant: ParticipantId,
    /// Reason why the agent would be asked, or why not.
    pub verdict: Result<TurnReason, WhyNot>,
}

/// Words that are not posted yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Addressed participants.
    pub to: Recipient,
    /// Text as it was given.
    pub body: String,
    /// Message that the draft replies to.
    pub reply_to: Option<Cause>,
    /// True if the speaker is not proven.
    pub unproven: bool,
}

/// The predicted effect of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Forecast of each agent, in the order in which they would be asked.
    pub forecast: Vec<Forecast>,
    /// Reason why the words themselves ask no agent.
    pub silence: Option<Silence>,
    /// First name in the words that reaches no participant. `None` if `silence` is set.
    pub stray: Option<Silence>,
}

impl Conversation {
    /// Returns the agents that would be asked if this speaker said this now, in their order.
    pub fn preview(
        &self,
        now: Timestamp,
        speaker: &ParticipantId,
        draft: &Draft,
        facts: &Facts,
    ) -> Preview {
        let named = mentions::named(&draft.body, &self.participants, speaker);
        let human = self.is_human(speaker);
        let (seq, id) = (self.head.next(), EventId::of(&self.stream, self.head.next(), now));
        let unproven = draft.unproven && human;
        let cause = Cause { seq, id, from: speaker.clone(), depth: 0, unproven };
        let replies_to =
            draft.reply_to.as_ref().filter(|_| human).map(|replied| replied.from.clone());
        let (author, to) = (speaker.clone(), draft.to.clone());
        let mentions = named.participants.clone();
        let (elsewhere, asks, late) = (Vec::new(), Vec::new(), None);
        let spoken =
            WakingWords { author, cause, to, mentions, elsewhere, replies_to, asks, human, late };
        let silence = self.silence_of(&spoken, &draft.body, &named);
        let stray = || self.stray_name(&draft.body, &named, speaker);
        let stray = if silence.is_none() { stray() } else { None };
        let mut nomination = (self.rules().nominate)(self, &spoken);
        // Agents that have just spoken are asked last. During a round the draft would wait, and the
        // cooldowns of that later time are not known now.
        if self.floor.round.is_none() {
            nomination.polled.sort_by_key(|id| self.is_cooling(id, now));
        }
        let voluntary = self.rules().asks_as;
        let asked = nomination
            .forced
            .into_iter()
            .map(|id| (id, TurnReason::Forced))
            .chain(nomination.polled.into_iter().map(|id| (id, voluntary)));
        let queue_full = human && self.queues(&spoken.asks) && self.is_queue_full(speaker);
        let mut forecast: Vec<_> = asked
            .map(|(participant, why)| Forecast {
                verdict: if queue_full {
                    Err(WhyNot::QueueFull)
                } else {
                    self.forecast(&participant, why, &spoken.cause, now, facts)
                },
                participant,
            })
            .collect();
        forecast.extend(
            nomination
                .others
                .into_iter()
                .map(|(participant, why_not, _)| Forecast { participant, verdict: Err(why_not) }),
        );
        for agent in self.agents().filter(|agent| agent.id != *speaker) {
            if !forecast.iter().any(|known| known.participant == agent.id) {
                let why_not =
                    if self.gathering().is_some() { WhyNot::Held } else { WhyNot::Skipped };
                forecast.push(Forecast { participant: agent.id.clone(), verdict: Err(why_not) });
            }
        }
        Preview { forecast, silence, stray }
    }

    /// True if these words would wake no agent: a guard holds and they do not lift it, or they are
    /// an agent's own words and would be held back.
    fn would_be_held(&self, cause: &Cause, now: Timestamp) -> bool {
        match self.is_human(&cause.from) {
            true => self.holding_guard().is_some() && cause.unproven && !self.may_lift(now),
            false => self.holds_back(&cause.from).is_some(),
        }
    }

    /// Returns the reason for which an agent would get a turn, or the reason why it would not.
    fn forecast(
        &self,
        id: &ParticipantId,
        why: TurnReason,
        cause: &Cause,
        now: Timestamp,
        facts: &Facts,
    ) -> Result<TurnReason, WhyNot> {
        if self.muted.contains(id) {
            return Err(WhyNot::Muted);
        }
        if self.would_be_held(cause, now) {
            return Err(WhyNot::Held);
        }
        if self.paused {
            return Err(WhyNot::Paused);
        }
        let keeps = self.participant(id).and_then(|known| facts.keeps_from_turns(known));
        // An ended session that the words name gets a turn, which fails. (Ruling 42.)
        let is_named = why == TurnReason::Forced;
        if let Some(why_not) = keeps.filter(|keeps| *keeps != WhyNot::Ended || !is_named) {
            return Err(why_not);
        }
        let asked = self.waiting_turn(id).is_some();
        let account = self.account_of(id, cause);
        let spent = self.used_up(&facts.budgets, &[], Measure::VARIANTS, &account, now);
        if !asked && spent.is_some() {
            return Err(WhyNot::OverBudget);
        }
        Ok(why)
    }
}
