//! The log for which the channels run. It keeps a server on a restored log from sending twice.
//!
//! A restored log does not know the messages that were sent after its backup, and a copy of a
//! running server would speak beside the original. So on a log that is not the former one, the
//! channels stay off until the operator resumes them. The deliveries that were open at that start
//! become `unknown`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use moothall_engine::hall::{Hall, HallError};
use moothall_engine::outbox::CarryNotes;
use moothall_engine::ports::{DeliveryState, Durability, PendingDeliveries, Target};
use serde::{Deserialize, Serialize};

use crate::replaced_file::replace_file;

/// Name of the file in the folder of the data.
const FILE: &str = "channels.json";
/// The reason for which a delivery of a restored log is `unknown`.
const WHY: &str = "the log was restored from a backup, so this may have been sent before";

/// The log for which the channels run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KnownLog {
    /// The id of the log.
    log: String,
    /// True if the channels wait for the operator.
    stopped: bool,
}

/// The file that says for which log the channels run.
pub(crate) struct LogFile {
    folder: PathBuf,
    log: String,
}

impl LogFile {
    /// Compares the log with the one in the file of a folder. If it is another log, or if a chat is
    /// bound and the folder has no file, marks the open deliveries to chats as `unknown`. Writes
    /// the file, and returns it with true if the channels have to stay off.
    ///
    /// # Errors
    /// [`HallError`] if the file or the log cannot be read or changed.
    pub(crate) async fn open(hall: &Hall, folder: &Path) -> Result<(Self, bool), HallError> {
        let Some(open) = hall.weak().enter() else { return Err(HallError::ShuttingDown) };
        let log = open.store().upkeep.log_id().to_owned();
        let file = Self { folder: folder.to_owned(), log };
        let known = file.read().map_err(failed)?;
        let is_other = match &known {
            Some(known) => known.log != file.log,
            // A backup does not include the file. So a log with bound chats and no file was
            // restored.
            None => !hall.bound_chats().await?.is_empty(),
        };
        if is_other {
            doubt_pending(hall).await?;
        }
        let stopped = is_other || known.is_some_and(|known| known.stopped);
        file.write(stopped).map_err(failed)?;
        Ok((file, stopped))
    }

    /// Notes in the file that the channels run again.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn resume(&self) -> io::Result<()> {
        self.write(false)
    }

    fn read(&self) -> io::Result<Option<KnownLog>> {
        match fs::read(self.folder.join(FILE)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, stopped: bool) -> io::Result<()> {
        let known = KnownLog { log: self.log.clone(), stopped };
        if self.read()?.as_ref() == Some(&known) {
            return Ok(());
        }
        replace_file(&self.folder, FILE, &serde_json::to_vec(&known)?)
    }
}

fn failed(error: io::Error) -> HallError {
    HallError::Failed(format!("{FILE} in the data folder: {error}"))
}

/// Marks the deliveries to chats that are not settled as `unknown`.
async fn doubt_pending(hall: &Hall) -> Result<(), HallError> {
    let Some(open) = hall.weak().enter() else { return Err(HallError::ShuttingDown) };
    let outbox = &open.store().outbox;
    let all = [DeliveryState::Pending, DeliveryState::Sending, DeliveryState::Sent];
    for head in outbox.heads().await? {
        if !matches!(head.target, Target::Chat(_)) {
            continue;
        }
        let mut pending = PendingDeliveries::of(&**outbox, &head.target);
        while let Some(delivery) = pending.next().await? {
            let kept = CarryNotes::read(&delivery.evidence);
            let evidence = CarryNotes { why: Some(WHY.into()), sending: None, ..kept }.text();
            let (id, unknown) = (delivery.id, DeliveryState::Unknown);
            outbox.advance(id, &all, unknown, &evidence, Durability::Synced).await?;
        }
    }
    Ok(())
}
