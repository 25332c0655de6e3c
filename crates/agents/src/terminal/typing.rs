//! Typing text and keys into a program, with a look at its screen before and after.
//!
//! Between two looks the only wait is for the pane's own drawing, with a bound.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moothall_engine::sessions::{
    Dialog, HostFault, Key, Pane, PaneState, Paste, PasteReport, View,
};
use moothall_kernel::text::change_parts;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::Vendor;
use super::answering::squeezed;
use super::control::Control;
use super::hygiene::for_composer;
use super::obeyed::ComposerWords;
use super::tmux_command::TmuxCommand;
use super::{TmuxHost, run_of};

/// Longest paste; longer than the longest message, so that no message fails here.
const PASTE_BYTES_MAX: usize = 1 << 20;

/// Time for a program to show a paste; after it, the paste failed.
pub(super) const TAKES_PASTE: Duration = Duration::from_secs(10);

/// Silence after which an Enter counts as lost, if the program has drawn since that Enter.
const TAKES_ENTER: Duration = Duration::from_secs(2);

/// Time after which an Enter counts as lost if the program has drawn nothing since.
const HANGS: Duration = Duration::from_secs(20);

/// Most repeated Enters.
const ENTERS_AGAIN: usize = 4;

/// Silence after which a program has finished reading a paste: an Enter sent earlier would become
/// part of the paste.
const SETTLED: Duration = Duration::from_millis(120);

/// Longest wait for that silence, for a program that never stops drawing.
const SETTLES: Duration = Duration::from_secs(1);

/// Longest wait for an interrupted program to stop.
const TAKES_ESCAPE: Duration = Duration::from_secs(5);

/// Longest wait for an interrupted program to put the text of its turn back into the composer.
const PUTS_BACK: Duration = Duration::from_secs(1);

/// The text that a composer shows in place of a long paste.
const PASTED: &str = "[Pasted ";

/// Characters at the end of a paste that are looked for in the composer before Enter.
const END_CHARS: usize = 12;

/// The tmux command for a paste. `-r` keeps line breaks as they are: tmux would convert them
/// otherwise.
const PASTE: &str = "paste-buffer -p -d -r";

/// Counter that makes the names of buffers and files unique.
static PASTES: AtomicU64 = AtomicU64::new(0);

/// A pane that is being typed into.
pub(super) struct Typist<'a> {
    host: &'a TmuxHost,
    control: &'a Control,
    pane: &'a Pane,
    pub(super) vendor: Vendor,
    drawn: watch::Receiver<u64>,
}

/// The state of a program right before an Enter.
enum EnterPlace {
    /// The composer holds the paste, or cannot be read.
    Words,
    /// A dialog, or an unreadable screen: the paste may be below it.
    Covered,
    /// The program already works on the paste.
    Work,
    /// The composer is empty: a command of the program removed the paste, or a person did.
    Emptied,
    /// Any other state.
    Other,
}

impl TmuxHost {
    /// Returns a typist for a pane. Without a `client`, the pane's program is that of the client
    /// last named for the pane, or unknown.
    pub(super) fn typing<'a>(
        &'a self,
        control: &'a Control,
        pane: &'a Pane,
        client: Option<&str>,
    ) -> Typist<'a> {
        let run = run_of(pane);
        let drawn = control.panes.drawn(&run, client);
        let client = control.panes.client(&run);
        Typist {
            host: self,
            control,
            pane,
            vendor: client.map_or(Vendor::Other, |client| self.vendor(&client)),
            drawn,
        }
    }

    /// Pastes a text into the empty composer of an idle program, without Enter, and waits until the
    /// program shows it. Before that, words that the program would obey are altered, and blocks
    /// that it would change are replaced by files. The report has the altered words, and the number
    /// of lines in the files.
    pub(super) async fn paste_text(
        &self,
        pane: &Pane,
        client: &str,
        paste: &Paste,
    ) -> Result<PasteReport, HostFault> {
        let (text, bodies) = change_parts(&paste.text, &paste.bodies, for_composer);
        if text.trim().is_empty() {
            return Err(HostFault::Refused("There is nothing to paste.".to_owned()));
        }
        if text.len() > PASTE_BYTES_MAX {
            return Err(HostFault::Refused(format!(
                "The paste has {} bytes; the maximum is {PASTE_BYTES_MAX}.",
                text.len()
            )));
        }
        let control = self.same(pane).await?;
        let mut typing = self.typing(&control, pane, Some(client));
        // Prepare files only for a program that accepts a paste now.
        refuse_unless_free(&typing.look().await?)?;
        let clean = Paste { session: paste.session.clone(), text, bodies };
        let ComposerWords { text, altered, filed } =
            self.worded(&control, pane, client, clean).await?;
        // Again: a dialog or a person's words may have come while the text was prepared.
        refuse_unless_free(&typing.look().await?)?;
        control.panes.pastes(&run_of(pane), end_of(&text));
        typing.put(&text).await?;
        let shown =
            |view: &View| view.composer.as_ref().is_none_or(|composer| !composer.is_empty());
        match typing.until(TAKES_PASTE, shown).await? {
            Some(_) => Ok(PasteReport { altered, filed }),
            None => Err(HostFault::Failed("The program does not show the pasted text.".to_owned())),
        }
    }

    /// Presses a key in a pane that still runs the same process.
    pub(super) async fn press_key(&self, pane: &Pane, key: Key) -> Result<(), HostFault> {
        let control = self.same(pane).await?;
        let mut typing = self.typing(&control, pane, None);
        match key {
            Key::Enter => typing.enter().await,
            Key::Escape => typing.escape().await,
        }
    }

    /// Chooses options of a dialog in a pane that still runs the same process.
    pub(super) async fn choose_options(
        &self,
        pane: &Pane,
        client: &str,
        dialog: &Dialog,
        chosen: &[usize],
        text: Option<&str>,
    ) -> Result<(), HostFault> {
        let control = self.same(pane).await?;
        self.typing(&control, pane, Some(client)).choose(dialog, chosen, text).await
    }

    /// Writes a file that only this user may read, for tmux to load.
    fn keep(&self, number: u64, text: &str) -> std::io::Result<std::path::PathBuf> {
        let path = self.folder.join(format!("paste-{}-{number}", std::process::id()));
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(text.as_bytes())?;
        Ok(path)
    }
}

/// Refuses a paste unless the program is idle and its composer is empty or unreadable.
fn refuse_unless_free(view: &View) -> Result<(), HostFault> {
    let refused = |why: &str| Err(HostFault::Refused(why.to_owned()));
    match (view.state, view.composer.as_deref()) {
        (PaneState::Idle, None | Some("")) => Ok(()),
        (PaneState::Idle, Some(_)) => {
            refused("The composer is not empty: a person is typing in this terminal.")
        }
        (PaneState::Starting, _) => refused("The program does not accept input yet."),
        (PaneState::Busy, _) => refused("The program is busy."),
        (PaneState::Asking, _) => {
            refused("The program is waiting for an answer to its own question.")
        }
        (PaneState::Shell, _) => refused(
            "The program has exited, and the terminal shows a shell. Nothing is typed into a \
             shell.",
        ),
        (PaneState::Gone, _) => Err(HostFault::Gone("The program has exited.".to_owned())),
    }
}

fn end_of(text: &str) -> String {
    let squeezed = squeezed(text);
    let at = squeezed.char_indices().rev().nth(END_CHARS - 1).map_or(0, |(at, _)| at);
    squeezed[at..].to_owned()
}

/// True if a composer holds the paste with this end, or the mark of a long paste. If the end is
/// empty, true if it holds any text.
fn holds(composer: &str, end: &str) -> bool {
    !composer.is_empty() && (composer.contains(PASTED) || squeezed(composer).contains(end))
}

/// True if the screen ends with the paste. Many short lines fill the screen; its composer cannot be
/// read then, or its end looks like a footer.
fn ends_with_paste(view: &View, end: &str) -> bool {
    let last = view.text.lines().rev().find(|line| !line.trim().is_empty());
    !end.is_empty() && last.is_some_and(|line| squeezed(line).ends_with(end))
}

/// Returns the place that an Enter would reach now. `end` is the end of the paste: a screen that
/// ends with it holds the paste, even if the composer cannot be read.
fn before_enter(view: &View, end: &str) -> EnterPlace {
    match (view.state, view.composer.as_deref()) {
        (PaneState::Starting | PaneState::Idle | PaneState::Busy, _)
            if ends_with_paste(view, end) =>
        {
            EnterPlace::Words
        }
        (PaneState::Asking | PaneState::Starting, _) => EnterPlace::Covered,
        (PaneState::Idle, None) => EnterPlace::Words,
        (PaneState::Idle | PaneState::Busy, Some(composer)) if holds(composer, end) => {
            EnterPlace::Words
        }
        (PaneState::Busy, None | Some("")) => EnterPlace::Work,
        (PaneState::Idle, Some("")) => EnterPlace::Emptied,
        (PaneState::Idle | PaneState::Busy, Some(_)) | (PaneState::Shell | PaneState::Gone, _) => {
            EnterPlace::Other
        }
    }
}

/// True if the screen shows that the program has taken the text of its composer. A screen that is
/// being redrawn does not show that.
fn is_taken(view: &View) -> bool {
    match view.state {
        PaneState::Starting => false,
        PaneState::Idle => view.composer.as_ref().is_none_or(String::is_empty),
        PaneState::Busy | PaneState::Asking | PaneState::Shell | PaneState::Gone => true,
    }
}

fn covered() -> Result<(), HostFault> {
    Err(HostFault::Refused("A dialog appeared before the text was sent.".to_owned()))
}

/// The reason for not pressing Enter.
const NOT_THERE: &str = "The pasted text is not in the composer any more.";

impl Typist<'_> {
    pub(super) async fn look(&mut self) -> Result<View, HostFault> {
        // The mark comes before the look, so that a drawing during it ends the next wait.
        self.drawn.mark_unchanged();
        self.host.look(self.control, self.pane, self.vendor).await
    }

    /// Looks immediately, and again after each drawing, until a view satisfies `shows`. Returns
    /// `None` if no view does so within `bound`.
    pub(super) async fn until(
        &mut self,
        bound: Duration,
        shows: impl Fn(&View) -> bool,
    ) -> Result<Option<View>, HostFault> {
        let until = Instant::now() + bound;
        loop {
            let view = self.look().await?;
            if shows(&view) {
                return Ok(Some(view));
            }
            match timeout_at(until, self.drawn.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(HostFault::Gone("The program exited.".to_owned())),
                Err(_) => return Ok(None),
            }
        }
    }

    /// Pastes a text, and waits for a drawing if the composer cannot be read.
    pub(super) async fn put(&mut self, text: &str) -> Result<(), HostFault> {
        let drew = *self.drawn.borrow();
        self.load(text).await?;
        if !self.vendor.table().screen.has_composer {
            // The composer cannot be read, so any drawing counts.
            self.drawing_since(drew).await?;
        }
        Ok(())
    }

    /// Pastes a text through a tmux buffer with bracketed-paste marks around it. The text has no
    /// escape characters, so it cannot end the paste.
    pub(super) async fn load(&self, text: &str) -> Result<(), HostFault> {
        let number = PASTES.fetch_add(1, Ordering::Relaxed);
        let buffer = format!("moothall-{}-{number}", std::process::id());
        let path = self.host.keep(number, text).map_err(|error| {
            HostFault::Failed(format!("The paste could not be stored: {error}."))
        })?;
        let load = TmuxCommand::of("load-buffer").words(["-b", &buffer, &path.to_string_lossy()]);
        let paste = TmuxCommand::of(PASTE).words(["-b", &buffer, "-t", &self.pane.id]);
        let pasted = self.control.run_both(&load, &paste).await;
        // tmux has read the file. If it cannot be removed, the next file of that number overwrites
        // it.
        let _ = std::fs::remove_file(&path);
        pasted.map(|_| ())
    }

    /// Waits until the program has drawn after the count `drew`. Fails after [`TAKES_PASTE`].
    async fn drawing_since(&mut self, drew: u64) -> Result<(), HostFault> {
        let waiting =
            timeout_at(Instant::now() + TAKES_PASTE, self.drawn.wait_for(|count| *count != drew))
                .await;
        match waiting {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(HostFault::Gone("The program exited.".to_owned())),
            Err(_) => {
                Err(HostFault::Failed("The program does not show the pasted text.".to_owned()))
            }
        }
    }

    /// Presses a key, given by its tmux name.
    pub(super) async fn send(&self, key: &str) -> Result<(), HostFault> {
        self.control
            .run(&TmuxCommand::of("send-keys -t").words([self.pane.id.as_str(), key]))
            .await
            .map(|_| ())
    }

    /// Presses Enter on the paste, and again if the screen shows that the Enter was lost. It looks
    /// right before each press: a dialog may have come meanwhile, and Enter would choose its first
    /// answer.
    async fn enter(&mut self) -> Result<(), HostFault> {
        let end = self.control.panes.pasted(&run_of(self.pane));
        for tried in 0..=ENTERS_AGAIN {
            self.settle().await;
            let (drew, view) = self.whole(&end).await?;
            match before_enter(&view, &end) {
                EnterPlace::Words => {}
                EnterPlace::Work => return Ok(()),
                // An earlier Enter was pressed; the screen shows its effect as soon as it can be
                // read.
                EnterPlace::Covered | EnterPlace::Emptied | EnterPlace::Other if tried > 0 => {
                    return Ok(());
                }
                EnterPlace::Covered => return covered(),
                // The text was not sent off, so the caller may paste it again.
                EnterPlace::Emptied => return Err(HostFault::Refused(NOT_THERE.to_owned())),
                EnterPlace::Other => return Err(HostFault::Failed(NOT_THERE.to_owned())),
            }
            self.send(self.vendor.table().keys.submit).await?;
            // Without a readable composer, the screen cannot show that the Enter was lost.
            if view.composer.is_none() {
                return Ok(());
            }
            match self.takes_enter(drew).await {
                Ok(true) | Err(HostFault::Gone(_)) => return Ok(()),
                Ok(false) => {}
                Err(fault) => return Err(fault),
            }
        }
        Err(HostFault::Failed("The program does not accept the text in its composer.".to_owned()))
    }

    /// Returns the first readable screen, or the last one after [`TAKES_PASTE`], with the count of
    /// drawings before it. A busy computer shows half of a screen for longer than a program needs
    /// to settle, and half a screen must not count as a dialog.
    async fn whole(&mut self, end: &str) -> Result<(u64, View), HostFault> {
        let until = Instant::now() + TAKES_PASTE;
        loop {
            let drew = *self.drawn.borrow();
            let view = self.look().await?;
            if view.state != PaneState::Starting || ends_with_paste(&view, end) {
                return Ok((drew, view));
            }
            match timeout_at(until, self.drawn.changed()).await {
                Ok(Ok(())) => self.settle().await,
                Ok(Err(_)) => return Err(HostFault::Gone("The program exited.".to_owned())),
                Err(_) => return Ok((drew, view)),
            }
        }
    }

    /// Returns true if an Enter was taken. Returns false if it was lost: the program drew and then
    /// fell silent for [`TAKES_ENTER`], or did not take it for [`HANGS`]. A program that draws
    /// nothing may be busy, so it gets the longer time: a second Enter would send the same text
    /// again when it reads both.
    async fn takes_enter(&mut self, drew: u64) -> Result<bool, HostFault> {
        let hangs = Instant::now() + HANGS;
        loop {
            if is_taken(&self.look().await?) {
                return Ok(true);
            }
            let bound = if *self.drawn.borrow() == drew {
                hangs
            } else {
                hangs.min(Instant::now() + TAKES_ENTER)
            };
            match timeout_at(bound, self.drawn.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(HostFault::Gone("The program exited.".to_owned())),
                Err(_) => return Ok(false),
            }
        }
    }

    /// Waits until the program stops drawing, or for [`SETTLES`].
    pub(super) async fn settle(&mut self) {
        let until = Instant::now() + SETTLES;
        while let Ok(Ok(())) =
            timeout_at(until.min(Instant::now() + SETTLED), self.drawn.changed()).await
        {
            if Instant::now() >= until {
                return;
            }
        }
    }

    /// Interrupts the program. A busy program may put the text of its turn back into its composer.
    /// The text is cleared if the composer was empty before: no person typed it.
    async fn escape(&mut self) -> Result<(), HostFault> {
        let before = self.look().await?;
        self.send(self.vendor.table().keys.interrupt).await?;
        if before.state != PaneState::Busy {
            return Ok(());
        }
        self.until(TAKES_ESCAPE, |view| view.state != PaneState::Busy).await?;
        let empty = |view: &View| view.composer.as_ref().is_none_or(String::is_empty);
        let end = self.control.panes.pasted(&run_of(self.pane));
        // Any other text in the composer is a person's.
        let back = |view: &View| {
            view.state == PaneState::Idle
                && view.composer.as_ref().is_some_and(|composer| holds(composer, &end))
        };
        // The text may come back a moment after the program is idle.
        if before.composer.is_some()
            && empty(&before)
            && self.until(PUTS_BACK, back).await?.is_some()
        {
            self.send(self.vendor.table().keys.clear).await?;
            self.until(TAKES_ESCAPE, empty).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_that_fills_the_screen_is_what_an_enter_is_for() {
        let end = end_of("many\nlines\n\n[moothall:0a1b2c3d]");
        let seen = |state, composer: Option<&str>, text: &str| {
            let (composer, text) = (composer.map(str::to_owned), text.to_owned());
            before_enter(
                &View { state, composer, dialog: None, text, picture: Default::default() },
                &end,
            )
        };
        let before = |text: &str| seen(PaneState::Starting, None, text);
        let full = "many\nlines\n\n  [moothall:0a1b2c3d]\n \n";
        assert!(matches!(before(full), EnterPlace::Words));
        assert!(matches!(seen(PaneState::Idle, Some("many\nlines"), full), EnterPlace::Words));
        assert!(matches!(seen(PaneState::Asking, None, full), EnterPlace::Covered));
        assert!(matches!(seen(PaneState::Idle, Some("many"), "many"), EnterPlace::Other));
        assert!(matches!(seen(PaneState::Idle, Some(""), "many"), EnterPlace::Emptied));
        assert!(matches!(seen(PaneState::Busy, Some(""), "many"), EnterPlace::Work));
        let asked = "lines\n\n  [moothall:0a1b2c3d]\n\n 1. Update now";
        for other in ["", "lines", "\n[moothall:00000000]", asked] {
            assert!(matches!(before(other), EnterPlace::Covered), "{other:?}");
        }
    }
}
