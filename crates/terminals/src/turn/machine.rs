//! What the machine holds, and what it does with each input.

use std::collections::VecDeque;

use moothall_engine::agent::{Job, Probe, Report, TurnKey};
use moothall_engine::ports::{DeliveryState, Durability};
use moothall_engine::sessions::{
    Activity, HostFault, Key, Origin, PaneState, Session, SessionError, View,
};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::time::Millis;

use super::asks::{Choice, HookQuestion, Questions};
use super::io::{Around, Input, Output, Reply, RequestId, Seen, UnfinishedDelivery};
use super::stage::{Current, Draft, LateTurn, Patience, PromptSource, Stage, UnreadableScreen};
use crate::faults::host_error;
use crate::tags::TagKey;

/// Turns that are remembered as over, so that late news of them do nothing.
const OVER_MAX: usize = 256;
/// When a terminal that could not be looked at is looked at again.
const LOOK_AGAIN: Millis = Millis::from_secs(3);
/// Lines of a terminal that are searched for a tag.
const SEARCHED_LINES: usize = 2000;

/// A session's turns. See the module.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) session: Session,
    pub(super) tags: TagKey,
    /// Turns that wait for the terminal.
    pub(super) queue: VecDeque<Box<Job>>,
    /// The turn that has the terminal.
    pub(super) current: Option<Current>,
    /// A turn that was taken away while the program worked on it: what still comes of it is kept as
    /// late.
    pub(super) late: Option<LateTurn>,
    /// Turns that are over here.
    over: VecDeque<TurnKey>,
    pub(super) typed: PromptSource,
    /// The tag of the newest turn whose end the record told, until the next prompt: a report that
    /// comes after all says the same once more.
    pub(super) settled: Option<String>,
    /// The program worked in no turn of ours and has not reported why: its report may not come.
    pub(super) is_unexplained: bool,
    /// It was idle since the last end of a turn.
    pub(super) was_idle: bool,
    /// The newest prompt of a person that the record told: a report that comes after all says the
    /// same once more.
    pub(super) retold: Option<String>,
    /// The last prompt that a report told, or the tag of the last turn that the record told.
    pub(super) reported: Option<String>,
    /// The program's own id of the newest turn that the record showed since the last report.
    pub(super) seen_turn: Option<String>,
    /// Prompts the program has reported, for programs that report all of them each time.
    pub(super) inputs_seen: Option<usize>,
    pub(super) state: PaneState,
    /// A person's words are in the composer of the idle program.
    pub(super) has_draft: bool,
    /// The program has drawn a screen of its own.
    pub(super) drawn: bool,
    /// What was reported while no server ran has been brought.
    pub(super) caught_up: bool,
    pub(super) questions: Questions,
    /// Something stands there that only a person at the terminal can read or answer.
    pub(super) unread: Option<UnreadableScreen>,
    /// The time that a person has to answer, if the operator set one.
    pub(super) question_limit: Option<Millis>,
    /// When an idle screen means that nothing more comes.
    pub(super) grace: Option<Millis>,
    /// When it is no longer waited for that.
    pub(super) catch_up_by: Option<Millis>,
    /// When the terminal is looked at without having drawn.
    pub(super) look_at: Option<Millis>,
    /// When what the log did not take is tried again.
    pub(super) retry_at: Option<Millis>,
    alarm: Option<Millis>,
    wait: Wait,
    inbox: VecDeque<Input>,
    /// What is said to turns that come when the session is over.
    ended: Option<Fault>,
    pub(super) out: Vec<Output>,
}

/// The question that is outstanding, and what it is for.
#[derive(Clone, Debug, Default)]
pub(super) enum Wait {
    /// No question is outstanding.
    #[default]
    Nothing,
    /// The screen, to see what the program does; for somebody who waits for that. `patient` no
    /// longer where it stood so for a while.
    Look { patient: bool, looker: Option<RequestId> },
    /// The screen, to see whether something may be typed.
    Free,
    /// The screen, to see whether nothing more comes.
    Grace,
    /// The history, for the words of a program without reports.
    Harvest,
    /// Whether it is kept that the prompt is about to be typed.
    Row,
    /// Whether the prompt is in the composer.
    Paste,
    /// The key that sends the prompt off.
    Enter,
    /// The same, once more.
    Again,
    /// The same, for a prompt that was found in the composer after a restart; whether its tag was
    /// seen.
    Found { tag_seen: bool, looker: Option<RequestId> },
    /// The key that interrupts, for a turn that was taken away.
    Escape,
    /// The same, for somebody who wants to know.
    Interrupt(RequestId),
    /// The key of an option.
    Choice(Box<Choice>),
    /// The program's own record of the turn, beside the idle screen that was seen.
    LookUp { view: Box<View>, patience: Patience },
    /// The same, of the newest turn, which nothing has explained.
    LookUpNewest { view: Box<View> },
    /// The same, of a prompt of which the screen shows no trace after a restart.
    Untraced { looker: Option<RequestId> },
    /// What follows from a report.
    Keep(Box<Draft>),
    /// What was answered to a hook's question before.
    Recall(Box<HookQuestion>),
}

impl Machine {
    /// A session that is taken up, with what an earlier process left of it: deliveries, and what it
    /// asked people in no turn, in which conversations.
    pub fn new(
        session: Session,
        earlier: Vec<UnfinishedDelivery>,
        asked: Vec<(StreamId, PermissionId)>,
    ) -> Self {
        // One that was seen before, or that somebody else had running, has drawn its screen long
        // ago.
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
            retold: None,
            reported: None,
            seen_turn: None,
            inputs_seen: None,
            state: PaneState::Starting,
            drawn,
            caught_up: false,
            questions,
            has_draft: false,
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

    /// Takes what happened. What it wants now comes back.
    pub fn handle(&mut self, around: &Around<'_>, input: Input) -> Vec<Output> {
        self.question_limit = around.question_limit;
        match input {
            Input::Seen(seen) => self.seen(around, seen.map(|seen| *seen)),
            Input::Marked(result) => self.marked(around, result),
            Input::Pasted(result) => self.pasted(around, result),
            Input::Pressed(result) => self.pressed(around, result),
            Input::Kept(result) => self.kept(around, result),
            Input::Recalled(answer) => self.recalled(answer),
            Input::LookedUp(record) => self.looked_up(around, record),
            told @ (Input::Offered(_)
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
            | Input::Ended(_)
            | Input::Tick) => self.inbox.push_back(told),
        }
        while !self.is_waiting()
            && let Some(next) = self.inbox.pop_front()
        {
            self.take(around, next);
        }
        self.set_alarm();
        std::mem::take(&mut self.out)
    }

    fn take(&mut self, around: &Around<'_>, input: Input) {
        match input {
            Input::Offered(job) => self.offered(around, job),
            Input::Begun { key, delivery } => self.begun(&key, delivery),
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
            Input::Ended(why) => self.ended(&why),
            Input::Tick => self.tick(around),
            // Answers are dealt with at once.
            Input::Seen(_)
            | Input::Marked(_)
            | Input::Pasted(_)
            | Input::Pressed(_)
            | Input::Kept(_)
            | Input::Recalled(_)
            | Input::LookedUp(_) => {}
        }
    }

    /// The session, with what the program said of itself.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What the session is doing, for everybody to read.
    pub fn doing(&self) -> Activity {
        match (self.ended.is_some(), self.questions.is_any(), self.state) {
            (true, _, _) => Activity::Ended,
            (false, true, _) | (false, _, PaneState::Asking) => Activity::Asking,
            (false, _, PaneState::Starting) if self.unread.is_some_and(|unread| unread.told) => {
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

    /// Turns that wait for it.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// What is known about a turn.
    pub fn probe(&self, key: &TurnKey) -> Probe {
        match self.current.as_ref().filter(|current| current.key == *key) {
            Some(current) if current.stage >= Stage::Sent => Probe::Running,
            Some(_) => Probe::Waiting,
            None => Probe::Unknown,
        }
    }

    /// Whether a question of its own is outstanding.
    pub fn is_waiting(&self) -> bool {
        !matches!(self.wait, Wait::Nothing)
    }

    pub(super) fn ask(&mut self, question: Output, wait: Wait) {
        self.out.push(question);
        self.wait = wait;
    }

    /// What an answer is the answer to.
    pub(super) fn answered(&mut self) -> Wait {
        std::mem::take(&mut self.wait)
    }

    /// It is the answer to something else.
    pub(super) fn put_back(&mut self, wait: Wait) {
        self.wait = wait;
    }

    fn offered(&mut self, around: &Around<'_>, job: Box<Job>) {
        if self.over.contains(&job.key) {
            return;
        }
        if let Some(fault) = self.ended.clone() {
            return self.fail(&job.key, fault);
        }
        if let Some(current) = self.current.as_mut().filter(|current| current.key == job.key) {
            // One that was offered already keeps the words whose range is on its way to the log.
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

    fn begun(&mut self, key: &TurnKey, delivery: Option<u64>) {
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

    /// A turn is taken away. A person who wants that interrupts what goes on; time that is over
    /// presses no key.
    fn take_away(
        &mut self,
        around: &Around<'_>,
        key: &TurnKey,
        interrupt: bool,
        delivery: Option<u64>,
    ) {
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

    /// The row of a turn that was over before it had the terminal.
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

    /// A turn is interrupted by cancelling it, which the conversation has to hear first; other work
    /// by the key for it.
    fn interrupt(&mut self, id: RequestId) {
        match self.current.as_ref().filter(|current| current.stage >= Stage::Sent) {
            Some(current) => {
                let reply = Reply::Interrupted(Ok(Some(current.key.clone())));
                self.out.push(Output::Reply { id, reply });
            }
            None => self.ask(Output::Press { key: Key::Escape }, Wait::Interrupt(id)),
        }
    }

    /// The session is over: all its turns end.
    fn ended(&mut self, why: &str) {
        let fault = Fault::new("session_ended", format!("its session has ended: {why}"));
        self.ended = Some(fault.clone());
        if let Some(current) = self.current.take() {
            let state = if current.stage >= Stage::Sent {
                DeliveryState::Unknown
            } else {
                DeliveryState::Failed
            };
            self.mark(&current, &OPEN, state, why);
            self.fail(&current.key, fault.clone());
        }
        for job in std::mem::take(&mut self.queue) {
            self.fail(&job.key, fault.clone());
        }
        self.questions.clear(&mut self.out);
        (self.grace, self.look_at, self.retry_at) = (None, None, None);
    }

    /// Gives the terminal to the next turn as far as it can be.
    pub(super) fn advance(&mut self) {
        if self.has_next() {
            self.ask(Output::See { lines: None }, Wait::Free);
        }
    }

    pub(super) fn has_next(&self) -> bool {
        match &self.current {
            _ if self.ended.is_some() || self.retry_at.is_some() => false,
            None => !self.queue.is_empty(),
            Some(current) => current.stage == Stage::Begun && current.job.is_some(),
        }
    }

    /// The terminal is the next turn's, as soon as its start is kept.
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

    /// Looks at the terminal; far back where it has to be found out whether a prompt was typed.
    pub(super) fn look(&mut self, patient: bool, looker: Option<RequestId>) {
        let is_typing = self.current.as_ref().is_some_and(|current| current.stage == Stage::Typing);
        self.ask(
            Output::See { lines: is_typing.then_some(SEARCHED_LINES) },
            Wait::Look { patient, looker },
        );
    }

    fn tick(&mut self, around: &Around<'_>) {
        let now = around.now.steady;
        self.alarm = None;
        let due = |at: &mut Option<Millis>| at.take_if(|at| *at <= now).is_some();
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

    /// Says when to look again, where that is another time than was said.
    fn set_alarm(&mut self) {
        let alarm = [self.grace, self.look_at, self.questions.due, self.retry_at]
            .into_iter()
            .flatten()
            .min();
        if self.alarm != alarm {
            self.alarm = alarm;
            // A question is the last of what is wanted.
            let place = self.out.len() - usize::from(self.is_waiting() && !self.out.is_empty());
            self.out.insert(place, Output::Wake { at: alarm });
        }
    }

    /// The answer to a key.
    fn pressed(&mut self, around: &Around<'_>, result: Result<(), HostFault>) {
        match self.answered() {
            Wait::Enter => self.sent_off(around, result),
            Wait::Again if result.is_ok() => {}
            Wait::Again => self.not_again(around, &result),
            Wait::Found { looker, .. } if matches!(result, Err(HostFault::Refused(_))) => {
                self.found_covered(around, looker)
            }
            Wait::Found { tag_seen, looker } => {
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

    fn seen(&mut self, around: &Around<'_>, seen: Option<Seen>) {
        match &seen {
            Some(seen) => {
                self.state = seen.view.state;
                let is_drafted = self.is_drafted(&seen.view);
                if std::mem::replace(&mut self.has_draft, is_drafted) && !is_drafted {
                    // It was sent off, or deleted; its turn may be too short to be seen.
                    self.seen_own_work(around);
                }
            }
            // It may have drawn what nobody saw.
            None => self.look_at = self.look_at.or(Some(around.after(LOOK_AGAIN))),
        }
        match self.answered() {
            Wait::Look { patient, looker } => self.looked(around, seen, patient, looker),
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

    /// A turn ends without an answer.
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

    /// Moves the row of a delivery on, from whichever of these states it is in. What a crash of the
    /// process leaves is enough: the terminals do not survive a power cut either.
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

/// The states of a delivery that is not over.
pub(super) const OPEN: [DeliveryState; 4] =
    [DeliveryState::Pending, DeliveryState::Sending, DeliveryState::Sent, DeliveryState::Accepted];

/// Why a report is to be brought again.
pub(super) fn not_now(error: SessionError) -> Reply {
    Reply::Heard(Err(error))
}
