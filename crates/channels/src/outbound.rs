//! Events of a conversation as content for a chat, in the words of the chat's members.

use moothall_engine::hall::HallError;
use moothall_engine::residents::ResidentHall;
use moothall_kernel::Conversation;
use moothall_kernel::chat::Chat;
use moothall_kernel::event::{Change, Event, Posted, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, StreamId};
use moothall_kernel::participant::Kind;
use moothall_kernel::permission::{ActionDetail, PermissionOption};
use moothall_kernel::time::Timestamp;

/// Content for a chat.
#[derive(Clone, Debug, PartialEq)]
pub enum Outbound {
    /// A participant's words.
    Words(OutboundWords),
    /// A line of the server itself.
    Line(String),
    /// A question of an agent, which a person may answer.
    Card(Card),
    /// The end of a question, with its outcome.
    CardOver {
        /// The question.
        permission: PermissionId,
        /// The outcome, as a sentence.
        line: String,
    },
    /// The words of an earlier event were erased.
    Erasure {
        /// The position of that event.
        seq: Seq,
        /// The id of the message in this chat, if the words came from here.
        message: Option<String>,
    },
    /// The chat was bound to the conversation.
    Opening {
        /// The agents that take part.
        agents: Vec<ParticipantId>,
    },
    /// Nothing that the chat's members have to see.
    Nothing,
}

/// Words of a participant for a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboundWords {
    /// The speaker.
    pub from: ParticipantId,
    /// The speaker's name in the conversation.
    pub name: String,
    /// The place in which the words were written, such as `page`, and the remark `not proven` if
    /// the name is not proven. `None` for words that an agent said with its own credential.
    pub place: Option<String>,
    /// True if a person wrote the words under the person's own credential, and not at an agent's
    /// terminal.
    pub is_person: bool,
    /// The words, as Markdown.
    pub text: String,
    /// The position of the event that the words reply to.
    pub reply_to: Option<Seq>,
}

/// A question of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The question's id.
    pub permission: PermissionId,
    /// The position of the event that asks.
    pub seq: Seq,
    /// The asker.
    pub from: ParticipantId,
    /// The asker's name.
    pub name: String,
    /// The action that the agent asks for, or its question.
    pub action: String,
    /// The answers to choose from. Without any, the question is answered elsewhere.
    pub options: Vec<PermissionOption>,
    /// True if the text or the options are incomplete.
    pub is_partial: bool,
}

impl Outbound {
    /// Reads the event at a position, as content for a chat. An edit that a person made in this
    /// chat is [`Outbound::Nothing`].
    ///
    /// # Errors
    /// [`HallError`] if the conversation cannot be read.
    pub async fn read(
        hall: &ResidentHall,
        stream: &StreamId,
        seq: Seq,
        chat: &Chat,
    ) -> Result<Outbound, HallError> {
        let before = Seq(seq.0.saturating_sub(1));
        let page = hall.read(stream, before, Some(1)).await?;
        let Some(recorded) = page.events.into_iter().next().filter(|one| one.seq == seq) else {
            return Ok(Outbound::Nothing);
        };
        if let Event::Redacted { seq, message: true, edited, .. } = recorded.event {
            let erasure = erasure(hall, stream, seq, chat).await?;
            // The members of the chat in which a person edits a message see the edit there.
            let is_seen = edited && matches!(erasure, Outbound::Erasure { message: Some(_), .. });
            return Ok(if is_seen { Outbound::Nothing } else { erasure });
        }
        let chat = chat.clone();
        hall.view(stream, move |state| of_event(&recorded, state, &chat)).await
    }
}

/// Returns the erasure of an event, with the id of its message if it came from this chat.
async fn erasure(
    hall: &ResidentHall,
    stream: &StreamId,
    seq: Seq,
    chat: &Chat,
) -> Result<Outbound, HallError> {
    let page = hall.read(stream, Seq(seq.0.saturating_sub(1)), Some(1)).await?;
    let origin = page.events.into_iter().find_map(|recorded| match recorded.event {
        Event::Posted(Posted { origin, .. }) => origin,
        _ => None,
    });
    let message = origin.filter(|origin| origin.chat == *chat).and_then(|origin| origin.message);
    Ok(Outbound::Erasure { seq, message })
}

/// Returns a participant's name in the conversation, or its id.
fn name_of(state: &Conversation, id: &ParticipantId) -> String {
    state.participant(id).map_or_else(|| id.to_string(), |one| one.name().to_owned())
}

/// Returns an event as content for a chat.
fn of_event(recorded: &RecordedEvent, state: &Conversation, chat: &Chat) -> Outbound {
    let name = |id: &ParticipantId| name_of(state, id);
    match &recorded.event {
        Event::Posted(posted) => words(posted, name(&posted.from)),
        Event::Noticed { text, .. } => Outbound::Line(text.clone()),
        Event::GuardTripped { guard } => Outbound::Line(guard.sentence().into()),
        Event::BudgetSpent { spent, currency, .. } => Outbound::Line(format!(
            "{}. A person can raise it.",
            capital(&spent.sentence(currency))
        )),
        Event::Stopped { by, .. } => Outbound::Line(format!("{} stopped the agents.", name(by))),
        Event::Archived { by } => Outbound::Line(format!(
            "{} archived the conversation. This chat is not connected to it until it is reopened.",
            name(by)
        )),
        Event::Unarchived { by } => {
            Outbound::Line(format!("{} reopened the conversation.", name(by)))
        }
        Event::Controlled { by, changes, .. } => {
            changed(&name(by), changes, recorded.ts, state, chat)
        }
        Event::PermissionRequested {
            permission,
            participant,
            action,
            detail,
            options,
            partial,
            ..
        } => {
            let from = (participant, name(participant));
            let fenced = |detail: &ActionDetail| in_a_fence(detail, options);
            let action = detail.as_ref().map_or_else(|| action.clone(), fenced);
            card(recorded.seq, permission, from, action, options, *partial)
        }
        Event::QuestionAsked { permission, participant, action, options, partial, .. } => {
            let from = (participant, name(participant));
            card(recorded.seq, permission, from, action.clone(), options, *partial)
        }
        // An account never drives terminals, so no button starts a program or links sessions.
        Event::StartRequested { permission, participant, action, .. }
        | Event::TalkRequested { permission, participant, action, .. } => {
            let from = (participant, name(participant));
            card(recorded.seq, permission, from, action.clone(), &[], false)
        }
        Event::PermissionAnswered { permission, by, label, option, .. } => Outbound::CardOver {
            permission: permission.clone(),
            line: format!("{} answered: {}", name(by), label.as_ref().unwrap_or(option)),
        },
        Event::PermissionExpired { permission } => {
            over(permission, "The time for an answer is over.")
        }
        Event::PermissionWithdrawn { permission, .. } => {
            over(permission, "The question was withdrawn.")
        }
        Event::StartSettled { permission, .. } | Event::TalkSettled { permission, .. } => {
            over(permission, "The request is settled.")
        }
        _ => Outbound::Nothing,
    }
}

fn over(permission: &PermissionId, line: &str) -> Outbound {
    Outbound::CardOver { permission: permission.clone(), line: line.to_owned() }
}

/// Returns a message as words for a chat; [`Outbound::Nothing`] if its words were erased.
fn words(posted: &Posted, name: String) -> Outbound {
    if posted.body.is_empty() {
        return Outbound::Nothing;
    }
    Outbound::Words(OutboundWords {
        from: posted.from.clone(),
        name,
        place: place_of(posted),
        is_person: posted.kind == Kind::Human && !posted.unproven && posted.typed_at.is_none(),
        text: posted.body.clone(),
        reply_to: posted.reply_to.as_ref().map(|cause| cause.seq),
    })
}

/// Returns the place in which a person wrote and the remark that the name is not proven; `None` for
/// words that an agent said with its own credential. Words with a place are not said by the agent's
/// own bot.
fn place_of(posted: &Posted) -> Option<String> {
    if let Some(agent) = &posted.typed_at {
        return Some(format!("at the terminal of {agent}"));
    }
    let place = match (&posted.origin, posted.kind) {
        (Some(origin), _) => Some(origin.chat.channel()),
        (None, Kind::Human) => Some("page"),
        (None, Kind::Agent) => None,
    };
    let doubt = posted.unproven.then_some("not proven");
    let words: Vec<&str> = place.into_iter().chain(doubt).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn card(
    seq: Seq,
    permission: &PermissionId,
    (from, name): (&ParticipantId, String),
    action: String,
    options: &[PermissionOption],
    is_partial: bool,
) -> Outbound {
    Outbound::Card(Card {
        permission: permission.clone(),
        seq,
        from: from.clone(),
        name,
        action,
        options: options.to_vec(),
        is_partial,
    })
}

/// Returns the parts of an action, and the options that have a description, as a block of Markdown
/// in which nothing acts.
fn in_a_fence(detail: &ActionDetail, options: &[PermissionOption]) -> String {
    let described = |option: &PermissionOption| {
        option.description.as_ref().map(|words| format!("\n- {}: {words}", option.label))
    };
    let described: String = options.iter().filter_map(described).collect();
    let text = format!("{}{described}", detail.to_text());
    let longest = text.split(|sign| sign != '`').map(str::len).max().unwrap_or_default();
    // The fence is longer than every run of its sign in the text, so that no run closes it early.
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

/// Returns the content for changes of a conversation. If this chat was bound by them, the content
/// is the opening, which names the agents; the other changes of that event are not shown.
fn changed(
    by: &str,
    changes: &[Change],
    at: Timestamp,
    state: &Conversation,
    chat: &Chat,
) -> Outbound {
    let target = chat.to_string();
    let is_bound = changes
        .iter()
        .any(|change| matches!(change, Change::Bound { target: bound } if *bound == target));
    if is_bound {
        let agents = state.agents().map(|agent| agent.id.clone()).collect();
        return Outbound::Opening { agents };
    }
    let lines: Vec<String> =
        changes.iter().filter_map(|change| line_of(by, change, at, state, &target)).collect();
    if lines.is_empty() { Outbound::Nothing } else { Outbound::Line(lines.join("\n")) }
}

/// Returns the line for one change, if the chat's members have to see it.
fn line_of(
    by: &str,
    change: &Change,
    at: Timestamp,
    state: &Conversation,
    target: &str,
) -> Option<String> {
    // A changed profile is an invitation too.
    let is_new = |id| state.participant(id).is_none_or(|one| one.invited_at == at);
    Some(match change {
        Change::Invited { participant, .. } if is_new(participant) => {
            format!("{} joined.", name_of(state, participant))
        }
        Change::Uninvited { participant, .. } => format!("{participant} left."),
        Change::Paused { on: true } => format!("{by} paused the agents."),
        Change::Paused { on: false } => format!("{by} resumed the agents."),
        Change::Unbound { target: unbound } if unbound == target => {
            "This chat is no longer connected to the conversation.".to_owned()
        }
        Change::Bound { target } => {
            let chat = Chat::of_target(target)?;
            format!("{by} connected another chat to the conversation: {}.", chat.key())
        }
        _ => return None,
    })
}

/// Returns a sentence with a capital letter at its beginning.
fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
