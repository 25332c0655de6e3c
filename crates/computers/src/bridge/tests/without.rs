//! A hall that has never heard of other computers runs nothing of this.

use std::sync::Arc;
use std::time::Duration;

use moothall_engine::hall::Hall;
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::hall;
use crate::bridge::{Computers, PostMaker};
use crate::id::ComputerId;
use crate::invitation::Pair;
use crate::keys::PairKey;
use crate::memory_post::{MemoryServer, PostFaults};
use crate::pairs::{OwnComputer, Pairs};
use crate::post::Post;

async fn opened(hall: &Hall, folder: &TempDir) -> Computers {
    let server = MemoryServer::new(1, PostFaults::default());
    let posts: PostMaker = Arc::new(move |own| Arc::new(server.post(own)) as Arc<dyn Post>);
    let folder = folder.path().to_owned();
    Computers::open_with(posts, hall, Default::default(), folder).await.unwrap()
}

/// Returns the number of tasks, once those that end by themselves have ended.
async fn tasks() -> usize {
    // Time that is not real passes only when all tasks wait.
    tokio::time::sleep(Duration::from_secs(1)).await;
    Handle::current().metrics().num_alive_tasks()
}

#[tokio::test(start_paused = true)]
async fn no_task_runs_before_the_first_pair() {
    let (hall, folder) = (hall().await, TempDir::new().unwrap());
    let before = tasks().await;
    let computers = opened(&hall, &folder).await;
    assert_eq!(tasks().await, before, "without a book");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(computers);

    let redis = "redis://127.0.0.1".parse().unwrap();
    let id = ComputerId::random(1).unwrap();
    let own = OwnComputer { id, name: "workstation".parse().unwrap(), redis, ca: None };
    let pairs = Pairs::create(folder.path(), own).unwrap();
    let computers = opened(&hall, &folder).await;
    assert_eq!(tasks().await, before, "with an id and without a pair");
    drop(computers);

    let (id, key) = (ComputerId::random(8).unwrap(), PairKey::random());
    pairs.add(Pair { id, name: "laptop".parse().unwrap(), key }).unwrap();
    let computers = opened(&hall, &folder).await;
    assert!(tasks().await > before, "with a pair");
    computers.close().await;
    assert_eq!(tasks().await, before, "after its end");
}
