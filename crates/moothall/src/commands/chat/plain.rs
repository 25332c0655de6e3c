//! Plain mode: reads lines, and prints one block of text per message, without escapes. It ends
//! after the end of input, when every agent has answered.

use std::io::{BufRead, IsTerminal};
use std::time::Duration;

use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::{Envelope, ThreadStateAnswer};
use tokio::sync::mpsc;

use super::input::{LineAction, parse};
use super::outbox::{Matter, OutboxRequest, SendOutcome};
use super::render;
use super::room::{ChatView, Item};
use super::stream::ChatNews;
use super::{Line, earlier, gathering};
use crate::commands::events::{EventSelection, after};
use crate::commands::say::is_busy;
use crate::commands::show::is_shown;
use crate::commands::{Context, permit};
use crate::fault::Fault;
use crate::paint::note;
use crate::threads;

/// Interval between checks for pending answers, after the end of input.
const LOOK_EVERY: Duration = Duration::from_secs(1);

struct PlainChat<'a> {
    context: &'a Context,
    thread: &'a str,
    me: &'a str,
    room: ChatView,
    outgoing: mpsc::UnboundedSender<OutboxRequest>,
    /// Number of requests without an answer.
    under_way: usize,
    to: Option<String>,
    reply: Option<u64>,
    /// Texts that the person typed, which the terminal shows already.
    typed: Vec<String>,
    echoes: bool,
    over: bool,
    refused: Option<Fault>,
}

/// Chats line by line. Returns after the end of input when every agent has answered, or when the
/// server refuses the stream. If a request failed, returns the latest error.
pub async fn run(
    context: &Context,
    thread: &str,
    me: &str,
    state: &ThreadStateAnswer,
) -> Result<(), Fault> {
    let Line { mut heard, outgoing, mut answers } = Line::open(context, state, me);
    let person = std::io::stdin().is_terminal();
    if person {
        note("plain text, one block for each message; /help; Ctrl-D leaves");
    }
    let mut plain = PlainChat {
        context,
        thread,
        me,
        room: ChatView::new(state, me),
        outgoing,
        under_way: 0,
        to: None,
        reply: None,
        typed: Vec::new(),
        echoes: !person,
        over: false,
        refused: None,
    };
    let held = gathering(context, state, me).await?;
    held.iter().for_each(|held| plain.room.gathers(held));
    for envelope in &earlier(context, state).await? {
        // A pipe prints only new messages. Earlier ones are still read, so that lines can reply to
        // them.
        if person {
            plain.show(envelope)?;
        } else {
            plain.room.hear(envelope);
        }
    }
    let standing: Vec<Item> = held.iter().flat_map(|held| plain.room.stands(held)).collect();
    let asked = plain.room.recall(&permit::permission_events(&context.client, state).await?);
    for item in standing.into_iter().chain(asked).chain(plain.room.call()) {
        plain.tell(&item)?;
    }
    if !context.client.is_person(me)
        && let Some(word) = plain.room.stranger(me)
    {
        note(&word);
    }
    let mut lines = input();
    while !(plain.over && plain.is_answered().await?) {
        tokio::select! {
            line = lines.recv(), if !plain.over => match line {
                Some(line) => plain.line(&line),
                None => plain.over = true,
            },
            Some(heard) = heard.recv() => {
                if plain.hear(heard)? == LineStep::Ends {
                    return plain.refused.map_or(Ok(()), Err);
                }
            }
            Some(answer) = answers.recv() => plain.answer(answer)?,
            () = tokio::time::sleep(LOOK_EVERY), if plain.over => {}
        }
    }
    plain.rest().await?;
    plain.refused.map_or(Ok(()), Err)
}

#[derive(PartialEq, Eq)]
enum LineStep {
    On,
    Ends,
}

/// Starts a thread that reads the lines of standard input, and returns the receiver of them. A
/// backslash at the end of a line joins it with the next line by a line break.
fn input() -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let mut bytes = Vec::new();
        let mut stdin = std::io::stdin().lock();
        while stdin.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            text.push_str(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
            bytes.clear();
            if text.ends_with('\\') {
                text.pop();
                text.push('\n');
            } else if sender.send(std::mem::take(&mut text)).is_err() {
                return;
            }
        }
        if !text.is_empty() {
            let _ = sender.send(text);
        }
    });
    lines
}

impl PlainChat<'_> {
    /// Carries out a typed line. `/quit` counts as the end of input; an empty line has no effect.
    fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        match parse(line, &self.room.faces) {
            LineAction::Say { text, reply, to } => {
                let Some(reply_to) = self.replied(reply.or(self.reply)) else { return };
                self.reply = None;
                self.typed.push(text.clone());
                self.send(Matter::Say { text, to: to.or_else(|| self.to.clone()), reply_to });
            }
            LineAction::ReplyNext(number) => self.reply = number,
            LineAction::Address(to) => self.to = to,
            LineAction::Permit { answer, number } => {
                match self.room.asks.one(number).map(|asked| asked.permission.clone()) {
                    Ok(permission) => self.send(Matter::Permit { permission, answer }),
                    Err(what) => note(&what),
                }
            }
            LineAction::Command(text) => self.send(Matter::Command(text)),
            LineAction::Help => self.send(Matter::Help),
            LineAction::Quit => self.over = true,
            LineAction::Wrong(line) => note(&line),
        }
    }

    /// Returns the id of the message with this number, or `Some(None)` without a number. If the
    /// number is unknown, prints a note and returns `None`: the message must not be sent.
    fn replied(&self, number: Option<u64>) -> Option<Option<String>> {
        let Some(number) = number else { return Some(None) };
        let id = self.room.id_of(number).map(str::to_owned);
        if id.is_none() {
            note(&format!("not sent: message {number} does not exist here"));
        }
        id.map(Some)
    }

    fn send(&mut self, matter: Matter) {
        self.under_way += 1;
        // The receiver lives as long as this chat.
        let _ = self.outgoing.send(OutboxRequest::new(self.me, matter));
    }

    /// Prints the server's answer to a request. An error also becomes the result of the chat.
    fn answer(&mut self, answer: SendOutcome) -> Result<(), Fault> {
        self.under_way -= 1;
        match answer.result {
            Ok((_, words)) => {
                for text in words {
                    self.context.printer.line(for_terminal(text.trim_end()).as_str())?;
                }
            }
            Err(fault) => {
                let fault = self.room.refused(fault);
                note(&fault.to_string());
                self.refused = Some(fault.mark_printed());
            }
        }
        Ok(())
    }

    /// Applies one item of news from the stream. Returns `Ends` if the server refused the stream.
    fn hear(&mut self, heard: ChatNews) -> Result<LineStep, Fault> {
        match heard {
            ChatNews::Event(envelope) => self.show(&envelope)?,
            ChatNews::State(state) => self.room.update(&state),
            ChatNews::Gathering(held) => {
                for item in self.room.stands(&held) {
                    self.tell(&item)?;
                }
            }
            ChatNews::Delta(_) | ChatNews::Presence(_) => {}
            ChatNews::Away => note("reconnecting…"),
            ChatNews::Back => note("connected again"),
            ChatNews::Refused(fault) => {
                self.refused = Some(fault);
                return Ok(LineStep::Ends);
            }
        }
        Ok(LineStep::On)
    }

    /// Applies an event and prints it. At a terminal, skips the messages that the person typed
    /// here, because they are on the screen already; with `--json` it prints these too.
    fn show(&mut self, envelope: &Envelope) -> Result<(), Fault> {
        let Some(item) = self.room.hear(envelope) else { return Ok(()) };
        if self.context.printer.json {
            return if is_shown(envelope) { self.context.printer.object(envelope) } else { Ok(()) };
        }
        if let Item::Message(said) = &item
            && said.from == self.me
            && !self.echoes
            && let Some(place) = self.typed.iter().position(|text| *text == said.text)
        {
            self.typed.remove(place);
            return Ok(());
        }
        self.tell(&item)
    }

    fn tell(&self, item: &Item) -> Result<(), Fault> {
        match render::plain(item, &self.room).filter(|_| !self.context.printer.json) {
            Some(block) => self.context.printer.line(&block),
            None => Ok(()),
        }
    }

    /// Reads and prints the events that the stream has not delivered yet.
    async fn rest(&mut self) -> Result<(), Fault> {
        for envelope in after(
            &self.context.client,
            self.thread,
            self.room.heard,
            EventSelection::Conversation,
            |_| true,
        )
        .await?
        .events
        {
            self.show(&envelope)?;
        }
        Ok(())
    }

    /// True if every request is answered, and no agent is about to speak. False while the server is
    /// unreachable. Notes a pause, because it may be the reason for silence.
    async fn is_answered(&self) -> Result<bool, Fault> {
        if self.under_way > 0 {
            return Ok(false);
        }
        match threads::state(&self.context.client, self.thread).await {
            Ok(state) if is_busy(&state) => Ok(false),
            Ok(state) => {
                if state.state.paused {
                    note("The conversation is paused: agents do not respond until it is resumed.");
                }
                Ok(true)
            }
            Err(_) => Ok(false),
        }
    }
}
