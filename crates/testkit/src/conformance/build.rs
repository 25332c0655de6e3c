//! Short words for what the cases append.

use moothall_engine::ports::{
    Appended, Catalog, Claim, ClaimChange, Epoch, EventLog, NewDelivery, StreamBatch,
};
use moothall_kernel::Conversation;
use moothall_kernel::event::{Event, Posted, Recipient, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::participant::Kind;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Timestamp;

/// A time, in milliseconds.
pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A person says something.
pub fn said(body: &str) -> Event {
    Event::Posted(Posted {
        from: ParticipantId::user(),
        kind: Kind::Human,
        to: Recipient::All,
        body: body.to_owned(),
        mentions: Vec::new(),
        places: Box::default(),
        depth: 0,
        typed_at: None,
        elsewhere: Vec::new(),
        asks: Vec::new(),
        unproven: false,
        unasked: false,
        own: None,
        resets: false,
        reply_to: None,
        turn: None,
        tags: Vec::new(),
        via: false,
        queued: false,
        queue_full: false,
        late: None,
        stopped: false,
        published: None,
        error: None,
        fingerprint: 7,
        parts: Vec::new(),
        only_for: None,
        ended: None,
        thought: false,
        silence: None,
        unknown: None,
    })
}

/// A catalog row with nothing to do.
pub fn catalog(title: &str) -> Catalog {
    Catalog {
        kind: "conversation".into(),
        title: title.into(),
        policy: "hybrid".into(),
        created_at: at(1),
        next_wake: None,
        has_duties: false,
        archived: false,
        waits_for_people: Some(0),
    }
}

/// A batch for a stream at a head, by a writer that nobody has fenced; its events are one
/// millisecond apart, from `head + 1` on.
pub fn batch(stream: &str, head: u64) -> StreamBatch {
    StreamBatch {
        stream: StreamId::new(stream),
        epoch: Epoch(0),
        expected_head: Seq(head),
        events: Vec::new(),
        claims: Vec::new(),
        deliveries: Vec::new(),
        charges: Vec::new(),
        catalog: catalog(stream),
    }
}

/// A conversation from its beginning, with the catalog row that it makes, and its state.
pub fn talk(stream: &str, words: &[&str]) -> (StreamBatch, Conversation) {
    let policy = Policy::named(PolicyName::PLAIN);
    let begin = batch(stream, 0).event(Event::Created {
        name: stream.into(),
        policy,
        by: ParticipantId::user(),
        task: None,
    });
    let mut batch = words.iter().fold(begin, |batch, words| batch.says(words));
    let state = Conversation::fold(StreamId::new(stream), &batch.events);
    batch.catalog = Catalog::of(&state.clone().into());
    (batch, state)
}

/// What a batch can be given, one after the other.
pub trait Builder: Sized {
    /// One more event, at its place and time.
    #[must_use]
    fn event(self, event: Event) -> Self;
    /// One more message, with this body.
    #[must_use]
    fn says(self, body: &str) -> Self;
    /// The same, at a time of its own.
    #[must_use]
    fn says_at(self, millis: i64, body: &str) -> Self;
    /// By the writer of this epoch.
    #[must_use]
    fn by(self, epoch: Epoch) -> Self;
    /// Takes this claim along with its events.
    #[must_use]
    fn takes(self, claim: Claim) -> Self;
    /// Releases the claim under this key.
    #[must_use]
    fn releases(self, namespace: &str, key: &str) -> Self;
    /// Owes one more delivery to this target.
    #[must_use]
    fn owes(self, target: &str) -> Self;
    /// A command for another stream.
    #[must_use]
    fn commands(self, target: &str, command: &str) -> Self;
    /// With another catalog row.
    #[must_use]
    fn row(self, change: impl FnOnce(&mut Catalog)) -> Self;
}

impl Builder for StreamBatch {
    fn event(mut self, event: Event) -> Self {
        let seq = Seq(self.expected_head.0 + self.events.len() as u64 + 1);
        self.events.push(RecordedEvent { seq, ts: at(seq.0 as i64), event });
        self
    }

    fn says(self, body: &str) -> Self {
        self.event(said(body))
    }

    fn says_at(mut self, millis: i64, body: &str) -> Self {
        self = self.says(body);
        if let Some(last) = self.events.last_mut() {
            last.ts = at(millis);
        }
        self
    }

    fn by(mut self, epoch: Epoch) -> Self {
        self.epoch = epoch;
        self
    }

    fn takes(mut self, claim: Claim) -> Self {
        self.claims.push(ClaimChange::Take(claim));
        self
    }

    fn releases(mut self, namespace: &str, key: &str) -> Self {
        self.claims.push(ClaimChange::Release { namespace: namespace.into(), key: key.into() });
        self
    }

    fn owes(mut self, target: &str) -> Self {
        let through_seq = Seq(self.expected_head.0 + self.events.len() as u64);
        self.deliveries.push(NewDelivery {
            target: target.into(),
            turn: Some(TurnNo(3)),
            attempt: 2,
            through_seq,
            command: None,
        });
        self
    }

    fn commands(mut self, target: &str, command: &str) -> Self {
        let through_seq = Seq(self.expected_head.0 + self.events.len() as u64);
        self.deliveries.push(NewDelivery {
            target: target.into(),
            turn: None,
            attempt: 0,
            through_seq,
            command: Some(command.into()),
        });
        self
    }

    fn row(mut self, change: impl FnOnce(&mut Catalog)) -> Self {
        change(&mut self.catalog);
        self
    }
}

/// The epoch of a stream's new writer.
///
/// # Panics
/// The log failed, or another process holds it.
pub async fn epoch(log: &impl EventLog, stream: &str, owner: &str) -> Epoch {
    log.acquire(&stream.into(), owner).await.unwrap().epoch().unwrap()
}

/// A claim that does not lapse.
pub fn claim(stream: &str, namespace: &str, key: &str) -> Claim {
    Claim {
        namespace: namespace.into(),
        key: key.into(),
        stream: StreamId::new(stream),
        fingerprint: "f00d".into(),
        outcome: "1".into(),
        expires: None,
    }
}

/// A claim that lapses.
pub fn lapsing(stream: &str, key: &str, expires: i64) -> Claim {
    Claim { expires: Some(at(expires)), ..claim(stream, "idem", key) }
}

/// The words of events, in order.
pub fn words(events: &[RecordedEvent]) -> Vec<&str> {
    events.iter().filter_map(|recorded| recorded.event.body()).collect()
}

/// The positions of events, in order.
pub fn places(events: &[RecordedEvent]) -> Vec<u64> {
    events.iter().map(|recorded| recorded.seq.0).collect()
}

/// The heads after an append.
pub fn heads(appended: Vec<Appended>) -> Vec<Seq> {
    appended.into_iter().map(|appended| appended.head).collect()
}
