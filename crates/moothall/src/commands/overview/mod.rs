//! The overview, for `moothall` without a command: the requests that wait for the person, the
//! participants at work, and the conversations. At a terminal it stays on the screen: the person
//! answers requests by number and opens conversations.

mod view;

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use moothall_surfaces::wire::{HallStart, OptionEntry};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use self::view::{Overview, OverviewEntry, keys};
use super::chat::{self, Key, Keys, Live, Raw, Screen, screen};
use super::permit::{self, CardAnswer, PendingPermission};
use super::{Context, list};
use crate::cli::{Chat, List, Permit, Thread};
use crate::client::Client;
use crate::fault::Fault;

/// Interval of redrawing, because the shown ages grow. Also the shortest time between two reads
/// from the server.
const DRAW_EVERY: Duration = Duration::from_secs(1);
/// Longest time between two reads from the server, even if it reports no change.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Time after which an Escape byte counts as the key alone.
const ESCAPE_WAIT: Duration = Duration::from_millis(60);
/// Switches to the terminal's second screen, and back to the first. The overview then leaves no
/// rows in the terminal's history.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
/// Time in which digits are ignored after another request became the chosen one without a key of
/// the person, who may mean the earlier one.
const HELD: Duration = Duration::from_millis(500);

/// Shows the overview. At a terminal it stays until the person leaves it. With `--plain`, `--json`
/// or a pipe it is printed one time.
///
/// # Errors
/// The server is unreachable or refuses.
pub async fn run(context: &Context, plain: bool) -> Result<(), Fault> {
    if context.printer.json {
        return context.printer.object(&start(context).await?);
    }
    if plain || chat::is_plain() {
        list::run(context, &List { all: false }).await?;
        return permit::run(context, &Permit::default()).await;
    }
    // The overview is loaded before the screen is switched, so that an error stays readable.
    let overview = load(context).await?;
    let raw = Raw::enter()?;
    screen::write(ENTER);
    let mut desk = LiveOverview {
        context,
        overview,
        chosen: String::new(),
        drawn: Drawn::default(),
        whisper: None,
        screen: Screen::default(),
    };
    let done = desk.live(&raw).await;
    desk.leave();
    drop(raw);
    done
}

async fn start(context: &Context) -> Result<HallStart, Fault> {
    context.client.get("/start").await
}

/// Returns a receiver that is notified of each event in the hall. If the caller may not read the
/// stream of these events, the receiver is never notified, and the overview is read only every
/// [`LOOK_EVERY`].
fn changes(client: &Client) -> watch::Receiver<()> {
    let (told, changes) = watch::channel(());
    let client = client.clone();
    tokio::spawn(async move {
        while !told.is_closed() {
            if let Ok(frames) = client.stream("/events/stream", None).await {
                let mut frames = std::pin::pin!(frames);
                // Events between two streams were missed, so the overview has to be read again.
                told.send_replace(());
                while frames.next().await.is_some() && !told.is_closed() {
                    told.send_replace(());
                }
            }
            tokio::time::sleep(DRAW_EVERY).await;
        }
    });
    changes
}

async fn load(context: &Context) -> Result<Overview, Fault> {
    Ok(Overview { server: context.client.base(), start: start(context).await? })
}

/// The chosen entry as the screen shows it. A key is for this entry, even if newer data has another
/// one in its place.
#[derive(Default)]
struct Drawn {
    choice: Option<OverviewEntry>,
    /// True if the request is on the screen to its end.
    is_whole: bool,
    /// Time from which a digit counts; `None` if it counts immediately.
    ready: Option<Instant>,
}

struct LiveOverview<'a> {
    context: &'a Context,
    overview: Overview,
    /// Id of the chosen entry. If that entry is gone, the next drawing chooses the first one.
    chosen: String,
    drawn: Drawn,
    whisper: Option<String>,
    screen: Screen,
}

/// The effect of a key.
enum OverviewStep {
    On,
    Opens(String),
    Answers(Box<PendingPermission>, OptionEntry),
    Suspended,
    Ends,
}

impl LiveOverview<'_> {
    /// Draws, and applies the next key, signal or change, until the person leaves.
    async fn live(&mut self, raw: &Raw) -> Result<(), Fault> {
        let fault = |error: std::io::Error| Fault::io("cannot watch for signals", &error);
        let mut resized = signal(SignalKind::window_change()).map_err(fault)?;
        let mut ended = signal(SignalKind::terminate()).map_err(fault)?;
        let mut hung_up = signal(SignalKind::hangup()).map_err(fault)?;
        let mut pressed = Keys::default();
        let mut typed = chat::typed().await;
        let (mut changes, mut looked) = (changes(&self.context.client), Instant::now());
        loop {
            self.draw();
            let keys = tokio::select! {
                bytes = typed.recv() => match bytes {
                    Some(bytes) => pressed.push(&bytes),
                    None => return Ok(()),
                },
                () = tokio::time::sleep(ESCAPE_WAIT), if pressed.is_unsure() => {
                    pressed.settle().into_iter().collect()
                }
                _ = resized.recv() => Vec::new(),
                _ = ended.recv() => return Ok(()),
                _ = hung_up.recv() => return Ok(()),
                () = tokio::time::sleep(DRAW_EVERY) => {
                    let is_changed = changes.has_changed().unwrap_or(true);
                    if is_changed || looked.elapsed() >= LOOK_EVERY {
                        changes.mark_unchanged();
                        looked = Instant::now();
                        self.look().await;
                    }
                    Vec::new()
                }
            };
            for key in keys {
                match self.press(&key) {
                    OverviewStep::On => {}
                    OverviewStep::Ends => return Ok(()),
                    OverviewStep::Suspended => {
                        self.leave();
                        raw.suspend();
                        screen::write(ENTER);
                    }
                    OverviewStep::Answers(asked, option) => self.answer(&asked, option).await,
                    OverviewStep::Opens(thread) => {
                        self.leave();
                        drop(typed);
                        self.open(thread).await?;
                        screen::write(ENTER);
                        typed = chat::typed().await;
                        self.look().await;
                        break;
                    }
                }
                self.draw();
            }
        }
    }

    /// Removes the rows, and switches the terminal back to its first screen.
    fn leave(&mut self) {
        screen::write(&(self.screen.leave(screen::size().0) + LEAVE));
    }

    /// Reads the overview from the server again. An error is shown in the last row until the next
    /// key.
    async fn look(&mut self) {
        match load(self.context).await {
            Ok(overview) => self.overview = overview,
            Err(fault) => self.whisper = Some(fault.what),
        }
    }

    async fn open(&self, thread: String) -> Result<(), Fault> {
        let chat = Chat { thread: Thread { thread }, speaker: None, plain: false };
        chat::run(self.context, &chat).await
    }

    /// Sends the chosen option as the answer to a request, then reads the overview again. Shows the
    /// result, or the error, in the last row.
    async fn answer(&mut self, asked: &PendingPermission, option: OptionEntry) {
        let (client, me) = (&self.context.client, self.context.client.name());
        let answer = CardAnswer { option: option.id, text: None };
        let path = (asked.thread.as_str(), asked.permission.as_str());
        self.whisper = match permit::answer(client, path.0, me, path.1, &answer, None).await {
            Ok(_) => Some(format!("Answered {}: {}.", asked.participant, option.label)),
            Err(fault) => Some(fault.what),
        };
        let whisper = self.whisper.take();
        self.look().await;
        self.whisper = whisper.or_else(|| self.whisper.take());
    }

    /// Draws the overview around the chosen entry, and notes what the screen shows then.
    fn draw(&mut self) {
        let choices = self.overview.choices();
        let found = choices.iter().find(|choice| choice.id == self.chosen).or(choices.first());
        let is_new = found.map(|one| &one.id) != self.drawn.choice.as_ref().map(|one| &one.id);
        self.chosen = found.map(|one| one.id.clone()).unwrap_or_default();
        let (columns, rows) = screen::size();
        // The last column stays free: some terminals wrap as soon as it is filled.
        let columns = columns.saturating_sub(1);
        let drawing = self.overview.draw(&self.context.printer, &self.chosen, columns);
        let (shown, is_cut) = around(drawing.rows, drawing.row, rows.saturating_sub(2));
        let mut live = Live { row: shown.len(), column: 0, rows: shown };
        live.rows.push(keys(&self.context.printer, self.whisper.as_deref(), columns));
        let ready = if is_new { self.ready_from() } else { self.drawn.ready };
        self.drawn = Drawn { choice: found.cloned(), is_whole: drawing.is_whole && !is_cut, ready };
        screen::write(&self.screen.draw(&[], live, columns + 1));
    }

    /// Returns the time from which a digit answers the newly chosen entry. `None`, which means
    /// immediately, if the person moved to it: the entry that was drawn before is still there.
    fn ready_from(&self) -> Option<Instant> {
        let was_moved = self.drawn.choice.as_ref().is_some_and(|drawn| {
            drawn.id != self.chosen && self.overview.choices().iter().any(|one| one.id == drawn.id)
        });
        (!was_moved).then(|| Instant::now() + HELD)
    }

    /// Applies a key, and returns its effect.
    fn press(&mut self, key: &Key) -> OverviewStep {
        self.whisper = None;
        match key {
            Key::Char('q') | Key::Ctrl('c' | 'd') => return OverviewStep::Ends,
            Key::Ctrl('z') => return OverviewStep::Suspended,
            Key::Up | Key::Char('k') => self.step(-1),
            Key::Down | Key::Char('j') => self.step(1),
            Key::Enter => {
                if let Some(choice) = &self.drawn.choice {
                    return OverviewStep::Opens(choice.thread.clone());
                }
            }
            Key::Char(digit @ '1'..='9') => return self.digit(*digit),
            _ => {}
        }
        OverviewStep::On
    }

    /// Returns the answer to the request on the screen: its option with this number. An option that
    /// allows needs the whole request on the screen; an option that refuses does not. An option
    /// that takes text only shows the command for it. Ignores a digit that comes right after
    /// another entry took the place of the drawn one, because the person perhaps meant the entry
    /// before.
    fn digit(&mut self, digit: char) -> OverviewStep {
        let Some(asked) = self.drawn.choice.as_ref().and_then(|choice| choice.asked.clone()) else {
            return OverviewStep::On;
        };
        if self.drawn.ready.is_some_and(|ready| Instant::now() < ready) {
            return OverviewStep::On;
        }
        let place = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0);
        let Some(option) = place.checked_sub(1).and_then(|at| asked.options.get(at)).cloned()
        else {
            self.whisper = Some(format!("There is no answer {digit}."));
            return OverviewStep::On;
        };
        let refuses = option.kind.starts_with("reject");
        if option.takes_text {
            self.whisper = Some(format!(
                "In your own words: moothall permit {} {digit} --number {} --text \"…\"",
                crate::threads::short(&asked.thread),
                asked.number
            ));
            return OverviewStep::On;
        }
        if !refuses && !self.drawn.is_whole {
            self.whisper = Some("Only a part is shown. Enter opens it to read the rest.".into());
            return OverviewStep::On;
        }
        OverviewStep::Answers(Box::new(asked), option)
    }

    /// Moves the choice by `step` entries, and stops at the first and the last.
    fn step(&mut self, step: isize) {
        let choices = self.overview.choices();
        let at = choices.iter().position(|choice| choice.id == self.chosen).unwrap_or(0);
        let next = at.saturating_add_signed(step).min(choices.len().saturating_sub(1));
        self.chosen = choices.get(next).map(|choice| choice.id.clone()).unwrap_or_default();
    }
}

/// Returns the rows around the chosen one that fit, and true if rows are missing below the returned
/// ones.
fn around(mut rows: Vec<String>, chosen: usize, most: usize) -> (Vec<String>, bool) {
    if rows.len() <= most {
        return (rows, false);
    }
    let first = chosen.saturating_sub(most / 4).min(rows.len() - most);
    let is_cut = first + most < rows.len();
    rows.truncate(first + most);
    (rows.split_off(first), is_cut)
}
