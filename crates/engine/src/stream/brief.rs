//! What a runtime is told about a turn: the prompt, the trigger, the transcript.

use std::borrow::Cow;
use std::collections::VecDeque;

use moothall_kernel::Conversation;
use moothall_kernel::compose::{HISTORY_SEQS_MAX, compose, said};
use moothall_kernel::duties::{Run, Start};
use moothall_kernel::event::{Event, Recorded};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::participant::{Memory, Participant};
use moothall_kernel::state::Turn;
use moothall_kernel::time::Timestamp;
use moothall_kernel::view::Viewer;

use crate::agent::{Job, TurnKey};
use crate::ports::{EventLog, LogError, Page};

/// Messages in a job's transcript.
const WINDOW_LEN: usize = 25;
/// Events looked at before the range of a turn, so that the transcript reaches behind it.
const WINDOW_SEQS: u64 = 128;
/// Most events one turn covers. Who was silent for longer gets the newest of them.
const RANGE_SEQS_MAX: u64 = HISTORY_SEQS_MAX;
/// Newest events of a live stream kept in memory, at least.
const TAIL_LEN: usize = 256;

/// The newest events of a stream, as many as its turns look back: what one turn has read, the next one does not read again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    events: VecDeque<Recorded>,
    /// The longest way back that a turn has asked for.
    reach: usize,
}

impl Tail {
    pub(crate) fn push(&mut self, events: &[Recorded]) {
        if self.events.back().zip(events.first()).is_some_and(|(last, next)| next.seq != last.seq.next()) {
            self.events.clear();
        }
        for recorded in events {
            for seq in recorded.event.erases() {
                self.events.iter_mut().filter(|kept| kept.seq == seq).for_each(|kept| kept.event.erase());
            }
            self.events.push_back(recorded.clone());
        }
        // Some more than is kept, so that making it contiguous costs little for each event.
        let kept = self.reach + TAIL_LEN;
        if self.events.len() > kept + TAIL_LEN {
            self.events.drain(..self.events.len() - kept);
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The events in `(after, through]`, if it has them all.
    fn range(&mut self, after: Seq, through: Seq) -> Option<&[Recorded]> {
        let first = self.events.front()?.seq;
        let at = |seq: Seq| usize::try_from((seq.0 + 1).checked_sub(first.0)?).ok();
        let (from, to) = (at(after)?, at(through)?);
        self.events.make_contiguous().get(from..to)
    }
}

/// Events read at once where many are wanted.
const SPAN_PAGE: usize = 1000;

/// The events at so many positions after one, page after page. All of them are in memory then, so it is for spans that have an end.
pub(crate) async fn read_span(log: &dyn EventLog, stream: &StreamId, after: Seq, count: usize) -> Result<Page, LogError> {
    let left = |through: Seq| count.saturating_sub(usize::try_from(through.0 - after.0).unwrap_or(usize::MAX)).min(SPAN_PAGE);
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
}

/// Events that have to be read: so many after a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) after: Seq,
    pub(crate) count: usize,
}

/// What came of trying to make a job.
pub(crate) enum Drafted {
    Job(Box<Job>),
    /// This has to be read before.
    Missing(Span),
}

/// A job that is being made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drafting {
    asked: Option<Asked>,
    /// Events before the range of the turn that it refers to.
    causes: Vec<Recorded>,
}

/// What was asked for last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Range,
    Cause(Seq),
}

impl Drafting {
    /// Makes the job, if everything it needs was read.
    ///
    /// # Errors
    /// [`LogError`] when the log did not give what was asked for.
    pub(crate) fn draft(&mut self, of: &Brief<'_>, tail: &mut Tail) -> Result<Drafted, LogError> {
        let Range { after, from, through } = Range::of(of);
        let stream = of.state.stream();
        let count = usize::try_from(through.0 - after.0).unwrap_or(usize::MAX);
        tail.reach = tail.reach.max(count);
        let Some(events) = tail.range(after, through) else {
            if self.asked.replace(Asked::Range) == Some(Asked::Range) {
                return Err(LogError::Failed(format!("stream {stream} has a gap after {after}")));
            }
            return Ok(Drafted::Missing(Span { after, count }));
        };
        if let Some(seq) = self.missing_cause(of, events) {
            if self.asked.replace(Asked::Cause(seq)) == Some(Asked::Cause(seq)) {
                return Err(LogError::Failed(format!("stream {stream} has no event {seq}")));
            }
            return Ok(Drafted::Missing(Span { after: Seq(seq.0.saturating_sub(1)), count: 1 }));
        }
        let events = self.with_causes(events);
        let trigger = find(&events, of.turn.cause.seq).cloned();
        let trigger = trigger.ok_or_else(|| LogError::Failed(format!("turn {} has no cause", of.turn.no)))?;
        Ok(Drafted::Job(Box::new(job(of, from, through, &events, trigger))))
    }

    /// Takes what was read.
    pub(crate) fn take(&mut self, events: Vec<Recorded>, tail: &mut Tail) {
        match self.asked {
            Some(Asked::Range) => tail.events = events.into(),
            Some(Asked::Cause(seq)) => self.causes.extend(events.into_iter().filter(|event| event.seq == seq)),
            None => {}
        }
    }

    /// An event that those of the range and the turn refer to, or that the participant remembers by, and that was not read.
    fn missing_cause(&self, of: &Brief<'_>, events: &[Recorded]) -> Option<Seq> {
        let taken = |recorded: &Recorded| match &recorded.event {
            Event::Taken { cause } => Some(cause.seq),
            _ => None,
        };
        let known = |seq: &Seq| find(events, *seq).is_some() || self.causes.iter().any(|cause| cause.seq == *seq);
        let summary = of.state.summary_of(&of.participant.id).map(|summary| summary.seq);
        let causes = events.iter().filter_map(taken).chain([of.turn.cause.seq]).chain(summary);
        causes.filter(|seq| !known(seq)).min()
    }

    fn with_causes<'t>(&self, events: &'t [Recorded]) -> Cow<'t, [Recorded]> {
        if self.causes.is_empty() {
            return Cow::Borrowed(events);
        }
        let mut all = events.to_vec();
        all.extend(self.causes.iter().cloned());
        all.sort_by_key(|recorded| recorded.seq);
        Cow::Owned(all)
    }
}

/// What is left of making things agree, while events for a prompt are read.
#[derive(Clone, Debug)]
pub(super) struct Briefing {
    pub(super) runs: VecDeque<Run>,
    pub(super) starts: Vec<Start>,
    pub(super) wake_at: Option<Timestamp>,
    /// Whose prompt it is, and how far it has come.
    pub(super) drafting: Option<(Run, Drafting)>,
}

fn job(of: &Brief<'_>, from: Seq, through: Seq, events: &[Recorded], trigger: Recorded) -> Job {
    Job {
        key: TurnKey { stream: of.state.stream().clone(), turn: of.turn.no, attempt: of.turn.attempt },
        participant: of.participant.id.clone(),
        name: of.participant.name().to_owned(),
        profile: of.participant.profile.clone(),
        address: of.participant.address.clone(),
        why: of.turn.why,
        kind: of.turn.kind,
        may_pass: of.turn.may_pass,
        prompt: compose(of.state, of.turn, from, through, events),
        trigger,
        window: window(events, through, &of.participant.id),
        through,
        limit: of.state.limit_of(of.turn),
    }
}

/// Makes the job of a turn, reading what it needs.
///
/// # Errors
/// [`LogError`] when the events it covers cannot be read.
pub(crate) async fn brief(of: Brief<'_>, log: &dyn EventLog, tail: &mut Tail) -> Result<Job, LogError> {
    let mut drafting = Drafting::default();
    loop {
        match drafting.draft(&of, tail)? {
            Drafted::Job(job) => return Ok(*job),
            Drafted::Missing(Span { after, count }) => {
                let page = read_span(log, of.state.stream(), after, count).await?;
                drafting.take(page.events, tail);
            }
        }
    }
}

/// What a turn covers, `(from, through]`, and where to begin reading so that a transcript reaches behind it.
struct Range {
    after: Seq,
    from: Seq,
    through: Seq,
}

impl Range {
    fn of(of: &Brief<'_>) -> Self {
        let (from, through) = match of.turn.running {
            Some(running) => (running.from_seq, running.through_seq),
            None => (of.participant.cursor, of.state.head()),
        };
        let window = through.0.saturating_sub(WINDOW_SEQS);
        // Such a memory is rebuilt from these events, as far back as its own summary has not covered them.
        let oldest = match of.participant.facts.abilities.memory {
            Memory::Rebuilt => window.min(of.state.summary_of(&of.participant.id).map_or(0, |summary| summary.through.0)),
            Memory::None | Memory::Own => window.min(from.0),
        };
        Self { after: Seq(oldest.max(through.0.saturating_sub(RANGE_SEQS_MAX))), from, through }
    }
}

fn find(events: &[Recorded], seq: Seq) -> Option<&Recorded> {
    events.binary_search_by_key(&seq, |recorded| recorded.seq).ok().map(|at| &events[at])
}

/// One event of a stream.
pub(crate) async fn read_one(log: &dyn EventLog, stream: &StreamId, seq: Seq) -> Result<Recorded, LogError> {
    let page = log.read(stream, Seq(seq.0.saturating_sub(1)), 1).await?;
    let found = page.events.into_iter().find(|event| event.seq == seq);
    found.ok_or_else(|| LogError::Failed(format!("stream {stream} has no event {seq}")))
}

/// The newest messages, in the order in which they took effect: one that waits in the queue is not among them.
fn window(events: &[Recorded], through: Seq, viewer: &ParticipantId) -> Vec<Recorded> {
    let mut messages: Vec<&Recorded> = said(events, through, &Viewer::Participant(viewer.clone())).collect();
    messages.drain(..messages.len().saturating_sub(WINDOW_LEN));
    messages.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn closed(seq: u64) -> Recorded {
        Recorded { seq: Seq(seq), ts: Timestamp::from_millis(seq as i64), event: Event::RoundClosed }
    }

    #[test]
    fn the_tail_gives_a_range_only_when_it_has_it_whole() {
        let mut tail = Tail::default();
        tail.push(&(11..=20).map(closed).collect::<Vec<_>>());
        let seqs = |events: &[Recorded]| events.iter().map(|e| e.seq.0).collect::<Vec<_>>();
        assert_eq!(seqs(tail.range(Seq(10), Seq(20)).unwrap()), (11..=20).collect::<Vec<_>>());
        assert_eq!(seqs(tail.range(Seq(17), Seq(19)).unwrap()), [18, 19]);
        assert!(tail.range(Seq(9), Seq(20)).is_none());
        assert!(tail.range(Seq(15), Seq(21)).is_none());
        tail.push(&[closed(30)]);
        assert!(tail.range(Seq(19), Seq(20)).is_none(), "it has no gap");
        assert_eq!(seqs(tail.range(Seq(29), Seq(30)).unwrap()), [30]);
    }

    #[test]
    fn the_tail_stays_small() {
        let mut tail = Tail::default();
        (1..=10_000).for_each(|seq| tail.push(&[closed(seq)]));
        assert!(tail.events.len() <= 2 * TAIL_LEN);
        assert_eq!(tail.range(Seq(9_999 - TAIL_LEN as u64 + 1), Seq(10_000)).unwrap().len(), TAIL_LEN);
    }
}
