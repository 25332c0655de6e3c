//! Contributions of participants: messages, replies and passes.

use std::collections::BTreeSet;

use crate::decide::Decider;
use crate::decide::chats::Edit;
use crate::model::command::{Actor, LATE, Post, Refusal, Rejection};
use crate::model::event::{
    Cause, Event, Fault, MentionPlace, Outcome, Posted, Recipient, SuppressedBecause, TurnKind,
    Usage,
};
use crate::model::hosted::HostedWords;
use crate::model::ids::{EventId, ParticipantId, TurnNo};
use crate::model::message_part::Span;
use crate::model::participant::{Kind, Participant};
use crate::model::state::{Conversation, Round, Turn, WakingWords};
use crate::planted::{self, Bug};
use crate::policy::{EmptyReply, UnsolicitedRule};
use crate::text;
use crate::text::mentions::{self, Mentions};
use crate::text::pass::is_pass;

mod asks;
mod fingerprint;
mod kept;

use fingerprint::fingerprint;

/// Longest message of a person, in bytes.
pub const HUMAN_BYTES_MAX: usize = 64 * 1024;
/// Longest message of an agent, in bytes.
pub const AGENT_BYTES_MAX: usize = 256 * 1024;

/// Checks that a message is not too long for its speaker.
///
/// # Errors
/// `message_too_large`.
pub fn check_length(speaker: &ParticipantId, human: bool, body: &str) -> Result<(), Rejection> {
    let limit = if human { HUMAN_BYTES_MAX } else { AGENT_BYTES_MAX };
    if body.len() <= limit {
        return Ok(());
    }
    let message =
        format!("This message has {} bytes; the maximum is {limit}. Split it.", body.len());
    Err(Rejection::new(Refusal::TooLarge, "message_too_large", message).about(speaker))
}

impl Decider<'_> {
    /// Checks a post, and posts it as a person's or as an agent's words.
    pub(crate) fn post(&mut self, post: Post) -> Result<(), Rejection> {
        // The engine names the speakers of other computers, and none of them is a person here.
        let is_far = post.far.is_some();
        if is_far {
            self.check_named(&post.by.id, true)?;
        } else {
            self.check_speaker(&post.by)?;
        }
        self.check_to(&post.to)?;
        let human = !is_far && self.is_human(&post.by);
        check_length(&post.by.id, human, &post.body)?;
        let mut post = Post { body: text::clean(&post.body), ..post };
        let mut seen = BTreeSet::new();
        post.asks.retain(|id| seen.insert(id.clone()));
        if text::is_empty_looking(&post.body) {
            return Err(Rejection::new(
                Refusal::Invalid,
                "empty_message",
                "A message needs `content` with some visible text.",
            )
            .about(&post.by.id));
        }
        self.check_asks(&post, human)?;
        if human {
            self.check_open()?;
            return self.post_as_human(post);
        }
        self.post_as_agent(post)
    }

    /// Rejects a single recipient that is neither a participant nor the local user.
    fn check_to(&self, to: &Recipient) -> Result<(), Rejection> {
        let Recipient::One(id) = to else { return Ok(()) };
        if id.as_str() == ParticipantId::USER || self.state.participant(id).is_some() {
            return Ok(());
        }
        let message = format!(
            "`to` names {id}, which is not a member here. Invite {id} first, or use \"all\"."
        );
        Err(Rejection::new(Refusal::Invalid, "unknown_recipient", message).about(id))
    }

    /// Posts or queues a person's words, and asks agents by `/ask` or else by the policy.
    fn post_as_human(&mut self, post: Post) -> Result<(), Rejection> {
        let speaker = post.by.id.clone();
        if self.state.muted.contains(&speaker) {
            return self.check_may_speak(&post);
        }
        let edited = match self.edited(&post) {
            Edit::None => None,
            Edit::Waiting(seq) => Some(seq),
            Edit::Late => return Ok(()),
        };
        if self.state.gathering().is_some() {
            return self.say_in_gathering(post, Kind::Human);
        }
        let named = mentions::named(&post.body, &self.state.participants, &speaker);
        let posted = self.words(post, Kind::Human, 0, &named);
        let waits = self.state.queues(&posted.asks);
        // An edit takes the place of the message that it replaces, so it fits into a full queue.
        let queue_full = waits && edited.is_none() && self.state.is_queue_full(&speaker);
        let posted = Posted { queued: waits && !queue_full, queue_full, ..posted };
        let posted = self.with_silence(posted, &named);
        let cause = self.emit(Event::Posted(posted.clone()));
        self.take_back(edited, &speaker);
        self.hint(&named, &cause);
        let spoken = WakingWords::of(&posted, cause);
        match (waits, queue_full, posted.asks.is_empty()) {
            (_, true, _) => self.skip_for_full_queue(&spoken),
            (true, false, _) => {}
            (false, false, true) => (self.state.rules().on_posted)(self, &spoken),
            (false, false, false) => self.open_asked(&spoken),
        }
        Ok(())
    }

    /// Adds to a message the reason if it asks no agent, and the first name in it that reaches no
    /// participant. Names are resolved now, not against a later roster. (Ruling 19.)
    pub(crate) fn with_silence(&self, posted: Posted, named: &Mentions) -> Posted {
        let (seq, unproven) = (self.state.head.next(), posted.lacks_person());
        let id = EventId::of(&self.state.stream, seq, self.now);
        let cause = Cause { seq, id, from: posted.from.clone(), depth: posted.depth, unproven };
        let silence = self.state.silence_of(&WakingWords::of(&posted, cause), &posted.body, named);
        let posted = Posted { silence: silence.map(Box::new), ..posted };
        // Words that the server posts have no answer to their speaker that could show a stray name.
        if posted.via || posted.stray_name().is_some() {
            return posted;
        }
        let unknown = self.state.unknown_name(named, &posted.from);
        let stray = unknown.or_else(|| Conversation::broadcast_of(&posted.body, named));
        Posted { unknown: stray.map(Box::new), ..posted }
    }

    /// Returns a message as an event. Fields of turns, of the queue and of silence are empty.
    pub(crate) fn words(&self, post: Post, kind: Kind, depth: u32, named: &Mentions) -> Posted {
        let may_see =
            |id: &ParticipantId| post.only_for.as_ref().is_none_or(|others| others.contains(id));
        let resets = kind == Kind::Human && self.resets_guards(&post);
        Posted {
            from: post.by.id,
            kind,
            to: post.to,
            fingerprint: fingerprint(&post.body),
            body: post.body,
            // A participant that must not see the words is not mentioned by them.
            mentions: named.participants.iter().filter(|id| may_see(id)).cloned().collect(),
            places: places_of(named, may_see),
            depth,
            typed_at: post.typed_at,
            elsewhere: post.elsewhere,
            unproven: !post.by.proven,
            unasked: kind == Kind::Agent,
            own: None,
            resets,
            asks: post.asks,
            reply_to: post.reply_to,
            turn: None,
            tags: post.tags,
            via: false,
            queued: false,
            queue_full: false,
            late: None,
            stopped: false,
            published: None,
            error: None,
            parts: post.parts.into(),
            only_for: post.only_for,
            origin: post.origin,
            ended: None,
            thought: false,
            silence: None,
            unknown: None,
            hosted: None,
            far: post.far,
        }
    }

    /// Asks the speaker back about each name that several participants share. (Ruling 15.)
    fn hint(&mut self, named: &Mentions, cause: &Cause) {
        for (word, ids) in &named.ambiguous {
            let lines: Vec<_> =
                ids.iter().map(|id| format!("@{id} ({})", self.state.name_of(id))).collect();
            self.tell(
                &format!(
                    "More than one participant answers to @{word}. Whom do you mean: {}?",
                    lines.join(", ")
                ),
                cause,
            );
        }
    }

    /// Posts a message of the server to the speaker.
    fn tell(&mut self, text: &str, cause: &Cause) {
        let posted = self.server_words(
            text.to_owned(),
            Recipient::One(cause.from.clone()),
            cause,
            vec!["coordinator".into()],
        );
        self.emit(Event::Posted(posted));
    }

    /// Returns a message of the server that replies to a cause.
    pub(crate) fn server_words(
        &self,
        body: String,
        to: Recipient,
        cause: &Cause,
        tags: Vec<String>,
    ) -> Posted {
        Posted {
            to,
            depth: cause.depth,
            unasked: cause.unproven,
            reply_to: Some(cause.clone()),
            tags,
            ..Posted::of_server(body)
        }
    }

    /// Posts an agent's words. They finish the open turn that they answer, if the agent answers by
    /// posting. Without such a turn they become words of the gathering in a gathering, and own
    /// words elsewhere.
    fn post_as_agent(&mut self, post: Post) -> Result<(), Rejection> {
        let id = post.by.id.clone();
        self.state.check_in_task(&id)?;
        let speaker = self.state.participant(&id);
        let answers = speaker.is_some_and(Participant::answers_by_posting);
        self.check_may_speak(&post)?;
        if let Some(turn) = self.turn_answered(&id, post.reply_to.as_ref()).filter(|_| answers) {
            self.finished_by_post(turn, post);
            return Ok(());
        }
        if is_pass(&post.body) {
            return Err(nothing_to_pass(&id));
        }
        let about = post.reply_to.as_ref().filter(|_| answers);
        if about.is_some_and(|about| self.state.floor.was_cancelled(&id, about.seq)) {
            let reason = "A person cancelled the turn that this answers.";
            return Err(self.refuse(&post, SuppressedBecause::Late, LATE, reason));
        }
        if self.state.gathering().is_some() {
            return self.say_in_gathering(post, Kind::Agent);
        }
        self.admit_unsolicited(post)
    }

    /// Returns the turn that a client's words answer by default: the running or the next one.
    fn own_turn(&self, id: &ParticipantId) -> Option<TurnNo> {
        self.state.front_turn(id).map(|turn| turn.no)
    }

    /// Returns the open turn that a client's words answer: the one with the cause that they reply
    /// to, or the oldest if they reply to nothing. (Ruling 5.) If this turn or an older one is
    /// hosted, it is returned only if it is the oldest.
    fn turn_answered(&self, by: &ParticipantId, reply_to: Option<&Cause>) -> Option<TurnNo> {
        let Some(replied) = reply_to else { return self.own_turn(by) };
        let own = || self.state.open_turns().filter(|turn| turn.participant == *by);
        let named = |turn: &&Turn| turn.causes.iter().any(|asked| asked.cause.seq == replied.seq);
        let turn = own().find(named)?;
        // To answer a turn cancels the older ones, and no conversation cancels another's.
        let crosses = own().take_while(|open| open.no <= turn.no).any(Turn::is_hosted);
        (!crosses || self.state.is_front(turn)).then_some(turn.no)
    }

    /// Rejects words to which `silence_of` objects, and stores them in the trace. (Ruling 20.)
    fn check_may_speak(&mut self, post: &Post) -> Result<(), Rejection> {
        match self.silence_of(&post.by.id) {
            Some((because, code, reason)) => Err(self.refuse(post, because, code, reason)),
            None => Ok(()),
        }
    }

    /// Returns the reason if a participant must not speak, with a code and a message: the
    /// conversation is archived or paused, or the participant is muted.
    pub(crate) fn silence_of(
        &self,
        id: &ParticipantId,
    ) -> Option<(SuppressedBecause, &'static str, &'static str)> {
        if self.state.archived {
            return Some((
                SuppressedBecause::Archived,
                "thread_archived",
                "This conversation is archived.",
            ));
        }
        if self.state.muted.contains(id) {
            return Some((
                SuppressedBecause::Muted,
                "participant_muted",
                "Participant is muted for this thread.",
            ));
        }
        if self.state.paused {
            let message = "Thread is paused for non-user participants.";
            return Some((SuppressedBecause::Paused, "thread_paused", message));
        }
        None
    }

    /// Posts words of an agent that was not asked, unless a limit or a hold refuses them. (Ruling
    /// 21.)
    fn admit_unsolicited(&mut self, post: Post) -> Result<(), Rejection> {
        self.check_own(&post)?;
        let round_cause = self.state.floor.round.as_ref().map(|round| &round.cause);
        let unsolicited = self.state.rules().unsolicited;
        let near = match unsolicited {
            UnsolicitedRule::Charged => {
                round_cause.or(self.state.latest.as_ref().map(|latest| &latest.cause))
            }
            UnsolicitedRule::Free => None,
        };
        let depth = post.reply_to.as_ref().or(near).map_or(1, |cause| cause.depth + 1);
        if unsolicited == UnsolicitedRule::Charged {
            self.check_reply_limits(&post, depth)?;
        }
        let named = mentions::named(&post.body, &self.state.participants, &post.by.id);
        let own = self.own_words(&post, &named);
        let is_exchange = own.exchange;
        let posted = Posted { own: Some(own), ..self.words(post, Kind::Agent, depth, &named) };
        let posted = self.with_silence(posted, &named);
        let outside = self.state.outside_round(&posted).map(Box::new);
        let posted = Posted { silence: posted.silence.or(outside), ..posted };
        self.post_words(posted);
        if is_exchange {
            self.guard_own();
        }
        Ok(())
    }

    /// Rejects own words above the depth limit, or if the replies to the newest message are used up
    /// or reserved. The words go to the trace.
    fn check_reply_limits(&mut self, post: &Post, depth: u32) -> Result<(), Rejection> {
        let floor = &self.state.floor;
        // The replies of agents that were asked already are reserved.
        let promised = floor.round.as_ref().map_or(0, Round::promised) + floor.reserved();
        let (code, message) = if depth > self.state.policy.max_depth {
            (
                "depth_limit",
                "The limit of reactions (`max_depth`) is reached. A person has to speak first.",
            )
        } else if floor.spent + promised >= floor.cap {
            ("turn_limit", "The agents have used their replies to the last human message.")
        } else {
            return Ok(());
        };
        Err(self.refuse(post, SuppressedBecause::Capped, code, message))
    }

    /// Posts an agent's words and applies the policy to them.
    pub(crate) fn post_words(&mut self, posted: Posted) -> Cause {
        let cause = self.emit(Event::Posted(posted.clone()));
        self.after_words(&WakingWords::of(&posted, cause.clone()));
        cause
    }

    /// Cancels the older turns of a participant that answers a newer one.
    fn end_older(&mut self, by: &ParticipantId, turn: TurnNo) {
        let older: Vec<_> = self
            .state
            .open_turns()
            .filter(|open| open.participant == *by && open.no < turn)
            .map(|open| open.no)
            .collect();
        for no in older {
            self.end(
                no,
                Outcome::Cancelled,
                Some(Fault::new("covered", "a newer turn was answered in its place")),
                Usage::default(),
            );
        }
    }

    /// Finishes a turn that its client answers by posting.
    fn finished_by_post(&mut self, turn: TurnNo, post: Post) {
        self.end_older(&post.by.id, turn);
        self.ensure_started(turn);
        let usage = self.elapsed(turn);
        self.finish(turn, post, usage);
    }

    /// Finishes a turn with the result of its runtime. Text goes to the trace, as late or as
    /// stopped, if it is for an ended turn or another attempt, or if an older turn of the
    /// participant is still open. A fault of such a turn changes nothing.
    pub(crate) fn finished(
        &mut self,
        no: TurnNo,
        attempt: u32,
        result: Result<String, Fault>,
        usage: Usage,
    ) {
        let (no, attempt) = self.meant_by(no, attempt);
        let current = self
            .state
            .turn(no)
            .is_some_and(|turn| turn.attempt == attempt && self.state.is_front(turn));
        match result {
            Ok(text) if current => {
                self.ensure_started(no);
                let Some(speaker) = self.state.turn(no).map(|turn| turn.participant.clone()) else {
                    return;
                };
                self.keep_thoughts(no);
                self.finish(no, Post::new(Actor::named(speaker), text::clean(&text)), usage);
            }
            Ok(text) => self.keep_late(no, &text),
            Err(fault) if current => {
                let usage = self.keep_unfinished(no, usage);
                self.fail(no, Outcome::Failed, fault, usage);
            }
            Err(_) => {}
        }
    }

    /// Returns the turn and the attempt that a result is about: those that it names. A planted bug
    /// takes the open turn of the same participant instead.
    fn meant_by(&self, no: TurnNo, attempt: u32) -> (TurnNo, u32) {
        let front = || self.state.front_turn(&self.state.turn_owner(no)?);
        match planted::has(Bug::CancelledAnswerTaken).then(front).flatten() {
            Some(front) => (front.no, front.attempt),
            None => (no, attempt),
        }
    }

    /// Ends a turn by its text: a pass, a post, or words for the trace. An empty text passes or
    /// fails.
    fn finish(&mut self, no: TurnNo, post: Post, usage: Usage) {
        let Some(turn) = self.state.turn(no).cloned() else { return };
        let text = post.body;
        // Before the checks that keep words in the trace: a pass has no words.
        if is_pass(&text) {
            return self.pass_turn(no, usage);
        }
        if let Some((because, code, message)) = self.silence_of(&turn.participant) {
            self.keep(&turn.participant, no, because, text);
            return self.end(no, Outcome::Cancelled, Some(Fault::new(code, message)), usage);
        }
        if self.is_of_an_earlier_hold(&turn) {
            self.keep(&turn.participant, no, SuppressedBecause::NoPiece, text);
            let fault = Fault::new("not_your_piece", "the piece was passed on before it answered");
            return self.end(no, Outcome::Cancelled, Some(fault), usage);
        }
        if turn.kind == TurnKind::Listen {
            self.keep(&turn.participant, no, SuppressedBecause::Listening, text);
            return self.end(no, Outcome::Spoke, None, usage);
        }
        if text::is_empty_looking(&text) {
            // The policy here has no say about another conversation.
            let hosted = if turn.may_pass { EmptyReply::Passes } else { EmptyReply::Fails };
            let own = self.state.rules().empty_reply;
            return match if turn.is_hosted() { hosted } else { own } {
                EmptyReply::Passes => self.end(no, Outcome::Passed, None, usage),
                EmptyReply::Fails => self.fail(
                    no,
                    Outcome::Failed,
                    Fault::new("empty_output", "it answered with nothing"),
                    usage,
                ),
            };
        }
        let reply_to = post.reply_to.or(Some(turn.cause.clone()));
        let posted = self.reply_of(&turn, Post { body: text, reply_to, typed_at: None, ..post });
        self.answer(no, posted, usage);
    }

    /// Returns the message that answers a turn, shortened to [`AGENT_BYTES_MAX`].
    fn reply_of(&self, turn: &Turn, post: Post) -> Posted {
        let whole = post.body.len() <= AGENT_BYTES_MAX;
        let body = if whole {
            post.body
        } else {
            // 32 bytes leave room for the note.
            format!("{}\n\n[truncated]", text::cut(&post.body, AGENT_BYTES_MAX - 32))
        };
        // The names in words for another conversation are those of its own members.
        let named = match turn.is_hosted() {
            true => Mentions::default(),
            false => mentions::named(&body, &self.state.participants, &turn.participant),
        };
        let mut posted =
            self.words(Post { body, ..post }, Kind::Agent, turn.cause.depth + 1, &named);
        posted.turn = Some(turn.no);
        if let Some(brought) = self.shown_answer(turn.no) {
            (posted.ended, posted.thought) = (brought.ended, brought.only_thought);
        }
        posted.hosted = turn.hosted.clone().map(HostedWords::Answers).map(Box::new);
        posted.late = self.state.is_late_for(turn);
        posted.unasked = turn.cause.unproven;
        let by_server =
            self.state.participant(&turn.participant).is_some_and(|p| !p.answers_by_posting());
        if by_server {
            posted.via = true;
            posted.tags.push("coordinator".into());
        }
        if turn.is_hosted() { posted } else { self.with_silence(posted, &named) }
    }

    /// Posts a reply, ends its turn, and applies the policy and a pass in the words, in one
    /// decision. The answer of a hosted turn is only posted, because the conversation that asked
    /// decides what follows from it.
    fn answer(&mut self, no: TurnNo, posted: Posted, usage: Usage) {
        let cause = self.emit(Event::Posted(posted.clone()));
        self.end(no, Outcome::Spoke, None, usage);
        if posted.hosted.is_some() {
            return;
        }
        self.after_words(&WakingWords::of(&posted, cause.clone()));
        self.heed_piece(&posted.from, cause.id, &posted.body);
    }

    /// Applies the policy to words that are now visible.
    pub(crate) fn after_words(&mut self, spoken: &WakingWords) {
        (self.state.rules().on_reply)(self, spoken);
    }

    /// Ends a turn as passed. A holder releases the piece; a turn that had to answer gets a notice.
    pub(crate) fn pass_turn(&mut self, no: TurnNo, usage: Usage) {
        let Some(turn) = self.state.turn(no).cloned() else { return };
        self.end(no, Outcome::Passed, None, usage);
        if turn.speaks_here() && self.holds_piece(&turn.participant) {
            return self.release_piece(crate::model::gathering::HoldEnd::Passed, None, None);
        }
        if !turn.may_pass && turn.speaks_here() {
            let name = self.state.name_of(&turn.participant).to_owned();
            self.notice(
                "passed",
                format!("{name} was addressed and passed."),
                Some(&turn.participant),
                Some(&turn.cause),
            );
        }
    }

    /// Passes the caller's talking piece, or else the caller's open turn.
    pub(crate) fn pass(
        &mut self,
        by: &Actor,
        to: Option<&str>,
        reply_to: Option<&Cause>,
        at_once: bool,
    ) -> Result<(), Rejection> {
        self.check_speaker(by)?;
        self.check_open()?;
        if self.holds_piece(&by.id) {
            self.pass_piece(&by.id, to, at_once);
            return Ok(());
        }
        let Some(turn) = self.turn_answered(&by.id, reply_to) else {
            let elsewhere = self.has_no_piece(&by.id);
            return Err(if elsewhere { not_your_piece() } else { nothing_to_pass(&by.id) });
        };
        self.end_older(&by.id, turn);
        self.ensure_started(turn);
        let usage = self.elapsed(turn);
        self.pass_turn(turn, usage);
        Ok(())
    }
}

/// Returns the places of mentions, limited to participants that may see the words.
fn places_of(named: &Mentions, may_see: impl Fn(&ParticipantId) -> bool) -> Box<[MentionPlace]> {
    let place = |place: &mentions::NamePlace| {
        let seeing = place.participants.iter().filter(|id| may_see(id));
        let participants: Vec<_> = seeing.cloned().collect();
        let span = Span::of(place.range.clone());
        (!participants.is_empty()).then_some(MentionPlace { span, participants })
    };
    named.places.iter().filter_map(place).collect()
}

/// Returns the rejection of a caller that passes a piece without holding it.
pub fn not_your_piece() -> Rejection {
    Rejection::new(Refusal::Conflict, "not_your_piece", "Another speaker holds the talking piece.")
}

fn nothing_to_pass(id: &ParticipantId) -> Rejection {
    let message = "This participant has no turn to pass.";
    Rejection::new(Refusal::Conflict, "no_open_turn", message).about(id)
}
