//! Jobs for runtimes: the prompt of a turn, its trigger and the window of messages.

use std::collections::{BTreeSet, VecDeque};

use moothall_kernel::Conversation;
use moothall_kernel::compose::{Material, OmittedCount, SINCE_BYTES_MAX, Story, compose};
use moothall_kernel::duties::{AllowedRequest, TurnDuty};
use moothall_kernel::event::{Event, Posted, RecordedEvent};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::participant::{Memory, Participant};
use moothall_kernel::state::Turn;
use moothall_kernel::time::Timestamp;
use moothall_kernel::view::Viewer;

pub(crate) use super::tail::Tail;
use super::tail::TailBudget;
use crate::ports::{EventLog, LogError, Page};
use crate::runtime::agent::{Job, TurnKey};

/// Number of events that are read before the range of a turn, so that a message that was queued
/// appears at the place where it took effect. If it left the queue before these events, the state
/// knows that the participant has not received it.
const WINDOW_SEQS: u64 = 128;
/// Maximum number of events that are read for a turn. Before them only messages are read.
const RANGE_SEQS_MAX: u64 = 1000;
/// Number of messages in one read.
const MESSAGES_PAGE: usize = 256;
/// Number of messages in one read that only counts those without room in the prompt.
const COUNTED_PAGE: usize = 1000;
/// Maximum number of reads that only count. Beyond it the prompt says that there are more.
const COUNTED_PAGES_MAX: usize = 10;
/// Maximum number of messages in a prompt whose `reply_to` is read from before the range.
const REPLIES_MAX: usize = 16;

/// Number of events in one read of a longer span.
const SPAN_PAGE: usize = 1000;

/// Reads the `count` events that follow `after`, page by page. All of them are in memory at the
/// end, so the caller must keep `count` small.
pub(crate) async fn read_span(
    log: &dyn EventLog,
    stream: &StreamId,
    after: Seq,
    count: usize,
) -> Result<Page, LogError> {
    // The size of the next read, after `through`.
    let left = |through: Seq| {
        count
            .saturating_sub(usize::try_from(through.0 - after.0).unwrap_or(usize::MAX))
            .min(SPAN_PAGE)
    };
    let mut all = log.read(stream, after, left(after)).await?;
    let mut before = after;
    while all.through > before && left(all.through) > 0 {
        before = all.through;
        let next = log.read(stream, before, left(before)).await?;
        all.events.extend(next.events);
        all.through = all.through.max(next.through);
        all.newer = all.newer.or(next.newer);
    }
    Ok(all)
}

/// The turn for which a job is made, and its limits.
pub(crate) struct Brief<'a> {
    pub(crate) state: &'a Conversation,
    pub(crate) turn: &'a Turn,
    pub(crate) participant: &'a Participant,
    /// Bytes of transcript that fit into the prompt. A participant with its own memory only gets
    /// what is new since its last turn.
    pub(crate) room: usize,
    /// Number of messages that the job carries.
    pub(crate) window: usize,
}

/// Events that have to be read first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReadRequest {
    /// `count` events after a position.
    Events { after: Seq, count: usize },
    /// Up to `limit` messages before a position.
    Messages { before: Seq, limit: usize },
}

/// The result of drafting a job.
pub(crate) enum DraftOutcome {
    Job(Box<Job>),
    /// A read whose events the draft needs first.
    Missing(ReadRequest),
}

/// A job that is being made.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobDraft {
    asked: Option<LastRead>,
    /// Single events from outside the range to which the job refers.
    apart: Vec<RecordedEvent>,
    /// Messages before the range that were looked up as the target of a reply.
    sought: BTreeSet<Seq>,
    counted: OmittedMessages,
}

/// The last read that was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastRead {
    Range(Seq),
    Messages,
    Count,
    Single(Seq),
}

/// Messages of the range that were counted because the prompt has no room for them.
#[derive(Clone, Debug, Default)]
struct OmittedMessages {
    unread: OmittedCount,
    /// Position after which all messages are read or counted.
    after: Option<Seq>,
    pages: usize,
}

impl JobDraft {
    /// Makes the job if all events that it needs were read. Otherwise returns the next read that is
    /// needed.
    ///
    /// # Errors
    /// [`LogError`] if the log did not give the requested events.
    pub(crate) fn draft(
        &mut self,
        of: &Brief<'_>,
        tail: &mut Tail,
    ) -> Result<DraftOutcome, LogError> {
        let range = Range::of(of);
        let count = usize::try_from(range.until.0 - range.after.0).unwrap_or(usize::MAX);
        tail.reaches(count, range.wanted);
        if tail.range(range.after, range.until).is_none() {
            // A range that is still missing after its read is a gap: another read is useless.
            if self.asked.replace(LastRead::Range(range.after))
                == Some(LastRead::Range(range.after))
            {
                return Err(LogError::Failed(format!(
                    "stream {} has a gap after {}",
                    of.state.stream(),
                    range.after
                )));
            }
            return Ok(DraftOutcome::Missing(ReadRequest::Events { after: range.after, count }));
        }
        if let Some(missing) = self.missing_messages(&range, tail) {
            return Ok(DraftOutcome::Missing(missing));
        }
        let (messages, events) = tail.range(range.after, range.until).unwrap_or_default();
        let material =
            Material { messages, events, apart: &self.apart, unread: self.counted.unread };
        if let Some((seq, needed)) = missing_single(of, &range, &material, &self.sought) {
            self.sought.insert(seq);
            if self.asked.replace(LastRead::Single(seq)) == Some(LastRead::Single(seq)) && needed {
                return Err(LogError::Failed(format!(
                    "stream {} has no event {seq}",
                    of.state.stream()
                )));
            }
            return Ok(DraftOutcome::Missing(ReadRequest::Events {
                after: Seq(seq.0.saturating_sub(1)),
                count: 1,
            }));
        }
        let trigger = material.find(of.turn.cause.seq).cloned();
        let trigger =
            trigger.ok_or_else(|| LogError::Failed(format!("turn {} has no cause", of.turn.no)))?;
        Ok(DraftOutcome::Job(Box::new(job(of, &range, material, trigger))))
    }

    /// Returns the next read of messages; `None` if no more are needed. First come the messages
    /// that fit into the prompt, then those that are only counted. If the range begins at the
    /// conversation's beginning, nothing is counted, because the state has the count.
    fn missing_messages(&mut self, range: &Range, tail: &Tail) -> Option<ReadRequest> {
        let known = tail.messages_after();
        if known > range.floor && !tail.meets(range.wanted, range.through) {
            self.asked = Some(LastRead::Messages);
            return Some(ReadRequest::Messages { before: known.next(), limit: MESSAGES_PAGE });
        }
        let counted = self.counted.after.map_or(known, |after| after.min(known));
        if range.floor == Seq(0) || counted <= range.floor {
            return None;
        }
        if self.counted.pages == COUNTED_PAGES_MAX {
            self.counted.unread.more = true;
            return None;
        }
        self.asked = Some(LastRead::Count);
        Some(ReadRequest::Messages { before: counted.next(), limit: COUNTED_PAGE })
    }

    /// Adds the events of the last requested read to the draft or to the tail. `events` are oldest
    /// first.
    pub(crate) fn take(&mut self, of: &Brief<'_>, events: Vec<RecordedEvent>, tail: &mut Tail) {
        match self.asked {
            Some(LastRead::Range(after)) => tail.replace(after, events),
            Some(LastRead::Messages) => tail.put_before(events),
            Some(LastRead::Count) => self.counted.add(of, &Range::of(of), &events),
            Some(LastRead::Single(seq)) => {
                self.apart.extend(events.into_iter().filter(|event| event.seq == seq))
            }
            None => {}
        }
    }
}

impl OmittedMessages {
    /// Counts the messages of a read that are in the range and not the participant's own, because
    /// the prompt has no room for them. Notes the position after which all messages are counted.
    /// `messages` are oldest first.
    fn add(&mut self, of: &Brief<'_>, range: &Range, messages: &[RecordedEvent]) {
        let own = |recorded: &RecordedEvent| recorded.event.from() == Some(&of.participant.id);
        let wanted = |recorded: &&RecordedEvent| {
            recorded.seq > range.floor && recorded.event.is_in_prompts() && !own(recorded)
        };
        self.unread.messages += messages.iter().filter(wanted).count() as u64;
        self.after =
            Some(messages.first().map_or(Seq(0), |oldest| Seq(oldest.seq.0.saturating_sub(1))));
        self.pages += 1;
    }
}

/// Returns the position of the next single event to read; `None` if all are read. One event is read
/// at a time. The flag is true if the prompt needs that event: a message that has left the queue,
/// the cause of the turn, or the summary. It is false if a message only replies to that event.
fn missing_single(
    of: &Brief<'_>,
    range: &Range,
    material: &Material<'_>,
    sought: &BTreeSet<Seq>,
) -> Option<(Seq, bool)> {
    // Posts that left the queue within the range, found by the event that took them from it.
    let taken = |recorded: &RecordedEvent| match &recorded.event {
        Event::Taken { cause } if recorded.seq > range.after => Some(cause.seq),
        _ => None,
    };
    let unread = |seq: &Seq| material.find(*seq).is_none();
    let summary = of.state.summary_of(&of.participant.id).map(|summary| summary.seq);
    // Posts from before the range whose wait in the queue ended within it.
    let waited = material
        .waited(of.state)
        .filter(|waited| waited.said <= range.floor && range.floor < waited.left);
    let taken = material.events.iter().filter_map(taken).chain(waited.map(|waited| waited.said));
    let needed = taken.chain([of.turn.cause.seq]).chain(summary);
    if let Some(seq) = needed.filter(unread).min() {
        return Some((seq, true));
    }
    let cause = material.find(of.turn.cause.seq);
    let heard =
        |recorded: &&RecordedEvent| recorded.seq > range.from && recorded.seq <= range.through;
    let chosen = material
        .events
        .iter()
        .rev()
        .filter(heard)
        .filter_map(|recorded| reply_of(recorded).filter(|_| is_unasked(recorded)));
    let replies = cause.and_then(reply_of).into_iter().chain(chosen.take(REPLIES_MAX));
    replies.filter(|seq| unread(seq) && !sought.contains(seq)).max().map(|seq| (seq, false))
}

fn reply_of(recorded: &RecordedEvent) -> Option<Seq> {
    posted(recorded)?.reply_to.as_ref().map(|cause| cause.seq)
}

/// True if the event is a post outside a turn, which may reply to any message.
fn is_unasked(recorded: &RecordedEvent) -> bool {
    posted(recorded).is_some_and(|posted| posted.turn.is_none())
}

fn posted(recorded: &RecordedEvent) -> Option<&Posted> {
    match &recorded.event {
        Event::Posted(posted) => Some(posted),
        _ => None,
    }
}

/// The rest of a reconciliation, while events for a prompt are read.
#[derive(Clone, Debug)]
pub(super) struct Briefing {
    pub(super) runs: VecDeque<TurnDuty>,
    pub(super) requests: Vec<AllowedRequest>,
    pub(super) wake_at: Option<Timestamp>,
    /// The run whose job is being made, and its draft.
    pub(super) drafting: Option<(TurnDuty, JobDraft)>,
}

/// Composes the job from the read events: the prompt, the event that caused the turn, and the
/// newest messages.
fn job(of: &Brief<'_>, range: &Range, material: Material<'_>, trigger: RecordedEvent) -> Job {
    let story = Story::of(of.state, material, &Viewer::Participant(of.participant.id.clone()));
    Job {
        key: TurnKey {
            stream: of.state.stream().clone(),
            turn: of.turn.no,
            attempt: of.turn.attempt,
        },
        participant: of.participant.id.clone(),
        name: of.participant.name().to_owned(),
        profile: of.participant.profile.clone(),
        address: of.participant.address.clone(),
        folder: of.state.folder().map(str::to_owned),
        why: of.turn.why,
        kind: of.turn.kind,
        may_pass: of.turn.may_pass,
        prompt: compose(of.state, of.turn, range.from, range.through, &story, of.room),
        trigger,
        // A hosted turn is for a conversation of another computer, and the messages of this
        // conversation do not belong to that one.
        window: match of.turn.is_hosted() {
            true => Vec::new(),
            false => window(&story, range.through, of.window),
        },
        through: range.through,
        limit: of.state.limit_of(of.turn),
    }
}

/// Makes the job of a turn and reads the events that it needs.
///
/// # Errors
/// [`LogError`] if the events that the turn covers cannot be read.
pub(crate) async fn brief(
    of: Brief<'_>,
    log: &dyn EventLog,
    tail: &mut Tail,
) -> Result<Job, LogError> {
    let (mut drafting, stream) = (JobDraft::default(), of.state.stream());
    loop {
        let missing = match drafting.draft(&of, tail)? {
            DraftOutcome::Job(job) => return Ok(*job),
            DraftOutcome::Missing(missing) => missing,
        };
        let read = match missing {
            ReadRequest::Events { after, count } => read_span(log, stream, after, count).await?,
            ReadRequest::Messages { before, limit } => {
                read_messages(log, stream, before, limit).await?
            }
        };
        drafting.take(&of, read.events, tail);
    }
}

/// Reads messages before a position and returns them oldest first.
pub(crate) async fn read_messages(
    log: &dyn EventLog,
    stream: &StreamId,
    before: Seq,
    limit: usize,
) -> Result<Page, LogError> {
    let mut events = log.messages_before(stream, before, limit).await?;
    events.reverse();
    Ok(Page { through: Seq(before.0.saturating_sub(1)), events, newer: None })
}

/// The events that a turn covers, `(from, through]`, and the events to read for it.
struct Range {
    /// All events after this position, up to `until`, are read.
    after: Seq,
    /// Last event that is read. Events after `through` tell which messages had not taken effect by
    /// then.
    until: Seq,
    from: Seq,
    through: Seq,
    /// Messages are read back to this position, until there are as many as wanted.
    floor: Seq,
    wanted: TailBudget,
}

impl Range {
    /// Returns the range of a turn. A running turn has its range already. The range of a hosted
    /// turn is its own post. Any other waiting turn begins after the last event that its
    /// participant was shown and ends at the head. The memory of the participant decides how far
    /// back messages are needed.
    fn of(of: &Brief<'_>) -> Self {
        let head = of.state.head();
        let (from, through) = match of.turn.running {
            Some(running) => (running.from_seq, running.through_seq),
            None => of.turn.own_range().unwrap_or((of.participant.cursor, head)),
        };
        let summed_up =
            of.state.summary_of(&of.participant.id).map_or(Seq(0), |summary| summary.through);
        let (floor, wanted) = match of.participant.facts.abilities.memory {
            Memory::None => (Seq(0), TailBudget { bytes: of.room, count: of.window }),
            // Twice as many bytes as the prompt has room for are read, so that the rest can be
            // summed up.
            Memory::Rebuilt => {
                (summed_up, TailBudget { bytes: of.room.saturating_mul(2), count: 1 })
            }
            Memory::Own => (from, TailBudget { bytes: SINCE_BYTES_MAX, count: 1 }),
        };
        let window = through.0.saturating_sub(WINDOW_SEQS);
        let oldest = if of.participant.facts.abilities.memory == Memory::Rebuilt {
            window.min(floor.0)
        } else {
            window.min(from.0)
        };
        let after = Seq(oldest.max(through.0.saturating_sub(RANGE_SEQS_MAX)));
        let until = Seq(head.0.min(through.0.saturating_add(RANGE_SEQS_MAX)));
        Self { after, until, from, through, floor, wanted }
    }
}

/// Reads one event of a stream.
pub(crate) async fn read_one(
    log: &dyn EventLog,
    stream: &StreamId,
    seq: Seq,
) -> Result<RecordedEvent, LogError> {
    let page = log.read(stream, Seq(seq.0.saturating_sub(1)), 1).await?;
    let found = page.events.into_iter().find(|event| event.seq == seq);
    found.ok_or_else(|| LogError::Failed(format!("stream {stream} has no event {seq}")))
}

/// Returns the newest `count` messages up to `through`, in the order in which they took effect. A
/// message that waits in the queue is not among them.
fn window(story: &Story<'_>, through: Seq, count: usize) -> Vec<RecordedEvent> {
    let mut newest: Vec<RecordedEvent> =
        story.messages(through).rev().take(count).cloned().collect();
    newest.reverse();
    newest
}
