//! `run`, `sessions`, `attach`, `send`, `interrupt` and `end`: agents in terminals.

use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::Path;

use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::{
    Actor, AttachAnswer, MessageSent, NewMessage, NewSession, SendAnswer, SessionActed,
    SessionEntry, SessionList, StartAnswer,
};

use super::events::{self, EventSelection};
use super::{Context, answers, confirmation, say, width};
use crate::cli::{End, Run, Send, Session, Sessions};
use crate::client::segment;
use crate::fault::{Exit, Fault};
use crate::hints::quoted;
use crate::paint::{Style, note};
use crate::threads;

/// Returns the path of a session's resource.
fn path(session: &str, rest: &str) -> String {
    format!("/sessions/{}/{rest}", segment(session))
}

/// Starts a program in a session. At a terminal, attaches to the session, unless `--detach` or
/// `--json` is given. If a person has to approve the start first, only prints the id of the
/// permission request.
pub async fn run(context: &Context, args: &Run) -> Result<(), Fault> {
    let new = NewSession {
        client: args.client.clone(),
        cwd: Some(folder(args.folder.as_deref())?),
        args: args.args.clone(),
        name: args.name.clone(),
        ..NewSession::default()
    };
    let answer: StartAnswer = context.client.post("/sessions", &new).await?;
    if context.printer.json {
        return context.printer.object(&answer);
    }
    let session = match answer {
        StartAnswer::Started(session) => session,
        StartAnswer::Asked(asked) => {
            note(&for_terminal(&asked.message));
            return context.printer.line(&for_terminal(&asked.permission));
        }
    };
    let (id, name) = (for_terminal(&session.id), for_terminal(&quoted(&session.name)));
    let look = !args.detach && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if look {
        note(&format!(
            "{name} runs as {id}. It keeps running when you detach; to attach again: moothall \
             attach {name}"
        ));
        return go_to(context, &session.id).await;
    }
    note(&format!(
        "{name} runs. To attach: moothall attach {name}   To send a message: moothall send {name} \
         \"…\""
    ));
    context.printer.line(&id)
}

/// Returns the absolute path of the working folder.
fn folder(given: Option<&Path>) -> Result<String, Fault> {
    let found = std::fs::canonicalize(given.unwrap_or(Path::new(".")));
    let path = found.map_err(|error| {
        Fault::new(Exit::Failure, "the working folder does not exist").because(error)
    })?;
    path.into_os_string()
        .into_string()
        .map_err(|_| Fault::new(Exit::Failure, "the folder's name is not UTF-8 text"))
}

/// Shows the terminal of a session: the program for it replaces this process. With `--json`, prints
/// the command for it.
pub async fn attach(context: &Context, args: &Session) -> Result<(), Fault> {
    if context.printer.json {
        let answer: AttachAnswer = context.client.get(&path(&args.session, "attach")).await?;
        return context.printer.object(&answer);
    }
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let fault = Fault::new(Exit::Failure, "attaching to a session needs a terminal");
        return Err(fault.try_this(
            "use --json to print the command that attaches, or `moothall send` to send a message",
        ));
    }
    go_to(context, &args.session).await
}

/// Replaces this process by the program that shows the session's terminal.
async fn go_to(context: &Context, session: &str) -> Result<(), Fault> {
    let answer: AttachAnswer = context.client.get(&path(session, "attach")).await?;
    let [program, args @ ..] = answer.argv.as_slice() else {
        return Err(Fault::new(
            Exit::Failure,
            "the server does not know how to attach to this session",
        ));
    };
    // `exec` returns only on failure.
    let error = std::process::Command::new(program).args(args).exec();
    Err(Fault::new(Exit::Failure, format!("cannot run {program}"))
        .because(error)
        .try_this("run this command on the computer of the server"))
}

/// Prints the sessions, and with `--ended` also the ended ones. Notes the programs that can be
/// started.
pub async fn list(context: &Context, args: &Sessions) -> Result<(), Fault> {
    let computer = args.computer.as_deref().map(|name| format!("&computer={}", segment(name)));
    let path = format!("/sessions?ended={}{}", args.ended, computer.unwrap_or_default());
    let list: SessionList = context.client.get(&path).await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    for silent in &list.silent {
        note(&for_terminal(&silent.reason));
    }
    let columns =
        list.sessions.iter().map(|session| width(&address(session))).max().unwrap_or_default();
    let words = list.sessions.iter().map(|session| width(state_word(session))).max();
    for session in &list.sessions {
        context.printer.line(&row(context, session, columns, words.unwrap_or_default()))?;
    }
    list.sessions.iter().for_each(tell_waits);
    if list.sessions.is_empty() {
        note(&format!(
            "No agent runs in a terminal.{} To resume ended sessions: moothall resume",
            newest_end(context).await?
        ));
    }
    let installed = list.programs.iter().filter(|program| program.missing.is_none());
    let programs: Vec<_> = installed.map(|program| program.client.as_str()).collect();
    note(&match programs.as_slice() {
        [] => {
            let missing = list.programs.iter().filter_map(|program| program.missing.as_deref());
            let missing: Vec<_> = missing.map(for_terminal).collect();
            format!("No programs are available; see `moothall doctor`. {}", missing.join(" "))
        }
        [first, ..] => {
            format!("Programs: {}. To start one: moothall run {first}", programs.join(", "))
        }
    });
    Ok(())
}

/// Returns a sentence about the session that ended last, so that the person learns why a session
/// ended at its start. Empty without ended sessions.
async fn newest_end(context: &Context) -> Result<String, Fault> {
    let list: SessionList = context.client.get("/sessions?ended=true").await?;
    let ends = list.sessions.iter().filter_map(|session| Some((session.ended.as_ref()?, session)));
    let newest = ends.max_by(|(one, _), (other, _)| one.at.cmp(&other.at));
    Ok(newest.map_or_else(String::new, |(end, session)| {
        format!(" {} ended last: {}", for_terminal(&session.name), for_terminal(&end.why))
    }))
}

/// Prints the sessions that the closed links of a session wait for, with the commands that resume
/// or end them.
pub fn tell_waits(session: &SessionEntry) {
    let name = for_terminal(&session.name);
    for lacking in session.waits_for.iter().map(|lacking| for_terminal(&quoted(lacking))) {
        note(&format!(
            "A link of {name} waits for {lacking}, which is not resumed yet: moothall resume \
             {lacking}   or: moothall end {lacking}"
        ));
    }
}

/// Returns the state of a session in words: its work, or else the state of its terminal.
fn state_word(session: &SessionEntry) -> &str {
    match (&session.doing, session.state.as_str()) {
        (Some(doing), _) => &doing.says,
        (None, "idle") => "ready",
        (None, state) => state,
    }
}

/// Returns a session as a line; `columns` and `words` are the widths of the names and the states.
fn row(context: &Context, session: &SessionEntry, columns: usize, words: usize) -> String {
    let printer = &context.printer;
    let style = match session.state.as_str() {
        "asking" | "drafting" => Style::Warn,
        "busy" => Style::Good,
        _ => Style::Plain,
    };
    let name = address(session);
    let fill = " ".repeat(columns.saturating_sub(width(&name)));
    let name = printer.paint(Style::Bold, &name);
    let word = state_word(session);
    let blank = " ".repeat(words.saturating_sub(width(word)));
    let state = printer.paint(style, &format!("{}{blank}", for_terminal(word)));
    let waits =
        if session.waiting > 0 { format!("  {} wait", session.waiting) } else { String::new() };
    let end = session.ended.as_ref().map_or_else(String::new, |end| format!("  {}", end.why));
    // The first 13 characters of an id are its time to the millisecond, so they tell sessions
    // apart.
    let facts = format!("{:<10} {:.13}  {}{waits}{end}", session.client, session.id, session.cwd);
    format!("{name}{fill}  {state}  {}", printer.paint(Style::Dim, &facts))
}

/// Returns the name by which commands find a session. For a session of another computer, it ends
/// with `@` and that computer's name.
fn address(session: &SessionEntry) -> String {
    match &session.computer {
        Some(computer) => format!("{}@{computer}", session.name),
        None => session.name.clone(),
    }
}

/// Returns the error for a message whose answer cannot be awaited, because the message is not in a
/// conversation of this computer yet, or never will be.
fn unawaited(sent: &MessageSent) -> Fault {
    let held = sent.warnings.iter().any(|warning| ["held", "stopped"].contains(&warning.as_str()));
    let why = match &sent.away {
        Some(away) => format!("{} is away; the message is sent when it is back", away.name),
        None if held => "the message is held until a person writes in the conversation".to_owned(),
        None => "it was sent to another computer, where the answer stays".to_owned(),
    };
    Fault::new(Exit::Unanswered, "no answer can be waited for")
        .because(why)
        .try_this(format!("moothall tail {}", threads::short(&sent.thread)))
}

/// Sends a message to a session, and with `--wait` waits for the answers. With `--close-link`, the
/// link with the session is closed after the message, which may be missing. If a person has to
/// approve the message first, only prints the id of the permission request.
pub async fn send(context: &Context, args: &Send) -> Result<(), Fault> {
    let message = if args.text.is_empty() { None } else { Some(say::words(&args.text)?) };
    let body = NewMessage {
        message,
        direct: args.direct,
        close_link: args.close_link,
        from: args.speaker.clone(),
    };
    let sent = match context.client.post(&path(&args.session.session, "messages"), &body).await? {
        SendAnswer::Sent(sent) => sent,
        SendAnswer::Asked(asked) if context.printer.json => {
            return context.printer.object(&asked);
        }
        SendAnswer::Asked(asked) => {
            note(&for_terminal(&asked.message));
            return context.printer.line(&for_terminal(&asked.permission));
        }
    };
    if context.printer.json {
        context.printer.object(&sent)?;
    }
    if let (true, Some(seq)) = (args.wait, sent.seq) {
        let page = events::page(
            &context.client,
            &sent.thread,
            seq.saturating_sub(1),
            1,
            EventSelection::Conversation,
        )
        .await?;
        let said = page.events.into_iter().find(|event| event.seq == seq);
        let gone = || {
            Fault::new(Exit::Failure, "the messages cannot be read")
                .try_this(format!("moothall tail {}", threads::short(&sent.thread)))
        };
        return answers::wait(context, &said.ok_or_else(gone)?).await;
    }
    if args.wait && body.message.is_some() {
        return Err(unawaited(&sent));
    }
    if context.printer.json {
        return Ok(());
    }
    if let Some(away) = &sent.away {
        let since = away.since.as_ref().map(|at| format!(" since {at}")).unwrap_or_default();
        note(&format!("{} is away{since}. The message is sent when it is back.", away.name));
        return Ok(());
    }
    note(&match (sent.link_state.as_str(), &sent.link_id) {
        ("closed", _) => "The link is closed.".to_owned(),
        (state, Some(link)) => {
            let link = threads::short(link);
            format!("Sent over a link ({state}). To close it: moothall link close {link}")
        }
        (_, None) if sent.event.is_none() && args.session.session.contains('@') => {
            "Sent. The other computer has it within moments.".to_owned()
        }
        (_, None) => format!("Sent. To follow: moothall tail {}", quoted(&args.session.session)),
    });
    Ok(())
}

pub async fn interrupt(context: &Context, args: &Session) -> Result<(), Fault> {
    act(context, args, "interrupt", "was told to stop what it does.").await
}

/// Ends a session after a confirmation.
pub async fn end(context: &Context, args: &End) -> Result<(), Fault> {
    let session = &args.session.session;
    if args.sure.dry_run {
        // A session that does not exist is an error also in a dry run.
        let _: serde_json::Value =
            context.client.get(&format!("/sessions/{}", segment(session))).await?;
    }
    if confirmation::ask(
        context,
        &args.sure,
        &format!("End {session} and the program in its terminal?"),
    )?
    .is_rehearsal()
    {
        return Ok(());
    }
    act(context, &args.session, "end", "is over. What it said is kept: moothall sessions --ended")
        .await
}

/// Sends the action `what`, which has no content, to a session. Then prints the session's name and
/// `done`.
async fn act(context: &Context, args: &Session, what: &str, done: &str) -> Result<(), Fault> {
    let acted: SessionActed =
        context.client.post(&path(&args.session, what), &Actor::default()).await?;
    if context.printer.json {
        return context.printer.object(&acted);
    }
    note(&format!("{} {done}", acted.session.name));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_cannot_be_waited_for_has_a_reason() {
        let why = |warnings: &[&str], away: Option<&str>| {
            let sent = serde_json::json!({
                "link_id": null, "link_state": "none", "delivered_to": [], "thread": "t",
                "warnings": warnings, "away": away.map(|name| serde_json::json!({"name": name})),
            });
            let fault = unawaited(&serde_json::from_value(sent).unwrap());
            assert_eq!(fault.exit, Exit::Unanswered);
            fault.why.unwrap()
        };
        assert!(why(&["held"], None).contains("until a person writes"));
        assert!(why(&[], Some("den")).contains("den is away"));
        assert!(why(&["unknown_name"], None).contains("another computer"));
    }
}
