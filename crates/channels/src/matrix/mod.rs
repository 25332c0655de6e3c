//! Matrix: an application service of a homeserver, with an account for each agent.

pub mod registration;
mod names;
mod room;
mod client;
mod content;
mod endpoint;
mod events;
mod message;
mod members;
mod aliases;
mod places;
mod carry;
mod doubt;
mod cards;
mod health;
mod port;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use moothall_engine::hall::HallError;
use moothall_engine::residents::WeakHall;
use moothall_kernel::ids::{Seq, StreamId};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::config::MatrixConfig;
use crate::inbox::Inbox;
use crate::recent::MessageIndex;
use crate::typing;
use client::{MatrixClient, MatrixFault};
use content::{TXN, Voice};
use events::EventMemory;
use health::Health;
use names::Ghost;
use places::MatrixPlaces;
use registration::Registration;
use room::MatrixRoom;

/// Time after which the accounts leave a room that no person opened.
const WAITING_MAX: Duration = Duration::from_secs(3600);
/// Pause between two looks at rooms that wait.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// The channel to Matrix.
pub struct Matrix {
    client: MatrixClient,
    inbox: Arc<Inbox>,
    weak: WeakHall,
    settings: MatrixConfig,
    registration: Registration,
    health: Health,
    places: MatrixPlaces,
    /// The newest messages, by their rooms and events.
    messages: MessageIndex<(String, String)>,
    /// The accounts that exist and have their names.
    ready: Mutex<BTreeSet<Ghost>>,
    /// The newest events that were received. Held while a transaction is taken, because events take
    /// effect in their order.
    received: tokio::sync::Mutex<EventMemory>,
    tasks: Mutex<JoinSet<()>>,
    /// True while the channel waits for the operator after a restore.
    stopped: watch::Sender<bool>,
}

impl Matrix {
    /// Opens the channel: listens for the homeserver, and watches it.
    ///
    /// # Errors
    /// [`HallError`] if the registration cannot be used, or no HTTP client can be made.
    pub(crate) fn open(
        inbox: Arc<Inbox>,
        settings: &MatrixConfig,
        stopped: bool,
    ) -> Result<Arc<Self>, HallError> {
        let failed = |why: String| HallError::Failed(format!("[channels.matrix]: {why}"));
        if settings.homeserver.is_empty() || settings.registration.is_empty() {
            return Err(failed("`homeserver` and `registration` are needed".into()));
        }
        let registration = Registration::read(Path::new(&settings.registration));
        let registration = registration.map_err(|fault| failed(fault.to_string()))?;
        let bind = settings.bind.clone().or_else(|| registration.bind());
        let bind = bind.ok_or_else(|| {
            failed(format!(
                "the server cannot tell from the address {} where to listen for the homeserver. \
                 Set `bind`",
                registration.url
            ))
        })?;
        let client =
            MatrixClient::new(&settings.homeserver, &registration.as_token).map_err(failed)?;
        let matrix = Arc::new(Self {
            client,
            weak: inbox.hall().weak(),
            health: Health::new(inbox.hall().now()),
            inbox,
            settings: settings.clone(),
            registration,
            places: MatrixPlaces::default(),
            messages: MessageIndex::default(),
            ready: Mutex::default(),
            received: tokio::sync::Mutex::default(),
            tasks: Mutex::default(),
            stopped: watch::Sender::new(stopped),
        });
        matrix.watch(bind);
        Ok(matrix)
    }

    /// Starts the tasks of the channel.
    fn watch(self: &Arc<Self>, bind: String) {
        let weak = Arc::downgrade(self);
        let mut tasks = self.tasks();
        tasks.spawn(endpoint::listen(weak.clone(), bind));
        tasks.spawn(health::watch(weak.clone()));
        tasks.spawn(typing::show(weak.clone(), self.inbox.hall().changes()));
        tasks.spawn(async move {
            loop {
                tokio::time::sleep(LOOK_PAUSE).await;
                let Some(open) = weak.upgrade() else { return };
                open.leave_waiting(Instant::now()).await;
            }
        });
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ready(&self) -> MutexGuard<'_, BTreeSet<Ghost>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the channel waits for the operator after a restore.
    fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }

    /// Returns the accounts of all agents of the registry.
    fn agents(&self) -> Vec<Ghost> {
        let registry = self.inbox.hall().registry();
        registry.iter().map(|spec| Ghost::Agent(spec.client.clone())).collect()
    }

    /// Notes the event of a conversation that a message shows.
    fn note_message(&self, room: &str, event: &str, at: (StreamId, Seq)) {
        self.messages.note((room.to_owned(), event.to_owned()), at);
    }

    /// Answers in the room of an event, without the outbox: if the line does not arrive, it is not
    /// sent again. The homeserver takes a repeated answer to the same event one time.
    async fn say(&self, room: &MatrixRoom, line: &str, about: &str) {
        if let Err(fault) = self.try_to_say(room, line, about).await {
            tracing::warn!(%room, %fault, "an answer could not be sent");
        }
    }

    /// Sends a line to a room, by the agent of the talk or by any account in the room. Does nothing
    /// if no account of the server is in the room.
    async fn try_to_say(
        &self,
        room: &MatrixRoom,
        line: &str,
        about: &str,
    ) -> Result<(), MatrixFault> {
        let domain = self.domain().await?;
        let Some(place) = self.place(&room.id).await? else { return Ok(()) };
        let speaker = match &room.with {
            Some(agent) => Ghost::Agent(agent.clone()).user_id(&domain),
            None => self.voice_in(&place, &domain),
        };
        let Some(speaker) = speaker else { return Ok(()) };
        for (number, mut content) in
            content::contents(line, None, Voice::Notice).into_iter().enumerate()
        {
            let txn = format!("answer-{number}-{about}");
            content[TXN] = Value::from(txn.as_str());
            if number == 0 && about.starts_with('$') {
                content["m.relates_to"] = json!({"m.in_reply_to": {"event_id": about}});
            }
            self.client.send(&room.id, &speaker, "m.room.message", &txn, &content).await?;
        }
        Ok(())
    }

    /// Leaves the rooms that have waited too long, unless they were bound meanwhile.
    async fn leave_waiting(&self, now: Instant) {
        for (room, place) in self.places.all() {
            let since = place.waiting_since;
            if since.is_none_or(|at| now.saturating_duration_since(at) < WAITING_MAX) {
                continue;
            }
            // A person may have bound the room, or a talk in it, by hand.
            let Ok(bound) = self.inbox.hall().bound_chats().await else { continue };
            if bound.iter().filter_map(|(chat, _)| MatrixRoom::of(chat)).any(|it| it.id == room) {
                self.places.change(&room, |place| place.waiting_since = None);
                continue;
            }
            self.leave_all(&room).await;
        }
    }

    /// Takes all accounts of the server out of a room.
    async fn leave_all(&self, room: &str) {
        let Ok(domain) = self.domain().await else { return };
        let place = self.places.get(room).unwrap_or_default();
        for user in place.ghosts(&domain).iter().filter_map(|ghost| ghost.user_id(&domain)) {
            if let Err(fault) = self.client.leave(room, &user).await {
                tracing::debug!(room, %fault, "a room could not be left");
            }
        }
        self.places.remove(room);
    }
}
