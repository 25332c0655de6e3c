//! Refused words, which are stored in the trace up to a limit and only counted above it.

use crate::decide::{Decider, DroppedWords};
use crate::model::command::{Post, Refusal, Rejection};
use crate::model::event::{Event, SuppressedBecause};
use crate::model::ids::ParticipantId;
use crate::model::refused::{KEPT_BYTES_MAX, KEPT_MAX, RefusedWords};

/// Most participants whose refused words are remembered. Refused words of further participants are
/// not stored.
const PARTICIPANTS_MAX: usize = 400;

impl Decider<'_> {
    /// Returns the rejection of words for a reason, and stores the words in the trace up to the
    /// limit.
    pub(crate) fn refuse(
        &mut self,
        post: &Post,
        because: SuppressedBecause,
        code: &'static str,
        reason: &str,
    ) -> Rejection {
        let after = if self.keep_refused(&post.by.id, &post.body, because) {
            "The message was kept in the trace."
        } else {
            "Too many messages were refused within an hour, so this one is counted but not kept."
        };
        Rejection::new(Refusal::Conflict, code, format!("{reason} {after}")).about(&post.by.id)
    }

    /// Emits refused words for the trace and returns true, if there is room for them. Otherwise
    /// returns false: the first words above a participant's limit emit [`Event::Discarded`], and
    /// further ones are only counted in the decision's `unkept`.
    fn keep_refused(&mut self, by: &ParticipantId, body: &str, because: SuppressedBecause) -> bool {
        // An hour that is over is reported first, or these words would be counted in it.
        self.tell_of_the_unkept();
        let (now, bytes) = (self.now, body.len() as u64);
        let known = self.state.refused.0.get(by).filter(|refused| refused.until() > now);
        let room = match known {
            Some(refused) => {
                refused.kept < KEPT_MAX && refused.bytes + bytes <= KEPT_BYTES_MAX && !refused.over
            }
            None => {
                // An entry whose hour has ended still exists, so its participant adds no entry.
                self.state.refused.0.len() < PARTICIPANTS_MAX
                    || self.state.refused.0.contains_key(by)
            }
        };
        let begins = known.filter(|refused| !refused.over).map(RefusedWords::until);
        if room {
            self.emit(Event::Suppressed {
                participant: by.clone(),
                turn: None,
                because,
                counted: bytes,
                body: body.to_owned(),
            });
        } else if begins.is_some() {
            // One event marks the words above the limit; a tick records their sum after the hour.
            self.emit(Event::Discarded { participant: by.clone(), count: 1, bytes, until: begins });
        } else {
            self.unkept = Some(DroppedWords { participant: by.clone(), bytes });
        }
        room
    }

    /// Emits the number and the bytes of refused words that were not stored, for each participant
    /// whose hour has ended.
    pub(crate) fn tell_of_the_unkept(&mut self) {
        for participant in self.state.refused.due(self.now) {
            let (count, bytes) = self.facts.unkept.get(&participant).copied().unwrap_or_default();
            self.emit(Event::Discarded { participant, count, bytes, until: None });
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeMap;

    use crate::model::command::{
        Actor, ClientCommand, Command, Control, EngineCommand, Facts, Invite,
    };
    use crate::model::event::RecordedEvent;
    use crate::model::participant::{AgentFacts, Profile};
    use crate::model::state::Conversation;
    use crate::model::time::Timestamp;
    use crate::policy::Policy;

    struct Scene {
        state: Conversation,
        log: Vec<RecordedEvent>,
        now: Timestamp,
        /// True if the last refused words were only counted.
        counted: bool,
    }

    impl Scene {
        /// Returns a conversation in which these agents are muted.
        fn with_muted(agents: &[&str]) -> Self {
            let mut room = Self {
                state: Conversation::new("r".into()),
                log: Vec::new(),
                now: Timestamp::from_millis(1_000),
                counted: false,
            };
            let user = || Actor::human("user");
            room.give(ClientCommand::Create {
                name: "r".into(),
                policy: Policy::default(),
                folder: None,
                by: user(),
            })
            .unwrap();
            for agent in agents {
                let profile = Profile {
                    client: Some((*agent).into()),
                    model: Some("m".into()),
                    ..Profile::default()
                };
                let invite = Control::Invite(Invite::new(*agent, profile, AgentFacts::external()));
                room.give(ClientCommand::Control { by: user(), controls: vec![invite] }).unwrap();
            }
            let mute = Control::Mute(agents.iter().map(|agent| (*agent).to_owned()).collect());
            room.give(ClientCommand::Control { by: user(), controls: vec![mute] }).unwrap();
            room
        }

        fn give(&mut self, command: impl Into<Command>) -> Result<(), Rejection> {
            self.give_with(command, &Facts::default())
        }

        fn give_with(
            &mut self,
            command: impl Into<Command>,
            facts: &Facts,
        ) -> Result<(), Rejection> {
            let decision = self.state.decide(self.now, command, facts);
            self.log.extend(decision.events);
            self.counted = decision.unkept.is_some();
            decision.outcome
        }

        fn says(&mut self, agent: &str, bytes: usize) -> Rejection {
            self.give(ClientCommand::Post(Post::new(Actor::named(agent), "x".repeat(bytes))))
                .unwrap_err()
        }

        fn kept(&self, agent: &str) -> (usize, usize) {
            let bodies = self.log.iter().filter_map(|recorded| match &recorded.event {
                Event::Suppressed { participant, body, .. } if participant.as_str() == agent => {
                    Some(body.len())
                }
                _ => None,
            });
            bodies.fold((0, 0), |(count, bytes), body| (count + 1, bytes + body))
        }

        fn unkept(&self) -> Vec<(u64, u64, Option<Timestamp>)> {
            let discarded = self.log.iter().filter_map(|recorded| match recorded.event {
                Event::Discarded { count, bytes, until, .. } => Some((count, bytes, until)),
                _ => None,
            });
            discarded.collect()
        }
    }

    #[test]
    fn refused_words_are_kept_up_to_a_bound_and_then_counted_for_each_participant() {
        let mut room = Scene::with_muted(&["a", "b"]);
        for n in 0..50 {
            let refused = room.says("a", 10);
            assert_eq!((refused.code, room.counted), ("participant_muted", n > 20), "{n}");
            assert_eq!(
                refused.message.contains("kept in the trace"),
                n < 20,
                "{}",
                refused.message
            );
        }
        let events = room.log.len();
        room.says("b", 10);
        assert_eq!((room.kept("a"), room.kept("b")), ((20, 200), (1, 10)));
        let [(1, 10, Some(until))] = room.unkept()[..] else { panic!("{:?}", room.unkept()) };
        assert_eq!(room.log.len(), events + 1, "what is counted writes nothing");
        assert_eq!(room.state.duties().wake_at, Some(until));

        room.now = until;
        let unkept = BTreeMap::from([(ParticipantId::new("a"), (29, 290))]);
        room.give_with(EngineCommand::Tick, &Facts { unkept, ..Facts::default() }).unwrap();
        assert_eq!(room.unkept()[1..], [(29, 290, None)]);
        assert_eq!(room.state.duties().wake_at, None);
        room.says("a", 10);
        assert_eq!(room.kept("a"), (21, 210), "another hour");
        let mut folded = Conversation::new("r".into());
        room.log.iter().for_each(|recorded| folded.apply(recorded));
        assert_eq!(folded, room.state);
    }

    #[test]
    fn a_megabyte_of_refused_words_is_enough_however_few_they_are() {
        let mut room = Scene::with_muted(&["a"]);
        for _ in 0..20 {
            room.says("a", 250_000);
        }
        assert_eq!(room.kept("a"), (4, 1_000_000));
        assert_eq!(room.unkept().len(), 1);
        assert!(
            room.log
                .iter()
                .all(|recorded| recorded.event.body().is_none_or(|body| !body.is_empty()))
        );
    }
}
