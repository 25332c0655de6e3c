//! `chat`: takes part in a conversation. Messages scroll above an input line. For pipes and screen
//! readers, each message is one block of plain text.

mod complete;
mod editor;
mod history;
mod input;
mod interactive;
mod keys;
mod outbox;
mod plain;
mod render;
mod room;
pub mod screen;
mod stream;
mod width;

use std::sync::Arc;

use moothall_surfaces::wire::{Envelope, GatheringAnswer, ThreadStateAnswer};
use tokio::sync::{Notify, mpsc};

pub use self::interactive::typed;
pub use self::keys::{Key, Keys};
use self::outbox::{OutboxRequest, SendOutcome};
pub(super) use self::render::RenderContext;
pub(super) use self::room::ChatView;
pub use self::screen::{Live, Raw, Screen};
use self::stream::ChatNews;
pub use self::width::{clip, width, wrap};
use super::Context;
use super::circle;
use super::events::{EventSelection, last};
use super::show::is_shown;
use crate::cli::Chat;
use crate::fault::Fault;
use crate::threads;

/// Number of earlier events that are shown at the start.
const EARLIER: usize = 20;
/// Capacity of the queue of received events. When it is full, reading from the server waits.
const HEARD_MAX: usize = 256;

/// Chats in plain text with `--plain` or `--json`, without a terminal, or if the variables ask for
/// it; otherwise interactively.
pub async fn run(context: &Context, args: &Chat) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let state = threads::state(&context.client, &thread).await?;
    let me = args.speaker.as_deref().unwrap_or(context.client.name());
    if args.plain || context.printer.json || is_plain() {
        return plain::run(context, &thread, me, &state).await;
    }
    interactive::run(context, &thread, me, &state).await
}

/// True if the output is for a pipe, or for a terminal that takes no escape sequences.
pub fn is_plain() -> bool {
    !screen::is_there() || wants_plain()
}

/// True if the variables ask for text without escapes.
pub(super) fn wants_plain() -> bool {
    is_plain_wanted(|name| std::env::var(name).ok())
}

/// True if `NO_COLOR` has a value, or if `TERM` is missing, empty or `dumb`.
fn is_plain_wanted(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable("NO_COLOR").is_some_and(|value| !value.is_empty())
        || variable("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Reads the gathering of a conversation, if there is one, from this participant's view.
async fn gathering(
    context: &Context,
    state: &ThreadStateAnswer,
    me: &str,
) -> Result<Option<GatheringAnswer>, Fault> {
    if !circle::is_one(state) {
        return Ok(None);
    }
    circle::ask_as(&context.client, &state.thread, me).await.map(Some)
}

/// Returns the latest events that a chat shows, at most [`EARLIER`], up to the head of a state.
async fn earlier(context: &Context, state: &ThreadStateAnswer) -> Result<Vec<Envelope>, Fault> {
    let mut page = last(
        &context.client,
        &state.thread,
        state.head,
        EARLIER,
        EventSelection::Conversation,
        is_shown,
    )
    .await?;
    // The stream delivers newer events.
    page.events.retain(|envelope| envelope.seq <= state.head);
    Ok(page.events)
}

/// Channels to and from the server.
struct Line {
    heard: mpsc::Receiver<ChatNews>,
    outgoing: mpsc::UnboundedSender<OutboxRequest>,
    answers: mpsc::UnboundedReceiver<SendOutcome>,
}

impl Line {
    /// Starts the two tasks of a chat: one follows the event stream, the other delivers requests.
    /// The first notifies the second when the server is reachable again.
    fn open(context: &Context, state: &ThreadStateAnswer, me: &str) -> Self {
        let (out, heard) = mpsc::channel(HEARD_MAX);
        let (outgoing, posted) = mpsc::unbounded_channel();
        let (answered, answers) = mpsc::unbounded_channel();
        let back = Arc::new(Notify::new());
        let client = context.client.clone();
        tokio::spawn(stream::listen(client, me.to_owned(), state.clone(), out, back.clone()));
        tokio::spawn(outbox::carry(
            context.client.clone(),
            state.thread.clone(),
            posted,
            answered,
            back,
        ));
        Self { heard, outgoing, answers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_terminals_want_plain_text() {
        let with = |given: &'static [(&str, &str)]| {
            is_plain_wanted(|name| {
                given.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(!with(&[("TERM", "xterm-256color")]));
        assert!(!with(&[("TERM", "xterm"), ("NO_COLOR", "")]));
        assert!(with(&[("TERM", "xterm"), ("NO_COLOR", "1")]));
        assert!(with(&[("TERM", "dumb")]));
        assert!(with(&[]));
    }
}
