//! `channels`: lists channels, gives agents bots, pairs accounts and binds chats.

use std::io::{self, BufRead, IsTerminal};

use moothall_kernel::text::counted;
use moothall_surfaces::wire::{
    BotEntry, BotOffered, BotRemoved, ChannelList, ChannelResumed, ChatEntry, NewBot, PairingCode,
    PairingEnded, PairingList, PairingRequest,
};
use serde_json::{Map, Value, json};

use super::show::cost;
use super::{Context, confirmation};
use crate::cli::{
    Account, Binding, BotOf, ChannelCommand, Channels, NewBotArgs, NewPairing, OfferedBot,
};
use crate::client::segment;
use crate::fault::{Exit, Fault};
use crate::paint::{Style, note};
use crate::threads;

/// The channel whose accounts are made by a registration.
const MATRIX: &str = "matrix";

pub async fn run(context: &Context, args: &Channels) -> Result<(), Fault> {
    match &args.action {
        None | Some(ChannelCommand::List) => list(context).await,
        Some(ChannelCommand::Add(args)) => add(context, args).await,
        Some(ChannelCommand::Offer(args)) => offer(context, args).await,
        Some(ChannelCommand::Remove(args)) => remove(context, args).await,
        Some(ChannelCommand::Resume(args)) => resume(context, &args.channel).await,
        Some(ChannelCommand::Pair(args)) => pair(context, args).await,
        Some(ChannelCommand::Pairings) => pairings(context).await,
        Some(ChannelCommand::Unpair(args)) => unpair(context, args).await,
        Some(ChannelCommand::Bind(args)) => bind(context, args, "bind").await,
        Some(ChannelCommand::Unbind(args)) => bind(context, args, "unbind").await,
    }
}

/// Prints the channels with their bots and chats.
async fn list(context: &Context) -> Result<(), Fault> {
    let list: ChannelList = context.client.get("/channels").await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    let has_bots = list.channels.iter().any(|channel| !channel.bots.is_empty());
    if !has_bots {
        note("No agent has a bot yet. To give one a bot: moothall channels add telegram AGENT");
    }
    for channel in &list.channels {
        for bot in &channel.bots {
            context.printer.line(&bot_row(context, &channel.name, bot))?;
            bot.cure.iter().for_each(|cure| note(cure));
        }
        for chat in &channel.chats {
            context.printer.line(&chat_row(context, chat, &list.currency))?;
            chat.cure.iter().for_each(|cure| note(cure));
        }
    }
    Ok(())
}

/// Returns a bot as a line: channel, agent, name, state, the limit on the messages that the bot
/// gets in groups, and the time of the last message.
fn bot_row(context: &Context, channel: &str, bot: &BotEntry) -> String {
    let name = bot.username.as_ref().map_or_else(String::new, |name| format!("@{name}  "));
    let hears = if bot.private { ", in groups only what is addressed to it" } else { "" };
    let heard = bot.heard_at.as_ref().map_or_else(String::new, |at| format!(", last at {at}"));
    let style = if bot.cure.is_some() { Style::Bold } else { Style::Dim };
    format!(
        "{channel}  {}  {name}{}",
        context.printer.paint(Style::Bold, &bot.agent),
        context.printer.paint(style, &format!("{}{hears}{heard}", bot.state))
    )
}

/// Returns a chat as a line: its id, title, state, conversation, agents, and its traffic.
fn chat_row(context: &Context, chat: &ChatEntry, currency: &str) -> String {
    let thread = chat.thread.as_ref().map_or_else(String::new, |id| format!(", {id}"));
    let agents = match chat.agents.is_empty() {
        true if chat.thread.is_some() => ": nothing arrived since the server started".to_owned(),
        true => String::new(),
        false => format!(": {}", chat.agents.join(", ")),
    };
    let deaf = if chat.deaf.is_empty() {
        String::new()
    } else {
        format!(" (hear only what is addressed to them: {})", chat.deaf.join(", "))
    };
    let title = match chat.title.as_str() {
        "" => String::new(),
        title => format!("{}  ", context.printer.paint(Style::Bold, title)),
    };
    let facts = format!("{}{thread}{agents}{deaf}{}", chat.state, work(chat, currency));
    let style = if chat.cure.is_some() { Style::Bold } else { Style::Dim };
    format!("{}  {title}{}", chat.chat, context.printer.paint(style, &facts))
}

/// Returns the traffic of a chat: messages on the way, today's turns and their cost, and dropped
/// messages of unknown people. Numbers that are zero are left out.
fn work(chat: &ChatEntry, currency: &str) -> String {
    let mut facts = Vec::new();
    if chat.owed > 0 {
        facts.push(format!("{} on the way", counted(chat.owed, "message")));
    }
    if chat.turns_today > 0 {
        facts.push(format!("{} today", counted(chat.turns_today, "turn")));
    }
    if chat.cost_today_micros > 0 {
        facts.push(format!("{} {currency} today", cost(chat.cost_today_micros)));
    }
    if chat.dropped > 0 {
        facts.push(format!("{} of unknown people dropped", counted(chat.dropped, "message")));
    }
    facts.iter().map(|fact| format!("; {fact}")).collect()
}

/// Gives an agent a bot, and prints the next step.
async fn add(context: &Context, args: &NewBotArgs) -> Result<(), Fault> {
    // The accounts of Matrix need no token of their own.
    let token = if args.channel == MATRIX { String::new() } else { read_token(args)? };
    let request = NewBot { agent: args.agent.clone(), token };
    let path = format!("/channels/{}/bots", segment(&args.channel));
    let bot: BotEntry = context.client.post(&path, &request).await?;
    if context.printer.json {
        return context.printer.object(&bot);
    }
    context.printer.line(&bot_row(context, &args.channel, &bot))?;
    if let Some(cure) = &bot.cure {
        note(cure);
    } else if bot.private {
        note(
            "In groups this bot hears only what is addressed to it. To let it hear everything, \
             make it an admin of the group, or send /setprivacy to @BotFather before you add it.",
        );
    }
    note(&format!("Next, pair your own account: moothall channels pair {}", args.channel));
    Ok(())
}

/// Makes the server send the button by which a person makes a bot for an agent. Prints the accounts
/// that got it, and the next step.
async fn offer(context: &Context, args: &OfferedBot) -> Result<(), Fault> {
    let path = format!("/channels/{}/bots/{}/offer", segment(&args.channel), segment(&args.agent));
    let offered: BotOffered = context.client.post(&path, &json!({})).await?;
    if context.printer.json {
        return context.printer.object(&offered);
    }
    for account in &offered.sent_to {
        context.printer.line(account)?;
    }
    note(&format!(
        "On your phone, open the chat in which the button arrived, and tap \"Make the bot of {}\" \
         within an hour. The bot is connected by itself then, and the chat says so.",
        args.agent
    ));
    Ok(())
}

/// Reads a token from a file or from standard input. It is not an argument, because other users see
/// the arguments of programs.
fn read_token(args: &NewBotArgs) -> Result<String, Fault> {
    let text = match &args.bot_token_file {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| Fault::io(format!("cannot read {}", path.display()), &error))?,
        None => {
            if io::stdin().is_terminal() {
                note("Paste the bot's token, and press Enter:");
            }
            let mut line = String::new();
            io::stdin()
                .lock()
                .read_line(&mut line)
                .map_err(|error| Fault::io("cannot read standard input", &error))?;
            line
        }
    };
    match text.trim() {
        "" => Err(Fault::new(Exit::Usage, "the token is missing")
            .try_this("paste it on standard input, or name a file with --bot-token-file")),
        token => Ok(token.to_owned()),
    }
}

/// Takes a bot from its agent after a confirmation.
async fn remove(context: &Context, args: &BotOf) -> Result<(), Fault> {
    let question = format!("Take the bot from {}? Its groups stay without it.", args.agent);
    if confirmation::ask(context, &args.sure, &question)?.is_rehearsal() {
        return Ok(());
    }
    let path = format!("/channels/{}/bots/{}", segment(&args.channel), segment(&args.agent));
    let removed: BotRemoved = context.client.delete(&path).await?;
    if context.printer.json {
        return context.printer.object(&removed);
    }
    note(if removed.removed {
        "The bot is disconnected, and its token is forgotten."
    } else {
        "The agent has no bot that was added here. A bot of the configuration is removed there."
    });
    Ok(())
}

/// Prints the links by which an account becomes the caller's, or, without links, the line to send
/// to a bot.
async fn pair(context: &Context, args: &NewPairing) -> Result<(), Fault> {
    let request = PairingRequest { scopes: (!args.scope.is_empty()).then(|| args.scope.clone()) };
    let path = format!("/channels/{}/pairings", segment(&args.channel));
    let code: PairingCode = context.client.post(&path, &request).await?;
    if context.printer.json {
        return context.printer.object(&code);
    }
    for link in &code.links {
        context.printer.line(&link.url)?;
    }
    if code.links.is_empty() {
        context.printer.line(&format!("/start {}", code.code))?;
        note(&format!(
            "Send this line to a bot in a private chat. `moothall channels` names the bots of {}.",
            args.channel
        ));
    } else {
        note("Open one of these links on your phone, and tap Start.");
    }
    note(&format!(
        "The first account that does this until {} acts as you, with: {}.",
        code.expires_at,
        code.scopes.join(", ")
    ));
    Ok(())
}

/// Prints the accounts that are paired with people, each with its rights and its last use.
async fn pairings(context: &Context) -> Result<(), Fault> {
    let list: PairingList = context.client.get("/pairings").await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    if list.pairings.is_empty() {
        note("No account is paired. To pair yours: moothall channels pair telegram");
    }
    for pairing in &list.pairings {
        let used = pairing.last_used_at.as_deref().unwrap_or("never");
        let facts = format!("{}  last used: {used}", pairing.scopes.join(" "));
        context.printer.line(&format!(
            "{}  {}  {}",
            pairing.account,
            context.printer.paint(Style::Bold, &pairing.principal),
            context.printer.paint(Style::Dim, &facts)
        ))?;
    }
    Ok(())
}

/// Starts the stopped bots of a channel again. Prints one of two results: some bots had stopped, or
/// none had.
async fn resume(context: &Context, channel: &str) -> Result<(), Fault> {
    let path = format!("/channels/{}/resume", segment(channel));
    let resumed: ChannelResumed = context.client.post(&path, &json!({})).await?;
    if context.printer.json {
        return context.printer.object(&resumed);
    }
    note(if resumed.resumed {
        "The channel runs again."
    } else {
        "The channel was running already."
    });
    Ok(())
}

/// Ends the pairing of an account, which then acts as a person no more.
async fn unpair(context: &Context, args: &Account) -> Result<(), Fault> {
    let path = format!("/pairings/{}", segment(&args.account));
    let ended: PairingEnded = context.client.delete(&path).await?;
    if context.printer.json {
        return context.printer.object(&ended);
    }
    note(&format!("{} no longer acts as a person here.", ended.account));
    Ok(())
}

/// Binds a conversation to a chat, or unbinds it. `control` is `bind` or `unbind`.
async fn bind(context: &Context, args: &Binding, control: &str) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let mut content = Map::from_iter([(control.to_owned(), json!(args.chat))]);
    if args.confirm {
        content.insert("confirm".to_owned(), json!(true));
    }
    let body = json!({"type": "control", "content": content});
    let path = format!("/threads/{}/events", segment(&thread));
    let done: Value = context.client.post(&path, &body).await?;
    if context.printer.json {
        return context.printer.object(&done);
    }
    note(&match control {
        "bind" => format!(
            "{} is bound: what is said from now on is copied there, and what paired people write \
             there enters the conversation.",
            args.chat
        ),
        _ => format!("{} is no longer bound.", args.chat),
    });
    Ok(())
}
