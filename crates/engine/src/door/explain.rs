//! Explains the turns of a conversation: which agents were asked, why, and what came of it.
//! (Ruling 19.)

use std::fmt::Write;
use std::ops::Range;

use moothall_kernel::Conversation;
use moothall_kernel::event::{Event, Outcome, RecordedEvent};
use moothall_kernel::ids::{ComputerId, EventId, ParticipantId, Seq, StreamId};
use moothall_kernel::participant::Kind;
use moothall_kernel::pending::ExpectedAnswers;
use moothall_kernel::silence::{Reason, Silence};
use moothall_kernel::silences::SilentMessage;
use moothall_kernel::state::Turn;
use moothall_kernel::time::Millis;
use moothall_kernel::turns::{TurnFold, TurnRecord};
use moothall_kernel::view::{Viewer, visible};

use super::{Action, Door};
use crate::access::AccessError;
use crate::sessions::session_of;

/// Number of events before the message that the second attempt reads, to find a turn granted before
/// it. Each further attempt reads four times as many.
const EARLIER_SEQS: u64 = 256;
/// Number of events searched for the newest message of a person.
const NEWEST_SEQS: u64 = 2000;

/// The turns of a conversation and the messages that asked no agent, for one reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Turns and refusals, in order.
    pub turns: Vec<TurnRecord>,
    /// Messages that asked no agent.
    pub unasked: Vec<UnaskedMessage>,
    /// The newest event that was read.
    pub head: Seq,
    /// The answers to the requested message that are still to come.
    pub pending: Option<ExpectedAnswers>,
}

/// A message that asked no agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnaskedMessage {
    /// Id of the message's event.
    pub message: EventId,
    /// The reason.
    pub why: NoAgentAsked,
}

/// The reason why a message asks no agent, with the names of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAgentAsked {
    /// The reason.
    pub reason: Reason,
    /// The participant that stopped the conversation, if that is the reason.
    pub by: Option<ParticipantId>,
    /// The reason in words, without a full stop.
    pub text: String,
    /// The remedy, as a sentence, if there is one.
    pub cure: Option<String>,
}

impl NoAgentAsked {
    /// Describes a silence. `name` is the name that the message writes, if the reason is about one.
    pub fn of(state: &Conversation, silence: &Silence, name: Option<&str>) -> Self {
        let about = silence.participant.as_ref();
        Self {
            reason: silence.reason,
            by: about.filter(|_| silence.reason == Reason::Stopped).cloned(),
            text: silence.sentence(name, about.map(|id| state.name_of(id))),
            cure: cure(silence.reason),
        }
    }
}

fn cure(reason: Reason) -> Option<String> {
    Some(reason.row().cure).filter(|cure| !cure.is_empty()).map(Into::into)
}

impl Door {
    /// Explains the turns of a conversation, or only those about one message. This includes a turn
    /// that was granted earlier and widened to the message. Returns `None` if the viewer sees no
    /// such message.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn explain(
        &self,
        action: Action,
        stream: &StreamId,
        viewer: &Viewer,
        message: Option<EventId>,
    ) -> Result<Option<Explanation>, AccessError> {
        let head = self.find(action, stream).await?.head;
        let wanted = message.map_or(Seq(0), |id| id.seq());
        let mut earlier = 1;
        loop {
            let after = Seq(wanted.0.saturating_sub(earlier));
            let folded = self.fold_turns(action, stream, viewer, after..head, message).await?;
            let Some(folded) = folded else { return Ok(None) };
            if after == Seq(0) || folded.knows_what_was_widened() {
                return self.complete(action, stream, folded, message, head).await.map(Some);
            }
            earlier = (earlier * 4).max(EARLIER_SEQS);
        }
    }

    /// Folds a range of the log. The fold needs all events, also those that the viewer does not
    /// see. Returns `None` if the viewer sees no such message in the range.
    async fn fold_turns(
        &self,
        action: Action,
        stream: &StreamId,
        viewer: &Viewer,
        range: Range<Seq>,
        message: Option<EventId>,
    ) -> Result<Option<TurnFold>, AccessError> {
        let mut folded = TurnFold::new(stream.clone(), viewer.clone(), range.start);
        let mut pages = self.pages(action, stream, Viewer::Operator, range);
        let mut found = message.is_none();
        while let Some(events) = pages.next().await? {
            found |= events.iter().any(|recorded| {
                Some(recorded.id(stream)) == message && visible(&recorded.event, viewer)
            });
            if !found && message.is_some_and(|id| pages.through() >= id.seq()) {
                break;
            }
            events.iter().for_each(|recorded| folded.observe(recorded));
        }
        Ok(found.then_some(folded))
    }

    /// Completes the turns of the fold with the current state. Adds an agent in its cooldown, the
    /// drafts and the absent computers that hold turns up, and the messages that asked no agent.
    /// With `message`, lists only the turns about it, and adds the answers to it that are still to
    /// come.
    async fn complete(
        &self,
        action: Action,
        stream: &StreamId,
        folded: TurnFold,
        message: Option<EventId>,
        head: Seq,
    ) -> Result<Explanation, AccessError> {
        let cooling = self.view(action, stream, |state| {
            state.cooling().map(|(cause, participant)| (cause.clone(), participant))
        });
        let cooling = cooling.await?;
        let cooling =
            cooling.and_then(|(cause, participant)| folded.cooling_entry(&cause, &participant));
        let hidden = folded.hidden();
        let with_own_eyes = self.caller().viewer(None).is_ok_and(|own| own == *folded.viewer());
        let (mut turns, silent) = folded.list(message);
        let is_wanted = |entry: &TurnRecord| message.is_none_or(|id| entry.message == Some(id));
        turns.extend(cooling.filter(is_wanted));
        self.tell_drafts(action, stream, with_own_eyes, &mut turns).await?;
        self.tell_away(action, stream, &mut turns).await?;
        let words = move |state: &Conversation| {
            let unasked =
                silent.into_iter().map(|message| unasked(state, message, &hidden)).collect();
            (unasked, message.map(|id| state.pending(id.seq())))
        };
        let (unasked, pending) = self.view(action, stream, words).await?;
        Ok(Explanation { turns, unasked, head, pending })
    }

    /// Adds the obstacle to turns that wait because a composer holds a draft. If the caller reads
    /// the explanation as itself and may attach to that terminal, the text also has the command.
    async fn tell_drafts(
        &self,
        action: Action,
        stream: &StreamId,
        with_own_eyes: bool,
        turns: &mut [TurnRecord],
    ) -> Result<(), AccessError> {
        let waiting = |state: &Conversation| -> Vec<_> {
            let waits = state.open_turns().filter(|turn| turn.running.is_none());
            let of =
                |turn: &Turn| Some((turn.no, session_of(state.participant(&turn.participant)?)?));
            waits.filter_map(of).collect()
        };
        for (no, session) in self.view(action, stream, waiting).await? {
            let entry = turns.iter_mut().find(|entry| entry.turn == Some(no));
            let Some(entry) = entry.filter(|_| self.is_behind_draft(&session)) else { continue };
            let attachable = if with_own_eyes { self.attachable(&session).await } else { None };
            entry.detail = Some(match attachable {
                Some(name) => format!(
                    "{name} has a draft in its composer; send or delete it there, with \
                     `moothall attach {name}`"
                ),
                None => {
                    "it has a draft in its composer, which a person at its terminal has to send \
                     or delete"
                        .into()
                }
            });
        }
        Ok(())
    }

    /// Adds the obstacle to turns that wait for another computer, and the time until which they
    /// wait.
    async fn tell_away(
        &self,
        action: Action,
        stream: &StreamId,
        turns: &mut [TurnRecord],
    ) -> Result<(), AccessError> {
        let waiting = |state: &Conversation| -> Vec<_> {
            let waits = state.open_turns().filter(|turn| turn.running.is_none());
            let of = |turn: &Turn| {
                let address = state.participant(&turn.participant)?.address.as_ref()?;
                let computer = ComputerId::new(address.computer.as_str());
                address.is_elsewhere().then_some((turn.no, computer, turn.deadline))
            };
            waits.filter_map(of).collect()
        };
        for (no, computer, until) in self.view(action, stream, waiting).await? {
            let Some(entry) = turns.iter_mut().find(|entry| entry.turn == Some(no)) else {
                continue;
            };
            let Some(why) = self.why_not_there(&computer) else { continue };
            entry.detail = Some(format!("{why}; the turn waits for it until {until}"));
        }
        Ok(())
    }

    /// Returns the newest message of a person that the viewer sees, among the last 2000 events.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn newest_of_people(
        &self,
        action: Action,
        stream: &StreamId,
        viewer: &Viewer,
    ) -> Result<Option<EventId>, AccessError> {
        let head = self.find(action, stream).await?.head;
        let after = Seq(head.0.saturating_sub(NEWEST_SEQS));
        let mut newest = None;
        let mut pages = self.pages(action, stream, viewer.clone(), after..head);
        while let Some(events) = pages.next().await? {
            let is_persons = |recorded: &&RecordedEvent| match &recorded.event {
                Event::Posted(posted) => posted.kind == Kind::Human,
                _ => false,
            };
            let said = events.iter().rev().find(is_persons);
            newest = said.map(|recorded| recorded.id(stream)).or(newest);
        }
        Ok(newest)
    }

    /// Returns the id of the event at a position; `None` if the viewer sees no event there.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn visible_event_at(
        &self,
        action: Action,
        stream: &StreamId,
        viewer: &Viewer,
        seq: Seq,
    ) -> Result<Option<EventId>, AccessError> {
        let head = self.find(action, stream).await?.head;
        let range = Seq(seq.0.saturating_sub(1)).min(head)..seq.min(head);
        let mut pages = self.pages(action, stream, viewer.clone(), range);
        while let Some(events) = pages.next().await? {
            if let Some(recorded) = events.iter().find(|recorded| recorded.seq == seq) {
                return Ok(Some(recorded.id(stream)));
            }
        }
        Ok(None)
    }

    /// Returns the text of `/why`: one line for each agent that was asked or not asked about the
    /// newest message of a person, with the reason. `reword` rewrites each next step for the
    /// reader's surface.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn why(
        &self,
        stream: &StreamId,
        viewer: &Viewer,
        reword: impl Fn(&str) -> String,
    ) -> Result<String, AccessError> {
        let action = Action::RunCommand;
        let newest = self.newest_of_people(action, stream, viewer).await?;
        let explained = match newest {
            Some(message) => self.explain(action, stream, viewer, Some(message)).await?,
            None => None,
        };
        let text = explained.map(|explained| explained.reworded(reword).text());
        Ok(text.unwrap_or_else(|| "This conversation has no messages from people yet.".into()))
    }
}

impl Explanation {
    /// Rewrites the next step in each detail and remedy with `reword`.
    #[must_use]
    pub fn reworded(mut self, reword: impl Fn(&str) -> String) -> Self {
        let details = self.turns.iter_mut().map(|turn| &mut turn.detail);
        let cures = self.unasked.iter_mut().map(|message| &mut message.why.cure);
        for text in details.chain(cures).flatten() {
            *text = reword(text);
        }
        self
    }

    /// Returns the explanation of one message as text, with a line for each agent.
    fn text(&self) -> String {
        let unasked = self.unasked.iter().map(|UnaskedMessage { why, .. }| {
            let cure = why.cure.as_ref().map_or_else(String::new, |cure| format!(" {cure}"));
            format!("No agent was asked about the latest message: {}.{cure}\n", why.text)
        });
        unasked.chain(self.turns.iter().map(line)).collect()
    }
}

/// Returns the line about one agent: the reason why it was asked and the outcome, or the reason why
/// it was not asked.
fn line(entry: &TurnRecord) -> String {
    let mut line = entry.participant.to_string();
    let outcome = match (&entry.outcome, &entry.asks, &entry.detail) {
        (Some(Outcome::Spoke), ..) if entry.listens => "heard it".into(),
        (Some(outcome), ..) => outcome.to_string(),
        (None, Some(action), _) => format!("asks a permission: {action}"),
        (None, None, Some(detail)) => format!("is open: {detail}"),
        (None, None, None) => "waits or runs".into(),
    };
    let _ = match (&entry.why, &entry.why_not) {
        (Some(why), _) => write!(line, ": asked ({why}), {outcome}"),
        (None, Some(why_not)) => write!(line, ": not asked ({why_not})"),
        (None, None) => Ok(()),
    };
    if let Some(usage) = entry.usage.as_ref().filter(|usage| usage.ms > 0) {
        let _ = write!(line, " in {:.1} s", Millis(usage.ms).as_secs_f64());
    }
    line.push('\n');
    line
}

/// Describes a message that asked no agent. If the message only waits, the text gives the reason of
/// the wait, as far as the viewer may see it.
fn unasked(
    state: &Conversation,
    message: SilentMessage,
    is_hidden: &impl Fn(Seq) -> bool,
) -> UnaskedMessage {
    let SilentMessage { id, seq, silence, name } = message;
    let wait = state.wait_of(seq).filter(|_| silence.reason == Reason::NoneAsked);
    let why = match wait.map(|wait| wait.for_reader(|seq| !is_hidden(seq))) {
        Some(wait) => NoAgentAsked {
            reason: wait.reason(),
            by: None,
            text: wait.sentence(state),
            cure: cure(wait.reason()),
        },
        None => NoAgentAsked::of(state, &silence, name.as_deref()),
    };
    UnaskedMessage { message: id, why }
}
