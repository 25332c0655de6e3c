//! The rooms in which the server's accounts are, as far as events or answers of the homeserver show
//! them. The list is only in memory. After a restart the homeserver is asked again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::time::Instant;

use super::Matrix;
use super::client::MatrixFault;
use super::names::Ghost;
use super::room::MatrixRoom;

/// Number of rooms that are remembered.
const PLACES_MAX: usize = 10_000;

/// A room in which accounts of the server are, or were.
#[derive(Clone, Debug, Default)]
pub(super) struct MatrixPlace {
    /// The room's name.
    pub(super) title: String,
    /// The ids of all members that joined.
    pub(super) members: BTreeSet<String>,
    /// True if the room is encrypted, so that nothing can be read there.
    pub(super) is_encrypted: bool,
    /// Time at which the room began to wait for a person who opens it.
    pub(super) waiting_since: Option<Instant>,
}

impl MatrixPlace {
    /// Returns the accounts of the server in the room, the relay first.
    pub(super) fn ghosts(&self, domain: &str) -> BTreeSet<Ghost> {
        self.members.iter().filter_map(|user| Ghost::of(user, domain)).collect()
    }

    /// Returns the members that are not accounts of the server.
    pub(super) fn people<'a>(&'a self, domain: &'a str) -> impl Iterator<Item = &'a String> {
        self.members.iter().filter(move |user| Ghost::of(user, domain).is_none())
    }

    /// Returns the account of the server, if it is the only one in the room and at most one person
    /// is there.
    pub(super) fn private_with(&self, domain: &str) -> Option<Ghost> {
        let ghosts = self.ghosts(domain);
        let is_private = ghosts.len() == 1 && self.people(domain).count() <= 1;
        ghosts.into_iter().next().filter(|_| is_private)
    }
}

/// The rooms that are known, by their ids.
#[derive(Default)]
pub(super) struct MatrixPlaces(Mutex<BTreeMap<String, MatrixPlace>>);

impl MatrixPlaces {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, MatrixPlace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the known facts of a room.
    pub(super) fn get(&self, room: &str) -> Option<MatrixPlace> {
        self.lock().get(room).cloned()
    }

    /// Remembers a room that was looked at.
    fn put(&self, room: &str, place: MatrixPlace) {
        let mut places = self.lock();
        if places.len() >= PLACES_MAX {
            places.retain(|_, place| place.waiting_since.is_some());
        }
        places.insert(room.to_owned(), place);
    }

    /// Changes the known facts of a room, and returns the result of the change; `None` if nothing
    /// is known of the room.
    pub(super) fn change<T>(
        &self,
        room: &str,
        change: impl FnOnce(&mut MatrixPlace) -> T,
    ) -> Option<T> {
        self.lock().get_mut(room).map(change)
    }

    /// Forgets a room.
    pub(super) fn remove(&self, room: &str) {
        self.lock().remove(room);
    }

    /// Returns all rooms.
    pub(super) fn all(&self) -> Vec<(String, MatrixPlace)> {
        self.lock().iter().map(|(room, place)| (room.clone(), place.clone())).collect()
    }
}

impl Matrix {
    /// Returns a room with its members; `None` if no account of the server is in it. The homeserver
    /// is asked if no members of the room are known.
    ///
    /// # Errors
    /// [`MatrixFault`] if the homeserver cannot be asked now.
    pub(super) async fn place(&self, room: &str) -> Result<Option<MatrixPlace>, MatrixFault> {
        if let Some(known) = self.places.get(room).filter(|place| !place.members.is_empty()) {
            return Ok(Some(known));
        }
        let domain = self.domain().await?;
        for ghost in std::iter::once(Ghost::Relay).chain(self.agents()) {
            let Some(user) = ghost.user_id(&domain) else { continue };
            match self.look(room, &user).await {
                Ok(()) => return Ok(self.places.get(room)),
                Err(fault) if fault.is_passing() || fault.is_unauthorised() => return Err(fault),
                Err(_) => {}
            }
        }
        // The empty entry lets lists show that no account of the server is in the room.
        self.places.put(room, MatrixPlace::default());
        Ok(None)
    }

    /// Asks the homeserver for the bound rooms of which nothing is known.
    pub(super) async fn look_around(&self) {
        let bound = self.inbox.hall().bound_chats().await.unwrap_or_default();
        for room in bound.iter().filter_map(|(chat, _)| MatrixRoom::of(chat)) {
            if self.places.get(&room.id).is_none()
                && let Err(fault) = self.place(&room.id).await
            {
                tracing::debug!(%room, %fault, "a room could not be looked at");
            }
        }
    }

    /// Reads the members, the name and the encryption of a room as one of its members, and
    /// remembers them.
    pub(super) async fn look(&self, room: &str, user: &str) -> Result<(), MatrixFault> {
        let members = self.client.members(room, user).await?.into_iter().collect();
        let encryption = self.client.state(room, user, ("m.room.encryption", "")).await?;
        let name = self.client.state(room, user, ("m.room.name", "")).await?.unwrap_or_default();
        let waiting_since = self.places.get(room).and_then(|place| place.waiting_since);
        let place = MatrixPlace {
            title: title_of(&name),
            members,
            is_encrypted: encryption.is_some(),
            waiting_since,
        };
        self.places.put(room, place);
        Ok(())
    }

    /// Returns the id of an account of the server in a room, the relay's if it is there.
    pub(super) fn voice_in(&self, place: &MatrixPlace, domain: &str) -> Option<String> {
        place.ghosts(domain).into_iter().next().and_then(|ghost| ghost.user_id(domain))
    }

    /// Lets an account enter a room, by an invitation of another account of the server. Returns
    /// false if that is not possible. An account that left or was removed needs an invitation by a
    /// person.
    ///
    /// # Errors
    /// [`MatrixFault`] if the homeserver cannot be asked now.
    pub(super) async fn enter(&self, room: &str, ghost: &Ghost) -> Result<bool, MatrixFault> {
        let domain = self.domain().await?;
        let Some(place) = self.place(room).await? else { return Ok(false) };
        let Some(user) = ghost.user_id(&domain) else { return Ok(false) };
        if place.members.contains(&user) {
            return Ok(true);
        }
        let Some(host) = self.voice_in(&place, &domain) else { return Ok(false) };
        match self.membership(room, &host, &user).await?.as_deref() {
            Some("leave" | "ban") => return Ok(false),
            Some("invite") => {}
            _ => {
                self.prepare(ghost).await?;
                if !settled(self.client.invite(room, &host, &user).await)? {
                    return Ok(false);
                }
            }
        }
        let is_in = settled(self.client.join(room, &user).await)?;
        if is_in {
            self.places.change(room, |place| place.members.insert(user));
        }
        Ok(is_in)
    }

    /// Returns the membership of an account in a room; `None` if it never was there.
    pub(super) async fn membership(
        &self,
        room: &str,
        by: &str,
        user: &str,
    ) -> Result<Option<String>, MatrixFault> {
        let content = self.client.state(room, by, ("m.room.member", user)).await?;
        Ok(content.and_then(|content| content["membership"].as_str().map(str::to_owned)))
    }

    /// Makes an account and sets its name, unless that was done since the start.
    ///
    /// # Errors
    /// [`MatrixFault`] if the homeserver does not do it now.
    pub(super) async fn prepare(&self, ghost: &Ghost) -> Result<(), MatrixFault> {
        if self.ready().contains(ghost) {
            return Ok(());
        }
        let domain = self.domain().await?;
        let Some(user) = ghost.user_id(&domain) else { return Ok(()) };
        let relay = Ghost::Relay.user_id(&domain).unwrap_or_default();
        self.client.register(&ghost.localpart(), &relay).await?;
        let name = match ghost {
            Ghost::Relay => "Moothall".to_owned(),
            Ghost::Agent(id) => id.clone(),
            Ghost::Person(id) => format!("{id} (Moothall)"),
        };
        self.client.set_name(&user, &name).await?;
        self.ready().insert(ghost.clone());
        Ok(())
    }
}

/// Returns true if a call was done, and false if the homeserver refused it for good.
///
/// # Errors
/// The fault, if the call may succeed later.
fn settled(result: Result<(), MatrixFault>) -> Result<bool, MatrixFault> {
    match result {
        Ok(()) => Ok(true),
        Err(fault) if fault.is_passing() || fault.is_unauthorised() => Err(fault),
        Err(_) => Ok(false),
    }
}

/// Returns the name of a room in the content of its state event.
pub(super) fn title_of(content: &Value) -> String {
    content["name"].as_str().unwrap_or_default().to_owned()
}
