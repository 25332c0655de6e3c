//! The chat at a terminal: messages scroll up, live rows stand below them, and output never tears
//! the input line.

use std::io::Read;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use moothall_surfaces::wire::{
    AgentList, CommandList, Envelope, NewPresence, PresenceAccepted, ThreadStateAnswer,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex, MutexGuard, mpsc};

use super::complete::Book;
use super::editor::{Editor, KeyOutcome};
use super::history::History;
use super::input::{LineAction, parse};
use super::keys::{Key, Keys};
use super::outbox::{Matter, OutboxRequest, SendOutcome};
use super::render::RenderContext;
use super::room::{ChatView, Item, ShownMessage};
use super::screen::{self, Live, Raw, Screen};
use super::stream::ChatNews;
use super::width::{clip, width};
use super::{Line, earlier, gathering};
use crate::commands::{Context, permit};
use crate::config::{environment, usual_state_folder};
use crate::fault::Fault;
use crate::paint::{Style, note};
use crate::threads;

/// Time after which an Escape byte counts as the key alone.
const ESCAPE_WAIT: Duration = Duration::from_millis(60);
/// Interval of redrawing, so that old presence disappears.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Interval of redrawing while the person holds the talking piece and the remaining time is shown.
const COUNT_EVERY: Duration = Duration::from_secs(1);
/// Interval after which the typing presence is sent again.
const TYPING_AGAIN: Duration = Duration::from_secs(60);
/// Prompt of the input line.
const PROMPT: &str = "› ";
const WELCOME: &str = "Tab completes @names and /commands; /help; Ctrl-D leaves.";
const ASK_STOP: &str = "Press Ctrl-C again to stop all running and queued turns; Ctrl-D leaves.";
const NOTHING_RUNS: &str = "Nothing runs. Ctrl-D leaves.";

/// A request without an answer, or one whose event has not arrived yet.
struct PendingRequest {
    key: String,
    said: ShownMessage,
    seq: Option<u64>,
}

struct InteractiveChat<'a> {
    context: &'a Context,
    thread: String,
    me: &'a str,
    room: ChatView,
    book: Book,
    editor: Editor,
    history: History,
    screen: Screen,
    outgoing: mpsc::UnboundedSender<OutboxRequest>,
    pending: Vec<PendingRequest>,
    to: Option<String>,
    reply: Option<u64>,
    away: bool,
    /// Time of the last typing presence, if one is active.
    typing_since: Option<Instant>,
    /// Hint below the line, until the next key.
    whisper: Option<&'static str>,
    settled: Vec<String>,
    size: (usize, usize),
}

/// Effect of a key on the chat.
enum LoopStep {
    On,
    Suspended,
    Ends,
}

/// Shows earlier messages and open requests, then switches the terminal to raw mode and chats until
/// the person leaves. Restores the terminal before it returns, and names messages that were perhaps
/// not sent.
pub async fn run(
    context: &Context,
    thread: &str,
    me: &str,
    state: &ThreadStateAnswer,
) -> Result<(), Fault> {
    let before = earlier(context, state).await?;
    let commands: CommandList = context.client.get("/commands").await?;
    let agents: AgentList = context.client.get("/agents").await?;
    let line = Line::open(context, state, me);
    let history = History::at(usual_state_folder(&environment()));
    let mut book =
        Book::new(commands.commands, agents.agents.into_iter().map(|agent| agent.client).collect());
    book.update(state);
    let mut chat = InteractiveChat {
        context,
        thread: thread.to_owned(),
        me,
        room: ChatView::new(state, me),
        book,
        editor: Editor::new(history.read()),
        history,
        screen: Screen::default(),
        outgoing: line.outgoing,
        pending: Vec::new(),
        to: None,
        reply: None,
        away: false,
        typing_since: None,
        whisper: None,
        settled: Vec::new(),
        size: screen::size(),
    };
    let held = gathering(context, state, me).await?;
    held.iter().for_each(|held| chat.room.gathers(held));
    for envelope in &before {
        chat.event(envelope);
    }
    let standing: Vec<Item> = held.iter().flat_map(|held| chat.room.stands(held)).collect();
    let asked = chat.room.recall(&permit::permission_events(&context.client, state).await?);
    for item in standing.into_iter().chain(asked).chain(chat.room.call()) {
        let rows = chat.brush().item(&item);
        chat.settled.extend(rows);
    }
    chat.say(WELCOME, Style::Dim);
    if !context.client.is_person(me)
        && let Some(word) = chat.room.stranger(me)
    {
        chat.say(&word, Style::Warn);
    }
    let raw = Raw::enter()?;
    let done = chat.live(&raw, line.heard, line.answers).await;
    screen::write(&chat.screen.leave(chat.size.0));
    // The farewell is printed as plain lines, which need the terminal's own mode.
    drop(raw);
    chat.farewell();
    done
}

/// Returns the bytes of standard input, for one reader at a time. A read cannot be cancelled, so a
/// single thread reads for all of them.
pub async fn typed() -> MutexGuard<'static, mpsc::UnboundedReceiver<Vec<u8>>> {
    static BYTES: OnceLock<Mutex<mpsc::UnboundedReceiver<Vec<u8>>>> = OnceLock::new();
    BYTES.get_or_init(|| Mutex::new(read_along())).lock().await
}

/// Reads raw bytes from standard input.
fn read_along() -> mpsc::UnboundedReceiver<Vec<u8>> {
    let (sender, bytes) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        let mut stdin = std::io::stdin().lock();
        loop {
            match stdin.read(&mut buffer) {
                Ok(count) if count > 0 && sender.send(buffer[..count].to_vec()).is_ok() => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                _ => return,
            }
        }
    });
    bytes
}

impl InteractiveChat<'_> {
    /// Draws the screen and applies the next input, in turn: bytes typed, news of the conversation,
    /// answers to requests, signals, or a timer. Returns if the person leaves, the input ends, or
    /// SIGTERM or SIGHUP arrives. Returns an error if the server refuses the stream, or if signals
    /// cannot be watched.
    async fn live(
        &mut self,
        raw: &Raw,
        mut heard: mpsc::Receiver<ChatNews>,
        mut answers: mpsc::UnboundedReceiver<SendOutcome>,
    ) -> Result<(), Fault> {
        let fault = |error: std::io::Error| Fault::io("cannot watch for signals", &error);
        let mut resized = signal(SignalKind::window_change()).map_err(fault)?;
        let mut ended = signal(SignalKind::terminate()).map_err(fault)?;
        let mut hung_up = signal(SignalKind::hangup()).map_err(fault)?;
        let (mut bytes, mut keys) = (typed().await, Keys::default());
        loop {
            self.draw();
            let look = if self.room.is_on() { COUNT_EVERY } else { LOOK_EVERY };
            let pressed = tokio::select! {
                bytes = bytes.recv() => match bytes {
                    Some(bytes) => keys.push(&bytes),
                    None => return Ok(()),
                },
                () = tokio::time::sleep(ESCAPE_WAIT), if keys.is_unsure() => {
                    keys.settle().into_iter().collect()
                }
                Some(first) = heard.recv() => {
                    self.hear(first)?;
                    // Apply everything that has arrived before the next drawing.
                    while let Ok(next) = heard.try_recv() {
                        self.hear(next)?;
                    }
                    Vec::new()
                }
                Some(answer) = answers.recv() => { self.answer(answer); Vec::new() }
                _ = resized.recv() => { self.size = screen::size(); Vec::new() }
                _ = ended.recv() => return Ok(()),
                _ = hung_up.recv() => return Ok(()),
                () = tokio::time::sleep(look) => Vec::new(),
            };
            for key in pressed {
                match self.press(&key) {
                    LoopStep::On => {}
                    LoopStep::Ends => return Ok(()),
                    LoopStep::Suspended => {
                        screen::write(&self.screen.leave(self.size.0));
                        raw.suspend();
                        self.size = screen::size();
                    }
                }
            }
        }
    }

    /// Applies a key. On an empty line, Ctrl-C shows a hint in `whisper`, which the next key
    /// removes. If turns run or requests wait, the hint asks for a second Ctrl-C. If the next key
    /// is Ctrl-C again, all turns are stopped.
    fn press(&mut self, key: &Key) -> LoopStep {
        let asked = self.whisper.take() == Some(ASK_STOP);
        match self.editor.press(key, &self.book) {
            KeyOutcome::Edited => {}
            KeyOutcome::Submitted(line) => {
                self.tell_typing();
                return self.submit(&line);
            }
            KeyOutcome::Interrupted if asked => self.send(Matter::Stop, "/stop"),
            KeyOutcome::Interrupted => {
                self.whisper = Some(if self.room.is_busy() || !self.pending.is_empty() {
                    ASK_STOP
                } else {
                    NOTHING_RUNS
                })
            }
            KeyOutcome::Left => return LoopStep::Ends,
            KeyOutcome::Cleared => screen::write(&self.screen.clear()),
            KeyOutcome::Suspended => return LoopStep::Suspended,
        }
        self.tell_typing();
        LoopStep::On
    }

    /// Sends presence if the person has begun or stopped writing, and again after [`TYPING_AGAIN`]
    /// of writing. Writing a command counts as not writing. Sends nothing while the server is away.
    fn tell_typing(&mut self) {
        let text = self.editor.text();
        let typing = !text.is_empty() && !text.starts_with('/');
        let announced = self.typing_since.is_some_and(|since| since.elapsed() < TYPING_AGAIN);
        if self.away || typing == announced || (!typing && self.typing_since.is_none()) {
            return;
        }
        self.typing_since = typing.then(Instant::now);
        let state = if typing { "typing" } else { "listening" };
        let presence = NewPresence {
            from: Some(self.me.to_owned()),
            state: Some(state.into()),
            details: None,
        };
        let (client, path) = (self.context.client.clone(), threads::path(&self.thread, "presence"));
        tokio::spawn(async move {
            // Presence is best effort.
            let _: Result<PresenceAccepted, _> =
                client.post_keyed(&path, &presence, &uuid::Uuid::now_v7().to_string()).await;
        });
    }

    /// Stores a typed line in the history and carries it out. Returns `Ends` for `/quit`. Shows a
    /// warning for a line that cannot be carried out.
    fn submit(&mut self, line: &str) -> LoopStep {
        self.editor.remember(line);
        self.history.keep(line);
        match parse(line, &self.room.faces) {
            LineAction::Say { text, reply, to } => {
                self.words(text, reply.or(self.reply), to.or_else(|| self.to.clone()))
            }
            LineAction::ReplyNext(Some(number)) if self.room.id_of(number).is_none() => {
                self.unknown_number(number)
            }
            LineAction::ReplyNext(number) => self.reply = number,
            LineAction::Address(to) => self.to = to,
            LineAction::Permit { answer, number } => {
                match self.room.asks.one(number).map(|asked| asked.permission.clone()) {
                    Ok(permission) => self.send(Matter::Permit { permission, answer }, line),
                    Err(what) => self.say(&what, Style::Warn),
                }
            }
            LineAction::Command(text) => self.send(Matter::Command(text.clone()), &text),
            LineAction::Help => self.send(Matter::Help, "/help"),
            LineAction::Quit => return LoopStep::Ends,
            LineAction::Wrong(line) => self.say(&line, Style::Warn),
        }
        LoopStep::On
    }

    fn unknown_number(&mut self, number: u64) {
        self.say(&format!("message {number} is not among those shown here"), Style::Warn);
    }

    /// Sends a message. If it replies to an unknown number, warns and puts the text back into the
    /// input line instead.
    fn words(&mut self, text: String, reply: Option<u64>, to: Option<String>) {
        let reply_to =
            match reply.map(|number| self.room.id_of(number).map(str::to_owned).ok_or(number)) {
                None => None,
                Some(Ok(id)) => Some(id),
                Some(Err(number)) => {
                    self.editor.restore(&text);
                    return self.unknown_number(number);
                }
            };
        self.reply = None;
        let said = ShownMessage {
            from: self.me.to_owned(),
            to: to.clone(),
            reply,
            text: text.clone(),
            ..ShownMessage::default()
        };
        self.post(Matter::Say { text, to, reply_to }, said);
    }

    /// Sends a request, and shows `shown` as a pending line of the person until the server has
    /// answered.
    fn send(&mut self, matter: Matter, shown: &str) {
        let said = ShownMessage {
            from: self.me.to_owned(),
            text: shown.to_owned(),
            ..ShownMessage::default()
        };
        self.post(matter, said);
    }

    fn post(&mut self, matter: Matter, said: ShownMessage) {
        let outgoing = OutboxRequest::new(self.me, matter);
        self.pending.push(PendingRequest { key: outgoing.key.clone(), said, seq: None });
        // The receiver lives as long as this chat.
        let _ = self.outgoing.send(outgoing);
    }

    /// Applies the server's answer to a pending request. The text of a failed request returns to
    /// the input line, unless the person is writing another text. An accepted request stays pending
    /// until the stream delivers its event.
    fn answer(&mut self, answer: SendOutcome) {
        let place = self.pending.iter().position(|pending| pending.key == answer.key);
        match answer.result {
            Ok((seq, words)) => {
                match (place, seq) {
                    (Some(place), Some(seq)) if seq > self.room.heard => {
                        self.pending[place].seq = Some(seq)
                    }
                    (Some(place), _) => drop(self.pending.remove(place)),
                    (None, _) => {}
                }
                for text in words {
                    let rows = self.brush().text(&text);
                    self.settled.extend(rows);
                }
            }
            Err(fault) => {
                if let Some(place) = place {
                    let pending = self.pending.remove(place);
                    self.editor.restore(&pending.said.text);
                }
                let fault = self.room.refused(fault);
                self.say(&format!("failed: {}", fault.what), Style::Warn);
            }
        }
    }

    /// Applies one item of news from the stream. Returns an error if the server refused the stream.
    fn hear(&mut self, heard: ChatNews) -> Result<(), Fault> {
        match heard {
            ChatNews::Event(envelope) => self.event(&envelope),
            ChatNews::Delta(delta) => self.room.delta(delta),
            ChatNews::Presence(update) => self.room.presence(update, Instant::now()),
            ChatNews::State(state) => {
                self.room.update(&state);
                self.book.update(&state);
            }
            ChatNews::Gathering(held) => {
                for item in self.room.stands(&held) {
                    let rows = self.brush().item(&item);
                    self.settled.extend(rows);
                }
            }
            ChatNews::Away => self.away = true,
            ChatNews::Back => {
                self.away = false;
                self.say("connected again; nothing was missed", Style::Dim);
            }
            ChatNews::Refused(fault) => return Err(fault),
        }
        Ok(())
    }

    /// Applies an event and adds its rows to those that scroll up. The request that caused the
    /// event is not pending any more: it has the event's position, or the same author and text.
    fn event(&mut self, envelope: &Envelope) {
        let item = self.room.hear(envelope);
        let same_words = |said: &ShownMessage| {
            matches!(
                &item,
                Some(Item::Message(now)) if now.from == said.from && now.text == said.text
            )
        };
        let arrived = self
            .pending
            .iter()
            .position(|pending| pending.seq == Some(envelope.seq) || same_words(&pending.said));
        if let Some(place) = arrived {
            self.pending.remove(place);
        }
        if let Some(item) = item {
            let rows = self.brush().item(&item);
            self.settled.extend(rows);
        }
    }

    fn say(&mut self, text: &str, style: Style) {
        let rows = self.brush().note(text, style);
        self.settled.extend(rows);
    }

    fn brush(&self) -> RenderContext<'_> {
        // The last column stays free: some terminals wrap as soon as it is filled.
        RenderContext {
            printer: &self.context.printer,
            faces: &self.room.faces,
            columns: self.size.0.saturating_sub(1).max(10),
        }
    }

    fn draw(&mut self) {
        let live = self.live_rows();
        let settled = std::mem::take(&mut self.settled);
        screen::write(&self.screen.draw(&settled, live, self.size.0));
    }

    /// Returns running answers, unconfirmed messages, the rule, the input line, and a hint below
    /// it.
    fn live_rows(&self) -> Live {
        let brush = self.brush();
        let mut rows = Vec::new();
        let writing: Vec<_> = self.room.writing().collect();
        let each = (self.size.1 / 2).checked_div(writing.len()).unwrap_or_default();
        rows.extend(writing.iter().flat_map(|(from, text)| brush.unfinished(from, text, each)));
        rows.extend(self.pending.iter().flat_map(|pending| brush.message(&pending.said)));
        // Rows that do not fit above the line would scroll up again at every change.
        let most = self.size.1.saturating_sub(2 + self.size.1 / 3 + 1);
        rows.drain(..rows.len().saturating_sub(most));
        rows.push(self.rule(&brush));
        self.line(&brush, rows)
    }

    /// Returns the row above the input line. It shows the first that applies: a broken connection,
    /// the reason why agents do not respond, current activity, or the conversation's name.
    fn rule(&self, brush: &RenderContext<'_>) -> String {
        let waiting = match self.pending.len() {
            0 => String::new(),
            1 => " 1 message waits".into(),
            count => format!(" {count} messages wait"),
        };
        let piece = self.room.piece(Timestamp::now());
        let doing: Vec<String> =
            piece.into_iter().chain(self.room.doing(self.me, Instant::now())).collect();
        let style = if self.room.is_on() { Style::Warn } else { Style::Dim };
        match self.room.still {
            _ if self.away => brush.rule(&format!("reconnecting…{waiting}"), Style::Warn),
            Some(still) => brush.rule(still, Style::Warn),
            None if doing.is_empty() => brush.rule(&self.room.name, Style::Dim),
            None => brush.rule(&doing.join(" · "), style),
        }
    }

    /// Returns the prompt, with the message that is replied to and the addressed participant, if
    /// any.
    fn prompt(&self) -> String {
        let reply = self.reply.map_or_else(String::new, |number| format!("↪{number} "));
        let to = self
            .to
            .as_deref()
            .map_or_else(String::new, |to| format!("→{} ", clip(self.room.faces.name(to), 12)));
        format!("{reply}{to}{PROMPT}")
    }

    /// Appends the input line, its completions and its hints to `rows`, and places the cursor.
    fn line(&self, brush: &RenderContext<'_>, mut rows: Vec<String>) -> Live {
        let printer = &self.context.printer;
        let prompt = self.prompt();
        let lead = width(&prompt);
        let (written, row, column) = self.editor.rows(brush.columns.saturating_sub(lead).max(4));
        // Show only the rows around the cursor if the text is long.
        let most = (self.size.1 / 3).max(1);
        let first = (row + 1).saturating_sub(most);
        let begin = rows.len();
        for (place, text) in written.iter().enumerate().skip(first).take(most) {
            let before =
                if place == 0 { printer.paint(Style::Bold, &prompt) } else { " ".repeat(lead) };
            rows.push(format!("{before}{}", printer.paint(Style::Plain, text)));
        }
        let ghost = self.editor.at_end().map(|line| self.book.ghost(line)).unwrap_or_default();
        let free = brush.columns.saturating_sub(lead + column);
        if let Some(last) = rows.last_mut().filter(|_| !ghost.is_empty() && free > 1) {
            last.push_str(&printer.paint(Style::Dim, &clip(&ghost, free)));
        }
        rows.extend(self.below(brush));
        Live { rows, row: begin + row - first, column: lead + column }
    }

    /// Returns the row below the line, the first that applies: the hint in `whisper`, completions,
    /// or a command's description.
    fn below(&self, brush: &RenderContext<'_>) -> Option<String> {
        let printer = &self.context.printer;
        if let Some(whisper) = self.whisper {
            return Some(printer.paint(Style::Warn, &clip(&format!("  {whisper}"), brush.columns)));
        }
        if let Some((words, taken)) = self.editor.choices() {
            return Some(choices(brush, words, taken));
        }
        let hint = self.book.hint(self.editor.text())?;
        Some(printer.paint(Style::Dim, &clip(&format!("  {hint}"), brush.columns)))
    }

    /// Prints the requests that the server has not answered, so that their texts are not lost.
    fn farewell(&self) {
        for pending in self.pending.iter().filter(|pending| pending.seq.is_none()) {
            note(&format!("perhaps not sent: {}", pending.said.text));
        }
    }
}

/// Returns the completions on one row, scrolled so that the selected one is visible.
fn choices(brush: &RenderContext<'_>, words: &[String], taken: Option<usize>) -> String {
    let room = brush.columns.saturating_sub(3);
    let used = |first: usize| {
        words[first..=taken.unwrap_or(first)].iter().map(|word| width(word) + 2).sum::<usize>()
    };
    let first =
        (0..=taken.unwrap_or(0)).find(|first| used(*first) <= room).unwrap_or(taken.unwrap_or(0));
    let (mut row, mut cells) = (String::from(" "), 1);
    for (place, word) in words.iter().enumerate().skip(first) {
        cells += width(word) + 1;
        if cells + 2 > brush.columns {
            row.push('…');
            break;
        }
        let style = if taken == Some(place) { Style::Bold } else { Style::Dim };
        row.push(' ');
        row.push_str(&brush.printer.paint(style, word));
    }
    row
}
