//! Simulated terminals: programs that show a given text, and record how they were started.

use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use moothall_engine::sessions::{
    AdoptRequest, Dialog, FolderEntry, HostFault, Key, Keystroke, LastWords, Launch, Pane,
    PaneNews, PaneState, Paste, PasteReport, Picture, ProgramOffer, Reports, SessionHost, View,
};
use tokio::sync::{broadcast, watch};

/// One pane.
struct FakePane {
    launch: Option<Launch>,
    text: String,
    composer: String,
    last_words: Option<LastWords>,
    dialog: Option<Dialog>,
    taken: Vec<String>,
    typed: Vec<Keystroke>,
    gone: bool,
    news: broadcast::Sender<PaneNews>,
}

/// All panes, in the order in which they were opened.
#[derive(Default)]
pub struct FakeHost {
    panes: Mutex<Vec<FakePane>>,
    /// Number of prompts that were sent.
    sent: watch::Sender<usize>,
    /// Number of programs that can still be started; `None` for no limit.
    room: Mutex<Option<usize>>,
}

impl FakeHost {
    fn panes(&self) -> MutexGuard<'_, Vec<FakePane>> {
        self.panes.lock().unwrap()
    }

    fn open(&self, launch: Option<Launch>) -> Pane {
        let mut panes = self.panes();
        panes.push(FakePane {
            launch,
            text: "Ready.".into(),
            composer: String::new(),
            last_words: None,
            dialog: None,
            taken: Vec::new(),
            typed: Vec::new(),
            gone: false,
            news: broadcast::channel(16).0,
        });
        Pane {
            socket: String::new(),
            id: format!("%{}", panes.len() - 1),
            pid: u32::try_from(panes.len()).unwrap(),
            server: String::new(),
        }
    }

    fn with<T>(&self, pane: &Pane, act: impl FnOnce(&mut FakePane) -> T) -> Result<T, HostFault> {
        let place: usize = pane.id.trim_start_matches('%').parse().unwrap();
        let mut panes = self.panes();
        let seen = panes
            .get_mut(place)
            .filter(|seen| !seen.gone)
            .ok_or_else(|| HostFault::Gone("the pane is gone".into()))?;
        Ok(act(seen))
    }

    /// Returns the secret in the environment of the program that was started with this name.
    pub fn token(&self, name: &str) -> String {
        let panes = self.panes();
        let launch = panes
            .iter()
            .filter_map(|seen| seen.launch.as_ref())
            .find(|launch| launch.name == name)
            .unwrap();
        launch.env["MOOTHALL_SESSION_TOKEN"].clone()
    }

    /// Waits for the next prompt of any program after this number of prompts.
    pub async fn taken(&self, before: usize) -> String {
        self.sent.subscribe().wait_for(|sent| *sent > before).await.unwrap();
        let panes = self.panes();
        panes.iter().flat_map(|seen| seen.taken.iter()).nth(before).unwrap().clone()
    }

    /// Limits the number of further programs.
    pub fn has_room_for(&self, programs: usize) {
        *self.room.lock().unwrap() = Some(programs);
    }

    /// Returns the number of started programs.
    pub fn count(&self) -> usize {
        self.panes().len()
    }

    /// Returns the launch of the newest program.
    pub fn launched(&self) -> Launch {
        self.panes().iter().filter_map(|seen| seen.launch.clone()).next_back().unwrap()
    }

    /// Returns the keystrokes that the newest program got.
    pub fn typed(&self) -> Vec<Keystroke> {
        self.panes().last().unwrap().typed.clone()
    }

    /// Makes the newest program show a text.
    pub fn show(&self, text: &str) {
        let mut panes = self.panes();
        let seen = panes.last_mut().unwrap();
        seen.text = text.into();
        let _ = seen.news.send(PaneNews::Drawn);
    }

    /// Makes a person begin to type at the newest program.
    pub fn draft(&self, words: &str) {
        self.panes().last_mut().unwrap().composer = words.into();
        self.show("Ready.");
    }

    /// Makes the newest program ask a question.
    pub fn ask(&self, action: &str) {
        self.panes().last_mut().unwrap().dialog = Some(Dialog {
            action: action.into(),
            partial: false,
            options: vec!["Yes".into(), "No".into()],
            field: None,
            pointer: None,
            whole: false,
            checked: None,
            confirms: false,
        });
        self.show("May I?");
    }

    /// Makes the newest program end with an error, and these lines on its screen.
    pub fn die_showing(&self, lines: &str) {
        let words = LastWords { how: "with exit status 1".into(), shown: lines.into() };
        self.panes().last_mut().unwrap().last_words = Some(words);
        self.die();
    }

    /// Makes the newest program end.
    pub fn die(&self) {
        let mut panes = self.panes();
        let seen = panes.last_mut().unwrap();
        seen.gone = true;
        let _ = seen.news.send(PaneNews::Died);
    }
}

#[async_trait]
impl SessionHost for FakeHost {
    fn programs(&self) -> Vec<ProgramOffer> {
        let offer = |client: &str, missing: Option<&str>| ProgramOffer {
            client: client.into(),
            summary: "A program for tests".into(),
            missing: missing.map(str::to_owned),
        };
        let absent = "absent is not installed. Install it with `get it`.";
        vec![offer("absent", Some(absent)), offer("demo", None)]
    }

    async fn folders(&self, _: &str, folder: &Path) -> Result<Vec<FolderEntry>, HostFault> {
        if folder.starts_with("/secret") {
            return Err(HostFault::Refused("The folder /secret cannot be read.".into()));
        }
        let entry = |name: &str| FolderEntry { name: name.into(), is_project: name == "shop" };
        Ok(vec![entry("notes"), entry("shop")])
    }

    fn reports(&self, _: &str) -> Reports {
        Reports::ALL
    }

    async fn start(&self, launch: &Launch) -> Result<Pane, HostFault> {
        if launch.client != "demo" {
            return Err(HostFault::UnknownProgram(format!(
                "there is no program {:?}",
                launch.client
            )));
        }
        if let Some(room) = self.room.lock().unwrap().as_mut() {
            let full = || HostFault::Refused("there is no room for another".into());
            *room = room.checked_sub(1).ok_or_else(full)?;
        }
        Ok(self.open(Some(launch.clone())))
    }

    async fn adopt(&self, adopt: &AdoptRequest) -> Result<Pane, HostFault> {
        let there = adopt.target == "%7";
        there
            .then(|| self.open(None))
            .ok_or_else(|| HostFault::Gone("there is no such pane".into()))
    }

    async fn watch(
        &self,
        pane: &Pane,
        _: &str,
    ) -> Result<broadcast::Receiver<PaneNews>, HostFault> {
        self.with(pane, |seen| seen.news.subscribe())
    }

    async fn view(&self, pane: &Pane, _: &str) -> Result<View, HostFault> {
        self.with(pane, |seen| View {
            state: if seen.dialog.is_some() { PaneState::Asking } else { PaneState::Idle },
            composer: Some(seen.composer.clone()),
            dialog: seen.dialog.clone(),
            text: seen.text.clone(),
            picture: Picture::default(),
        })
    }

    async fn choose(
        &self,
        pane: &Pane,
        _: &str,
        dialog: &Dialog,
        _: &[usize],
        _: Option<&str>,
    ) -> Result<(), HostFault> {
        let refused = HostFault::Refused("something else stands there".into());
        self.with(pane, |seen| seen.dialog.take_if(|shown| shown.is_same(dialog)).map(drop))?
            .ok_or(refused)
    }

    async fn paste(&self, pane: &Pane, _: &str, paste: &Paste) -> Result<PasteReport, HostFault> {
        self.with(pane, |seen| seen.composer.clone_from(&paste.text))
            .map(|()| PasteReport::default())
    }

    async fn press(&self, pane: &Pane, key: Key) -> Result<(), HostFault> {
        let sent = self.with(pane, |seen| match key {
            Key::Enter => {
                let text = std::mem::take(&mut seen.composer);
                seen.taken.push(text);
                true
            }
            Key::Escape => {
                seen.dialog = None;
                false
            }
        })?;
        self.sent.send_modify(|count| *count += usize::from(sent));
        Ok(())
    }

    async fn type_keys(&self, pane: &Pane, keys: &[Keystroke]) -> Result<(), HostFault> {
        self.with(pane, |seen| seen.typed.extend_from_slice(keys))
    }

    async fn tail(&self, pane: &Pane, _: usize) -> Result<String, HostFault> {
        self.with(pane, |seen| seen.text.clone())
    }

    async fn end(&self, pane: &Pane) -> Result<(), HostFault> {
        // A missing pane has ended already.
        let _ = self.with(pane, |seen| {
            seen.gone = true;
            let _ = seen.news.send(PaneNews::Died);
        });
        Ok(())
    }

    async fn last_words(&self, pane: &Pane) -> Option<LastWords> {
        let place: usize = pane.id.trim_start_matches('%').parse().unwrap();
        self.panes()[place].last_words.clone()
    }

    async fn attach(&self, pane: &Pane) -> Result<Vec<String>, HostFault> {
        Ok(vec!["look-at".into(), pane.id.clone()])
    }
}
