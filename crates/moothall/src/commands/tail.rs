//! `tail`: prints a conversation, and follows it as it grows.

use moothall_surfaces::wire::{Envelope, EventPage};

use super::Context;
use super::events::{self, EventSelection, FollowItem, Follower, last};
use super::show::{View, is_anything, is_read};
use crate::cli::Tail;
use crate::client::Client;
use crate::clock;
use crate::fault::{Exit, Fault};
use crate::threads::{self, Faces};

/// Prints the latest events, or those since a given point, then follows the conversation unless
/// `--no-follow` is given.
pub async fn run(context: &Context, args: &Tail) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let state = threads::state(&context.client, &thread).await?;
    let (wanted, pass): (_, fn(&_) -> bool) = if args.all {
        (EventSelection::Trace, is_anything)
    } else {
        (EventSelection::Conversation, is_read)
    };
    let page = match &args.since {
        Some(word) => since(&context.client, &thread, word, wanted, pass).await?,
        None => last(&context.client, &thread, state.head, args.lines, wanted, pass).await?,
    };
    let mut view = View::new(context, &thread, Faces::of(&state));
    for envelope in &page.events {
        view.show(envelope).await?;
    }
    if args.no_follow {
        return Ok(());
    }
    let mut follow = Follower::new(&context.client, &thread, page.through, wanted);
    loop {
        match follow.next().await? {
            FollowItem::Event(envelope) if pass(&envelope) => view.show(&envelope).await?,
            FollowItem::Event(_) | FollowItem::Delta(_) | FollowItem::Signal => {}
        }
    }
}

/// Returns all events since a moment that pass the filter. `word` is a time stamp, a day or an age.
async fn since(
    client: &Client,
    thread: &str,
    word: &str,
    wanted: EventSelection,
    pass: fn(&Envelope) -> bool,
) -> Result<EventPage, Fault> {
    let moment = clock::moment(word, jiff::Timestamp::now()).ok_or_else(|| {
        Fault::new(Exit::Usage, format!("{word:?} is not a time"))
            .try_this("use 10m, 2h, 3d, a day such as 2026-01-31, or 2026-01-31T09:00:00Z")
    })?;
    let first = events::since(client, thread, &moment, wanted).await?;
    // Only the first page is read by time. Its end is a position, after which the rest is read.
    let mut rest = events::after(client, thread, first.through, wanted, pass).await?;
    let mut events: Vec<Envelope> = first.events.into_iter().filter(pass).collect();
    events.append(&mut rest.events);
    Ok(EventPage { events, ..rest })
}
