//! Cost of turns: counted with the append, once, and summed on request.

use moothall_engine::access::{AuditAction, AuditEntry};
use moothall_engine::ports::{
    AppendError, EventLog, Ledger, Principals, StreamBatch, UsageBy, UsageSum, UsageWanted,
};
use moothall_kernel::budget::{Account, BudgetOwner, Charge, Raise};
use moothall_kernel::event::Usage;
use moothall_kernel::ids::{Seq, StreamId};

use super::Subject;
use super::build::{Builder, at, batch};

const HOUR: i64 = 3_600_000;

/// Returns the charge of a turn that began in an hour.
fn charge(hour: i64, agent: &str, by: &str, attended: bool, micros: u64) -> Charge {
    let usage = Usage { ms: 5, input_tokens: micros * 2, output_tokens: 1, cost_micros: micros };
    Charge {
        hour: at(hour * HOUR),
        account: Account { agent: agent.into(), by: by.into(), attended },
        turns: 1,
        usage,
    }
}

fn spending(batch: StreamBatch, charges: Vec<Charge>) -> StreamBatch {
    StreamBatch { charges, ..batch.says("words") }
}

fn wanted(by: Option<UsageBy>) -> UsageWanted {
    UsageWanted { by, limit: 100, ..UsageWanted::default() }
}

async fn total(log: &impl Ledger, wanted: UsageWanted) -> (u64, u64, u64) {
    let sums = log.used(&wanted).await.unwrap();
    let [sum] = sums.as_slice() else { panic!("one sum was asked for: {sums:?}") };
    (sum.turns, sum.unattended, sum.cost_micros)
}

/// An append counts all charges together with its events, and a failed append counts none.
pub async fn an_append_counts_what_its_events_cost<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(total(log, wanted(None)).await, (0, 0, 0));
    let charges = vec![
        charge(1, "demo", "user", true, 10),
        charge(1, "demo", "user", false, 5),
        charge(1, "other", "user", true, 1),
    ];
    log.append(vec![spending(batch("a", 0), charges)]).await.unwrap();
    assert_eq!(total(log, wanted(None)).await, (3, 1, 16));
    let conflict = log
        .append(vec![
            spending(batch("b", 0), vec![charge(1, "demo", "b", false, 7)]),
            batch("a", 0).says("no"),
        ])
        .await;
    assert!(matches!(conflict, Err(AppendError::Conflict { head: Seq(1), .. })));
    assert_eq!(total(log, wanted(None)).await, (3, 1, 16));
}

/// Sums come by agent, by stream and by day, and only for the requested range.
pub async fn sums_are_those_that_are_wanted<S: Subject>(subject: S) {
    let log = subject.log();
    let first = vec![charge(1, "demo", "user", true, 10), charge(25, "gpt", "user", false, 300)];
    let second = vec![charge(26, "demo", "ann", true, 4), charge(50, "demo", "ann", true, 0)];
    log.append(vec![spending(batch("a", 0), first), spending(batch("b", 0), second)])
        .await
        .unwrap();
    let sums = async |wanted: UsageWanted| log.used(&wanted).await.unwrap();
    let gpt = UsageSum {
        agent: Some("gpt".into()),
        turns: 1,
        unattended: 1,
        input_tokens: 600,
        output_tokens: 1,
        cost_micros: 300,
        ..UsageSum::default()
    };
    let demo = UsageSum {
        agent: Some("demo".into()),
        turns: 3,
        input_tokens: 28,
        output_tokens: 3,
        cost_micros: 14,
        ..UsageSum::default()
    };
    assert_eq!(sums(wanted(Some(UsageBy::Agent))).await, [gpt.clone(), demo]);
    let by_stream = sums(wanted(Some(UsageBy::Stream))).await;
    let streams: Vec<_> = by_stream
        .iter()
        .map(|sum| (sum.stream.clone().unwrap(), sum.turns, sum.cost_micros))
        .collect();
    assert_eq!(streams, [(StreamId::new("a"), 2, 310), (StreamId::new("b"), 2, 4)]);
    let by_day = sums(wanted(Some(UsageBy::Day))).await;
    let days: Vec<_> =
        by_day.iter().map(|sum| (sum.day.unwrap(), sum.turns, sum.cost_micros)).collect();
    assert_eq!(days, [(at(48 * HOUR), 1, 0), (at(24 * HOUR), 2, 304), (at(0), 1, 10)]);
    assert_eq!(sums(UsageWanted { limit: 1, ..wanted(Some(UsageBy::Agent)) }).await, [gpt]);
    assert_eq!(
        total(
            log,
            UsageWanted { streams: Some(vec!["b".into(), "nowhere".into()]), ..wanted(None) }
        )
        .await,
        (2, 0, 4)
    );
    assert_eq!(
        total(log, UsageWanted { streams: Some(Vec::new()), ..wanted(None) }).await,
        (0, 0, 0)
    );
    assert_eq!(
        total(log, UsageWanted { agent: Some("o'neill\" OR 1".into()), ..wanted(None) }).await,
        (0, 0, 0)
    );
    assert_eq!(
        total(
            log,
            UsageWanted { agent: Some("demo".into()), from: Some(at(24 * HOUR)), ..wanted(None) }
        )
        .await,
        (2, 0, 4)
    );
    assert_eq!(
        total(log, UsageWanted { to: Some(at(24 * HOUR)), ..wanted(None) }).await,
        (1, 0, 10)
    );
}

/// Counting continues after a restart with the same sums.
pub async fn what_was_charged_is_found_again<S: Subject>(subject: S) {
    let log = subject.log();
    let charges = vec![
        charge(1, "demo", "user", true, 10),
        charge(25, "demo", "x", false, 3),
        charge(25, "demo", "x", true, 4),
    ];
    log.append(vec![spending(batch("a", 0), charges)]).await.unwrap();
    let entry = |detail: &str| {
        let (at, action) = (at(0), AuditAction::BudgetRaised);
        AuditEntry {
            at,
            action,
            by: Some("user".into()),
            token: None,
            about: None,
            detail: detail.into(),
        }
    };
    let raise = Raise { turns: 5, micros: 9, until: at(30 * HOUR) };
    for owner in [BudgetOwner::Hall, BudgetOwner::Agent("demo".into())] {
        log.keep_raise(&owner, &Raise { turns: 1, ..raise }, &entry("one")).await.unwrap();
        log.keep_raise(&owner, &raise, &entry("five")).await.unwrap();
    }
    let Some(subject) = subject.reopen().await else { return };
    let record = subject.log().audit(None, 9).await.unwrap();
    let recorded: Vec<_> =
        record.iter().map(|row| (row.entry.action, row.entry.detail.as_str())).collect();
    assert_eq!(
        recorded,
        ["five", "one", "five", "one"].map(|detail| (AuditAction::BudgetRaised, detail)),
        "each raise with its record"
    );
    let ledger = subject.log();
    let charges = ledger.charged_since(at(24 * HOUR)).await.unwrap();
    let sum = |attended| {
        let of = charges.iter().filter(|charge| {
            charge.account.attended == attended && charge.account.by.as_str() == "x"
        });
        of.fold((0, 0), |(turns, micros), charge| {
            (turns + charge.turns, micros + charge.usage.cost_micros)
        })
    };
    assert!(
        charges.iter().all(|charge| charge.hour == at(25 * HOUR) && charge.account.agent == "demo")
    );
    assert_eq!((sum(true), sum(false)), ((1, 7), (1, 0)));
    assert_eq!(
        ledger.raises(at(29 * HOUR)).await.unwrap(),
        [(BudgetOwner::Hall, raise), (BudgetOwner::Agent("demo".into()), raise)].to_vec()
    );
    assert!(ledger.raises(at(30 * HOUR)).await.unwrap().is_empty());
    assert!(ledger.uncounted(9).await.unwrap().is_empty());
}
