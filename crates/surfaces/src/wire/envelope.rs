//! The envelope in which every event travels.

use moothall_kernel::budget::{Measure, SpentBudget};
use moothall_kernel::event::{self, Cause, Event, Posted, Recipient, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::permission::WithdrawalReason;
use moothall_kernel::start::StartOutcome;
use moothall_kernel::talk::TalkOutcome;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::control::changes_as_content;
use super::gathering_step::GatheringStep;
use super::session::OptionEntry;
use super::turn::{TurnEvent, WireFault, texts, turn_id};
use super::usage::owner_words;

/// An event as clients see it. Order comes from `seq` alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Envelope {
    /// Id of the event: a UUID of version 7.
    pub id: String,
    /// Position of the event in its thread, from 1.
    pub seq: u64,
    /// Time at which the event was appended: RFC 3339, UTC, milliseconds. Rises strictly within a
    /// thread.
    pub ts: String,
    /// Id of the event's thread.
    pub thread: String,
    /// Type of the event: `message`, `control`, `notice`, `turn`, `permission`, `gathering`,
    /// `thread.created`, `thread.renamed`, `thread.archived`, `thread.unarchived`,
    /// `thread.deleted`, `observation` (words of a person who does not take part, from a chat), or
    /// a client's own word.
    #[serde(rename = "type")]
    pub kind: String,
    /// Id of the participant that the event comes from; `moothall` is the server itself. For an
    /// `observation`, the account that wrote.
    pub from: String,
    /// Addressee: `all`, or a participant's id. An addressee never hides an event from other
    /// readers.
    pub to: String,
    /// Text for messages and names, an object for most other types. A control's object has a key
    /// for each change. If several participants were invited at once, `invite` is the first of them
    /// and `invites` the list of all.
    pub content: Value,
    /// Further facts about the event; absent if there are none.
    #[serde(default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// Facts about an event beside its content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Meta {
    /// Id of the event that this one replies to; absent if it replies to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Id of the turn that the message answers; absent if it answers none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// `moothall` if the server wrote the message on the speaker's behalf; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Labels of the client, and the server's `coordinator` and `error`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Number of steps from a human message to this one; absent for the human message, which has 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Ids of the invited participants whom the message names, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
    /// Places at which the message names participants, in order; the first 128. Empty for messages
    /// from servers that did not keep places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mention_places: Vec<MentionPlace>,
    /// Chat outside of the server from which the message came, such as `telegram:-100123`; absent
    /// for other messages. Clients cannot set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// Account of the author in that chat's product, such as `telegram:4711`, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Name that the account gives itself, for an `observation`. It proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_name: Option<String>,
    /// True if no credential proves `from`: the client or a terminal stated it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
    /// Id of the participant in whose terminal the message was typed. Agents can type there too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed_at: Option<String>,
    /// True if the message waits until earlier messages are answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// True if the queue was full: the message asks no agent and does not wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub queue_full: bool,
    /// True if a person stopped the author: the content is the text shown by then, and stays
    /// incomplete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// End of the model's answer: `stop`, `length` (a limit of tokens; the rest is missing),
    /// `filter`, `refusal`, `tool`, `error` or `cut`. Absent if the provider does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// True if the content is the model's thoughts, because the model wrote nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thought: bool,
    /// Position of the kept text that a person published with this message; absent for other
    /// messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<u64>,
    /// True if the words of the event were erased. Its content is empty then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// The failure, if the message reports that an agent failed; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<WireFault>,
}

/// A place in a message that names participants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MentionPlace {
    /// Position of the `@`, in UTF-16 code units from the beginning of the message.
    pub start: usize,
    /// Position of the end of the name, in UTF-16 code units from the beginning of the message.
    pub end: usize,
    /// Ids of the named participants: one, or all that have a role, a client or a model of that
    /// name.
    pub participants: Vec<String>,
}

impl MentionPlace {
    /// Returns the places in a message, in order; none once its words are erased.
    fn all(posted: &Posted) -> Vec<Self> {
        // Places are in order, so each part of the body is counted once.
        let (mut units, mut counted) = (0, 0);
        let mut unit_at = |at: usize| {
            units += posted.body.get(counted..at)?.encode_utf16().count();
            counted = at;
            Some(units)
        };
        let place = |place: &event::MentionPlace| {
            let range = place.span.range();
            let (start, end) = (unit_at(range.start)?, unit_at(range.end)?);
            Some(Self { start, end, participants: texts(&place.participants) })
        };
        posted.places.iter().map_while(place).collect()
    }
}

impl Meta {
    /// True if no fact is known.
    pub fn is_empty(&self) -> bool {
        *self == Meta::default()
    }

    fn replying(cause: Option<&Cause>) -> Self {
        Self { reply_to: cause.map(|cause| cause.id.to_string()), ..Self::default() }
    }
}

/// A reference to the event that caused something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CauseRef {
    /// Id of the event.
    pub id: String,
    /// Position of the event in its thread.
    pub seq: u64,
    /// Id of the participant that the event comes from.
    pub from: String,
    /// Number of steps from a human message to this event; 0 for the human message.
    pub depth: u32,
}

impl From<&Cause> for CauseRef {
    fn from(cause: &Cause) -> Self {
        Self {
            id: cause.id.to_string(),
            seq: cause.seq.0,
            from: cause.from.to_string(),
            depth: cause.depth,
        }
    }
}

/// The parts of an envelope that depend on the kind of event.
struct Face {
    to: String,
    content: Value,
    meta: Meta,
}

impl Face {
    fn new(content: Value) -> Self {
        Self { to: "all".into(), content, meta: Meta::default() }
    }

    fn to(mut self, to: &Recipient) -> Self {
        self.to = to_word(to);
        self
    }

    fn only_to(mut self, participant: &ParticipantId) -> Self {
        self.to = participant.to_string();
        self
    }

    fn with(mut self, meta: Meta) -> Self {
        self.meta = meta;
        self
    }
}

fn to_word(to: &Recipient) -> String {
    match to {
        Recipient::All => "all".into(),
        Recipient::One(id) => id.to_string(),
    }
}

impl Envelope {
    /// Returns an event of a conversation as an envelope. Every field comes from the event itself,
    /// so an event always has one and the same envelope.
    pub fn of(stream: &StreamId, recorded: &RecordedEvent) -> Self {
        let face = face(stream, &recorded.event);
        let from = match &recorded.event {
            Event::Overheard { origin, .. } => origin.account().to_owned(),
            event => event.from().map_or(ParticipantId::MOOTHALL, ParticipantId::as_str).to_owned(),
        };
        Self {
            id: recorded.id(stream).to_string(),
            seq: recorded.seq.0,
            ts: recorded.ts.to_string(),
            thread: stream.to_string(),
            kind: type_word(&recorded.event).into(),
            from,
            to: face.to,
            content: face.content,
            meta: face.meta,
        }
    }
}

/// Returns the word for an event's type. A custom event has the client's own word.
pub fn type_word(event: &Event) -> &str {
    match event {
        Event::Created { .. } => "thread.created",
        Event::Renamed { .. } => "thread.renamed",
        Event::Archived { .. } => "thread.archived",
        Event::Unarchived { .. } => "thread.unarchived",
        Event::Deleted { .. } => "thread.deleted",
        Event::Controlled { .. } => "control",
        Event::Posted(_) => "message",
        Event::Custom { kind, .. } => kind,
        Event::Overheard { .. } => "observation",
        Event::Noticed { .. }
        | Event::Stopped { .. }
        | Event::BudgetSpent { .. }
        | Event::GuardTripped { .. }
        | Event::ClockShifted { .. }
        | Event::Redacted { .. }
        | Event::Joined(_)
        | Event::Parted { .. }
        | Event::Task(_) => "notice",
        Event::PermissionRequested { .. }
        | Event::PermissionAnswered { .. }
        | Event::PermissionExpired { .. }
        | Event::PermissionWithdrawn { .. }
        | Event::QuestionAsked { .. }
        | Event::StartRequested { .. }
        | Event::StartSettled { .. }
        | Event::TalkRequested { .. }
        | Event::TalkSettled { .. } => "permission",
        Event::Gathering(_) => "gathering",
        Event::TurnGranted { .. }
        | Event::TurnEnded { .. }
        | Event::Taken { .. }
        | Event::RoundOpened { .. }
        | Event::ReactionOpened { .. }
        | Event::RoundClosed
        | Event::RoundReopened { .. }
        | Event::Skipped { .. }
        | Event::TurnWidened { .. }
        | Event::TurnReleased { .. }
        | Event::TurnStarted { .. }
        | Event::TurnLost { .. }
        | Event::Suppressed { .. }
        | Event::Discarded { .. }
        | Event::Summarised { .. }
        | Event::FactsChanged { .. } => "turn",
    }
}

/// Returns the addressee, the content and the facts of an event. Only messages, custom events, and
/// turns that were granted or ended can have another addressee than `all`.
fn face(stream: &StreamId, event: &Event) -> Face {
    match event {
        Event::Created { name, .. } => Face::new(json!(name)),
        Event::Renamed { name, .. } => Face::new(json!(name)),
        Event::Archived { .. } => Face::new(Value::Null),
        Event::Unarchived { .. } => Face::new(Value::Null),
        Event::Deleted { .. } => Face::new(Value::Null),
        Event::Controlled { changes, unproven, .. } => Face::new(changes_as_content(changes))
            .with(Meta { unproven: *unproven, ..Meta::default() }),
        Event::Posted(posted) => {
            let meta = Meta { redacted: event.is_erased(), ..message_meta(stream, posted) };
            Face::new(json!(posted.body)).to(&posted.to).with(meta)
        }
        Event::Custom { to, content, tags, reply_to, unproven, .. } => {
            let meta = Meta {
                tags: tags.clone(),
                unproven: *unproven,
                ..Meta::replying(reply_to.as_ref())
            };
            Face::new(content.clone()).to(to).with(meta)
        }
        Event::Overheard { origin, name, body } => Face::new(json!(body)).with(Meta {
            chat: Some(origin.chat.key()),
            identity: origin.identity.clone(),
            shown_name: Some(name.clone()),
            unproven: true,
            redacted: event.is_erased(),
            ..Meta::default()
        }),
        Event::Noticed { code, text, about, cause } => {
            Face::new(notice(code, text, about.as_ref())).with(Meta::replying(cause.as_ref()))
        }
        Event::Stopped { .. } => Face::new(notice(
            "stopped",
            "Everyone was stopped. Messages that waited are not answered.",
            None,
        )),
        Event::BudgetSpent { spent, currency, about, cause } => {
            Face::new(spent_content(spent, currency, about)).with(Meta::replying(Some(cause)))
        }
        Event::GuardTripped { guard } => {
            Face::new(json!({"code": "held", "guard": guard.to_string(), "text": guard.sentence()}))
        }
        Event::ClockShifted { downtime } => Face::new(
            json!({"code": "resumed", "text": "The server was down; open deadlines were moved by \
                the same time.", "seconds": downtime.as_secs_f64()}),
        ),
        Event::Joined(joined) => {
            let text = format!(
                "The session takes part in “{}”, a conversation of another computer.",
                joined.title
            );
            Face::new(notice("joined", &text, None))
        }
        Event::Parted { .. } => Face::new(notice(
            "parted",
            "The session takes part in a conversation of another computer no more.",
            None,
        )),
        // Task events are in the streams of tasks, so a reader of a conversation never gets this.
        Event::Task(_) => Face::new(notice("task", "Something happened to a task.", None)),
        Event::Redacted { seq, edited: true, .. } => Face::new(json!({
            "code": "redacted",
            "text": "The author edited a message while it waited; the new words replace it.",
            "seq": seq.0,
            "edited": true,
        })),
        Event::Redacted { seq, .. } => Face::new(
            json!({"code": "redacted", "text": "The text of an event was erased.", "seq": seq.0}),
        ),
        Event::PermissionRequested { .. }
        | Event::PermissionExpired { .. }
        | Event::PermissionWithdrawn { .. }
        | Event::QuestionAsked { .. }
        | Event::StartRequested { .. }
        | Event::StartSettled { .. }
        | Event::TalkRequested { .. }
        | Event::TalkSettled { .. } => Face::new(permission(stream, event)),
        Event::PermissionAnswered { .. } => Face::new(permission(stream, event))
            .with(Meta { redacted: event.is_erased(), ..Meta::default() }),
        Event::Gathering(step) => Face::new(json!(GatheringStep::from(step))),
        Event::TurnGranted { participant, cause, .. } => Face::new(turn_content(stream, event))
            .only_to(participant)
            .with(Meta::replying(Some(cause))),
        Event::TurnEnded { participant, .. } => {
            Face::new(turn_content(stream, event)).only_to(participant)
        }
        Event::Taken { .. }
        | Event::RoundOpened { .. }
        | Event::ReactionOpened { .. }
        | Event::RoundClosed
        | Event::RoundReopened { .. }
        | Event::Skipped { .. }
        | Event::TurnWidened { .. }
        | Event::TurnReleased { .. }
        | Event::TurnStarted { .. }
        | Event::TurnLost { .. }
        | Event::Suppressed { .. }
        | Event::Discarded { .. }
        | Event::Summarised { .. }
        | Event::FactsChanged { .. } => Face::new(turn_content(stream, event))
            .with(Meta { redacted: event.is_erased(), ..Meta::default() }),
    }
}

/// Returns the facts about a message. The caller sets `redacted`.
fn message_meta(stream: &StreamId, posted: &Posted) -> Meta {
    Meta {
        reply_to: posted.reply_to.as_ref().map(|cause| cause.id.to_string()),
        turn: posted.turn.map(|turn| turn_id(stream, turn)),
        via: posted.via.then(|| ParticipantId::MOOTHALL.to_string()),
        tags: posted.tags.clone(),
        depth: (posted.depth > 0).then_some(posted.depth),
        mentions: texts(&posted.mentions),
        mention_places: MentionPlace::all(posted),
        chat: posted.origin.as_ref().map(|origin| origin.chat.key()),
        identity: posted.origin.as_ref().and_then(|origin| origin.identity.clone()),
        shown_name: None,
        unproven: posted.unproven,
        typed_at: posted.typed_at.as_ref().map(ToString::to_string),
        queued: posted.queued,
        queue_full: posted.queue_full,
        stopped: posted.stopped,
        ended: posted.ended.map(|ended| ended.to_string()),
        thought: posted.thought,
        published: posted.published.map(|seq| seq.0),
        redacted: false,
        error: posted.error.as_deref().map(WireFault::from),
    }
}

/// Returns the content of a notice, with the participant that it is about if there is one.
fn notice(code: &str, text: &str, about: Option<&ParticipantId>) -> Value {
    match about {
        Some(about) => json!({"code": code, "text": text, "about": about}),
        None => json!({"code": code, "text": text}),
    }
}

/// Returns the content for a spent budget: its owner, measure, limit and end of window.
fn spent_content(spent: &SpentBudget, currency: &str, about: &ParticipantId) -> Value {
    let (budget, whose) = owner_words(&spent.owner);
    let sentence = spent.sentence(currency);
    let text = format!(
        "{}{}, until {}. A person can raise it.",
        sentence[..1].to_uppercase(),
        &sentence[1..],
        spent.until
    );
    let mut content = json!({
        "code": "over_budget", "text": text, "about": about, "budget": budget, "measure": spent.measure.to_string(),
        "limit": spent.limit, "until": spent.until.to_string(),
    });
    if let Some(whose) = whose {
        content["whose"] = json!(whose);
    }
    if spent.measure == Measure::Money {
        content["currency"] = json!(currency);
    }
    content
}

/// Returns the content of an event of type `turn`, or null for any other event.
fn turn_content(stream: &StreamId, event: &Event) -> Value {
    TurnEvent::of(stream, event)
        .and_then(|content| serde_json::to_value(content).ok())
        .unwrap_or_default()
}

/// Returns the content of an event of type `permission`, or null for any other event. Its key
/// `event` is the step: `requested`, `answered`, `settled`, `expired`, `gave_up` or `withdrawn`. A
/// request that stands has no time limit.
fn permission(stream: &StreamId, event: &Event) -> Value {
    match event {
        Event::PermissionRequested {
            permission,
            turn,
            participant,
            action,
            options,
            expires,
            partial,
            detail,
            folder,
            look,
            stands,
        } => {
            let expires = (!stands).then(|| expires.to_string());
            let mut content = json!({
                "event": "requested", "permission": permission, "turn": turn_id(stream, *turn), "participant": participant,
                "action": action, "complete": !partial, "options": OptionEntry::all(options), "expires": expires,
            });
            if let Some(detail) = detail {
                content["detail"] = json!(detail);
            }
            for (key, value) in [("folder", folder), ("look", look)] {
                if let Some(value) = value {
                    content[key] = json!(value);
                }
            }
            content
        }
        Event::QuestionAsked {
            permission,
            participant,
            action,
            options,
            partial,
            folder,
            look,
        } => json!({
            "event": "requested", "permission": permission, "turn": null, "participant": participant, "action": action,
            "complete": !partial, "options": OptionEntry::all(options), "expires": null, "folder": folder, "look": look,
        }),
        Event::StartRequested {
            permission,
            participant,
            start,
            action,
            options,
            expires,
            folder,
        } => json!({
            "event": "requested", "permission": permission, "turn": null, "participant": participant, "start": start,
            "action": action, "complete": true, "options": OptionEntry::all(options), "expires": expires.to_string(), "folder": folder,
        }),
        Event::StartSettled { permission, participant, start, outcome } => {
            let (word, facts) = match outcome {
                StartOutcome::Started { session, name, unsaid } => {
                    ("started", json!({"session": session, "name": name, "unsaid": unsaid}))
                }
                StartOutcome::Failed { why } => ("failed", json!({"why": why})),
                StartOutcome::Refused { by } => ("refused", json!({"by": by})),
                StartOutcome::Expired => ("expired", json!({})),
            };
            let content = json!({"event": "settled", "permission": permission, "participant": participant, "start": start, "outcome": word});
            with_facts(content, facts)
        }
        Event::TalkRequested { permission, participant, talk, action, options, expires } => json!({
            "event": "requested", "permission": permission, "turn": null, "participant": participant, "talk": talk,
            "action": action, "complete": true, "options": OptionEntry::all(options), "expires": expires.to_string(),
        }),
        Event::TalkSettled { permission, participant, talk, outcome } => {
            let (word, facts) = match outcome {
                TalkOutcome::Linked { link, unsaid } => {
                    ("linked", json!({"link": link, "unsaid": unsaid}))
                }
                TalkOutcome::Told => ("told", json!({})),
                TalkOutcome::Failed { why } => ("failed", json!({"why": why})),
                TalkOutcome::Refused { by } => ("refused", json!({"by": by})),
                TalkOutcome::Expired => ("expired", json!({})),
            };
            let content = json!({"event": "settled", "permission": permission, "participant": participant, "talk": talk, "outcome": word});
            with_facts(content, facts)
        }
        Event::PermissionAnswered { permission, by, option, label, text } => {
            let label = label.as_ref().unwrap_or(option);
            let mut content = json!({"event": "answered", "permission": permission, "by": by, "option": option, "label": label});
            if let Some(text) = text {
                content["text"] = json!(text);
            }
            content
        }
        Event::PermissionExpired { permission } => {
            json!({"event": "expired", "permission": permission})
        }
        Event::PermissionWithdrawn { permission, because: WithdrawalReason::GaveUp } => {
            json!({"event": "gave_up", "permission": permission})
        }
        Event::PermissionWithdrawn { permission, because } => {
            json!({"event": "withdrawn", "permission": permission, "because": because.to_string()})
        }
        _ => Value::Null,
    }
}

/// Adds the facts of an outcome that are not null.
fn with_facts(mut content: Value, facts: Value) -> Value {
    if let (Some(content), Value::Object(facts)) = (content.as_object_mut(), facts) {
        content.extend(facts.into_iter().filter(|(_, value)| !value.is_null()));
    }
    content
}
