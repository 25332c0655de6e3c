//! Turns for agents, without an engine.

use std::sync::Mutex;
use std::time::Duration;

use moothall_engine::agent::{Job, Report, Reporter, TurnKey};
use moothall_kernel::compose::Prompt;
use moothall_kernel::ending::Ending;
use moothall_kernel::event::{
    Cause, Event, Fault, Posted, Recipient, RecordedEvent, TurnKind, TurnReason, Usage,
};
use moothall_kernel::ids::{EventId, Seq, StreamId, TurnNo};
use moothall_kernel::participant::{Kind, Profile};
use moothall_kernel::time::{Millis, Timestamp};

/// A reporter for work that does not report.
pub struct SilentReporter;

impl Reporter for SilentReporter {
    fn report(&self, _report: Report) {}
}

/// A reporter that stores the reports.
#[derive(Default)]
pub struct Notes(pub Mutex<Vec<Report>>);

impl Reporter for Notes {
    fn report(&self, report: Report) {
        self.0.lock().unwrap().push(report);
    }
}

impl Notes {
    fn pick<T>(&self, pick: impl FnMut(&Report) -> Option<T>) -> Vec<T> {
        self.0.lock().unwrap().iter().filter_map(pick).collect()
    }

    /// Returns the pieces of the answer.
    pub fn deltas(&self) -> Vec<String> {
        self.pick(
            |report| if let Report::Delta(piece) = report { Some(piece.clone()) } else { None },
        )
    }

    /// Returns the progress messages for people.
    pub fn progress(&self) -> Vec<String> {
        self.pick(
            |report| if let Report::Progress(word) = report { Some(word.clone()) } else { None },
        )
    }

    /// Returns the thoughts, in one piece.
    pub fn thoughts(&self) -> String {
        let thoughts = self.pick(|report| match report {
            Report::Thought(piece) => Some(piece.clone()),
            _ => None,
        });
        thoughts.concat()
    }

    /// Returns the output of a failed program.
    pub fn printed(&self) -> Vec<String> {
        self.pick(|report| match report {
            Report::Printed(text) => Some(text.clone()),
            _ => None,
        })
    }

    /// True if the answer consists of thoughts.
    pub fn only_thought(&self) -> bool {
        let only = |report: &Report| matches!(report, Report::OnlyThought).then_some(());
        !self.pick(only).is_empty()
    }

    /// Returns the ending that the model reported.
    pub fn ended(&self) -> Option<Ending> {
        let ended = |report: &Report| match report {
            Report::Ended(ended) => Some(*ended),
            _ => None,
        };
        self.pick(ended).pop()
    }

    /// Returns the result, once the turn has finished.
    pub fn finished(&self) -> Option<(Result<String, Fault>, Usage)> {
        self.pick(|report| {
            if let Report::Finished { result, usage } = report {
                Some((result.clone(), *usage))
            } else {
                None
            }
        })
        .pop()
    }
}

/// Makes a message. `user` is a person; any other name is an agent that replies to the newest
/// earlier message.
pub fn post(seq: u64, from: &str, body: &str) -> RecordedEvent {
    let kind = if from == "user" { Kind::Human } else { Kind::Agent };
    let posted = Posted {
        from: from.into(),
        kind,
        to: Recipient::All,
        body: body.into(),
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
        fingerprint: 0,
        parts: Box::default(),
        only_for: None,
        origin: None,
        ended: None,
        thought: false,
        silence: None,
        unknown: None,
        hosted: None,
        far: None,
    };
    RecordedEvent {
        seq: Seq(seq),
        ts: Timestamp::from_millis(1_763_693_999_000 + i64::try_from(seq).unwrap()),
        event: Event::Posted(posted),
    }
}

/// Makes a message of an agent, in reply to an earlier one.
pub fn reply(seq: u64, from: &str, body: &str, to: &RecordedEvent) -> RecordedEvent {
    let mut recorded = post(seq, from, body);
    let stream = StreamId::new("t");
    if let Event::Posted(posted) = &mut recorded.event {
        let cause = Cause {
            seq: to.seq,
            id: EventId::of(&stream, to.seq, to.ts),
            from: to.event.from().unwrap().clone(),
            depth: 0,
            unproven: false,
        };
        posted.reply_to = Some(cause);
        posted.via = true;
        posted.tags = vec!["coordinator".into()];
    }
    recorded
}

/// Makes a turn of `agent` about the last of these messages.
pub fn job(agent: &str, why: TurnReason, window: &[RecordedEvent]) -> Job {
    Job {
        key: TurnKey { stream: "t".into(), turn: TurnNo(1), attempt: 1 },
        participant: agent.into(),
        name: agent.into(),
        address: None,
        folder: None,
        profile: Profile {
            client: Some(agent.into()),
            model: Some("m".into()),
            ..Profile::default()
        },
        why,
        kind: TurnKind::Reply,
        may_pass: matches!(why, TurnReason::Polled | TurnReason::Reaction),
        prompt: Prompt {
            system: "You are here.".into(),
            text: "text".into(),
            standalone: "What now?".into(),
            ..Prompt::default()
        },
        trigger: window.last().unwrap().clone(),
        window: window.to_vec(),
        through: window.last().unwrap().seq,
        limit: Millis::from_secs(60),
    }
}

/// Waits until a condition holds; fails after a generous time.
pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("waited too long until {what}");
}
