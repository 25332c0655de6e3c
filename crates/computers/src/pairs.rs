//! The computers that this one knows, with the keys that it shares with them, in a file that only
//! the server's user can read.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::id::{ComputerId, ComputerName, LogId};
use crate::invitation::Pair;
use crate::keys::PairKey;
use crate::redis_post::RedisAddress;

/// Name of the file in the folder of the data.
const FILE: &str = "computers.json";

/// This computer, as others know it. How often it is up is the first digit of its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnComputer {
    /// The id of this computer, which never changes.
    pub id: ComputerId,
    /// Name that it has for itself.
    pub name: ComputerName,
    /// Redis at which it meets the others.
    pub redis: RedisAddress,
    /// File of certificates, in PEM, that are trusted for that Redis in place of the public ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
}

/// The form of the file.
#[derive(Clone, Serialize, Deserialize)]
struct PairsFile {
    own: OwnComputer,
    /// The log whose rows were sent under this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log: Option<LogId>,
    /// True from a restore of the log until a person resumes the computers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
    pairs: BTreeMap<ComputerId, KeptPair>,
}

#[derive(Clone, Serialize, Deserialize)]
struct KeptPair {
    name: ComputerName,
    key: PairKey,
    /// True until the other computer has shown that it has the key. Then it may have none, or
    /// another one, because one of the two lines was lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unmet: bool,
}

/// The reason for which the file of pairs is not read or changed, with the way forward.
#[derive(Debug, thiserror::Error)]
pub enum PairsError {
    /// The file cannot be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, #[source] io::Error),
    /// The file has other content.
    #[error("{0} is not a book of computers: restore it, or delete it and pair again ({1})")]
    Content(PathBuf, String),
    /// The computer has an id already.
    #[error("this computer is {0} already; a new id would end all its pairs")]
    Exists(ComputerId),
    /// Two computers would have one label.
    #[error("a computer is called `{0}` here already: give the new one another name here")]
    NameTaken(ComputerName),
    /// A key would be replaced.
    #[error("this computer knows it already, as `{0}`: forget that one first")]
    Paired(ComputerName),
    /// The other computer is this one.
    #[error("that is this computer itself: its folder may have been copied, then make a new id")]
    OwnComputer,
    /// There is not a pair with it.
    #[error("this computer has no pair with {0}")]
    Unknown(ComputerId),
}

/// The file of this computer and its pairs, and its content.
pub struct Pairs {
    folder: PathBuf,
    content: Mutex<PairsFile>,
}

impl Pairs {
    /// Reads the file of a folder; `None` if this computer has no id yet.
    ///
    /// # Errors
    /// [`PairsError::File`] or [`PairsError::Content`].
    pub fn open(folder: &Path) -> Result<Option<Self>, PairsError> {
        let path = folder.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(PairsError::File(path, error)),
        };
        // The message of JSON names a place and, for a wrong id, its rule; it repeats no content.
        let content = serde_json::from_slice(&text).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            PairsError::Content(path, place)
        })?;
        Ok(Some(Self { folder: folder.to_owned(), content: Mutex::new(content) }))
    }

    /// Creates the file of this computer, without pairs.
    ///
    /// # Errors
    /// [`PairsError::Exists`] if the folder has such a file; other [`PairsError`]s if it cannot be
    /// read or written.
    pub fn create(folder: &Path, own: OwnComputer) -> Result<Self, PairsError> {
        if let Some(pairs) = Self::open(folder)? {
            return Err(PairsError::Exists(pairs.own().id));
        }
        let content = PairsFile { own, log: None, stopped: false, pairs: BTreeMap::new() };
        write(folder, &content)?;
        Ok(Self { folder: folder.to_owned(), content: Mutex::new(content) })
    }

    /// Returns this computer.
    pub fn own(&self) -> OwnComputer {
        self.lock().own.clone()
    }

    /// Returns all pairs, in the order of their ids.
    pub fn all(&self) -> Vec<Pair> {
        let content = self.lock();
        content.pairs.iter().map(|(id, kept)| pair(*id, kept)).collect()
    }

    /// Returns the pair with a computer, if there is one.
    pub fn get(&self, id: ComputerId) -> Option<Pair> {
        self.lock().pairs.get(&id).map(|kept| pair(id, kept))
    }

    /// Returns the pair with the computer that has a name here, if there is one.
    pub fn named(&self, name: &ComputerName) -> Option<Pair> {
        self.all().into_iter().find(|pair| pair.name == *name)
    }

    /// Replaces the Redis, its file of certificates, or the own name; the id stays.
    ///
    /// # Errors
    /// [`PairsError::NameTaken`] if a pair has that name; [`PairsError::File`].
    pub fn set_own(
        &self,
        name: ComputerName,
        redis: RedisAddress,
        ca: Option<PathBuf>,
    ) -> Result<(), PairsError> {
        self.change(|content| {
            check_name(content, &name, Some(content.own.id))?;
            content.own = OwnComputer { id: content.own.id, name, redis, ca };
            Ok(())
        })
    }

    /// Returns the log whose rows were sent under this id; `None` before the first such log.
    pub fn log(&self) -> Option<LogId> {
        self.lock().log
    }

    /// Notes the log whose rows are sent from now on. If `stopped` is true, nothing is sent until a
    /// person resumes the computers.
    ///
    /// # Errors
    /// [`PairsError::File`].
    pub fn set_log(&self, log: LogId, stopped: bool) -> Result<(), PairsError> {
        if (self.log(), self.is_stopped()) == (Some(log), stopped) {
            return Ok(());
        }
        self.change(|content| {
            (content.log, content.stopped) = (Some(log), stopped);
            Ok(())
        })
    }

    /// True if the log was restored, and no person has resumed the computers since.
    pub fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// Adds a pair. If there is one whose computer has not shown the key yet, that pair gets the
    /// new key and keeps its name. Returns the name of the computer here.
    ///
    /// # Errors
    /// [`PairsError`] if the computer is this one, if another pair has the name, if the computer
    /// has shown another key, or if the file cannot be written.
    pub fn add(&self, pair: Pair) -> Result<ComputerName, PairsError> {
        self.change(|content| {
            if pair.id == content.own.id {
                return Err(PairsError::OwnComputer);
            }
            if let Some(kept) = content.pairs.get_mut(&pair.id) {
                if !kept.unmet && !kept.key.is_same(&pair.key) {
                    return Err(PairsError::Paired(kept.name.clone()));
                }
                kept.key = pair.key;
                return Ok(kept.name.clone());
            }
            check_name(content, &pair.name, None)?;
            let kept = KeptPair { name: pair.name.clone(), key: pair.key, unmet: true };
            content.pairs.insert(pair.id, kept);
            Ok(pair.name)
        })
    }

    /// Notes that the computer of a pair has shown that it has the key. Does nothing if the pair
    /// has another key by now.
    ///
    /// # Errors
    /// [`PairsError::File`].
    pub fn note_met(&self, pair: &Pair) -> Result<(), PairsError> {
        let is_unmet = |kept: &KeptPair| kept.unmet && kept.key.is_same(&pair.key);
        if !self.lock().pairs.get(&pair.id).is_some_and(is_unmet) {
            return Ok(());
        }
        self.change(|content| {
            if let Some(kept) = content.pairs.get_mut(&pair.id).filter(|kept| is_unmet(kept)) {
                kept.unmet = false;
            }
            Ok(())
        })
    }

    /// Deletes a pair with its key. Returns false if this computer is not paired with the other
    /// one.
    ///
    /// # Errors
    /// [`PairsError::File`]; the pair is not removed then.
    pub fn forget(&self, id: ComputerId) -> Result<bool, PairsError> {
        if self.get(id).is_none() {
            return Ok(false);
        }
        self.change(|content| Ok(content.pairs.remove(&id).is_some()))
    }

    /// Gives a computer another name here.
    ///
    /// # Errors
    /// [`PairsError`] if the name is taken, if the computer is not paired, or if the file cannot be
    /// written.
    pub fn rename(&self, id: ComputerId, name: ComputerName) -> Result<(), PairsError> {
        self.change(|content| {
            check_name(content, &name, Some(id))?;
            let kept = content.pairs.get_mut(&id).ok_or(PairsError::Unknown(id))?;
            kept.name = name;
            Ok(())
        })
    }

    fn lock(&self) -> MutexGuard<'_, PairsFile> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the content of the file, and then the content in memory.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut PairsFile) -> Result<T, PairsError>,
    ) -> Result<T, PairsError> {
        let mut content = self.lock();
        let mut changed = content.clone();
        let result = change(&mut changed)?;
        // The file is written first, so that a change that is not stored takes no effect.
        write(&self.folder, &changed)?;
        *content = changed;
        Ok(result)
    }
}

fn pair(id: ComputerId, kept: &KeptPair) -> Pair {
    Pair { id, name: kept.name.clone(), key: kept.key.clone() }
}

/// Refuses a name that this computer or another pair than `of` has: `NAME@computer` must mean one
/// computer.
fn check_name(
    content: &PairsFile,
    name: &ComputerName,
    of: Option<ComputerId>,
) -> Result<(), PairsError> {
    let own = std::iter::once((content.own.id, &content.own.name));
    let pairs = content.pairs.iter().map(|(id, kept)| (*id, &kept.name));
    if own.chain(pairs).any(|(id, other)| other == name && Some(id) != of) {
        return Err(PairsError::NameTaken(name.clone()));
    }
    Ok(())
}

/// Writes the file anew. A new file replaces the old one, so that a crash leaves one of the two
/// whole.
fn write(folder: &Path, content: &PairsFile) -> Result<(), PairsError> {
    let (path, fresh) = (folder.join(FILE), folder.join(format!("{FILE}.new")));
    let write = || {
        // A file that a crash left might be readable by others.
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        file.write_all(serde_json::to_string_pretty(content)?.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, &path)?;
        fs::File::open(folder)?.sync_all()
    };
    write().map_err(|error| PairsError::File(path.clone(), error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn own() -> OwnComputer {
        OwnComputer {
            id: ComputerId::random(2).unwrap(),
            name: "workstation".parse().unwrap(),
            redis: "redis://:s3cret@host".parse().unwrap(),
            ca: None,
        }
    }

    fn other(name: &str) -> Pair {
        let id = ComputerId::random(8).unwrap();
        Pair { id, name: name.parse().unwrap(), key: PairKey::random() }
    }

    fn key_of(pair: &Pair) -> String {
        pair.key.clone().into()
    }

    #[test]
    fn the_book_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Pairs::open(folder.path()).unwrap().is_none());
        let own = own();
        let pairs = Pairs::create(folder.path(), own.clone()).unwrap();
        let laptop = other("laptop");
        pairs.add(laptop.clone()).unwrap();
        let pairs = Pairs::open(folder.path()).unwrap().unwrap();
        assert_eq!(pairs.own(), own);
        let read = pairs.get(laptop.id).unwrap();
        assert_eq!((read.name.as_str(), key_of(&read)), ("laptop", key_of(&laptop)));
        assert_eq!(pairs.named(&laptop.name).unwrap().id, laptop.id);
        let again = Pairs::create(folder.path(), own.clone());
        assert!(matches!(again, Err(PairsError::Exists(id)) if id == own.id));
    }

    #[test]
    fn a_stop_is_kept_and_a_book_of_before_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = Pairs::create(folder.path(), own()).unwrap();
        let log = LogId::random();
        pairs.set_log(log, false).unwrap();
        let text = fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(!text.contains("stopped"), "{text}");
        pairs.set_log(log, true).unwrap();
        let pairs = Pairs::open(folder.path()).unwrap().unwrap();
        assert_eq!((pairs.log(), pairs.is_stopped()), (Some(log), true));
        pairs.set_log(log, false).unwrap();
        assert!(!Pairs::open(folder.path()).unwrap().unwrap().is_stopped());
    }

    #[test]
    fn only_the_user_reads_the_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("computers.json.new"), "left by a crash").unwrap();
        let pairs = Pairs::create(folder.path(), own()).unwrap();
        pairs.add(other("laptop")).unwrap();
        let mode = fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!folder.path().join("computers.json.new").exists());
    }

    #[test]
    fn a_name_means_one_computer() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = Pairs::create(folder.path(), own()).unwrap();
        let (laptop, server) = (other("laptop"), other("server"));
        pairs.add(laptop.clone()).unwrap();
        pairs.add(server.clone()).unwrap();
        assert!(matches!(pairs.add(other("laptop")), Err(PairsError::NameTaken(_))));
        assert!(matches!(pairs.add(other("workstation")), Err(PairsError::NameTaken(_))));
        assert!(matches!(
            pairs.rename(server.id, laptop.name.clone()),
            Err(PairsError::NameTaken(_))
        ));
        pairs.rename(laptop.id, laptop.name.clone()).unwrap();
        pairs.rename(laptop.id, "book".parse().unwrap()).unwrap();
        pairs.rename(server.id, "laptop".parse().unwrap()).unwrap();
        let redis = pairs.own().redis;
        let taken = pairs.set_own("book".parse().unwrap(), redis.clone(), None);
        assert!(matches!(taken, Err(PairsError::NameTaken(_))));
        pairs.set_own("workstation".parse().unwrap(), redis, None).unwrap();
        let unknown = pairs.rename(ComputerId::random(3).unwrap(), "x".parse().unwrap());
        assert!(matches!(unknown, Err(PairsError::Unknown(_))));
    }

    #[test]
    fn a_key_that_was_shown_is_not_replaced_and_a_copy_of_this_computer_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = Pairs::create(folder.path(), own()).unwrap();
        let (lost, laptop) = (other("laptop"), other("again"));
        let laptop = Pair { id: lost.id, ..laptop };
        for pair in [&lost, &laptop, &laptop] {
            assert_eq!(pairs.add(pair.clone()).unwrap(), lost.name);
        }
        pairs.note_met(&lost).unwrap();
        assert!(pairs.add(laptop.clone()).is_ok(), "the former key was shown");
        pairs.note_met(&laptop).unwrap();
        assert_eq!(pairs.add(laptop.clone()).unwrap(), lost.name);
        let pairs = Pairs::open(folder.path()).unwrap().unwrap();
        let again = pairs.add(lost.clone());
        assert!(matches!(again, Err(PairsError::Paired(name)) if name == lost.name));
        let copy = Pair { id: pairs.own().id, ..other("copy") };
        assert!(matches!(pairs.add(copy), Err(PairsError::OwnComputer)));
        assert_eq!(key_of(&pairs.get(laptop.id).unwrap()), key_of(&laptop));
    }

    #[test]
    fn a_forgotten_pair_leaves_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = Pairs::create(folder.path(), own()).unwrap();
        let laptop = other("laptop");
        pairs.add(laptop.clone()).unwrap();
        let file = || fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(file().contains(&key_of(&laptop)));
        assert!(pairs.forget(laptop.id).unwrap());
        assert!(!file().contains(&key_of(&laptop)));
        assert!(!pairs.forget(laptop.id).unwrap());
        assert!(pairs.all().is_empty());
    }

    #[test]
    fn a_change_that_is_not_written_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = Pairs::create(folder.path(), own()).unwrap();
        let laptop = other("laptop");
        pairs.add(laptop.clone()).unwrap();
        fs::create_dir(folder.path().join("computers.json.new")).unwrap();
        assert!(matches!(pairs.forget(laptop.id), Err(PairsError::File(..))));
        assert!(pairs.get(laptop.id).is_some());
    }

    #[test]
    fn a_spoiled_file_is_named_without_its_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = Pairs::create(folder.path(), own()).unwrap();
        let path = folder.path().join(FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("redis://", "http://")).unwrap();
        let Err(error) = Pairs::open(folder.path()) else { panic!("a spoiled file was read") };
        assert!(matches!(error, PairsError::Content(..)));
        assert!(!format!("{error} {error:?} {:?}", pairs.own()).contains("s3cret"));
    }
}
