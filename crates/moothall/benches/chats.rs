//! The cost of a message to a chat of Discord or Matrix, against one bare call of the same service.
//!
//! `cargo bench -p moothall --bench chats` runs a hall over SQLite that speaks to the fakes of both
//! services. For each it prints how long the service waits for a message after its commit, beside a
//! bare call over a kept connection and a `fdatasync` of the same run, because the outbox keeps one
//! note before it sends. Then it prints the processor time for each message, with the fake in a
//! process of its own.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use moothall_channels::config::DiscordBotConfig;
use moothall_channels::{Channels, ChannelsConfig, DiscordConfig, MatrixConfig};
use moothall_engine::access::Mode;
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Store, SystemClock, Target};
use moothall_engine::registry::Registry;
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite, Post};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Profile;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_store::SqliteLog;
use moothall_testkit::discord::{ChannelId, DiscordServer};
use moothall_testkit::matrix::Homeserver;
use moothall_testkit::measure::{cpu, micros};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Messages one after the other, each after the receipt of the one before.
const SINGLE: usize = 1_000;
/// Messages at once, for processor time.
const MANY: usize = 2_500;
/// The agent in the name of which messages are sent, through a bot or an account of its own.
const AGENT: &str = "analyst";
/// The argument by which this program is a fake service; the next one is the service's name.
const AS_FAKE: &str = "--as-fake";
const SERVICES: [&str; 2] = ["discord", "matrix"];

fn text(n: usize) -> String {
    format!("message {n}: some words that an agent would say in a conversation, and a few more")
}

/// The facts that a hall and a bare client know of a fake service.
#[derive(Clone, Serialize, Deserialize)]
struct Facts {
    service: String,
    url: String,
    gateway: String,
    /// The token of the agent's bot.
    token: String,
    registration: String,
    /// The chat to which a conversation is bound.
    chat: String,
    /// The address of bare calls, and their credential.
    bare_url: String,
    bare_credential: String,
}

/// A fake service with a chat for a hall and one for bare calls.
enum Fake {
    Discord { server: DiscordServer, channel: ChannelId, bare: ChannelId },
    Matrix { server: Homeserver, room: String, bare: String },
}

impl Fake {
    async fn start(service: &str) -> (Self, Facts) {
        if service == "discord" { Self::discord().await } else { Self::matrix().await }
    }

    async fn discord() -> (Self, Facts) {
        let server = DiscordServer::start().await.unwrap();
        // A bot tells of messages that another program sends as it, so bare calls have their own.
        let [(bot, channel), (other, bare)] = ["Analyst", "Bare"].map(|name| {
            let (bot, guild) = (server.add_bot(name), server.guild(name));
            server.invite(guild, &bot);
            (bot, server.text_channel(guild, "review"))
        });
        let facts = Facts {
            service: "discord".into(),
            url: server.url(),
            gateway: server.gateway_url(),
            token: bot.token,
            registration: String::new(),
            chat: format!("discord:{}", channel.0),
            bare_url: format!("{}/api/v10/channels/{}/messages", server.url(), bare.0),
            bare_credential: format!("Bot {}", other.token),
        };
        (Self::Discord { server, channel, bare }, facts)
    }

    async fn matrix() -> (Self, Facts) {
        let server = Homeserver::start().await.unwrap();
        let ann = server.user("ann");
        let [room, bare] = [(), ()].map(|()| server.room(&ann, &["moothall"]));
        let registration = server.registration();
        let read: Value = serde_json::from_str(&registration).unwrap();
        let facts = Facts {
            service: "matrix".into(),
            url: server.url(),
            gateway: String::new(),
            token: String::new(),
            chat: format!("matrix:{room}"),
            bare_url: format!(
                "{}/_matrix/client/v3/rooms/{bare}/send/m.room.message",
                server.url()
            ),
            bare_credential: format!("Bearer {}", read["as_token"].as_str().unwrap()),
            registration,
        };
        (Self::Matrix { server, room, bare }, facts)
    }

    /// Returns the number of messages in the hall's chat, and in that of bare calls.
    fn counts(&self) -> [usize; 2] {
        match self {
            Fake::Discord { server, channel, bare } => {
                [channel, bare].map(|it| server.texts(*it).len())
            }
            Fake::Matrix { server, room, bare } => [room, bare].map(|it| server.texts(it).len()),
        }
    }

    /// Waits until a chat has more messages than `before`: the hall's, or that of bare calls.
    async fn more(&self, bare: bool, before: usize) {
        let is_more = || self.counts()[usize::from(bare)] > before;
        match self {
            Fake::Discord { server, .. } => server.wait_for(|_| is_more()).await,
            Fake::Matrix { server, .. } => server.wait_for(|_| is_more()).await,
        }
    }
}

/// A client that makes bare calls.
struct BareClient {
    http: reqwest::Client,
    facts: Facts,
}

impl BareClient {
    async fn send(&self, n: usize) {
        let url = &self.facts.bare_url;
        let request = match self.facts.service.as_str() {
            "discord" => self.http.post(url).json(&json!({
                "content": text(n), "nonce": n.to_string(), "enforce_nonce": true,
                "allowed_mentions": {"parse": [], "replied_user": false},
            })),
            _ => {
                let url = format!("{url}/bare{n}?user_id=@moothall:example.org");
                self.http.put(url).json(&json!({"msgtype": "m.text", "body": text(n)}))
            }
        };
        let request = request.header("authorization", &self.facts.bare_credential);
        let answer = request.send().await.unwrap().error_for_status().unwrap();
        answer.bytes().await.unwrap();
    }
}

/// A hall with a chat of a service.
struct Stage {
    hall: Hall,
    store: Store,
    stream: StreamId,
    chat: Chat,
    _channels: Channels,
    folder: tempfile::TempDir,
}

impl Stage {
    async fn open(facts: &Facts) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::of(Arc::new(SqliteLog::open(&folder.path().join("data")).unwrap()));
        let parts = HallParts {
            store: store.clone(),
            clock: Arc::new(SystemClock),
            registry: Registry::default(),
            defaults: Policy::default(),
            budgets: Default::default(),
            owner: "bench".into(),
        };
        let hall = Hall::open(parts).await.unwrap();
        let config = config(facts, &folder);
        let kept = folder.path().to_owned();
        let channels = Channels::open(&hall, Mode::Local, config, kept).await.unwrap();
        let chat: Chat = facts.chat.parse().unwrap();
        let begun = hall.create("bench".into(), Policy::default(), user(), None).await;
        let stream = begun.unwrap().stream;
        let profile = Profile {
            client: Some("elsewhere".into()),
            model: Some("m".into()),
            ..Profile::default()
        };
        let invite = Invite::new(AGENT, profile, Registry::default().facts("elsewhere"));
        let controls = vec![
            Control::PolicyNamed(PolicyName::PLAIN),
            Control::BindChat(chat.clone()),
            Control::Invite(invite),
        ];
        let command = ClientCommand::Control { by: user(), controls };
        hall.submit(&stream, command, None).await.unwrap();
        let stage = Self { hall, store, stream, chat, _channels: channels, folder };
        stage.post(0).await;
        stage.settled().await;
        stage
    }

    async fn post(&self, n: usize) {
        let by = Actor { id: AGENT.into(), human: false, proven: true };
        let post = ClientCommand::Post(Post::new(by, text(n)));
        self.hall.submit(&self.stream, post, None).await.unwrap();
    }

    /// Waits until the chat is owed nothing.
    async fn settled(&self) {
        let target = Target::Chat(self.chat.clone());
        while !self.store.outbox.pending_deliveries(&target, 0, 1).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    }
}

fn config(facts: &Facts, folder: &tempfile::TempDir) -> ChannelsConfig {
    if facts.service == "matrix" {
        let registration = folder.path().join("registration.yaml");
        std::fs::write(&registration, &facts.registration).unwrap();
        let matrix = MatrixConfig {
            homeserver: facts.url.clone(),
            registration: registration.display().to_string(),
            ..MatrixConfig::default()
        };
        return ChannelsConfig { matrix: Some(matrix), ..ChannelsConfig::default() };
    }
    let mut discord = DiscordConfig {
        rest_url: facts.url.clone(),
        gateway_url: facts.gateway.clone(),
        ..DiscordConfig::default()
    };
    let bot = DiscordBotConfig { bot_token: Some(facts.token.clone()), picture: None };
    discord.bots.insert(AGENT.into(), bot);
    ChannelsConfig { discord, ..ChannelsConfig::default() }
}

fn user() -> Actor {
    Actor::human("user")
}

/// Returns the value below which this share of the times is.
fn share(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    micros(times[(times.len() * percent / 100).min(times.len() - 1)])
}

/// Measures single messages: from their commit to the receipt by the service.
async fn measure_latency(service: &str) {
    let (fake, facts) = Fake::start(service).await;
    let stage = Stage::open(&facts).await;
    let client = BareClient { http: reqwest::Client::new(), facts };
    client.send(0).await;
    let mut file = File::create(stage.folder.path().join("floor")).unwrap();
    let (mut carried, mut bare, mut synced) = (Vec::new(), Vec::new(), Vec::new());
    for n in 1..=SINGLE {
        let [before, bare_before] = fake.counts();
        stage.post(n).await;
        let committed = Instant::now();
        fake.more(false, before).await;
        carried.push(committed.elapsed());
        stage.settled().await;

        let began = Instant::now();
        tokio::join!(client.send(n), async {
            fake.more(true, bare_before).await;
            bare.push(began.elapsed());
        });

        let began = Instant::now();
        file.write_all(text(n).as_bytes()).unwrap();
        file.sync_data().unwrap();
        synced.push(began.elapsed());
    }
    println!("{:>32} {:>10} {:>10}", format!("{service}: commit to receipt, us"), "p50", "p99");
    for (name, times) in
        [("carried", &mut carried), ("a bare call", &mut bare), ("fdatasync", &mut synced)]
    {
        println!("{name:>32} {:>10.0} {:>10.0}", share(times, 50), share(times, 99));
    }
    let [p50, p99] = [50, 99].map(|percent| {
        share(&mut carried, percent) / (share(&mut bare, percent) + share(&mut synced, percent))
    });
    println!("{:>32} {p50:>10.2} {p99:>10.2}", "ratio to call and fdatasync");
}

/// The fake service in a process of its own. Dropping it ends it.
struct FakeProcess(Child);

impl FakeProcess {
    fn start(service: &str) -> (Self, Facts) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([AS_FAKE, service])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (Self(child), serde_json::from_str(&line).unwrap())
    }
}

impl Drop for FakeProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures the processor time of many messages.
async fn measure_many(service: &str) {
    let (_fake, facts) = FakeProcess::start(service);
    let stage = Stage::open(&facts).await;
    let client = BareClient { http: reqwest::Client::new(), facts };
    let unbound = Control::UnbindChat(stage.chat.clone());
    let began = cpu();
    for n in 0..MANY {
        stage.post(n).await;
    }
    stage.settled().await;
    let bound = micros(cpu() - began) / MANY as f64;
    let command = ClientCommand::Control { by: user(), controls: vec![unbound] };
    stage.hall.submit(&stage.stream, command, None).await.unwrap();
    stage.settled().await;
    let began = cpu();
    for n in 0..MANY {
        stage.post(n).await;
    }
    let carrying = bound - micros(cpu() - began) / MANY as f64;

    let began = cpu();
    for n in 1..=MANY {
        client.send(n).await;
    }
    let bare = micros(cpu() - began) / MANY as f64;
    let name = format!("{service}: processor us/message");
    println!("{name:>32} {:>10} {:>14} {:>8}", "carried", "a bare call", "ratio");
    println!("{:>32} {carrying:>10.0} {bare:>14.0} {:>8.2}", "", carrying / bare);
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == AS_FAKE) {
        let (fake, facts) = Fake::start(&arguments[at + 1]).await;
        println!("{}", serde_json::to_string(&facts).unwrap());
        std::future::pending::<()>().await;
        drop(fake);
    }
    for service in SERVICES {
        measure_latency(service).await;
        measure_many(service).await;
    }
}
