//! The task of one session: one turn at a time goes into its terminal, and what it says goes to whoever asked.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::PermissionId;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::directory::Seat;
use super::hooks::{Heard, Hook, Permit};
use super::host::{HostFault, Key, PaneState, Reports, SessionHost, View};
use super::questions::Questions;
use super::tags::tag_of;
use super::watch::{Happened, Watching, at};
use super::{Doing, Session, SessionError, Sessions};
use crate::agent::{Job, Probe, Report, TurnKey};
use crate::inner::{Inner, report_to};
use crate::ports::DeliveryState;

/// An idle screen without a report is an interrupted turn after so long: reports are written before the screen is drawn.
const GRACE: Duration = Duration::from_secs(3);
/// The same for a prompt of which nobody knows yet whether the program took it.
const GRACE_UNSEEN: Duration = Duration::from_secs(15);

/// What a session's task is sent.
pub(super) enum Mail {
    /// Take this turn when its time comes.
    Ensure(Box<Job>),
    /// The start of a turn is kept.
    Begun(TurnKey),
    /// End a turn, because a person wants it.
    Cancel(TurnKey),
    /// A turn's time is over: what the program works on goes on, and is late.
    Lapse(TurnKey),
    /// What is known of a turn?
    Probe(TurnKey, oneshot::Sender<Probe>),
    /// The program reports.
    Hook(Hook, oneshot::Sender<Result<Heard, SessionError>>),
    /// The program wants to do what its report says, and waits.
    Ask(Hook, oneshot::Sender<Permit>),
    /// See whether what is asked is asked still.
    Look(oneshot::Sender<()>),
    /// A person answered, or nobody did.
    Permit(PermissionId, Option<String>),
    /// Interrupt what goes on; says whose turn that is, which is still to be cancelled.
    Interrupt(oneshot::Sender<Result<Option<TurnKey>, SessionError>>),
    /// End the session, for this reason.
    End(String, oneshot::Sender<Result<(), SessionError>>),
}

/// The turn that has the session.
pub(super) struct Current {
    pub(super) key: TurnKey,
    pub(super) tag: String,
    pub(super) stage: Stage,
    /// The delivery's row, once it is known.
    pub(super) delivery: Option<u64>,
    /// What to type; unknown after a restart until the conversation says it again.
    pub(super) job: Option<Box<Job>>,
    /// It came back into the composer, and was sent off once more.
    pub(super) sent_again: bool,
}

/// How far the turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Its start is on its way to the log.
    Offered,
    /// Its start is kept; it may be typed.
    Begun,
    /// An earlier process began to type it; the screen will say how far it came.
    Typing,
    /// It was typed and sent off.
    Sent,
    /// The program works, and says only at the end on what.
    Working,
    /// The program took it.
    Accepted,
}

/// Whose prompt the program works on, when it is not a turn's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// Nobody typed anything.
    Nothing,
    /// A person's words.
    Person,
    /// A reminder of the program's own surroundings; the answer to it is nobody's business.
    Checkpoint,
}

/// What woke the task.
enum Woken {
    Mail(Option<Mail>),
    Terminal(Happened),
    Grace,
    /// A hook does not wait for its answer any more.
    GaveUp(PermissionId),
    /// What is asked has stood there, or not, for long enough.
    Patience,
}

pub(super) struct Runner {
    pub(super) sessions: Sessions,
    pub(super) host: Arc<dyn SessionHost>,
    pub(super) session: Session,
    pub(super) seat: Arc<Seat>,
    inbox: mpsc::UnboundedReceiver<Mail>,
    pub(super) queue: VecDeque<Box<Job>>,
    pub(super) current: Option<Current>,
    /// A turn that was taken away while the program worked on it: what still comes of it is kept as late.
    pub(super) late: Option<TurnKey>,
    pub(super) typed: Typed,
    /// Prompts the program has reported, for programs that report all of them each time.
    pub(super) inputs_seen: Option<usize>,
    pub(super) state: PaneState,
    grace: Option<Instant>,
    pub(super) questions: Questions,
    /// The program has drawn a screen of its own.
    drawn: bool,
    pub(super) watching: Watching,
    pub(super) over: bool,
}

impl Runner {
    pub(super) fn new(
        sessions: Sessions,
        host: Arc<dyn SessionHost>,
        session: Session,
        seat: Arc<Seat>,
        inbox: mpsc::UnboundedReceiver<Mail>,
    ) -> Self {
        // One that was seen before, or that somebody else had running, has drawn its screen long ago.
        let drawn = session.native.is_some() || session.origin == super::Origin::Observed;
        Self {
            sessions,
            host,
            session,
            seat,
            inbox,
            queue: VecDeque::new(),
            current: None,
            late: None,
            typed: Typed::Nothing,
            inputs_seen: None,
            state: PaneState::Starting,
            grace: None,
            questions: Questions::default(),
            drawn,
            watching: Watching::default(),
            over: false,
        }
    }

    pub(super) async fn run(mut self) {
        if self.session.pane.is_none() {
            return self.ended("it never began").await;
        }
        self.recover().await;
        self.watch().await;
        while !self.over {
            self.tell();
            match self.next().await {
                Woken::Mail(Some(mail)) => self.open(mail).await,
                Woken::Mail(None) => return,
                Woken::Terminal(Happened::Drawn) => self.look().await,
                Woken::Terminal(Happened::Died) => self.died(),
                Woken::Terminal(Happened::Unwatched) => self.watch().await,
                Woken::Terminal(Happened::Doubted) => self.doubted().await,
                Woken::Grace => self.grace_is_over().await,
                Woken::GaveUp(permission) => self.hook_gave_up(&permission),
                Woken::Patience => {
                    self.questions.due = None;
                    self.see(false).await;
                }
            }
        }
        self.refuse_the_rest();
    }

    async fn next(&mut self) -> Woken {
        let (grace, patience) = (self.grace, self.questions.due);
        tokio::select! {
            biased;
            mail = self.inbox.recv() => Woken::Mail(mail),
            happened = self.watching.next() => Woken::Terminal(happened),
            permission = self.questions.given_up() => Woken::GaveUp(permission),
            () = at(grace) => Woken::Grace,
            () = at(patience) => Woken::Patience,
        }
    }

    async fn open(&mut self, mail: Mail) {
        match mail {
            Mail::Ensure(job) => self.ensure(job).await,
            Mail::Begun(key) => self.begun(&key).await,
            Mail::Cancel(key) => self.take_away(&key, Some(Key::Escape)).await,
            Mail::Lapse(key) => self.take_away(&key, None).await,
            Mail::Probe(key, reply) => drop(reply.send(self.probe(&key))),
            Mail::Hook(hook, reply) => {
                let heard = self.hear(hook).await;
                let _ = reply.send(heard);
                self.advance().await;
            }
            Mail::Ask(hook, reply) => self.ask_person(hook, reply).await,
            Mail::Look(reply) => {
                self.look().await;
                let _ = reply.send(());
            }
            Mail::Permit(permission, option) => self.permit(&permission, option.as_deref()).await,
            Mail::Interrupt(reply) => drop(reply.send(self.interrupt().await)),
            Mail::End(why, reply) => {
                let ended = self.end(&why).await;
                let _ = reply.send(ended);
            }
        }
    }

    /// Everybody can read what the session is doing.
    pub(super) fn tell(&self) {
        let doing = match (self.over, self.questions.is_any(), self.state) {
            (true, _, _) => Doing::Ended,
            (false, true, _) | (false, _, PaneState::Asking) => Doing::Asking,
            (false, _, PaneState::Starting) => Doing::Starting,
            (false, _, PaneState::Idle) if self.current.is_none() && self.typed == Typed::Nothing => Doing::Idle,
            (false, _, PaneState::Idle | PaneState::Busy | PaneState::Shell | PaneState::Gone) => Doing::Busy,
        };
        if self.seat.update(&self.session, doing, self.queue.len()) {
            self.sessions.ring();
        }
    }

    async fn ensure(&mut self, job: Box<Job>) {
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
        }
        self.advance().await;
    }

    async fn begun(&mut self, key: &TurnKey) {
        if let Some(current) = self.current.as_mut().filter(|current| current.key == *key && current.stage == Stage::Offered) {
            current.stage = Stage::Begun;
            self.advance().await;
        }
    }

    fn probe(&self, key: &TurnKey) -> Probe {
        match self.current.as_ref().filter(|current| current.key == *key) {
            Some(current) if current.stage >= Stage::Sent => Probe::Running,
            Some(_) => Probe::Waiting,
            None => Probe::Unknown,
        }
    }

    /// A turn is interrupted by cancelling it, which the conversation has to hear first; other work by the key for it.
    async fn interrupt(&self) -> Result<Option<TurnKey>, SessionError> {
        match self.current.as_ref().filter(|current| current.stage >= Stage::Sent) {
            Some(current) => Ok(Some(current.key.clone())),
            None => self.press(Key::Escape).await.map(|()| None),
        }
    }

    /// A turn is taken away from the session. A person who wants that interrupts what goes on; time that is over presses no key.
    async fn take_away(&mut self, key: &TurnKey, interrupt: Option<Key>) {
        self.queue.retain(|job| job.key != *key);
        let Some(current) = self.current.take_if(|current| current.key == *key) else { return };
        self.questions.clear();
        if current.stage >= Stage::Sent {
            self.late = Some(current.key.clone());
            if let Some(key) = interrupt {
                let _ = self.press(key).await;
            }
        }
        self.mark(
            &current,
            &[DeliveryState::Pending, DeliveryState::Sending, DeliveryState::Sent, DeliveryState::Accepted],
            DeliveryState::Failed,
            "the turn was taken away",
        )
        .await;
        self.look().await;
    }

    /// Gives the terminal to the next turn as far as it can be.
    pub(super) async fn advance(&mut self) {
        if self.over {
            return;
        }
        let ready = match &self.current {
            None => !self.queue.is_empty(),
            Some(current) => current.stage == Stage::Begun && current.job.is_some(),
        };
        if !ready || !self.is_free().await {
            return;
        }
        match &self.current {
            None => self.offer(),
            Some(_) => self.deliver().await,
        }
    }

    fn offer(&mut self) {
        let Some(job) = self.queue.pop_front() else { return };
        self.report(&job.key, Report::Started { through: job.through });
        let (key, tag) = (job.key.clone(), tag_of(&job.key));
        self.current = Some(Current { key, tag, stage: Stage::Offered, delivery: None, job: Some(job), sent_again: false });
    }

    /// Whether something may be typed: the program waits, nobody has begun to type, and nothing is owed to anybody.
    async fn is_free(&mut self) -> bool {
        if self.typed != Typed::Nothing || self.late.is_some() {
            return false;
        }
        let Some(view) = self.view().await else { return false };
        view.state == PaneState::Idle && view.composer.is_none_or(|text| text.trim().is_empty())
    }

    pub(super) async fn view(&mut self) -> Option<View> {
        let pane = self.session.pane.clone()?;
        match self.host.view(&pane, &self.session.client).await {
            Ok(view) => {
                self.state = view.state;
                Some(view)
            }
            Err(HostFault::Gone(_)) => Some(View { state: PaneState::Gone, composer: None, dialog: None, text: String::new() }),
            Err(fault) => {
                tracing::warn!(session = %self.session.id, %fault, "its terminal cannot be seen");
                None
            }
        }
    }

    /// Something was drawn: see what the program is doing now.
    pub(super) async fn look(&mut self) {
        self.see(true).await;
    }

    /// The same; `patient` no longer where something has been waited for long enough.
    async fn see(&mut self, patient: bool) {
        self.settle_typing().await;
        let Some(view) = self.view().await else { return };
        self.drawn |= matches!(view.state, PaneState::Idle | PaneState::Busy | PaneState::Asking);
        // A program may be a script that has not given its place to the real one yet.
        let begins = view.state == PaneState::Shell && !self.drawn;
        if begins || !self.shows_program(&view) {
            return;
        }
        match view.state {
            PaneState::Gone | PaneState::Shell => {}
            PaneState::Starting => {
                self.grace = None;
                self.seen_unreadable(patient);
                self.seen_working(PaneState::Starting).await;
            }
            PaneState::Busy => {
                self.grace = None;
                self.seen_no_dialog();
                self.seen_working(PaneState::Busy).await;
            }
            PaneState::Asking => {
                self.grace = None;
                self.seen_working(PaneState::Asking).await;
                if let Some(dialog) = view.dialog {
                    self.seen_dialog(dialog, patient).await;
                }
            }
            PaneState::Idle => {
                self.seen_no_dialog();
                self.seen_idle(view).await;
            }
        }
        self.advance().await;
    }

    /// A program that does not report its prompts shows by working that it took one. Whether it was this one, a report of its end says.
    async fn seen_working(&mut self, state: PaneState) {
        let reports = self.reports();
        let sent = self.current.as_mut().filter(|current| current.stage == Stage::Sent);
        match (sent, reports.turns, state) {
            (Some(_), false, _) => self.accept().await,
            (Some(current), true, PaneState::Busy | PaneState::Asking) if !reports.prompts => current.stage = Stage::Working,
            (Some(_) | None, _, _) => {}
        }
    }

    async fn seen_idle(&mut self, view: View) {
        self.questions.forget_report();
        if self.send_again(view.composer.as_deref().unwrap_or_default()).await {
            self.grace = None;
            return;
        }
        let stage = self.current.as_ref().map(|current| current.stage).filter(|stage| *stage >= Stage::Sent);
        if stage.is_none() && self.typed == Typed::Nothing && self.late.is_none() {
            self.grace = None;
            return;
        }
        if !self.reports().turns && stage == Some(Stage::Accepted) {
            return self.finish_by_screen().await;
        }
        let patience = if stage == Some(Stage::Sent) { GRACE_UNSEEN } else { GRACE };
        self.grace.get_or_insert_with(|| Instant::now() + patience);
    }

    /// The program sits idle and has reported nothing: somebody interrupted it, or refused what it asked, or its prompt never arrived.
    async fn grace_is_over(&mut self) {
        self.grace = None;
        match self.view().await {
            Some(view) if view.state == PaneState::Idle => {}
            Some(_) | None => return,
        }
        self.late = None;
        self.typed = Typed::Nothing;
        if let Some(current) = self.current.take_if(|current| current.stage >= Stage::Sent) {
            let seen = current.stage >= Stage::Working || !self.reports().turns;
            let interrupted = || Fault::new("interrupted", "It was interrupted at its terminal.");
            let unknown = || Fault::new("delivery_unknown", "Its program did not say that it took the prompt; look at its terminal.");
            let fault = self.refusal().unwrap_or_else(|| if seen { interrupted() } else { unknown() });
            let end = if seen { DeliveryState::Failed } else { DeliveryState::Unknown };
            self.mark(&current, &[DeliveryState::Sent, DeliveryState::Accepted], end, &fault.message).await;
            // It was sent off: telling it once more would be to type it twice.
            self.fail_told(&current.key, &fault.code, &fault.message);
            self.questions.clear();
        }
        self.advance().await;
    }

    /// What the program reports by itself. One that somebody else started reports nothing here.
    pub(super) fn reports(&self) -> Reports {
        match self.session.origin {
            super::Origin::Started => self.host.reports(&self.session.client),
            super::Origin::Observed => Reports::default(),
        }
    }

    pub(super) async fn press(&self, key: Key) -> Result<(), SessionError> {
        match &self.session.pane {
            Some(pane) => self.host.press(pane, key).await.map_err(super::directory::host_error),
            None => Err(SessionError::Conflict("Its program has not begun yet.".into())),
        }
    }

    /// A turn ends without an answer.
    pub(super) fn fail(&self, key: &TurnKey, code: &str, message: &str) {
        self.report(key, Report::Finished { result: Err(Fault::new(code, message)), usage: Usage::default() });
    }

    /// The same, for a turn whose words the program has, or may have.
    pub(super) fn fail_told(&self, key: &TurnKey, code: &str, message: &str) {
        let fault = Fault { told: true, ..Fault::new(code, message) };
        self.report(key, Report::Finished { result: Err(fault), usage: Usage::default() });
    }

    pub(super) fn report(&self, key: &TurnKey, report: Report) {
        if let Some(hall) = self.hall() {
            report_to(&hall.weak(), key, report);
        }
    }

    pub(super) fn hall(&self) -> Option<Arc<Inner>> {
        self.sessions.hall().ok()
    }

    /// Whoever still waits for an answer hears that there is none.
    fn refuse_the_rest(&mut self) {
        self.inbox.close();
        while let Ok(mail) = self.inbox.try_recv() {
            if let Mail::Ensure(job) = mail {
                self.fail(&job.key, "session_ended", "its session has ended");
            }
        }
    }
}
