//! `resume`: restarts ended sessions.

use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::{Actor, SessionEntry, SessionList, SessionResumed};

use super::Context;
use super::session::tell_waits;
use crate::cli::Resume;
use crate::client::segment;
use crate::fault::{Exit, Fault};
use crate::hints::quoted;
use crate::paint::note;

pub async fn run(context: &Context, args: &Resume) -> Result<(), Fault> {
    match (&args.session, args.all) {
        (Some(session), _) => resume(context, session).await,
        (None, true) => resume_all(context).await,
        (None, false) => list(context).await,
    }
}

/// Returns the sessions that a restart of the computer ended and that were not resumed since then.
async fn lost(context: &Context) -> Result<Vec<SessionEntry>, Fault> {
    let list: SessionList = context.client.get("/sessions?ended=true").await?;
    let is_lost = |session: &SessionEntry| session.ended.as_ref().is_some_and(|end| end.lost);
    Ok(list.sessions.into_iter().filter(is_lost).collect())
}

/// Prints the sessions that a restart of the computer ended.
async fn list(context: &Context) -> Result<(), Fault> {
    let lost = lost(context).await?;
    if context.printer.json {
        return context.printer.object(&lost);
    }
    for session in &lost {
        let (name, folder) = (for_terminal(&session.name), for_terminal(&session.cwd));
        context.printer.line(&format!("{name}  {}  {folder}", session.client))?;
    }
    note(if lost.is_empty() {
        "No session ended with a restart of the computer. To resume another ended session: \
         moothall resume NAME"
    } else {
        "To resume all of them: moothall resume --all   To resume one: moothall resume NAME"
    });
    Ok(())
}

/// Resumes the lost sessions, the oldest first. A link resumes with its last member.
async fn resume_all(context: &Context) -> Result<(), Fault> {
    let lost = lost(context).await?;
    if lost.is_empty() {
        note("No session ended with a restart of the computer.");
    }
    let mut failed = Vec::new();
    for session in &lost {
        if let Err(fault) = resume(context, &session.id).await {
            note(&for_terminal(&format!("{}: {fault}", session.name)));
            failed.push(session.name.clone());
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Fault::new(Exit::Failure, format!("not resumed: {}", failed.join(", "))))
}

/// Restarts an ended session and prints its id. Notes if it has its memory, the links that are
/// active again, and the arguments that were left out because they may be prompts.
async fn resume(context: &Context, session: &str) -> Result<(), Fault> {
    let path = format!("/sessions/{}/resume", segment(session));
    let resumed: SessionResumed = context.client.post(&path, &Actor::default()).await?;
    if context.printer.json {
        return context.printer.object(&resumed);
    }
    let name = for_terminal(&quoted(&resumed.session.name));
    let memory = match resumed.remembers {
        true => "continues with its memory",
        false => "began without memory, because its program has none to resume",
    };
    let links = match resumed.links.len() {
        0 => String::new(),
        1 => "; its link is active again".to_owned(),
        count => format!("; {count} links are active again"),
    };
    note(&format!("{name} runs again and {memory}{links}. To attach: moothall attach {name}"));
    tell_waits(&resumed.session);
    if !resumed.left_out.is_empty() {
        let words = for_terminal(&resumed.left_out.join(" "));
        note(&format!(
            "Left out, because it is or may be a prompt, which is not sent twice: {words}"
        ));
    }
    context.printer.line(&for_terminal(&resumed.session.id))
}
