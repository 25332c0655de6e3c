//! How an event is written to a log: an envelope in JSON, and its body beside it so that it can be erased.

use moothall_kernel::event::{Event, Recorded};
use moothall_kernel::ids::Seq;
use moothall_kernel::time::Timestamp;

/// The envelope of an event, without its body.
pub fn envelope(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

/// An event from what was stored; `None` when this version does not know it.
pub fn decode(seq: Seq, ts: Timestamp, envelope: &str, body: Option<String>) -> Option<Recorded> {
    let event: Event = serde_json::from_str(envelope).ok()?;
    let event = match body {
        Some(body) => event.with_body(body),
        None => event,
    };
    Some(Recorded { seq, ts, event })
}
