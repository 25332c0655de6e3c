//! Everything that happens in a conversation, as it happens, across breaks of the connection.

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

/// What a chat hears of its conversation.
#[derive(Debug)]
pub enum ChatNews {
    /// An event; each one once, in order.
    Event(Box<Envelope>),
    /// A piece of a running answer.
    Delta(DeltaSignal),
    /// The presence of a participant changed.
    Presence(PresenceUpdate),
    /// What the conversation is like, after something changed that.
    State(Box<ThreadStateAnswer>),
    /// How its gathering stands, after something changed that.
    Gathering(Box<GatheringAnswer>),
    /// The server is away.
    Away,
    /// It is back; nothing was missed.
    Back,
    /// The server refuses to tell more, for this reason.
    Refused(Fault),
}

/// Nobody listens any more.
struct ReceiverGone;

/// Listens from after where a conversation is until nobody wants to hear more. Rings `back` when a
/// server that was away is there again.
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
    /// The participant whose chat it is.
    me: String,
    thread: String,
    path: String,
    position: u64,
    out: Sender<ChatNews>,
    back: Arc<Notify>,
    /// Whether a gathering is held there.
    gathers: bool,
}

impl StreamReader {
    async fn say(&self, heard: ChatNews) -> Result<(), ReceiverGone> {
        self.out.send(heard).await.map_err(|_| ReceiverGone)
    }

    /// A stream that goes on where the last one ended; nothing where the server refuses.
    async fn connect(&self) -> Result<Option<impl Stream<Item = Frame> + use<>>, ReceiverGone> {
        let mut waits = RETRY_MS.into_iter().chain(std::iter::repeat(RETRY_MS[RETRY_MS.len() - 1]));
        let mut away = false;
        loop {
            match self.client.stream(&self.path, Some(&self.position.to_string())).await {
                Ok(frames) => {
                    if away {
                        self.back.notify_one();
                        self.say(ChatNews::Back).await?;
                        // The time for which the server was away counts for nobody.
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

    async fn hear(&mut self, frames: impl Stream<Item = Frame>) -> Result<(), ReceiverGone> {
        let mut frames = std::pin::pin!(frames);
        while let Some(frame) = frames.next().await {
            match frame.event.as_str() {
                "" => self.event(&frame).await?,
                "delta" => self.signal(&frame, ChatNews::Delta).await?,
                "presence" => self.signal(&frame, ChatNews::Presence).await?,
                // What a later version says besides is not needed to follow.
                _ => {}
            }
        }
        Ok(())
    }

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
        // The pulse of a beat is for its holder alone, and stands in no event that others read.
        let beats = matches!(step, Some(GatheringStep::Beat { .. }));
        self.gathers |= opened;
        self.say(ChatNews::Event(Box::new(envelope))).await?;
        if changes && let Ok(state) = threads::state(&self.client, &self.thread).await {
            self.say(ChatNews::State(Box::new(state))).await?;
        }
        if changes || opened || beats { self.gathering().await } else { Ok(()) }
    }

    /// Says how the gathering stands, where one is held.
    async fn gathering(&self) -> Result<(), ReceiverGone> {
        if self.gathers
            && let Ok(answer) = circle::ask_as(&self.client, &self.thread, &self.me).await
        {
            self.say(ChatNews::Gathering(Box::new(answer))).await?;
        }
        Ok(())
    }
}
