//! What a participant reads for its open turns, for those who fetch it: composed from the log
//! whenever it is asked for, and kept nowhere.

use moothall_kernel::Conversation;
use moothall_kernel::compose::TRANSCRIPT_BYTES;
use moothall_kernel::event::{Cause, TurnKind, TurnReason};
use moothall_kernel::ids::{ParticipantId, StreamId, TurnNo};
use moothall_kernel::participant::Participant;
use moothall_kernel::state::Turn;
use moothall_kernel::time::Timestamp;

use crate::answers::HallError;
use crate::hall::Hall;
use crate::ports::EventLog;
use crate::stream::brief::{Brief, Tail, brief};

/// An open turn, and what its participant is to read before it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The number of the turn in its conversation.
    pub turn: TurnNo,
    /// The participant whose turn it is.
    pub participant: ParticipantId,
    /// Why it was granted.
    pub why: TurnReason,
    /// Whether it is to say something or only to hear something.
    pub kind: TurnKind,
    /// Whether having nothing to say is offered.
    pub may_pass: bool,
    /// The event that it is about; the newest, where there are several.
    pub cause: Cause,
    /// When it ends by itself.
    pub deadline: Timestamp,
    /// Who it is, who else is there, and what the rules are.
    pub system: String,
    /// What was said since its last turn, and what is asked.
    pub text: String,
}

impl Hall {
    /// What the participant of this turn is to read; nothing when the turn is not open.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist or cannot be read.
    pub async fn context(
        &self,
        stream: &StreamId,
        turn: TurnNo,
    ) -> Result<Option<Context>, HallError> {
        let found = self.contexts_of(stream, move |_, open| open.no == turn).await?;
        Ok(found.into_iter().next())
    }

    /// The same for each open turn after one, of a participant that comes by itself: nobody else
    /// brings it what it is to read.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist or cannot be read.
    pub async fn remote_contexts(
        &self,
        stream: &StreamId,
        of: &ParticipantId,
        after: TurnNo,
    ) -> Result<Vec<Context>, HallError> {
        let of = of.clone();
        let owed = move |state: &Conversation, turn: &Turn| {
            let remote = || state.participant(&of).is_some_and(Participant::answers_by_posting);
            turn.participant == of && turn.no > after && remote()
        };
        self.contexts_of(stream, owed).await
    }

    async fn contexts_of(
        &self,
        stream: &StreamId,
        wanted: impl Fn(&Conversation, &Turn) -> bool + Send + 'static,
    ) -> Result<Vec<Context>, HallError> {
        let found = move |state: &Conversation| {
            let turns: Vec<Turn> =
                state.open_turns().filter(|turn| wanted(state, turn)).cloned().collect();
            (!turns.is_empty()).then(|| (state.clone(), turns))
        };
        let Some((state, turns)) = self.view(stream, found).await? else { return Ok(Vec::new()) };
        let (mut tail, mut contexts) = (Tail::default(), Vec::new());
        for turn in &turns {
            contexts.extend(composed(&state, turn, &*self.inner.store.log, &mut tail).await?);
        }
        Ok(contexts)
    }
}

async fn composed(
    state: &Conversation,
    turn: &Turn,
    log: &dyn EventLog,
    tail: &mut Tail,
) -> Result<Option<Context>, HallError> {
    let Some(participant) = state.participant(&turn.participant) else { return Ok(None) };
    let job =
        brief(Brief { state, turn, participant, room: TRANSCRIPT_BYTES, window: 0 }, log, tail)
            .await?;
    Ok(Some(Context {
        turn: turn.no,
        participant: turn.participant.clone(),
        why: turn.why,
        kind: turn.kind,
        may_pass: turn.may_pass,
        cause: turn.cause.clone(),
        deadline: turn.deadline,
        system: job.prompt.system,
        text: job.prompt.text,
    }))
}
