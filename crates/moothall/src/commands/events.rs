//! Reads the events of a conversation: stored ones and new ones, without a gap if the connection
//! breaks.

use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use moothall_surfaces::wire::{DeltaSignal, Envelope, EventPage, EventTypes};

use crate::client::{Client, RETRY_MS, segment};
use crate::fault::{Exit, Fault};
use crate::paint::note;
use crate::sse::Frame;
use crate::threads;

/// Selection of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSelection {
    /// Only the events shown to participants, without the trace.
    Conversation,
    /// The trace as well.
    Trace,
}

impl EventSelection {
    /// Returns the query parameters of the selection, each after a `&`. `as` selects the caller's
    /// own view of the conversation.
    fn query(self, client: &Client) -> String {
        match self {
            EventSelection::Conversation => {
                format!("&types={}&as={}", EventTypes::usual().list(), segment(client.name()))
            }
            EventSelection::Trace => format!("&types={}", EventTypes::EVERY.list()),
        }
    }
}

/// Events per request. Even 100 of the longest events need little memory.
const PAGE: usize = 100;

/// Returns all events after a position that pass the filter. Reads page by page, and drops the
/// other events of each page before it reads the next one.
///
/// # Errors
/// No server, or its refusal.
pub async fn after(
    client: &Client,
    thread: &str,
    from: u64,
    wanted: EventSelection,
    pass: fn(&Envelope) -> bool,
) -> Result<EventPage, Fault> {
    let mut all = page(client, thread, from, PAGE, wanted).await?;
    all.events.retain(pass);
    let mut before = from;
    while all.through > before && all.through < all.head {
        before = all.through;
        let next = page(client, thread, before, PAGE, wanted).await?;
        all.events.extend(next.events.into_iter().filter(pass));
        all.through = all.through.max(next.through);
    }
    Ok(all)
}

/// Returns at most `limit` events after a position.
///
/// # Errors
/// No server, or its refusal.
pub async fn page(
    client: &Client,
    thread: &str,
    after: u64,
    limit: usize,
    wanted: EventSelection,
) -> Result<EventPage, Fault> {
    client
        .get(&format!(
            "{}?after={after}&limit={limit}{}",
            threads::path(thread, "events"),
            wanted.query(client)
        ))
        .await
}

/// Returns the first events since a moment, at most [`PAGE`]. The moment is in RFC 3339.
///
/// # Errors
/// No server, or its refusal.
pub async fn since(
    client: &Client,
    thread: &str,
    moment: &str,
    wanted: EventSelection,
) -> Result<EventPage, Fault> {
    let query = format!("since={}&limit={PAGE}{}", segment(moment), wanted.query(client));
    client.get(&format!("{}?{query}", threads::path(thread, "events"))).await
}

/// Returns the last `count` events that pass the filter. `head` is the position of the newest
/// event. Reads from the end, so that a long conversation takes no longer than a short one.
///
/// # Errors
/// No server, or its refusal.
pub async fn last(
    client: &Client,
    thread: &str,
    head: u64,
    count: usize,
    wanted: EventSelection,
    pass: fn(&Envelope) -> bool,
) -> Result<EventPage, Fault> {
    let mut span = 64 + 8 * u64::try_from(count).unwrap_or(u64::MAX / 8);
    loop {
        let from = head.saturating_sub(span);
        let mut page = after(client, thread, from, wanted, pass).await?;
        if page.events.len() >= count || from == 0 {
            page.events.drain(..page.events.len().saturating_sub(count));
            return Ok(page);
        }
        span = span.saturating_mul(4);
    }
}

/// A follower of a conversation, from a position on.
pub struct Follower<'a> {
    client: &'a Client,
    path: String,
    position: u64,
    frames: Option<Frames>,
    away: bool,
}

type Frames = Pin<Box<dyn Stream<Item = Frame> + Send>>;

/// An item of the event stream.
pub enum FollowItem {
    /// A recorded event, in log order.
    Event(Box<Envelope>),
    /// A piece of a running answer.
    Delta(DeltaSignal),
    /// Anything else, such as presence.
    Signal,
}

impl<'a> Follower<'a> {
    /// Follows the conversation from a position on. The stored events after it come first, then the
    /// new ones.
    pub fn new(client: &'a Client, thread: &str, position: u64, wanted: EventSelection) -> Self {
        let path = format!(
            "{}?{}",
            threads::path(thread, "events/stream"),
            wanted.query(client).trim_start_matches('&')
        );
        Self { client, path, position, frames: None, away: false }
    }

    /// Sends a request to the same server, and retries while the server is away.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn retry_until_reachable<T>(
        &mut self,
        ask: impl AsyncFn() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        retry_until_reachable(&mut self.away, ask).await
    }

    /// Returns the next item. Reconnects if the connection breaks, without a time limit; each event
    /// comes exactly once.
    ///
    /// # Errors
    /// The server refuses, or sends an event that this version does not understand.
    pub async fn next(&mut self) -> Result<FollowItem, Fault> {
        loop {
            let frames = match &mut self.frames {
                Some(frames) => frames,
                None => {
                    let position = self.position.to_string();
                    let connect = async || self.client.stream(&self.path, Some(&position)).await;
                    self.frames
                        .insert(Box::pin(retry_until_reachable(&mut self.away, connect).await?))
                }
            };
            match frames.next().await {
                Some(frame) if frame.event.is_empty() => {
                    let envelope = parse(&frame)?;
                    if envelope.seq > self.position {
                        self.position = envelope.seq;
                        return Ok(FollowItem::Event(Box::new(envelope)));
                    }
                }
                Some(frame) if frame.event == "delta" => {
                    let delta = serde_json::from_str(&frame.data);
                    return Ok(delta.map_or(FollowItem::Signal, FollowItem::Delta));
                }
                Some(_) => return Ok(FollowItem::Signal),
                None => self.frames = None,
            }
        }
    }
}

fn parse(frame: &Frame) -> Result<Envelope, Fault> {
    serde_json::from_str(&frame.data).map_err(|error| {
        Fault::new(Exit::Failure, "the server sent an event that this version does not understand")
            .because(error)
    })
}

/// Retries a request until the server is reachable. Prints one note for each outage: `away` is true
/// during an outage that was noted, also after a cancelled call.
async fn retry_until_reachable<T>(
    away: &mut bool,
    ask: impl AsyncFn() -> Result<T, Fault>,
) -> Result<T, Fault> {
    let mut waits = RETRY_MS.into_iter().chain(std::iter::repeat(RETRY_MS[RETRY_MS.len() - 1]));
    loop {
        let fault = match ask().await {
            Err(fault) if fault.passes() => fault,
            answer => {
                *away = false;
                return answer;
            }
        };
        if !std::mem::replace(away, true) {
            note(&format!("{}; retrying (Ctrl-C stops)", fault.what));
        }
        tokio::time::sleep(Duration::from_millis(waits.next().unwrap_or_default())).await;
    }
}
