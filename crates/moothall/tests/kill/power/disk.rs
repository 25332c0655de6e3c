//! Contents of a disk after a power failure.

use std::fs;
use std::path::Path;

use super::recording::{FILES, FileChange, Recording, Step};
use crate::chance::Chance;

/// Bytes that a disk writes atomically.
const SECTOR: usize = 512;

/// Effect of a sync.
#[derive(Clone, Copy, PartialEq)]
pub enum Syncs {
    Kept,
    /// For the control experiment.
    Ignored,
}

pub struct Disk {
    files: Vec<Vec<u8>>,
    pub dropped: u64,
    pub torn: u64,
}

impl Disk {
    /// Fails before a step of the recording. Synced writes are there. Each other write is complete,
    /// missing or torn by sectors, and later ones may be there without earlier ones.
    pub fn at(recording: &Recording, cut: usize, syncs: Syncs, chance: &mut Chance) -> Self {
        let done = &recording.steps[..cut];
        let mut disk = Self { files: recording.before.clone(), dropped: 0, torn: 0 };
        let synced = |file: usize| {
            let is_sync =
                |step: &Step| step.file == file && matches!(step.change, FileChange::Sync);
            match syncs {
                Syncs::Kept => done.iter().rposition(is_sync),
                Syncs::Ignored => None,
            }
        };
        let synced: Vec<Option<usize>> = (0..FILES.len()).map(synced).collect();
        for (place, step) in done.iter().enumerate() {
            let lasts = synced[step.file].is_some_and(|sync| place < sync);
            disk.step(step, lasts, chance);
        }
        disk
    }

    fn step(&mut self, step: &Step, lasts: bool, chance: &mut Chance) {
        let file = &mut self.files[step.file];
        let kept = lasts || chance.below(2) == 0;
        match &step.change {
            FileChange::Sync => {}
            _ if !kept => self.dropped += 1,
            FileChange::Truncate { length } => file.resize(*length, 0),
            FileChange::Write { offset, bytes } => {
                let tears = !lasts && bytes.len() > SECTOR && chance.below(3) == 0;
                self.torn += u64::from(tears);
                let mut at = *offset;
                while at < offset + bytes.len() {
                    let end = (at / SECTOR * SECTOR + SECTOR).min(offset + bytes.len());
                    if !tears || chance.below(2) == 0 {
                        file.resize(file.len().max(end), 0);
                        file[at..end].copy_from_slice(&bytes[at - offset..end - offset]);
                    }
                    at = end;
                }
            }
        }
    }

    pub fn write_to(&self, folder: &Path) {
        for (name, bytes) in FILES.iter().zip(&self.files).filter(|(_, bytes)| !bytes.is_empty()) {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
}
