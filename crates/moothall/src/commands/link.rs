//! `link`: links sessions, lists links and closes them.

use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::{Actor, LinkAnswer, LinkEntry, LinkList, NewLink, NewLinkMember};

use super::Context;
use crate::cli::{Link, LinkAction};
use crate::client::segment;
use crate::fault::{Exit, Fault};
use crate::paint::{Style, note};
use crate::threads::short;

pub async fn run(context: &Context, args: &Link) -> Result<(), Fault> {
    match &args.action {
        None => make(context, args).await,
        Some(LinkAction::List { session }) => list(context, session.as_deref()).await,
        Some(LinkAction::Close { link }) => close(context, link).await,
    }
}

/// Links sessions and prints the link with its state.
async fn make(context: &Context, args: &Link) -> Result<(), Fault> {
    let member =
        |session: &String| NewLinkMember { session: session.clone(), ..NewLinkMember::default() };
    let new = NewLink {
        members: args.members.iter().map(member).collect(),
        title: args.title.clone(),
        max_exchanges_without_human: args.exchanges,
        from: None,
    };
    let answer: LinkAnswer = context.client.post("/links", &new).await?;
    if context.printer.json {
        return context.printer.object(&answer);
    }
    let link = short(answer.link.id.as_str());
    note(&format!(
        "The link is {}. What you say in it, or type at a member's terminal, reaches its members, \
         and so do the answers: moothall say {link} \"…\"   What you `send` to a session stays \
         between you and it.",
        answer.link_state
    ));
    context.printer.line(&row(context, &answer.link))
}

/// Returns a link as a line: id, members and title.
fn row(context: &Context, link: &LinkEntry) -> String {
    let named = |member: &moothall_surfaces::wire::LinkMember| match member.number {
        Some(number) => format!("{} ({number})", member.name),
        None => member.name.clone(),
    };
    let names: Vec<_> = link.members.iter().map(named).collect();
    let (id, names) = (
        context.printer.paint(Style::Plain, &link.id),
        context.printer.paint(Style::Bold, &names.join(" · ")),
    );
    format!("{id}  {names}  {}", context.printer.paint(Style::Dim, &link.title))
}

/// Prints the open links of one session or of all, and notes the closed links that wait for a
/// session to be resumed or ended.
async fn list(context: &Context, session: Option<&str>) -> Result<(), Fault> {
    let query =
        session.map_or_else(String::new, |session| format!("?session={}", segment(session)));
    let list: LinkList = context.client.get(&format!("/links{query}")).await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    list.waiting.iter().for_each(tell_waits);
    if list.links.is_empty() && list.waiting.is_empty() {
        note("No links. To make one: moothall link SESSION SESSION");
    }
    list.links.iter().try_for_each(|link| context.printer.line(&row(context, link)))
}

/// Prints the sessions that a closed link waits for, with the commands that resume or end them.
fn tell_waits(link: &LinkEntry) {
    let title = for_terminal(&link.title);
    for lacking in link.waits_for.iter().map(|lacking| for_terminal(lacking)) {
        note(&format!(
            "{title} waits for {lacking}, which is not resumed yet: moothall resume {lacking}   \
             or: moothall end {lacking}"
        ));
    }
}

/// Closes a link for all its members.
async fn close(context: &Context, word: &str) -> Result<(), Fault> {
    let id = resolve(context, word).await?;
    let answer: LinkAnswer =
        context.client.post(&format!("/links/{}/close", segment(&id)), &Actor::default()).await?;
    if context.printer.json {
        return context.printer.object(&answer);
    }
    note("The link is closed for all its members. Its messages are kept.");
    Ok(())
}

/// Resolves a word to the id of a link. The word is a whole id, or at least four characters at the
/// beginning of an open link's id.
async fn resolve(context: &Context, word: &str) -> Result<String, Fault> {
    if uuid::Uuid::try_parse(word).is_ok() {
        return Ok(word.to_owned());
    }
    let list: LinkList = context.client.get("/links").await?;
    let begun: Vec<_> =
        list.links.iter().filter(|link| word.len() >= 4 && link.id.starts_with(word)).collect();
    match begun.as_slice() {
        [one] => Ok(one.id.clone()),
        _ => Err(Fault::new(Exit::Failure, format!("{word:?} matches {} links", begun.len()))
            .try_this("choose one from `moothall link list`")),
    }
}
