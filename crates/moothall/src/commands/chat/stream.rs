//! The event stream of a conversation, across broken connections.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use moothall_surfaces::wire::{
    DeltaSignal, Envelope, EventTypes, GatheringAnswer, GatheringStep, PresenceUpdate,
    ThreadStateAnswer,
};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;

use super::room::ChatView;
use crate::client::{Client, RETRY_MS};
use crate::commands::circle;
use crate::fault::{Exit, Fault};
use crate::sse::Frame;
use crate::threads;

/// An item that the chat receives from its conversation.
#[derive(Debug)]
pub enum ChatNews {
    /// An event; each comes once, in order.
    Event(Box<Envelope>),
    /// A piece of a running answer.
    Delta(DeltaSignal),
    /// A participant's changed presence.
    Presence(PresenceUpdate),
    /// The conversation's state, after an event that may have changed it.
    State(Box<ThreadStateAnswer>),
    /// The gathering's state, after an event that may have changed it.
    Gathering(Box<GatheringAnswer>),
    /// The server is away.
    Away,
    /// The server is back; no event was missed.
    Back,
    /// The server refuses to continue, for this reason.
    Refused(Fault),
}

/// The receiver is closed.
struct ReceiverGone;

/// Follows a conversation from a state's head until the receiver closes or the server refuses.
/// Notifies `back` when the server is reachable again.
pub async fn listen(
    client: Client,
    me: String,
    state: ThreadStateAnswer,
    out: Sender<ChatNews>,
    back: Arc<Notify>,
) {
    let gathers = circle::is_one(&state);
    let (thread, position) = (state.thread, state.head);
    let path =
        format!("{}?types={}", threads::path(&thread, "events/stream"), EventTypes::EVERY.list());
    let mut ear = StreamReader { path, client, me, thread, position, out, back, gathers };
    while let Ok(Some(frames)) = ear.connect().await {
        if ear.hear(frames).await.is_err() {
            return;
        }
    }
}

struct StreamReader {
    client: Client,
    /// Id of the chat's participant.
    me: String,
    thread: String,
    path: String,
    position: u64,
    out: Sender<ChatNews>,
    back: Arc<Notify>,
    /// True if the conversation is a gathering.
    gathers: bool,
}

impl StreamReader {
    async fn say(&self, heard: ChatNews) -> Result<(), ReceiverGone> {
        self.out.send(heard).await.map_err(|_| ReceiverGone)
    }

    /// Connects at the current position, and retries while the server is unreachable. Reports the
    /// outage and its end. If the server refuses, reports that and returns `None`.
    async fn connect(&self) -> Result<Option<impl Stream<Item = Frame> + use<>>, ReceiverGone> {
        let mut waits = RETRY_MS.into_iter().chain(std::iter::repeat(RETRY_MS[RETRY_MS.len() - 1]));
        let mut away = false;
        loop {
            match self.client.stream(&self.path, Some(&self.position.to_string())).await {
                Ok(frames) => {
                    if away {
                        self.back.notify_one();
                        self.say(ChatNews::Back).await?;
                        // The gathering's clock stood still while the server was away, so read the
                        // new times.
                        self.gathering().await?;
                    }
                    return Ok(Some(frames));
                }
                Err(fault) if !fault.passes() => {
                    self.say(ChatNews::Refused(fault)).await?;
                    return Ok(None);
                }
                Err(_) if !away => {
                    away = true;
                    self.say(ChatNews::Away).await?;
                }
                Err(_) => {}
            }
            tokio::time::sleep(Duration::from_millis(waits.next().unwrap_or_default())).await;
        }
    }

    /// Passes the frames of one connection on to the chat until the connection closes. An error
    /// means that the chat has ended.
    async fn hear(&mut self, frames: impl Stream<Item = Frame>) -> Result<(), ReceiverGone> {
        let mut frames = std::pin::pin!(frames);
        while let Some(frame) = frames.next().await {
            match frame.event.as_str() {
                "" => self.event(&frame).await?,
                "delta" => self.signal(&frame, ChatNews::Delta).await?,
                "presence" => self.signal(&frame, ChatNews::Presence).await?,
                // Unknown frames of later versions are not needed to follow.
                _ => {}
            }
        }
        Ok(())
    }

    /// Passes a delta or a presence on to the chat; skips an unreadable one.
    async fn signal<T: DeserializeOwned>(
        &self,
        frame: &Frame,
        heard: fn(T) -> ChatNews,
    ) -> Result<(), ReceiverGone> {
        match serde_json::from_str(&frame.data) {
            Ok(signal) => self.say(heard(signal)).await,
            Err(_) => Ok(()),
        }
    }

    /// Passes an event on to the chat, and then the state or the gathering if the event may have
    /// changed them. Skips events at or before the current position. Reports an unreadable event as
    /// a refusal, which ends the chat.
    async fn event(&mut self, frame: &Frame) -> Result<(), ReceiverGone> {
        let envelope: Envelope = match serde_json::from_str(&frame.data) {
            Ok(envelope) => envelope,
            Err(error) => {
                let fault = Fault::new(
                    Exit::Failure,
                    "the server sent an event that this version does not understand",
                );
                return self.say(ChatNews::Refused(fault.because(error))).await;
            }
        };
        if envelope.seq <= self.position {
            return Ok(());
        }
        self.position = envelope.seq;
        let changes = ChatView::changes_with(&envelope);
        let step = circle::step(&envelope);
        let opened = matches!(step, Some(GatheringStep::Opened { .. }));
        // Only the holder of the piece may read the pulse of a beat, so no shared event has it.
        let beats = matches!(step, Some(GatheringStep::Beat { .. }));
        self.gathers |= opened;
        self.say(ChatNews::Event(Box::new(envelope))).await?;
        if changes && let Ok(state) = threads::state(&self.client, &self.thread).await {
            self.say(ChatNews::State(Box::new(state))).await?;
        }
        if changes || opened || beats { self.gathering().await } else { Ok(()) }
    }

    /// Reads and reports the gathering's state, if there is one.
    async fn gathering(&self) -> Result<(), ReceiverGone> {
        if self.gathers
            && let Ok(answer) = circle::ask_as(&self.client, &self.thread, &self.me).await
        {
            self.say(ChatNews::Gathering(Box::new(answer))).await?;
        }
        Ok(())
    }
}
