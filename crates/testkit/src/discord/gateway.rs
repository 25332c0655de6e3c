//! The gateway: connections, sessions, and the events that a bot asked for.

use std::sync::Arc;

use axum::extract::WebSocketUpgrade;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::DiscordState;
use super::objects::snowflake;
use super::world::{DiscordWorld, GUILDS, MESSAGE_CONTENT, SessionState, SocketAct};
use crate::connection::ConnectionHandle;

const HEARTBEAT_MS: u64 = 41_250;
/// Bits of intents that exist.
const INTENTS: u64 = (1 << 26) - 1;

/// Codes with which the gateway closes a connection.
const NOT_AUTHENTICATED: u16 = 4003;
const BAD_TOKEN: u16 = 4004;
const ALREADY_AUTHENTICATED: u16 = 4005;
const UNKNOWN_OPCODE: u16 = 4001;
const BAD_PAYLOAD: u16 = 4002;
const BAD_INTENTS: u16 = 4013;
const DENIED_INTENTS: u16 = 4014;

/// Accepts a connection to the gateway.
pub(super) fn accept(
    upgrade: WebSocketUpgrade,
    shared: Arc<DiscordState>,
    connection: ConnectionHandle,
) -> Response {
    upgrade.on_upgrade(|socket| async move {
        let (acts, todo) = unbounded_channel();
        let mut talk = Talk { shared, connection, socket, acts, session: None, is_silent: false };
        talk.hold(todo).await;
        talk.end();
    })
}

/// One connection to the gateway.
struct Talk {
    shared: Arc<DiscordState>,
    connection: ConnectionHandle,
    socket: WebSocket,
    acts: UnboundedSender<SocketAct>,
    /// The session, once it is known.
    session: Option<String>,
    is_silent: bool,
}

impl Talk {
    /// Holds the connection until one side closes it.
    async fn hold(&mut self, mut todo: UnboundedReceiver<SocketAct>) {
        self.is_silent = self.shared.change(|world| {
            let is_mute = world.mute_next > 0;
            world.mute_next = world.mute_next.saturating_sub(1);
            is_mute
        });
        let hello = json!({"op": 10, "s": null, "t": null, "d": {
            "heartbeat_interval": HEARTBEAT_MS,
        }});
        self.send(&hello.to_string()).await;
        loop {
            let is_open = tokio::select! {
                received = self.socket.recv() => match received {
                    Some(Ok(Message::Text(text))) => {
                        self.receive(&text);
                        true
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => true,
                    _ => false,
                },
                Some(act) = todo.recv() => self.act(act).await,
            };
            if !is_open {
                return;
            }
        }
    }

    /// Does an act; false if it ends the connection.
    async fn act(&mut self, act: SocketAct) -> bool {
        match act {
            SocketAct::Send(text) => self.send(&text).await,
            SocketAct::Silence => self.is_silent = true,
            SocketAct::Cut => {
                self.connection.reset();
                return false;
            }
            SocketAct::Close(code) => {
                let frame = CloseFrame { code, reason: "".into() };
                let _ = self.socket.send(Message::Close(Some(frame))).await;
                return false;
            }
        }
        true
    }

    /// Sends a text. A connection that breaks meanwhile is noticed by the next read.
    async fn send(&mut self, text: &str) {
        if !self.is_silent {
            let _ = self.socket.send(Message::Text(text.into())).await;
        }
    }

    fn receive(&mut self, text: &str) {
        let acts = self.acts.clone();
        let answer = |frame: Value| {
            let _ = acts.send(SocketAct::Send(frame.to_string()));
        };
        let Ok(frame) = serde_json::from_str::<Value>(text) else { return self.close(BAD_PAYLOAD) };
        match (frame["op"].as_u64(), &self.session) {
            (Some(1), _) => answer(json!({"op": 11, "s": null, "t": null, "d": null})),
            (Some(2), None) => self.identify(&frame["d"]),
            (Some(6), None) => self.resume(&frame["d"]),
            (Some(2 | 6), Some(_)) => self.close(ALREADY_AUTHENTICATED),
            (Some(_), None) => self.close(NOT_AUTHENTICATED),
            (Some(3 | 4 | 8), Some(_)) => {}
            (_, Some(_)) => self.close(UNKNOWN_OPCODE),
            (None, None) => self.close(BAD_PAYLOAD),
        }
    }

    fn close(&self, code: u16) {
        let _ = self.acts.send(SocketAct::Close(code));
    }

    fn identify(&mut self, data: &Value) {
        let acts = self.acts.clone();
        let begun = self.shared.change(|world| world.identify(data, acts));
        match begun {
            Ok(session) => self.session = Some(session),
            Err(code) => self.close(code),
        }
    }

    fn resume(&mut self, data: &Value) {
        let acts = self.acts.clone();
        match self.shared.change(|world| world.resume(data, &acts)) {
            Ok(true) => self.session = data["session_id"].as_str().map(str::to_owned),
            Ok(false) => {
                let invalid = json!({"op": 9, "s": null, "t": null, "d": false});
                let _ = self.acts.send(SocketAct::Send(invalid.to_string()));
            }
            Err(code) => self.close(code),
        }
    }

    /// Notes that the connection of the session is gone.
    fn end(&self) {
        self.shared.change(|world| {
            let own = |session: &&mut SessionState| {
                let is_own = |socket: &UnboundedSender<_>| socket.same_channel(&self.acts);
                session.socket.as_ref().is_some_and(is_own)
            };
            world.sessions.iter_mut().filter(own).for_each(|session| session.socket = None);
        });
    }
}

impl DiscordWorld {
    /// Returns the bot of a token.
    fn bot_with(&self, token: &Value) -> Option<u64> {
        let token = token.as_str()?;
        let token = token.strip_prefix("Bot ").unwrap_or(token);
        let mut bots = self.bots.values();
        bots.find(|state| state.bot.token == token && !state.is_revoked).map(|state| state.bot.id)
    }

    /// Begins a session, and returns its id.
    fn identify(
        &mut self,
        data: &Value,
        socket: UnboundedSender<SocketAct>,
    ) -> Result<String, u16> {
        let bot = self.bot_with(&data["token"]).ok_or(BAD_TOKEN)?;
        let has = |name: &str| data["properties"][name].is_string();
        if !(has("os") && has("browser") && has("device")) {
            return Err(BAD_PAYLOAD);
        }
        let intents = data["intents"].as_u64().filter(|bits| bits & !INTENTS == 0);
        let intents = intents.ok_or(BAD_INTENTS)?;
        if intents & MESSAGE_CONTENT != 0 && !self.bots[&bot].reads_content {
            return Err(DENIED_INTENTS);
        }
        let id = format!("session-{}", self.next_id());
        let (events, is_invalid) = (Vec::new(), false);
        let session = SessionState {
            id: id.clone(),
            bot,
            intents,
            seq: 0,
            events,
            socket: Some(socket),
            is_invalid,
        };
        self.sessions.push(session);
        let guilds: Vec<u64> = self.guilds_of(bot);
        let unavailable =
            guilds.iter().map(|id| json!({"id": snowflake(*id), "unavailable": true}));
        let application = self.application(bot);
        let ready = json!({
            "v": 10, "user": self.own_user(bot), "guilds": unavailable.collect::<Vec<_>>(),
            "session_id": id, "resume_gateway_url": self.gateway_url, "shard": [0, 1],
            "session_type": "normal", "private_channels": [], "relationships": [],
            "application": {"id": application["id"], "flags": application["flags"]},
        });
        let created = guilds.iter().filter(|_| intents & GUILDS != 0);
        let created: Vec<Value> = created.map(|guild| self.guild_object(*guild, bot)).collect();
        if let Some(session) = self.sessions.last_mut() {
            session.dispatch("READY", ready);
            created.into_iter().for_each(|guild| session.dispatch("GUILD_CREATE", guild));
        }
        Ok(id)
    }

    fn guilds_of(&self, bot: u64) -> Vec<u64> {
        let with = self.guilds.iter().filter(|(_, state)| state.members.contains_key(&bot));
        with.map(|(id, _)| *id).collect()
    }

    /// Resumes a session: sends the events behind a number again. Returns false if the session is
    /// not known.
    fn resume(&mut self, data: &Value, socket: &UnboundedSender<SocketAct>) -> Result<bool, u16> {
        let bot = self.bot_with(&data["token"]).ok_or(BAD_TOKEN)?;
        let after = data["seq"].as_u64().ok_or(BAD_PAYLOAD)?;
        let found = self.sessions.iter_mut().find(|session| {
            session.bot == bot && data["session_id"] == session.id.as_str() && !session.is_invalid
        });
        let Some(session) = found.filter(|session| after <= session.seq) else { return Ok(false) };
        session.act(SocketAct::Cut);
        session.socket = Some(socket.clone());
        for (_, frame) in session.events.iter().filter(|(seq, _)| *seq > after) {
            session.send(frame);
        }
        session.dispatch("RESUMED", json!({}));
        self.resumed += 1;
        Ok(true)
    }
}
