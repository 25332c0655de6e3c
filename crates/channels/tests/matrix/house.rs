//! A hall with the channel to Matrix, and what tests do in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use moothall_channels::{Channels, ChannelsConfig, MatrixConfig};
use moothall_engine::MemoryLog;
use moothall_engine::access::{Access, Caller, Mode, NewPairing, Scope, Scopes, Secret, TokenKind};
use moothall_engine::agent::{Agent, Job, Probe, Report, Reporter, TurnKey};
use moothall_engine::channels::ChannelStatus;
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Clock, DeliveryState, Store, SystemClock, Target};
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control, EngineCommand, Invite, Post};
use moothall_kernel::event::{RecordedEvent, Usage};
use moothall_kernel::ids::{PermissionId, Seq, StreamId};
use moothall_kernel::participant::{Profile, Runtime};
use moothall_kernel::permission::{OptionKind, PermissionOption, Question};
use moothall_kernel::policy::PolicyName;
use moothall_kernel::time::Timestamp;
use moothall_testkit::matrix::{Homeserver, ShownEvent};

/// A hall with the channel, and the homeserver.
pub struct House {
    pub homeserver: Homeserver,
    pub clock: Arc<ShiftedClock>,
    pub hall: Hall,
    pub store: Store,
    pub access: Access,
    pub owner: Caller,
    pub ann: String,
    config: ChannelsConfig,
    channels: Option<Channels>,
    folder: tempfile::TempDir,
}

/// The clock of this computer, which a test can put forward.
#[derive(Default)]
pub struct ShiftedClock(AtomicI64);

impl ShiftedClock {
    pub fn put_forward(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::Relaxed);
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().millis() + self.0.load(Ordering::Relaxed))
    }
}

/// An agent that passes in each turn.
struct SilentAgent;

#[async_trait]
impl Agent for SilentAgent {
    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }

    fn ensure(&self, job: Job, reporter: Arc<dyn Reporter>) {
        reporter.report(Report::Started { through: job.through });
        let result = Ok("[PASS]".to_owned());
        reporter.report(Report::Finished { result, usage: Usage::default() });
    }

    async fn probe(&self, _key: &TurnKey) -> Probe {
        Probe::Unknown
    }

    fn cancel(&self, _key: &TurnKey) {}
}

impl House {
    pub async fn open() -> Self {
        Self::open_with(|_| {}).await
    }

    /// Opens a hall whose settings of Matrix are changed before.
    pub async fn open_with(change: impl FnOnce(&mut MatrixConfig)) -> Self {
        let homeserver = Homeserver::start().await.unwrap();
        let clock = Arc::<ShiftedClock>::default();
        let store = Store::of(Arc::new(MemoryLog::new()));
        let mut registry = Registry::default();
        for agent in ["analyst", "writer"] {
            registry.insert(AgentSpec {
                client: agent.into(),
                summary: "Says nothing by itself.".into(),
                profile: Profile::default(),
                origin: "built-in",
                run_as: None,
                agent: Arc::new(SilentAgent),
            });
        }
        let parts = HallParts {
            store: store.clone(),
            clock: clock.clone(),
            registry,
            defaults: Default::default(),
            budgets: Default::default(),
            owner: "test".into(),
        };
        let hall = Hall::open(parts).await.unwrap();
        let secret = Secret::fresh(TokenKind::Startup).unwrap();
        let access = Access::new(hall.clone(), Mode::Local, Some(&secret));
        let owner = access.identify(secret.reveal()).await.unwrap().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let registration: PathBuf = folder.path().join("registration.yaml");
        std::fs::write(&registration, homeserver.registration()).unwrap();
        let mut settings = MatrixConfig {
            homeserver: homeserver.url(),
            registration: registration.display().to_string(),
            trusted: true,
            ..MatrixConfig::default()
        };
        change(&mut settings);
        let config = ChannelsConfig { matrix: Some(settings), ..ChannelsConfig::default() };
        let ann = homeserver.user("ann");
        let mut house = Self {
            homeserver,
            clock,
            hall,
            store,
            access,
            owner,
            ann,
            config,
            channels: None,
            folder,
        };
        house.start().await;
        house
    }

    /// Ends the channel, as a kill does.
    pub fn stop(&mut self) {
        self.channels = None;
    }

    /// Starts the channel again.
    pub async fn start(&mut self) {
        let folder = self.folder.path().to_owned();
        let opened = Channels::open(&self.hall, Mode::Local, self.config.clone(), folder).await;
        self.channels = Some(opened.unwrap());
    }

    /// Pairs Ann's account with the owner, in a private room with the relay. Returns the room.
    pub async fn pair(&self, scopes: &[Scope]) -> String {
        let code = self.code(scopes).await;
        let room = self.homeserver.private_room(&self.ann, "moothall");
        self.homeserver.wait_for(|it| it.is_in(&room, "moothall")).await;
        self.homeserver.say(&room, &self.ann, &format!("/start {code}"));
        self.said(&room, |shown| shown.body.starts_with("You are now")).await;
        room
    }

    /// Returns a code that pairs an account with the owner.
    pub async fn code(&self, scopes: &[Scope]) -> String {
        let wanted = NewPairing { channel: "matrix".into(), scopes: Scopes::of(scopes) };
        let (secret, _) = self.access.offer_pairing(&self.owner, wanted).await.unwrap();
        secret.reveal().to_owned()
    }

    /// Waits for a message in a room.
    pub async fn said(&self, room: &str, is_meant: impl Fn(&ShownEvent) -> bool) -> ShownEvent {
        self.homeserver.wait_for(|it| it.shown(room).iter().any(&is_meant)).await;
        self.homeserver.shown(room).into_iter().find(is_meant).unwrap()
    }

    /// Makes a room that Ann opens with both agents. Returns it with its conversation.
    pub async fn open_room(&self) -> (String, StreamId) {
        self.pair(&[Scope::ThreadsAdmin, Scope::ParticipantsInvite, Scope::PermissionsAnswer])
            .await;
        let room = self.homeserver.room(&self.ann, &["moothall_analyst"]);
        self.said(&room, |shown| shown.body.starts_with("This chat is connected")).await;
        self.homeserver.invite(&room, &self.ann, "moothall_writer");
        self.said(&room, |shown| shown.body == "writer joined.").await;
        let stream = self.bound(&room).await.unwrap();
        // Agents then speak as often as a test wants.
        let controls = vec![Control::PolicyNamed(PolicyName::PLAIN)];
        let command = ClientCommand::Control { by: user(), controls };
        self.hall.submit(&stream, command, None).await.unwrap();
        (room, stream)
    }

    /// Returns the conversation that is bound to a place.
    pub async fn bound(&self, place: &str) -> Option<StreamId> {
        self.hall.bound_to(&chat(place)).await.unwrap()
    }

    /// Makes a conversation with both agents that is bound to a place by hand.
    pub async fn bind(&self, place: &str) -> StreamId {
        let created = self.hall.create("Review".into(), Default::default(), user(), None).await;
        let stream = created.unwrap().stream;
        let mut controls = vec![Control::BindChat(chat(place))];
        controls.extend(["analyst", "writer"].map(invitation));
        let command = ClientCommand::Control { by: user(), controls };
        self.hall.submit(&stream, command, None).await.unwrap();
        stream
    }

    /// Posts words of an agent.
    pub async fn speak(&self, stream: &StreamId, agent: &str, text: &str) -> Seq {
        let by = Actor { id: agent.into(), human: false, proven: true };
        let post = ClientCommand::Post(Post::new(by, text));
        self.hall.submit(stream, post, None).await.unwrap().event.unwrap().seq
    }

    /// Posts words of the person on the page.
    pub async fn speak_as_person(&self, stream: &StreamId, text: &str) -> Seq {
        let post = ClientCommand::Post(Post::new(user(), text));
        self.hall.submit(stream, post, None).await.unwrap().event.unwrap().seq
    }

    /// Asks a question of the analyst, about a folder.
    pub async fn ask(&self, stream: &StreamId) {
        let question = Question::new(
            "Remove the folder `build`",
            vec![
                PermissionOption::new("yes", "Yes, this once", OptionKind::AllowOnce),
                PermissionOption::new("no", "No", OptionKind::RejectOnce),
            ],
        );
        let command = EngineCommand::AskQuestion {
            permission: PermissionId::new("p1"),
            participant: "analyst".into(),
            question: Box::new(question),
        };
        self.hall.tell(stream, command, None).await.unwrap();
    }

    /// Waits until the delivery of an event to a place has ended. Returns its state and evidence.
    pub async fn ended(&self, place: &str, seq: Seq) -> (DeliveryState, String) {
        loop {
            let target = Target::Chat(chat(place));
            let all = self.store.outbox.of_target(&target, None, 1000).await.unwrap();
            let found = all.into_iter().find(|one| one.through_seq == seq);
            match found.filter(|one| one.state.is_settled()) {
                Some(found) => return (found.state, found.evidence),
                None => tokio::task::yield_now().await,
            }
        }
    }

    pub async fn events(&self, stream: &StreamId) -> Vec<RecordedEvent> {
        self.hall.read(stream, Seq(0), None).await.unwrap().events
    }

    /// Returns the words of a conversation, in its order.
    pub async fn words(&self, stream: &StreamId) -> Vec<String> {
        let events = self.events(stream).await;
        events.iter().filter_map(|one| one.event.body().map(str::to_owned)).collect()
    }

    /// Waits until words are in a conversation, and checks that they are there once.
    pub async fn entered(&self, stream: &StreamId, text: &str) {
        while !self.words(stream).await.iter().any(|said| said == text) {
            tokio::task::yield_now().await;
        }
        let said = self.words(stream).await;
        assert_eq!(said.iter().filter(|said| *said == text).count(), 1, "{said:?}");
    }

    /// Returns the channel as surfaces show it.
    pub async fn channel(&self) -> ChannelStatus {
        let channels = self.hall.as_(self.owner.clone()).channels().await.unwrap();
        channels.into_iter().find(|channel| channel.name == "matrix").unwrap()
    }
}

pub fn chat(place: &str) -> Chat {
    format!("matrix:{place}").parse().unwrap()
}

pub fn user() -> Actor {
    Actor::human("user")
}

pub fn invitation(agent: &str) -> Control {
    let profile =
        Profile { client: Some("elsewhere".into()), model: Some("m".into()), ..Profile::default() };
    let facts = Registry::default().facts("elsewhere");
    Control::Invite(Invite::new(agent, profile, facts))
}
