//! `permit`: what agents ask permission for, and a person's answer.

use moothall_surfaces::wire::{
    Envelope, NewAnswer, OptionEntry, PermissionAnswered, SessionEntry, ThreadEntry,
    ThreadStateAnswer,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Context;
use super::events::{EventSelection, after};
use crate::cli::Permit;
use crate::client::{Client, segment};
use crate::fault::{Exit, Fault};
use crate::paint::{Style, note};
use crate::threads;

/// A permission that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingPermission {
    /// The id of the conversation in which it is asked.
    pub thread: String,
    /// The id of the permission.
    pub permission: String,
    /// The number of the event that asks.
    pub number: u64,
    /// The turn that waits for it; nothing where the agent goes on meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The id of the participant that asks.
    pub participant: String,
    /// What it wants to do, as far as it is known.
    pub action: String,
    /// Whether that is all of it.
    pub complete: bool,
    /// The answers it offers.
    pub options: Vec<OptionEntry>,
    /// The folder in which it would be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The command with which to look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<String>,
}

impl PendingPermission {
    /// What there is to know before an answer, beside the action: where it would be done, and
    /// whether something is missing.
    pub fn remarks(&self) -> Vec<String> {
        let folder = self.folder.as_ref().map(|folder| format!("in {folder}"));
        let look = self.look.as_ref().map_or(String::new(), |look| format!(": {look}"));
        let partial = (!self.complete)
            .then(|| format!("this is not all of it; look at the whole of it first{look}"));
        folder.into_iter().chain(partial).collect()
    }

    /// The answers, numbered as they can be given.
    pub fn answers(&self) -> impl Iterator<Item = String> {
        let own = |option: &OptionEntry| match (option.takes_text, option.with_others) {
            (true, _) => " (in words of your own)",
            (false, true) => " (one of several)",
            (false, false) => "",
        };
        self.options
            .iter()
            .enumerate()
            .map(move |(at, option)| format!("{}. {}{}", at + 1, option.label, own(option)))
    }

    /// Returns the command that answers it, as it can be typed: what stands behind the `#` says
    /// what else may stand in place of the answer.
    pub fn command(&self) -> String {
        let (thread, number) = (threads::short(&self.thread), self.number);
        let is_permission = self.options.iter().any(|option| option.kind == "allow_once");
        let (answer, others) = if is_permission || self.options.is_empty() {
            ("allow", "or deny, or the number of an answer")
        } else if self.options.iter().any(|option| option.with_others) {
            ("1", "or numbers with commas between them, as in 1,2")
        } else {
            ("1", "or the number of another answer")
        };
        format!("moothall permit {thread} {answer} --number {number}   # {others}")
    }
}

/// What an event says about permissions.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum PermissionEvent {
    /// One is asked for.
    Requested {
        /// The id of the permission.
        permission: String,
        /// The turn that waits for it.
        turn: Option<String>,
        /// The id of the participant that asks.
        participant: String,
        /// What it wants to do, as far as it is known.
        action: String,
        /// Whether that is all of it.
        complete: bool,
        /// The answers it offers.
        options: Vec<OptionEntry>,
        /// The folder in which it would be done.
        folder: Option<String>,
        /// The command with which to look at it.
        look: Option<String>,
    },
    /// A person answered a permission.
    Answered {
        /// The id of the permission.
        permission: String,
        /// The id of the participant that answered.
        by: String,
        /// In which words of the question's.
        label: String,
        /// In which words of their own; empty where they were erased.
        text: Option<String>,
    },
    /// Its time is over.
    Expired {
        /// The id of the permission.
        permission: String,
    },
    /// A request of no turn has an outcome: to start a program, or to talk to a session.
    Settled {
        /// The id of the permission.
        permission: String,
        /// The id of the participant that had asked.
        participant: String,
        /// The outcome.
        #[serde(flatten)]
        outcome: RequestOutcome,
    },
    /// Its asker has stopped waiting for an answer.
    GaveUp {
        /// The id of the permission.
        permission: String,
    },
    /// It is not asked any more.
    Withdrawn {
        /// The id of the permission.
        permission: String,
        /// `gone`, `replaced`, `left` or `not_given`.
        because: String,
    },
}

impl PermissionEvent {
    /// Whether it is about this permission.
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

/// What an event says about permissions, if it is about one.
pub fn news(envelope: &Envelope) -> Option<PermissionEvent> {
    (envelope.kind == "permission")
        .then(|| PermissionEvent::deserialize(&envelope.content).ok())
        .flatten()
}

/// What an event says about permissions, in words for whoever reads on, with what can be done about
/// it.
pub fn told(envelope: &Envelope) -> Option<String> {
    let news = news(envelope)?;
    let mut open = Open::default();
    open.take(&envelope.thread, envelope.seq, &news);
    Some(match &news {
        PermissionEvent::Requested { participant, action, .. } => {
            let lines = open.all().iter().flat_map(|asked| {
                asked.remarks().into_iter().chain(asked.answers()).chain([asked.command()])
            });
            let below: String = lines.map(|line| format!("\n{line}")).collect();
            format!("{participant} asks for permission: {action}{below}")
        }
        PermissionEvent::Answered { by, label, text, .. } => {
            format!("{by} answered: {}", said(label, text.as_deref()))
        }
        PermissionEvent::Expired { .. } => {
            "nobody answered in time: it is not asked any more".to_owned()
        }
        PermissionEvent::GaveUp { .. } => {
            "nobody answered in time: the agent gave up, and may ask again".to_owned()
        }
        PermissionEvent::Settled { participant, outcome, .. } => outcome.line(participant),
        PermissionEvent::Withdrawn { because, .. } if because == "not_given" => {
            "something else was asked before the answer got there".to_owned()
        }
        PermissionEvent::Withdrawn { because, .. } if because == "left" => {
            "it is not asked any more: its asker has left".to_owned()
        }
        PermissionEvent::Withdrawn { .. } => {
            "it is not asked any more: it was answered at the terminal, or given up".to_owned()
        }
    })
}

/// The outcome of a request of no turn.
#[derive(Debug, Deserialize)]
pub struct RequestOutcome {
    /// `started`, `linked`, `failed`, `refused` or `expired`.
    pub outcome: String,
    /// The name of the session that runs.
    name: Option<String>,
    /// The session with which it was to be linked.
    talk: Option<TalkTarget>,
    /// Why it could not be done.
    why: Option<String>,
}

/// The session to which another asked to talk.
#[derive(Debug, Deserialize)]
struct TalkTarget {
    /// The name, as the agent wrote it.
    to: String,
}

impl RequestOutcome {
    /// Returns a line for a person who reads along.
    pub fn line(&self, asker: &str) -> String {
        let wish = match &self.talk {
            Some(talk) => format!("{asker}'s wish to talk to {}", talk.to),
            None => format!("what {asker} asked for"),
        };
        match (self.outcome.as_str(), &self.name, &self.why) {
            ("started", Some(name), _) => format!("{wish} runs as {name}"),
            ("linked", ..) => format!("{wish}: they are linked"),
            (_, _, Some(why)) => format!("{wish} could not be carried out: {why}"),
            (other, ..) => format!("{wish} is not carried out: {other}"),
        }
    }
}

/// The events about permissions that may still be open.
///
/// # Errors
/// No server, or its refusal.
pub async fn heard(client: &Client, state: &ThreadStateAnswer) -> Result<Vec<Envelope>, Fault> {
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

/// Those of them that are open.
#[derive(Clone, Debug, Default)]
pub struct Open(Vec<PendingPermission>);

impl Open {
    /// Takes what an event says.
    pub fn take(&mut self, thread: &str, number: u64, news: &PermissionEvent) {
        match news {
            PermissionEvent::Requested {
                permission,
                turn,
                participant,
                action,
                complete,
                options,
                folder,
                look,
            } => self.0.push(PendingPermission {
                thread: thread.to_owned(),
                permission: permission.clone(),
                number,
                turn: turn.clone(),
                participant: participant.clone(),
                action: action.clone(),
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

    /// All that wait, the one that was asked first before the others.
    pub fn all(&self) -> &[PendingPermission] {
        &self.0
    }

    /// What a turn that is over had asked for is of no interest any more.
    pub fn forget(&mut self, participant: &str) {
        self.0.retain(|asked| asked.participant != participant || asked.turn.is_none());
    }

    /// Returns the one of this number, or the only one; otherwise what to say about it.
    pub fn one(&self, number: Option<u64>) -> Result<&PendingPermission, String> {
        let meant: Vec<&PendingPermission> =
            self.0.iter().filter(|asked| number.is_none_or(|one| asked.number == one)).collect();
        let listed = |all: &[&PendingPermission]| {
            let line = |asked: &&PendingPermission| {
                let (who, what) = (&asked.participant, first_line(&asked.action));
                format!("\n  {}  {who}: {what}\n  {}", asked.number, asked.command())
            };
            all.iter().map(line).collect::<String>()
        };
        match (number, meant.as_slice()) {
            (_, [one]) => Ok(one),
            (None, []) => Err("nobody asks for permission here".into()),
            (None, several) => Err(format!(
                "several permissions are asked for; say which with --number:{}",
                listed(several)
            )),
            (Some(number), []) => {
                let all: Vec<&PendingPermission> = self.0.iter().collect();
                let there = if all.is_empty() { "none is" } else { "there are:" };
                Err(format!("no permission {number} is asked for; {there}{}", listed(&all)))
            }
            (Some(number), several) => Err(format!(
                "several are asked under the number {number}; answer it in its conversation:{}",
                listed(several)
            )),
        }
    }
}

/// The beginning of an action, for a list in which it is told from others.
fn first_line(action: &str) -> String {
    const CHARS_MAX: usize = 80;
    let first: String = action.lines().next().unwrap_or_default().chars().take(CHARS_MAX).collect();
    if first.len() < action.len() { format!("{first}…") } else { first }
}

pub async fn run(context: &Context, args: &Permit) -> Result<(), Fault> {
    let Some(word) = &args.thread else { return everywhere(context).await };
    let open = of_word(context, word).await?;
    if args.option.is_none() && args.text.is_none() {
        return list(context, &open);
    }
    let forward = "see what is asked: moothall permit and the conversation alone";
    let asked =
        open.one(args.number).map_err(|what| Fault::new(Exit::Failure, what).try_this(forward))?;
    let by = args.speaker.as_deref().unwrap_or(context.client.name());
    let answer =
        CardAnswer { option: args.option.clone().unwrap_or_default(), text: args.text.clone() };
    let answered =
        self::answer(&context.client, &asked.thread, by, &asked.permission, &answer, None).await?;
    if context.printer.json {
        return context.printer.object(&answered);
    }
    let told = answered.event.as_ref().and_then(news);
    let label = match &told {
        Some(PermissionEvent::Answered { label, text, .. }) => said(label, text.as_deref()),
        _ => &answer.option,
    };
    note(&format!("{} was told: {label}.", asked.participant));
    Ok(())
}

/// Shows what is asked for in every conversation.
async fn everywhere(context: &Context) -> Result<(), Fault> {
    let mut found = Vec::new();
    let waiting = waiting(context).await?;
    for thread in &waiting {
        let state = threads::state(&context.client, &thread.id).await?;
        found.push((thread, open(&context.client, &state).await?));
    }
    found.retain(|(_, open)| !open.all().is_empty());
    if context.printer.json {
        let one = |(thread, open): &(&ThreadEntry, Open)| json!({"thread": thread.id, "name": thread.name, "permissions": open.all()});
        return context
            .printer
            .object(&json!({"threads": found.iter().map(one).collect::<Vec<_>>()}));
    }
    for (thread, open) in &found {
        context.printer.line(&context.printer.paint(Style::Bold, &thread.name))?;
        list(context, open)?;
        for asked in open.all() {
            note(&asked.command());
        }
    }
    if found.is_empty() {
        note("No agent asks for permission.");
    }
    Ok(())
}

/// Returns the conversations in which a person may have to answer.
async fn waiting(context: &Context) -> Result<Vec<ThreadEntry>, Fault> {
    let mut all = threads::all(&context.client).await?;
    all.retain(|thread| !thread.archived && thread.waits_for_people != Some(0));
    Ok(all)
}

/// Returns what is asked in the conversation of this name; for a session also what it asks in
/// others, because a link or a gathering shows the card of its members.
async fn of_word(context: &Context, word: &str) -> Result<Open, Fault> {
    let home = threads::resolve(&context.client, word).await?;
    let mut found = open(&context.client, &threads::state(&context.client, &home).await?).await?;
    let session = format!("/sessions/{}", segment(&home));
    let Ok(session) = context.client.get::<SessionEntry>(&session).await else { return Ok(found) };
    for thread in waiting(context).await?.iter().filter(|thread| thread.id != home) {
        let state = threads::state(&context.client, &thread.id).await?;
        let own = |asked: &PendingPermission| {
            let entry = state.state.participants.invited.iter();
            let mut entry = entry.filter(|entry| entry.id == asked.participant);
            entry.any(|entry| entry.profile.session.as_deref() == Some(session.id.as_str()))
        };
        found.0.extend(open(&context.client, &state).await?.0.into_iter().filter(own));
    }
    Ok(found)
}

/// What is asked for and not answered.
async fn open(client: &Client, state: &ThreadStateAnswer) -> Result<Open, Fault> {
    let mut open = Open::default();
    for envelope in &heard(client, state).await? {
        if let Some(news) = news(envelope) {
            open.take(&envelope.thread, envelope.seq, &news);
        }
    }
    Ok(open)
}

/// Shows what keeps a turn waiting for a person, as a fault: the caller would wait as long.
/// `is_waited_for` tells of a permission if the caller waits for the agent that asks.
///
/// # Errors
/// Something is asked for; no server, or its refusal.
pub async fn still_asked(
    context: &Context,
    state: &ThreadStateAnswer,
    is_waited_for: impl Fn(&PendingPermission) -> bool,
) -> Result<(), Fault> {
    let mut open = open(&context.client, state).await?;
    // Whoever asks to have a program started goes on meanwhile.
    let is_question = |asked: &PendingPermission| {
        asked.turn.is_some()
            || state.state.questions.iter().any(|one| one.permission == asked.permission)
    };
    open.0.retain(|asked| is_question(asked) && is_waited_for(asked));
    let Some(first) = open.all().first() else { return Ok(()) };
    list(context, &open)?;
    Err(Fault::new(Exit::Asked, format!("{} waits for an answer", first.participant)).try_this(
        format!(
            "{}; then read on: moothall tail {}",
            first.command(),
            threads::short(&state.thread)
        ),
    ))
}

/// What a person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardAnswer {
    /// Which option; none where there are words of their own.
    pub option: String,
    /// Words of their own.
    pub text: Option<String>,
}

/// The words that an answer was given in.
pub fn said<'a>(label: &'a str, text: Option<&'a str>) -> &'a str {
    match text {
        Some("") => "words that were erased",
        Some(text) => text,
        None => label,
    }
}

/// Tells the server a person's answer; under a key of the caller's where it has one.
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

fn list(context: &Context, open: &Open) -> Result<(), Fault> {
    if context.printer.json {
        return context.printer.object(&json!({ "permissions": open.all() }));
    }
    if open.all().is_empty() {
        note("Nobody asks for permission here.");
    }
    for asked in open.all() {
        let who = context.printer.paint(Style::Bold, &asked.participant);
        let place = context.printer.paint(Style::Dim, &format!("{:>4}", asked.number));
        let action = asked.action.replace('\n', "\n      ");
        context
            .printer
            .line(&format!("{place}  {who}  {}", context.printer.paint(Style::Warn, &action)))?;
        for remark in asked.remarks() {
            context
                .printer
                .line(&format!("      {}", context.printer.paint(Style::Bold, &remark)))?;
        }
        for answer in asked.answers() {
            context
                .printer
                .line(&format!("      {}", context.printer.paint(Style::Dim, &answer)))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(permission: &str) -> PermissionEvent {
        PermissionEvent::Requested {
            permission: permission.into(),
            turn: Some("t.1".into()),
            participant: "claude-1".into(),
            action: "rm -r build".into(),
            complete: true,
            options: Vec::new(),
            folder: None,
            look: None,
        }
    }

    #[test]
    fn the_command_that_is_printed_can_be_typed() {
        let mut open = Open::default();
        open.take("01a21247-1882-7688-9084-190c02344864", 7, &requested("p1"));
        let typed = open.all()[0].command();
        let (typed, _) = typed.split_once('#').unwrap();
        <crate::cli::Cli as clap::Parser>::try_parse_from(typed.split_whitespace()).unwrap();
    }

    #[test]
    fn a_permission_is_meant_by_its_number_or_alone() {
        let mut open = Open::default();
        assert!(open.one(None).is_err_and(|what| what.contains("nobody")));
        open.take("t", 7, &requested("p1"));
        assert_eq!(open.one(None).map(|asked| asked.permission.as_str()), Ok("p1"));
        open.take("t", 9, &requested("p2"));
        assert!(open.one(None).is_err_and(|what| {
            what.contains("\n  7  claude-1: rm -r build\n  moothall permit t allow --number 7")
                && what.contains("\n  9  claude-1: rm -r build\n  moothall permit t allow")
        }));
        assert_eq!(open.one(Some(9)).map(|asked| asked.permission.as_str()), Ok("p2"));
        assert!(open.one(Some(8)).is_err());
        open.take(
            "t",
            10,
            &PermissionEvent::Answered {
                permission: "p1".into(),
                by: "user".into(),
                label: "deny".into(),
                text: None,
            },
        );
        open.take(
            "t",
            11,
            &PermissionEvent::Withdrawn { permission: "p2".into(), because: "gone".into() },
        );
        assert!(open.all().is_empty());
    }
}
