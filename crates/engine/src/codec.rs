//! How an event is written to a log: an envelope in JSON, and its body beside it so that it can be erased.

use moothall_kernel::event::{Event, Recorded};
use moothall_kernel::ids::Seq;
use moothall_kernel::time::Timestamp;

/// The envelope of an event, without its body.
pub fn envelope(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

/// About how many bytes an event takes: its words, and what a client kept of its own. Everything else of any event is small.
pub fn weight(event: &Event) -> usize {
    const REST: usize = 256;
    let own = match event {
        Event::Foreign { content, .. } => content.to_string().len(),
        other => other.body().map_or(0, str::len),
    };
    own + REST
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
