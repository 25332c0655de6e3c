//! Short builders for the appends of the cases.

use moothall_engine::ports::{
    AppendResult, Catalog, Claim, ClaimChange, Epoch, EventLog, NewDelivery, PostChannel, PostMark,
    StreamBatch,
};
use moothall_kernel::Conversation;
use moothall_kernel::event::{Event, Posted, Recipient, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::participant::Kind;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Timestamp;

/// Returns a time in milliseconds.
pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Returns a person's message.
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
        parts: Box::default(),
        only_for: None,
        origin: None,
        ended: None,
        thought: false,
        silence: None,
        unknown: None,
        hosted: None,
        far: None,
    })
}

/// Returns a catalog row without duties.
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

/// Returns a batch for a stream at a head, by an unfenced writer. Its events are one millisecond
/// apart, from `head + 1` on.
pub fn batch(stream: &str, head: u64) -> StreamBatch {
    StreamBatch {
        stream: StreamId::new(stream),
        epoch: Epoch(0),
        expected_head: Seq(head),
        events: Vec::new(),
        claims: Vec::new(),
        deliveries: Vec::new(),
        marks: Vec::new(),
        charges: Vec::new(),
        catalog: catalog(stream),
    }
}

/// Returns a conversation from its beginning, with the matching catalog row, and its state.
pub fn talk(stream: &str, words: &[&str]) -> (StreamBatch, Conversation) {
    let policy = Policy::named(PolicyName::PLAIN);
    let begin = batch(stream, 0).event(Event::Created {
        name: stream.into(),
        policy,
        by: ParticipantId::user(),
        task: None,
        folder: None,
    });
    let mut batch = words.iter().fold(begin, |batch, words| batch.says(words));
    let state = Conversation::fold(StreamId::new(stream), &batch.events);
    batch.catalog = Catalog::of(&state.clone().into());
    (batch, state)
}

/// The additions to a batch, made one after the other.
pub trait Builder: Sized {
    /// Adds an event, at the next position and time.
    #[must_use]
    fn event(self, event: Event) -> Self;
    /// Adds a message with this body.
    #[must_use]
    fn says(self, body: &str) -> Self;
    /// Adds a message with this body and time.
    #[must_use]
    fn says_at(self, millis: i64, body: &str) -> Self;
    /// Sets the epoch of the writer.
    #[must_use]
    fn by(self, epoch: Epoch) -> Self;
    /// Takes this claim together with the events.
    #[must_use]
    fn takes(self, claim: Claim) -> Self;
    /// Releases the claim under this key.
    #[must_use]
    fn releases(self, namespace: &str, key: &str) -> Self;
    /// Adds a delivery to this target.
    #[must_use]
    fn owes(self, target: &str) -> Self;
    /// Adds a command for another stream.
    #[must_use]
    fn commands(self, target: &str, command: &str) -> Self;
    /// Takes the rows of a channel after `before`, up to `through`.
    #[must_use]
    fn takes_rows(self, channel: &PostChannel, before: u64, through: u64) -> Self;
    /// Changes the catalog row.
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
            target: target.parse().unwrap(),
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
            target: target.parse().unwrap(),
            turn: None,
            attempt: 0,
            through_seq,
            command: Some(command.into()),
        });
        self
    }

    fn takes_rows(mut self, channel: &PostChannel, before: u64, through: u64) -> Self {
        self.marks.push(PostMark { channel: channel.clone(), before, through });
        self
    }

    fn row(mut self, change: impl FnOnce(&mut Catalog)) -> Self {
        change(&mut self.catalog);
        self
    }
}

/// Returns the epoch of a stream's new writer.
///
/// # Panics
/// The log failed, or another process holds the stream.
pub async fn epoch(log: &impl EventLog, stream: &str, owner: &str) -> Epoch {
    log.acquire(&stream.into(), owner).await.unwrap().epoch().unwrap()
}

/// Returns a claim that does not lapse.
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

/// Returns a claim that lapses.
pub fn lapsing(stream: &str, key: &str, expires: i64) -> Claim {
    Claim { expires: Some(at(expires)), ..claim(stream, "idem", key) }
}

/// Returns the words of events, in order.
pub fn words(events: &[RecordedEvent]) -> Vec<&str> {
    events.iter().filter_map(|recorded| recorded.event.body()).collect()
}

/// Returns the positions of events, in order.
pub fn places(events: &[RecordedEvent]) -> Vec<u64> {
    events.iter().map(|recorded| recorded.seq.0).collect()
}

/// Returns the heads after an append.
pub fn heads(appended: Vec<AppendResult>) -> Vec<Seq> {
    appended.into_iter().map(|appended| appended.head).collect()
}
