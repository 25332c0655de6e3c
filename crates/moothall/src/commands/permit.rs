//! `permit`: shows the permission requests of agents, and sends a person's answer.

mod list;

pub use self::list::request_of;

use moothall_kernel::permission::ActionDetail;
use moothall_surfaces::wire::{
    Envelope, NewAnswer, OptionEntry, PermissionAnswered, ThreadStateAnswer,
};
use serde::{Deserialize, Serialize};

use super::Context;
use super::events::{EventSelection, after};
use crate::cli::Permit;
use crate::client::{Client, segment};
use crate::fault::{Exit, Fault};
use crate::hints::repeated;
use crate::paint::note;
use crate::threads;

/// An open permission request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingPermission {
    /// Id of its conversation.
    pub thread: String,
    /// Id of the permission.
    pub permission: String,
    /// Number of the requesting event.
    pub number: u64,
    /// Time of the requesting event.
    pub since: String,
    /// The turn that waits for the answer; `None` for a request outside a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// Id of the requesting participant.
    pub participant: String,
    /// The requested action, as far as known.
    pub action: String,
    /// Parts of the action, if its program reports them one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<ActionDetail>,
    /// True if `action` is complete.
    pub complete: bool,
    /// Possible answers.
    pub options: Vec<OptionEntry>,
    /// Folder of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Command for looking at the whole request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<String>,
}

impl PendingPermission {
    /// Returns the action for a person: its parts as lines if they are known, otherwise the action
    /// word for word.
    pub fn shown(&self) -> String {
        self.detail.as_ref().map_or_else(|| self.action.clone(), ActionDetail::to_text)
    }

    /// Returns further facts for the decision: the folder of the action, and a warning if only a
    /// part of the action is known.
    pub fn remarks(&self) -> Vec<String> {
        let folder = self.folder.as_ref().map(|folder| format!("in {folder}"));
        let look = self.look.as_ref().map_or(String::new(), |look| format!(": {look}"));
        let partial = (!self.complete)
            .then(|| format!("this is only a part; read the whole request first{look}"));
        folder.into_iter().chain(partial).collect()
    }

    /// Returns the possible answers, with their numbers.
    pub fn answers(&self) -> impl Iterator<Item = String> {
        let own = |option: &OptionEntry| match (option.takes_text, option.with_others) {
            (true, _) => " (with your own text)",
            (false, true) => " (more than one possible)",
            (false, false) => "",
        };
        self.options.iter().enumerate().map(move |(at, option)| {
            let about = option.description.iter().map(|words| format!(": {words}"));
            let about: String = about.collect();
            format!("{}. {}{about}{}", at + 1, option.label, own(option))
        })
    }

    /// Returns the command that answers the request. The comment after `#` names alternatives.
    pub fn command(&self) -> String {
        let (thread, number) = (threads::short(&self.thread), self.number);
        let is_permission = self.options.iter().any(|option| option.kind == "allow_once");
        let (answer, others) = if is_permission || self.options.is_empty() {
            ("allow", "or deny, or the number of an answer")
        } else if self.options.iter().any(|option| option.with_others) {
            ("1", "or several numbers, such as 1,2")
        } else {
            ("1", "or the number of another answer")
        };
        let command = format!("moothall permit {thread} {answer} --number {number}   # {others}");
        repeated(&command).into_owned()
    }
}

/// A permission event.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum PermissionEvent {
    /// An agent asks for permission.
    Requested {
        /// Id of the permission.
        permission: String,
        /// The waiting turn.
        turn: Option<String>,
        /// Id of the requesting participant.
        participant: String,
        /// The requested action, as far as known.
        action: String,
        /// Parts of the action, if its program reports them one by one.
        #[serde(default)]
        detail: Option<ActionDetail>,
        /// True if `action` is complete.
        complete: bool,
        /// Possible answers.
        options: Vec<OptionEntry>,
        /// Folder of the action.
        folder: Option<String>,
        /// Command for looking at the whole request.
        look: Option<String>,
    },
    /// A person answered.
    Answered {
        /// Id of the permission.
        permission: String,
        /// Id of the answering participant.
        by: String,
        /// Text of the chosen option.
        label: String,
        /// The person's own words; empty after erasure.
        text: Option<String>,
    },
    /// The request timed out.
    Expired {
        /// Id of the permission.
        permission: String,
    },
    /// Outcome of a request without a turn: to start a program, or to talk to a session.
    Settled {
        /// Id of the permission.
        permission: String,
        /// Id of the requesting participant.
        participant: String,
        /// The outcome.
        #[serde(flatten)]
        outcome: RequestOutcome,
    },
    /// The requesting agent stopped waiting.
    GaveUp {
        /// Id of the permission.
        permission: String,
    },
    /// The request was withdrawn.
    Withdrawn {
        /// Id of the permission.
        permission: String,
        /// `gone`, `replaced`, `left` or `not_given`.
        because: String,
    },
}

impl PermissionEvent {
    /// True if the event is about this request.
    pub fn is_about(&self, asked: &PendingPermission) -> bool {
        match self {
            PermissionEvent::Requested { permission, .. }
            | PermissionEvent::Answered { permission, .. }
            | PermissionEvent::Expired { permission }
            | PermissionEvent::GaveUp { permission }
            | PermissionEvent::Settled { permission, .. }
            | PermissionEvent::Withdrawn { permission, .. } => *permission == asked.permission,
        }
    }
}

/// Reads a permission event; `None` for other events.
pub fn news(envelope: &Envelope) -> Option<PermissionEvent> {
    (envelope.kind == "permission")
        .then(|| PermissionEvent::deserialize(&envelope.content).ok())
        .flatten()
}

/// Describes a permission event for a person who follows the conversation; a request with the
/// command that answers it. `None` for other events.
pub fn describe(envelope: &Envelope) -> Option<String> {
    let news = news(envelope)?;
    let mut open = Open::default();
    open.take(&envelope.thread, envelope.seq, &envelope.ts, &news);
    Some(match &news {
        PermissionEvent::Requested { participant, .. } => {
            let action: String = open.all().iter().map(PendingPermission::shown).collect();
            let lines = open.all().iter().flat_map(|asked| {
                asked.remarks().into_iter().chain(asked.answers()).chain([asked.command()])
            });
            let below: String = lines.map(|line| format!("\n{line}")).collect();
            format!("{participant} asks for permission: {action}{below}")
        }
        PermissionEvent::Answered { by, label, text, .. } => {
            format!("{by} answered: {}", answer_text(label, text.as_deref()))
        }
        PermissionEvent::Expired { .. } => "not answered in time: the request expired".to_owned(),
        PermissionEvent::GaveUp { .. } => {
            "not answered in time: the agent gave up, and may ask again".to_owned()
        }
        PermissionEvent::Settled { participant, outcome, .. } => outcome.line(participant),
        PermissionEvent::Withdrawn { because, .. } if because == "not_given" => {
            "a new request replaced this one before the answer arrived".to_owned()
        }
        PermissionEvent::Withdrawn { because, .. } if because == "left" => {
            "the request was withdrawn: its agent has left".to_owned()
        }
        PermissionEvent::Withdrawn { .. } => {
            "the request was withdrawn: it was answered at the terminal, or given up".to_owned()
        }
    })
}

/// Outcome of a request without a turn.
#[derive(Debug, Deserialize)]
pub struct RequestOutcome {
    /// `started`, `linked`, `failed`, `refused` or `expired`.
    pub outcome: String,
    /// Name of the started session.
    name: Option<String>,
    /// The session to be linked.
    talk: Option<TalkTarget>,
    /// Reason of a failure.
    why: Option<String>,
}

/// The session that an agent asked to talk to.
#[derive(Debug, Deserialize)]
struct TalkTarget {
    /// Name of the session, as the agent wrote it.
    to: String,
}

impl RequestOutcome {
    /// Describes the outcome on one line.
    pub fn line(&self, asker: &str) -> String {
        let wish = match &self.talk {
            Some(talk) => format!("the request of {asker} to talk to {}", talk.to),
            None => format!("the request of {asker}"),
        };
        match (self.outcome.as_str(), &self.name, &self.why) {
            ("started", Some(name), _) => format!("{wish}: started as {name}"),
            ("linked", ..) => format!("{wish}: linked"),
            (_, _, Some(why)) => format!("{wish} failed: {why}"),
            (other, ..) => format!("{wish}: {other}"),
        }
    }
}

/// Reads the permission events that may belong to open requests, up to the head of the state.
///
/// # Errors
/// No server, or its refusal.
pub async fn permission_events(
    client: &Client,
    state: &ThreadStateAnswer,
) -> Result<Vec<Envelope>, Fault> {
    let turns = state.state.turns.iter().map(|turn| turn.cause.seq);
    let in_no_turn = state.state.starts.iter().chain(&state.state.questions).map(|asked| asked.seq);
    let Some(oldest) = turns.chain(in_no_turn).min() else { return Ok(Vec::new()) };
    let mut page =
        after(client, &state.thread, oldest.saturating_sub(1), EventSelection::Trace, |envelope| {
            envelope.kind == "permission"
        })
        .await?;
    page.events.retain(|envelope| envelope.seq <= state.head);
    Ok(page.events)
}

/// The open requests of one or more conversations.
#[derive(Clone, Debug, Default)]
pub struct Open(Vec<PendingPermission>);

impl Open {
    /// Applies an event.
    pub fn take(&mut self, thread: &str, number: u64, since: &str, news: &PermissionEvent) {
        match news {
            PermissionEvent::Requested {
                permission,
                turn,
                participant,
                action,
                detail,
                complete,
                options,
                folder,
                look,
            } => self.0.push(PendingPermission {
                thread: thread.to_owned(),
                permission: permission.clone(),
                number,
                since: since.to_owned(),
                turn: turn.clone(),
                participant: participant.clone(),
                action: action.clone(),
                detail: detail.clone(),
                complete: *complete,
                options: options.clone(),
                folder: folder.clone(),
                look: look.clone(),
            }),
            PermissionEvent::Answered { permission, .. }
            | PermissionEvent::Expired { permission }
            | PermissionEvent::GaveUp { permission }
            | PermissionEvent::Settled { permission, .. }
            | PermissionEvent::Withdrawn { permission, .. } => {
                self.0.retain(|asked| asked.permission != *permission);
            }
        }
    }

    /// Returns all open requests, the oldest first.
    pub fn all(&self) -> &[PendingPermission] {
        &self.0
    }

    /// Drops the requests of a participant whose turn has ended. Requests outside a turn stay.
    pub fn forget(&mut self, participant: &str) {
        self.0.retain(|asked| asked.participant != participant || asked.turn.is_none());
    }

    /// Returns the request with this number. Without a number, returns the only open request. If no
    /// request or several requests match, the error explains this and lists the candidates.
    pub fn one(&self, number: Option<u64>) -> Result<&PendingPermission, String> {
        let meant: Vec<&PendingPermission> =
            self.0.iter().filter(|asked| number.is_none_or(|one| asked.number == one)).collect();
        let listed = |all: &[&PendingPermission]| {
            let line = |asked: &&PendingPermission| {
                let (who, what) = (&asked.participant, first_line(&asked.shown()));
                format!("\n  {}  {who}: {what}\n  {}", asked.number, asked.command())
            };
            all.iter().map(line).collect::<String>()
        };
        match (number, meant.as_slice()) {
            (_, [one]) => Ok(one),
            (None, []) => Err("no open permission requests here".into()),
            (None, several) => Err(format!(
                "several permission requests are open; choose one with --number:{}",
                listed(several)
            )),
            (Some(number), []) => {
                let all: Vec<&PendingPermission> = self.0.iter().collect();
                let there = if all.is_empty() { "none are open" } else { "open requests:" };
                Err(format!("permission request {number} is not open; {there}{}", listed(&all)))
            }
            (Some(number), several) => Err(format!(
                "several open requests have the number {number}; name the conversation:{}",
                listed(several)
            )),
        }
    }
}

/// Returns the beginning of an action, for a list.
fn first_line(action: &str) -> String {
    const CHARS_MAX: usize = 80;
    let first: String = action.lines().next().unwrap_or_default().chars().take(CHARS_MAX).collect();
    if first.len() < action.len() { format!("{first}…") } else { first }
}

/// Sends an answer if an option or a text is given; otherwise prints the open requests of a
/// conversation, of an agent, or all that wait for the reader.
pub async fn run(context: &Context, args: &Permit) -> Result<(), Fault> {
    let by = args.speaker.as_deref().unwrap_or(context.client.name());
    let Some(word) = &args.thread else { return list::everywhere(context, by).await };
    let open = list::of_word(context, word, args.number).await?;
    if args.option.is_none() && args.text.is_none() {
        return list::print(context, &open);
    }
    let forward = "list the open requests: moothall permit";
    let asked =
        open.one(args.number).map_err(|what| Fault::new(Exit::Failure, what).try_this(forward))?;
    let answer =
        CardAnswer { option: args.option.clone().unwrap_or_default(), text: args.text.clone() };
    settle(context, by, asked, &answer).await
}

/// Sends an answer, and prints it.
async fn settle(
    context: &Context,
    by: &str,
    asked: &PendingPermission,
    answer: &CardAnswer,
) -> Result<(), Fault> {
    let answered =
        self::answer(&context.client, &asked.thread, by, &asked.permission, answer, None).await?;
    if context.printer.json {
        return context.printer.object(&answered);
    }
    let event = answered.event.as_ref().and_then(news);
    let label = match &event {
        Some(PermissionEvent::Answered { label, text, .. }) => answer_text(label, text.as_deref()),
        _ => &answer.option,
    };
    note(&format!("Answered {}: {label}.", asked.participant));
    Ok(())
}

/// Reads the open requests of a conversation.
async fn open(client: &Client, state: &ThreadStateAnswer) -> Result<Open, Fault> {
    let mut open = Open::default();
    for envelope in &permission_events(client, state).await? {
        if let Some(news) = news(envelope) {
            open.take(&envelope.thread, envelope.seq, &envelope.ts, &news);
        }
    }
    Ok(open)
}

/// Prints the requests that block an awaited answer, and returns a fault about the first one,
/// because waiting longer would not help. `is_waited_for` tells if the caller waits for the agent
/// of a request.
///
/// # Errors
/// A request is open; no server, or its refusal.
pub async fn still_asked(
    context: &Context,
    state: &ThreadStateAnswer,
    is_waited_for: impl Fn(&PendingPermission) -> bool,
) -> Result<(), Fault> {
    let mut open = open(&context.client, state).await?;
    // An agent that asks to start a program does not wait for the answer.
    let is_question = |asked: &PendingPermission| {
        asked.turn.is_some()
            || state.state.questions.iter().any(|one| one.permission == asked.permission)
    };
    open.0.retain(|asked| is_question(asked) && is_waited_for(asked));
    let Some(first) = open.all().first() else { return Ok(()) };
    list::print(context, &open)?;
    Err(Fault::new(Exit::Asked, format!("{} waits for an answer", first.participant)).try_this(
        format!(
            "{}; then follow: moothall tail {}",
            first.command(),
            threads::short(&state.thread)
        ),
    ))
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardAnswer {
    /// The chosen option; empty for an answer in own words.
    pub option: String,
    /// The person's own words.
    pub text: Option<String>,
}

/// Returns an answer in words: the person's own text, or the label of the chosen option.
pub fn answer_text<'a>(label: &'a str, text: Option<&'a str>) -> &'a str {
    match text {
        Some("") => "(erased)",
        Some(text) => text,
        None => label,
    }
}

/// Sends a person's answer, under the caller's idempotency key if there is one.
///
/// # Errors
/// No server, or its refusal.
pub async fn answer(
    client: &Client,
    thread: &str,
    by: &str,
    permission: &str,
    answer: &CardAnswer,
    key: Option<&str>,
) -> Result<PermissionAnswered, Fault> {
    let CardAnswer { option, text } = answer.clone();
    let body = NewAnswer { thread: thread.to_owned(), option, text, from: Some(by.to_owned()) };
    let path = format!("/permissions/{}/answer", segment(permission));
    match key {
        Some(key) => client.post_keyed(&path, &body, key).await,
        None => client.post(&path, &body).await,
    }
}

#[cfg(test)]
mod tests;
