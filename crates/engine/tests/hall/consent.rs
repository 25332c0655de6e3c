//! Commands that need consent: the conversation continues while the asker thinks.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_engine::hall::{Answer, HallError};
use moothall_engine::stream::{Condition, Consent, ConsentAsker};
use moothall_kernel::command::Command;
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Millis;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::common::{World, key, post};

/// An asker that hands each question to the test, with a channel for the answer.
struct Boss(mpsc::UnboundedSender<(String, oneshot::Sender<Consent>)>);

#[async_trait]
impl ConsentAsker for Boss {
    async fn ask(&self, principal: &str, request: &Command) -> Consent {
        let (answer, answered) = oneshot::channel();
        let Command::Client(client) = request else { panic!("{request:?}") };
        drop(self.0.send((format!("{principal}: {client:?}"), answer)));
        match answered.await {
            Ok(consent) => consent,
            Err(_) => std::future::pending().await,
        }
    }
}

struct Bench {
    world: World,
    stream: StreamId,
    boss: Arc<Boss>,
    questions: Mutex<mpsc::UnboundedReceiver<(String, oneshot::Sender<Consent>)>>,
}

impl Bench {
    async fn new() -> Self {
        let world = World::new().await;
        let stream = world.create().await;
        let (boss, questions) = mpsc::unbounded_channel();
        Self { world, stream, boss: Arc::new(Boss(boss)), questions: Mutex::new(questions) }
    }

    fn propose(&self, words: &'static str) -> tokio::task::JoinHandle<Result<Answer, HallError>> {
        let (hall, stream, boss) =
            (self.world.hall.clone(), self.stream.clone(), self.boss.clone());
        let condition = Condition { principal: "boss".into(), within: Millis::from_secs(60) };
        tokio::spawn(async move {
            hall.submit_if_agreed(&stream, post(words), key("k", "f"), condition, boss).await
        })
    }

    async fn question(&self) -> (String, oneshot::Sender<Consent>) {
        self.questions.lock().await.recv().await.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn others_are_answered_while_somebody_thinks() {
    let bench = Bench::new().await;
    let proposed = bench.propose("first");
    let (question, answer) = bench.question().await;
    assert!(question.starts_with("boss: Post") && question.contains("first"), "{question}");
    bench.world.post(&bench.stream, "second").await.unwrap();
    assert!(!proposed.is_finished());
    answer.send(Consent::Given).unwrap();
    proposed.await.unwrap().unwrap();
    let said = bench.world.said(&bench.stream).await;
    assert_eq!(said.iter().map(|(_, body)| body.as_str()).collect::<Vec<_>>(), ["second", "first"]);
    assert!(bench.propose("first").await.unwrap().unwrap().replayed, "and nobody is asked");
}

#[tokio::test(start_paused = true)]
async fn whoever_says_nothing_has_not_agreed() {
    let bench = Bench::new().await;
    let proposed = bench.propose("first");
    let (_, unsaid) = bench.question().await;
    let refused = proposed.await.unwrap().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "The request was not approved in time, so nothing was decided; send it again."
    );
    assert!(unsaid.is_closed(), "nobody waits for the answer");
    let again = bench.propose("first");
    bench.question().await.1.send(Consent::Given).unwrap();
    again.await.unwrap().unwrap();
    assert_eq!(bench.world.said(&bench.stream).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_goes_down_waits_for_nobody() {
    let bench = Bench::new().await;
    let proposed = bench.propose("first");
    let _thinks = bench.question().await;
    bench.world.hall.drain(Millis::from_secs(5)).await;
    assert_eq!(proposed.await.unwrap(), Err(HallError::ShuttingDown));
    assert_eq!(bench.world.said(&bench.stream).await, []);
}
