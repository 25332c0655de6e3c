//! The search index: a file of its own beside the log, built from the log alone.
//!
//! Its own thread follows the log, so an append waits for no index and shares no lock, commit or
//! sync with it. The index can always be rebuilt, and is rebuilt if it does not match the log.
//! (`docs/decisions/0006-search-is-an-index-beside-the-log.md`.)

mod wakeup;
mod table;
mod feed;
mod lookup;
mod erase;

pub(crate) use erase::ErasedPart;
pub(crate) use lookup::NEWEST;
pub(crate) use table::{INDEX_FILE, newest_seen};
pub(crate) use wakeup::Wakeup;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use moothall_engine::ports::{Hits, LogError, SearchRequest};
use moothall_kernel::ids::StreamId;

use crate::errors::failed;
use crate::reader::Readers;
use crate::schema;

/// The index of a log, and the thread that feeds it.
#[derive(Debug)]
pub(crate) struct Index {
    path: PathBuf,
    readers: Arc<Readers>,
    wakeup: Arc<Wakeup>,
    turn: Arc<erase::WriteTurn>,
    feeder: Mutex<Option<JoinHandle<()>>>,
}

impl Index {
    /// Opens or rebuilds the index in a folder, and starts to follow the log.
    pub(crate) fn start(dir: &Path, log: &Path, wakeup: Arc<Wakeup>) -> Result<Self, LogError> {
        let path = dir.join(table::INDEX_FILE);
        let log = schema::open_reader(log).map_err(failed)?;
        let conn = table::open(&path, &log)?;
        let turn = Arc::default();
        let feeder =
            feed::Feeder::new(conn, log, wakeup.clone(), Arc::clone(&turn)).map_err(failed)?;
        let thread = thread::Builder::new().name("log-indexer".into()).spawn(move || feeder.run());
        let thread = thread.map_err(|error| LogError::Failed(error.to_string()))?;
        Ok(Self {
            readers: Arc::new(Readers::new(path.clone())),
            path,
            wakeup,
            turn,
            feeder: Mutex::new(Some(thread)),
        })
    }

    /// Ends the thread after its current step, which takes milliseconds. The next start indexes the
    /// rest.
    pub(crate) fn stop(&self) {
        self.wakeup.close();
        self.readers.close();
        if let Some(feeder) = self.feeder.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // If the feeder panicked, the index is only out of date.
            drop(feeder.join());
        }
    }

    pub(crate) async fn search(
        &self,
        log: &Arc<Readers>,
        wanted: &SearchRequest,
        limit: usize,
        cursor: Option<u64>,
    ) -> Result<Hits, LogError> {
        lookup::search(&self.readers, log, wanted, limit, cursor).await
    }

    /// Erases an event or a stream from the index. The residue in its file is removed too, at the
    /// latest when no reader uses the write-ahead log. A stream without events is skipped.
    pub(crate) async fn forget(
        &self,
        log: &Arc<Readers>,
        stream: &StreamId,
        what: ErasedPart,
    ) -> Result<(), LogError> {
        let stream = stream.clone();
        let Some(key) = log.read(move |conn| lookup::key_of(conn, &stream).map_err(failed)).await?
        else {
            return Ok(());
        };
        let (path, turn) = (self.path.clone(), Arc::clone(&self.turn));
        let erasing = move || erase::now(&path, &turn, key, what).map_err(failed);
        tokio::task::spawn_blocking(erasing)
            .await
            .unwrap_or_else(|error| Err(LogError::Failed(error.to_string())))
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.stop();
    }
}
