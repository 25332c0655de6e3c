//! What a message to a chat of Telegram costs, against one bare call of the same service.
//!
//! `cargo bench -p moothall --bench carry` runs a hall over SQLite with bots of the fake service.
//! It prints how long the service waits for a message after its commit, beside a bare call over a
//! kept connection and a `fdatasync` of the same run, because the outbox keeps one note before it
//! sends. Then it prints the processor time for each message and the memory over 10,000 of them,
//! with the fake in a process of its own; the rate under Telegram's limits, which the fake keeps as
//! well; and the processor time of bots that wait for messages.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use moothall_channels::config::{BotConfig, BotTable};
use moothall_channels::telegram::bucket::CallRates;
use moothall_channels::telegram::client::connector;
use moothall_channels::{Channels, ChannelsConfig, TelegramConfig};
use moothall_engine::access::{Access, Mode, NewPairing, Scopes, Secret, TokenKind};
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Store, SystemClock, Target};
use moothall_engine::registry::Registry;
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control, Post};
use moothall_kernel::ids::StreamId;
use moothall_kernel::policy::Policy;
use moothall_store::SqliteLog;
use moothall_testkit::measure::{cpu, micros};
use moothall_testkit::telegram::{Bot, CallOutcome, ChatId, TelegramServer};
use serde_json::{Value, json};

/// Messages one after the other, each after the receipt of the one before.
const SINGLE: usize = 1_000;
/// Messages at once, for processor time and memory.
const MANY: usize = 10_000;
/// Messages between two looks at the memory.
const STEP: usize = 2_500;
/// Time for which messages are sent under Telegram's limits.
const PRESSED: Duration = Duration::from_secs(60);
/// Time for which bots wait for messages.
const IDLE: Duration = Duration::from_secs(20);
const IDLE_BOTS: usize = 10;
/// The argument by which this program is the fake service.
const AS_FAKE: &str = "--as-fake";

fn text(n: usize) -> String {
    format!("message {n}: some words that a person would say in a conversation, and a few more")
}

/// A hall with bots of a service.
struct Stage {
    hall: Hall,
    store: Store,
    _channels: Channels,
    folder: tempfile::TempDir,
}

impl Stage {
    async fn open(url: &str, tokens: &[&str], rates: CallRates) -> Self {
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
        let bots = tokens.iter().enumerate().map(|(number, token)| {
            (format!("agent{number}"), BotConfig { bot_token: (*token).to_owned() })
        });
        let telegram = TelegramConfig {
            base_url: url.to_owned(),
            bots: BotTable::ByAgent(bots.collect()),
            rates,
            ..TelegramConfig::default()
        };
        let config = ChannelsConfig { telegram, ..ChannelsConfig::default() };
        let kept = folder.path().to_owned();
        let channels = Channels::open(&hall, Mode::Local, config, kept).await.unwrap();
        Self { hall, store, _channels: channels, folder }
    }

    /// Makes a conversation, bound to a chat if one is given.
    async fn thread(&self, chat: Option<i64>) -> StreamId {
        let begun = self.hall.create("bench".into(), Policy::default(), user(), None).await;
        let stream = begun.unwrap().stream;
        if let Some(chat) = chat {
            let chat: Chat = format!("telegram:{chat}").parse().unwrap();
            let controls = vec![Control::BindChat(chat)];
            let command = ClientCommand::Control { by: user(), controls };
            self.hall.submit(&stream, command, None).await.unwrap();
        }
        stream
    }

    async fn post(&self, stream: &StreamId, n: usize) {
        let post = ClientCommand::Post(Post::new(user(), text(n)));
        self.hall.submit(stream, post, None).await.unwrap();
    }

    /// Pairs the account of a private chat, because nothing is sent to others.
    async fn pair(&self, account: i64) {
        let secret = Secret::fresh(TokenKind::Startup).unwrap();
        let access = Access::new(self.hall.clone(), Mode::Local, Some(&secret));
        let owner = access.identify(secret.reveal()).await.unwrap().unwrap();
        let wanted = NewPairing { channel: "telegram".into(), scopes: Scopes::default() };
        let (code, _) = access.offer_pairing(&owner, wanted).await.unwrap();
        access.accept_pairing(code.reveal(), &format!("telegram:{account}")).await.unwrap();
    }

    /// Waits until a chat is owed nothing.
    async fn settled(&self, chat: i64) {
        let chat: Chat = format!("telegram:{chat}").parse().unwrap();
        let target = Target::Chat(chat);
        while !self.store.outbox.pending_deliveries(&target, 0, 1).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn user() -> Actor {
    Actor::human("user")
}

/// Returns the value below which this share of the times is.
fn share(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    micros(times[(times.len() * percent / 100).min(times.len() - 1)])
}

/// Makes a bot that hears everything, and a group with it.
fn bot_with_group(server: &TelegramServer, name: &str) -> (Bot, ChatId) {
    let bot = server.add_bot(name, name);
    server.set_privacy(&bot, false);
    let (person, group) = (server.person(7, "Ann"), server.supergroup(name));
    server.enter(group, person);
    server.join(group, &bot, person);
    (bot, group)
}

fn body(chat: i64, n: usize) -> Value {
    json!({"chat_id": chat, "text": text(n), "link_preview_options": {"is_disabled": true}})
}

/// Measures single messages: from their commit to the receipt by the service.
async fn measure_latency() {
    let server = TelegramServer::start().await.unwrap();
    let (bot, group) = bot_with_group(&server, "carried_bot");
    let (bare_bot, bare_group) = bot_with_group(&server, "bare_bot");
    let stage = Stage::open(&server.url(), &[&bot.token], CallRates::UNLIMITED).await;
    server.wait_for(|it| it.is_polling(&bot)).await;
    let stream = stage.thread(Some(group.id)).await;
    stage.settled(group.id).await;
    let url = format!("{}/bot{}/sendMessage", server.url(), bare_bot.token);
    let http = connector(&url).unwrap();
    let mut file = File::create(stage.folder.path().join("floor")).unwrap();
    let (mut carried, mut bare, mut synced) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..SINGLE {
        let before = server.count(group);
        stage.post(&stream, n).await;
        let committed = Instant::now();
        server.wait_for(|it| it.count(group) > before).await;
        let received = server.newest_call("sendMessage").unwrap().at;
        carried.push(received.saturating_duration_since(committed));
        stage.settled(group.id).await;

        let began = Instant::now();
        let answer = http.post(&url).json(&body(bare_group.id, n)).send().await.unwrap();
        answer.bytes().await.unwrap();
        bare.push(server.newest_call("sendMessage").unwrap().at - began);

        let began = Instant::now();
        file.write_all(text(n).as_bytes()).unwrap();
        file.sync_data().unwrap();
        synced.push(began.elapsed());
    }
    println!("{:>32} {:>10} {:>10}", "from commit to receipt, us", "p50", "p99");
    for (name, times) in
        [("carried", &mut carried), ("a bare call", &mut bare), ("fdatasync", &mut synced)]
    {
        println!("{name:>32} {:>10.0} {:>10.0}", share(times, 50), share(times, 99));
    }
    let floor = |percent, bare: &mut [Duration], synced: &mut [Duration]| {
        share(bare, percent) + share(synced, percent)
    };
    let [p50, p99] = [50, 99].map(|it| share(&mut carried, it) / floor(it, &mut bare, &mut synced));
    println!("{:>32} {p50:>10.2} {p99:>10.2}", "ratio to call and fdatasync");
}

/// The fake service in a process of its own. Dropping it ends it.
struct FakeProcess {
    child: Child,
    url: String,
    tokens: Vec<String>,
    groups: Vec<i64>,
}

impl FakeProcess {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(AS_FAKE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).unwrap();
        let all = |name: &str| first[name].as_array().unwrap().clone();
        Self {
            child,
            url: first["url"].as_str().unwrap().to_owned(),
            tokens: all("tokens").iter().map(|it| it.as_str().unwrap().to_owned()).collect(),
            groups: all("groups").iter().map(|it| it.as_i64().unwrap()).collect(),
        }
    }
}

impl Drop for FakeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves as the fake until the other process is gone.
async fn serve_as_fake() {
    let server = TelegramServer::start().await.unwrap();
    let all: Vec<(Bot, ChatId)> =
        (0..IDLE_BOTS).map(|n| bot_with_group(&server, &format!("bot{n}_bot"))).collect();
    let tokens: Vec<&str> = all.iter().map(|(bot, _)| bot.token.as_str()).collect();
    let groups: Vec<i64> = all.iter().map(|(_, group)| group.id).collect();
    println!("{}", json!({"url": server.url(), "tokens": tokens, "groups": groups}));
    server.run().await.unwrap();
}

fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Measures many messages: processor time and memory.
async fn measure_many() {
    let fake = FakeProcess::start();
    let stage = Stage::open(&fake.url, &[&fake.tokens[0]], CallRates::UNLIMITED).await;
    let unbound = stage.thread(None).await;
    let began = cpu();
    for n in 0..STEP {
        stage.post(&unbound, n).await;
    }
    let posting = micros(cpu() - began) / STEP as f64;

    let stream = stage.thread(Some(fake.groups[0])).await;
    stage.settled(fake.groups[0]).await;
    println!("{:>32} {:>10} {:>14}", "messages so far", "MiB", "messages/s");
    let began = cpu();
    for step in 0..MANY / STEP {
        let clock = Instant::now();
        for n in 0..STEP {
            stage.post(&stream, step * STEP + n).await;
        }
        stage.settled(fake.groups[0]).await;
        let rate = STEP as f64 / clock.elapsed().as_secs_f64();
        println!("{:>32} {:>10.1} {rate:>14.0}", (step + 1) * STEP, resident_mib());
    }
    let carrying = micros(cpu() - began) / MANY as f64 - posting;

    let url = format!("{}/bot{}/sendMessage", fake.url, fake.tokens[1]);
    let http = connector(&url).unwrap();
    let began = cpu();
    for n in 0..STEP {
        let answer = http.post(&url).json(&body(fake.groups[1], n)).send().await.unwrap();
        answer.bytes().await.unwrap();
    }
    let bare = micros(cpu() - began) / STEP as f64;
    println!(
        "{:>32} {:>10} {:>14} {:>8}",
        "processor time us/message", "carried", "a bare call", "ratio"
    );
    println!("{:>32} {carrying:>10.0} {bare:>14.0} {:>8.2}", "", carrying / bare);
}

/// Sends as much as Telegram's limits permit to some chats of one bot; prints the rate.
async fn press(server: &TelegramServer, name: &str, chats: &[(Bot, ChatId)], limit: f64) {
    let bot = &chats[0].0;
    let stage = Stage::open(&server.url(), &[&bot.token], CallRates::TELEGRAM).await;
    server.wait_for(|it| it.is_polling(bot)).await;
    let mut streams = Vec::new();
    for (_, chat) in chats {
        stage.pair(chat.id).await;
        streams.push(stage.thread(Some(chat.id)).await);
    }
    let time = PRESSED + CallRates::TELEGRAM.group.span;
    let each = (limit * time.as_secs_f64() / chats.len() as f64) as usize + 10;
    for n in 0..each {
        for stream in &streams {
            stage.post(stream, n).await;
        }
    }
    // A burst comes first, and for a span of the longest limit fewer calls come behind it.
    tokio::time::sleep(CallRates::TELEGRAM.group.span).await;
    let began = Instant::now();
    tokio::time::sleep(PRESSED).await;
    let calls = server.calls_of(bot, "sendMessage");
    let within = |at: Instant| at >= began && at < began + PRESSED;
    let (mut done, mut refused) = (0, 0);
    for call in calls.iter().filter(|call| within(call.at)) {
        match call.outcome {
            CallOutcome::Success(_) => done += 1,
            _ => refused += 1,
        }
    }
    let rate = f64::from(done) / PRESSED.as_secs_f64();
    println!("{name:>32} {rate:>10.2} {limit:>10.2} {:>7.0} % {refused:>10}", 100.0 * rate / limit);
}

async fn measure_pressed() {
    let server = TelegramServer::start().await.unwrap();
    let (group_bot, group) = bot_with_group(&server, "group_bot");
    let (single, _) = bot_with_group(&server, "single_bot");
    let (many, _) = bot_with_group(&server, "many_bot");
    let person = server.person(8, "Bob");
    let private = server.private(person, &single);
    let crowd: Vec<(Bot, ChatId)> = (1_000..1_060)
        .map(|id| (many.clone(), server.private(server.person(id, "Person"), &many)))
        .collect();
    server.limit_rates(true);
    println!(
        "{:>32} {:>10} {:>10} {:>9} {:>10}",
        "under Telegram's limits", "calls/s", "limit", "share", "refused"
    );
    let (group, private) = ([(group_bot, group)], [(single, private)]);
    tokio::join!(
        press(&server, "one group", &group, 20.0 / 60.0),
        press(&server, "one private chat", &private, 1.0),
        press(&server, "60 private chats", &crowd, 30.0),
    );
    println!("budget: 95 % of the limit that the bucket keeps: in a group 18 of Telegram's 20");
}

/// Measures bots that wait for messages.
async fn measure_idle() {
    let fake = FakeProcess::start();
    let tokens: Vec<&str> = fake.tokens.iter().map(String::as_str).collect();
    let idle = async |tokens: &[&str]| {
        let stage = Stage::open(&fake.url, tokens, CallRates::TELEGRAM).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let began = cpu();
        tokio::time::sleep(IDLE).await;
        drop(stage);
        micros(cpu() - began) / IDLE.as_secs_f64()
    };
    let (with, without) = (idle(&tokens).await, idle(&[]).await);
    println!("{:>32} {:>10} {:>14}", "waiting, processor us/s", "no bot", "10 bots");
    println!("{:>32} {without:>10.0} {with:>14.0}", "");
}

#[tokio::main]
async fn main() {
    if std::env::args().any(|arg| arg == AS_FAKE) {
        return serve_as_fake().await;
    }
    // First, because a hall may go on working for a while after its figures were taken.
    measure_idle().await;
    measure_latency().await;
    measure_many().await;
    measure_pressed().await;
}
