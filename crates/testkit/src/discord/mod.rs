//! A fake of Discord on loopback: its REST interface and its gateway, as strict as the service.
//!
//! It holds people, bots, servers, channels and messages. A test plays the people; bots use the
//! two interfaces. Every call is recorded, and faults of the network and of the service can be
//! queued or drawn at random.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use moothall_testkit::discord::DiscordServer;
//!
//! let server = DiscordServer::start().await.unwrap();
//! let ann = server.person("Ann");
//! let guild = server.guild("Judges");
//! let channel = server.text_channel(guild, "review");
//! server.say(channel, ann, "Hello.");
//! assert_eq!(server.texts(channel), ["Hello."]);
//! # });
//! ```

mod world;
mod permission;
mod objects;
mod refusal;
mod journal;
mod faults;
mod limits;
mod spec;
mod checks;
mod messages;
mod webhooks;
mod interactions;
mod asking;
mod routes;
mod gateway;
mod people;
mod acts;
mod shown;

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub use faults::{GatewayFault, RestFault};
pub use journal::{CallResult, RestCall};
pub use people::ReplyDraft;
pub use permission::Permission;
pub use shown::{ChannelButton, ChannelMessage, ShownInteraction};
pub use world::{ChannelId, DiscordBot, DiscordPerson, GuildId, InteractionId, MessageId};

use crate::connection::{BreakableListener, Connections};
use world::DiscordWorld;

/// The variable with the folder for journals.
const JOURNAL_FOLDER: &str = "MOOTHALL_DISCORD_JOURNAL";
/// Longest time that [`DiscordServer::wait_for`] waits.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A fake server of Discord. It ends when it is dropped.
pub struct DiscordServer {
    address: SocketAddr,
    shared: Arc<DiscordState>,
    connections: Connections,
    serving: JoinHandle<io::Result<()>>,
}

impl DiscordServer {
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
        let (shared, connections) = (Arc::new(DiscordState::default()), Connections::default());
        shared.world().gateway_url = format!("ws://{address}");
        let listener = BreakableListener { listener, connections: connections.clone() };
        let routes = routes::routes(shared.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { address, shared, connections, serving })
    }

    /// Returns the URL before `/api/v10/`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the URL of the gateway.
    pub fn gateway_url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Ignores fields that a route does not have. Foreign clients need it.
    pub fn set_lenient(&self, is_lenient: bool) {
        self.shared.change(|world| world.is_lenient = is_lenient);
    }

    /// RateLimits rates: 5 calls in 5 seconds for each bot, route and channel.
    pub fn limit_rates(&self, is_limited: bool) {
        self.shared.change(|world| world.limits.is_on = is_limited);
    }

    /// Queues a fault for the next call of a route, such as `POST /channels/{}/messages`.
    pub fn fault(&self, route: &str, fault: RestFault) {
        self.shared.change(|world| world.faults.queue(route, fault));
    }

    /// Draws a fault for `percent` of 100 calls, from a seed. No choices: no faults.
    pub fn fault_at_random(&self, seed: u64, percent: u64, choices: &[RestFault]) {
        self.shared.change(|world| world.faults.at_random(seed, percent, choices.to_vec()));
    }

    /// Returns the number of calls that a gate has held before they were done.
    pub fn held(&self) -> usize {
        self.shared.world().held
    }

    /// Returns the calls so far, in the order in which they were done.
    pub fn calls(&self) -> Vec<RestCall> {
        self.shared.world().journal.clone()
    }

    /// Returns the calls of a route so far.
    pub fn calls_of(&self, route: &str) -> Vec<RestCall> {
        let world = self.shared.world();
        world.journal.iter().filter(|call| call.route == route).cloned().collect()
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
}

impl Drop for DiscordServer {
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
struct DiscordState {
    world: Mutex<DiscordWorld>,
    /// Counts the changes.
    changes: watch::Sender<u64>,
}

impl DiscordState {
    fn world(&self) -> MutexGuard<'_, DiscordWorld> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the world and wakes everything that waits for a change.
    fn change<T>(&self, change: impl FnOnce(&mut DiscordWorld) -> T) -> T {
        let result = change(&mut self.world());
        self.changes.send_modify(|count| *count += 1);
        result
    }
}
