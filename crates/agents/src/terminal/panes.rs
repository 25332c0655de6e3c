//! The watched panes of a tmux server, and the notifications about them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use moothall_engine::sessions::PaneNews;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout};

/// Silence after which a pane has finished drawing.
const QUIET: Duration = Duration::from_millis(150);

/// Interval of notifications for a pane that never stops drawing, such as one with a clock.
const RESTLESS: Duration = Duration::from_secs(2);

/// Most unread notifications of a listener. Each only means "look again", so losing some is
/// harmless.
const NEWS_MAX: usize = 16;

/// A pane, and the process that it was started with.
pub(super) type Run = (String, u32);

/// The watched panes of one tmux server.
#[derive(Debug, Default)]
pub(super) struct Panes(Mutex<BTreeMap<Run, WatchedPane>>);

#[derive(Debug)]
struct WatchedPane {
    /// Count of its drawings.
    drawn: watch::Sender<u64>,
    news: broadcast::Sender<PaneNews>,
    /// The client name that was given last.
    client: String,
    /// The end of the last paste.
    pasted: String,
}

impl Panes {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Run, WatchedPane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to the notifications of a pane. The first one comes without a drawing, so that a
    /// new listener looks immediately.
    pub(super) fn news(&self, run: &Run, client: &str) -> broadcast::Receiver<PaneNews> {
        let mut all = self.all();
        let watched = all.entry(run.clone()).or_insert_with(WatchedPane::new);
        client.clone_into(&mut watched.client);
        let news = watched.news.subscribe();
        watched.drawn.send_modify(|count| *count += 1);
        news
    }

    /// Subscribes to the count of a pane's drawings.
    pub(super) fn drawn(&self, run: &Run, client: Option<&str>) -> watch::Receiver<u64> {
        let mut all = self.all();
        let watched = all.entry(run.clone()).or_insert_with(WatchedPane::new);
        if let Some(client) = client {
            client.clone_into(&mut watched.client);
        }
        watched.drawn.subscribe()
    }

    /// Returns the client name that was last given for a pane.
    pub(super) fn client(&self, run: &Run) -> Option<String> {
        self.all()
            .get(run)
            .map(|watched| watched.client.clone())
            .filter(|client| !client.is_empty())
    }

    /// Stores the end of a paste, without white space.
    pub(super) fn pastes(&self, run: &Run, end: String) {
        if let Some(watched) = self.all().get_mut(run) {
            watched.pasted = end;
        }
    }

    /// Returns the end of the last paste. Empty if this server has not pasted into the pane.
    pub(super) fn pasted(&self, run: &Run) -> String {
        self.all().get(run).map(|watched| watched.pasted.clone()).unwrap_or_default()
    }

    /// Counts a drawing of a pane.
    pub(super) fn drew(&self, pane: &str) {
        for (_, watched) in self.all().iter().filter(|((id, _), _)| id == pane) {
            watched.drawn.send_modify(|count| *count += 1);
        }
    }

    /// Drops the panes that are not alive and notifies their listeners. If notifications may have
    /// been missed, the listeners of live panes look again.
    pub(super) fn alive(&self, alive: &BTreeSet<Run>, missed: bool) {
        self.all().retain(|run, watched| {
            let lives = alive.contains(run);
            if !lives {
                // An error only means that the pane has no listener.
                let _ = watched.news.send(PaneNews::Died);
            } else if missed {
                watched.drawn.send_modify(|count| *count += 1);
            }
            lives
        });
    }

    /// Stops watching a pane.
    pub(super) fn forget(&self, run: &Run) {
        self.all().remove(run);
    }
}

impl WatchedPane {
    fn new() -> Self {
        let (drawn, counts) = watch::channel(0);
        let (news, _) = broadcast::channel(NEWS_MAX);
        tokio::spawn(tell(counts, news.clone()));
        Self { drawn, news, client: String::new(), pasted: String::new() }
    }
}

/// Notifies when the pane has finished drawing, and every [`RESTLESS`] while it draws without an
/// end. It only waits on drawings, so an idle pane costs nothing. It ends with the pane.
async fn tell(mut counts: watch::Receiver<u64>, news: broadcast::Sender<PaneNews>) {
    while counts.changed().await.is_ok() {
        let patience = Instant::now() + RESTLESS;
        while let Ok(drew) =
            timeout(QUIET.min(patience.saturating_duration_since(Instant::now())), counts.changed())
                .await
        {
            if drew.is_err() {
                return;
            }
        }
        // An error only means that the pane has no listener.
        let _ = news.send(PaneNews::Drawn);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::broadcast::error::TryRecvError;

    use super::*;

    fn run() -> Run {
        ("%1".to_owned(), 7)
    }

    #[tokio::test(start_paused = true)]
    async fn drawing_is_told_once_it_is_over() {
        let panes = Panes::default();
        let mut news = panes.news(&run(), "claude");
        assert_eq!(news.recv().await, Ok(PaneNews::Drawn));
        for _ in 0..5 {
            panes.drew("%1");
            tokio::time::sleep(QUIET / 2).await;
        }
        assert_eq!(news.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(news.recv().await, Ok(PaneNews::Drawn));
        tokio::time::sleep(RESTLESS * 10).await;
        assert_eq!(news.try_recv(), Err(TryRecvError::Empty));
    }

    #[tokio::test(start_paused = true)]
    async fn a_restless_pane_is_told_of_too() {
        let panes = Panes::default();
        let mut news = panes.news(&run(), "claude");
        assert_eq!(news.recv().await, Ok(PaneNews::Drawn));
        let restless = async {
            loop {
                panes.drew("%1");
                tokio::time::sleep(QUIET / 3).await;
            }
        };
        tokio::select! {
            () = restless => {}
            received = news.recv() => assert_eq!(received, Ok(PaneNews::Drawn)),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn another_process_in_a_pane_is_another_pane() {
        let panes = Panes::default();
        let mut news = panes.news(&run(), "claude");
        panes.alive(&BTreeSet::from([("%1".to_owned(), 8)]), false);
        assert_eq!(news.recv().await, Ok(PaneNews::Died));
    }
}
