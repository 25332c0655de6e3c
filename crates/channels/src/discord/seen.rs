//! The newest message that was taken in each bound channel, in a file.
//!
//! The gateway does not repeat messages to a program that was away. After a new session the channel
//! reads back the messages that came after the noted ones. The file may be behind, because a
//! message that is read twice enters one time. It is never ahead of the messages that were stored.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::replaced_file::replace_file;

/// Name of the file.
const FILE: &str = "discord-seen.json";

/// The newest messages, by their channels.
pub(super) struct SeenMessages {
    folder: PathBuf,
    seen: Mutex<NewestMessages>,
}

#[derive(Default)]
struct NewestMessages {
    newest: BTreeMap<u64, u64>,
    /// True if the file is behind.
    is_changed: bool,
}

impl SeenMessages {
    /// Reads the file of a folder; empty if the folder has none.
    ///
    /// # Errors
    /// The file cannot be read, with the way forward.
    pub(super) fn open(folder: &std::path::Path) -> io::Result<Self> {
        let unread = |error: io::Error| {
            let way =
                "without the file, what people wrote meanwhile is not read back; move it away";
            io::Error::new(error.kind(), format!("{FILE} in the data folder: {error}; {way}"))
        };
        Self::read(folder).map_err(unread)
    }

    fn read(folder: &std::path::Path) -> io::Result<Self> {
        let newest = match fs::read(folder.join(FILE)) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        Ok(Self {
            folder: folder.to_owned(),
            seen: Mutex::new(NewestMessages { newest, is_changed: false }),
        })
    }

    /// Notes that a message of a channel was taken, if the channel has a message from
    /// [`Self::begin`].
    pub(super) fn note(&self, channel: u64, message: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(newest) = seen.newest.get_mut(&channel) else { return };
        if message > *newest {
            *newest = message;
            seen.is_changed = true;
        }
    }

    /// Notes the message from which a bound channel is read back, if the channel has none yet. The
    /// file is written immediately, because without this message nothing could be read back.
    ///
    /// # Errors
    /// The file cannot be written; it is tried again then.
    pub(super) fn begin(&self, channel: u64, message: u64) -> io::Result<()> {
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.newest.contains_key(&channel) {
                return Ok(());
            }
            seen.newest.insert(channel, message);
            seen.is_changed = true;
        }
        self.write(|_| true)
    }

    /// Returns the newest message of a channel that was taken.
    pub(super) fn newest(&self, channel: u64) -> Option<u64> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.newest.get(&channel).copied()
    }

    /// True if the file is behind.
    pub(super) fn is_behind(&self) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).is_changed
    }

    /// Writes the file if it is behind. Forgets the channels that are not `kept`.
    ///
    /// # Errors
    /// The file cannot be written; it is tried again then.
    pub(super) fn write(&self, kept: impl Fn(u64) -> bool) -> io::Result<()> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.is_changed {
            return Ok(());
        }
        seen.newest.retain(|channel, _| kept(*channel));
        let text = serde_json::to_vec(&seen.newest)?;
        replace_file(&self.folder, FILE, &text)?;
        seen.is_changed = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_file_reads_back_and_never_goes_back() {
        let folder = tempfile::tempdir().unwrap();
        let seen = SeenMessages::open(folder.path()).unwrap();
        seen.note(1, 9);
        assert_eq!(seen.newest(1), None, "a channel that has not begun is not kept");
        seen.begin(1, 10).unwrap();
        assert_eq!(SeenMessages::open(folder.path()).unwrap().newest(1), Some(10));
        seen.note(1, 12);
        seen.note(1, 11);
        seen.begin(1, 99).unwrap();
        seen.begin(2, 5).unwrap();
        assert!(!seen.is_behind(), "beginning a channel writes the file");
        seen.note(1, 13);
        assert!(seen.is_behind());
        seen.write(|channel| channel == 1).unwrap();
        let again = SeenMessages::open(folder.path()).unwrap();
        assert_eq!((again.newest(1), again.newest(2)), (Some(13), None));
        fs::write(folder.path().join(FILE), "nonsense").unwrap();
        assert!(SeenMessages::open(folder.path()).is_err());
    }
}
