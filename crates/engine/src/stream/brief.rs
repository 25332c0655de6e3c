//! What a runtime is told about a turn: the prompt, the trigger, the transcript.

use std::collections::{BTreeSet, VecDeque};

use moothall_kernel::Conversation;
use moothall_kernel::compose::{Material, SINCE_BYTES_MAX, Story, OmittedCount, compose};
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

/// Events looked at before the range of a turn, so that what was queued among the newest messages
/// stands where its time came. Of what left the queue before the events that are read, the state
/// knows what the participant was not told of.
const WINDOW_SEQS: u64 = 128;
/// Most events that are read for a turn. Beyond them only messages are.
const RANGE_SEQS_MAX: u64 = 1000;
/// Messages read at once.
const MESSAGES_PAGE: usize = 256;
/// Messages counted at once, where a prompt has no room for them.
const COUNTED_PAGE: usize = 1000;
/// Most pages of them: a prompt says that there are more.
const COUNTED_PAGES_MAX: usize = 10;
/// Most messages of one prompt of which it is looked up what they reply to, where that is older
/// than all of it.
const REPLIES_MAX: usize = 16;

/// Events read at once where many are wanted.
const SPAN_PAGE: usize = 1000;

/// The events at so many positions after one, page after page. All of them are in memory then, so
/// it is for spans that have an end.
pub(crate) async fn read_span(
    log: &dyn EventLog,
    stream: &StreamId,
    after: Seq,
    count: usize,
) -> Result<Page, LogError> {
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

/// Which turn of whom.
pub(crate) struct Brief<'a> {
    pub(crate) state: &'a Conversation,
    pub(crate) turn: &'a Turn,
    pub(crate) participant: &'a Participant,
    /// Bytes of what was said that its prompt has room for, where it is not only told what came
    /// since its last turn.
    pub(crate) room: usize,
    /// Messages that its job carries.
    pub(crate) window: usize,
}

/// What has to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReadRequest {
    /// So many events after a position.
    Events { after: Seq, count: usize },
    /// So many messages before a position, if there are any.
    Messages { before: Seq, limit: usize },
}

/// What came of trying to make a job.
pub(crate) enum DraftOutcome {
    Job(Box<Job>),
    /// This has to be read before.
    Missing(ReadRequest),
}

/// A job that is being made.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobDraft {
    asked: Option<LastRead>,
    /// Single events that it refers to, and that are not among those of its range.
    apart: Vec<RecordedEvent>,
    /// Messages that somebody replied to and that were looked for.
    sought: BTreeSet<Seq>,
    counted: OmittedMessages,
}

/// What was asked for last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastRead {
    Range(Seq),
    Messages,
    Count,
    Single(Seq),
}

/// Messages of the range that were counted, because there is no room for them.
#[derive(Clone, Debug, Default)]
struct OmittedMessages {
    unread: OmittedCount,
    /// All messages after this are read or counted.
    after: Option<Seq>,
    pages: usize,
}

impl JobDraft {
    /// Makes the job, if everything it needs was read.
    ///
    /// # Errors
    /// [`LogError`] when the log did not give what was asked for.
    pub(crate) fn draft(&mut self, of: &Brief<'_>, tail: &mut Tail) -> Result<DraftOutcome, LogError> {
        let range = Range::of(of);
        let count = usize::try_from(range.until.0 - range.after.0).unwrap_or(usize::MAX);
        tail.reaches(count, range.wanted);
        if tail.range(range.after, range.until).is_none() {
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
            if self.asked.replace(LastRead::Single(seq)) == Some(LastRead::Single(seq)) && needed
            {
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

    /// Messages that are to be read, or counted where there is no room for them. The state has
    /// counted those of the whole conversation.
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

    /// Takes what was read, oldest first.
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
    fn add(&mut self, of: &Brief<'_>, range: &Range, messages: &[RecordedEvent]) {
        let own = |recorded: &RecordedEvent| recorded.event.from() == Some(&of.participant.id);
        let wanted = |recorded: &&RecordedEvent| {
            recorded.seq > range.floor && recorded.event.is_told() && !own(recorded)
        };
        self.unread.messages += messages.iter().filter(wanted).count() as u64;
        self.after =
            Some(messages.first().map_or(Seq(0), |oldest| Seq(oldest.seq.0.saturating_sub(1))));
        self.pages += 1;
    }
}

/// An event that those of the range and the turn refer to, or that the participant remembers by,
/// and that was not read; and whether there is no prompt without it.
fn missing_single(
    of: &Brief<'_>,
    range: &Range,
    material: &Material<'_>,
    sought: &BTreeSet<Seq>,
) -> Option<(Seq, bool)> {
    let taken = |recorded: &RecordedEvent| match &recorded.event {
        Event::Taken { cause } if recorded.seq > range.after => Some(cause.seq),
        _ => None,
    };
    let unread = |seq: &Seq| material.find(*seq).is_none();
    let summary = of.state.summary_of(&of.participant.id).map(|summary| summary.seq);
    let waited = material
        .waited(of.state)
        .filter(|waited| waited.said <= range.floor && range.floor < waited.left);
    let taken = material.events.iter().filter_map(taken).chain(waited.map(|waited| waited.said));
    let needed = taken.chain([of.turn.cause.seq]).chain(summary);
    if let Some(seq) = needed.filter(unread).min() {
        return Some((seq, true));
    }
    let cause = material.find(of.turn.cause.seq);
    let heard = |recorded: &&RecordedEvent| recorded.seq > range.from && recorded.seq <= range.through;
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

/// Whether they are words that answer no turn: they may reply to anything.
fn is_unasked(recorded: &RecordedEvent) -> bool {
    posted(recorded).is_some_and(|posted| posted.turn.is_none())
}

fn posted(recorded: &RecordedEvent) -> Option<&Posted> {
    match &recorded.event {
        Event::Posted(posted) => Some(posted),
        _ => None,
    }
}

/// What is left of making things agree, while events for a prompt are read.
#[derive(Clone, Debug)]
pub(super) struct Briefing {
    pub(super) runs: VecDeque<TurnDuty>,
    pub(super) errands: Vec<AllowedRequest>,
    pub(super) wake_at: Option<Timestamp>,
    /// Whose prompt it is, and how far it has come.
    pub(super) drafting: Option<(TurnDuty, JobDraft)>,
}

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
        why: of.turn.why,
        kind: of.turn.kind,
        may_pass: of.turn.may_pass,
        prompt: compose(of.state, of.turn, range.from, range.through, &story, of.room),
        trigger,
        window: window(&story, range.through, of.window),
        through: range.through,
        limit: of.state.limit_of(of.turn),
    }
}

/// Makes the job of a turn, reading what it needs.
///
/// # Errors
/// [`LogError`] when the events it covers cannot be read.
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

/// Messages before a position, oldest first.
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

/// What a turn covers, `(from, through]`, and what is read for it.
struct Range {
    /// All events after this are read,
    after: Seq,
    /// and up to this: what came after `through` says what had not taken effect there.
    until: Seq,
    from: Seq,
    through: Seq,
    /// Messages are read as far back as this, if that many are wanted.
    floor: Seq,
    wanted: TailBudget,
}

impl Range {
    fn of(of: &Brief<'_>) -> Self {
        let head = of.state.head();
        let (from, through) = match of.turn.running {
            Some(running) => (running.from_seq, running.through_seq),
            None => (of.participant.cursor, head),
        };
        let summed_up =
            of.state.summary_of(&of.participant.id).map_or(Seq(0), |summary| summary.through);
        let (floor, wanted) = match of.participant.facts.abilities.memory {
            Memory::None => (Seq(0), TailBudget { bytes: of.room, count: of.window }),
            // More than there is room for, so that it can be summed up.
            Memory::Rebuilt => (summed_up, TailBudget { bytes: of.room.saturating_mul(2), count: 1 }),
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

/// One event of a stream.
pub(crate) async fn read_one(
    log: &dyn EventLog,
    stream: &StreamId,
    seq: Seq,
) -> Result<RecordedEvent, LogError> {
    let page = log.read(stream, Seq(seq.0.saturating_sub(1)), 1).await?;
    let found = page.events.into_iter().find(|event| event.seq == seq);
    found.ok_or_else(|| LogError::Failed(format!("stream {stream} has no event {seq}")))
}

/// The newest messages, in the order in which they took effect: one that waits in the queue is not
/// among them.
fn window(story: &Story<'_>, through: Seq, count: usize) -> Vec<RecordedEvent> {
    let mut newest: Vec<RecordedEvent> = story.messages(through).rev().take(count).cloned().collect();
    newest.reverse();
    newest
}
