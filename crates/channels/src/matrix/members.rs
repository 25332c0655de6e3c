//! Members of rooms: invitations, removals, upgrades of rooms, and encryption, which is refused.

use moothall_engine::access::{AccessError, Caller};
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::StreamId;
use tokio::time::Instant;

use super::Matrix;
use super::events::{RoomEvent, unanswered};
use super::names::Ghost;
use super::places::MatrixPlace;
use super::room::{MatrixRoom, account_of};
use crate::groups::WAITING;
use crate::inbox::OpeningChat;
use crate::receive::{TryAgain, passing};

/// The line for an encrypted room.
const ENCRYPTED: &str = "This room is encrypted, so this server cannot read what is said here, and \
                         its accounts leave. Encryption cannot be turned off: make a new room \
                         without it, and invite them there.";

impl Matrix {
    /// Takes the news of a membership. An invited account of the server enters; a person who joins
    /// may bind a room that was made for a conversation; an agent that was removed leaves the
    /// conversation.
    ///
    /// # Errors
    /// [`TryAgain`] if its effect could not be stored now.
    pub(super) async fn receive_member(
        &self,
        heard: &RoomEvent<'_>,
        domain: &str,
    ) -> Result<(), TryAgain> {
        let Some(user) = heard.event["state_key"].as_str() else { return Ok(()) };
        let ghost = Ghost::of(user, domain);
        let is_own_act = Ghost::of(heard.sender, domain).is_some();
        let room = &heard.room;
        match (heard.content()["membership"].as_str(), ghost) {
            // An account that invites another one lets it join by itself.
            (Some("invite"), Some(ghost)) if !is_own_act => {
                self.receive_invitation(heard, ghost, user, domain).await
            }
            (Some("join"), ghost) => {
                self.places.change(&room.id, |place| place.members.insert(user.to_owned()));
                match ghost {
                    None => self.adopt_alias(heard, domain).await,
                    Some(_) => Ok(()),
                }
            }
            (Some("leave" | "ban"), ghost) => {
                self.places.change(&room.id, |place| place.members.remove(user));
                match ghost {
                    Some(Ghost::Agent(agent)) if !is_own_act => match room.to_chat() {
                        Some(chat) => self.inbox.take_out(&chat, &agent).await,
                        None => Ok(()),
                    },
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// True if an account is the relay, or that of an agent of the registry.
    pub(super) fn is_known(&self, ghost: &Ghost) -> bool {
        match ghost {
            Ghost::Relay => true,
            Ghost::Agent(agent) => self.inbox.hall().registry().get(agent).is_some(),
            Ghost::Person(_) => false,
        }
    }

    /// Lets an invited account enter a room. An account that is neither the relay nor an agent of
    /// the registry declines. If the room is bound, the agent of the account is invited into the
    /// conversation. If the room is not bound and the person who invited an agent may open it, it
    /// is opened. The accounts leave an encrypted room.
    async fn receive_invitation(
        &self,
        heard: &RoomEvent<'_>,
        ghost: Ghost,
        user: &str,
        domain: &str,
    ) -> Result<(), TryAgain> {
        let room = &heard.room;
        let again = |fault| unanswered(&fault);
        if !self.is_known(&ghost) {
            let _ = self.client.leave(&room.id, user).await;
            return Ok(());
        }
        self.prepare(&ghost).await.map_err(again)?;
        if let Err(fault) = self.client.join(&room.id, user).await {
            // The person perhaps took the invitation back.
            return if fault.is_passing() { Err(again(fault)) } else { Ok(()) };
        }
        self.look(&room.id, user).await.map_err(again)?;
        let Some(place) = self.places.get(&room.id) else { return Ok(()) };
        if place.is_encrypted {
            self.refuse_encryption(room, heard.id).await;
            return Ok(());
        }
        self.adopt_upgraded(room, user, domain).await?;
        let person = self.inbox.person(&account_of(heard.sender)).await.map_err(passing)?;
        match (self.bound(room).await?, ghost) {
            (Some(stream), Ghost::Agent(agent)) => {
                let line = self.inbox.bring_in_joined(&stream, &agent, person.as_ref()).await?;
                if let Some(line) = line {
                    self.say(room, &line, heard.id).await;
                }
                Ok(())
            }
            (Some(_), Ghost::Relay | Ghost::Person(_)) => Ok(()),
            (None, ghost) => self.open_for(heard, ghost, person, &place).await,
        }
    }

    /// Opens a room for the person who invited an agent's account. If the person may not open
    /// rooms, the room waits. A private chat is not opened here, and an invitation of the relay
    /// never opens a room.
    async fn open_for(
        &self,
        heard: &RoomEvent<'_>,
        ghost: Ghost,
        person: Option<Caller>,
        place: &MatrixPlace,
    ) -> Result<(), TryAgain> {
        // A private talk begins with its first words.
        if heard.content()["is_direct"] == true {
            return Ok(());
        }
        let room = &heard.room;
        let opener = person.filter(|person| self.inbox.may_open(person));
        match (opener, ghost) {
            (Some(person), Ghost::Agent(agent)) => {
                let opening = self.opening(room, place, heard.id);
                let Some(opening) = opening else { return Ok(()) };
                let opened = self.inbox.open(&person, &opening, &[agent]).await;
                self.tell_opened(room, opened, heard.id).await
            }
            (Some(_), Ghost::Relay | Ghost::Person(_)) => Ok(()),
            (None, _) => {
                self.wait_for_opening(room, heard.id).await;
                Ok(())
            }
        }
    }

    /// Returns a place that is to be opened.
    pub(super) fn opening(
        &self,
        room: &MatrixRoom,
        place: &MatrixPlace,
        event: &str,
    ) -> Option<OpeningChat> {
        let chat = room.to_chat()?;
        let title = if place.title.is_empty() { "Matrix" } else { &place.title };
        Some(OpeningChat { title: title.to_owned(), key: format!("{chat}:{event}"), chat })
    }

    /// Tells the room the reason if it could not be opened. A room that was opened does not wait
    /// any more.
    pub(super) async fn tell_opened(
        &self,
        room: &MatrixRoom,
        opened: Result<StreamId, AccessError>,
        event: &str,
    ) -> Result<(), TryAgain> {
        match self.inbox.opening_refused(opened)? {
            None => {
                self.places.change(&room.id, |place| place.waiting_since = None);
            }
            Some(refusal) => self.say(room, &refusal, event).await,
        }
        Ok(())
    }

    /// Says, the first time, that the room waits for a person who opens it.
    pub(super) async fn wait_for_opening(&self, room: &MatrixRoom, event: &str) {
        let begun = self
            .places
            .change(&room.id, |place| place.waiting_since.replace(Instant::now()).is_none());
        if begun == Some(true) {
            let text = format!(
                "{WAITING} with /group create and the names of agents; otherwise the accounts \
                 leave after an hour."
            );
            self.say(room, &text, event).await;
        }
    }

    /// Refuses a room that is encrypted: its conversation is unbound, and the accounts leave.
    ///
    /// # Errors
    /// [`TryAgain`] if the change could not be stored now.
    pub(super) async fn receive_encryption(&self, heard: &RoomEvent<'_>) -> Result<(), TryAgain> {
        let room = &heard.room;
        let place = self.place(&room.id).await.map_err(|fault| unanswered(&fault))?;
        if place.is_none() {
            return Ok(());
        }
        for chat in self.bound_in(&room.id).await? {
            self.inbox.unbind_by_server(chat).await?;
        }
        self.refuse_encryption(room, heard.id).await;
        Ok(())
    }

    async fn refuse_encryption(&self, room: &MatrixRoom, event: &str) {
        self.say(room, ENCRYPTED, event).await;
        self.leave_all(&room.id).await;
    }

    /// Returns the chats of a room that are bound: the room, and the talks in it.
    async fn bound_in(&self, room: &str) -> Result<Vec<Chat>, TryAgain> {
        let bound = self.inbox.hall().bound_chats().await.map_err(passing)?;
        let is_here = |chat: &Chat| MatrixRoom::of(chat).is_some_and(|it| it.id == room);
        Ok(bound.into_iter().map(|(chat, _)| chat).filter(is_here).collect())
    }

    /// Moves a room that was upgraded. The accounts join the new room as far as they may, and the
    /// conversation moves with the first of them.
    ///
    /// # Errors
    /// [`TryAgain`] if the change could not be stored now.
    pub(super) async fn receive_tombstone(
        &self,
        heard: &RoomEvent<'_>,
        domain: &str,
    ) -> Result<(), TryAgain> {
        let Some(new) = heard.content()["replacement_room"].as_str() else { return Ok(()) };
        let place = self.place(&heard.room.id).await.map_err(|fault| unanswered(&fault))?;
        let Some(place) = place else { return Ok(()) };
        for user in place.ghosts(domain).iter().filter_map(|ghost| ghost.user_id(domain)) {
            match self.client.join(new, &user).await {
                Ok(()) => self.adopt_upgraded(&MatrixRoom::new(new), &user, domain).await?,
                Err(fault) if fault.is_passing() => return Err(unanswered(&fault)),
                // A room that is closed needs an invitation, and is adopted with it.
                Err(fault) => {
                    tracing::info!(room = new, user, %fault, "an upgrade was not followed")
                }
            }
        }
        Ok(())
    }

    /// Moves the conversation of an earlier room to a room that an account entered. The earlier
    /// room must name this one as its successor, because any room can name any predecessor.
    async fn adopt_upgraded(
        &self,
        room: &MatrixRoom,
        user: &str,
        domain: &str,
    ) -> Result<(), TryAgain> {
        let again = |fault| unanswered(&fault);
        let made = self.client.state(&room.id, user, ("m.room.create", "")).await.map_err(again)?;
        let made = made.unwrap_or_default();
        let Some(old) = made["predecessor"]["room_id"].as_str() else { return Ok(()) };
        let bound = self.bound_in(old).await?;
        if bound.is_empty() {
            return Ok(());
        }
        let Some(place) = self.place(old).await.map_err(again)? else { return Ok(()) };
        let Some(viewer) = self.voice_in(&place, domain) else { return Ok(()) };
        let grave = self.client.state(old, &viewer, ("m.room.tombstone", "")).await;
        let grave = grave.map_err(again)?.unwrap_or_default();
        if grave["replacement_room"] != room.id.as_str() {
            return Ok(());
        }
        self.look(&room.id, user).await.map_err(again)?;
        for chat in bound {
            let Some(from) = MatrixRoom::of(&chat) else { continue };
            let to = MatrixRoom { id: room.id.clone(), ..from };
            if let Some(to) = to.to_chat() {
                self.inbox.move_binding(chat, to).await?;
            }
        }
        Ok(())
    }
}
