//! Warnings about commands that were accepted. A surface rewords their next steps for its readers.

use moothall_kernel::event::{Change, Event, Posted, RecordedEvent};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Kind;
use moothall_kernel::silence::{Reason, Silence};

use super::{Action, Door};

impl Door {
    /// Returns warnings about a command that was accepted. Some warnings take two entries: a word
    /// for programs, and then a sentence for people.
    pub async fn warnings_of(&self, stream: &StreamId, recorded: &RecordedEvent) -> Vec<String> {
        let mut warnings = strangers(recorded);
        warnings.extend(self.stray_name_read(stream, recorded).await);
        warnings.extend(unasked_name(recorded));
        if matches!(&recorded.event, Event::Posted(posted) if posted.queue_full) {
            warnings.push("queue_full".into());
            warnings.push(
                "Too many messages wait here, so no agent is asked about this one. It is kept, \
                 and agents read it with their next turn. Wait for the others and send it again; \
                 a person can also stop the thread with `moothall stop`."
                    .into(),
            );
        }
        warnings
    }

    /// Returns a warning about a name that reaches no participant. Includes the nearest name if the
    /// caller may read the thread.
    pub async fn stray_name_read(
        &self,
        stream: &StreamId,
        recorded: &RecordedEvent,
    ) -> Vec<String> {
        let Event::Posted(posted) = &recorded.event else { return Vec::new() };
        if posted.stray_name().is_none() {
            return Vec::new();
        }
        stray_name(posted, self.find(Action::ReadThread, stream).await.is_ok())
    }
}

/// Returns a warning about a name that reaches no participant: the word and a sentence. `reads` is
/// true if the warning may include the nearest name.
pub fn stray_name(posted: &Posted, reads: bool) -> Vec<String> {
    let Some(stray) = posted.stray_name() else { return Vec::new() };
    let nearest = stray.participant.as_ref().filter(|_| reads).map(|id| format!("@{id}"));
    let said = stray.sentence(stray.name_in(&posted.body).as_deref(), nearest.as_deref());
    let is_silence = posted.silence.as_ref().is_some_and(|silence| silence.reason == stray.reason);
    let help = if is_silence {
        format!("No agent is asked: {said}. {}", stray.reason.row().cure)
    } else {
        format!("One name reaches no participant: {said}.")
    };
    vec![stray.reason.to_string(), help]
}

/// Returns a warning if the own words of an agent name another agent, but do not ask it: the word
/// and a sentence.
pub fn unasked_name(recorded: &RecordedEvent) -> Vec<String> {
    let Event::Posted(posted) = &recorded.event else { return Vec::new() };
    let silence = posted
        .silence
        .as_deref()
        .filter(|silence| matches!(silence.reason, Reason::NoDiscussion | Reason::OutsideRound));
    let told = |silence: &Silence| {
        let row = silence.reason.row();
        vec![silence.reason.to_string(), format!("No agent is asked: {}. {}", row.phrase, row.cure)]
    };
    silence.map(told).unwrap_or_default()
}

/// Returns a warning for each invited agent whose client is not in the registry. (Ruling 4.)
pub fn strangers(recorded: &RecordedEvent) -> Vec<String> {
    let Event::Controlled { changes, .. } = &recorded.event else { return Vec::new() };
    let stranger = |change: &Change| match change {
        Change::Invited { participant, kind: Kind::Agent, profile, facts, .. } if !facts.known => {
            let client = profile.client.as_deref().unwrap_or_default();
            Some(format!(
                "This server has no agent called {client:?} and cannot run {participant}. \
                 {participant} has to connect by itself. `GET /agents` lists the agents."
            ))
        }
        _ => None,
    };
    changes.iter().filter_map(stranger).collect()
}
