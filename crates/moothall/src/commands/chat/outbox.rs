//! The outbox: delivers requests to the server in order, each exactly once, across broken
//! connections.

use std::sync::Arc;
use std::time::Duration;

use moothall_surfaces::wire::{
    Accepted, Actor, CommandRan, NewCommand, NewEvent, NewMeta, StopAccepted,
};
use serde_json::json;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::complete::own_help;
use crate::client::{Client, RETRY_MS};
use crate::commands::permit;
use crate::fault::Fault;
use crate::paint::sentences;
use crate::threads;

/// A request to deliver.
#[derive(Clone, Debug)]
pub struct OutboxRequest {
    /// Idempotency key.
    pub key: String,
    /// Id of the sending participant.
    pub from: String,
    /// The request itself.
    pub matter: Matter,
}

/// Kind of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matter {
    /// A message to the conversation.
    Say {
        /// Text of the message.
        text: String,
        /// Id of the addressed participant; `None` means all.
        to: Option<String>,
        /// Id of the event replied to.
        reply_to: Option<String>,
    },
    /// A slash command, as written.
    Command(String),
    /// The server's help, and the chat's.
    Help,
    /// Cancel open turns and waiting messages.
    Stop,
    /// A person's answer to a permission.
    Permit {
        /// Id of the permission.
        permission: String,
        /// The chosen option, or words of one's own.
        answer: permit::CardAnswer,
    },
}

/// The server's answer to a request.
#[derive(Debug)]
pub struct SendOutcome {
    /// Key of the request.
    pub key: String,
    /// Position of the resulting event, if any, and text to show.
    pub result: Result<(Option<u64>, Vec<String>), Fault>,
}

impl OutboxRequest {
    /// Creates a request with a new key.
    pub fn new(from: &str, matter: Matter) -> Self {
        Self { key: uuid::Uuid::now_v7().to_string(), from: from.to_owned(), matter }
    }
}

/// Delivers requests until the channel closes. `back` signals that the server is reachable again.
pub async fn carry(
    client: Client,
    thread: String,
    mut outgoing: UnboundedReceiver<OutboxRequest>,
    answers: UnboundedSender<SendOutcome>,
    back: Arc<Notify>,
) {
    while let Some(outgoing) = outgoing.recv().await {
        let result = deliver(&client, &thread, &outgoing, &back).await;
        if answers.send(SendOutcome { key: outgoing.key, result }).is_err() {
            return;
        }
    }
}

/// Sends a request until the server has accepted or refused it. The request's key makes repetitions
/// harmless.
async fn deliver(
    client: &Client,
    thread: &str,
    outgoing: &OutboxRequest,
    back: &Notify,
) -> Result<(Option<u64>, Vec<String>), Fault> {
    let mut waits = RETRY_MS.into_iter().chain(std::iter::repeat(RETRY_MS[RETRY_MS.len() - 1]));
    loop {
        match send(client, thread, outgoing).await {
            Err(fault) if fault.passes() => {}
            answer => return answer,
        }
        let wait = Duration::from_millis(waits.next().unwrap_or_default());
        // Retry in both cases: after the wait, or when the server is back.
        let _ = tokio::time::timeout(wait, back.notified()).await;
    }
}

/// Sends a request without a retry. Returns the position of the resulting event, if any, and text
/// to show.
async fn send(
    client: &Client,
    thread: &str,
    outgoing: &OutboxRequest,
) -> Result<(Option<u64>, Vec<String>), Fault> {
    let from = Some(outgoing.from.clone());
    match &outgoing.matter {
        Matter::Say { text, to, reply_to } => {
            let meta = reply_to.clone().map(|id| NewMeta { reply_to: Some(id), tags: None });
            let event = NewEvent {
                kind: Some("message".into()),
                from,
                to: to.clone(),
                content: json!(text),
                meta,
                ..NewEvent::default()
            };
            let accepted: Accepted =
                client.post_keyed(&threads::path(thread, "events"), &event, &outgoing.key).await?;
            let warnings = sentences(&accepted.warnings).collect();
            Ok((accepted.event.map(|event| event.seq), warnings))
        }
        Matter::Help => {
            let command = NewCommand { from, text: "/help".into() };
            let ran: CommandRan = client
                .post_keyed(&threads::path(thread, "commands"), &command, &outgoing.key)
                .await?;
            Ok((None, vec![ran.text, own_help()]))
        }
        Matter::Command(text) => {
            let command = NewCommand { from, text: text.clone() };
            let ran: CommandRan = client
                .post_keyed(&threads::path(thread, "commands"), &command, &outgoing.key)
                .await?;
            // The stream shows the event, so its text is not repeated here.
            let words = if ran.event.is_some() { Vec::new() } else { vec![ran.text] };
            Ok((ran.event.map(|event| event.seq), words))
        }
        Matter::Permit { permission, answer } => {
            let answered = permit::answer(
                client,
                thread,
                &outgoing.from,
                permission,
                answer,
                Some(&outgoing.key),
            )
            .await?;
            Ok((answered.event.map(|event| event.seq), Vec::new()))
        }
        Matter::Stop => {
            let stopped: StopAccepted = client
                .post_keyed(&threads::path(thread, "stop"), &Actor { from }, &outgoing.key)
                .await?;
            let nothing = || vec!["There was nothing to stop.".to_owned()];
            Ok((
                stopped.event.as_ref().map(|event| event.seq),
                stopped.event.map_or_else(nothing, |_| Vec::new()),
            ))
        }
    }
}
