//! Lost acknowledged events: they are noticed before the log is opened, and told from the damage
//! that a power cut may leave.

use std::fs;
use std::path::{Path, PathBuf};

use moothall_engine::ports::EventLog;
use moothall_kernel::ids::Seq;
use moothall_testkit::conformance::build::{Builder, batch};

use super::Disk;
use crate::folder::{LOG_FILE, OpenError};
use crate::{SqliteLog, verify};

const COMMITS: u64 = 12;

/// A folder as a killed process left it: all events are in the write-ahead log. Each event is its
/// own commit.
struct KilledFolder {
    folder: tempfile::TempDir,
    wal: Vec<u8>,
}

impl KilledFolder {
    /// Copies the folder of an open log after [`COMMITS`] events. `indexed` tells if the index,
    /// with all events in it, is copied too.
    async fn after_talking(indexed: bool) -> Self {
        let disk = Disk::fresh();
        for head in 0..COMMITS {
            disk.log.append(vec![batch("a", head).says("a message of some length")]).await.unwrap();
        }
        if indexed {
            let wanted = moothall_engine::ports::SearchRequest {
                query: moothall_kernel::search::Query::parse("length").unwrap(),
                streams: None,
            };
            moothall_testkit::conformance::search::page(&disk.log, &wanted, 1, None).await;
        }
        let folder = tempfile::tempdir().unwrap();
        for file in fs::read_dir(disk.folder.path()).unwrap().map(|file| file.unwrap().path()) {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            if name.starts_with(LOG_FILE) || (indexed && name.starts_with("search.db")) {
                fs::copy(&file, folder.path().join(name)).unwrap();
            }
        }
        let wal = fs::read(folder.path().join(format!("{LOG_FILE}-wal"))).unwrap();
        Self { folder, wal }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn wal(&self) -> PathBuf {
        self.path().join(format!("{LOG_FILE}-wal"))
    }

    fn frame(&self) -> usize {
        24 + usize::try_from(u32::from_be_bytes(self.wal[8..12].try_into().unwrap())).unwrap()
    }

    /// Returns the bytes at which commits end.
    fn commits(&self) -> Vec<usize> {
        let frames = (32..self.wal.len()).step_by(self.frame());
        let own = |at: &usize| self.wal[at + 8..at + 16] == self.wal[16..24];
        let ends = |at: &usize| self.wal[at + 4..at + 8] != [0; 4];
        frames
            .filter(|at| at + self.frame() <= self.wal.len())
            .filter(own)
            .filter(ends)
            .map(|at| at + self.frame())
            .collect()
    }

    fn leave(&self, wal: &[u8]) {
        fs::write(self.wal(), wal).unwrap();
        let _ = fs::remove_file(self.path().join(format!("{LOG_FILE}-shm")));
    }

    /// Returns the reason if both the walk and the opening refuse the folder; `None` if both accept
    /// it. Panics if they differ.
    async fn is_refused(&self) -> Option<String> {
        let verified = verify(self.path()).await;
        let opened = SqliteLog::open(self.path());
        match (verified, opened) {
            (Err(OpenError::Damaged { reason, .. }), Err(OpenError::Damaged { .. })) => {
                Some(reason)
            }
            (Ok(found), Ok(_)) => {
                assert_eq!(found.faults, vec![]);
                None
            }
            (verified, opened) => panic!("{:?} and {:?}", verified.err(), opened.err()),
        }
    }
}

#[tokio::test]
async fn a_bit_that_changed_in_the_write_ahead_log_is_found() {
    let died = KilledFolder::after_talking(false).await;
    let last = died.commits()[died.commits().len() - 2];
    assert_eq!(died.commits().len() as u64, COMMITS);
    for flip in 0..60 {
        let bit = 13 + flip * (last * 8 / 60);
        let mut wal = died.wal.clone();
        wal[bit / 8] ^= 1 << (bit % 8);
        died.leave(&wal);
        assert!(died.is_refused().await.is_some(), "bit {bit} of {}", last * 8);
    }
    let mut wal = died.wal.clone();
    wal[died.commits()[5] + 30] ^= 1;
    died.leave(&wal);
    let reason = died.is_refused().await.unwrap();
    let at = died.commits()[5];
    assert!(reason.contains(&format!("`truncate -s {at} ")), "{reason}");
    died.leave(&wal[..at]);
    let log = SqliteLog::open(died.path()).unwrap();
    assert_eq!(
        log.find(&"a".into()).await.unwrap().unwrap().head,
        Seq(6),
        "what came before it is kept"
    );
}

/// The last commit was not acknowledged, so it may be torn anywhere. Frames behind it from an
/// earlier use of the file do not count.
#[tokio::test]
async fn a_last_commit_that_is_torn_is_no_damage() {
    let died = KilledFolder::after_talking(false).await;
    let commits = died.commits();
    let (before, end) = (commits[commits.len() - 2], commits[commits.len() - 1]);
    for torn in [before + 1, before + 24, before + died.frame(), end - 1] {
        died.leave(&died.wal[..torn]);
        assert_eq!(died.is_refused().await, None, "cut at {torn}");
        let mut wal = died.wal.clone();
        wal[torn.min(end - died.frame() - 1)] ^= 1;
        died.leave(&wal);
        assert_eq!(died.is_refused().await, None, "its first pages were not written: {torn}");
    }
    let mut wal = died.wal[..before].to_vec();
    let mut stale = died.wal[32..before].to_vec();
    for at in (0..stale.len()).step_by(died.frame()) {
        stale[at + 8..at + 16].copy_from_slice(b"earlier!");
    }
    wal.extend(stale);
    died.leave(&wal);
    assert_eq!(died.is_refused().await, None);
}

/// The index has seen only synced events, so they must be in the log.
#[tokio::test]
async fn what_the_index_has_seen_is_missed() {
    let died = KilledFolder::after_talking(true).await;
    died.leave(&died.wal);
    assert_eq!(died.is_refused().await, None);
    let died = KilledFolder::after_talking(true).await;
    for kept in [0, died.commits()[3], died.commits()[10]] {
        died.leave(&died.wal[..kept]);
        let reason = died.is_refused().await.unwrap();
        assert!(reason.contains("search index"), "{reason}");
    }
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(died.path().join(format!("search.db{end}")));
    }
    assert_eq!(died.is_refused().await, None, "the way forward that it names");
}

#[tokio::test]
async fn an_empty_log_beside_what_belongs_to_one_is_no_new_one() {
    let died = KilledFolder::after_talking(true).await;
    died.leave(&died.wal);
    drop(SqliteLog::open(died.path()).unwrap());
    fs::write(died.path().join(LOG_FILE), b"").unwrap();
    assert!(died.is_refused().await.unwrap().contains("search.db"));

    let died = KilledFolder::after_talking(false).await;
    let log = SqliteLog::open(died.path()).unwrap();
    log.append(vec![batch("a", COMMITS).says("one more")]).await.unwrap();
    let later = fs::read(died.wal()).unwrap();
    drop(log);
    fs::write(died.path().join(LOG_FILE), b"").unwrap();
    died.leave(&later);
    assert!(died.is_refused().await.unwrap().contains("-wal"));

    let empty = tempfile::tempdir().unwrap();
    fs::write(empty.path().join(LOG_FILE), b"").unwrap();
    assert!(SqliteLog::open(empty.path()).is_ok(), "a file that was only made is a new log");
}
