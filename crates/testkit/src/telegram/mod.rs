//! A fake of Telegram's Bot API on loopback, as strict as the service.
//!
//! It holds people, bots, chats and messages. A test plays the people; bots use the API. Every call
//! is recorded, and faults of the network and of the service can be queued or drawn at random.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use moothall_testkit::telegram::TelegramServer;
//!
//! let server = TelegramServer::start().await.unwrap();
//! let bot = server.add_bot("critic_bot", "Critic");
//! let ann = server.person(7, "Ann");
//! let group = server.supergroup("Review");
//! server.join(group, &bot, ann);
//! server.say(group, ann, "/start@critic_bot");
//! assert_eq!(server.shown(group).last().unwrap().text, "/start@critic_bot");
//! # });
//! ```

mod world;
mod objects;
mod entities;
mod refusal;
mod journal;
mod faults;
mod rates;
mod spec;
mod hearing;
mod sending;
mod drafting;
mod ephemeral;
mod managed;
mod asking;
mod polling;
mod routes;
mod draft;
mod people;
mod shown;

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub use draft::MessageDraft;
pub use drafting::ShownDraft;
pub use faults::TelegramFault;
pub use journal::{BotCall, CallOutcome};
pub use shown::{ShownButton, ShownMessage};
pub use world::{Bot, ChatId, MessageKey, PersonId, PressAnswer};

use crate::connection::{BreakableListener, Connections};
use world::TelegramWorld;

/// The variable with the folder for journals.
const JOURNAL_FOLDER: &str = "MOOTHALL_TELEGRAM_JOURNAL";
/// Longest time that [`TelegramServer::wait_for`] waits.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A fake server of the Bot API. It ends when it is dropped.
pub struct TelegramServer {
    address: SocketAddr,
    shared: Arc<ServerState>,
    connections: Connections,
    serving: JoinHandle<io::Result<()>>,
}

impl TelegramServer {
    /// Starts the server on a free port of the loopback interface.
    ///
    /// # Errors
    /// No port is free.
    pub async fn start() -> io::Result<Self> {
        Self::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Starts the server on an address.
    ///
    /// # Errors
    /// The address is taken.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (shared, connections) = (Arc::new(ServerState::default()), Connections::default());
        let listener = BreakableListener { listener, connections: connections.clone() };
        let routes = routes::routes(shared.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { address, shared, connections, serving })
    }

    /// Returns the URL before `/bot<token>/`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ignores fields that a method does not have. Foreign clients need it.
    pub fn set_lenient(&self, is_lenient: bool) {
        self.shared.change(|world| world.is_lenient = is_lenient);
    }

    /// Limits rates: 30 calls a second for a bot, 1 a second for a chat and 20 a minute for a
    /// group.
    pub fn limit_rates(&self, is_limited: bool) {
        self.shared.change(|world| world.rates.is_limited = is_limited);
    }

    /// Lets bots hear each other.
    pub fn let_bots_hear_bots(&self, is_on: bool) {
        self.shared.change(|world| world.bots_hear_bots = is_on);
    }

    /// Queues a fault for a bot's next call of a method. Faults of updates wait for a batch that
    /// they can change.
    pub fn fault(&self, bot: &Bot, method: &str, fault: TelegramFault) {
        self.shared.change(|world| world.faults.queue(bot.id, method, fault));
    }

    /// Drops all queued faults: the service is well again.
    pub fn mend(&self) {
        self.shared.change(|world| world.faults.clear());
    }

    /// Returns the number of calls that a gate has held before they were done.
    pub fn held(&self) -> usize {
        self.shared.world().held
    }

    /// Draws a fault for `percent` of 100 calls of all bots, from a seed. No choices: no faults.
    pub fn fault_at_random(&self, seed: u64, percent: u64, choices: &[TelegramFault]) {
        self.shared.change(|world| world.faults.at_random(seed, percent, choices.to_vec()));
    }

    /// Returns the calls so far, in the order in which they were done.
    pub fn calls(&self) -> Vec<BotCall> {
        self.shared.world().journal.clone()
    }

    /// Returns the newest call of a method.
    pub fn newest_call(&self, method: &str) -> Option<BotCall> {
        let world = self.shared.world();
        world.journal.iter().rev().find(|call| call.method == method).cloned()
    }

    /// Returns a bot's calls of a method so far.
    pub fn calls_of(&self, bot: &Bot, method: &str) -> Vec<BotCall> {
        let world = self.shared.world();
        let is_of = |call: &&BotCall| call.bot == bot.username && call.method == method;
        world.journal.iter().filter(is_of).cloned().collect()
    }

    /// Returns a bot's updates that were not confirmed.
    pub fn pending(&self, bot: &Bot) -> Vec<Value> {
        let world = self.shared.world();
        world.bot(bot.id).map(|state| state.updates.iter().cloned().collect()).unwrap_or_default()
    }

    /// True if a poll of the bot waits for updates.
    pub fn is_polling(&self, bot: &Bot) -> bool {
        self.shared.world().bot(bot.id).is_some_and(|state| state.waiting > 0)
    }

    /// Waits until the condition holds. It is tried after each change.
    ///
    /// # Panics
    /// The condition does not hold within a minute; the panic lists the calls.
    pub async fn wait_for(&self, mut condition: impl FnMut(&Self) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        let waiting = changes.wait_for(|_| condition(self));
        let is_done = timeout(WAIT_MAX, waiting).await.is_ok();
        assert!(is_done, "the condition does not hold; calls so far:\n{}", self.journal());
    }

    /// Returns the journal, one call a line.
    fn journal(&self) -> String {
        let world = self.shared.world();
        world.journal.iter().fold(String::new(), |mut lines, call| {
            let _ = writeln!(lines, "{}", call.line());
            lines
        })
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// Serving fails.
    pub async fn run(mut self) -> io::Result<()> {
        (&mut self.serving).await.map_err(io::Error::other)?
    }
}

impl Drop for TelegramServer {
    fn drop(&mut self) {
        self.serving.abort();
        self.connections.close();
        // A lenient server's calls are those of foreign clients.
        if let Some(folder) = std::env::var_os(JOURNAL_FOLDER)
            && !self.shared.world().is_lenient
        {
            static WRITTEN: AtomicUsize = AtomicUsize::new(0);
            let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number}.jsonl", std::process::id());
            if let Err(error) = std::fs::write(Path::new(&folder).join(name), self.journal()) {
                eprintln!("the journal cannot be written: {error}");
            }
        }
    }
}

/// The state that tests and handlers have in common.
#[derive(Default)]
struct ServerState {
    world: Mutex<TelegramWorld>,
    /// Counts the changes.
    changes: watch::Sender<u64>,
}

impl ServerState {
    fn world(&self) -> MutexGuard<'_, TelegramWorld> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the world and wakes everything that waits for a change.
    fn change<T>(&self, change: impl FnOnce(&mut TelegramWorld) -> T) -> T {
        let result = change(&mut self.world());
        self.changes.send_modify(|count| *count += 1);
        result
    }
}
