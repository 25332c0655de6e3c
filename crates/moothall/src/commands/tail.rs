//! `tail`: reads a conversation, and goes on reading as it grows.

use super::Desk;
use super::events::{Follow, Heard, Wanted, last};
use super::show::{View, is_anything, is_conversation};
use crate::cli::Tail;
use crate::fault::Fault;
use crate::threads::{self, Faces};

pub async fn run(desk: &Desk, args: &Tail) -> Result<(), Fault> {
    let thread = threads::resolve(&desk.client, &args.thread.thread).await?;
    let state = threads::state(&desk.client, &thread).await?;
    let (wanted, pass): (_, fn(&_) -> bool) = if args.all { (Wanted::Trace, is_anything) } else { (Wanted::Conversation, is_conversation) };
    let page = last(&desk.client, &thread, state.head, args.lines, wanted, pass).await?;
    let mut view = View::new(desk, &thread, Faces::of(&state));
    for envelope in &page.events {
        view.show(envelope).await?;
    }
    if args.no_follow {
        return Ok(());
    }
    let mut follow = Follow::new(&desk.client, &thread, page.through, wanted);
    loop {
        match follow.next().await? {
            Heard::Event(envelope) if pass(&envelope) => view.show(&envelope).await?,
            Heard::Event(_) | Heard::Signal => {}
        }
    }
}
