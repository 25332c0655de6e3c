//! Words of agents that are stored in the trace without being shown, the shown words of a stopped
//! turn, and the publication of words from the trace.

use crate::decide::Decider;
use crate::decide::say::AGENT_BYTES_MAX;
use crate::model::command::{Actor, Post, Refusal, Rejection, ShownAnswer};
use crate::model::event::{Event, Posted, RecordedEvent, SuppressedBecause, TurnKind, Usage};
use crate::model::ids::{ParticipantId, Seq, TurnNo};
use crate::model::participant::Kind;
use crate::text;
use crate::text::mentions::Mentions;
use crate::text::pass::is_pass;

impl Decider<'_> {
    /// Stores the result of an ended turn or attempt in the trace. People can publish it, unless
    /// the turn was stopped.
    pub(super) fn keep_late(&mut self, no: TurnNo, text: &str) {
        let body = text::clean(text);
        if body.trim().is_empty() || is_pass(&body) || no > self.state.floor.last_turn {
            return;
        }
        let Some(participant) = self.state.turn_owner(no) else { return };
        let because = if self.state.floor.was_stopped(no) {
            SuppressedBecause::Stopped
        } else {
            SuppressedBecause::Late
        };
        self.emit(Event::Suppressed { participant, turn: Some(no), because, counted: 0, body });
    }

    /// Posts the part of a stopped turn's answer that people already saw, as its reply. The reply
    /// wakes no agent. A pass is not posted, and nothing is posted for a participant that must not
    /// speak. The model's thoughts go to the trace. Returns the usage of the turn. (Ruling 14.)
    pub(crate) fn keep_shown(&mut self, no: TurnNo) -> Usage {
        let elapsed = self.elapsed(no);
        let Some(turn) = self
            .state
            .turn(no)
            .filter(|turn| turn.running.is_some() && turn.kind == TurnKind::Reply)
            .cloned()
        else {
            return elapsed;
        };
        self.keep_thoughts(no);
        let Some(shown) = self.shown_answer(no) else { return elapsed };
        let usage = Usage { ms: elapsed.ms, ..shown.usage };
        let (text, printed) = (text::clean(&shown.text), shown.printed.clone());
        if text::is_empty_looking(&text) {
            self.keep_cut_short(&turn.participant, no, &printed);
            return usage;
        }
        if is_pass(&text) || self.silence_of(&turn.participant).is_some() {
            return usage;
        }
        let post = Post::new(Actor::named(turn.participant.clone()), text);
        let posted = self.reply_of(&turn, Post { reply_to: Some(turn.cause.clone()), ..post });
        // Never late: a late answer reopens its round, but stopped words wake no agent.
        self.emit(Event::Posted(Posted { stopped: true, late: None, ..posted }));
        usage
    }

    /// Returns the output so far of a turn's current attempt.
    pub(crate) fn shown_answer(&self, no: TurnNo) -> Option<&ShownAnswer> {
        let attempt = self.state.turn(no)?.attempt;
        self.facts.shown.get(&no).filter(|shown| shown.attempt == attempt)
    }

    /// Stores the thoughts of a turn's model in the trace. They are not a part of its reply.
    pub(crate) fn keep_thoughts(&mut self, no: TurnNo) {
        let thoughts = self.shown_answer(no).filter(|brought| !brought.only_thought);
        let thoughts = thoughts.map(|brought| text::clean(&brought.thoughts));
        let speaker = self.state.turn(no).map(|turn| turn.participant.clone());
        if let (Some(thoughts), Some(speaker)) = (thoughts, speaker) {
            self.keep(&speaker, no, SuppressedBecause::Thought, thoughts);
        }
    }

    /// Stores the words and thoughts of a turn that ends before its answer is complete, in the
    /// trace. Returns `usage`, or the usage seen so far if `usage` has no more than a time.
    pub(crate) fn keep_unfinished(&mut self, no: TurnNo, usage: Usage) -> Usage {
        self.keep_thoughts(no);
        let Some(turn) = self.state.turn(no).cloned() else { return usage };
        let Some(brought) = self.shown_answer(no) else { return usage };
        let used = Usage { ms: usage.ms, ..brought.usage };
        let is_shown = !brought.text.is_empty();
        let words = if is_shown { &brought.text } else { &brought.printed }.clone();
        self.keep_cut_short(&turn.participant, no, &words);
        if usage == (Usage { ms: usage.ms, ..Usage::default() }) { used } else { usage }
    }

    /// Stores the words of a turn that ends without an answer in the trace.
    fn keep_cut_short(&mut self, participant: &ParticipantId, no: TurnNo, words: &str) {
        let words = text::clean(text::cut(words, AGENT_BYTES_MAX));
        if !is_pass(&words) {
            self.keep(participant, no, SuppressedBecause::Unfinished, words);
        }
    }

    /// Stores words of a turn in the trace, unless they are blank.
    pub(super) fn keep(
        &mut self,
        participant: &ParticipantId,
        turn: TurnNo,
        because: SuppressedBecause,
        body: String,
    ) {
        if !body.trim().is_empty() {
            self.emit(Event::Suppressed {
                participant: participant.clone(),
                turn: Some(turn),
                because,
                counted: 0,
                body,
            });
        }
    }

    /// Publishes text of the trace as a message of its author. Text that came after a stop of its
    /// turn, and erased or published text, is rejected.
    pub(crate) fn publish(
        &mut self,
        seq: Seq,
        kept: &RecordedEvent,
        by: &Actor,
    ) -> Result<(), Rejection> {
        self.check_human(by)?;
        self.check_open()?;
        let Event::Suppressed { participant, body, turn, because, .. } = &kept.event else {
            return Err(Rejection::new(
                Refusal::Invalid,
                "not_kept",
                "Only kept text can be published.",
            ));
        };
        if *because == SuppressedBecause::Stopped {
            let message = "A person stopped this turn. Its text up to then was shown; later text \
                           is not published.";
            return Err(Rejection::new(Refusal::Conflict, "turn_stopped", message));
        }
        if kept.event.is_erased() {
            return Err(Rejection::new(
                Refusal::Conflict,
                "erased",
                "The text was erased and cannot be published.",
            ));
        }
        if let Some(message) = self.state.published.get(&seq) {
            let message = format!("The text was already published, as the message {message}.");
            return Err(Rejection::new(Refusal::Conflict, "already_published", message));
        }
        let post = Post {
            tags: vec!["published".into()],
            ..Post::new(Actor::named(participant.clone()), body.clone())
        };
        let mut posted = self.words(post, Kind::Agent, 1, &Mentions::default());
        posted.turn = *turn;
        posted.published = Some(seq);
        posted.unasked = !by.proven;
        posted.via = true;
        self.emit(Event::Posted(posted));
        Ok(())
    }
}
