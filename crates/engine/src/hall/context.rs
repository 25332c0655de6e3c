//! The context of turns, for participants that fetch it and for operators. It is composed from the
//! log for each request, and not stored.

use moothall_kernel::Conversation;
use moothall_kernel::compose::TRANSCRIPT_BYTES;
use moothall_kernel::event::{Cause, Event, TurnKind, TurnReason};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::participant::Participant;
use moothall_kernel::state::Turn;
use moothall_kernel::time::Timestamp;

use crate::answers::HallError;
use crate::hall::Hall;
use crate::ports::EventLog;
use crate::stream::brief::{Brief, Tail, brief};

/// Number of events in one read.
const READ_PAGE: usize = 1000;

/// A turn, and the text that its participant reads before it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The number of the turn in its conversation.
    pub turn: TurnNo,
    /// The participant whose turn it is.
    pub participant: ParticipantId,
    /// The reason why the turn was granted.
    pub why: TurnReason,
    /// The kind of turn: a reply, or only listening.
    pub kind: TurnKind,
    /// True if the participant may pass.
    pub may_pass: bool,
    /// The event that the turn is about; the newest, if there are several.
    pub cause: Cause,
    /// Time at which the turn expires.
    pub deadline: Timestamp,
    /// The system prompt: the participant's identity, the other participants, and the rules.
    pub system: String,
    /// The messages since its last turn, and the question.
    pub text: String,
}

impl Hall {
    /// Returns the context of a turn; `None` if the turn is not open.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
    pub async fn context(
        &self,
        stream: &StreamId,
        turn: TurnNo,
    ) -> Result<Option<Context>, HallError> {
        let found = self.contexts_of(stream, move |_, open| open.no == turn).await?;
        Ok(found.into_iter().next())
    }

    /// Returns the context that a turn had when it last started; `None` if it never did. Words that
    /// were erased since are not in it.
    ///
    /// # Errors
    /// [`HallError`] if the stream cannot be read.
    pub async fn past_context(
        &self,
        stream: &StreamId,
        turn: TurnNo,
    ) -> Result<Option<Context>, HallError> {
        let log = &*self.inner.store.log;
        let Some(state) = at_start(log, stream, turn).await? else { return Ok(None) };
        let Some(turn) = state.turn(turn) else { return Ok(None) };
        composed(&state, turn, log, &mut Tail::default()).await
    }

    /// Returns the context of each open turn of a remote client with a number above `after`. The
    /// server sends such a client no prompt. Returns nothing for other participants.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
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

    /// Returns the contexts of the open turns that `wanted` selects, in the order of their numbers.
    /// All of them are composed from one state of the conversation.
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

/// Returns the state of a conversation right after the last start of a turn; `None` if the turn
/// never started.
async fn at_start(
    log: &dyn EventLog,
    stream: &StreamId,
    no: TurnNo,
) -> Result<Option<Conversation>, HallError> {
    let mut state = Conversation::new(stream.clone());
    let (mut started, mut after) = (None, Seq(0));
    loop {
        let page = log.read(stream, after, READ_PAGE).await?;
        let newer = page.newer.as_ref().map(|(seq, _)| *seq);
        for recorded in page.events.iter().filter(|event| newer.is_none_or(|at| event.seq < at)) {
            state.apply(recorded);
            match &recorded.event {
                Event::TurnStarted { turn, .. } if *turn == no => started = Some(state.clone()),
                Event::TurnEnded { turn, .. } if *turn == no => return Ok(started),
                _ => {}
            }
        }
        // A page may be short because of its bytes, so only a page that does not advance is the
        // last one.
        if newer.is_some() || page.through <= after {
            return Ok(started);
        }
        after = page.through;
    }
}

/// Composes the context of one turn; `None` if its participant is unknown. `tail` holds the events
/// that were read, for the next turn.
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
