//! Logs of released versions stay readable: each is decoded, folded, and compared with the state
//! that the version which wrote it had.
//!
//! `golden/VERSION/*.jsonl` has one event a line, as it was stored: `{seq, ts, event, body}`, `ts`
//! in milliseconds. Beside each log, `*.state` describes the state at its end. Neither file is
//! written again.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;
use moothall_kernel::{Conversation, STATE_VERSION};
use serde_json::Value;

/// Every kind of event, of change and of a gathering's step that version 0.1.0 could write.
const KINDS: &str = "created renamed archived unarchived controlled posted foreign noticed taken round_opened reaction_opened round_closed \
    skipped turn_granted turn_widened turn_started turn_lost turn_ended kept permission_requested permission_answered \
    permission_expired stopped held resumed facts_changed redacted summarised gathering \
    controlled.invited controlled.uninvited controlled.muted controlled.unmuted controlled.paused controlled.discussion \
    controlled.invited_auto controlled.prodded controlled.policy_set controlled.released controlled.bound controlled.unbound \
    gathering.opened gathering.round_opened gathering.piece_given gathering.beat gathering.last_word_asked gathering.piece_released \
    gathering.harvest_asked gathering.closed";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/0.1.0")
}

fn logs() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut logs: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect();
    logs.sort();
    logs
}

fn lines(log: &Path) -> Vec<Value> {
    fs::read_to_string(log)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn decoded(line: &Value) -> RecordedEvent {
    let event: Event = serde_json::from_value(line["event"].clone())
        .unwrap_or_else(|error| panic!("{line}: {error}"));
    let event = match line["body"].as_str() {
        Some(body) => event.with_body(body.to_owned()),
        None => event,
    };
    RecordedEvent {
        seq: Seq(line["seq"].as_u64().unwrap()),
        ts: Timestamp::from_millis(line["ts"].as_i64().unwrap()),
        event,
    }
}

/// Returns a description of a state that later versions can reproduce.
fn in_words(state: &Conversation) -> String {
    let mut lines =
        vec![format!("{} under {}, head {}", state.name(), state.policy().name, state.head())];
    let flags = [
        (state.is_archived(), "archived"),
        (state.is_paused(), "paused"),
        (state.invited_auto(), "invited_auto"),
    ];
    lines.extend(flags.iter().filter(|(on, _)| *on).map(|(_, word)| (*word).to_owned()));
    lines.extend(
        state
            .participants()
            .iter()
            .map(|p| format!("participant {} {:?} {}", p.id, p.kind, state.name_of(&p.id))),
    );
    lines.extend(state.muted().map(|id| format!("muted {id}")));
    lines.extend(state.holding_guard().map(|guard| format!("held {guard:?}")));
    lines.extend(state.bindings().map(|target| format!("bound {target}")));
    let turns = state.open_turns();
    lines.extend(turns.map(|t| {
        format!(
            "turn {} of {}, attempt {}, running {}",
            t.no,
            t.participant,
            t.attempt,
            t.running.is_some()
        )
    }));
    lines.extend(state.queued().map(|cause| format!("queued {}", cause.seq)));
    lines.push(format!("last turn {}, spent and cap {:?}", state.last_turn(), state.budget()));
    lines.join("\n") + "\n"
}

#[test]
fn logs_of_earlier_versions_mean_what_they_meant() {
    let logs = logs();
    assert!(logs.len() >= 20, "only {} logs were found", logs.len());
    for log in logs {
        let events: Vec<RecordedEvent> = lines(&log).iter().map(decoded).collect();
        let state = Conversation::fold(StreamId::new("golden"), &events);
        let meant = log.with_extension("state");
        assert_eq!(in_words(&state), fs::read_to_string(&meant).unwrap(), "{}", log.display());
    }
}

#[test]
fn what_is_read_from_them_is_written_again_without_loss() {
    for event in logs().iter().flat_map(|log| lines(log)).map(|line| decoded(&line).event) {
        let again: Event = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
        assert_eq!(again.with_body(event.body().unwrap_or_default().to_owned()), event);
    }
}

/// Returns the kind of an event and of its contents: `controlled`, `controlled.muted`.
fn kinds(event: &Value) -> Vec<String> {
    let word = |value: &Value| {
        value
            .as_str()
            .map(str::to_owned)
            .or_else(|| value.as_object()?.keys().next().cloned())
            .unwrap()
    };
    let kind = word(event);
    let changes = event["controlled"]["changes"].as_array().into_iter().flatten();
    let inner =
        changes.chain(event.get("gathering")).map(|value| format!("{kind}.{}", word(value)));
    std::iter::once(kind.clone()).chain(inner.collect::<Vec<_>>()).collect()
}

#[test]
fn every_kind_of_that_version_is_among_them() {
    let found: Vec<String> =
        logs().iter().flat_map(|log| lines(log)).flat_map(|line| kinds(&line["event"])).collect();
    let missing: Vec<&str> =
        KINDS.split_whitespace().filter(|kind| !found.iter().any(|found| found == kind)).collect();
    assert!(missing.is_empty(), "no log has {missing:?}");
}

/// The state version, and the hash of all states on the way through these logs under that version.
const REMEMBERED: (u32, u64) = (19, 13_439_383_101_301_788_965);

#[test]
fn what_is_remembered_of_them_is_another_thing_only_in_another_version() {
    let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
    for log in logs() {
        let mut state = Conversation::new(StreamId::new("golden"));
        for line in lines(&log) {
            state.apply(&decoded(&line));
            let bytes = state.to_bytes().unwrap();
            assert_eq!(
                Conversation::from_bytes(&bytes).as_ref(),
                Some(&state),
                "{}",
                log.display()
            );
            sum = bytes.iter().fold(sum, |sum, byte| {
                (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        }
    }
    let now = (STATE_VERSION, sum);
    assert_eq!(
        now, REMEMBERED,
        "what events make of a state has changed: raise STATE_VERSION, and write the new number here"
    );
}
