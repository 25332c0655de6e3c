//! Conversations of other computers that the session of this home has joined, and the session's
//! turns for them. The computer of such a conversation offers each turn, and may end it. (Ruling
//! 35.)
//!
//! Such a turn has exactly one cause. It is not widened or covered, and no word of this
//! conversation joins it, because its answer goes to another conversation, which may have other
//! members.

use crate::decide::control::PARTICIPANTS_MAX;
use crate::decide::{Decider, title};
use crate::model::command::{Refusal, Rejection};
use crate::model::event::{Event, Fault, Outcome, Posted, Recipient, TurnReason, WhyNot};
use crate::model::hosted::{
    FarOrigin, HOSTED_MAX, HostedKey, HostedTurn, HostedWords, computer_named,
};
use crate::model::ids::{ComputerId, ParticipantId, Seq, StreamId, TurnNo};
use crate::model::link::{JOINED_MAX, JoinedConversation, PartReason};
use crate::model::participant::Address;
use crate::model::state::{Conversation, Turn};
use crate::planted::{self, Bug};
use crate::text;
use crate::text::names;

/// Longest prompt of a hosted turn, in bytes.
pub const HOSTED_BYTES_MAX: usize = 512 * 1024;

impl Conversation {
    /// Returns the participant whose home this conversation is: the session with the id of the
    /// stream.
    pub fn own_session(&self) -> Option<&ParticipantId> {
        let is_own = |address: &Address| address.here("session") == Some(self.stream.as_str());
        self.agents().find(|one| one.address.as_ref().is_some_and(is_own)).map(|one| &one.id)
    }

    /// Returns the open turn in which the session answers this turn of another computer.
    pub fn hosted_turn(&self, key: &HostedKey) -> Option<&Turn> {
        self.open_turns().find(|turn| turn.hosted.as_deref() == Some(key))
    }
}

impl Decider<'_> {
    /// Posts the prompt of an offered turn, and grants the turn to the session whose home this is.
    /// A refusal by the budgets is recorded. An offer of a turn that is open already changes
    /// nothing.
    pub(crate) fn host(&mut self, hosted: HostedTurn, text: String) -> Result<(), Rejection> {
        self.check_open()?;
        let Some(to) = self.state.own_session().cloned() else {
            let message = "The session of this conversation takes no turns here.";
            return Err(Rejection::new(Refusal::NotFound, "not_invited", message));
        };
        if self.state.muted.contains(&to) {
            let message = "Participant is muted for this thread.";
            return Err(Rejection::new(Refusal::Conflict, "participant_muted", message).about(&to));
        }
        check_offer(&hosted, &text)?;
        self.check_joined(&hosted.key)?;
        if self.state.hosted_turn(&hosted.key).is_some() && !planted::has(Bug::HostedTwice) {
            return Ok(());
        }
        let (key, kind, may_pass) = (hosted.key.clone(), hosted.kind, hosted.may_pass);
        let cause = self.emit(Event::Posted(prompt_of(hosted, text, to.clone())));
        let hosted = Some(Box::new(key));
        if let Some(detail) = self.unaffordable(&to, &cause) {
            let (why_not, detail) = (WhyNot::OverBudget, Some(detail));
            self.emit(Event::Skipped { participant: to, why_not, cause, detail, hosted });
            return Ok(());
        }
        self.emit(Event::TurnGranted {
            turn: self.state.floor.last_turn.next(),
            participant: to,
            why: TurnReason::Hosted,
            kind,
            may_pass,
            cause,
            expires: self.now + HOSTED_MAX,
            patience: None,
            hosted,
        });
        Ok(())
    }

    /// Rejects a turn of a conversation that the session has not joined. The decision checks this,
    /// because the session may leave the conversation while the offer waits.
    fn check_joined(&self, key: &HostedKey) -> Result<(), Rejection> {
        if self.state.joined_on(&key.computer, &key.stream).is_some() {
            return Ok(());
        }
        let message = "The session takes no part in that conversation.";
        Err(Rejection::new(Refusal::Conflict, "not_joined", message))
    }

    /// Records that the session has joined a conversation of another computer, or that the data of
    /// a joined conversation have changed.
    pub(crate) fn join(&mut self, joined: JoinedConversation) -> Result<(), Rejection> {
        self.check_open()?;
        let joined = checked_conversation(joined)?;
        let known = self.state.joined_on(&joined.computer, &joined.stream);
        if known == Some(&joined) {
            return Ok(());
        }
        if known.is_none() && self.state.joined().count() >= JOINED_MAX {
            let message = "A session takes part in at most 64 conversations of other computers.";
            return Err(Rejection::new(Refusal::Conflict, "too_many_joined", message));
        }
        self.emit(Event::Joined(Box::new(joined)));
        Ok(())
    }

    /// Records that the session has left a conversation of another computer, and ends the turns of
    /// that conversation that have not begun. A running turn goes on, and its answer stays in this
    /// home. (Ruling 27.)
    pub(crate) fn part(&mut self, computer: ComputerId, stream: StreamId, why: PartReason) {
        if self.state.joined_on(&computer, &stream).is_none() {
            return;
        }
        let is_theirs = |turn: &&Turn| {
            turn.running.is_none()
                && turn.hosted.as_ref().is_some_and(|key| key.is_of(&computer, &stream))
                && !planted::has(Bug::PartedStillTyped)
        };
        let waiting: Vec<TurnNo> =
            self.state.open_turns().filter(is_theirs).map(|turn| turn.no).collect();
        self.emit(Event::Parted { computer, stream, why });
        for turn in waiting {
            let fault = Fault::new("closed", "the session left the conversation before it began");
            self.end_hosted(turn, Outcome::Cancelled, fault);
        }
    }

    /// Ends a hosted turn because the computer of its conversation ended it. Ignores a turn that is
    /// not open here: the report of its end is on the way to that computer.
    pub(crate) fn unhost(&mut self, key: &HostedKey, lapse: bool) {
        let Some(no) = self.state.hosted_turn(key).map(|turn| turn.no) else { return };
        let (outcome, fault) = if lapse {
            (Outcome::Expired, Fault::new("timeout", "its time ran out where it was asked"))
        } else {
            (Outcome::Cancelled, Fault::new("ended_there", "it was ended where it was asked"))
        };
        self.end_hosted(no, outcome, fault);
    }

    /// Ends the hosted turn whose prompt was erased before it began.
    pub(super) fn end_erased(&mut self, at: Seq) {
        let is_erased =
            |turn: &&Turn| turn.is_hosted() && turn.running.is_none() && turn.cause.seq == at;
        let erased = self.state.open_turns().find(is_erased).map(|turn| turn.no);
        if let Some(no) = erased {
            let fault = Fault::new("erased", "its prompt was erased before it began");
            self.end_hosted(no, Outcome::Cancelled, fault);
        }
    }

    fn end_hosted(&mut self, no: TurnNo, outcome: Outcome, fault: Fault) {
        let usage = self.keep_unfinished(no, self.elapsed(no));
        self.end(no, outcome, Some(fault), usage);
    }
}

/// Returns the post with the prompt of an offered turn. The post mentions no participant, because
/// the names in its words are those of the other conversation.
fn prompt_of(hosted: HostedTurn, text: String, to: ParticipantId) -> Posted {
    let (computer, label) = (hosted.key.computer.clone(), hosted.label.clone());
    Posted {
        from: computer_named(&label),
        to: Recipient::One(to),
        unasked: true,
        via: false,
        hosted: Some(Box::new(HostedWords::Asks(Box::new(hosted)))),
        far: Some(Box::new(FarOrigin { computer, label, session: None })),
        ..Posted::of_server(text)
    }
}

/// Returns a conversation of another computer with clean names. Rejects a conversation of this
/// computer, an invalid id or name, and too many members.
fn checked_conversation(joined: JoinedConversation) -> Result<JoinedConversation, Rejection> {
    let invalid = |message: &str| Err(Rejection::new(Refusal::Invalid, "invalid_joined", message));
    if joined.computer.as_str().is_empty() {
        return invalid("A conversation of this computer is not joined from another one.");
    }
    if joined.members.len() > PARTICIPANTS_MAX {
        return invalid("A conversation has at most 200 members.");
    }
    if names::check_id(joined.participant.as_str()).is_err() {
        return invalid("The id of the session in the conversation is not one.");
    }
    // The ids stay in the state until the session leaves, and another computer chose them.
    let is_id = |id: &str| names::check_id(id).is_ok();
    let is_bounded = |at: &Address| {
        is_id(&at.local_id) && is_id(&at.kind) && (at.computer.is_empty() || is_id(&at.computer))
    };
    let are_bounded = joined.members.iter().all(|member| is_bounded(&member.address));
    if !is_id(joined.stream.as_str()) || !are_bounded {
        return invalid("The id of a conversation or of a member is not one.");
    }
    let title = title(&joined.title)?;
    let mut members = joined.members;
    for member in &mut members {
        let Ok(name) = names::nickname(&member.name) else {
            return invalid("A name of a member is not one.");
        };
        member.name = name;
    }
    Ok(JoinedConversation { title, members, ..joined })
}

/// Rejects an offer whose prompt could not be typed unchanged. A changed prompt would not fit the
/// byte ranges of the members' words.
fn check_offer(hosted: &HostedTurn, text: &str) -> Result<(), Rejection> {
    let invalid = |message: &str| Err(Rejection::new(Refusal::Invalid, "invalid_hosted", message));
    if !names::is_computer(&hosted.label) {
        return invalid("The name of the computer is 1 to 32 of a-z, 0-9 and -.");
    }
    if text.len() > HOSTED_BYTES_MAX {
        return invalid("The prompt of a turn has at most 524288 bytes.");
    }
    if text::is_empty_looking(text) || text::clean(text) != text {
        return invalid("The prompt of a turn has visible text, and no control characters.");
    }
    let mut after = 0;
    let in_order = hosted.bodies.iter().all(|span| {
        let range = span.range();
        let follows = after <= range.start && range.start <= range.end;
        after = range.end;
        follows && text.get(range).is_some()
    });
    if !in_order {
        return invalid("The members' words in the prompt are given in order, and lie within it.");
    }
    Ok(())
}
