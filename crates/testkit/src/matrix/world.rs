//! The users, rooms and events of the homeserver, and its rules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::DOMAIN;

/// Largest event, in bytes.
const EVENT_BYTES_MAX: usize = 65_536;

/// A fault of the next message that the service sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HomeserverFault {
    /// The message is sent, and the connection is reset before the answer.
    ResetAfter,
    /// The connection is reset before the message is sent.
    ResetBefore,
    /// The connection is reset, and the homeserver is away from then on.
    Vanish {
        /// True if the message was sent before.
        sent: bool,
    },
    /// The message is sent, and the answer is an error of a proxy.
    BadGatewayAfter,
    /// The message is refused for as many milliseconds.
    TooMany(u64),
    /// The message is refused with this code.
    Refuse(String),
}

/// A refusal of the homeserver.
#[derive(Clone, Debug)]
pub(super) struct HomeserverRefusal {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl HomeserverRefusal {
    pub(super) fn new(status: StatusCode, code: &str, text: &str) -> Self {
        Self { status, body: json!({"errcode": code, "error": text}) }
    }

    pub(super) fn forbidden(text: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "M_FORBIDDEN", text)
    }

    pub(super) fn missing(text: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "M_NOT_FOUND", text)
    }
}

/// A message as the members of a room see it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownEvent {
    /// The id of the event.
    pub id: String,
    /// The user who sent it.
    pub sender: String,
    /// The words, after edits; empty if they were redacted.
    pub body: String,
    /// The content, after edits.
    pub content: Value,
    /// True if the words were redacted.
    pub is_redacted: bool,
}

/// A room.
#[derive(Default)]
pub(super) struct RoomState {
    /// The membership of each user who was ever concerned.
    pub(super) members: BTreeMap<String, String>,
    /// The contents of other state events, by their types.
    pub(super) state: BTreeMap<String, Value>,
    pub(super) events: Vec<Value>,
    /// The users who may only read.
    pub(super) muted: BTreeSet<String>,
}

impl RoomState {
    pub(super) fn is_in(&self, user: &str) -> bool {
        self.members.get(user).is_some_and(|membership| membership == "join")
    }
}

/// All that the homeserver knows.
#[derive(Default)]
pub(super) struct HomeserverWorld {
    pub(super) users: BTreeSet<String>,
    pub(super) names: BTreeMap<String, String>,
    pub(super) rooms: BTreeMap<String, RoomState>,
    pub(super) kept: BTreeMap<(String, String), Value>,
    /// The results of transactions, by their paths.
    pub(super) sent: BTreeMap<String, String>,
    pub(super) newest_txn: String,
    pub(super) faults: VecDeque<HomeserverFault>,
    pub(super) is_away: bool,
    pub(super) is_held: bool,
    pub(super) is_pushing: bool,
    pub(super) outgoing: VecDeque<Value>,
    pub(super) pushed: Vec<Value>,
    pub(super) typing: Vec<String>,
    count: u64,
}

/// True if a user is an account of the service.
pub(super) fn is_ghost(user: &str) -> bool {
    user == format!("@moothall:{DOMAIN}")
        || (user.starts_with("@moothall_") && user.ends_with(&format!(":{DOMAIN}")))
}

impl HomeserverWorld {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Makes a room with its creator, and returns its id.
    pub(super) fn make_room(&mut self, creator: &str, create: Value) -> String {
        let id = format!("!room{}:{DOMAIN}", self.next());
        self.rooms.insert(id.clone(), RoomState::default());
        self.rooms.entry(id.clone()).or_default().state.insert("m.room.create".into(), create);
        self.set_member(&id, creator, creator, "join", json!({}));
        id
    }

    pub(super) fn room(&self, id: &str) -> Result<&RoomState, HomeserverRefusal> {
        self.rooms.get(id).ok_or_else(|| HomeserverRefusal::forbidden("You are not in this room."))
    }

    /// Adds an event to a room, and to what the service is sent.
    fn add(&mut self, room: &str, mut event: Value) -> Result<String, HomeserverRefusal> {
        if event.to_string().len() > EVENT_BYTES_MAX {
            return Err(HomeserverRefusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "M_TOO_LARGE",
                "The event is too large.",
            ));
        }
        let id = format!("${}", self.next());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        event["event_id"] = id.as_str().into();
        event["room_id"] = room.into();
        event["origin_server_ts"] = u64::try_from(now).unwrap_or_default().into();
        let state = self.rooms.entry(room.to_owned()).or_default();
        let concerned = event["state_key"].as_str().is_some_and(is_ghost);
        let has_ghost = state.members.iter().any(|(user, it)| it == "join" && is_ghost(user));
        state.events.push(event.clone());
        if concerned || has_ghost {
            self.outgoing.push_back(event);
        }
        Ok(id)
    }

    /// Sets the membership of a user.
    pub(super) fn set_member(
        &mut self,
        room: &str,
        by: &str,
        user: &str,
        membership: &str,
        extra: Value,
    ) {
        let mut content = extra;
        content["membership"] = membership.into();
        let event = json!({"type": "m.room.member", "sender": by, "state_key": user,
            "content": content});
        let members = &mut self.rooms.entry(room.to_owned()).or_default().members;
        members.insert(user.to_owned(), membership.to_owned());
        let _ = self.add(room, event);
    }

    /// Sets a state event of a room.
    pub(super) fn set_state(&mut self, room: &str, by: &str, kind: &str, content: Value) {
        let state = &mut self.rooms.entry(room.to_owned()).or_default().state;
        state.insert(kind.to_owned(), content.clone());
        let event = json!({"type": kind, "sender": by, "state_key": "", "content": content});
        let _ = self.add(room, event);
    }

    /// Invites a user by a member.
    pub(super) fn invite(
        &mut self,
        room: &str,
        by: &str,
        user: &str,
        is_direct: bool,
    ) -> Result<(), HomeserverRefusal> {
        let state = self.room(room)?;
        if !state.is_in(by) {
            return Err(HomeserverRefusal::forbidden("You are not in this room."));
        }
        if matches!(state.members.get(user).map(String::as_str), Some("ban" | "join")) {
            return Err(HomeserverRefusal::forbidden("The user is banned or in the room already."));
        }
        let extra = if is_direct { json!({"is_direct": true}) } else { json!({}) };
        self.set_member(room, by, user, "invite", extra);
        Ok(())
    }

    /// Lets a user join who is invited, or is in the room.
    pub(super) fn join(&mut self, room: &str, user: &str) -> Result<(), HomeserverRefusal> {
        let is_public = self.room(room)?.state.contains_key("public");
        match self.room(room)?.members.get(user).map(String::as_str) {
            Some("join") => Ok(()),
            Some("invite") => {
                self.set_member(room, user, user, "join", json!({}));
                Ok(())
            }
            membership if is_public && membership != Some("ban") => {
                self.set_member(room, user, user, "join", json!({}));
                Ok(())
            }
            _ => Err(HomeserverRefusal::forbidden("You are not invited to this room.")),
        }
    }

    /// Sends an event of a member.
    pub(super) fn send(
        &mut self,
        room: &str,
        sender: &str,
        kind: &str,
        content: &Value,
    ) -> Result<String, HomeserverRefusal> {
        let state = self.room(room)?;
        if !state.is_in(sender) || state.muted.contains(sender) {
            return Err(HomeserverRefusal::forbidden("You may not send that to this room."));
        }
        let is_text = content["msgtype"].is_string() && content["body"].is_string();
        if kind == "m.room.message" && !is_text {
            return Err(HomeserverRefusal::new(
                StatusCode::BAD_REQUEST,
                "M_BAD_JSON",
                "A message needs msgtype and body.",
            ));
        }
        self.add(room, json!({"type": kind, "sender": sender, "content": content}))
    }

    /// Redacts an event. Users redact their own; the creator of a room redacts all.
    pub(super) fn redact(
        &mut self,
        room: &str,
        by: &str,
        target: &str,
    ) -> Result<(), HomeserverRefusal> {
        let state = self.room(room)?;
        let first = state.events.first().map(|event| event["sender"].clone());
        let event = state.events.iter().find(|event| event["event_id"] == target);
        let event = event.ok_or_else(|| HomeserverRefusal::missing("There is no such event."))?;
        if event["sender"] != by && first != Some(by.into()) {
            return Err(HomeserverRefusal::forbidden("You may not redact this event."));
        }
        let content = json!({"redacts": target});
        let redaction = json!({"type": "m.room.redaction", "sender": by, "redacts": target, "content": content});
        self.add(room, redaction)?;
        let events = &mut self.rooms.entry(room.to_owned()).or_default().events;
        for event in events.iter_mut().filter(|event| event["event_id"] == target) {
            event["content"] = json!({});
        }
        Ok(())
    }

    /// Returns the messages of a room as its members see them.
    pub(super) fn shown(&self, room: &str) -> Vec<ShownEvent> {
        let Some(state) = self.rooms.get(room) else { return Vec::new() };
        let messages = state.events.iter().filter(|event| event["type"] == "m.room.message");
        let mut shown: Vec<ShownEvent> = Vec::new();
        for event in messages {
            let content = &event["content"];
            let relation = &content["m.relates_to"];
            if relation["rel_type"] == "m.replace" {
                let of = shown.iter_mut().find(|it| relation["event_id"] == it.id.as_str());
                if let Some(original) = of.filter(|it| event["sender"] == it.sender.as_str()) {
                    original.content = content["m.new_content"].clone();
                    original.body = text_of(&original.content["body"]);
                }
                continue;
            }
            shown.push(ShownEvent {
                id: text_of(&event["event_id"]),
                sender: text_of(&event["sender"]),
                body: text_of(&content["body"]),
                content: content.clone(),
                is_redacted: content.as_object().is_some_and(serde_json::Map::is_empty),
            });
        }
        shown
    }

    /// Returns all rooms with their messages, for a failed test.
    pub(super) fn drawn(&self) -> String {
        let mut text = String::new();
        for (id, room) in &self.rooms {
            let _ = writeln!(text, "{id} {:?}", room.members);
            for shown in self.shown(id) {
                let _ = writeln!(text, "  {} {}: {}", shown.id, shown.sender, shown.body);
            }
        }
        text
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
