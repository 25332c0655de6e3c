//! What was written and has to reach the server: in order, each once, however often the connection
//! breaks.

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

/// Something on its way.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The key under which the server does it once.
    pub key: String,
    /// The id of the participant who sends it.
    pub from: String,
    /// What the server is asked to do.
    pub matter: Matter,
}

/// What a request is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matter {
    /// A message to the conversation.
    Say {
        /// What the message says, as text.
        text: String,
        /// The id of the participant whom it addresses; all where unset.
        to: Option<String>,
        /// The id of the event that they reply to.
        reply_to: Option<String>,
    },
    /// A slash command, as it was written.
    Command(String),
    /// What can be typed.
    Help,
    /// Cancel open turns and waiting messages.
    Stop,
    /// A person's answer to a permission.
    Permit {
        /// The id of the permission.
        permission: String,
        /// Which option, or words of one's own.
        answer: permit::CardAnswer,
    },
}

/// What the server said to a request.
#[derive(Debug)]
pub struct SendOutcome {
    /// The key of the request.
    pub key: String,
    /// Its position if it became an event, and words to show.
    pub result: Result<(Option<u64>, Vec<String>), Fault>,
}

impl Outgoing {
    /// A request under a key of its own.
    pub fn new(from: &str, matter: Matter) -> Self {
        Self { key: uuid::Uuid::now_v7().to_string(), from: from.to_owned(), matter }
    }
}

/// Carries requests until no more come. When `back` rings, the server is there again.
pub async fn carry(
    client: Client,
    thread: String,
    mut outgoing: UnboundedReceiver<Outgoing>,
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

/// Tries until the server has answered: the key makes a repetition harmless.
async fn deliver(
    client: &Client,
    thread: &str,
    outgoing: &Outgoing,
    back: &Notify,
) -> Result<(Option<u64>, Vec<String>), Fault> {
    let mut waits = RETRY_MS.into_iter().chain(std::iter::repeat(RETRY_MS[RETRY_MS.len() - 1]));
    loop {
        match send(client, thread, outgoing).await {
            Err(fault) if fault.passes() => {}
            answer => return answer,
        }
        let wait = Duration::from_millis(waits.next().unwrap_or_default());
        // Which of the two it was makes no difference.
        let _ = tokio::time::timeout(wait, back.notified()).await;
    }
}

async fn send(
    client: &Client,
    thread: &str,
    outgoing: &Outgoing,
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
            // What became an event is shown as that.
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
