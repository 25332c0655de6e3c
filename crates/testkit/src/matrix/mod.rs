//! A small, strict homeserver of Matrix on loopback, for one application service.
//!
//! It holds users, rooms and their events, and sends the service each event of a room in which an
//! account of the service is. A test plays the people. What a real homeserver refuses is refused:
//! unknown accounts, accounts outside of the namespace, words of a user who is not in the room,
//! events that are too large.

mod world;
mod routes;
mod people;
mod pushing;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub use world::{HomeserverFault, ShownEvent};

use crate::connection::{BreakableListener, Connections};
use world::HomeserverWorld;

/// The name of the homeserver.
pub const DOMAIN: &str = "example.org";
const AS_TOKEN: &str = "as-0123456789abcdef0123456789abcdef";
const HS_TOKEN: &str = "hs-0123456789abcdef0123456789abcdef";
/// Longest time that [`Homeserver::wait_for`] waits.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A homeserver. It ends when it is dropped.
pub struct Homeserver {
    address: SocketAddr,
    /// The port of the application service.
    service: u16,
    shared: Arc<HomeserverState>,
    connections: Connections,
    tasks: [JoinHandle<()>; 2],
}

impl Homeserver {
    /// Starts the homeserver on a free port of the loopback interface.
    ///
    /// # Errors
    /// No port is free.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let address = listener.local_addr()?;
        // The service's address stands in its registration before the service starts.
        let free = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let service = free.local_addr()?.port();
        drop(free);
        let (shared, connections) = (Arc::new(HomeserverState::default()), Connections::default());
        let listener = BreakableListener { listener, connections: connections.clone() };
        let routes = routes::routes(shared.clone());
        let serving = tokio::spawn(async move {
            let _ = axum::serve(listener, routes).await;
        });
        let pushing = tokio::spawn(pushing::push_all(shared.clone(), service));
        Ok(Self { address, service, shared, connections, tasks: [serving, pushing] })
    }

    /// Returns the address of the homeserver.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the text of the service's registration.
    pub fn registration(&self) -> String {
        json!({
            "id": "moothall",
            "url": format!("http://127.0.0.1:{}", self.service),
            "as_token": AS_TOKEN,
            "hs_token": HS_TOKEN,
            "sender_localpart": "moothall",
            "namespaces": {"users": [{"exclusive": true, "regex": "@moothall_.*:example\\.org"}]},
        })
        .to_string()
    }

    /// Returns the address of the service.
    pub fn service(&self) -> String {
        format!("http://127.0.0.1:{}", self.service)
    }

    /// Queues a fault for the next message that the service sends.
    pub fn fault(&self, fault: HomeserverFault) {
        self.shared.change(|world| world.faults.push_back(fault));
    }

    /// Returns the number of faults that are still to come.
    pub fn faults_left(&self) -> usize {
        self.shared.world().faults.len()
    }

    /// Returns the id of the newest transaction in which the service sent a message.
    pub fn newest_txn(&self) -> String {
        self.shared.world().newest_txn.clone()
    }

    /// Forgets all transactions, as a restart does.
    pub fn restart(&self) {
        self.shared.change(|world| world.sent.clear());
    }

    /// Answers nothing but errors, or again as usual.
    pub fn set_away(&self, is_away: bool) {
        self.shared.change(|world| world.is_away = is_away);
    }

    /// Sends the service nothing for a while. What happens meanwhile is one transaction later.
    pub fn hold_events(&self, is_held: bool) {
        self.shared.change(|world| world.is_held = is_held);
    }

    /// Sends events of the past again, as one transaction with another id.
    pub fn repeat(&self, events: Vec<Value>) {
        self.shared.change(|world| world.outgoing.extend(events));
    }

    /// Returns the events that the service was sent.
    pub fn pushed(&self) -> Vec<Value> {
        self.shared.world().pushed.clone()
    }

    /// True if the service took all events.
    pub fn is_idle(&self) -> bool {
        let world = self.shared.world();
        world.outgoing.is_empty() && !world.is_pushing
    }

    /// Waits until the condition holds. It is tried after each change.
    ///
    /// # Panics
    /// The condition does not hold within a minute; the panic shows the rooms.
    pub async fn wait_for(&self, mut condition: impl FnMut(&Self) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        let waiting = changes.wait_for(|_| condition(self));
        let is_done = timeout(WAIT_MAX, waiting).await.is_ok();
        assert!(is_done, "the condition does not hold:\n{}", self.shared.world().drawn());
    }
}

impl Drop for Homeserver {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.connections.close();
    }
}

/// The state that tests and handlers have in common.
#[derive(Default)]
struct HomeserverState {
    world: Mutex<HomeserverWorld>,
    /// Counts the changes.
    changes: watch::Sender<u64>,
}

impl HomeserverState {
    fn world(&self) -> MutexGuard<'_, HomeserverWorld> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the world and wakes everything that waits for a change.
    fn change<T>(&self, change: impl FnOnce(&mut HomeserverWorld) -> T) -> T {
        let result = change(&mut self.world());
        self.changes.send_modify(|count| *count += 1);
        result
    }
}
