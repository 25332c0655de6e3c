//! Side effects of events: claims taken and released, deliveries to insert. Pure functions.

use std::collections::BTreeSet;

use moothall_kernel::aggregate::{CONVERSATION, TASK};
use moothall_kernel::chat::Chat;
use moothall_kernel::event::{Change, Event, RecordedEvent};
use moothall_kernel::gathering::GatheringEvent;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::task::{NewConversation, TaskEvent};
use moothall_kernel::view::is_owed_to_chats;

use crate::outbox::{ConversationStart, OutboxEntry, StreamCommand};
use crate::ports::{Claim, ClaimChange, NewDelivery, Target};

/// The claims and deliveries of an append.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects {
    pub(crate) claims: Vec<ClaimChange>,
    pub(crate) deliveries: Vec<NewDelivery>,
}

/// Returns the effects of events in a stream that was bound to these targets before them. `members`
/// are the participants of a task's conversation; `None` if no task owns it.
///
/// `terminal_of` returns the session into whose terminal a turn is typed.
pub(crate) fn effects<'a>(
    stream: &StreamId,
    bound: impl Iterator<Item = &'a str>,
    members: Option<BTreeSet<ParticipantId>>,
    terminal_of: impl Fn(TurnNo) -> Option<Target>,
    events: &[RecordedEvent],
) -> Effects {
    let mut targets: BTreeSet<String> = bound.map(str::to_owned).collect();
    let mut memberships = Memberships { stream, members };
    let mut effects = Effects::default();
    for recorded in events {
        // A chat also gets the event that unbinds it.
        let unbound = unbound_by(&recorded.event, &targets);
        match &recorded.event {
            // `members` is `None` for a stream that begins here: the state before it has no task.
            Event::Created { task: Some(_), .. } => memberships.members = Some(BTreeSet::new()),
            Event::Controlled { changes, .. } => {
                for change in changes {
                    rebind(stream, &mut targets, change, &mut effects);
                    effects.claims.extend(memberships.of(change));
                }
            }
            Event::Task(event) => task_effects(stream, event, recorded.seq, &mut effects),
            Event::Archived { .. } => {
                effects.claims.extend(targets.iter().map(|target| release(target)))
            }
            Event::Unarchived { .. } => {
                effects.claims.extend(targets.iter().map(|target| take(stream, target)))
            }
            Event::TurnStarted { turn, attempt, through_seq, .. } => {
                let typed = |target| NewDelivery {
                    target,
                    turn: Some(*turn),
                    attempt: *attempt,
                    through_seq: *through_seq,
                    command: None,
                };
                effects.deliveries.extend(terminal_of(*turn).map(typed));
            }
            Event::Gathering(GatheringEvent::Harvested { rhythm, .. }) => {
                effects.deliveries.push(NewDelivery {
                    target: Target::Trail(rhythm.clone()),
                    turn: None,
                    attempt: 0,
                    through_seq: recorded.seq,
                    command: None,
                });
            }
            _ => {}
        }
        let is_bound = !(targets.is_empty() && unbound.is_empty());
        if is_bound && is_owed_to_chats(&recorded.event) {
            deliver(unbound.union(&targets), recorded, &mut effects);
        }
    }
    effects
}

/// The members of a task's conversation. Each has a claim in a namespace of the agent, which lists
/// the streams of that agent, archived or not.
struct Memberships<'a> {
    stream: &'a StreamId,
    members: Option<BTreeSet<ParticipantId>>,
}

impl Memberships<'_> {
    /// Returns the claim that a change to the participants takes or releases. `None` for other
    /// changes, and in a conversation without a task.
    fn of(&mut self, change: &Change) -> Option<ClaimChange> {
        let members = self.members.as_mut()?;
        match change {
            Change::Invited { participant, .. } if members.insert(participant.clone()) => {
                Some(enter(self.stream, participant, CONVERSATION))
            }
            Change::Uninvited { participant, .. } if members.remove(participant) => {
                Some(depart(self.stream, participant))
            }
            _ => None,
        }
    }
}

/// Returns the claim that makes an agent a member of the stream, which is of this kind.
fn enter(stream: &StreamId, agent: &ParticipantId, kind: &str) -> ClaimChange {
    hold(stream, &membership_of(agent), kind)
}

/// Returns the claim of the stream in a namespace of an agent, with the kind of stream.
fn hold(stream: &StreamId, namespace: &str, kind: &str) -> ClaimChange {
    let claim = claim(stream, &format!("{namespace}:{stream}"));
    ClaimChange::Take(Claim { outcome: kind.to_owned(), ..claim })
}

/// Returns the claim that makes an agent the manager of the task for an app.
fn manage(stream: &StreamId, agent: &ParticipantId) -> ClaimChange {
    hold(stream, &management_of(agent), TASK)
}

/// Returns the release of the claim that makes an agent a member.
fn depart(stream: &StreamId, agent: &ParticipantId) -> ClaimChange {
    release(&format!("{}:{stream}", membership_of(agent)))
}

/// Prefix of the namespaces of memberships. Each agent has its own namespace.
const MEMBER: &str = "member/";
/// Prefix of the namespaces of the tasks that an agent manages for an app, admitted or not.
const MANAGER: &str = "manager/";

/// Returns the namespace of an agent's memberships. Its keys are streams, its outcomes their kinds.
pub(crate) fn membership_of(agent: &ParticipantId) -> String {
    namespace(MEMBER, agent)
}

/// Returns the namespace of the tasks that an agent manages for an app.
pub(crate) fn management_of(agent: &ParticipantId) -> String {
    namespace(MANAGER, agent)
}

fn namespace(prefix: &str, agent: &ParticipantId) -> String {
    // `split` ends a namespace at the first colon. An id may contain a colon, but not a slash.
    format!("{prefix}{}", agent.as_str().replace(':', "/"))
}

/// Returns the agents whose memberships or managements the claims change. The flag is true for a
/// new membership or management, and false for the end of one.
pub(crate) fn memberships_in(claims: &[ClaimChange]) -> Vec<(ParticipantId, bool)> {
    let membership = |claim: &ClaimChange| {
        let (namespace, taken) = match claim {
            ClaimChange::Take(claim) => (&claim.namespace, true),
            ClaimChange::Release { namespace, .. } => (namespace, false),
        };
        let agent = [MEMBER, MANAGER].iter().find_map(|prefix| namespace.strip_prefix(prefix));
        Some((ParticipantId::new(agent?), taken))
    };
    claims.iter().filter_map(membership).collect()
}

/// Adds the effects of a task's event: commands for its conversations as deliveries, and claims for
/// the memberships and the management.
fn task_effects(stream: &StreamId, event: &TaskEvent, at: Seq, effects: &mut Effects) {
    let task = || stream.clone();
    let mut owe = |conversation: &StreamId, command: StreamCommand| {
        effects.deliveries.push(OutboxEntry::to_stream(conversation, &command).delivery(0, at));
    };
    match event {
        TaskEvent::Requested { initiator, manager, invited, .. } => {
            let all = [initiator].into_iter().chain(invited);
            effects.claims.extend(all.map(|agent| enter(stream, agent, TASK)));
            effects.claims.extend(manager.iter().map(|agent| manage(stream, agent)));
        }
        TaskEvent::Entrusted { manager, from, .. } => {
            let from =
                from.iter().map(|agent| release(&format!("{}:{stream}", management_of(agent))));
            effects.claims.extend(from);
            effects.claims.extend(manager.iter().map(|agent| manage(stream, agent)));
        }
        TaskEvent::Admitted { agent, again: false } => {
            effects.claims.push(enter(stream, agent, TASK))
        }
        TaskEvent::Removed { agent } => effects.claims.push(depart(stream, agent)),
        TaskEvent::Left { agent, conversations } => {
            for conversation in conversations {
                owe(conversation, StreamCommand::Part { task: task(), agent: agent.clone() });
            }
            effects.claims.push(depart(stream, agent));
        }
        TaskEvent::ConversationOpened { conversation, by, first, exchanges_max } => {
            let NewConversation { id, name, participants } = conversation.clone();
            let (task, by, first, exchanges_max) = (task(), by.clone(), *first, *exchanges_max);
            let begin = ConversationStart { by, name, participants, first, exchanges_max };
            owe(&id, StreamCommand::Open { task, begin });
        }
        TaskEvent::Closing { by, conversations } => {
            for conversation in conversations {
                owe(conversation, StreamCommand::Retire { task: task(), by: by.clone() });
            }
        }
        TaskEvent::Accepted
        | TaskEvent::Rejected { .. }
        | TaskEvent::Admitted { again: true, .. }
        | TaskEvent::ConversationSettled { .. }
        | TaskEvent::Closed => {}
    }
}

/// Returns the bound targets that an event unbinds.
fn unbound_by(event: &Event, targets: &BTreeSet<String>) -> BTreeSet<String> {
    let Event::Controlled { changes, .. } = event else { return BTreeSet::new() };
    let ended = changes.iter().filter_map(|change| match change {
        Change::Unbound { target } => targets.get(target).cloned(),
        _ => None,
    });
    ended.collect()
}

/// Adds the claim that a binding takes, or its release if the binding ends, and changes `targets`
/// accordingly.
fn rebind(
    stream: &StreamId,
    targets: &mut BTreeSet<String>,
    change: &Change,
    effects: &mut Effects,
) {
    match change {
        Change::Bound { target } if targets.insert(target.clone()) => {
            effects.claims.push(take(stream, target))
        }
        Change::Unbound { target } if targets.remove(target) => {
            effects.claims.push(release(target))
        }
        _ => {}
    }
}

/// Adds a delivery of an event to each bound chat, except to the one that it came from.
fn deliver<'a>(
    targets: impl Iterator<Item = &'a String>,
    recorded: &RecordedEvent,
    effects: &mut Effects,
) {
    // A chat does not get its own words back.
    let origin = match &recorded.event {
        Event::Posted(posted) => posted.origin.as_ref().map(|origin| &origin.chat),
        _ => None,
    };
    let chats = targets.filter_map(|target| Chat::of_target(target));
    let delivery = |chat: Chat| NewDelivery {
        target: Target::Chat(chat),
        turn: None,
        attempt: 0,
        through_seq: recorded.seq,
        command: None,
    };
    effects.deliveries.extend(chats.filter(|chat| Some(chat) != origin).map(delivery));
}

/// Returns the namespace and the key of the claim on a target: `chat:telegram:-100` is the key
/// `telegram:-100` in the namespace `chat`.
pub(crate) fn claim_on(target: &str) -> (String, String) {
    let (namespace, key) = target.split_once(':').unwrap_or((target, ""));
    (namespace.to_owned(), key.to_owned())
}

/// Returns the claim that binds a target to the stream.
fn take(stream: &StreamId, target: &str) -> ClaimChange {
    ClaimChange::Take(claim(stream, target))
}

fn claim(stream: &StreamId, target: &str) -> Claim {
    let (namespace, key) = claim_on(target);
    let (fingerprint, outcome) = (String::new(), String::new());
    Claim { namespace, key, stream: stream.clone(), fingerprint, outcome, expires: None }
}

/// Returns the release of the claim on a target.
fn release(target: &str) -> ClaimChange {
    let (namespace, key) = claim_on(target);
    ClaimChange::Release { namespace, key }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moothall_kernel::chat::PostOrigin;
    use moothall_kernel::event::{Posted, Recipient};
    use moothall_kernel::participant::Kind;
    use moothall_kernel::time::Timestamp;

    const CHAT: &str = "chat:telegram:-100";

    fn at(seq: u64, event: Event) -> RecordedEvent {
        RecordedEvent { seq: Seq(seq), ts: Timestamp::from_millis(seq as i64), event }
    }

    fn control(seq: u64, change: Change) -> RecordedEvent {
        at(
            seq,
            Event::Controlled { by: ParticipantId::user(), changes: vec![change], unproven: false },
        )
    }

    fn post(seq: u64, from: Option<&str>) -> RecordedEvent {
        let origin = from.map(|chat| {
            Box::new(PostOrigin {
                chat: chat.parse().expect("a chat"),
                identity: None,
                message: None,
            })
        });
        let posted = Posted {
            from: ParticipantId::user(),
            kind: Kind::Human,
            to: Recipient::All,
            body: "hello".into(),
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
            origin,
            ended: None,
            thought: false,
            silence: None,
            unknown: None,
            hosted: None,
            far: None,
        };
        at(seq, Event::Posted(posted))
    }

    fn owed(bound: &[&str], events: &[RecordedEvent]) -> Effects {
        effects(&"s".into(), bound.iter().copied(), None, |_| None, events)
    }

    #[test]
    fn a_binding_holds_its_key_until_it_ends_or_the_conversation_is_archived() {
        let bound = owed(&[], &[control(1, Change::Bound { target: CHAT.into() })]);
        let [ClaimChange::Take(claim)] = &bound.claims[..] else { panic!("{bound:?}") };
        assert_eq!(
            (claim.namespace.as_str(), claim.key.as_str(), claim.expires),
            ("chat", "telegram:-100", None)
        );
        let release =
            ClaimChange::Release { namespace: "chat".into(), key: "telegram:-100".into() };
        let by = ParticipantId::user();
        for end in [
            control(2, Change::Unbound { target: CHAT.into() }),
            at(2, Event::Archived { by: by.clone() }),
        ] {
            assert_eq!(owed(&[CHAT], &[end]).claims, std::slice::from_ref(&release));
        }
        assert_eq!(owed(&[CHAT], &[at(3, Event::Unarchived { by })]).claims, bound.claims);
    }

    #[test]
    fn words_go_to_every_target_but_the_one_they_came_from() {
        let targets = |events: &[RecordedEvent]| -> Vec<String> {
            owed(&[CHAT, "chat:discord:7"], events)
                .deliveries
                .into_iter()
                .map(|d| d.target.to_string())
                .collect()
        };
        assert_eq!(targets(&[post(4, None)]), ["chat:discord:7", CHAT]);
        assert_eq!(targets(&[post(4, Some(CHAT))]), ["chat:discord:7"]);
        // The unbound chat gets the note about its unbinding, and none of the later events.
        assert_eq!(
            targets(&[control(4, Change::Unbound { target: CHAT.into() }), post(5, None)]),
            ["chat:discord:7", CHAT, "chat:discord:7"]
        );
    }
}
