//! The conversion of an event to its stored form and back.

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::Seq;
use moothall_kernel::time::Timestamp;

use super::chain::{BodyHash, ChainLink};
use super::codec::{self, DecodedEvent};
use crate::ports::Page;

/// The stored form of an event, without its position, its time and its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredParts {
    /// The event as JSON, without its body.
    pub envelope: String,
    /// The link of the chain at this event.
    pub link: ChainLink,
}

impl StoredParts {
    /// Makes the stored form of an event. `before` is the link of the event before it.
    pub fn of(recorded: &RecordedEvent, before: ChainLink) -> Self {
        let envelope = codec::envelope(&recorded.event);
        let body = recorded.event.body().map(|body| BodyHash::of(body.as_bytes()));
        let link = before.next(recorded.seq, recorded.ts, envelope.as_bytes(), body);
        Self { envelope, link }
    }
}

/// An event as read from the log, not verified yet.
#[derive(Clone, Copy, Debug)]
pub struct StoredEvent<'a> {
    /// The event's position in its stream.
    pub seq: Seq,
    /// Time at which it was recorded.
    pub ts: Timestamp,
    /// The event as JSON, without its body.
    pub envelope: &'a [u8],
    /// The body, if it has one that was not erased.
    pub body: Option<&'a [u8]>,
    /// The hash of the body, if the body was erased.
    pub erased: Option<&'a [u8]>,
    /// The stored link of the chain at this event.
    pub link: &'a [u8],
}

impl StoredEvent<'_> {
    /// Returns its size in a page, in bytes.
    pub fn bytes(&self) -> usize {
        self.envelope.len() + self.body.map_or(0, <[u8]>::len)
    }

    /// Verifies the event against the position that it should have and its stored link. `before` is
    /// the link of the event before it. Returns the event's link.
    ///
    /// # Errors
    /// The damage, as the end of a sentence.
    pub fn check(&self, seq: Seq, before: ChainLink) -> Result<ChainLink, &'static str> {
        let body = match (self.body, self.erased) {
            (Some(body), _) => Some(BodyHash::of(body)),
            (None, Some(erased)) => Some(
                BodyHash::from_stored(erased)
                    .ok_or("the checksum of its erased body is damaged")?,
            ),
            (None, None) => None,
        };
        let link = before.next(self.seq, self.ts, self.envelope, body);
        let fits = self.seq == seq && link.as_bytes() == self.link;
        fits.then_some(link).ok_or("its checksum does not match")
    }

    /// Adds the event to a page. If its kind is from a newer version, notes this in the page.
    ///
    /// # Errors
    /// The damage, as text.
    pub fn add_to(&self, page: &mut Page) -> Result<(), String> {
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned());
        let envelope = text(self.envelope)?;
        let body = self.body.map(text).transpose()?.map(str::to_owned);
        page.through = self.seq;
        match codec::decode(self.seq, self.ts, envelope, body) {
            DecodedEvent::Event(recorded) => page.events.push(*recorded),
            DecodedEvent::Newer(kind) => drop(page.newer.get_or_insert((self.seq, kind))),
            DecodedEvent::Damaged(reason) => return Err(reason),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use moothall_kernel::event::Event;
    use moothall_kernel::ids::{ParticipantId, StreamId};

    use super::*;

    fn hex(link: ChainLink) -> String {
        link.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Stored logs depend on these exact checksums, in every database.
    #[test]
    fn the_checksums_are_those_of_the_first_version() {
        let redacted = Event::Redacted {
            seq: Seq(1),
            by: ParticipantId::user(),
            message: false,
            summaries: Vec::new(),
            edited: false,
        };
        let recorded =
            RecordedEvent { seq: Seq(2), ts: Timestamp::from_millis(5), event: redacted };
        let written = StoredParts::of(&recorded, ChainLink::origin(&StreamId::new("a")));
        assert_eq!(written.envelope, r#"{"redacted":{"seq":1,"by":"user"}}"#);
        assert_eq!(hex(written.link), "2578c3337bfa9a72579993542077810a");
    }

    #[test]
    fn what_was_changed_is_not_what_was_stored() {
        let before = ChainLink::origin(&StreamId::new("a"));
        let recorded =
            RecordedEvent { seq: Seq(1), ts: Timestamp::from_millis(5), event: Event::RoundClosed };
        let StoredParts { envelope, link } = StoredParts::of(&recorded, before);
        let stored = StoredEvent {
            seq: recorded.seq,
            ts: recorded.ts,
            envelope: envelope.as_bytes(),
            body: None,
            erased: None,
            link: link.as_bytes(),
        };
        assert_eq!(stored.check(Seq(1), before), Ok(link));
        for other in [
            StoredEvent { seq: Seq(2), ..stored },
            StoredEvent { ts: Timestamp::from_millis(6), ..stored },
            StoredEvent { envelope: b"\"round_opened\"", ..stored },
            StoredEvent { body: Some(b"words"), ..stored },
            StoredEvent { link: &[0; 16], ..stored },
        ] {
            assert_eq!(
                other.check(other.seq, before),
                Err("its checksum does not match"),
                "{other:?}"
            );
        }
        assert!(stored.check(Seq(2), before).is_err(), "it stands in another place");
        assert!(StoredEvent { erased: Some(b"short"), ..stored }.check(Seq(1), before).is_err());
    }
}
