//! The task of one session: it feeds inputs to the machine, carries out the outputs, and waits.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::Poll;
use std::time::Duration;

use moothall_engine::agent::TurnKey;
use moothall_engine::answers::HallError;
use moothall_engine::crash;
use moothall_engine::ports::{DeliveryState, PendingDeliveries};
use moothall_engine::residents::ResidentHall;
use moothall_engine::sessions::{
    Hook, HookNews, Origin, Permit, ReportOutcome, Reports, Session, SessionError, SessionHost,
    target,
};
use moothall_engine::stream::Now;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::time::Millis;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::directory::{SessionHandle, Sessions};
use crate::faults::host_error;
use crate::mail::Mail;
use crate::tools::ToolLook;
use crate::turn::{Around, Input, Machine, Reply, RequestId, UnfinishedDelivery};
use crate::watching::{TerminalConnection, TerminalEvent, Typist, at};

/// A caller who waits for a reply of the machine. The caller may be gone; its reply is then
/// dropped.
pub(super) enum Waiter {
    Hook(oneshot::Sender<Result<ReportOutcome, SessionError>>),
    Permit(oneshot::Sender<Permit>),
    Look(oneshot::Sender<()>),
    Interrupt(oneshot::Sender<Result<Option<TurnKey>, SessionError>>),
}

/// The reason why the task woke up.
enum WakeReason {
    /// A message of the server; `None` after the last one.
    Mail(Option<Box<Mail>>),
    Terminal(TerminalEvent),
    Alarm,
    /// A hook stopped waiting for its answer.
    GaveUp(RequestId),
    /// The person who has the terminal has not typed for a while.
    TypistLeft,
}

pub(super) struct Runner {
    pub(super) sessions: Sessions,
    pub(super) host: Arc<dyn SessionHost>,
    pub(super) session: Session,
    pub(super) handle: Arc<SessionHandle>,
    inbox: mpsc::UnboundedReceiver<Mail>,
    pub(super) machine: Machine,
    pub(super) waiting: BTreeMap<RequestId, Waiter>,
    last_request: u64,
    /// The start of the steady clock.
    started_at: Instant,
    pub(super) alarm: Option<Instant>,
    pub(super) watching: TerminalConnection,
    /// The person who types in the terminal from afar. The server types nothing meanwhile.
    pub(super) typist: Option<Typist>,
    /// True if the record of the newest turn was not found: the program may keep none.
    pub(super) lacks_record: AtomicBool,
    pub(super) tool_look: ToolLook,
    over: bool,
}

impl Runner {
    /// Creates the task of a session, with an empty machine. [`Runner::run`] replaces it by one
    /// that knows the leftovers of the earlier process.
    pub(super) fn new(
        sessions: Sessions,
        host: Arc<dyn SessionHost>,
        session: Session,
        handle: Arc<SessionHandle>,
        inbox: mpsc::UnboundedReceiver<Mail>,
    ) -> Self {
        Self {
            sessions,
            host,
            machine: Machine::new(session.clone(), Vec::new(), Vec::new()),
            session,
            handle,
            inbox,
            waiting: BTreeMap::new(),
            last_request: 0,
            started_at: Instant::now(),
            alarm: None,
            watching: TerminalConnection::default(),
            typist: None,
            lacks_record: AtomicBool::new(false),
            tool_look: ToolLook::default(),
            over: false,
        }
    }

    /// Runs the task until the session has ended or its inbox is closed. A session without a
    /// terminal is ended immediately, because an earlier process did not finish its start.
    pub(super) async fn run(mut self) {
        if self.session.pane.is_none() {
            return self.never_began().await;
        }
        let asked = self.sessions.asked_in_no_turn(&self.session.id).await;
        self.machine = Machine::new(self.session.clone(), self.earlier().await, asked);
        self.watch().await;
        while !self.over {
            self.tell_everybody();
            match self.next().await {
                WakeReason::Mail(Some(mail)) => self.open(*mail).await,
                WakeReason::Mail(None) => return,
                WakeReason::Terminal(TerminalEvent::Drawn) => {
                    self.tell(Input::Drawn).await;
                    self.look_for_tool();
                }
                WakeReason::Terminal(TerminalEvent::Died) => self.died(),
                WakeReason::Terminal(TerminalEvent::Unwatched) => self.watch().await,
                WakeReason::Terminal(TerminalEvent::Doubted) => self.doubted().await,
                WakeReason::Alarm => {
                    self.alarm = None;
                    self.tell(Input::Tick).await;
                }
                WakeReason::TypistLeft => self.release().await,
                WakeReason::GaveUp(id) => {
                    self.waiting.remove(&id);
                    self.tell(Input::GaveUp(id)).await;
                }
            }
        }
        self.refuse_the_rest().await;
    }

    /// Ends a session whose start an earlier process did not finish, and the program if there is
    /// one.
    async fn never_began(mut self) {
        if self.session.origin == Origin::Started {
            self.session.pane = self.host.find_left_pane(&self.session.id).await;
        }
        if let Some(pane) = &self.session.pane
            && let Err(error) = self.host.end(pane).await
        {
            tracing::warn!(session = %self.session.id, %error, "the program of an interrupted \
                                                                start could not be ended");
        }
        self.end_exited_session("it never began: the server stopped while it started").await;
    }

    /// Waits for the next event of the task. If several events are ready, takes the first in this
    /// order.
    async fn next(&mut self) -> WakeReason {
        let Self { inbox, watching, waiting, alarm, typist, .. } = self;
        let typist_until = typist.as_ref().map(|typist| typist.until);
        tokio::select! {
            biased;
            mail = inbox.recv() => WakeReason::Mail(mail.map(Box::new)),
            happened = watching.next() => WakeReason::Terminal(happened),
            id = wait_for_withdrawal(waiting) => WakeReason::GaveUp(id),
            () = at(*alarm) => WakeReason::Alarm,
            () = at(typist_until) => WakeReason::TypistLeft,
        }
    }

    /// Handles a message to the task: most become inputs of the machine, the others are carried out
    /// or answered here.
    async fn open(&mut self, mail: Mail) {
        let input = match mail {
            Mail::Ensure(job) => Input::Offered(job),
            Mail::Begun(key, delivery) => {
                let delivery = match delivery {
                    Some(delivery) => Some(delivery),
                    None => self.row_of(&key).await,
                };
                Input::Begun { key, delivery }
            }
            Mail::Cancel(key) => {
                Input::TakenAway { delivery: self.row_of(&key).await, key, interrupt: true }
            }
            Mail::Lapse(key) => {
                Input::TakenAway { delivery: self.row_of(&key).await, key, interrupt: false }
            }
            Mail::Probe(key, reply) => return drop(reply.send(self.machine.probe(&key))),
            Mail::Hook(hook, reply) => return self.hear(hook, reply).await,
            Mail::Ask(hook, reply) => {
                Input::Asked { id: self.wait_for(Waiter::Permit(reply)), hook }
            }
            Mail::CaughtUp => Input::CaughtUp,
            Mail::Look(reply) => Input::Look(self.wait_for(Waiter::Look(reply))),
            Mail::Permit(permission, given) => Input::Permitted { permission, given },
            Mail::Interrupt(reply) => Input::Interrupt(self.wait_for(Waiter::Interrupt(reply))),
            Mail::Type(by, request, reply) => {
                let typed = self.type_keys(&by, request).await;
                // Before the reply: the caller reads the status next.
                self.tell_everybody();
                return drop(reply.send(typed));
            }
            Mail::PlaceUsed(link) => return self.place_used(&link).await,
            Mail::End(why, reply) => {
                let ended = self.end(&why).await;
                return drop(reply.send(ended));
            }
        };
        self.tell(input).await;
    }

    /// Handles a report. After a report of a prompt, saves the id of the program's conversation for
    /// a resume.
    async fn hear(
        &mut self,
        hook: Hook,
        reply: oneshot::Sender<Result<ReportOutcome, SessionError>>,
    ) {
        crash::point("hook_heard");
        let took = matches!(hook.news, HookNews::Prompt { .. });
        let (native, id) = (hook.native.clone(), self.wait_for(Waiter::Hook(reply)));
        self.tell(Input::Hook { id, hook }).await;
        if took && native == self.session.native {
            self.remember().await;
        }
    }

    fn wait_for(&mut self, waiting: Waiter) -> RequestId {
        self.last_request += 1;
        let id = RequestId(self.last_request);
        self.waiting.insert(id, waiting);
        id
    }

    /// Feeds an input to the machine and carries out the outputs, until the machine asks no more
    /// questions.
    pub(super) async fn tell(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let terms = self.sessions.terms();
            let around = Around {
                now: self.now(),
                reports: self.reports(),
                checkpoints: &terms.config.checkpoints,
                question_limit: terms.config.question_limit(),
            };
            for output in self.machine.handle(&around, input) {
                inputs.extend(self.perform(output).await);
            }
        }
    }

    /// Returns the time of the hall, and the steady time since the task began.
    fn now(&self) -> Now {
        let wall = self.hall().map(|hall| hall.now()).unwrap_or_default();
        Now {
            wall,
            steady: Millis(
                u64::try_from(self.started_at.elapsed().as_millis()).unwrap_or(u64::MAX),
            ),
        }
    }

    pub(super) fn wake(&mut self, at: Option<Millis>) {
        self.alarm = at.map(|at| self.started_at + Duration::from_millis(at.0));
    }

    /// Returns the kinds of reports that the program sends. A program started outside the server
    /// sends none.
    fn reports(&self) -> Reports {
        match self.session.origin {
            Origin::Started => self.host.reports(&self.session.client),
            Origin::Observed => Reports::default(),
        }
    }

    /// Sends a reply to its waiting caller. A reply without a waiting caller of its kind is
    /// dropped.
    pub(super) fn answer(&mut self, id: RequestId, reply: Reply) {
        match (self.waiting.remove(&id), reply) {
            (Some(Waiter::Hook(to)), Reply::Heard(heard)) => drop(to.send(heard)),
            (Some(Waiter::Permit(to)), Reply::Permit(permit)) => drop(to.send(permit)),
            (Some(Waiter::Look(to)), Reply::Looked) => drop(to.send(())),
            (Some(Waiter::Interrupt(to)), Reply::Interrupted(whose)) => drop(to.send(whose)),
            (_, Reply::Heard(_) | Reply::Permit(_) | Reply::Looked | Reply::Interrupted(_)) => {}
        }
    }

    /// Publishes the session's activity.
    fn tell_everybody(&self) {
        let typist = self.typist.as_ref().map(|typist| typist.by.clone());
        let (doing, waiting) = (self.machine.doing(), self.machine.waiting());
        if self.handle.update(&self.session, doing, waiting, typist) {
            self.sessions.notify_of_sessions();
        }
    }

    /// Returns the deliveries that the previous process left unfinished.
    async fn earlier(&self) -> Vec<UnfinishedDelivery> {
        let mut earlier = Vec::new();
        for (delivery, state, key) in self.pending_prompts(|_| true).await {
            let (is_open, asked) = self.asked_in(&key).await;
            earlier.push(UnfinishedDelivery { key, delivery, state, is_open, asked });
        }
        earlier
    }

    /// Returns the unsettled prompts of these turns: the id and the state of each delivery.
    async fn pending_prompts(
        &self,
        is_wanted: impl Fn(&TurnKey) -> bool,
    ) -> Vec<(u64, DeliveryState, TurnKey)> {
        let (Some(hall), target) = (self.hall(), target(&self.session.id)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut pending = PendingDeliveries::of(&*hall.store().outbox, &target);
        loop {
            match pending.next().await {
                Ok(Some(row)) => found.extend(row.turn.and_then(|turn| {
                    let key = TurnKey { stream: row.stream, turn, attempt: row.attempt };
                    is_wanted(&key).then_some((row.id, row.state, key))
                })),
                Ok(None) => return found,
                Err(error) => {
                    tracing::error!(session = %self.session.id, %error, "the deliveries of a session cannot be read");
                    return found;
                }
            }
        }
    }

    /// Returns the row of a turn, for callers that do not have its number, as after a restart.
    async fn row_of(&self, key: &TurnKey) -> Option<u64> {
        self.pending_prompts(|pending| pending == key).await.first().map(|(row, ..)| *row)
    }

    /// Returns true if a turn is still open, and its open questions. A turn that cannot be read
    /// counts as open: its delivery in the outbox alone keeps the prompt from being typed twice.
    async fn asked_in(&self, key: &TurnKey) -> (bool, Vec<PermissionId>) {
        let Some(hall) = self.hall() else { return (true, Vec::new()) };
        let (turn, attempt) = (key.turn, key.attempt);
        let open = hall.view(&key.stream, move |state| {
            let turn = state.turn(turn).filter(|turn| turn.attempt == attempt)?;
            Some(turn.permissions().cloned().collect())
        });
        match open.await {
            Ok(Some(asked)) => (true, asked),
            Ok(None) | Err(HallError::Deleted(_)) => (false, Vec::new()),
            Err(_) => (true, Vec::new()),
        }
    }

    pub(super) fn hall(&self) -> Option<ResidentHall> {
        self.sessions.hall().ok()
    }

    /// Forgets the session's old place in a link.
    async fn place_used(&mut self, link: &StreamId) {
        self.session.left.retain(|left| left.link != *link);
        if let Err(error) = self.sessions.keep(&self.session).await {
            tracing::warn!(session = %self.session.id, %error, "a session's return to a link \
                                                                could not be stored");
        }
    }

    /// Ends the session and gives up its places in links. A program that the server started is
    /// ended first. If that fails, the session lives on. An adopted program keeps running.
    async fn end(&mut self, why: &str) -> Result<(), SessionError> {
        // `view` stores the last screen for people, because the terminal ends with the program.
        self.view().await;
        if let Some(pane) =
            self.session.pane.clone().filter(|_| self.session.origin == Origin::Started)
        {
            self.host.end(&pane).await.map_err(host_error)?;
        }
        self.session.left.clear();
        self.leave(why, why).await;
        Ok(())
    }

    /// Ends the session of a program that ended by itself. The session keeps its places in links.
    pub(super) async fn end_exited_session(&mut self, why: &str) {
        self.ended_showing(why, why).await;
    }

    /// Ends the session, which keeps its places in links. `shown` is the reason with the last lines
    /// of the screen, stored for readers with access to the session. Its turns end with `why`
    /// alone, because all members of a conversation read that.
    pub(super) async fn ended_showing(&mut self, why: &str, shown: &str) {
        let here = self.sessions.places_in_links(&self.session.id).await;
        self.session.left.retain(|left| here.iter().all(|place| place.link != left.link));
        self.session.left.extend(here);
        // The places are saved before the session leaves its links: after a crash in between, the
        // links no longer list it.
        if !self.session.left.is_empty()
            && let Err(error) = self.sessions.keep(&self.session).await
        {
            tracing::warn!(session = %self.session.id, %error, "a session's places in links could \
                                                                not be stored");
        }
        self.leave(why, shown).await;
    }

    /// Closes the session: ends its turns, leaves its links, and archives its home.
    async fn leave(&mut self, why: &str, shown: &str) {
        // Set first: the task has to end even if the hall has closed and the rest cannot be done.
        self.over = true;
        self.typist = None;
        let Some(hall) = self.hall() else { return };
        self.session.ended = Some((hall.now(), shown.to_owned()));
        crash::point("session_ending");
        self.tell(Input::Ended(why.to_owned())).await;
        let pane = self.session.pane.clone().filter(|_| self.session.origin == Origin::Started);
        self.host.reap(pane.map(|pane| (self.session.id.clone(), pane)).into_iter().collect());
        // The program's files are removed before the end is stored: after a crash in between, the
        // session is ended once more.
        self.host.forget(&self.session.id).await;
        if let Err(error) = self.sessions.leave(&self.session).await {
            tracing::warn!(session = %self.session.id, %error, "an ended session could not leave \
                                                                its links");
        }
        // Callers who wait for the end, or present the session's token, must see the end from here
        // on.
        self.tell_everybody();
    }

    /// Closes the inbox. Turns that are still in it end with the session's fault.
    async fn refuse_the_rest(&mut self) {
        self.inbox.close();
        while let Ok(mail) = self.inbox.try_recv() {
            if let Mail::Ensure(job) = mail {
                self.tell(Input::Offered(job)).await;
            }
        }
    }
}

impl Sessions {
    /// Registers a session, and starts its task unless the session has ended.
    pub(super) fn start_runner(&self, session: Session) -> Arc<SessionHandle> {
        let (mail, inbox) = mpsc::unbounded_channel();
        let handle = Arc::new(SessionHandle::new(&session, mail));
        self.handles().insert(session.id.clone(), handle.clone());
        self.notify_of_sessions();
        if session.ended.is_none()
            && let (Ok(host), Ok(hall)) = (self.host(), self.hall())
        {
            hall.spawn(Runner::new(self.clone(), host, session, handle.clone(), inbox).run());
        }
        handle
    }
}

/// Resolves when a hook stops waiting for its answer; never if no hook waits.
async fn wait_for_withdrawal(waiting: &mut BTreeMap<RequestId, Waiter>) -> RequestId {
    poll_fn(|context| {
        for (id, waiting) in waiting.iter_mut() {
            if let Waiter::Permit(reply) = waiting
                && reply.poll_closed(context).is_ready()
            {
                return Poll::Ready(*id);
            }
        }
        Poll::Pending
    })
    .await
}
