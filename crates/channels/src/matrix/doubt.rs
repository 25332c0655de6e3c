//! Messages of which it is not known if they were sent: the room is read back for them.
//!
//! Each message names its delivery and part. If the room shows the message, it was sent. Otherwise
//! it is sent again under the same transaction id: the homeserver answers a call that is still
//! under way with its result. It forgets transactions after half an hour, so a doubt that is older
//! than twenty minutes ends as `unknown`.

use moothall_engine::outbox::Outcome;
use moothall_engine::ports::Delivery;
use moothall_kernel::time::{Millis, Timestamp};

use super::Matrix;
use super::client::MatrixFault;
use super::content::TXN;
use super::names::Ghost;
use super::room::MatrixRoom;
use crate::carriage::Carriage;

/// Time for which a message in doubt is sent again.
const REPEATED_MAX: Millis = Millis::from_secs(20 * 60);
/// Number of pages of a room that are read back.
const PAGES_MAX: usize = 20;
/// Largest difference between the homeserver's clock and this computer's that is allowed for.
const CLOCKS_APART: Millis = Millis::from_secs(10 * 60);

impl Matrix {
    /// Returns the transaction id of the next message of a delivery.
    pub(super) fn txn_of(
        &self,
        under_way: &Carriage<'_, MatrixRoom>,
        delivery: &Delivery,
    ) -> String {
        let part = under_way.kept.sent.len();
        // Another log has the same numbers for other deliveries, so the conversation is a part of
        // the id.
        let stream = blake3::hash(delivery.stream.as_str().as_bytes()).to_hex();
        format!("d{}-{part}-{}-{}", delivery.id, delivery.through_seq.0, &stream[..12])
    }

    /// Looks in the room for a message of which an earlier attempt does not know if it was sent. A
    /// message that is found counts as sent. A message that is not found is sent again, unless the
    /// earlier attempt is too old.
    ///
    /// # Errors
    /// The outcome of the delivery: `unknown` if the message is not found and the attempt is too
    /// old, and a later attempt if the room cannot be read.
    pub(super) async fn settle_doubt(
        &self,
        under_way: &mut Carriage<'_, MatrixRoom>,
        delivery: &Delivery,
    ) -> Result<(), Outcome> {
        let Some(doubt) = under_way.kept.doubt.clone() else { return Ok(()) };
        let since = Timestamp::from_millis(doubt.since);
        let txn = self.txn_of(under_way, delivery);
        let found = self.find_sent(&doubt.part.chat, &txn, since).await;
        match found.map_err(|fault| self.later(&fault))? {
            Some(event) => {
                self.note_sent(under_way, doubt.part, Some(event));
                Ok(())
            }
            None if since.is_within(REPEATED_MAX, self.inbox.hall().now()) => Ok(()),
            None => Err(under_way.unknown(
                "the homeserver was away for too long after the message was on its way, and the \
                 room does not show it",
            )),
        }
    }

    /// Returns the event that an account of the server sent to a room under a transaction id, if it
    /// is in the newest pages of the room.
    async fn find_sent(
        &self,
        room: &str,
        txn: &str,
        since: Timestamp,
    ) -> Result<Option<String>, MatrixFault> {
        let domain = self.domain().await?;
        let Some(place) = self.place(room).await? else { return Ok(None) };
        let Some(viewer) = self.voice_in(&place, &domain) else { return Ok(None) };
        let mut from = None;
        for _ in 0..PAGES_MAX {
            let (events, next) = self.client.history(room, &viewer, from.as_deref()).await?;
            for event in &events {
                let is_ours = event["sender"].as_str().and_then(|user| Ghost::of(user, &domain));
                if is_ours.is_some() && event["content"][TXN] == txn {
                    return Ok(event["event_id"].as_str().map(str::to_owned));
                }
            }
            let oldest = events.last().and_then(|event| event["origin_server_ts"].as_i64());
            let is_old = oldest.is_none_or(|at| at < (since - CLOCKS_APART).millis());
            from = next.filter(|_| !is_old);
            if from.is_none() {
                break;
            }
        }
        Ok(None)
    }
}
