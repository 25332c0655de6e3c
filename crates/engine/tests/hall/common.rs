//! Shared parts of the tests: a clock that follows tokio's, scripted agents, and a log with
//! failures on demand.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::MemoryLog;
use moothall_engine::agent::{Agent, Job, PermissionAnswer, Report, Reporter, TurnKey};
use moothall_engine::hall::{Answer, Hall, HallError, HallParts, Idempotency};
use moothall_engine::ports::{
    Acquisition, AppendError, AppendResult, Claim, Clock, Deliveries, Delivery, DeliveryState,
    Durability, EventLog, Lease, ListFilter, ListPage, ListedStream, LogError, Page, Snapshot,
    Store, StreamBatch, StreamStart, Target,
};
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_engine::run_once::{RunOnce, Work};
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite, Post};
use moothall_kernel::event::{Event, Fault, Posted, RecordedEvent, Usage};
use moothall_kernel::ids::{PermissionId, Seq, StreamId};
use moothall_kernel::participant::{Abilities, AgentFacts, OnLost, Profile, Runtime};
use moothall_kernel::permission::Question;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::{Millis, Timestamp};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

/// Tokio's clock as the hall's, which tests can pause. It can also jump, like the clock of a
/// computer after sleep.
pub struct TestClock {
    start: Instant,
    base: Mutex<i64>,
}

impl TestClock {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), base: Mutex::new(1_763_000_000_000) })
    }

    pub fn sleep_through(&self, gap: Millis) {
        *self.base.lock().unwrap() += gap.0 as i64;
    }

    pub fn set_back(&self, gap: Millis) {
        *self.base.lock().unwrap() -= gap.0 as i64;
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(*self.base.lock().unwrap() + self.start.elapsed().as_millis() as i64)
    }
}

/// A memory log that counts accesses, and can hold back or fail appends.
pub struct TestLog {
    pub inner: Arc<MemoryLog>,
    pub appends: AtomicUsize,
    read: AtomicUsize,
    pub gate: Semaphore,
    gated: AtomicUsize,
    pub waiting: Notify,
    failures: Mutex<VecDeque<AppendError>>,
    acquisitions: Mutex<VecDeque<LogError>>,
    reads: Mutex<VecDeque<LogError>>,
    refuses_advances: AtomicBool,
}

impl TestLog {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::default(),
            appends: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            gate: Semaphore::new(0),
            gated: AtomicUsize::new(0),
            waiting: Notify::new(),
            failures: Mutex::default(),
            acquisitions: Mutex::default(),
            reads: Mutex::default(),
            refuses_advances: AtomicBool::new(false),
        })
    }

    /// Returns the memory log's store, with this log in front of its log and its outbox.
    pub fn store(self: &Arc<Self>) -> Store {
        Store { log: self.clone(), outbox: self.clone(), ..Store::of(self.inner.clone()) }
    }

    /// Lets each append wait for a permit of the gate from now on.
    pub fn close_gate(&self) {
        self.gated.store(1, Ordering::SeqCst);
    }

    pub fn open_gate(&self) {
        self.gated.store(0, Ordering::SeqCst);
        self.gate.add_permits(10_000);
    }

    pub fn fail_next(&self, error: AppendError) {
        self.failures.lock().unwrap().push_back(error);
    }

    /// Gives another process the lease of the log until this time.
    pub fn lease_until(&self, until: Timestamp) {
        self.inner.lease(Lease { owner: "another process".into(), until });
    }

    pub fn fail_next_acquire(&self, error: LogError) {
        self.acquisitions.lock().unwrap().push_back(error);
    }

    /// Returns the number of failures that [`Self::fail_next_acquire`] still has to give.
    pub fn failing_acquires(&self) -> usize {
        self.acquisitions.lock().unwrap().len()
    }

    pub fn fail_next_read(&self, error: LogError) {
        self.reads.lock().unwrap().push_back(error);
    }

    /// Sets if writing the states of deliveries fails.
    pub fn refuse_advances(&self, refuse: bool) {
        self.refuses_advances.store(refuse, Ordering::SeqCst);
    }

    pub fn appended(&self) -> usize {
        self.appends.load(Ordering::SeqCst)
    }

    /// Returns the number of events read so far.
    pub fn read_events(&self) -> usize {
        self.read.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl EventLog for TestLog {
    async fn append(&self, batches: Vec<StreamBatch>) -> Result<Vec<AppendResult>, AppendError> {
        if self.gated.load(Ordering::SeqCst) == 1 {
            self.waiting.notify_one();
            self.gate.acquire().await.unwrap().forget();
        }
        if let Some(error) = self.failures.lock().unwrap().pop_front() {
            return Err(error);
        }
        let heads = self.inner.append(batches).await?;
        self.appends.fetch_add(1, Ordering::SeqCst);
        Ok(heads)
    }
    async fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> Result<Page, LogError> {
        if let Some(error) = self.reads.lock().unwrap().pop_front() {
            return Err(error);
        }
        let page = self.inner.read(stream, after, limit).await?;
        self.read.fetch_add(page.events.len(), Ordering::SeqCst);
        Ok(page)
    }
    async fn messages_before(
        &self,
        stream: &StreamId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<RecordedEvent>, LogError> {
        self.inner.messages_before(stream, before, limit).await
    }
    async fn load(
        &self,
        stream: &StreamId,
        version: u32,
        limit: usize,
    ) -> Result<StreamStart, LogError> {
        let opening = self.inner.load(stream, version, limit).await?;
        self.read.fetch_add(opening.page.events.len(), Ordering::SeqCst);
        Ok(opening)
    }
    async fn put_snapshot(&self, stream: &StreamId, snapshot: Snapshot) -> Result<bool, LogError> {
        self.inner.put_snapshot(stream, snapshot).await
    }
    async fn find(&self, stream: &StreamId) -> Result<Option<ListedStream>, LogError> {
        self.inner.find(stream).await
    }
    async fn erase_deleted(&self) -> Result<(), LogError> {
        self.inner.erase_deleted().await
    }
    async fn acquire(&self, stream: &StreamId, owner: &str) -> Result<Acquisition, LogError> {
        if let Some(error) = self.acquisitions.lock().unwrap().pop_front() {
            return Err(error);
        }
        self.inner.acquire(stream, owner).await
    }
    async fn due(&self, now: Timestamp) -> Result<Vec<StreamId>, LogError> {
        self.inner.due(now).await
    }
    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError> {
        self.inner.next_wake().await
    }
    async fn list(&self, filter: ListFilter) -> Result<ListPage, LogError> {
        self.inner.list(filter).await
    }
    async fn claims(&self, namespace: &str, now: Timestamp) -> Result<Vec<Claim>, LogError> {
        self.inner.claims(namespace, now).await
    }
    async fn claim(
        &self,
        namespace: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Claim>, LogError> {
        self.inner.claim(namespace, key, now).await
    }
}

#[async_trait]
impl Deliveries for TestLog {
    async fn heads(&self) -> Result<Vec<Delivery>, LogError> {
        self.inner.heads().await
    }
    async fn pending_deliveries(
        &self,
        target: &Target,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError> {
        self.inner.pending_deliveries(target, after, limit).await
    }
    async fn of_target(
        &self,
        target: &Target,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError> {
        self.inner.of_target(target, before, limit).await
    }
    async fn of_stream(&self, stream: &StreamId) -> Result<Vec<Delivery>, LogError> {
        self.inner.of_stream(stream).await
    }
    async fn advance(
        &self,
        id: u64,
        from: &[DeliveryState],
        to: DeliveryState,
        evidence: &str,
        lasting: Durability,
    ) -> Result<bool, LogError> {
        if self.refuses_advances.load(Ordering::SeqCst) {
            return Err(LogError::Full);
        }
        self.inner.advance(id, from, to, evidence, lasting).await
    }
    async fn tally(&self) -> Result<BTreeMap<DeliveryState, u64>, LogError> {
        self.inner.tally().await
    }
    async fn owed(&self) -> Result<BTreeMap<Target, u64>, LogError> {
        self.inner.owed().await
    }
}

/// Answers at once with a fixed line.
pub struct Parrot(pub &'static str);

#[async_trait]
impl Work for Parrot {
    async fn run(&self, _job: &Job, _out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        (Ok(self.0.to_owned()), Usage::default())
    }
    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }
}

/// Answers at once with a fixed line. Its memory is rebuilt from the log for each turn.
pub struct Rebuilt(pub &'static str);

#[async_trait]
impl Work for Rebuilt {
    async fn run(&self, _job: &Job, _out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        (Ok(self.0.to_owned()), Usage::default())
    }
    fn runtime(&self) -> Runtime {
        Runtime::LLM
    }
    fn abilities(&self) -> Abilities {
        Abilities::LLM
    }
}

/// Answers when the test tells it to, and records its jobs.
#[derive(Default)]
pub struct Slow {
    pub jobs: Mutex<Vec<Job>>,
    pub answers: Mutex<VecDeque<&'static str>>,
    pub changed: Notify,
    pub dropped: AtomicUsize,
    pub on_lost: Option<OnLost>,
}

pub struct SharedAgent(pub Arc<Slow>);

struct CountDrop<'a>(&'a AtomicUsize);

impl Drop for CountDrop<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Slow {
    pub fn say(&self, text: &'static str) {
        self.answers.lock().unwrap().push_back(text);
        self.changed.notify_one();
    }

    pub fn asked(&self) -> Vec<(u64, u32)> {
        self.jobs.lock().unwrap().iter().map(|job| (job.key.turn.0, job.key.attempt)).collect()
    }
}

#[async_trait]
impl Work for SharedAgent {
    async fn run(&self, job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        let _count = CountDrop(&self.0.dropped);
        self.0.jobs.lock().unwrap().push(job.clone());
        loop {
            self.0.changed.notified().await;
            let answer = self.0.answers.lock().unwrap().pop_front();
            match answer.map(|text| (text, text.strip_prefix('+'))) {
                Some((_, Some(piece))) => out.report(Report::Delta(piece.to_owned())),
                Some((text, None)) => return (Ok(text.to_owned()), Usage::default()),
                None => {}
            }
        }
    }
    fn runtime(&self) -> Runtime {
        Runtime::COMMAND
    }
    fn abilities(&self) -> Abilities {
        Abilities::COMMAND
    }
    fn on_lost(&self) -> OnLost {
        self.0.on_lost.unwrap_or(OnLost::Rerun)
    }
}

/// Asks for a permission before it answers, and answers with the chosen option.
#[derive(Default)]
pub struct Careful {
    chosen: Mutex<Option<String>>,
    changed: Notify,
}

#[async_trait]
impl Work for Careful {
    async fn run(&self, job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        let permission = PermissionId::new(format!("p{}", job.key.turn));
        let question = Box::new(Question::new("rm -r /", vec!["yes".into(), "no".into()]));
        out.report(Report::Permission { permission, question, within: Millis::from_secs(60) });
        self.changed.notified().await;
        let chosen = self.chosen.lock().unwrap().take();
        (Ok(format!("{chosen:?}")), Usage::default())
    }
    fn runtime(&self) -> Runtime {
        Runtime::COMMAND
    }
    fn abilities(&self) -> Abilities {
        Abilities::COMMAND
    }
    fn permit(&self, _key: &TurnKey, _permission: &PermissionId, given: Option<&PermissionAnswer>) {
        *self.chosen.lock().unwrap() = given.map(|given| given.option.clone());
        self.changed.notify_one();
    }
}

/// Answers after some time, or passes if it may.
pub struct Dawdler;

#[async_trait]
impl Work for Dawdler {
    async fn run(&self, job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        for _ in 0..job.key.turn.0 % 3 {
            out.report(Report::Delta("word ".into()));
            tokio::time::sleep(Duration::from_millis(7)).await;
        }
        (
            Ok(if job.may_pass { "[PASS]".into() } else { format!("answer {}", job.key.turn) }),
            Usage::default(),
        )
    }
    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }
}

/// Streams far more text than a turn may, then answers.
pub struct Flood;

#[async_trait]
impl Work for Flood {
    async fn run(&self, _job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        let piece = "flood ".repeat(1000);
        (0..10_000).for_each(|_| out.report(Report::Delta(piece.clone())));
        (Ok("enough".into()), Usage::default())
    }
    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }
}

pub fn spec(client: &str, agent: Arc<dyn Agent>) -> AgentSpec {
    AgentSpec {
        client: client.into(),
        summary: "A test.".into(),
        profile: Profile::default(),
        origin: "built-in",
        run_as: None,
        agent,
    }
}

pub struct World {
    pub log: Arc<TestLog>,
    pub clock: Arc<TestClock>,
    pub hall: Hall,
}

impl World {
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    pub async fn with(agents: &[(&str, Arc<dyn Agent>)]) -> Self {
        let mut registry = Registry::default();
        for (client, agent) in agents {
            registry.insert(spec(client, agent.clone()));
        }
        let (log, clock) = (TestLog::new(), TestClock::new());
        let hall = open(&log, &clock, &registry).await;
        Self { log, clock, hall }
    }

    /// Drops the hall, as if the process died, and opens the same log again with these agents.
    pub async fn restart(self, agents: &[(&str, Arc<dyn Agent>)]) -> Self {
        drop(self.hall);
        let mut registry = Registry::default();
        for (client, agent) in agents {
            registry.insert(spec(client, agent.clone()));
        }
        tokio::task::yield_now().await;
        let hall = open(&self.log, &self.clock, &registry).await;
        Self { log: self.log, clock: self.clock, hall }
    }

    pub async fn create(&self) -> StreamId {
        self.create_as(PolicyName::MentionOnly).await
    }

    pub async fn create_as(&self, policy: PolicyName) -> StreamId {
        self.create_with(Policy { cooldown: Millis(0), ..Policy::named(policy) }).await
    }

    pub async fn create_with(&self, policy: Policy) -> StreamId {
        self.hall.create("a test".into(), policy, Actor::human("user"), None).await.unwrap().stream
    }

    pub async fn invite(&self, stream: &StreamId, id: &str, client: &str) {
        let facts: AgentFacts = self.hall.registry().facts(client);
        let profile =
            Profile { client: Some(client.into()), model: Some("m".into()), ..Profile::default() };
        let controls = vec![Control::Invite(Invite::new(id, profile, facts))];
        self.hall
            .submit(stream, ClientCommand::Control { by: Actor::human("user"), controls }, None)
            .await
            .unwrap();
    }

    pub async fn post(&self, stream: &StreamId, body: &str) -> Result<Answer, HallError> {
        self.hall.submit(stream, post(body), None).await
    }

    pub async fn events(&self, stream: &StreamId) -> Vec<RecordedEvent> {
        self.hall.read(stream, Seq(0), None).await.unwrap().events
    }

    pub async fn said(&self, stream: &StreamId) -> Vec<(String, String)> {
        self.events(stream).await.iter().filter_map(words).collect()
    }

    /// Waits until the log of a stream is as wanted.
    pub async fn until(
        &self,
        stream: &StreamId,
        wanted: impl Fn(&[RecordedEvent]) -> bool,
    ) -> Vec<RecordedEvent> {
        eventually(async || Some(self.events(stream).await).filter(|events| wanted(events))).await
    }
}

/// Repeats a question until it has an answer. Only a broken test reaches the time limit.
pub async fn eventually<T>(ask: impl AsyncFn() -> Option<T>) -> T {
    let patience = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(3600), patience).await.expect("it never came about")
}

pub async fn open(log: &Arc<TestLog>, clock: &Arc<TestClock>, registry: &Registry) -> Hall {
    let parts = HallParts {
        store: log.store(),
        clock: clock.clone(),
        registry: registry.clone(),
        defaults: Policy::default(),
        budgets: Default::default(),
        owner: "test".into(),
    };
    Hall::open(parts).await.unwrap()
}

pub fn post(body: &str) -> ClientCommand {
    ClientCommand::Post(Post::new(Actor::human("user"), body))
}

pub fn post_by(id: &str, body: &str) -> ClientCommand {
    ClientCommand::Post(Post::new(Actor::named(id), body))
}

pub fn key(key: &str, fingerprint: &str) -> Option<Idempotency> {
    Some(Idempotency { principal: "user".into(), key: key.into(), fingerprint: fingerprint.into() })
}

pub fn words(recorded: &RecordedEvent) -> Option<(String, String)> {
    match &recorded.event {
        Event::Posted(Posted { from, body, .. }) => Some((from.to_string(), body.clone())),
        _ => None,
    }
}

pub fn has(events: &[RecordedEvent], wanted: impl Fn(&Event) -> bool) -> bool {
    events.iter().any(|recorded| wanted(&recorded.event))
}

pub fn agent(work: impl Work) -> Arc<dyn Agent> {
    Arc::new(RunOnce::new(work))
}
