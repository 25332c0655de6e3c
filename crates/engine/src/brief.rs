//! What a runtime is told about a turn: the prompt, the trigger, the transcript.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use moothall_kernel::Conversation;
use moothall_kernel::compose::{HISTORY_SEQS_MAX, compose, said};
use moothall_kernel::event::{Event, Recorded};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::participant::{Participant, Runtime};
use moothall_kernel::state::Turn;
use moothall_kernel::view::Viewer;

use crate::agent::{Job, TurnKey};
use crate::crash;
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
#[derive(Default)]
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

    /// The same, read from the log where it has to be.
    async fn fetch(&mut self, of: &Brief<'_>, after: Seq, through: Seq) -> Result<&[Recorded], LogError> {
        let count = usize::try_from(through.0 - after.0).unwrap_or(usize::MAX);
        self.reach = self.reach.max(count);
        if self.range(after, through).is_none() {
            self.events = read_span(of.log, of.state.stream(), after, count).await?.events.into();
        }
        let stream = of.state.stream();
        self.range(after, through).ok_or_else(|| LogError::Failed(format!("stream {stream} has a gap after {after}")))
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

/// Which turn of whom, and where to get its events.
pub(crate) struct Brief<'a> {
    pub(crate) state: &'a Conversation,
    pub(crate) turn: &'a Turn,
    pub(crate) participant: &'a Participant,
    pub(crate) log: &'a dyn EventLog,
}

/// Makes the job of a turn.
///
/// # Errors
/// [`LogError`] when the events it covers cannot be read.
pub(crate) async fn brief(of: Brief<'_>, tail: &mut Tail) -> Result<Job, LogError> {
    let Range { after, from, through } = Range::of(&of);
    let events = with_causes(&of, tail.fetch(&of, after, through).await?).await?;
    let trigger = find(&events, of.turn.cause.seq).cloned();
    let trigger = trigger.ok_or_else(|| LogError::Failed(format!("turn {} has no cause", of.turn.no)))?;
    let prompt = compose(of.state, of.turn, from, through, &events);
    crash::point("prompt_built");
    Ok(Job {
        key: TurnKey { stream: of.state.stream().clone(), turn: of.turn.no, attempt: of.turn.attempt },
        participant: of.participant.id.clone(),
        name: of.participant.name().to_owned(),
        profile: of.participant.profile.clone(),
        address: of.participant.address.clone(),
        why: of.turn.why,
        kind: of.turn.kind,
        may_pass: of.turn.may_pass,
        prompt,
        trigger,
        window: window(&events, through, &of.participant.id),
        through,
        limit: of.state.limit_of(of.turn),
    })
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
        // A model's memory is rebuilt from these events, as far back as its own summary has not covered them.
        let oldest = match of.participant.facts.runtime {
            Runtime::Llm => window.min(of.state.summary_of(&of.participant.id).map_or(0, |summary| summary.through.0)),
            Runtime::Script | Runtime::Command | Runtime::Terminal | Runtime::Remote => window.min(from.0),
        };
        Self { after: Seq(oldest.max(through.0.saturating_sub(RANGE_SEQS_MAX))), from, through }
    }
}

/// Adds the events that they and the turn refer to, and what the participant remembers.
async fn with_causes<'t>(of: &Brief<'_>, events: &'t [Recorded]) -> Result<Cow<'t, [Recorded]>, LogError> {
    let taken = |recorded: &Recorded| match &recorded.event {
        Event::Taken { cause } => Some(cause.seq),
        _ => None,
    };
    let known = |seq: &Seq| find(events, *seq).is_some();
    let summary = of.state.summary_of(&of.participant.id).map(|summary| summary.seq);
    let causes = events.iter().filter_map(taken).chain([of.turn.cause.seq]).chain(summary);
    let causes: BTreeSet<Seq> = causes.filter(|seq| !known(seq)).collect();
    if causes.is_empty() {
        return Ok(Cow::Borrowed(events));
    }
    let mut all = events.to_vec();
    for seq in causes {
        all.push(read_one(of.log, of.state.stream(), seq).await?);
    }
    all.sort_by_key(|recorded| recorded.seq);
    Ok(Cow::Owned(all))
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
    use moothall_kernel::time::Timestamp;

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
