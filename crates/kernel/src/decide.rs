//! Decides commands: contributions in `say`, controls in `control`, turns in `turns`, the progress
//! of the floor in `floor`.

pub mod say;
mod chats;
pub mod control;
pub(crate) mod turns;
pub(crate) mod floor;
pub(crate) mod patience;
mod ends;
mod hosted;
mod budgets;
mod queue;
mod refusals;
mod questions;
mod requests;
mod summaries;
pub mod gatherings;
pub mod tasks;
mod orders;
pub(crate) mod own;

pub use budgets::{RAISE_MAX, check_raise};

use crate::model::budget::Charge;
use crate::model::command::{
    Actor, ClientCommand, Command, EngineCommand, Facts, PostCustom, Refusal, Rejection,
};
use crate::model::event::{Cause, Event, Guard, Outcome, RecordedEvent, TurnKind};
use crate::model::hosted::HOSTED_MAX;
use crate::model::ids::{ParticipantId, Seq, TurnNo};
use crate::model::participant::AgentFacts;
use crate::model::state::Conversation;
use crate::model::time::{Millis, Timestamp};
use crate::planted::{self, Bug};
use crate::text;
use crate::text::names;

/// Longest title, in characters.
pub const NAME_CHARS_MAX: usize = 200;

/// A decision in progress. Each event is applied as soon as it is decided, so that later steps see
/// it.
pub(crate) struct Decider<'a> {
    pub(crate) state: &'a mut Conversation,
    pub(crate) now: Timestamp,
    pub(crate) facts: &'a Facts,
    pub(crate) out: Vec<RecordedEvent>,
    /// Charges for the events in `out`, in their order.
    pub(crate) charges: Vec<Charge>,
    /// Refused words whose text is not stored: they are only counted.
    pub(crate) unkept: Option<DroppedWords>,
}

/// The result of deciding a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Events to append. A rejected command may have events too, for instance to store its refused
    /// words. For an accepted command the first event is its answer. Empty if nothing had to
    /// change.
    pub events: Vec<RecordedEvent>,
    /// `Ok` if the command is accepted, otherwise the rejection.
    pub outcome: Result<(), Rejection>,
    /// Charges for the events, in their order.
    pub charges: Vec<Charge>,
    /// Refused words that are only counted, because too many were stored lately. The caller adds
    /// them up and returns the sum in [`Facts::unkept`](crate::model::command::Facts::unkept).
    pub unkept: Option<DroppedWords>,
}

/// Refused words whose text is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedWords {
    /// The participant who wrote them.
    pub participant: ParticipantId,
    /// Length of the words, in bytes.
    pub bytes: u64,
}

impl Conversation {
    /// Decides a command and applies its events to `self` before it returns them.
    pub fn decide(
        &mut self,
        now: Timestamp,
        command: impl Into<Command>,
        facts: &Facts,
    ) -> Decision {
        // The computer's clock may go backwards. The times of a log never do.
        let now = if planted::has(Bug::TimeGoesBackwards) { now } else { now.max(self.last_ts) };
        let mut decider =
            Decider { state: self, now, facts, out: Vec::new(), charges: Vec::new(), unkept: None };
        let command = command.into();
        let settles = command.settles();
        let unseen = decider.state.not_ended_by(&command);
        let outcome = decider.decide(command);
        if settles && outcome.is_ok() {
            decider.settle();
        }
        let Decider { state, out: events, charges, unkept, .. } = decider;
        debug_assert!(
            !events.iter().any(|recorded| unseen.iter().any(|no| recorded.event.cancels(*no))),
            "a command ended a running turn whose output it did not get"
        );
        let kept = || {
            events
                .iter()
                .find(|recorded| matches!(recorded.event, Event::Suppressed { .. }))
                .map(|kept| kept.id(&state.stream))
        };
        let outcome = outcome.map_err(|rejection| Rejection { kept: kept(), ..rejection });
        Decision { events, outcome, charges, unkept }
    }

    /// Returns the running turns whose output so far is not a fact for the command. Empty in a
    /// release build, which does not check the decision against it.
    fn not_ended_by(&self, command: &Command) -> Vec<TurnNo> {
        if !cfg!(debug_assertions) {
            return Vec::new();
        }
        let running = self.open_turns().filter(|turn| turn.running.is_some());
        running.map(|turn| turn.no).filter(|no| !command.may_end(*no, self)).collect()
    }

    /// Returns the time limit of a turn, counted from its start. A reply that may pass has at most
    /// the policy's limit for volunteers, or half of the time among [`MANY_AGENTS`] agents. A
    /// hosted turn has [`HOSTED_MAX`] here, because the limits of its own conversation apply to it.
    /// (Rulings 12 and 35.)
    pub fn limit_of(&self, turn: &crate::model::state::Turn) -> Millis {
        if turn.is_hosted() {
            return HOSTED_MAX;
        }
        let policy = &self.policy;
        let by_agent =
            self.participant(&turn.participant).map_or(Millis::from_secs(60), |p| p.facts.limit());
        let limit = policy.agent_reply_timeout.unwrap_or(by_agent);
        if !turn.may_pass || turn.kind == TurnKind::Listen {
            return limit;
        }
        match policy.voluntary_timeout {
            Some(voluntary) => voluntary.min(limit),
            None if self.agents().count() >= MANY_AGENTS => limit.half(),
            None => limit,
        }
    }

    /// Returns the time at which the conversation next needs a tick, if any.
    pub(crate) fn wake_at(&self) -> Option<Timestamp> {
        let turns =
            self.open_turns().filter(|turn| turn.frozen_since.is_none()).map(|turn| turn.deadline);
        let permissions = self
            .open_turns()
            .flat_map(|turn| turn.permissions.values().map(|waiting| waiting.expires));
        let starts = self
            .floor
            .requests
            .values()
            .filter_map(|open| open.waiting().map(|waiting| waiting.expires));
        let patience = self
            .awaited()
            .map(|(_, until)| until)
            .filter(|_| !planted::has(Bug::PatienceForgotten));
        let next = if self.paused { None } else { self.asks_next_at() };
        let beat = if self.paused || self.guards.held.is_some() { None } else { self.next_beat() };
        turns
            .chain(permissions)
            .chain(starts)
            .chain(patience)
            .chain(next)
            .chain(beat)
            .chain(self.refused.next_due())
            .min()
    }
}

impl Decider<'_> {
    /// Carries out a command. A deleted conversation ignores the engine and rejects clients.
    fn decide(&mut self, command: Command) -> Result<(), Rejection> {
        match command {
            // Ignore reports from turns that outlive a deleted conversation.
            Command::Engine(_) if self.state.deleted => Ok(()),
            Command::Client(_) if self.state.deleted => Err(Rejection::new(
                Refusal::Gone,
                "thread_deleted",
                "This conversation was deleted.",
            )),
            Command::Client(command) => self.client(command),
            Command::Engine(command) => self.engine(command),
            Command::Task(_) => Err(Rejection::new(
                Refusal::NotFound,
                "unknown_task",
                "This is a conversation, not a task.",
            )),
        }
    }

    fn client(&mut self, command: ClientCommand) -> Result<(), Rejection> {
        match command {
            ClientCommand::Create { name, policy, folder, by } => {
                self.create(&name, policy, folder, &by)
            }
            ClientCommand::Rename { name, by } => self.rename(&name, &by),
            ClientCommand::Archive { on, by } => self.archive(on, &by),
            ClientCommand::Delete { by } => self.delete(&by),
            ClientCommand::Post(post) => self.post(post),
            ClientCommand::Control { by, controls } => self.control(&by, controls),
            ClientCommand::PostCustom(keep) => self.post_custom(keep),
            ClientCommand::Pass { by, to, reply_to, at_once } => {
                self.pass(&by, to.as_deref(), reply_to.as_ref(), at_once)
            }
            ClientCommand::Stop { by } => self.stop(&by),
            ClientCommand::Cancel { turn, by } => self.cancel(turn, &by),
            ClientCommand::Publish { seq, kept, by } => self.publish(seq, &kept, &by),
            ClientCommand::Redact { seq, message, by } => self.redact(seq, message, &by),
            ClientCommand::Gather { by, plan, controls } => self.gather(&by, plan, controls),
            ClientCommand::CloseGathering { by } => self.close_gathering(&by),
            ClientCommand::AnswerPermission { permission, option, text, by } => {
                self.answer_permission(&permission, &option, text.as_deref(), &by)
            }
        }
    }

    fn engine(&mut self, command: EngineCommand) -> Result<(), Rejection> {
        match command {
            EngineCommand::Started { turn, attempt, through } => {
                self.started(turn, attempt, through)
            }
            EngineCommand::Finished { turn, attempt, result, usage } => {
                self.finished(turn, attempt, result, usage)
            }
            EngineCommand::Summarise { turn, attempt, through, read_at, text, usage } => {
                self.summarise(turn, attempt, through, read_at, &text, usage);
            }
            EngineCommand::Lost { turn, attempt } => self.requeue_lost(turn, attempt),
            EngineCommand::AskPermission { permission, turn, question, within } => {
                self.ask_permission(permission, turn, &question, within)?;
            }
            EngineCommand::AskQuestion { permission, participant, question } => {
                self.ask_question(permission, participant, &question)?
            }
            EngineCommand::Ask { permission, by, request, within } => {
                self.ask_request(permission, &by, *request, within)?
            }
            EngineCommand::StartDone { permission, outcome } => {
                self.start_done(&permission, outcome)
            }
            EngineCommand::TalkDone { permission, outcome } => self.talk_done(&permission, outcome),
            EngineCommand::WithdrawPermission { permission, because } => {
                self.withdraw_permission(&permission, because)
            }
            EngineCommand::Tick => self.tick(),
            EngineCommand::ShiftClock { downtime } => self.shift_clock(downtime),
            EngineCommand::Facts { participant, facts } => self.facts_changed(participant, facts),
            EngineCommand::Overhear(words) => self.overhear(*words)?,
            EngineCommand::Notice { code, text } => self.notice(code, text, None, None),
            EngineCommand::Obey { task, order } => self.obey(task, *order)?,
            EngineCommand::Host { hosted, text } => self.host(*hosted, text)?,
            EngineCommand::Unhost { key, lapse } => self.unhost(&key, lapse),
            EngineCommand::Join(joined) => self.join(*joined)?,
            EngineCommand::Part { computer, stream, why } => self.part(computer, stream, why),
        }
        Ok(())
    }

    /// Posts an event of a client's own type. It asks no agent.
    fn post_custom(&mut self, custom: PostCustom) -> Result<(), Rejection> {
        let PostCustom { by, to, kind, content, tags, reply_to } = custom;
        self.check_speaker(&by)?;
        self.check_open()?;
        self.emit(Event::Custom {
            from: by.id,
            to,
            kind: kind.into(),
            content,
            tags,
            reply_to,
            unproven: !by.proven,
        });
        Ok(())
    }

    fn facts_changed(&mut self, participant: ParticipantId, facts: AgentFacts) {
        if self.state.participant(&participant).is_some_and(|known| known.facts != facts) {
            self.emit(Event::FactsChanged { participant, facts });
        }
    }

    /// Applies an event and adds it to the decision. Returns the cause by which later events refer
    /// to it.
    pub(crate) fn emit(&mut self, event: Event) -> Cause {
        let first = self.state.head == Seq(0) || planted::has(Bug::TimeGoesBackwards);
        // The wire promises times that rise strictly, also among the events of one decision.
        let ts = if first { self.now } else { self.now.max(self.state.last_ts + Millis(1)) };
        let recorded = RecordedEvent { seq: self.state.head.next(), ts, event };
        // The charge is read before `apply`, which removes an ended turn.
        self.charges.extend(self.state.charge_of(ts, &recorded.event));
        self.state.apply(&recorded);
        let from = recorded.event.from().cloned().unwrap_or_else(ParticipantId::moothall);
        let depth = if let Event::Posted(posted) = &recorded.event { posted.depth } else { 0 };
        let unproven = recorded.event.lacks_person();
        let cause =
            Cause { seq: recorded.seq, id: recorded.id(&self.state.stream), from, depth, unproven };
        self.out.push(recorded);
        cause
    }

    /// Emits a notice for people.
    pub(crate) fn notice(
        &mut self,
        code: &str,
        text: String,
        about: Option<&ParticipantId>,
        cause: Option<&Cause>,
    ) {
        self.emit(Event::Noticed {
            code: code.into(),
            text,
            about: about.cloned(),
            cause: cause.cloned(),
        });
    }

    /// Creates the conversation. Rejects a stream that has events already.
    fn create(
        &mut self,
        name: &str,
        policy: crate::model::settings::Policy,
        folder: Option<String>,
        by: &Actor,
    ) -> Result<(), Rejection> {
        if self.state.head != Seq(0) {
            return Err(Rejection::new(
                Refusal::Conflict,
                "exists",
                "this conversation already exists",
            ));
        }
        self.check_speaker(by)?;
        let name = title(name)?;
        self.emit(Event::Created { name, by: by.id.clone(), policy, task: None, folder });
        Ok(())
    }

    fn rename(&mut self, name: &str, by: &Actor) -> Result<(), Rejection> {
        self.check_human(by)?;
        self.check_open()?;
        let name = title(name)?;
        self.emit(Event::Renamed { name, by: by.id.clone() });
        Ok(())
    }

    /// Archives or reopens the conversation, if that changes it. Only people may do so, except that
    /// each member of a link may archive it.
    fn archive(&mut self, on: bool, by: &Actor) -> Result<(), Rejection> {
        // Any member of a link may end it for all. (Ruling 27.)
        if !on || !self.state.is_link() || self.state.participant(&by.id).is_none() {
            self.check_human(by)?;
        }
        if self.state.archived == on {
            return Ok(());
        }
        if !on {
            self.emit(Event::Unarchived { by: by.id.clone() });
            return Ok(());
        }
        self.close(&by.id);
        Ok(())
    }

    /// Archives the conversation: it takes no more words, and its queue, requests and questions
    /// end. Outside of links the open turns are cancelled. In a link, granted turns continue,
    /// except waiting turns in a pause. Their results go to the trace. (Ruling 27.)
    pub(crate) fn close(&mut self, by: &ParticipantId) {
        self.emit(Event::Archived { by: by.clone() });
        self.withdraw_asked(None);
        let (code, message) = ("archived", "the conversation was archived");
        match (self.state.is_link(), self.state.paused) {
            (true, false) => {}
            // In a paused link a waiting turn would not start any more.
            (true, true) => self.end_turns(|turn| turn.running.is_none(), code, message),
            (false, _) if planted::has(Bug::ArchiveLeavesTurns) => {}
            (false, _) => self.end_all(code, message),
        }
    }

    /// Deletes the conversation. Archives it first, so that its turns end as they do on archiving.
    fn delete(&mut self, by: &Actor) -> Result<(), Rejection> {
        self.check_human(by)?;
        if !self.state.archived {
            self.close(&by.id);
        }
        self.emit(Event::Deleted { by: by.id.clone() });
        Ok(())
    }

    /// Stops the conversation: cancels the open turns, with the shown part of each answer posted,
    /// and empties the queue. In a gathering, the holder loses the piece and the guard `Stopped`
    /// holds.
    fn stop(&mut self, by: &Actor) -> Result<(), Rejection> {
        self.check_human(by)?;
        self.emit(Event::Stopped { by: by.id.clone(), holds: true });
        let open: Vec<_> = self.state.open_turns().map(|turn| turn.no).collect();
        for turn in open {
            let usage = self.keep_shown(turn);
            self.end(
                turn,
                Outcome::Cancelled,
                Some(crate::model::event::Fault::new("stopped", "a person stopped it")),
                usage,
            );
        }
        if self.state.gathering().is_some() {
            self.release_piece(crate::model::gathering::HoldEnd::Stopped, None, None);
            self.emit(Event::GuardTripped { guard: Guard::Stopped });
        }
        Ok(())
    }

    /// Records that the words of an event, and summaries made of them, are erased.
    fn redact(&mut self, seq: Seq, message: bool, by: &Actor) -> Result<(), Rejection> {
        self.check_human(by)?;
        if seq == Seq(0) || seq > self.state.head {
            return Err(Rejection::new(
                Refusal::NotFound,
                "unknown_event",
                "this conversation has no such event",
            ));
        }
        let summaries = self.state.summaries.of_words_at(seq);
        self.emit(Event::Redacted { seq, by: by.id.clone(), message, summaries, edited: false });
        self.end_erased(seq);
        Ok(())
    }

    /// Records the downtime of the server, so that the clocks of open turns, of requests and of a
    /// gathering stand still for it. Without any of these, records nothing.
    fn shift_clock(&mut self, downtime: Millis) {
        let asked = self.state.requests_asked().next().is_some();
        let waits =
            self.state.open_turns().next().is_some() || self.state.gathering().is_some() || asked;
        if waits && downtime > Millis(0) {
            self.emit(Event::ClockShifted { downtime });
        }
    }

    /// Carries out everything whose time has come: overdue questions and requests, deadlines of
    /// turns, turns of clients that have gone, the patience with an awaited turn, the hourly sums
    /// of refused words, and the clock of a gathering. The host calls it when the next of these is
    /// due.
    fn tick(&mut self) {
        let now = self.now;
        // First, because the end of a question restarts its turn's clock and moves the deadline.
        self.end_overdue_cards();
        let expired: Vec<_> = self
            .state
            .open_turns()
            .filter(|turn| turn.frozen_since.is_none() && turn.deadline <= now)
            .map(|turn| turn.no)
            .collect();
        for turn in expired {
            self.expire(turn);
        }
        self.end_turns_of_the_gone();
        self.release_awaited();
        self.tell_of_the_unkept();
        self.beat();
    }

    pub(crate) fn check_open(&self) -> Result<(), Rejection> {
        if !self.state.archived {
            return Ok(());
        }
        Err(Rejection::new(
            Refusal::Conflict,
            "thread_archived",
            "This conversation is archived. Unarchive it first.",
        ))
    }

    /// Rejects names that are reserved for the server and names that look like a person or the
    /// operator. People whom the server knows and existing participants keep their names. Only the
    /// server acts as a person named `moothall`: no surface gives a caller that name.
    pub(crate) fn check_speaker(&self, actor: &Actor) -> Result<(), Rejection> {
        if actor.human && actor.id.as_str() == ParticipantId::MOOTHALL {
            return Ok(());
        }
        self.check_named(&actor.id, actor.human || self.state.participant(&actor.id).is_some())
    }

    /// Rejects an invalid or reserved id. If `is_known`, ids that look like a person or the
    /// operator pass.
    pub(crate) fn check_named(&self, id: &ParticipantId, is_known: bool) -> Result<(), Rejection> {
        if id.as_str() == ParticipantId::USER {
            return Ok(());
        }
        names::check_name_of(id.as_str(), is_known).map_err(|fault| {
            let rule = "use 1 to 64 of A-Z a-z 0-9 . _ : - and no reserved name";
            Rejection::new(
                Refusal::Invalid,
                "invalid_participant",
                format!("`{id}` {}: {rule}.", fault.explain()),
            )
            .about(id)
        })
    }

    /// True if the server or the conversation knows the actor as a person. For a muted actor, only
    /// the server's word counts.
    pub(crate) fn is_human(&self, actor: &Actor) -> bool {
        actor.human || (self.state.is_human(&actor.id) && !self.state.muted.contains(&actor.id))
    }

    /// True if the actor may decide as a person who else is a person: with a proof, or as `user`,
    /// whom local mode takes at their word.
    pub(crate) fn is_person(&self, actor: &Actor) -> bool {
        self.is_human(actor) && (actor.proven || actor.id.as_str() == ParticipantId::USER)
    }

    pub(crate) fn check_human(&self, actor: &Actor) -> Result<(), Rejection> {
        if self.is_human(actor) {
            return Ok(());
        }
        let message = "Only people may do this. Agents can only invite and uninvite.";
        Err(Rejection::new(Refusal::Forbidden, "humans_only", message).about(&actor.id))
    }
}

/// Number of agents from which polled turns get half the time. (Ruling 12.)
const MANY_AGENTS: usize = 5;

/// Returns a title as it is stored: one trimmed line without bidirectional controls, or `Untitled`
/// if no character of it is visible.
///
/// # Errors
/// `title_too_long` above [`NAME_CHARS_MAX`] characters.
pub fn title(given: &str) -> Result<String, Rejection> {
    let clean: String = text::clean(given).chars().filter(|c| !text::is_bidi(*c)).collect();
    let name = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.chars().count() > NAME_CHARS_MAX {
        let message = format!("A title has at most {NAME_CHARS_MAX} characters.");
        return Err(Rejection::new(Refusal::Invalid, "title_too_long", message));
    }
    Ok(if text::is_empty_looking(&name) { "Untitled".into() } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::command::{Control, Invite, Post};
    use crate::model::event::Change;
    use crate::model::participant::{AgentFacts, Kind, Profile};
    use crate::policy::Policy;

    #[test]
    fn participants_of_older_logs_keep_names_that_are_refused_now() {
        let (mut state, now, facts) =
            (Conversation::new("s".into()), Timestamp::from_millis(1), Facts::default());
        let created = Event::Created {
            name: "old".into(),
            by: "user".into(),
            policy: Policy::default(),
            task: None,
            folder: None,
        };
        let profile = Profile {
            client: Some("x".into()),
            model: Some("m".into()),
            nickname: Some("You".into()),
            ..Profile::default()
        };
        let invited = Change::Invited {
            participant: "admin".into(),
            kind: Kind::Agent,
            given: profile.clone(),
            profile,
            facts: AgentFacts::external(),
            skeleton: "you".into(),
            address: None,
            full_name: None,
            number: None,
            part: None,
            reach: None,
        };
        let changes = vec![invited];
        let controlled = Event::Controlled { by: "user".into(), changes, unproven: false };
        for (seq, event) in [(1, created), (2, controlled)] {
            state.apply(&RecordedEvent { seq: Seq(seq), ts: now, event });
        }
        let posted = state.decide(
            now,
            ClientCommand::Post(Post::new(Actor::named("admin"), "still here")),
            &facts,
        );
        assert_eq!((posted.outcome, posted.events.len()), (Ok(()), 1));
        let renamed = Profile { nickname: Some("Ada".into()), ..Profile::default() };
        let again = Control::Invite(Invite::new("admin", renamed, AgentFacts::external()));
        let by = Actor::human("user");
        let again = ClientCommand::Control { by, controls: vec![again] };
        assert_eq!(state.decide(now, again, &facts).outcome, Ok(()));
    }
}
