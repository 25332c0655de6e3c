//! Words carry marks. Each is seen at most once, from its author, for the attempt that it answers.

use std::collections::BTreeSet;

use moothall_kernel::event::{Event, Posted, RecordedEvent};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;
use moothall_kernel::pass::is_pass;

use super::{Checker, ConversationModel, Scene, Verdict};
use crate::sim::marks;

#[derive(Default)]
pub(super) struct WordsOnce {
    visible: BTreeSet<usize>,
}

impl Checker for WordsOnce {
    fn name(&self) -> &'static str {
        "words"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        match &recorded.event {
            Event::Posted(posted)
                if posted.from.as_str() != ParticipantId::MOOTHALL
                    && posted.published.is_none() =>
            {
                self.said(room, scene, posted)
            }
            _ => Ok(()),
        }
    }
}

impl WordsOnce {
    fn said(&mut self, room: &ConversationModel, scene: &Scene<'_>, posted: &Posted) -> Verdict {
        let Some(mark) = marks::first(&posted.body) else {
            // This client's agent became a person meanwhile. A person's words pass nothing on.
            // (Ruling 11.)
            if posted.kind == Kind::Human && is_pass(&posted.body) {
                return Ok(());
            }
            return Err(format!("nobody said {:?}", posted.body));
        };
        let Some(origin) = scene.marks.get(mark) else {
            return Err(format!("nobody made mark {mark}"));
        };
        if origin.author != posted.from {
            return Err(format!("{} is shown the words of {}", posted.from, origin.author));
        }
        if !self.visible.insert(mark) {
            return Err(format!("the words with mark {mark} are visible twice"));
        }
        let Some((turn, attempt)) = origin.turn else { return Ok(()) };
        let current = room.turns.get(&turn).map(|open| open.attempt);
        if posted.turn != Some(turn) || current != Some(attempt) {
            return Err(format!(
                "words of attempt {attempt} of turn {turn} answer turn {:?}, attempt {current:?}",
                posted.turn
            ));
        }
        Ok(())
    }
}
