//! The task of a live stream: feeds inputs to the host, performs its outputs, and waits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use moothall_kernel::budget::WindowTotals;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Millis;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::alarm::Alarm;
use super::asking::{ConsentQuestions, ConsentResult, answer_of};
use super::host::Host;
use super::io::{Around, EndReason, Input, LoadedStream, Now, RequestId, StartMode};
use super::load::load;
use super::mail::{NoticeRouter, Receipt, Request, Submission, TurnNotice, Waiter};
use super::snapshots::Snapshots;
use crate::answers::HallError;
use crate::crash;
use crate::hall::meters::OpenTurns;
use crate::hall::services::Services;
use crate::hall::streams::StreamHandle;
use crate::runtime::agent::{Agent, Report, TurnKey};
use crate::runtime::pauses::SteadyClock;
use crate::runtime::registry::Agents;
use crate::stream::shown::ConversationFlags;

/// Idle time after which the task of an unused stream ends.
const IDLE: Duration = Duration::from_secs(60);
/// Idle time after which the stream drops its events from memory.
const QUIET: Duration = Duration::from_secs(10);
/// Maximum number of requests that are decided together.
const DRAIN_MAX: usize = 256;

/// The state of a stream's task around its host: channels, timers, agents and waiting requests.
pub(super) struct Shell {
    pub(super) hall: Arc<Services>,
    /// Streams to which the runtimes' reports are sent.
    pub(super) streams: Weak<dyn NoticeRouter>,
    pub(super) stream: StreamId,
    pub(super) handle: StreamHandle,
    pub(super) host: Host,
    pub(super) steady: SteadyClock,
    pub(super) wake: Option<Instant>,
    alarm: Alarm,
    /// Time at which the task last had work.
    active: Instant,
    pub(super) waiting: BTreeMap<RequestId, Waiter>,
    pub(super) asking: ConsentQuestions,
    last_request: u64,
    /// Drain requests. They are answered when no turn that would be lost runs in this process any
    /// more.
    pub(super) leaving: Vec<oneshot::Sender<()>>,
    /// Agents of the turns that run in this process. Each is the agent that the registry had when
    /// the turn was started or probed.
    pub(super) agents_of_turns: BTreeMap<TurnKey, Arc<dyn Agent>>,
    pub(super) agents: Agents,
    /// Standing of the conversation's own budget, for turns that reserve money.
    pub(super) own: Arc<Mutex<WindowTotals>>,
    open_turns: OpenTurns,
    pub(super) snapshots: Snapshots,
    /// Number of items that waited for people when the head was last sent to listeners.
    pub(super) waits: usize,
    /// True if a warning said that the stream cannot be written to, and no append succeeded since.
    pub(super) has_warned: bool,
}

/// The reason why the task woke up.
enum WakeReason {
    Work,
    /// A clock check without other work.
    Beat,
    Quiet,
    Abandoned,
}

/// Runs the task of a live stream: loads the stream, serves it, and leaves the directory at the
/// end.
pub(crate) async fn run(
    hall: Arc<Services>,
    streams: Weak<dyn NoticeRouter>,
    stream: StreamId,
    handle: StreamHandle,
    begin: StartMode,
) {
    let loaded = match begin.empty(&stream) {
        Some(empty) => Ok((LoadedStream::new(empty, None), Seq(0))),
        None => load(&*hall.store.log, &stream).await,
    };
    match loaded {
        Ok((loaded, snapshot)) => {
            if !begin.is_new() {
                crash::point("stream_loaded");
            }
            Shell::new(hall, streams, stream, handle, loaded, Snapshots::at(snapshot), begin)
                .live()
                .await;
        }
        Err(error) => leave(&hall, &stream, handle, &error),
    }
}

/// Leaves the directory and refuses the requests that were still queued.
fn leave(hall: &Services, stream: &StreamId, mut handle: StreamHandle, error: &HallError) {
    hall.directory.leave(stream, handle.number);
    while let Ok(request) = handle.requests.try_recv() {
        request.refuse(error);
    }
}

impl Shell {
    /// Makes the task of a loaded stream, and its host. Runs nothing before [`Shell::live`].
    fn new(
        hall: Arc<Services>,
        streams: Weak<dyn NoticeRouter>,
        stream: StreamId,
        handle: StreamHandle,
        loaded: LoadedStream,
        snapshots: Snapshots,
        begin: StartMode,
    ) -> Self {
        let (begun, agents) = (Instant::now(), hall.standing().agents());
        let now = Now { wall: hall.now(), steady: Millis(0) };
        let host = Host::new(
            stream.clone(),
            loaded,
            begin,
            &Around { now, draining: hall.is_draining(), agents: &agents.roster },
        );
        let open_turns = OpenTurns::new(hall.meters.clone());
        let (waiting, asking, agents_of_turns) = <_>::default();
        Self {
            hall,
            streams,
            stream,
            handle,
            host,
            steady: SteadyClock::new(begun),
            wake: None,
            alarm: Alarm::new(begun + QUIET),
            active: begun,
            waiting,
            asking,
            last_request: 0,
            leaving: Vec::new(),
            agents_of_turns,
            agents,
            own: Arc::default(),
            open_turns,
            snapshots,
            waits: 0,
            has_warned: false,
        }
    }

    /// Runs the task to its end. If an error ends it, refuses the requests that the host holds
    /// and the requests in the queue, and stops the hall if the log has failed.
    async fn live(mut self) {
        let ended = self.work().await;
        self.hall.reservations.drop_stream(&self.stream);
        match ended {
            Ok(()) => tracing::debug!(stream = %self.stream, "unloaded an idle stream"),
            Err(why) => {
                if let EndReason::Fatal(reason) = &why {
                    self.hall.fail(reason);
                }
                let error = why.error(&self.stream);
                self.waiting.into_values().for_each(|waiting| waiting.refuse(&error));
                leave(&self.hall, &self.stream, self.handle, &error);
            }
        }
    }

    /// Works until the stream is idle and unused.
    async fn work(&mut self) -> Result<(), EndReason> {
        self.update_board();
        // The first request of a new stream comes before the look, because the stream closes if the
        // look adds no event.
        self.drain(0).await?;
        self.tell(Input::Look).await?;
        loop {
            match self.next().await? {
                WakeReason::Work => {
                    self.tell(Input::Look).await?;
                    self.let_go();
                    self.active = Instant::now();
                }
                WakeReason::Beat => {
                    if self.steady.stood(Instant::now()) {
                        self.tell(Input::Look).await?;
                    }
                    // The time is read for its effect: the steady clock advances, and the next beat
                    // begins.
                    self.now();
                }
                WakeReason::Quiet => {
                    self.tell(Input::Quiet).await?;
                    self.snapshots.at_rest(&self.hall.store.log, self.host.committed());
                    let unused = self.active.elapsed() >= IDLE && self.host.may_leave();
                    if unused && self.hall.directory.leave_if_idle(&self.stream, &self.handle) {
                        return Ok(());
                    }
                }
                WakeReason::Abandoned => return Ok(()),
            }
        }
    }

    /// Answers the drain requests if no turn that would be lost runs in this process.
    fn let_go(&mut self) {
        if !self.leaving.is_empty() && !self.host.would_lose_turns() {
            crash::point("drain");
            for done in self.leaving.drain(..) {
                let _ = done.send(());
            }
        }
    }

    /// Waits for work, and passes all work that has arrived to the host. Returns the reason of the
    /// wake-up. Returns without work for a clock check, for a quiet stream, and if the queues are
    /// closed.
    async fn next(&mut self) -> Result<WakeReason, EndReason> {
        let quiet = self.quiet_at();
        let (at, woken) = self.next_alarm(quiet);
        let taken = tokio::select! {
            // The branches are polled in order, so that a simulated run can be repeated.
            biased;
            notice = self.handle.notices.recv() => match notice {
                Some(notice) => { self.hear(*notice).await?; 0 }
                None => return Ok(WakeReason::Abandoned),
            },
            request = self.handle.requests.recv() => match request {
                Some(request) => { self.take(request).await?; 1 }
                None => return Ok(WakeReason::Abandoned),
            },
            Some(over) = self.asking.next() => { self.tell_consent(over).await?; 0 }
            () = self.alarm.wait_until(at) => match woken {
                WakeReason::Work => 0,
                woken => return Ok(woken),
            },
        };
        self.drain(taken).await?;
        Ok(WakeReason::Work)
    }

    /// Passes all notices and ended questions that have arrived to the host, and requests until
    /// [`DRAIN_MAX`] of them are passed. `taken` is the number of requests passed already.
    async fn drain(&mut self, taken: usize) -> Result<(), EndReason> {
        while let Ok(notice) = self.handle.notices.try_recv() {
            self.hear(*notice).await?;
        }
        while let Some(over) = self.asking.try_next() {
            self.tell_consent(over).await?;
        }
        for _ in taken..DRAIN_MAX {
            let Ok(request) = self.handle.requests.try_recv() else { break };
            self.take(request).await?;
        }
        Ok(())
    }

    /// Passes the answer to a consent question to the host.
    async fn tell_consent(&mut self, over: ConsentResult) -> Result<(), EndReason> {
        match answer_of(over) {
            Some((id, consent)) => self.tell(Input::Answered { id, consent }).await,
            None => Ok(()),
        }
    }

    /// Returns the next time at which the task has to wake up by itself, and the reason.
    fn next_alarm(&self, quiet: Instant) -> (Instant, WakeReason) {
        let wake = self.wake.map(|at| (at, WakeReason::Work));
        let beat = self.wake.map(|_| (self.steady.beat(), WakeReason::Beat));
        let due = [wake, beat, Some((quiet, WakeReason::Quiet))].into_iter().flatten();
        due.min_by_key(|(at, _)| *at).unwrap_or((quiet, WakeReason::Quiet))
    }

    /// Returns the time at which the stream drops its events. If that time has passed, returns the
    /// next time at which the task tries to end.
    fn quiet_at(&self) -> Instant {
        let quiet = self.active + QUIET;
        if quiet > Instant::now() {
            quiet
        } else {
            (self.active + IDLE).max(Instant::now() + QUIET)
        }
    }

    /// Passes a report or a probe result of a runtime to the host. If the report has a receipt, the
    /// host answers its sender later.
    async fn hear(&mut self, notice: TurnNotice) -> Result<(), EndReason> {
        match notice {
            TurnNotice::Report(key, report, receipt) => {
                if matches!(report, Report::Finished { .. }) {
                    crash::point("agent_finished");
                }
                let receipt = receipt.map(|Receipt { idempotency, reply }| {
                    (self.wait_for(Waiter::Answer(reply)), idempotency)
                });
                self.tell(Input::Report { key, report, receipt }).await
            }
            TurnNotice::Probed(key, probe) => {
                crash::point("turn_probed");
                self.tell(Input::Probed { key, probe }).await
            }
        }
    }

    /// Gives a caller a new request id, under which the host answers it.
    fn wait_for(&mut self, waiting: Waiter) -> RequestId {
        self.last_request += 1;
        let id = RequestId(self.last_request);
        self.waiting.insert(id, waiting);
        id
    }

    /// Passes a request from the queue to the host, and holds its reply channel until the host
    /// answers.
    async fn take(&mut self, request: Request) -> Result<(), EndReason> {
        let input = match request {
            Request::Submit(submitted) => {
                let Submission { wanted, idempotency, asked, owing, taking, reply } = *submitted;
                let id = self.wait_for(Waiter::Answer(reply));
                Input::Request {
                    id,
                    wanted,
                    idempotency: idempotency.map(Box::new),
                    condition: self.asking.note(id, asked),
                    owing,
                    taking,
                }
            }
            Request::Ask(question) => Input::View { id: self.wait_for(Waiter::Question(question)) },
            Request::Subscribe(reply) => {
                Input::View { id: self.wait_for(Waiter::Subscriber(reply)) }
            }
            Request::Drain(done) => Input::View { id: self.wait_for(Waiter::Drained(done)) },
            Request::Wake => return Ok(()),
            Request::Refresh => Input::Refresh,
        };
        self.tell(input).await
    }

    /// Passes an input to the host and performs its outputs, until no output gives another input.
    async fn tell(&mut self, input: Input) -> Result<(), EndReason> {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            self.agents = self.hall.standing().agents();
            let around = Around {
                now: self.now(),
                draining: self.hall.is_draining(),
                agents: &self.agents.roster,
            };
            let reads = matches!(input, Input::Appended(_) | Input::Loaded(_));
            let outputs = self.host.handle(&around, input);
            if reads {
                self.update_board();
                self.snapshots.at_work(&self.hall.store.log, self.host.committed());
            }
            for output in outputs {
                inputs.extend(self.perform(output).await?);
            }
        }
        Ok(())
    }

    /// Publishes the flags that callers read without asking the task.
    fn update_board(&mut self) {
        let Some(state) = self.host.conversation() else { return };
        self.open_turns.set(state);
        self.handle.board.show(ConversationFlags::of(state));
    }

    /// Returns the present time. If an alarm is set, the task wakes at every beat until then, so a
    /// longer pause is time in which the process stood still.
    fn now(&mut self) -> Now {
        Now { wall: self.hall.now(), steady: self.steady.read(Instant::now(), self.wake.is_some()) }
    }
}
