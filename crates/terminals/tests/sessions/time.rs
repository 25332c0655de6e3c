//! Time limits of turns in terminals, and answers that come after them.

use std::time::Duration;

use moothall_engine::registry::AgentSpec;
use moothall_engine::sessions::OnDemand;
use moothall_kernel::command::Control;
use moothall_kernel::participant::Profile;
use moothall_kernel::policy::PolicyName;
use moothall_kernel::time::Millis;

use super::*;

/// Returns a registry with a time limit for the program's turns.
fn at_most(seconds: u64) -> Registry {
    let agent = Arc::new(OnDemand { timeout: Some(Millis::from_secs(seconds)) });
    let (client, summary) = ("claude".to_owned(), String::new());
    let mut registry = Registry::default();
    registry.insert(AgentSpec {
        client,
        summary,
        profile: Profile::default(),
        origin: "configured",
        run_as: None,
        agent,
    });
    registry
}

impl Room {
    /// Lets a turn of a session exceed its time limit.
    async fn is_late(&self, session: &SessionId, stream: &StreamId, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let expired =
            |event: &Event| matches!(event, Event::TurnEnded { outcome: Outcome::Expired, .. });
        eventually(async || {
            has(
                &self.hall.read(stream, moothall_kernel::ids::Seq(0), None).await.unwrap().events,
                expired,
            )
            .then_some(())
        })
        .await;
        assert_eq!(self.bench.with(session.as_str(), |screen| screen.escapes), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_of_a_client_counts_for_whoever_was_started() {
    let room = Room::with(at_most(15)).await;
    let a = room.start().await;
    room.hall.submit(&a, post("quickly, please"), None).await.unwrap();
    room.takes(&a, 1).await;
    room.is_late(&a, &a, 16).await;
}

#[tokio::test(start_paused = true)]
async fn words_that_come_too_late_are_said_unasked_where_they_were_asked() {
    let room = Room::with(at_most(15)).await;
    let (a, b) = (room.start().await, room.start().await);
    let link = room.send(&a, &b, "quickly, please", true).await.link.unwrap();
    room.takes(&b, 1).await;
    room.is_late(&b, &link, 16).await;
    room.says(&b, "it took a while").await;
    assert!(room.said(&link).await.iter().any(|(_, said)| said == "it took a while"));
    assert!(
        room.takes(&a, 1).await.contains("it took a while"),
        "the others hear it as they hear everything"
    );
}

#[tokio::test(start_paused = true)]
async fn words_that_come_too_late_stay_at_home_when_their_conversation_takes_none() {
    let room = Room::with(at_most(15)).await;
    let (a, b) = (room.start().await, room.start().await);
    let link = room.send(&a, &b, "quickly, please", true).await.link.unwrap();
    room.takes(&b, 1).await;
    room.is_late(&b, &link, 16).await;
    room.sessions().close_link(&link, &Asker::Session(a)).await.unwrap();
    room.says(&b, "it took a while").await;
    assert_eq!(room.said(&b).await.last().unwrap().1, "it took a while");
}

#[tokio::test(start_paused = true)]
async fn what_a_person_stopped_is_not_said_by_itself() {
    let room = Room::new().await;
    let a = room.start().await;
    let policy = Policy { name: PolicyName::MentionOnly, ..Policy::default() };
    let thread =
        room.hall.create("Room".into(), policy, Actor::human("user"), None).await.unwrap().stream;
    let invite = Control::Invite(room.sessions().invite(&a).unwrap());
    room.hall
        .submit(
            &thread,
            ClientCommand::Control { by: Actor::human("user"), controls: vec![invite] },
            None,
        )
        .await
        .unwrap();
    room.hall.submit(&thread, post("@claude go"), None).await.unwrap();
    room.takes(&a, 1).await;
    room.hall
        .submit(&thread, ClientCommand::Stop { by: Actor::human("user") }, None)
        .await
        .unwrap();
    eventually(async || (room.bench.with(a.as_str(), |screen| screen.escapes) == 1).then_some(()))
        .await;
    room.says(&a, "never mind").await;
    assert!(!room.said(&thread).await.iter().any(|(_, said)| said == "never mind"));
}
