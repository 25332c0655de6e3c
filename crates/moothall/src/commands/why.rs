//! `why`: explains which agents were asked, why, with what result, and why others were not.

use moothall_kernel::ending::Ending;
use moothall_surfaces::wire::{
    Envelope, SessionEntry, ThreadStateAnswer, TurnEntry, TurnList, UnaskedMessage, UsageAnswer,
    UsageRow,
};
use serde::Serialize;

use super::Context;
use super::events::{self, EventSelection};
use super::outcome::covers;
use super::show::{clock, spent_in, words_of};
use super::spending::summed;
use crate::cli::Why;
use crate::client::{Client, segment};
use crate::fault::{Exit, Fault};
use crate::hints::repeated;
use crate::paint::{Printer, Style, note};
use crate::threads::{self, Faces};

/// Reason of a turn in a link or in the home of a session. Both forward every message.
const LINK: &str = "link";

/// A message and its turns.
#[derive(Debug, Serialize)]
struct Story {
    message: Envelope,
    turns: Vec<TurnEntry>,
    /// If the message has no turns: turns about newer messages that cover it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    covered_by: Vec<TurnEntry>,
    /// Reason why no agent was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    unasked: Option<UnaskedMessage>,
}

/// The report about a conversation.
#[derive(Debug, Serialize)]
struct Stories {
    thread: String,
    messages: Vec<Story>,
    /// Turns that go back to none of the messages, such as those after a prod.
    others: Vec<TurnEntry>,
    /// True if all turns are shown; otherwise only those of the caller.
    whole: bool,
    /// Usage of the whole conversation.
    usage: UsageRow,
    /// Currency of the costs, in ISO 4217.
    currency: String,
}

/// Prints the report about one message, or about all messages of a conversation.
pub async fn run(context: &Context, args: &Why) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let list: TurnList = context.client.get(&threads::path(&thread, "turns")).await?;
    let page = events::after(&context.client, &thread, 0, EventSelection::Conversation, |event| {
        event.kind == "message"
    })
    .await?;
    let mut stories = tell(thread, page.events, &list, args.message.as_deref())?;
    let used: UsageAnswer =
        context.client.get(&format!("/usage?thread={}", segment(&stories.thread))).await?;
    (stories.usage, stories.currency) = (used.total, used.currency);
    if context.printer.json {
        return context.printer.object(&stories);
    }
    let state = threads::state(&context.client, &stories.thread).await?;
    let room = if stories.has_links() {
        room(&context.client, &stories.thread).await
    } else {
        // Without turns of a link, the role changes no line, so it is not requested.
        ThreadRole::Link
    };
    print(&context.printer, &state, room, &stories)
}

/// Kind of a conversation that forwards every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThreadRole {
    /// Messages go to the other members' sessions.
    Link,
    /// Messages go to the conversation's own session.
    Home,
}

/// Returns the role of a conversation: `Home` if a session with the conversation's id exists,
/// because the home of a session has the session's id.
async fn room(client: &Client, thread: &str) -> ThreadRole {
    let session: Result<SessionEntry, Fault> =
        client.get(&format!("/sessions/{}", segment(thread))).await;
    match session {
        Ok(session) if session.id == thread => ThreadRole::Home,
        Ok(_) | Err(_) => ThreadRole::Link,
    }
}

impl Stories {
    fn has_links(&self) -> bool {
        let turns = self.messages.iter().flat_map(|story| &story.turns);
        turns.chain(&self.others).any(|turn| turn.why.as_deref() == Some(LINK))
    }
}

/// Groups turns by the message that they go back to. `only` selects one message by id or number,
/// and it is an error if the conversation does not have it. Without `only`, takes the messages with
/// turns, those without an asked agent, and those that [`starts_a_story`] names.
fn tell(
    thread: String,
    events: Vec<Envelope>,
    list: &TurnList,
    only: Option<&str>,
) -> Result<Stories, Fault> {
    let turns = &list.turns;
    let mut stories = Stories {
        thread,
        messages: Vec::new(),
        others: Vec::new(),
        whole: list.whole,
        usage: UsageRow::default(),
        currency: String::new(),
    };
    for message in events {
        let wanted = only.is_none_or(|only| {
            only == message.id || only.strip_prefix('#').unwrap_or(only) == message.seq.to_string()
        });
        let mine: Vec<_> =
            turns.iter().filter(|turn| goes_back_to(turn, &message)).cloned().collect();
        let unasked = list.unasked.iter().find(|one| one.message == message.id).cloned();
        let starts = unasked.is_some() || starts_a_story(&message, &mine);
        if wanted && (only.is_some() || starts) {
            let covering = turns
                .iter()
                .filter(|turn| mine.is_empty() && took_up(turn) && covers(turn, &message))
                .cloned()
                .collect();
            stories.messages.push(Story { message, turns: mine, covered_by: covering, unasked });
        }
    }
    match only {
        None => {
            stories.others = turns
                .iter()
                .filter(|turn| {
                    stories.messages.iter().all(|story| !goes_back_to(turn, &story.message))
                })
                .cloned()
                .collect()
        }
        Some(only) if stories.messages.is_empty() => {
            return Err(Fault::new(
                Exit::Failure,
                format!("this conversation has no message {only}"),
            )
            .try_this(format!(
                "use a number that `moothall tail {} --no-follow` shows before a message",
                threads::short(&stories.thread)
            )));
        }
        Some(_) => {}
    }
    Ok(stories)
}

/// True if a turn took up the messages that it covers: it still runs, spoke or passed.
fn took_up(turn: &TurnEntry) -> bool {
    turn.id.is_some() && turn.outcome.as_deref().is_none_or(|how| matches!(how, "spoke" | "passed"))
}

/// True if a turn is about a message, alone or among others, or about an answer to it.
pub fn goes_back_to(turn: &TurnEntry, message: &Envelope) -> bool {
    turn.message.as_deref().unwrap_or(&turn.cause.id) == message.id
        || turn.also_about.contains(&message.id)
}

/// True for a message with turns. Without turns, true only for a message that begins an exchange:
/// it is not a step away from a person's message, is from no turn, and is not from Moothall itself.
fn starts_a_story(message: &Envelope, turns: &[TurnEntry]) -> bool {
    !turns.is_empty()
        || (message.meta.depth.is_none()
            && message.meta.turn.is_none()
            && message.from != "moothall")
}

/// Prints each message with its turns, the turns without a message, and the usage.
fn print(
    printer: &Printer,
    state: &ThreadStateAnswer,
    room: ThreadRole,
    stories: &Stories,
) -> Result<(), Fault> {
    let faces = &Faces::of(state);
    if stories.messages.is_empty() && stories.others.is_empty() {
        note("No person has said anything yet. Give the position of a message: moothall why - 4");
    }
    if !stories.whole {
        note("This server has an earlier version, and shows you only your own turns.");
    }
    for Story { message, turns, covered_by, unasked } in &stories.messages {
        let words = words_of(message);
        let first = words.lines().next().unwrap_or_default();
        let place =
            printer.paint(Style::Dim, &format!("{:>4} {}", message.seq, clock(&message.ts)));
        printer.line(&format!(
            "{place}  {}  {}",
            faces.painted(printer, &message.from, 0),
            printer.paint(Style::Plain, first)
        ))?;
        if turns.is_empty() {
            let fate = silence(faces, stories.whole, unasked.as_ref(), covered_by);
            let fate = completed(&fate, &message.thread);
            printer.line(&printer.paint(Style::Dim, &repeated(&format!("      {fate}"))))?;
        }
        for turn in turns {
            printer.line(&row(printer, faces, room, turn, &stories.currency))?;
        }
    }
    if !stories.others.is_empty() {
        printer.line("      without a message")?;
    }
    stories
        .others
        .iter()
        .try_for_each(|turn| printer.line(&row(printer, faces, room, turn, &stories.currency)))?;
    if stories.usage.turns == 0 {
        return Ok(());
    }
    let total =
        format!("      in this conversation: {}", summed(&stories.usage, &stories.currency));
    printer.line(&printer.paint(Style::Dim, &total))
}

/// Describes the fate of a message without a turn of its own, in the server's words.
fn silence(
    faces: &Faces,
    whole: bool,
    unasked: Option<&UnaskedMessage>,
    covered_by: &[TurnEntry],
) -> String {
    let turn = |turn: &TurnEntry| {
        format!("{}'s turn about {}", faces.name(&turn.participant), turn.cause.seq)
    };
    let covered = covered_by.iter().map(turn).collect::<Vec<_>>().join(", ");
    match (unasked, covered.as_str()) {
        (Some(one), "") => fate(one),
        (Some(one), _) => format!("{}; read in {covered}", fate(one)),
        (None, "") if whole => "no agent was asked".into(),
        (None, "") => "no turns are visible to you".into(),
        (None, _) => format!("covered by {covered}"),
    }
}

/// Puts the conversation and a placeholder into the command `moothall invite` of a remedy, because
/// the server names the command alone.
pub fn completed(cure: &str, thread: &str) -> String {
    let invite = format!("`moothall invite {} NAME`", threads::short(thread));
    cure.replace("`moothall invite`", &invite)
}

/// Describes why no agent was asked about a message, and the remedy.
pub fn fate(one: &UnaskedMessage) -> String {
    let cure = one.cure.as_ref().map_or_else(String::new, |cure| format!(". {cure}"));
    format!("{}: {}{cure}", one.reason, one.text)
}

/// Returns a turn as a line: participant, reason, outcome, usage and details. In a session's home,
/// the reason `link` is shown as "told".
fn row(
    printer: &Printer,
    faces: &Faces,
    room: ThreadRole,
    turn: &TurnEntry,
    currency: &str,
) -> String {
    let who = faces.painted(printer, &turn.participant, faces.width());
    let asked = match (turn.why.as_deref(), room) {
        (Some(LINK), ThreadRole::Home) => "told",
        (Some(why), ThreadRole::Home | ThreadRole::Link) => why,
        (None, ThreadRole::Home | ThreadRole::Link) => "not asked",
    };
    let (style, came) = outcome(turn);
    let used = turn
        .usage
        .as_ref()
        .map_or_else(String::new, |usage| format!("{:>10}", spent_in(usage, currency)));
    let fault = turn.fault.as_ref().map(|fault| fault.message.as_str());
    let phrase = turn.reason.as_deref().filter(|_| turn.id.is_none() && turn.detail.is_none());
    let ended = turn.ended.as_deref().and_then(|ended| ended.parse::<Ending>().ok()?.phrase());
    let ended = ended.filter(|_| fault.is_none());
    let detail = [phrase, turn.detail.as_deref(), turn.asks.as_deref(), ended, fault]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ");
    let row = format!(
        "      {who}  {asked:<9}  {}{used}  {}",
        printer.paint(style, &format!("{came:<9}")),
        printer.paint(Style::Dim, &detail)
    );
    row.trim_end().to_owned()
}

/// Returns the word for a turn's outcome or present state, in its style.
fn outcome(turn: &TurnEntry) -> (Style, &str) {
    match (turn.outcome.as_deref(), turn.why_not.as_deref()) {
        (Some("spoke"), _) if turn.listens => (Style::Dim, "heard it"),
        (None, None) if turn.listens && turn.started_at.is_some() => (Style::Dim, "hears it"),
        (Some("spoke"), _) => (Style::Good, "spoke"),
        (Some(bad @ ("failed" | "expired")), _) => (Style::Bad, bad),
        (Some(other), _) | (None, Some(other)) => (Style::Dim, other),
        (None, None) if turn.asks.is_some() => (Style::Warn, "asks"),
        (None, None) => {
            (Style::Warn, if turn.started_at.is_some() { "running" } else { "waiting" })
        }
    }
}
