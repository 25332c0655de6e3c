//! The state of the machine, and its handling of each input.

use std::collections::VecDeque;

use moothall_engine::agent::{Job, Probe, Report, TurnKey};
use moothall_engine::ports::{DeliveryState, Durability};
use moothall_engine::sessions::{
    Activity, HostFault, Key, Origin, PaneState, Session, SessionError,
};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::time::Millis;

use super::asks::Questions;
use super::io::{Around, Input, Output, PaneContent, Reply, RequestId, UnfinishedDelivery};
use super::stage::{Current, LateTurn, PromptSource, Stage, UnreadableScreen};
use super::wait::Wait;
use crate::faults::host_error;
use crate::tags::TagKey;

/// Number of ended turns that are remembered, so that late news about them is ignored.
const OVER_MAX: usize = 256;
/// Pause before the machine looks again at a terminal that it could not read.
const LOOK_AGAIN: Millis = Millis::from_secs(3);
/// Number of terminal lines that are searched for a tag.
const SEARCHED_LINES: usize = 2000;

/// The turns of one session. See the module.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) session: Session,
    pub(super) tags: TagKey,
    /// Turns that wait for the terminal.
    pub(super) queue: VecDeque<Box<Job>>,
    /// The turn that has the terminal.
    pub(super) current: Option<Current>,
    /// A turn that was taken away or given up after its typing began. Its answer comes late.
    pub(super) late: Option<LateTurn>,
    /// The newest turns that ended here, oldest first.
    over: VecDeque<TurnKey>,
    pub(super) typed: PromptSource,
    /// The tag of the newest turn whose end was read from the record, until the next prompt. A
    /// report that arrives later repeats that end.
    pub(super) settled: Option<String>,
    /// True if the program worked outside our turns and has not reported why. Its report may be
    /// lost.
    pub(super) is_unexplained: bool,
    /// True if the program was idle since the last end of a turn.
    pub(super) was_idle: bool,
    /// The newest prompt of a person that was read from the record. A report that arrives later
    /// repeats that prompt.
    pub(super) recorded_prompt: Option<String>,
    /// The last prompt of a report, or the tag of the last turn that was read from the record.
    pub(super) reported: Option<String>,
    /// The program's own id of the newest turn that the record showed since the last report.
    pub(super) seen_turn: Option<String>,
    /// Number of prompts reported so far, for programs that report all of them each time.
    pub(super) inputs_seen: Option<usize>,
    pub(super) state: PaneState,
    /// True while a person types in the terminal from afar.
    pub(super) is_taken: bool,
    /// True if a person's words are in the composer of the idle program.
    pub(super) has_draft: bool,
    /// True if the program has drawn a screen of its own.
    pub(super) drawn: bool,
    /// True if the reports written while the server was down have been read.
    pub(super) caught_up: bool,
    pub(super) questions: Questions,
    /// Screen content that only a person at the terminal can read or answer.
    pub(super) unread: Option<UnreadableScreen>,
    /// The time that a person has to answer, if the operator set one.
    pub(super) question_limit: Option<Millis>,
    /// The time at which an idle screen means that no report will come.
    pub(super) grace: Option<Millis>,
    /// The time at which the machine stops waiting for the reports from before a restart.
    pub(super) catch_up_by: Option<Millis>,
    /// The time of the next look at the terminal, even if it has not drawn.
    pub(super) look_at: Option<Millis>,
    /// The time of the next retry after a failed write or keystroke.
    pub(super) retry_at: Option<Millis>,
    alarm: Option<Millis>,
    wait: Wait,
    inbox: VecDeque<Input>,
    /// The fault for turns that are offered after the session ended.
    ended: Option<Fault>,
    pub(super) out: Vec<Output>,
}

impl Machine {
    /// Creates the machine of a session from the leftovers of an earlier process: its open
    /// deliveries, and the permissions it asked for outside turns, with their conversations.
    pub fn new(
        session: Session,
        earlier: Vec<UnfinishedDelivery>,
        asked: Vec<(StreamId, PermissionId)>,
    ) -> Self {
        // A program that has reported before, or that was started outside the server, drew its
        // screen long ago.
        let drawn = session.native.is_some() || session.origin == Origin::Observed;
        let (queue, over, questions, wait, inbox, out) = <_>::default();
        let mut machine = Self {
            tags: TagKey::of(&session),
            session,
            queue,
            current: None,
            late: None,
            over,
            typed: PromptSource::Nothing,
            settled: None,
            is_unexplained: false,
            was_idle: false,
            recorded_prompt: None,
            reported: None,
            seen_turn: None,
            inputs_seen: None,
            state: PaneState::Starting,
            drawn,
            caught_up: false,
            questions,
            has_draft: false,
            is_taken: false,
            unread: None,
            question_limit: None,
            grace: None,
            catch_up_by: None,
            look_at: None,
            retry_at: None,
            alarm: None,
            wait,
            inbox,
            ended: None,
            out,
        };
        earlier.into_iter().for_each(|earlier| machine.resume(earlier));
        machine.remember_asked(asked);
        machine
    }

    /// Handles one input and returns the outputs that follow.
    pub fn handle(&mut self, around: &Around<'_>, input: Input) -> Vec<Output> {
        self.question_limit = around.question_limit;
        match input {
            Input::Seen(seen) => self.handle_view(around, seen.map(|seen| *seen)),
            Input::Marked(result) => self.marked(around, result),
            Input::Pasted(result) => self.pasted(around, result),
            Input::Pressed(result) => self.pressed(around, result),
            Input::Kept(result) => self.handle_keep_result(around, result),
            Input::Recalled(answer) => self.handle_recalled_answer(answer),
            Input::LookedUp(record) => self.looked_up(around, record),
            queued @ (Input::Offered(_)
            | Input::Begun { .. }
            | Input::TakenAway { .. }
            | Input::Hook { .. }
            | Input::Asked { .. }
            | Input::GaveUp(_)
            | Input::CaughtUp
            | Input::Drawn
            | Input::Look(_)
            | Input::Permitted { .. }
            | Input::Interrupt(_)
            | Input::Taken(_)
            | Input::Ended(_)
            | Input::Tick) => self.inbox.push_back(queued),
        }
        while !self.is_waiting()
            && let Some(next) = self.inbox.pop_front()
        {
            self.take(around, next);
        }
        self.set_alarm();
        std::mem::take(&mut self.out)
    }

    /// Handles an input of the inbox. `handle` calls this function only while the machine waits for
    /// no answer.
    fn take(&mut self, around: &Around<'_>, input: Input) {
        match input {
            Input::Offered(job) => self.take_offer(around, job),
            Input::Begun { key, delivery } => self.confirm_start(&key, delivery),
            Input::TakenAway { key, interrupt, delivery } => {
                self.take_away(around, &key, interrupt, delivery)
            }
            Input::Hook { id, hook } => self.hear(around, id, hook),
            Input::Asked { id, hook } => self.asked_by_hook(id, hook),
            Input::GaveUp(id) => self.hook_gave_up(id),
            Input::CaughtUp => {
                self.caught_up = true;
                self.look(true, None);
            }
            Input::Drawn => self.look(true, None),
            Input::Look(id) => self.look(true, Some(id)),
            Input::Permitted { permission, given } => self.permitted(&permission, given.as_ref()),
            Input::Interrupt(id) => self.interrupt(id),
            Input::Taken(on) => {
                self.is_taken = on;
                self.look(true, None);
            }
            Input::Ended(why) => self.end_all_turns(&why),
            Input::Tick => self.tick(around),
            // `handle` deals with answers immediately, so they never enter the inbox.
            Input::Seen(_)
            | Input::Marked(_)
            | Input::Pasted(_)
            | Input::Pressed(_)
            | Input::Kept(_)
            | Input::Recalled(_)
            | Input::LookedUp(_) => {}
        }
    }

    /// Returns the session, including the program's own id for its conversation.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the session's activity, as clients see it.
    pub fn doing(&self) -> Activity {
        match (self.ended.is_some(), self.questions.is_any(), self.state) {
            (true, _, _) => Activity::Ended,
            (false, true, _) | (false, _, PaneState::Asking) => Activity::Asking,
            (false, _, PaneState::Starting)
                if self.unread.is_some_and(|unread| unread.announced) =>
            {
                Activity::Asking
            }
            (false, _, PaneState::Starting) => Activity::Starting,
            (false, _, PaneState::Idle) if self.has_draft => Activity::Drafting,
            (false, _, PaneState::Idle)
                if self.current.is_none() && self.typed == PromptSource::Nothing =>
            {
                Activity::Idle
            }
            (false, _, PaneState::Idle | PaneState::Busy | PaneState::Shell | PaneState::Gone) => {
                Activity::Busy
            }
        }
    }

    /// Returns the number of turns that wait for the terminal.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Returns the progress of a turn.
    pub fn probe(&self, key: &TurnKey) -> Probe {
        match self.current.as_ref().filter(|current| current.key == *key) {
            Some(current) if current.stage >= Stage::Sent => Probe::Running,
            Some(_) => Probe::Waiting,
            None => Probe::Unknown,
        }
    }

    /// True if the machine waits for the answer to one of its outputs.
    pub fn is_waiting(&self) -> bool {
        !matches!(self.wait, Wait::Nothing)
    }

    pub(super) fn ask(&mut self, question: Output, wait: Wait) {
        self.out.push(question);
        self.wait = wait;
    }

    /// Takes the purpose of the output that waits for an answer, to match an answer with it.
    pub(super) fn answered(&mut self) -> Wait {
        std::mem::take(&mut self.wait)
    }

    /// Restores the purpose of the waiting output, because the answer did not belong to it.
    pub(super) fn put_back(&mut self, wait: Wait) {
        self.wait = wait;
    }

    /// Queues an offered turn, or replaces the job of a queued one. If the turn has the terminal
    /// already, it takes the job only if it lacks one, as after a restart. An offer of an ended
    /// turn is ignored. After the end of the session, the offered turn fails.
    fn take_offer(&mut self, around: &Around<'_>, job: Box<Job>) {
        if self.over.contains(&job.key) {
            return;
        }
        if let Some(fault) = self.ended.clone() {
            return self.fail(&job.key, fault);
        }
        if let Some(current) = self.current.as_mut().filter(|current| current.key == job.key) {
            // A turn that has a job keeps its words, because their range is on its way to the log.
            if current.job.is_none() {
                current.job = Some(job);
                self.tell_of_all();
            }
        } else if let Some(waiting) = self.queue.iter_mut().find(|waiting| waiting.key == job.key) {
            *waiting = job;
        } else {
            self.queue.push_back(job);
            self.ask_where_words_wait(around);
        }
        self.advance();
    }

    /// Makes an offered turn ready to be typed: its start is committed. If the turn has ended
    /// meanwhile, its row is closed.
    fn confirm_start(&mut self, key: &TurnKey, delivery: Option<u64>) {
        if self.over.contains(key) {
            return self.drop_row(delivery);
        }
        let Some(current) = self
            .current
            .as_mut()
            .filter(|current| current.key == *key && current.stage == Stage::Offered)
        else {
            return;
        };
        current.stage = Stage::Begun;
        current.delivery = current.delivery.or(delivery);
        self.advance();
    }

    /// Takes a turn away. If its prompt was sent, presses Escape, unless the turn's time limit has
    /// expired: that presses no key.
    fn take_away(
        &mut self,
        around: &Around<'_>,
        key: &TurnKey,
        interrupt: bool,
        delivery: Option<u64>,
    ) {
        // An offer of this turn may still be on its way, and must not bring the turn back.
        self.note_over(key);
        self.queue.retain(|job| job.key != *key);
        let Some(mut current) = self.current.take_if(|current| current.key == *key) else {
            self.drop_row(delivery);
            return self.ask_where_words_wait(around);
        };
        current.delivery = current.delivery.or(delivery);
        self.questions.clear(&mut self.out);
        if current.stage >= Stage::Typing {
            self.late = Some(LateTurn { lapsed: !interrupt, ..LateTurn::of(&current) });
        }
        self.mark(&current, &OPEN, DeliveryState::Failed, "the turn was taken away");
        if interrupt && current.stage >= Stage::Sent {
            self.ask(Output::Press { key: Key::Escape }, Wait::Escape);
        } else {
            self.look(true, None);
        }
    }

    /// Closes the row of a turn that ended before it had the terminal.
    fn drop_row(&mut self, delivery: Option<u64>) {
        let (from, to, lasting) =
            (vec![DeliveryState::Pending], DeliveryState::Failed, Durability::Written);
        let evidence = "its turn was over before it was typed".to_owned();
        self.out.extend(delivery.map(|delivery| Output::Mark {
            delivery,
            from,
            to,
            evidence,
            lasting,
        }));
    }

    /// Handles a request to interrupt the program. If a turn's prompt was sent, the reply names the
    /// turn, and the caller must cancel it, because its conversation must record that first.
    /// Otherwise presses Escape.
    fn interrupt(&mut self, id: RequestId) {
        match self.current.as_ref().filter(|current| current.stage >= Stage::Sent) {
            Some(current) => {
                let reply = Reply::Interrupted(Ok(Some(current.key.clone())));
                self.out.push(Output::Reply { id, reply });
            }
            None => self.ask(Output::Press { key: Key::Escape }, Wait::Interrupt(id)),
        }
    }

    /// Ends all turns and questions of the session. A turn offered later fails immediately.
    fn end_all_turns(&mut self, why: &str) {
        let fault = Fault::new("session_ended", format!("its session has ended: {why}"));
        self.ended = Some(fault.clone());
        if let Some(current) = self.current.take() {
            // The program may have the prompt in its memory, so a resumed session must not get it
            // again.
            let prompt_delivered = current.stage >= Stage::Typing;
            let state =
                if prompt_delivered { DeliveryState::Unknown } else { DeliveryState::Failed };
            self.mark(&current, &OPEN, state, why);
            self.fail(&current.key, Fault { prompt_delivered, ..fault.clone() });
        }
        for job in std::mem::take(&mut self.queue) {
            self.fail(&job.key, fault.clone());
        }
        self.questions.clear(&mut self.out);
        (self.grace, self.look_at, self.retry_at) = (None, None, None);
    }

    /// Looks at the screen if a turn waits to be typed. Does nothing while a retry is due or a
    /// person has the terminal, and after the end of the session.
    pub(super) fn advance(&mut self) {
        if self.has_next() {
            self.ask(Output::See { lines: None }, Wait::Free);
        }
    }

    pub(super) fn has_next(&self) -> bool {
        match &self.current {
            _ if self.ended.is_some() || self.retry_at.is_some() || self.is_taken => false,
            None => !self.queue.is_empty(),
            Some(current) => current.stage == Stage::Begun && current.job.is_some(),
        }
    }

    /// Gives the terminal to the next turn and reports its start. Typing waits until that start is
    /// committed.
    pub(super) fn offer(&mut self) {
        let Some(job) = self.queue.pop_front() else { return };
        self.report(&job.key, Report::Started { through: job.through });
        self.settled = None;
        let (key, tag) = (job.key.clone(), self.tags.tag_of(&job.key));
        let (stage, job) = (Stage::Offered, Some(job));
        self.current = Some(Current {
            key,
            tag,
            stage,
            delivery: None,
            job,
            sent_again: false,
            is_pasted: false,
            is_anew: false,
            is_doubtful: false,
        });
    }

    /// Looks at the terminal, with its history if an earlier process may have typed a prompt.
    pub(super) fn look(&mut self, patient: bool, looker: Option<RequestId>) {
        let is_typing = self.current.as_ref().is_some_and(|current| current.stage == Stage::Typing);
        self.ask(
            Output::See { lines: is_typing.then_some(SEARCHED_LINES) },
            Wait::Look { patient, looker },
        );
    }

    /// Does the first of these whose time has come: the look at the end of the grace period, other
    /// looks, or the retry of typing.
    fn tick(&mut self, around: &Around<'_>) {
        let now = around.now.steady;
        self.alarm = None;
        let due = |at: &mut Option<Millis>| at.take_if(|at| *at <= now).is_some();
        // Each branch emits an output that waits for an answer, and only one such output may be
        // outstanding. The next alarm brings the rest.
        if due(&mut self.grace) {
            self.ask(Output::See { lines: None }, Wait::Grace);
        } else if due(&mut self.look_at) {
            self.look(true, None);
        } else if due(&mut self.questions.due) {
            self.look(false, None);
        } else if due(&mut self.retry_at) {
            self.advance();
        }
    }

    /// Emits a wake-up if its time has changed.
    fn set_alarm(&mut self) {
        let alarm = [self.grace, self.look_at, self.questions.due, self.retry_at]
            .into_iter()
            .flatten()
            .min();
        if self.alarm != alarm {
            self.alarm = alarm;
            // The driver answers the last output, so an output that waits for an answer must stay
            // the last one.
            let place = self.out.len() - usize::from(self.is_waiting() && !self.out.is_empty());
            self.out.insert(place, Output::Wake { at: alarm });
        }
    }

    /// Passes the result of a key, or of a chosen option, to the step that waits for it.
    fn pressed(&mut self, around: &Around<'_>, result: Result<(), HostFault>) {
        match self.answered() {
            Wait::Enter => self.handle_send_result(around, result),
            Wait::Again if result.is_ok() => {}
            Wait::Again => self.handle_resend_result(around, &result),
            Wait::Found { looker, .. } if matches!(result, Err(HostFault::Refused(_))) => {
                self.found_covered(around, looker)
            }
            Wait::Found { tag_seen, looker } => {
                // If the tag was on the screen, the prompt counts as sent even after a failed key,
                // because `send_again` can press the key again.
                self.found_again(result.is_ok() || tag_seen, looker)
            }
            Wait::Escape => self.look(true, None),
            Wait::Interrupt(id) => {
                let reply = Reply::Interrupted(result.map(|()| None).map_err(host_error));
                self.out.push(Output::Reply { id, reply });
            }
            Wait::Choice(choice) => self.chosen(*choice, result),
            other => self.put_back(other),
        }
    }

    /// Notes the program's state and draft from a look, and passes the look to the step that waits
    /// for it. `None` stands for a failed look, which is repeated later.
    fn handle_view(&mut self, around: &Around<'_>, seen: Option<PaneContent>) {
        match &seen {
            Some(seen) => {
                self.state = seen.view.state;
                let is_drafted = self.is_drafted(&seen.view);
                if std::mem::replace(&mut self.has_draft, is_drafted) && !is_drafted {
                    // The draft was sent or deleted. The turn of a sent draft may be too short to
                    // be seen.
                    self.seen_own_work(around);
                }
            }
            // A failed look is repeated, because the terminal perhaps does not draw again.
            None => self.look_at = self.look_at.or(Some(around.after(LOOK_AGAIN))),
        }
        match self.answered() {
            Wait::Look { patient, looker } => self.handle_look(around, seen, patient, looker),
            Wait::Free => {
                if let Some(seen) = seen {
                    self.advance_on(&seen.view);
                }
            }
            Wait::Grace => self.grace_is_over(seen),
            Wait::Harvest => self.harvested(seen),
            other => self.put_back(other),
        }
    }

    pub(super) fn reply(&mut self, id: Option<RequestId>, reply: Reply) {
        self.out.extend(id.map(|id| Output::Reply { id, reply }));
    }

    pub(super) fn report(&mut self, key: &TurnKey, report: Report) {
        self.out.push(Output::Report { key: key.clone(), report });
    }

    /// Ends a turn with a fault.
    pub(super) fn fail(&mut self, key: &TurnKey, fault: Fault) {
        self.note_over(key);
        self.report(key, Report::Finished { result: Err(fault), usage: Usage::default() });
    }

    pub(super) fn note_over(&mut self, key: &TurnKey) {
        if !self.over.contains(key) {
            self.over.push_back(key.clone());
            let more = self.over.len().saturating_sub(OVER_MAX);
            self.over.drain(..more);
        }
    }

    /// Moves the row of a delivery to `to` if its state is one of `from`. The write needs no sync:
    /// terminals do not survive a power cut either.
    pub(super) fn mark(
        &mut self,
        current: &Current,
        from: &[DeliveryState],
        to: DeliveryState,
        evidence: &str,
    ) {
        if let Some(delivery) = current.delivery {
            let (from, evidence, lasting) =
                (from.to_vec(), evidence.to_owned(), Durability::Written);
            self.out.push(Output::Mark { delivery, from, to, evidence, lasting });
        }
    }
}

/// The states of an unfinished delivery.
pub(super) const OPEN: [DeliveryState; 4] =
    [DeliveryState::Pending, DeliveryState::Sending, DeliveryState::Sent, DeliveryState::Accepted];

/// Returns the reply after which a report is delivered again.
pub(super) fn not_now(error: SessionError) -> Reply {
    Reply::Heard(Err(error))
}
