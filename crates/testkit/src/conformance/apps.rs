//! Apps and the agents that manage their tasks.

use moothall_engine::access::{AuditAction, AuditEntry};
use moothall_engine::ports::{APPS_MAX, AppHold, Apps, HeldApp, Principals};
use moothall_kernel::time::Timestamp;

use super::Subject;

fn app(id: &str, agent: &str) -> HeldApp {
    let since = Timestamp::from_millis(1_000);
    HeldApp { id: id.into(), name: format!("app {id}"), agent: agent.into(), since }
}

fn entry(action: AuditAction) -> AuditEntry {
    let at = Timestamp::from_millis(1_000);
    AuditEntry { at, action, by: None, token: None, about: None, detail: String::new() }
}

async fn holds(log: &impl Apps, id: &str, agent: &str) -> AppHold {
    log.hold_app(&app(id, agent), &entry(AuditAction::AppHeld)).await.unwrap()
}

/// The first agent that asks gets the app, and the record says so once.
pub async fn an_app_is_the_agents_that_asks_first<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(holds(log, "a", "tim").await, AppHold::Yes);
    assert_eq!(holds(log, "a", "tim").await, AppHold::Yes);
    assert_eq!(holds(log, "a", "tom").await, AppHold::OfOther);
    assert_eq!(log.app("a").await.unwrap(), Some(app("a", "tim")));
    assert_eq!(log.app("b").await.unwrap(), None);
    assert_eq!(log.audit(None, 10).await.unwrap().len(), 1, "a repetition is not recorded");
}

/// An agent has at most `APPS_MAX` apps, both asked for and given.
pub async fn an_agent_has_a_bounded_number_of_apps<S: Subject>(subject: S) {
    let log = subject.log();
    for n in 0..APPS_MAX {
        assert_eq!(holds(log, &format!("a{n}"), "tim").await, AppHold::Yes);
    }
    assert_eq!(holds(log, "b", "tim").await, AppHold::TooMany);
    assert_eq!(log.app("b").await.unwrap(), None);
    assert_eq!(holds(log, "a0", "tim").await, AppHold::Yes, "one of them again");
    let given = |id| {
        let app = app(id, "tim");
        async move { log.give_app(&app, &entry(AuditAction::AppGiven)).await.unwrap() }
    };
    assert_eq!(given("b").await, AppHold::TooMany);
    assert_eq!(given("a0").await, AppHold::Yes);
    assert!(log.free_app("a0", &entry(AuditAction::AppFreed)).await.unwrap());
    assert_eq!(holds(log, "b", "tim").await, AppHold::Yes);
}

/// A person gives an app to another agent, or takes it from its agent.
pub async fn an_app_is_given_and_freed<S: Subject>(subject: S) {
    let log = subject.log();
    holds(log, "a", "tim").await;
    let given = log.give_app(&app("a", "tom"), &entry(AuditAction::AppGiven)).await.unwrap();
    assert_eq!(given, AppHold::Yes);
    assert_eq!(holds(log, "a", "tim").await, AppHold::OfOther);
    assert_eq!(log.apps_of(&"tom".into()).await.unwrap(), [app("a", "tom")]);
    assert_eq!(log.apps_of(&"tim".into()).await.unwrap(), []);
    assert!(log.free_app("a", &entry(AuditAction::AppFreed)).await.unwrap());
    assert!(!log.free_app("a", &entry(AuditAction::AppFreed)).await.unwrap());
    assert_eq!(holds(log, "a", "tim").await, AppHold::Yes);
    let actions = log.audit(None, 10).await.unwrap().into_iter().map(|row| row.entry.action);
    let expected =
        [AuditAction::AppHeld, AuditAction::AppFreed, AuditAction::AppGiven, AuditAction::AppHeld];
    assert_eq!(actions.collect::<Vec<_>>(), expected);
}

/// Apps survive a restart.
pub async fn apps_last<S: Subject>(subject: S) {
    holds(subject.log(), "a", "tim").await;
    let Some(subject) = subject.reopen().await else { return };
    assert_eq!(holds(subject.log(), "a", "tom").await, AppHold::OfOther);
}

/// Pages of apps join.
pub async fn apps_are_listed_in_pages<S: Subject>(subject: S) {
    let log = subject.log();
    let all: Vec<_> = (0..5).map(|n| app(&format!("a{n}"), &format!("t{n}"))).collect();
    for one in all.iter().rev() {
        log.hold_app(one, &entry(AuditAction::AppHeld)).await.unwrap();
    }
    assert_eq!(log.apps(None, 3).await.unwrap(), all[..3]);
    assert_eq!(log.apps(Some("a2"), 3).await.unwrap(), all[3..]);
    assert_eq!(log.apps(Some("a4"), 3).await.unwrap(), []);
}
