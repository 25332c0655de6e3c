//! Rooms of conversations by an alias: `#moothall_<conversation>:example.org`.
//!
//! The homeserver asks for an alias that a person wants to join, and does not say which person. So
//! the room is closed, only paired people who may open rooms are invited to it, and the
//! conversation is bound when the first of them joins.

use moothall_engine::access::{Scope, Token};
use moothall_kernel::ids::StreamId;
use serde_json::json;

use super::Matrix;
use super::events::{RoomEvent, unanswered};
use super::names::{Ghost, PREFIX};
use super::room::{MATRIX, account_of};
use crate::inbox::is_passing;
use crate::receive::{TryAgain, passing};

/// The kind of the value, stored by the relay, that maps rooms which were made for an alias to
/// their conversations. No other user can change it.
const ROOMS: &str = "org.moothall.rooms";

impl Matrix {
    /// Makes the room of a conversation that an alias names, and invites the people who may open
    /// it. Returns false if the conversation does not exist, or no account may open a room for it.
    ///
    /// # Errors
    /// The reason in words, if it cannot be made now.
    pub(super) async fn open_alias(&self, alias: &str) -> Result<bool, String> {
        let domain = self.domain().await.map_err(|fault| fault.to_string())?;
        let local =
            alias.strip_prefix('#').and_then(|rest| rest.strip_suffix(&format!(":{domain}")));
        let Some((local, id)) = local.and_then(|local| Some((local, local.strip_prefix(PREFIX)?)))
        else {
            return Ok(false);
        };
        let stream = StreamId::new(id);
        let title = self.inbox.hall().view(&stream, |state| state.name().to_owned()).await;
        let Ok(title) = title else { return Ok(false) };
        let people = self.openers(&stream).await?;
        if people.is_empty() {
            return Ok(false);
        }
        self.prepare(&Ghost::Relay).await.map_err(|fault| fault.to_string())?;
        let relay = Ghost::Relay.user_id(&domain).unwrap_or_default();
        let wanted = json!({
            "preset": "private_chat",
            "name": title,
            "room_alias_name": local,
            "invite": people,
        });
        let made = async {
            let room = self.client.create_room(&relay, &wanted).await?;
            let mut kept = self.client.kept(&relay, ROOMS).await?;
            kept[room] = id.into();
            self.client.keep(&relay, ROOMS, &kept).await
        };
        made.await.map(|()| true).map_err(|fault| fault.to_string())
    }

    /// Returns the users who may open a room for a conversation.
    async fn openers(&self, stream: &StreamId) -> Result<Vec<String>, String> {
        let accounts = self.inbox.access().accounts().await.map_err(|error| error.to_string())?;
        let may_open =
            |token: &Token| token.scopes.has(Scope::ThreadsAdmin) && token.reach.includes(stream);
        let user = |token: Token| Some(token.label.strip_prefix(MATRIX)?[1..].to_owned());
        Ok(accounts.into_iter().filter(may_open).filter_map(user).collect())
    }

    /// Binds a room that was made for a conversation to it, when a paired person joins the room.
    ///
    /// # Errors
    /// [`TryAgain`] if it could not be bound now.
    pub(super) async fn adopt_alias(
        &self,
        heard: &RoomEvent<'_>,
        domain: &str,
    ) -> Result<(), TryAgain> {
        let again = |fault| unanswered(&fault);
        let Some(relay) = Ghost::Relay.user_id(domain) else { return Ok(()) };
        let room = &heard.room;
        let Some(chat) = room.to_chat() else { return Ok(()) };
        let Some(person) = self.inbox.person(&account_of(heard.sender)).await.map_err(passing)?
        else {
            return Ok(());
        };
        if self.bound(room).await?.is_some() {
            return Ok(());
        }
        let place = self.place(&room.id).await.map_err(again)?;
        if !place.is_some_and(|place| place.members.contains(&relay)) {
            return Ok(());
        }
        let kept = self.client.kept(&relay, ROOMS).await.map_err(again)?;
        let id = kept[&room.id].as_str().map(StreamId::new);
        let Some(stream) = id else { return Ok(()) };
        match self.inbox.bind(&person, &stream, chat).await {
            Ok(()) => Ok(()),
            Err(error) if is_passing(&error) => Err(TryAgain::after(&error)),
            Err(error) => {
                self.say(room, &error.to_string(), heard.id).await;
                Ok(())
            }
        }
    }
}
