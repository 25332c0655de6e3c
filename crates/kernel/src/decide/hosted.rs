//! Turns for conversations of other computers: offered by a post of their own, and ended by the
//! home of the conversation. (Ruling 35.)
//!
//! Such a turn has one cause and never another. It is not widened or covered, and no word of this
//! conversation joins it: its answer goes to another conversation, which may have other members.

use crate::decide::Decider;
use crate::model::command::{Refusal, Rejection};
use crate::model::event::{Event, Fault, Outcome, Posted, Recipient, TurnReason, WhyNot};
use crate::model::hosted::{
    FarOrigin, HOSTED_MAX, HostedKey, HostedTurn, HostedWords, computer_named,
};
use crate::model::ids::{ParticipantId, Seq, TurnNo};
use crate::model::participant::Address;
use crate::model::state::{Conversation, Turn};
use crate::text;
use crate::text::names;

/// Longest prompt of a hosted turn, in bytes.
pub const HOSTED_BYTES_MAX: usize = 512 * 1024;

impl Conversation {
    /// Returns the participant whose home this conversation is: the session with the id of the
    /// stream.
    pub(crate) fn own_session(&self) -> Option<&ParticipantId> {
        let is_own = |address: &Address| address.here("session") == Some(self.stream.as_str());
        self.agents().find(|one| one.address.as_ref().is_some_and(is_own)).map(|one| &one.id)
    }

    /// Returns the open turn that is taken for this turn of another computer.
    pub(crate) fn hosted_turn(&self, key: &HostedKey) -> Option<&Turn> {
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
        if self.state.hosted_turn(&hosted.key).is_some() {
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

    /// Ends a hosted turn because the home of its conversation did. A turn that is not open is
    /// ignored: its own end is on the way there.
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

/// Returns the post that has the prompt of an offered turn. It names no participant, whatever its
/// words are.
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

/// Rejects an offer that could not be typed as it stands: the places of the members' words are
/// those of exactly these bytes.
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
