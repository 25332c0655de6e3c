//! The MCP tools for links: their arguments and their answers.

use moothall_engine::door::{Action, Door};
use moothall_kernel::command::{ClientCommand, Control};

use super::sessions::actor;
use super::threads::{self, thread};
use crate::ask;
use crate::error::{ApiError, ApiResult, Code};
use crate::rates::Rates;
use crate::submit::submit;
use crate::wire::arguments::{Invite, ListSessions};
use crate::wire::{LinkAnswer, LinkList, MessageSent, NewLink, NewLinkMember};

/// Links the named sessions, and the calling session if the caller is one.
pub async fn make(door: &Door, asked: Invite) -> ApiResult<LinkAnswer> {
    threads::only(&asked, "link")?;
    let Invite { link: sessions, title, max_exchanges_without_human, from, .. } = asked;
    let by = door.as_asker(actor(door, from.as_deref())?);
    let own = door.own_session()?.map(|status| status.session.id);
    let mut members: Vec<String> = own.into_iter().map(|id| id.to_string()).collect();
    for word in sessions.unwrap_or_default() {
        let id = door.resolve_session(&word)?.session.id.to_string();
        if !members.contains(&id) {
            members.push(id);
        }
    }
    if members.len() < 2 {
        return Err(ApiError::new(
            Code::InvalidField,
            "'link' must name two or more sessions, or one besides your own.",
        ));
    }
    let member = |(at, session): (usize, String)| NewLinkMember {
        session,
        number: u32::try_from(at + 1).ok(),
        ..NewLinkMember::default()
    };
    let members = members.into_iter().enumerate().map(member).collect();
    let new = NewLink { members, title, max_exchanges_without_human, from: None };
    let (link, state) = door.make_link(ask::new_link(door, by, new)?).await?;
    Ok(LinkAnswer::of(ask::entry(door, &link), state))
}

/// Returns the open links and the waiting ones within the caller's reach.
pub async fn list(door: &Door, asked: ListSessions) -> ApiResult<LinkList> {
    if asked.ended.is_some() || asked.computer.is_some() {
        let message = "'ended' and 'computer' are for sessions: leave them out with 'links'.";
        return Err(ApiError::new(Code::InvalidField, message));
    }
    ask::links(door, None).await
}

/// Removes the calling session from the link that a word names.
pub async fn leave(door: &Door, rates: &Rates, word: &str) -> ApiResult<MessageSent> {
    let stream = thread(door, Action::Post, word).await?;
    let link = door.link(&stream).await?;
    let Some(own) = door.own_session()?.map(|status| status.session.id) else {
        return Err(ApiError::plain(Code::SessionRequired));
    };
    if !link.active || !link.members.iter().any(|member| member.session == own) {
        return Err(ApiError::new(
            Code::SessionConflict,
            "You are not a member of this link, or it is closed; list_sessions with 'links' lists \
             the links.",
        ));
    }
    let by = door
        .speaker_in(&stream, actor(door, None)?)
        .await
        .map_err(|error| ApiError::at_door(error, &stream))?;
    let controls = vec![Control::Uninvite(by.id.to_string())];
    submit(door, rates, &stream, ClientCommand::Control { by, controls }, None).await?;
    Ok(MessageSent {
        link_id: Some(stream.to_string()),
        link_state: "left".to_owned(),
        ..MessageSent::held_back(&stream, Vec::new())
    })
}
