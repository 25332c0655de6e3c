//! `link`: sessions that hear each other.

use moothall_surfaces::wire::{Actor, LinkAnswer, LinkEntry, LinkList, NewLink, NewLinkMember};

use super::Context;
use crate::cli::{Link, LinkAction};
use crate::client::segment;
use crate::fault::{Exit, Fault};
use crate::paint::{Style, note};

pub async fn run(desk: &Context, args: &Link) -> Result<(), Fault> {
    match &args.action {
        None => make(desk, args).await,
        Some(LinkAction::List { session }) => list(desk, session.as_deref()).await,
        Some(LinkAction::Close { link }) => close(desk, link).await,
    }
}

async fn make(desk: &Context, args: &Link) -> Result<(), Fault> {
    let member =
        |session: &String| NewLinkMember { session: session.clone(), ..NewLinkMember::default() };
    let new = NewLink {
        members: args.members.iter().map(member).collect(),
        title: args.title.clone(),
        from: None,
    };
    let answer: LinkAnswer = desk.client.post("/links", &new).await?;
    if desk.paper.json {
        return desk.paper.object(&answer);
    }
    note(&format!(
        "The link is {}. What one of them says at the end of a turn reaches the others.",
        answer.link_state
    ));
    desk.paper.line(&row(desk, &answer.link))
}

fn row(desk: &Context, link: &LinkEntry) -> String {
    let named = |member: &moothall_surfaces::wire::LinkMember| match member.number {
        Some(number) => format!("{} ({number})", member.name),
        None => member.name.clone(),
    };
    let names: Vec<_> = link.members.iter().map(named).collect();
    let (id, names) = (
        desk.paper.paint(Style::Plain, &link.id),
        desk.paper.paint(Style::Bold, &names.join(" · ")),
    );
    format!("{id}  {names}  {}", desk.paper.paint(Style::Dim, &link.title))
}

async fn list(desk: &Context, session: Option<&str>) -> Result<(), Fault> {
    let query =
        session.map_or_else(String::new, |session| format!("?session={}", segment(session)));
    let list: LinkList = desk.client.get(&format!("/links{query}")).await?;
    if desk.paper.json {
        return desk.paper.object(&list);
    }
    if list.links.is_empty() {
        note("There is no link. Make one: moothall link SESSION SESSION");
    }
    list.links.iter().try_for_each(|link| desk.paper.line(&row(desk, link)))
}

async fn close(desk: &Context, word: &str) -> Result<(), Fault> {
    let id = resolve(desk, word).await?;
    let answer: LinkAnswer =
        desk.client.post(&format!("/links/{}/close", segment(&id)), &Actor::default()).await?;
    if desk.paper.json {
        return desk.paper.object(&answer);
    }
    note("The link is closed for all its members. What was said is kept.");
    Ok(())
}

/// The id that a word means: a whole one, or the beginning of one only.
async fn resolve(desk: &Context, word: &str) -> Result<String, Fault> {
    if uuid::Uuid::try_parse(word).is_ok() {
        return Ok(word.to_owned());
    }
    let list: LinkList = desk.client.get("/links").await?;
    let begun: Vec<_> =
        list.links.iter().filter(|link| word.len() >= 4 && link.id.starts_with(word)).collect();
    match begun.as_slice() {
        [one] => Ok(one.id.clone()),
        _ => Err(Fault::new(Exit::Failure, format!("{word:?} means {} links", begun.len()))
            .try_this("see `moothall link list`")),
    }
}
