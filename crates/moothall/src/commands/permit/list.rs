//! Lists of open requests: all that wait for the caller's answer, those of a conversation, and
//! those of an agent.

use std::io::{self, IsTerminal};

use jiff::Timestamp;
use moothall_surfaces::wire::{NeedEntry, NeedsAnswer, SessionEntry};
use serde_json::{Value, json};

use super::{CardAnswer, Open, PendingPermission, news, open, settle};
use crate::client::segment;
use crate::clock::age;
use crate::commands::{Context, confirmation};
use crate::fault::Fault;
use crate::paint::{Style, note};
use crate::threads;

/// A request that waits for the caller's answer.
struct WaitingRequest {
    /// Title of its conversation.
    title: String,
    /// Name of the requesting participant, if it has one.
    name: Option<String>,
    asked: PendingPermission,
}

impl WaitingRequest {
    /// Returns the request of a need; `None` for a need of another kind.
    fn of(need: NeedEntry) -> Option<Self> {
        let asked = request_of(&need)?;
        Some(Self { title: need.title, name: need.name, asked })
    }

    /// True if the word is the id or the name of the requesting participant.
    fn is_of(&self, word: &str) -> bool {
        self.asked.participant == word || self.name.as_deref() == Some(word)
    }
}

/// Returns the request of a need; `None` for a need of another kind.
pub fn request_of(need: &NeedEntry) -> Option<PendingPermission> {
    let event = need.event.as_ref().filter(|_| matches!(&*need.kind, "permission" | "question"))?;
    let mut open = Open::default();
    open.take(&event.thread, event.seq, &event.ts, &news(event)?);
    open.0.pop()
}

/// Returns all requests that wait for the reader, the oldest first.
async fn waiting(context: &Context) -> Result<Vec<WaitingRequest>, Fault> {
    let answer: NeedsAnswer = context.client.get("/needs").await?;
    Ok(answer.needs.into_iter().filter_map(WaitingRequest::of).collect())
}

/// Groups requests by conversation. The conversation with the oldest request is the first.
fn by_conversation(waiting: Vec<WaitingRequest>) -> Vec<(String, Open)> {
    let mut rooms: Vec<(String, Open)> = Vec::new();
    for WaitingRequest { title, asked, .. } in waiting {
        let is_same = |open: &Open| open.0.iter().any(|other| other.thread == asked.thread);
        match rooms.iter_mut().find(|(_, open)| is_same(open)) {
            Some((_, open)) => open.0.push(asked),
            None => rooms.push((title, Open(vec![asked]))),
        }
    }
    rooms
}

/// Prints all requests that wait for the caller's answer, by conversation. If there is only one,
/// asks the person at the terminal for the answer.
pub async fn everywhere(context: &Context, by: &str) -> Result<(), Fault> {
    let rooms = by_conversation(waiting(context).await?);
    if context.printer.json {
        let threads: Vec<_> = rooms.iter().map(|(title, open)| room(title, open)).collect();
        return context.printer.object(&json!({ "threads": threads }));
    }
    for (title, open) in &rooms {
        context.printer.line(&context.printer.paint(Style::Bold, title))?;
        print(context, open)?;
    }
    match rooms.as_slice() {
        [] => note("No permission request waits for your answer."),
        [(_, Open(asked))] if asked.len() == 1 => return offer(context, by, &asked[0]).await,
        _ => {}
    }
    Ok(())
}

/// Returns the open requests of a conversation as JSON.
fn room(title: &str, open: &Open) -> Value {
    let thread = open.0.first().map(|asked| &asked.thread);
    json!({"thread": thread, "name": title, "permissions": described(open)})
}

/// Returns requests as JSON, each with the command that answers it.
fn described(open: &Open) -> Vec<Value> {
    let one = |asked: &PendingPermission| {
        let mut value = json!(asked);
        value["command"] = json!(asked.command());
        value
    };
    open.0.iter().map(one).collect()
}

/// Asks the person at the terminal for the answer to a request, and sends it. An empty line leaves
/// the request open. Does nothing without a terminal.
async fn offer(context: &Context, by: &str, asked: &PendingPermission) -> Result<(), Fault> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(());
    }
    let option = confirmation::line("Answer (Enter leaves it open): ")?;
    if option.is_empty() {
        return Ok(());
    }
    settle(context, by, asked, &CardAnswer { option, text: None }).await
}

/// Returns the open requests of the named conversation. Adds the requests in other conversations
/// that come from the session whose home the named conversation is, or from the agent with this
/// name. If a request of the named conversation has the number, returns only that conversation's
/// requests.
///
/// # Errors
/// Neither a conversation nor an agent with a waiting request has the name, or the server is
/// unreachable or refuses.
pub async fn of_word(context: &Context, word: &str, number: Option<u64>) -> Result<Open, Fault> {
    let home = match threads::resolve(&context.client, word).await {
        Ok(home) => home,
        Err(fault) => return of_agent(context, word).await?.ok_or(fault),
    };
    let mut found = open(&context.client, &threads::state(&context.client, &home).await?).await?;
    if number.is_some_and(|number| found.0.iter().any(|asked| asked.number == number)) {
        return Ok(found);
    }
    let session = format!("/sessions/{}", segment(&home));
    let session = context.client.get::<SessionEntry>(&session).await.ok();
    let elsewhere = waiting(context).await?.into_iter().filter(|one| one.asked.thread != home);
    for request in elsewhere {
        let is_own = match &session {
            Some(session) => is_of_session(context, &request.asked, &session.id).await?,
            None => false,
        };
        if is_own || request.is_of(word) {
            found.0.push(request.asked);
        }
    }
    Ok(found)
}

/// Returns the waiting requests of an agent by its id or name; `None` without any.
async fn of_agent(context: &Context, word: &str) -> Result<Option<Open>, Fault> {
    let all = waiting(context).await?.into_iter();
    let own: Vec<_> = all.filter(|one| one.is_of(word)).map(|one| one.asked).collect();
    Ok((!own.is_empty()).then_some(Open(own)))
}

/// True if the participant who made the request is this session.
async fn is_of_session(
    context: &Context,
    asked: &PendingPermission,
    session: &str,
) -> Result<bool, Fault> {
    let state = threads::state(&context.client, &asked.thread).await?;
    let mut invited = state.state.participants.invited.iter();
    Ok(invited.any(|entry| {
        entry.id == asked.participant && entry.profile.session.as_deref() == Some(session)
    }))
}

/// Prints open requests, each with its age, its remarks, its possible answers and the command that
/// answers it.
pub fn print(context: &Context, open: &Open) -> Result<(), Fault> {
    if context.printer.json {
        return context.printer.object(&json!({ "permissions": described(open) }));
    }
    if open.0.is_empty() {
        note("No open permission requests here.");
    }
    open.0.iter().try_for_each(|asked| print_one(context, asked))
}

/// Prints a request: its number, participant, age and action, and below them its remarks, its
/// answers and the command.
fn print_one(context: &Context, asked: &PendingPermission) -> Result<(), Fault> {
    let printer = &context.printer;
    let who = printer.paint(Style::Bold, &asked.participant);
    let age =
        age(&asked.since, Timestamp::now()).map_or_else(String::new, |age| format!("  {age}"));
    let (place, age) = (
        printer.paint(Style::Dim, &format!("{:>4}", asked.number)),
        printer.paint(Style::Dim, &age),
    );
    let action = printer.paint(Style::Warn, &asked.shown().replace('\n', "\n      "));
    printer.line(&format!("{place}  {who}{age}  {action}"))?;
    for remark in asked.remarks() {
        printer.line(&format!("      {}", printer.paint(Style::Bold, &remark)))?;
    }
    for line in asked.answers().chain([asked.command()]) {
        printer.line(&format!("      {}", printer.paint(Style::Dim, &line)))?;
    }
    Ok(())
}
