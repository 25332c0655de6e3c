//! `computers`: lists the other computers, and pairs them with this one.

use std::io::{self, BufRead, IsTerminal};

use moothall_kernel::text::counted;
use moothall_surfaces::wire::{
    ComputerEntry, ComputerForgotten, ComputerInvitation, ComputerInvited, ComputerJoin,
    ComputerJoined, ComputerList, ComputersResumed,
};
use serde_json::json;

use super::{Context, confirmation};
use crate::cli::{ComputerCommand, Computers, ForgottenComputer, JoinedLine, OwnComputer};
use crate::client::segment;
use crate::fault::{Exit, Fault};
use crate::paint::{Style, note};

/// Beginning of an invitation, which is a secret.
const SECRET: &str = "moothall-join-";

pub async fn run(context: &Context, args: &Computers) -> Result<(), Fault> {
    match &args.action {
        None | Some(ComputerCommand::List) => list(context).await,
        Some(ComputerCommand::Invite(args)) => invite(context, args).await,
        Some(ComputerCommand::Join(args)) => join(context, args).await,
        Some(ComputerCommand::Resume) => resume(context).await,
        Some(ComputerCommand::Forget(args)) => forget(context, args).await,
    }
}

/// Prints this computer and the computers that are paired with it, each with its remedy if it needs
/// one.
async fn list(context: &Context) -> Result<(), Fault> {
    let list: ComputerList = context.client.get("/computers").await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    if list.computers.is_empty() {
        note("No other computer is paired with this one. To pair one: moothall computers invite");
    }
    let mut told = None;
    for computer in &list.computers {
        context.printer.line(&row(context, computer))?;
        // While the computers are off, all have the same remedy, which is printed only once.
        let cure = computer.cure.as_ref().filter(|cure| told.replace(*cure) != Some(*cure));
        cure.into_iter().for_each(|cure| note(cure));
    }
    if let Some(post) = list.post {
        post.fault.iter().chain(&post.cure).for_each(|line| note(line));
    }
    Ok(())
}

/// Returns a computer as a line: its name, state, version, the time at which it was last seen, its
/// sessions, and the numbers of rows that are owed. For this computer, only its name, state and
/// sessions.
fn row(context: &Context, computer: &ComputerEntry) -> String {
    let name = context.printer.paint(Style::Bold, &computer.name);
    let style = if computer.cure.is_some() { Style::Bold } else { Style::Dim };
    let sessions = computer.sessions.map(|number| counted(number, "session"));
    let sessions = sessions.map_or_else(String::new, |number| format!(", {number}"));
    if computer.this {
        let state = match computer.state.as_str() {
            "up" => String::new(),
            state => format!(", {state}"),
        };
        let facts = format!("this computer{state}{sessions}");
        return format!("{name}  {}", context.printer.paint(style, &facts));
    }
    let version = computer.version.as_ref().map_or_else(String::new, |it| format!(", {it}"));
    let seen = match (&computer.last_seen, computer.state.as_str()) {
        (Some(at), "away") => format!(", last seen at {at}"),
        (None, "off") => String::new(),
        (None, _) => ", not seen since the server started".to_owned(),
        (Some(_), _) => String::new(),
    };
    let facts = format!("{}{version}{seen}{sessions}{}", computer.state, owed(computer));
    format!("{name}  {}", context.printer.paint(style, &facts))
}

/// Returns the numbers of rows that this computer and another one still owe each other. Numbers
/// that are zero are left out.
pub fn owed(computer: &ComputerEntry) -> String {
    let to = Some(computer.owed_to).map(|number| (number, "to"));
    let by = computer.owed_by.map(|number| (number, "by"));
    let owed = [to, by].into_iter().flatten().filter(|(number, _)| *number > 0);
    owed.map(|(number, way)| format!(", {} owed {way} it", counted(number, "row"))).collect()
}

/// Puts the computers on again after a restore. Prints one of two results: they were off, or they
/// were on already.
async fn resume(context: &Context) -> Result<(), Fault> {
    let resumed: ComputersResumed = context.client.post("/computers/resume", &json!({})).await?;
    if context.printer.json {
        return context.printer.object(&resumed);
    }
    note(if resumed.resumed { "The computers are on again." } else { "The computers were on." });
    Ok(())
}

/// Opens an invitation for another computer, and prints its secret line.
async fn invite(context: &Context, args: &OwnComputer) -> Result<(), Fault> {
    let OwnComputer { name, redis, up } = args.clone();
    let body = ComputerInvitation { name, redis, up };
    let invited: ComputerInvited = context.client.post("/computers/invitations", &body).await?;
    if context.printer.json {
        return context.printer.object(&invited);
    }
    note(
        "Give this line to `moothall computers join -` on the other computer within ten minutes. It is a secret:",
    );
    context.printer.line(&invited.line)
}

/// Uses the line that another computer printed. Prints the answer that the other computer needs,
/// unless both are paired now.
async fn join(context: &Context, args: &JoinedLine) -> Result<(), Fault> {
    let OwnComputer { name, redis, up } = args.own.clone();
    let body = ComputerJoin { line: line_of(&args.line)?, name, redis, up };
    let joined: ComputerJoined = context.client.post("/computers/join", &body).await?;
    if context.printer.json {
        return context.printer.object(&joined);
    }
    match joined.answer {
        Some(answer) => {
            note(&format!(
                "{} is known here. Give this line to `moothall computers join -` there:",
                joined.computer
            ));
            context.printer.line(&answer)
        }
        None => {
            note(&format!("{} and this computer are paired.", joined.computer));
            Ok(())
        }
    }
}

/// Returns the line that the argument gives, or, for `-`, the first line of standard input. Refuses
/// an invitation as an argument, because other programs see arguments.
fn line_of(given: &str) -> Result<String, Fault> {
    if given.starts_with(SECRET) {
        return Err(Fault::new(
            Exit::Usage,
            "an invitation is a secret, and other programs see arguments",
        )
        .try_this("give it on standard input: moothall computers join -"));
    }
    if given != "-" {
        return Ok(given.to_owned());
    }
    if io::stdin().is_terminal() {
        note("Paste the line of the other computer, and press Enter:");
    }
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Fault::io("cannot read standard input", &error))?;
    match line.trim() {
        "" => Err(Fault::new(Exit::Usage, "the line is missing")
            .try_this("paste the line that the other computer printed")),
        line => Ok(line.to_owned()),
    }
}

/// Forgets another computer after a confirmation.
async fn forget(context: &Context, args: &ForgottenComputer) -> Result<(), Fault> {
    let question = format!("Forget {}? Its key is deleted here.", args.name);
    if confirmation::ask(context, &args.sure, &question)?.is_rehearsal() {
        return Ok(());
    }
    let path = format!("/computers/{}", segment(&args.name));
    let forgotten: ComputerForgotten = context.client.delete(&path).await?;
    if context.printer.json {
        return context.printer.object(&forgotten);
    }
    note(&if forgotten.forgotten {
        format!("{} is forgotten.", args.name)
    } else {
        format!("No computer is called {} here.", args.name)
    });
    Ok(())
}
