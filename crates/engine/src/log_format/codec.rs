//! The encoding of an event: an envelope in JSON, and the body apart from it, so that the body can
//! be erased.

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::Seq;
use moothall_kernel::time::Timestamp;
use strum::VariantNames;

/// Returns the envelope of an event, without its body.
pub fn envelope(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

/// Estimates the bytes of an event: its body, and the content that a client gave it. All other
/// fields are small.
pub fn weight(event: &Event) -> usize {
    const REST: usize = 256;
    let own = match event {
        Event::Custom { content, .. } => content.to_string().len(),
        other => other.body().map_or(0, str::len),
    };
    own + REST
}

/// The result of decoding a stored event.
#[derive(Clone, Debug, PartialEq)]
pub enum DecodedEvent {
    /// An event that this version knows.
    Event(Box<RecordedEvent>),
    /// An event of this kind, which only a newer version knows.
    Newer(String),
    /// Damaged data, with the reason: not an event, or a known kind that does not parse.
    Damaged(String),
}

impl DecodedEvent {
    /// Returns the event, if it was decoded.
    pub fn event(self) -> Option<RecordedEvent> {
        match self {
            DecodedEvent::Event(recorded) => Some(*recorded),
            DecodedEvent::Newer(_) | DecodedEvent::Damaged(_) => None,
        }
    }
}

/// Decodes a stored event.
pub fn decode(seq: Seq, ts: Timestamp, envelope: &str, body: Option<String>) -> DecodedEvent {
    let fault = match serde_json::from_str::<Event>(envelope) {
        Ok(event) => {
            let event = match body {
                Some(body) => event.with_body(body),
                None => event,
            };
            return DecodedEvent::Event(Box::new(RecordedEvent { seq, ts, event }));
        }
        Err(fault) => fault,
    };
    match kind_of(envelope) {
        Some(kind) if !Event::VARIANTS.contains(&kind.as_str()) => DecodedEvent::Newer(kind),
        Some(kind) => DecodedEvent::Damaged(format!("it cannot be read as {kind:?}: {fault}")),
        None => DecodedEvent::Damaged(format!("it is not an event: {fault}")),
    }
}

/// Returns the kind in an envelope: its only key, or the whole string if the event has no fields.
fn kind_of(envelope: &str) -> Option<String> {
    match serde_json::from_str(envelope).ok()? {
        serde_json::Value::Object(fields) if fields.len() == 1 => {
            fields.into_iter().next().map(|(kind, _)| kind)
        }
        serde_json::Value::String(kind) => Some(kind),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;
    use std::path::Path;

    use moothall_testkit::fuzz;

    use super::*;

    #[test]
    fn what_only_a_newer_version_knows_is_told_from_damage() {
        let decode = |envelope: &str| decode(Seq(1), Timestamp::from_millis(1), envelope, None);
        assert!(matches!(decode(r#""round_closed""#), DecodedEvent::Event(_)));
        assert_eq!(
            decode(r#"{"levitated": {"by": "a"}}"#),
            DecodedEvent::Newer("levitated".into())
        );
        assert_eq!(decode(r#""levitated""#), DecodedEvent::Newer("levitated".into()));
        for damaged in [
            r#"{"renamed": {"name": 3}}"#,
            r#"{"renamed": {"#,
            "7",
            "",
            r#""renamed""#,
            r#"{"renamed": {}, "taken": {}}"#,
        ] {
            assert!(
                matches!(decode(damaged), DecodedEvent::Damaged(_)),
                "{damaged}: {:?}",
                decode(damaged)
            );
        }
    }

    #[test]
    fn every_kind_of_event_is_listed() {
        let refused =
            serde_json::from_str::<Event>(r#""levitated""#).map_err(|error| error.to_string());
        let named: Vec<_> =
            refused.unwrap_err().split('`').skip(3).step_by(2).map(str::to_owned).collect();
        assert_eq!(named, Event::VARIANTS);
    }

    /// Returns the events of version 0.1.0, and a few that no version wrote.
    fn corpus() -> Vec<Vec<u8>> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let golden = here.join("../kernel/tests/golden/0.1.0");
        let mut logs: Vec<_> =
            std::fs::read_dir(golden).unwrap().map(|entry| entry.unwrap().path()).collect();
        logs.retain(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
        logs.sort();
        let lines = logs.iter().flat_map(|log| {
            std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        });
        let event = |line: String| {
            serde_json::from_str::<serde_json::Value>(&line).unwrap()["event"].to_string()
        };
        let events: BTreeSet<String> = lines.map(event).collect();
        fuzz::corpus(&here.join("tests/corpus/events"))
            .into_iter()
            .chain(events.into_iter().map(String::into_bytes))
            .collect()
    }

    #[test]
    fn fuzzed_envelopes_are_events_that_stay_the_same_or_say_what_they_are() {
        fuzz::texts("events", &corpus(), Event::VARIANTS, |text| {
            let decode = |envelope: &str, body: Option<&str>| {
                decode(Seq(7), Timestamp::from_millis(1), envelope, body.map(str::to_owned))
            };
            match decode(text, Some("a body")) {
                DecodedEvent::Event(recorded) => {
                    let again = decode(&envelope(&recorded.event), recorded.event.body());
                    assert_eq!(
                        again,
                        DecodedEvent::Event(recorded),
                        "what is written is what was read"
                    );
                }
                DecodedEvent::Newer(kind) => {
                    assert!(!Event::VARIANTS.contains(&kind.as_str()), "{kind}")
                }
                DecodedEvent::Damaged(why) => assert!(!why.is_empty()),
            }
        });
    }
}
