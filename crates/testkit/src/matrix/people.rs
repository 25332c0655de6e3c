//! The people of the homeserver, as a test plays them.

use serde_json::{Value, json};

use super::world::{RoomState, ShownEvent};
use super::{DOMAIN, Homeserver, pushing};

impl Homeserver {
    /// Returns the id of an account of the homeserver.
    pub fn user(&self, local: &str) -> String {
        let id = format!("@{local}:{DOMAIN}");
        self.shared.change(|world| world.users.insert(id.clone()));
        id
    }

    /// Makes a room of a person, who invites these accounts of the service by their localparts.
    pub fn room(&self, by: &str, ghosts: &[&str]) -> String {
        self.room_with(by, ghosts, false)
    }

    /// Makes a private room of a person with an account of the service.
    pub fn private_room(&self, by: &str, ghost: &str) -> String {
        self.room_with(by, &[ghost], true)
    }

    fn room_with(&self, by: &str, ghosts: &[&str], is_direct: bool) -> String {
        self.shared.change(|world| {
            let room = world.make_room(by, json!({}));
            for ghost in ghosts {
                let _ = world.invite(&room, by, &format!("@{ghost}:{DOMAIN}"), is_direct);
            }
            room
        })
    }

    /// Invites a user.
    pub fn invite(&self, room: &str, by: &str, local: &str) {
        let user = format!("@{local}:{DOMAIN}");
        let invited = self.shared.change(|world| world.invite(room, by, &user, false));
        assert!(invited.is_ok(), "{invited:?}");
    }

    /// Lets a user join. Returns false if the user may not.
    pub fn join(&self, room: &str, user: &str) -> bool {
        self.shared.change(|world| world.join(room, user).is_ok())
    }

    /// Removes an account of the service from a room.
    pub fn kick(&self, room: &str, by: &str, local: &str) {
        let user = format!("@{local}:{DOMAIN}");
        self.shared.change(|world| world.set_member(room, by, &user, "leave", json!({})));
    }

    /// Takes the right to write from an account.
    pub fn mute(&self, room: &str, local: &str) {
        let user = format!("@{local}:{DOMAIN}");
        self.shared.change(|world| {
            world.rooms.entry(room.to_owned()).or_insert_with(RoomState::default).muted.insert(user)
        });
    }

    /// Says words, and returns the id of their event.
    pub fn say(&self, room: &str, user: &str, text: &str) -> String {
        self.send(room, user, "m.room.message", json!({"msgtype": "m.text", "body": text}))
    }

    /// Sends an event, and returns its id.
    pub fn send(&self, room: &str, user: &str, kind: &str, content: Value) -> String {
        let sent = self.shared.change(|world| world.send(room, user, kind, &content));
        assert!(sent.is_ok(), "{sent:?}");
        sent.unwrap_or_default()
    }

    /// Edits words.
    pub fn edit(&self, room: &str, user: &str, event: &str, text: &str) -> String {
        let content = json!({
            "msgtype": "m.text",
            "body": format!("* {text}"),
            "m.new_content": {"msgtype": "m.text", "body": text},
            "m.relates_to": {"rel_type": "m.replace", "event_id": event},
        });
        self.send(room, user, "m.room.message", content)
    }

    /// Reacts to an event.
    pub fn react(&self, room: &str, user: &str, event: &str, key: &str) -> String {
        let relation = json!({"rel_type": "m.annotation", "event_id": event, "key": key});
        self.send(room, user, "m.reaction", json!({"m.relates_to": relation}))
    }

    /// Redacts an event.
    pub fn redact(&self, room: &str, user: &str, event: &str) {
        let redacted = self.shared.change(|world| world.redact(room, user, event));
        assert!(redacted.is_ok(), "{redacted:?}");
    }

    /// Turns the encryption of a room on.
    pub fn encrypt(&self, room: &str, by: &str) {
        let content = json!({"algorithm": "m.megolm.v1.aes-sha2"});
        self.shared.change(|world| world.set_state(room, by, "m.room.encryption", content));
    }

    /// Replaces a room by a new one, which all may join. Returns the new one's id.
    pub fn upgrade(&self, room: &str, by: &str) -> String {
        self.shared.change(|world| {
            let new = world.make_room(by, json!({"predecessor": {"room_id": room}}));
            world.set_state(&new, by, "public", json!({}));
            world.set_state(room, by, "m.room.tombstone", json!({"replacement_room": new}));
            new
        })
    }

    /// Makes a room that claims to replace another.
    pub fn claim_upgrade(&self, room: &str, by: &str) -> String {
        self.shared.change(|world| world.make_room(by, json!({"predecessor": {"room_id": room}})))
    }

    /// Returns the messages of a room.
    pub fn shown(&self, room: &str) -> Vec<ShownEvent> {
        self.shared.world().shown(room)
    }

    /// Returns the words of a room, after edits.
    pub fn texts(&self, room: &str) -> Vec<String> {
        self.shown(room).into_iter().map(|shown| shown.body).collect()
    }

    /// True if a user is in a room.
    pub fn is_in(&self, room: &str, local: &str) -> bool {
        let user = format!("@{local}:{DOMAIN}");
        self.shared.world().rooms.get(room).is_some_and(|state| state.is_in(&user))
    }

    /// Returns the rooms in which two users are invited or joined.
    pub fn rooms_of(&self, one: &str, other: &str) -> Vec<String> {
        let world = self.shared.world();
        let is_in = |state: &RoomState, user: &str| {
            matches!(state.members.get(user).map(String::as_str), Some("join" | "invite"))
        };
        let both = world.rooms.iter().filter(|(_, state)| is_in(state, one) && is_in(state, other));
        both.map(|(id, _)| id.clone()).collect()
    }

    /// True if an account was shown as typing.
    pub fn has_typed(&self, local: &str) -> bool {
        let user = format!("@{local}:{DOMAIN}");
        self.shared.world().typing.contains(&user)
    }

    /// Asks the service for the room of an alias. Returns the status of its answer.
    pub async fn ask_for_alias(&self, local: &str) -> u16 {
        let path = format!("/_matrix/app/v1/rooms/%23{local}:{DOMAIN}");
        pushing::request(self.service, "GET", &path, &json!({})).await.unwrap_or_default()
    }
}
