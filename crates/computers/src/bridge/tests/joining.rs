//! Two computers are paired by lines that may be repeated, lost or refused.

use std::fs;
use std::sync::Arc;

use moothall_engine::computers::{ComputerDirectory, ComputerError, JoinOutcome, NewComputer};
use moothall_engine::hall::Hall;
use tempfile::TempDir;

use super::faults::until;
use super::hall;
use crate::bridge::{Computers, PostMaker};
use crate::id::ComputerId;
use crate::memory_post::{MemoryServer, PostFaults};
use crate::pairs::{OwnComputer, Pairs};
use crate::post::Post;

/// A computer with an id and without pairs.
struct Newcomer {
    _hall: Hall,
    folder: TempDir,
    computers: Computers,
}

impl Newcomer {
    async fn open(server: &Arc<MemoryServer>, name: &str, up: u8) -> Self {
        let (hall, folder) = (hall().await, TempDir::new().unwrap());
        let redis = "redis://127.0.0.1".parse().unwrap();
        let id = ComputerId::random(up).unwrap();
        let own = OwnComputer { id, name: name.parse().unwrap(), redis, ca: None };
        Pairs::create(folder.path(), own).unwrap();
        let server = server.clone();
        let posts: PostMaker = Arc::new(move |own| Arc::new(server.post(own)) as Arc<dyn Post>);
        let place = folder.path().to_owned();
        let computers = Computers::open_with(posts, &hall, <_>::default(), place).await.unwrap();
        Self { _hall: hall, folder, computers }
    }

    fn directory(&self) -> Arc<dyn ComputerDirectory> {
        self.computers.directory()
    }

    async fn invite(&self) -> String {
        self.directory().invite(NewComputer::default()).await.unwrap()
    }

    async fn join(&self, line: &str) -> Result<JoinOutcome, ComputerError> {
        self.directory().join(line, NewComputer::default()).await
    }

    /// Joins with an invitation, and returns the answer.
    async fn answer(&self, invitation: &str) -> String {
        match self.join(invitation).await.unwrap() {
            JoinOutcome::Accepted { answer, .. } => answer,
            JoinOutcome::Paired { computer } => panic!("an answer, and not {computer}"),
        }
    }

    /// Makes the file of pairs unwritable, or writable again.
    fn block(&self, is_blocked: bool) {
        let fresh = self.folder.path().join("computers.json.new");
        if is_blocked { fs::create_dir(fresh) } else { fs::remove_dir(fresh) }.unwrap();
    }

    /// Returns the names and the keys of the pairs.
    fn keys(&self) -> Vec<(String, String)> {
        let pairs = Pairs::open(self.folder.path()).unwrap().unwrap().all();
        pairs.into_iter().map(|pair| (pair.name.to_string(), pair.key.into())).collect()
    }

    async fn is_up(&self) -> bool {
        let computers = self.directory().computers().await.computers;
        computers.iter().any(|one| !one.is_this && one.state.to_string() == "up")
    }
}

async fn two() -> (Newcomer, Newcomer) {
    let server = MemoryServer::new(3, PostFaults::default());
    let inviter = Newcomer::open(&server, "workstation", 1).await;
    (inviter, Newcomer::open(&server, "laptop", 8).await)
}

/// Checks that the computers have one pair with one key, and meet.
async fn meet(inviter: &Newcomer, joiner: &Newcomer) {
    let (there, here) = (inviter.keys(), joiner.keys());
    assert_eq!((there.len(), here.len()), (1, 1));
    assert_eq!((there[0].0.as_str(), here[0].0.as_str()), ("laptop", "workstation"));
    assert_eq!(there[0].1, here[0].1, "one key");
    until("they meet", async || inviter.is_up().await && joiner.is_up().await).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_could_not_be_stored_is_taken_when_it_is_repeated() {
    let (inviter, joiner) = two().await;
    let line = inviter.invite().await;
    let answer = joiner.answer(&line).await;
    inviter.block(true);
    let failed = inviter.join(&answer).await;
    assert!(matches!(failed, Err(ComputerError::NotKept(_))), "{failed:?}");
    inviter.block(false);
    // Either line may be given again, also after it took effect.
    assert_eq!(joiner.answer(&line).await, answer);
    for _ in 0..2 {
        let paired = JoinOutcome::Paired { computer: "laptop".into() };
        assert_eq!(inviter.join(&answer).await, Ok(paired));
    }
    meet(&inviter, &joiner).await;
    assert_eq!(joiner.answer(&line).await, answer);
}

#[tokio::test(start_paused = true)]
async fn a_new_invitation_takes_the_place_of_one_that_made_no_pair() {
    let (inviter, joiner) = two().await;
    let lost = joiner.answer(&inviter.invite().await).await;
    let answer = joiner.answer(&inviter.invite().await).await;
    assert_ne!(lost, answer);
    inviter.join(&answer).await.unwrap();
    meet(&inviter, &joiner).await;
    // A computer that was met keeps its key.
    let kept = joiner.keys();
    let refused = joiner.join(&inviter.invite().await).await;
    assert!(matches!(refused, Err(ComputerError::Taken(_))), "{refused:?}");
    let late = inviter.join(&lost).await;
    assert!(matches!(late, Err(ComputerError::Taken(_))), "{late:?}");
    assert_eq!((joiner.keys(), inviter.keys()[0].1.clone()), (kept.clone(), kept[0].1.clone()));
}
