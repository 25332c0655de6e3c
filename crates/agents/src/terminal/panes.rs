//! The panes that somebody cares about, and who is told what happens in them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use moothall_engine::sessions::PaneNews;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout};

/// A pane that drew nothing for so long is done drawing.
const QUIET: Duration = Duration::from_millis(150);

/// A pane that never stops drawing, such as one with a clock, is looked at this often.
const RESTLESS: Duration = Duration::from_secs(2);

/// News that a listener may be behind. Each says no more than "look again", so losing some is
/// harmless.
const NEWS_MAX: usize = 16;

/// A pane and the process it was started with.
pub(super) type Run = (String, u32);

/// Panes of one tmux server.
#[derive(Debug, Default)]
pub(super) struct Panes(Mutex<BTreeMap<Run, WatchedPane>>);

#[derive(Debug)]
struct WatchedPane {
    /// Counts what it drew.
    drawn: watch::Sender<u64>,
    news: broadcast::Sender<PaneNews>,
    /// Which program, as was said last.
    client: String,
    /// The end of what was pasted last.
    pasted: String,
}

impl Panes {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Run, WatchedPane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to what happens in a pane. The first news comes without anything being drawn:
    /// whoever begins to listen shall look.
    pub(super) fn news(&self, run: &Run, client: &str) -> broadcast::Receiver<PaneNews> {
        let mut all = self.all();
        let watched = all.entry(run.clone()).or_insert_with(WatchedPane::new);
        client.clone_into(&mut watched.client);
        let news = watched.news.subscribe();
        watched.drawn.send_modify(|count| *count += 1);
        news
    }

    /// Counts what a pane draws, from now on.
    pub(super) fn drawn(&self, run: &Run, client: Option<&str>) -> watch::Receiver<u64> {
        let mut all = self.all();
        let watched = all.entry(run.clone()).or_insert_with(WatchedPane::new);
        if let Some(client) = client {
            client.clone_into(&mut watched.client);
        }
        watched.drawn.subscribe()
    }

    /// Which program a pane was last said to run.
    pub(super) fn client(&self, run: &Run) -> Option<String> {
        self.all()
            .get(run)
            .map(|watched| watched.client.clone())
            .filter(|client| !client.is_empty())
    }

    /// Keeps the end of what is pasted into a pane, without blanks.
    pub(super) fn pastes(&self, run: &Run, end: String) {
        if let Some(watched) = self.all().get_mut(run) {
            watched.pasted = end;
        }
    }

    /// The end of what was pasted last; nothing if another process pasted it.
    pub(super) fn pasted(&self, run: &Run) -> String {
        self.all().get(run).map(|watched| watched.pasted.clone()).unwrap_or_default()
    }

    /// A pane drew something.
    pub(super) fn drew(&self, pane: &str) {
        for (_, watched) in self.all().iter().filter(|((id, _), _)| id == pane) {
            watched.drawn.send_modify(|count| *count += 1);
        }
    }

    /// These panes live; the others are gone, and whoever listens is told. Who listens to one that
    /// lives shall look again if something may have been missed.
    pub(super) fn alive(&self, alive: &BTreeSet<Run>, missed: bool) {
        self.all().retain(|run, watched| {
            let lives = alive.contains(run);
            if !lives {
                // Nobody listens, perhaps.
                let _ = watched.news.send(PaneNews::Died);
            } else if missed {
                watched.drawn.send_modify(|count| *count += 1);
            }
            lives
        });
    }

    /// Nobody cares about this one any more.
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

/// Tells of drawing once it is over. Armed by drawing alone: a pane that draws nothing costs
/// nothing. Ends with the pane.
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
        // Nobody listens, perhaps.
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
            told = news.recv() => assert_eq!(told, Ok(PaneNews::Drawn)),
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
