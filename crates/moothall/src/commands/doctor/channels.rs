//! Checks of a server's channels: its bots and its chats.

use moothall_kernel::text::counted;
use moothall_surfaces::wire::{BotEntry, ChannelList, ChatEntry};
use tokio::time::timeout;

use super::{Finding, PING_WITHIN, Verdict};
use crate::client::Client;

/// Returns the findings about each bot, and about each chat that needs a person or has messages on
/// the way. Empty if the server does not answer in time, or if the caller may not list channels.
/// The finding `proof` of the server shows the caller's identity.
pub async fn examine(client: &Client) -> Vec<Finding> {
    let Ok(Ok(list)) = timeout(PING_WITHIN, client.get::<ChannelList>("/channels")).await else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for channel in &list.channels {
        findings.extend(channel.bots.iter().map(|bot| of_bot(&channel.name, bot)));
        findings.extend(channel.chats.iter().filter_map(of_chat));
    }
    findings
}

fn of_bot(channel: &str, bot: &BotEntry) -> Finding {
    let verdict = match bot.state.as_str() {
        "hearing" => Verdict::Ok,
        "starting" => Verdict::Info,
        "revoked" | "foreign" => Verdict::Fail,
        _ => Verdict::Warn,
    };
    let name = bot.username.as_ref().map_or_else(String::new, |name| format!(", @{name}"));
    let found = format!("{channel}: {}{name} is {}", bot.agent, bot.state);
    with_cure(Finding::new("bot", verdict, found), bot.cure.as_deref())
}

/// Returns the finding about a chat. `None` for a bound chat that needs no remedy and has no
/// messages on the way.
fn of_chat(chat: &ChatEntry) -> Option<Finding> {
    let title = match chat.title.as_str() {
        "" => String::new(),
        title => format!(" ({title})"),
    };
    let (verdict, words) = match chat.state.as_str() {
        "waiting" => (Verdict::Info, "waits for a person who opens it"),
        "away" => (Verdict::Warn, "has no bot"),
        _ if chat.cure.is_some() => (Verdict::Warn, "is bound, and its bots are deaf"),
        _ if chat.owed > 0 => (Verdict::Info, "is bound"),
        _ => return None,
    };
    let owed = match chat.owed {
        0 => String::new(),
        owed => format!("; {} on the way", counted(owed, "message")),
    };
    let found = format!("{}{title} {words}{owed}", chat.chat);
    Some(with_cure(Finding::new("chat", verdict, found), chat.cure.as_deref()))
}

/// Returns a finding with the next step for people, if there is one.
pub(super) fn with_cure(finding: Finding, cure: Option<&str>) -> Finding {
    match cure {
        Some(cure) => finding.fix(cure),
        None => finding,
    }
}
