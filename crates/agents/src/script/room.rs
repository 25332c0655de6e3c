//! The view of a scripted agent: the human message it answers, and the messages since.

use moothall_engine::agent::Job;
use moothall_kernel::event::{Event, Posted, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::participant::Kind;

/// A message with its number.
#[derive(Clone, Copy)]
pub(super) struct SeenMessage<'a> {
    pub(super) seq: Seq,
    pub(super) post: &'a Posted,
}

impl<'a> SeenMessage<'a> {
    fn of(recorded: &'a RecordedEvent) -> Option<Self> {
        match &recorded.event {
            Event::Posted(post) => Some(Self { seq: recorded.seq, post }),
            _ => None,
        }
    }

    fn is_human(self) -> bool {
        self.post.kind == Kind::Human
    }
}

/// A conversation as one turn sees it.
pub(super) struct TurnView<'a> {
    pub(super) job: &'a Job,
    said: Vec<SeenMessage<'a>>,
}

impl<'a> TurnView<'a> {
    /// Returns the messages of a turn's window, with its trigger in its place.
    pub(super) fn new(job: &'a Job) -> Self {
        let mut said: Vec<SeenMessage<'a>> =
            job.window.iter().filter_map(SeenMessage::of).collect();
        if let Some(trigger) = SeenMessage::of(&job.trigger)
            && said.iter().all(|said| said.seq != trigger.seq)
        {
            said.push(trigger);
            said.sort_by_key(|said| said.seq);
        }
        Self { job, said }
    }

    /// Returns the human message from which this turn comes. The chain of replies leads to it, so
    /// that a message that is still queued is not answered early. If the chain does not lead to a
    /// human message, the newest one is returned.
    pub(super) fn question(&self) -> Option<SeenMessage<'a>> {
        let mut here = SeenMessage::of(&self.job.trigger);
        while let Some(said) = here {
            if said.is_human() {
                return Some(said);
            }
            let earlier =
                said.post.reply_to.as_ref().map(|cause| cause.seq).filter(|seq| *seq < said.seq);
            here = earlier.and_then(|seq| self.said.iter().copied().find(|other| other.seq == seq));
        }
        self.said.iter().rev().copied().find(|said| said.is_human())
    }

    /// Returns the text of [`TurnView::question`] without the mentions at its start. Empty without
    /// such a message.
    pub(super) fn asked(&self) -> String {
        self.question().map(|said| plain(unaddressed(&said.post.body))).unwrap_or_default()
    }

    /// Returns the text that this turn is about: the trigger's, or that of the human message if the
    /// trigger is not a message.
    pub(super) fn subject(&self) -> String {
        SeenMessage::of(&self.job.trigger)
            .map_or_else(|| self.asked(), |said| plain(unaddressed(&said.post.body)))
    }

    fn is_other_agent(&self, said: SeenMessage<'_>) -> bool {
        !said.is_human()
            && said.post.from != self.job.participant
            && said.post.from.as_str() != ParticipantId::MOOTHALL
    }

    fn asked_at(&self) -> Seq {
        self.question().map_or(Seq(0), |said| said.seq)
    }

    /// Returns this agent's own messages since the human message, oldest first.
    pub(super) fn own(&self) -> Vec<SeenMessage<'a>> {
        let after = self.asked_at();
        self.said
            .iter()
            .copied()
            .filter(|said| said.seq > after && said.post.from == self.job.participant)
            .collect()
    }

    /// Returns other agents' messages since the human message, oldest first.
    pub(super) fn others(&self) -> Vec<SeenMessage<'a>> {
        let after = self.asked_at();
        self.said
            .iter()
            .copied()
            .filter(|said| said.seq > after && self.is_other_agent(*said))
            .collect()
    }

    /// Returns the number of this agent's own messages.
    pub(super) fn own_words(&self) -> usize {
        self.said.iter().filter(|said| said.post.from == self.job.participant).count()
    }

    /// Returns the messages of all others, oldest first.
    pub(super) fn others_ever(&self) -> Vec<SeenMessage<'a>> {
        let is_other = |said: &&SeenMessage<'_>| {
            said.post.from != self.job.participant
                && said.post.from.as_str() != ParticipantId::MOOTHALL
        };
        self.said.iter().filter(is_other).copied().collect()
    }

    /// Returns the last message of another agent since the human message, if it is newer than this
    /// agent's own last message.
    pub(super) fn news(&self) -> Option<SeenMessage<'a>> {
        let own = self.own().last().map(|said| said.seq).unwrap_or_default();
        self.others().into_iter().next_back().filter(|said| said.seq > own)
    }

    /// Returns the trigger of this turn if another agent wrote it.
    pub(super) fn addressed_by(&self) -> Option<SeenMessage<'a>> {
        SeenMessage::of(&self.job.trigger).filter(|said| self.is_other_agent(*said))
    }

    /// Returns the newest message of another agent, without replies to this agent.
    pub(super) fn last_other(&self) -> Option<SeenMessage<'a>> {
        let answers_me = |said: &SeenMessage<'_>| {
            said.post.reply_to.as_ref().is_some_and(|cause| cause.from == self.job.participant)
        };
        self.said.iter().rev().copied().find(|said| self.is_other_agent(*said) && !answers_me(said))
    }
}

/// Returns a message without the mentions at its start.
fn unaddressed(body: &str) -> &str {
    let mut rest = body.trim_start();
    while let Some(mention) = rest.strip_prefix('@') {
        rest = mention.trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
    }
    rest
}

/// Returns a text on one line, safe to quote: without `@`, so that a quotation does not mention its
/// author, and without Markdown marks.
pub(super) fn plain(text: &str) -> String {
    let bare: String =
        text.chars().filter(|c| !matches!(c, '@' | '*' | '`' | '#' | '“' | '”')).collect();
    let lines = bare.lines().map(|line| line.trim_start_matches(['-', '>', ' ', '\t']));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}
