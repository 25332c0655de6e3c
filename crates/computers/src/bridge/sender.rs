//! The task that puts rows into the post.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream;
use moothall_engine::crash;

use super::outgoing::SentRow;
use super::run::{PostLink, clock};
use crate::frame::Frame;

/// Number of rows that are being put at the same time, so that the task does not wait for each
/// answer of a distant server.
const PUTS_AT_ONCE: usize = 32;

/// Puts the rows of all pairs into the post, for as long as the task runs.
pub(super) async fn send(link: Arc<PostLink>) {
    loop {
        let (rows, due) = match link.peers.is_doubled() {
            // Two servers with one id would number rows twice.
            true => (Vec::new(), None),
            false => link.outgoing.next_rows(clock(), PUTS_AT_ONCE),
        };
        if rows.is_empty() {
            wait(&link, due).await;
            continue;
        }
        let puts = rows.into_iter().map(|row| put(&link, row));
        stream::iter(puts).buffer_unordered(PUTS_AT_ONCE).collect::<()>().await;
    }
}

/// Waits until there may be rows to put.
async fn wait(link: &PostLink, due: Option<Instant>) {
    let changed = link.outgoing.changed.notified();
    match due {
        Some(due) => drop(tokio::time::timeout_at(due.into(), changed).await),
        None => changed.await,
    }
}

/// Puts one row into the post. After a failure, no row for this receiver is put into the post until
/// the lease is renewed or the post is connected again.
async fn put(link: &PostLink, row: SentRow) {
    let SentRow { to, number, body } = row;
    let Some(pair) = link.pairs.get(to) else { return };
    match link.put(&pair, &Frame::row(number, &body)).await {
        Ok(()) => crash::point("row_posted"),
        Err(_) => link.outgoing.put_failed(to, number),
    }
}
