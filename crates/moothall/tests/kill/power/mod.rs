//! Power loss: synced data stays; of other writes only a part stays, out of order and torn.
//!
//! A real server is recorded once while clients write to it (`strace` sees its writes and syncs).
//! Then the power fails at many places of the recording: each failure gives an image of the files,
//! which must contain everything acknowledged before. The test records the acknowledgements outside
//! of the server. A control experiment that ignores syncs must be caught.

mod disk;
mod recording;

use std::collections::BTreeMap;
use std::path::Path;

use moothall_engine::ports::{EventLog, Upkeep};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_store::SqliteLog;
use moothall_testkit::needs;

use self::disk::{Disk, Syncs};
use self::recording::{AcknowledgedMessage, Recording};
use crate::chance::{Chance, seed, setting};

/// Default number of losses, if `MOOTHALL_POWER_LOSSES` is unset.
const LOSSES: u64 = 60;
/// Losses with ignored syncs; even a few would suffice.
const CONTROLS: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn power_lost_at_any_write_loses_nothing_and_repeats_nothing() {
    if !needs::has("strace") {
        return;
    }
    let (seed, losses) = (seed(), setting("MOOTHALL_POWER_LOSSES", || LOSSES));
    let line = format!("MOOTHALL_KILL_SEED={seed} MOOTHALL_POWER_LOSSES={losses}");
    println!("{line}");
    let recording = Recording::make().await;
    assert!(recording.syncs() > 20 && recording.acknowledged.len() > 100, "too little to lose");
    let mut chance = Chance::of(seed);
    let mut done = PowerCounts::default();
    for loss in 0..losses {
        let objections = lose(&recording, &mut chance.branch(), Syncs::Kept, &mut done).await;
        assert!(objections.is_empty(), "{line}, loss {loss}\n{}", objections.join("\n"));
    }
    let mut caught = 0;
    for _ in 0..CONTROLS {
        let objections =
            lose(&recording, &mut chance.branch(), Syncs::Ignored, &mut PowerCounts::default())
                .await;
        caught += u64::from(!objections.is_empty());
    }
    assert!(caught > 0, "{line}: a disk that syncs nothing was not caught");
    println!(
        "{losses} losses of power: {} acknowledged, {} writes dropped, {} torn; {caught} of {CONTROLS} disks without syncs caught",
        done.acknowledged, done.dropped, done.torn
    );
}

/// Counts of all losses.
#[derive(Default)]
struct PowerCounts {
    acknowledged: usize,
    dropped: u64,
    torn: u64,
}

/// Simulates one power loss. Returns the faults afterwards.
async fn lose(
    recording: &Recording,
    chance: &mut Chance,
    syncs: Syncs,
    done: &mut PowerCounts,
) -> Vec<String> {
    let cut = chance.below(recording.steps.len() as u64) as usize;
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::at(recording, cut, syncs, chance);
    disk.write_to(folder.path());
    done.dropped += disk.dropped;
    done.torn += disk.torn;
    let owed: Vec<&AcknowledgedMessage> = recording
        .acknowledged
        .iter()
        .filter(|acknowledged| acknowledged.at < recording.steps[cut].at)
        .collect();
    done.acknowledged += owed.len();
    match judge(folder.path(), &recording.thread, &owed).await {
        Ok(objections) => objections,
        Err(refusal) => vec![format!("the folder is not opened: {refusal}")],
    }
}

/// Compares a folder with the acknowledged messages.
async fn judge(
    data: &Path,
    thread: &StreamId,
    owed: &[&AcknowledgedMessage],
) -> Result<Vec<String>, String> {
    let log = SqliteLog::open(data).map_err(|error| error.to_string())?;
    let faults = log.verify().await.faults;
    let mut objections: Vec<String> =
        faults.iter().map(|fault| format!("damaged: {fault}")).collect();
    let mut kept: BTreeMap<String, Vec<Seq>> = BTreeMap::new();
    let mut after = Seq(0);
    loop {
        let page = log.read(thread, after, 1000).await.map_err(|error| error.to_string())?;
        if page.through == after {
            break;
        }
        after = page.through;
        for recorded in &page.events {
            if let Event::Posted(posted) = &recorded.event {
                kept.entry(posted.body.clone()).or_default().push(recorded.seq);
            }
        }
    }
    for acknowledged in owed {
        let words = &acknowledged.words;
        match kept.get(words).map(Vec::as_slice) {
            Some([seq]) if seq.0 == acknowledged.seq => {}
            found => objections.push(format!(
                "{:.12} was acknowledged at {} and is at {found:?}",
                words, acknowledged.seq
            )),
        }
    }
    log.close().await.map_err(|error| error.to_string())?;
    Ok(objections)
}
