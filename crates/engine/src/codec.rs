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

/// What a stored event turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// An event.
    Event(Box<Recorded>),
    /// One of a kind that only a newer version knows; which kind.
    Newer(String),
    /// Nothing that any version wrote: it is no event, or one of a known kind that does not read as such. In what way.
    Damaged(String),
}

impl Decoded {
    /// The event, if it is one.
    pub fn event(self) -> Option<Recorded> {
        match self {
            Decoded::Event(recorded) => Some(*recorded),
            Decoded::Newer(_) | Decoded::Damaged(_) => None,
        }
    }
}

/// An event from what was stored.
pub fn decode(seq: Seq, ts: Timestamp, envelope: &str, body: Option<String>) -> Decoded {
    let fault = match serde_json::from_str::<Event>(envelope) {
        Ok(event) => {
            let event = match body {
                Some(body) => event.with_body(body),
                None => event,
            };
            return Decoded::Event(Box::new(Recorded { seq, ts, event }));
        }
        Err(fault) => fault,
    };
    match kind_of(envelope) {
        Some(kind) if !Event::KINDS.contains(&kind.as_str()) => Decoded::Newer(kind),
        Some(kind) => Decoded::Damaged(format!("it does not read as {kind:?}: {fault}")),
        None => Decoded::Damaged(format!("it is no event: {fault}")),
    }
}

/// The kind that an envelope names: its only key, or all of it where the event has no fields.
fn kind_of(envelope: &str) -> Option<String> {
    match serde_json::from_str(envelope).ok()? {
        serde_json::Value::Object(fields) if fields.len() == 1 => fields.into_iter().next().map(|(kind, _)| kind),
        serde_json::Value::String(kind) => Some(kind),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_newer_version_knows_is_told_from_damage() {
        let decode = |envelope: &str| decode(Seq(1), Timestamp::from_millis(1), envelope, None);
        assert!(matches!(decode(r#""round_closed""#), Decoded::Event(_)));
        assert_eq!(decode(r#"{"levitated": {"by": "a"}}"#), Decoded::Newer("levitated".into()));
        assert_eq!(decode(r#""levitated""#), Decoded::Newer("levitated".into()));
        for damaged in [r#"{"renamed": {"name": 3}}"#, r#"{"renamed": {"#, "7", "", r#""renamed""#, r#"{"renamed": {}, "taken": {}}"#] {
            assert!(matches!(decode(damaged), Decoded::Damaged(_)), "{damaged}: {:?}", decode(damaged));
        }
    }

    #[test]
    fn every_kind_of_event_is_listed() {
        let refused = serde_json::from_str::<Event>(r#""levitated""#).map_err(|error| error.to_string());
        let named: Vec<_> = refused.unwrap_err().split('`').skip(3).step_by(2).map(str::to_owned).collect();
        assert_eq!(named, Event::KINDS);
    }
}
