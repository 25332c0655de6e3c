//! `computers`: lists the other computers, and pairs them with this one.

use std::io::{self, BufRead, IsTerminal};

use moothall_surfaces::wire::{
    ComputerEntry, ComputerForgotten, ComputerInvitation, ComputerInvited, ComputerJoin,
    ComputerJoined, ComputerList,
};

use super::{Context, confirmation};
use crate::cli::{ComputerCommand, Computers, ForgottenComputer, JoinedLine, OwnComputer};
use crate::client::segment;
use crate::fault::{Exit, Fault};
use crate::paint::{Style, note};

/// Beginning of a line that is a secret.
const SECRET: &str = "moothall-join-";

pub async fn run(context: &Context, args: &Computers) -> Result<(), Fault> {
    match &args.action {
        None | Some(ComputerCommand::List) => list(context).await,
        Some(ComputerCommand::Invite(args)) => invite(context, args).await,
        Some(ComputerCommand::Join(args)) => join(context, args).await,
        Some(ComputerCommand::Forget(args)) => forget(context, args).await,
    }
}

/// Prints this computer and those that are paired with it.
async fn list(context: &Context) -> Result<(), Fault> {
    let list: ComputerList = context.client.get("/computers").await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    if list.computers.is_empty() {
        note("No other computer is paired with this one. To pair one: moothall computers invite");
    }
    for computer in &list.computers {
        context.printer.line(&row(context, computer))?;
        computer.cure.iter().for_each(|cure| note(cure));
    }
    if let Some(post) = list.post {
        post.fault.iter().chain(&post.cure).for_each(|line| note(line));
    }
    Ok(())
}

/// Returns a computer as a line: its name, state, version, and when it was last seen.
fn row(context: &Context, computer: &ComputerEntry) -> String {
    let name = context.printer.paint(Style::Bold, &computer.name);
    if computer.this {
        return format!("{name}  {}", context.printer.paint(Style::Dim, "this computer"));
    }
    let version = computer.version.as_ref().map_or_else(String::new, |it| format!(", {it}"));
    let seen = match (&computer.last_seen, computer.state.as_str()) {
        (Some(at), "away") => format!(", last seen at {at}"),
        (None, _) => ", not seen since the server started".to_owned(),
        (Some(_), _) => String::new(),
    };
    let style = if computer.cure.is_some() { Style::Bold } else { Style::Dim };
    let facts = format!("{}{version}{seen}", computer.state);
    format!("{name}  {}", context.printer.paint(style, &facts))
}

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

/// Returns the line of the arguments, or the first one of standard input.
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

async fn forget(context: &Context, args: &ForgottenComputer) -> Result<(), Fault> {
    let question = format!("Forget {}? Its key is deleted here.", args.name);
    confirmation::ask(context, &args.sure, &question)?;
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
