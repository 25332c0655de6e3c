//! The tokens of bots that were added at run time, in a file that only the server's user can read.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::replaced_file::replace_file;

/// The bots that were added at run time, by their agents.
pub(crate) struct KeptBots {
    folder: PathBuf,
    /// Name of the file in the folder.
    file: &'static str,
    bots: Mutex<BTreeMap<String, String>>,
}

impl KeptBots {
    /// Reads the bots in a file of a folder; none without such a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn open(folder: PathBuf, file: &'static str) -> io::Result<Self> {
        let bots = match fs::read(folder.join(file)) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { folder, file, bots: Mutex::new(bots) })
    }

    /// Returns the agents with the tokens of their bots.
    pub(crate) fn all(&self) -> BTreeMap<String, String> {
        self.bots.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores a bot, in place of an earlier one of the agent.
    ///
    /// # Errors
    /// The file cannot be written; the bots stay as they were.
    pub(crate) fn add(&self, agent: &str, token: &str) -> io::Result<()> {
        self.change(|bots| {
            bots.insert(agent.to_owned(), token.to_owned());
        })
    }

    /// Deletes a bot. Returns false if the agent has none in the file.
    ///
    /// # Errors
    /// The file cannot be written; the bots stay as they were.
    pub(crate) fn remove(&self, agent: &str) -> io::Result<bool> {
        if !self.all().contains_key(agent) {
            return Ok(false);
        }
        self.change(|bots| {
            bots.remove(agent);
        })?;
        Ok(true)
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, String>)) -> io::Result<()> {
        let mut bots = self.bots.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = bots.clone();
        change(&mut changed);
        replace_file(&self.folder, self.file, &serde_json::to_vec_pretty(&changed)?)?;
        *bots = changed;
        Ok(())
    }
}
