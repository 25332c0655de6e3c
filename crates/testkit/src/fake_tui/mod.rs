//! A stand-in for a command-line agent: a small terminal program that tests drive like the real
//! ones.
//!
//! One thread reads keys, and each waiting hook has its own thread. The main loop takes their
//! results one after another.

mod choosing;
mod hooks;
mod keys;
mod options;
mod screen;
mod turn;
mod within;

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use keys::{Key, Keys};
pub use options::{HELP, Options};
use screen::Screen;
use turn::Turn;
pub use within::{act, script, within};

/// Time for which the screen is blank when it is redrawn.
const BLANK: Duration = Duration::from_millis(300);

/// Text of the dialog that the stand-in opens by itself.
pub const PLANTED: &str = "install an update";

/// The events that wake the main loop.
enum Wake {
    Key(Key),
    /// A permission hook decided the question with this number.
    Decided(usize, bool),
    /// The stand-in opens its own dialog.
    Planted,
    /// The terminal is gone.
    Closed,
}

/// The next step of the main loop.
enum Next {
    On,
    Shell,
    Exit(i32),
}

/// The running stand-in.
struct Tui {
    options: Options,
    screen: Screen,
    answers: VecDeque<String>,
    turn: Option<Turn>,
    waiting: Vec<String>,
    questions: usize,
    interrupts: usize,
    wakes: Sender<Wake>,
}

/// Runs until it is asked to end or its terminal is gone.
///
/// # Errors
/// The terminal cannot be written to.
pub fn run(options: Options) -> io::Result<()> {
    terminal(&["raw", "-echo"])?;
    thread::sleep(options.start_delay);
    let (wakes, woken) = mpsc::channel();
    let keys = wakes.clone();
    thread::spawn(move || read_keys(&keys));
    print!("\x1b[?2004h");
    let mut tui = Tui::new(options, wakes);
    tui.hook("SessionStart", "source", "startup");
    let end = tui.main(&woken);
    tui.hook("SessionEnd", "reason", "exit");
    print!("\x1b[?2004l\r\n");
    io::stdout().flush()?;
    terminal(&["sane"])?;
    match end? {
        Next::Shell => Command::new("sh").status().map(|_| ()),
        Next::Exit(code) => std::process::exit(code),
        Next::On => Ok(()),
    }
}

fn terminal(settings: &[&str]) -> io::Result<()> {
    Command::new("stty").args(settings).status().map(|_| ())
}

fn read_keys(wakes: &Sender<Wake>) {
    let mut keys = Keys::default();
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = io::stdin().lock().read(&mut bytes) {
        for key in keys.read(&bytes[..count]) {
            // The program may be ending; then the key does not matter.
            let _ = wakes.send(Wake::Key(key));
        }
    }
    let _ = wakes.send(Wake::Closed);
}

impl Tui {
    fn new(options: Options, wakes: Sender<Wake>) -> Self {
        let screen = Screen { name: options.name.clone(), ..Screen::default() };
        let answers = options.answers.iter().cloned().collect();
        Self {
            options,
            screen,
            answers,
            turn: None,
            waiting: Vec::new(),
            questions: 0,
            interrupts: 0,
            wakes,
        }
    }

    fn main(&mut self, woken: &Receiver<Wake>) -> io::Result<Next> {
        loop {
            self.screen.working = self.turn.is_some() && !self.screen.asks();
            self.screen.draw()?;
            let until =
                self.turn.as_ref().and_then(|turn| turn.until).filter(|_| !self.screen.asks());
            let wake = match until {
                Some(until) => woken.recv_timeout(until.saturating_duration_since(Instant::now())),
                None => woken.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let next = match wake {
                Ok(Wake::Key(key)) => self.key(key),
                Ok(Wake::Decided(question, allowed)) if question == self.questions => {
                    self.decided(allowed)
                }
                Ok(Wake::Decided(..)) => Next::On,
                Ok(Wake::Planted) => {
                    self.screen.asking = Some(PLANTED.to_owned());
                    Next::On
                }
                Err(RecvTimeoutError::Timeout) => self.finish(),
                Ok(Wake::Closed) | Err(RecvTimeoutError::Disconnected) => Next::Exit(0),
            };
            match next {
                Next::On => {}
                Next::Shell | Next::Exit(_) => return Ok(next),
            }
        }
    }

    fn key(&mut self, key: Key) -> Next {
        let interrupts = std::mem::take(&mut self.interrupts);
        match key {
            key if self.screen.choosing.is_some() => {
                let half = if key == Key::Up { self.options.half_arrow.take() } else { None };
                let next = self.choose(key);
                self.draw_half(half);
                return next;
            }
            Key::Text(text) if self.screen.asking.is_some() => return self.answer(&text),
            Key::Text(text) => self.screen.composer.typed(&text),
            Key::Paste(text) => {
                self.screen.composer.pasted(&text);
                let half = self.options.half.take();
                self.draw_half(half);
                let after = self.options.plant.take();
                self.plant(after);
            }
            Key::Backspace => self.screen.composer.back(),
            Key::Up => {}
            Key::Enter if self.screen.asking.is_some() => return self.decided(true),
            Key::Enter => return self.enter(),
            Key::Escape if self.screen.asking.is_some() => return self.decided(false),
            Key::Escape => self.interrupt(),
            Key::Interrupt if interrupts > 0 => return Next::Exit(130),
            Key::Interrupt => self.interrupts = 1,
        }
        Next::On
    }

    fn answer(&mut self, digit: &str) -> Next {
        match digit {
            "1" => self.decided(true),
            "2" => self.decided(false),
            _ => Next::On,
        }
    }

    /// Draws half of the screen and waits, as programs on a busy computer do.
    fn draw_half(&self, half: Option<Duration>) {
        let Some(half) = half else { return };
        if self.screen.draw_half().is_ok() {
            thread::sleep(half);
        }
    }

    /// Opens its own dialog after a while.
    fn plant(&self, after: Option<Duration>) {
        let Some(after) = after else { return };
        let wakes = self.wakes.clone();
        thread::spawn(move || {
            thread::sleep(after);
            // The program may be ending; then the dialog does not matter.
            let _ = wakes.send(Wake::Planted);
        });
    }

    fn enter(&mut self) -> Next {
        let after = self.options.plant_enter.take();
        self.plant(after);
        if self.options.lose_enters > 0 {
            self.options.lose_enters -= 1;
            // A program that is still starting does this: its screen is blank for a moment.
            if self.screen.clear().is_ok() {
                thread::sleep(BLANK);
            }
            return Next::On;
        }
        if self.screen.composer.is_empty() {
            return Next::On;
        }
        let prompt = self.screen.composer.take();
        self.waiting.push(prompt);
        if self.turn.is_none() { self.begin() } else { Next::On }
    }

    fn interrupt(&mut self) {
        if self.turn.take().is_some() {
            self.screen.say('⎿', "Interrupted · What should it do instead?");
        }
    }
}
