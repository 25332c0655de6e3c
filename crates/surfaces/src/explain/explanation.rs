//! The explanation as wire types: the findings of the fold, the current state, and the names of the
//! conversation.

use moothall_engine::door::{Action, Door};
use moothall_engine::sessions::session_of;
use moothall_kernel::Conversation;
use moothall_kernel::event::Cause;
use moothall_kernel::ids::{EventId, ParticipantId, Seq, StreamId};
use moothall_kernel::preview;
use moothall_kernel::silence::{Reason, Silence};
use moothall_kernel::silences::SilentMessage;
use moothall_kernel::state::Turn;
use moothall_kernel::view::Viewer;

use super::TurnFold;
use crate::error::ApiResult;
use crate::next_steps::Reader;
use crate::wire::{
    ForecastEntry, NoAgentAsked, PendingAnswers, Preview, TurnEntry, UnaskedMessage, turn_id,
};

/// The turns of a thread and the messages that asked no agent, for one reader.
pub struct Explanation {
    /// Turns and refusals, in order.
    pub turns: Vec<TurnEntry>,
    /// Messages that asked no agent.
    pub unasked: Vec<UnaskedMessage>,
    /// The newest event that was read.
    pub head: Seq,
    /// The answers to the requested message that are still to come.
    pub pending: Option<PendingAnswers>,
}

/// An agent that has to answer once its cooldown ends.
struct CoolingAgent {
    cause: Cause,
    participant: ParticipantId,
}

/// Completes the turns of the fold with the current state: an agent in its cooldown, drafts that
/// hold turns up, and messages that asked no agent. With `message`, lists only the turns about it,
/// and the answers to it that are still to come.
pub(super) async fn by_state(
    door: &Door,
    action: Action,
    explained: TurnFold,
    message: Option<EventId>,
    head: Seq,
) -> ApiResult<Explanation> {
    let stream = explained.stream.clone();
    let cooling = door.view(action, &stream, |state| {
        let (cause, participant) = state.cooling()?;
        Some(CoolingAgent { cause: cause.clone(), participant })
    });
    let cooling = cooling.await?.and_then(|cooling| explained.cooling_entry(cooling));
    let hidden = explained.hidden();
    let with_own_eyes = door.caller().viewer(None).is_ok_and(|own| own == explained.viewer);
    let (mut turns, silent) = explained.list(message);
    let is_wanted =
        |entry: &TurnEntry| message.is_none_or(|id| entry.message == Some(id.to_string()));
    turns.extend(cooling.filter(is_wanted));
    tell_drafts(door, action, &stream, with_own_eyes, &mut turns).await?;
    let words = move |state: &Conversation| {
        let unasked = silent.into_iter().map(|message| unasked(state, message, &hidden)).collect();
        (unasked, message.map(|id| state.pending(id.seq()).into()))
    };
    let (unasked, pending) = door.view(action, &stream, words).await?;
    Ok(Explanation { turns, unasked, head, pending })
}

/// Adds the obstacle to turns that wait behind a draft in a composer. A reader who may attach to
/// that terminal, and looks as itself, also gets the command.
async fn tell_drafts(
    door: &Door,
    action: Action,
    stream: &StreamId,
    with_own_eyes: bool,
    turns: &mut [TurnEntry],
) -> ApiResult<()> {
    let waiting = |state: &Conversation| -> Vec<_> {
        let waits = state.open_turns().filter(|turn| turn.running.is_none());
        let of = |turn: &Turn| {
            let session = session_of(state.participant(&turn.participant)?)?;
            Some((turn_id(state.stream(), turn.no), session))
        };
        waits.filter_map(of).collect()
    };
    for (id, session) in door.view(action, stream, waiting).await? {
        let entry = turns.iter_mut().find(|entry| entry.id.as_ref() == Some(&id));
        let Some(entry) = entry.filter(|_| door.is_behind_draft(&session)) else { continue };
        let attachable = if with_own_eyes { door.attachable(&session).await } else { None };
        entry.detail = Some(match attachable {
            Some(name) => format!(
                "{name} has a draft in its composer; send or delete it there, with \
                 `moothall attach {name}`"
            ),
            None => {
                "it has a draft in its composer, which a person at its terminal has to send or \
                 delete"
                    .into()
            }
        });
    }
    Ok(())
}

impl Explanation {
    /// Rewrites the next steps for this reader.
    #[must_use]
    pub fn for_reader(mut self, reader: Reader) -> Self {
        let details = self.turns.iter_mut().map(|turn| &mut turn.detail);
        let cures = self.unasked.iter_mut().map(|message| &mut message.cure);
        for text in details.chain(cures).flatten() {
            *text = reader.reword(text);
        }
        self
    }
}

impl TurnFold {
    /// Returns a test for positions of events that the viewer does not see.
    fn hidden(&self) -> impl Fn(Seq) -> bool + Send + 'static {
        let (all, after) = (self.viewer == Viewer::Operator, self.after);
        let seen = self.seen.clone();
        move |seq| !all && (seq <= after || !seen.contains(&seq))
    }

    fn cooling_entry(&self, cooling: CoolingAgent) -> Option<TurnEntry> {
        let CoolingAgent { cause, participant } = cooling;
        let mut entry = self.entry(participant.to_string(), &cause, cause.id.time());
        entry.why_not = Some(Reason::Waiting.to_string());
        entry.reason = Some(Reason::Waiting.row().phrase.into());
        entry.detail = Some("for its cooldown".into());
        self.sees(cause.seq).then_some(entry)
    }
}

/// Converts a message that asked no agent. If the message only waits, the text gives the reason of
/// the wait, as far as the viewer may see it.
fn unasked(
    state: &Conversation,
    message: SilentMessage,
    is_hidden: &impl Fn(Seq) -> bool,
) -> UnaskedMessage {
    let SilentMessage { id, seq, silence, name } = message;
    let wait = state.wait_of(seq).filter(|_| silence.reason == Reason::NoneAsked);
    let described = match wait.map(|wait| wait.for_reader(|seq| !is_hidden(seq))) {
        Some(wait) => NoAgentAsked {
            reason: wait.reason().to_string(),
            by: None,
            text: wait.sentence(state),
            cure: cure(wait.reason()),
        },
        None => describe(state, &silence, name.as_deref()),
    };
    let NoAgentAsked { reason, by, text, cure } = described;
    UnaskedMessage { message: id.to_string(), reason, by, text, cure }
}

/// Converts a reason to a wire type, with the names of the conversation.
fn describe(state: &Conversation, silence: &Silence, name: Option<&str>) -> NoAgentAsked {
    let about = silence.participant.as_ref();
    NoAgentAsked {
        reason: silence.reason.to_string(),
        by: about.filter(|_| silence.reason == Reason::Stopped).map(ToString::to_string),
        text: silence.sentence(name, about.map(|id| state.name_of(id))),
        cure: cure(silence.reason),
    }
}

fn cure(reason: Reason) -> Option<String> {
    Some(reason.row().cure).filter(|cure| !cure.is_empty()).map(Into::into)
}

/// Converts the preview of a draft to a wire type.
pub fn of_draft(
    state: &Conversation,
    preview: &preview::Preview,
    body: &str,
    reader: Reader,
) -> Preview {
    let entry = |forecast: &preview::Forecast| ForecastEntry {
        participant: forecast.participant.to_string(),
        why: forecast.verdict.ok().map(|why| why.to_string()),
        why_not: forecast.verdict.err().map(|why_not| why_not.to_string()),
        reason: forecast.verdict.err().map(|why| Reason::from(why).row().phrase.into()),
    };
    let describe_for_reader = |silence: &Silence| {
        let described = describe(state, silence, silence.name_in(body).as_deref());
        NoAgentAsked { cure: described.cure.map(|cure| reader.reword(&cure)), ..described }
    };
    Preview {
        forecast: preview.forecast.iter().map(entry).collect(),
        unasked: preview.silence.as_ref().map(describe_for_reader),
        stray: preview.stray.as_ref().map(describe_for_reader),
    }
}
