//! The host as a state machine: inputs in, outputs out, without a task or a clock.
#![allow(clippy::unwrap_used)]

mod consent;

use std::collections::BTreeMap;

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Command, Control, Invite, Post};
use moothall_kernel::event::{
    Cause, Event, RecordedEvent, SuppressedBecause, TurnKind, TurnReason as Reason, Usage,
};
use moothall_kernel::ids::{Seq, TurnNo};
use moothall_kernel::participant::{AgentFacts, Profile, Runtime};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::{Millis, Timestamp};

use super::{
    Around, EndReason, Host, Input, ItemBody, LoadedStream, Lookups, Now, Output, OwedItems,
    RequestId, StartMode,
};
use crate::answers::{HallError, Idempotency};
use crate::outbox::{HOPS_MAX, OutboxEntry, StreamCommand};
use crate::ports::{Acquisition, AppendError, Epoch, LogError, Page, PostChannel, StreamBatch};
use crate::runtime::agent::{Report, TurnKey};
use crate::runtime::registry::Roster;

/// A host and its driver.
struct Bench {
    host: Host,
    roster: Roster,
    steady: u64,
    /// The amount by which the computer's clock was set back.
    back: u64,
    requests: u64,
    log: Vec<RecordedEvent>,
}

impl Bench {
    fn new() -> Self {
        let mut roster = Roster::default();
        let facts = AgentFacts::of_runtime(Runtime::SCRIPT);
        roster.insert("demo".into(), facts, false);
        let loaded = LoadedStream { state: Conversation::new("s".into()).into(), unwritable: None };
        let around = Around { now: now(0), draining: false, agents: &roster };
        Self {
            host: Host::new("s".into(), loaded, StartMode::New, &around),
            roster,
            steady: 0,
            back: 0,
            requests: 0,
            log: Vec::new(),
        }
    }

    /// Makes a conversation with one agent.
    fn begun() -> Self {
        let mut bench = Self::new();
        let by = Actor::human("user");
        let mut policy = Policy::named(PolicyName::Hybrid);
        policy.cooldown = Millis(0);
        bench.ask(ClientCommand::Create {
            name: "Lunch".into(),
            policy,
            folder: None,
            by: by.clone(),
        });
        let profile = Profile {
            client: Some("demo".into()),
            model: Some("m-1".into()),
            ..Profile::default()
        };
        let invite = Control::Invite(Invite::new("ann", profile, bench.roster.facts("demo")));
        bench.ask(ClientCommand::Control { by, controls: vec![invite] });
        let appended = bench.look();
        bench.append(appended, Ok(vec![]));
        assert!(bench.host.conversation().unwrap().participant(&"ann".into()).is_some());
        bench
    }

    /// Loads the same conversation in another process, one minute later.
    fn again(self) -> Self {
        let steady = self.steady + 60_000;
        let around = Around { now: now(steady), draining: false, agents: &self.roster };
        let loaded = LoadedStream { state: self.host.committed().clone(), unwritable: None };
        let host = Host::new("s".into(), loaded, StartMode::Existing(around.now.wall), &around);
        Self { host, steady, ..self }
    }

    fn tell(&mut self, input: Input) -> Vec<Output> {
        let now = Now { wall: now(self.steady).wall - Millis(self.back), ..now(self.steady) };
        let around = Around { now, draining: false, agents: &self.roster };
        self.host.handle(&around, input)
    }

    fn ask(&mut self, command: impl Into<Command>) -> RequestId {
        self.requests += 1;
        let id = RequestId(self.requests);
        let wanted = ItemBody::Decision(command.into());
        let outputs = self.tell(Input::Request {
            id,
            wanted,
            idempotency: None,
            condition: None,
            owing: <_>::default(),
            taking: None,
        });
        assert_eq!(outputs, [], "what was told is only taken down");
        id
    }

    fn post(&mut self, words: &str) -> RequestId {
        self.ask(ClientCommand::Post(Post::new(Actor::human("user"), words)))
    }

    /// Looks and answers all outputs up to the append. Returns the append.
    fn look(&mut self) -> Box<StreamBatch> {
        let outputs = self.tell(Input::Look);
        self.go_on(outputs)
    }

    fn go_on(&mut self, mut outputs: Vec<Output>) -> Box<StreamBatch> {
        loop {
            let input = match outputs.pop().unwrap() {
                Output::Lookup { .. } => found(),
                Output::Charge { .. } => Input::Charged { paid: true, budgets: <_>::default() },
                Output::Acquire => Input::Acquired(Ok(Acquisition::Epoch(Epoch(1)))),
                Output::Append { batch } => return batch,
                other => panic!("{other:?}"),
            };
            outputs = self.tell(input);
        }
    }

    fn read(&self, wish: &Output) -> Vec<RecordedEvent> {
        match wish {
            Output::Read { after, count } => {
                self.log.iter().skip(after.0 as usize).take(*count).cloned().collect()
            }
            Output::ReadMessages { before, limit } => {
                let messages = self
                    .log
                    .iter()
                    .filter(|event| event.seq < *before && matches!(event.event, Event::Posted(_)));
                let mut newest: Vec<_> = messages.rev().take(*limit).cloned().collect();
                newest.reverse();
                newest
            }
            other => panic!("{other:?}"),
        }
    }

    /// Answers an append, and the reads after it.
    fn append(
        &mut self,
        batch: Box<StreamBatch>,
        result: Result<Vec<u64>, AppendError>,
    ) -> Vec<Output> {
        if result.is_ok() {
            self.log.extend(batch.events);
        }
        let mut outputs = self.tell(Input::Appended(result));
        while let Some(read @ (Output::Read { .. } | Output::ReadMessages { .. })) = outputs.last()
        {
            let events = self.read(read);
            let through = events.last().map_or(Seq(0), |last| last.seq);
            outputs.extend(self.tell(Input::Read(Ok(Page { events, through, newer: None }))));
        }
        outputs
    }
}

fn found() -> Input {
    Input::Found(Lookups {
        earlier: Ok(BTreeMap::new()),
        here: <_>::default(),
        budgets: <_>::default(),
        voices: <_>::default(),
    })
}

fn now(steady: u64) -> Now {
    Now { wall: Timestamp::from_millis(1_763_000_000_000) + Millis(steady), steady: Millis(steady) }
}

fn answers(outputs: &[Output]) -> Vec<RequestId> {
    let ids = |output: &Output| {
        if let Output::Answer { answers } = output {
            answers.iter().map(|(id, _)| *id).collect()
        } else {
            vec![]
        }
    };
    outputs.iter().flat_map(ids).collect()
}

fn place(outputs: &[Output], is_wanted: impl Fn(&Output) -> bool) -> usize {
    outputs.iter().position(is_wanted).unwrap_or_else(|| panic!("{outputs:?}"))
}

#[test]
fn what_was_told_before_a_look_is_one_append_and_is_answered_after_it() {
    let mut bench = Bench::begun();
    let asked = [bench.post("one"), bench.post("two")];
    let batch = bench.look();
    assert_eq!(batch.events.iter().filter(|event| event.event.kind() == "posted").count(), 2);
    let outputs = bench.append(batch, Ok(vec![]));
    assert_eq!(answers(&outputs), asked);
    let (answered, published) = (
        place(&outputs, |o| matches!(o, Output::Answer { .. })),
        place(&outputs, |o| matches!(o, Output::Publish { .. })),
    );
    assert!(answered < published);
    assert!(
        published
            < place(&outputs, |o| matches!(
                o,
                Output::Read { .. } | Output::Start { .. } | Output::Wake { .. }
            ))
    );
}

#[test]
fn what_comes_while_an_append_is_outstanding_waits_for_it() {
    let mut bench = Bench::begun();
    let first = bench.post("one");
    let batch = bench.look();
    let second = bench.post("two");
    assert_eq!(bench.tell(Input::Look), [], "nothing is decided on what may not be kept");
    let outputs = bench.append(batch, Err(AppendError::Full));
    assert_eq!(answers(&outputs), [first]);
    assert!(
        matches!(outputs.last(), Some(Output::Lookup { .. })),
        "the look that was wanted meanwhile: {outputs:?}"
    );
    let batch = bench.go_on(outputs);
    assert_eq!(answers(&bench.append(batch, Ok(vec![]))), [second]);
}

#[test]
fn what_the_engine_owes_is_tried_again_when_the_disk_was_full() {
    let mut bench = Bench::begun();
    bench.post("@ann hello");
    let batch = bench.look();
    bench.append(batch, Ok(vec![]));
    let key = TurnKey { stream: "s".into(), turn: TurnNo(1), attempt: 1 };
    let report = Report::Finished { result: Ok("hi".into()), usage: Usage::default() };
    assert_eq!(bench.tell(Input::Report { key, report, receipt: None }), []);
    let head = bench.host.committed().head();
    let batch = bench.look();
    let outputs = bench.append(batch, Err(AppendError::Full));
    let Some(Output::Wake { at: Some(at) }) = outputs.last() else { panic!("{outputs:?}") };
    assert_eq!(bench.host.committed().head(), head);
    bench.steady = at.0;
    assert!(!bench.look().events.is_empty());
}

#[test]
fn thoughts_end_before_the_piece_that_is_too_long() {
    let mut bench = Bench::begun();
    bench.post("@ann hello");
    let batch = bench.look();
    bench.append(batch, Ok(vec![]));
    let key = TurnKey { stream: "s".into(), turn: TurnNo(1), attempt: 1 };
    let pieces = ["first", &"x".repeat(1 << 20), "last"].map(|piece| Report::Thought(piece.into()));
    let finished = Report::Finished { result: Ok("hi".into()), usage: Usage::default() };
    for report in pieces.into_iter().chain([finished]) {
        assert_eq!(bench.tell(Input::Report { key: key.clone(), report, receipt: None }), []);
    }
    let batch = bench.look();
    let thoughts = batch.events.iter().find_map(|recorded| match &recorded.event {
        Event::Suppressed { because: SuppressedBecause::Thought, body, .. } => Some(body.as_str()),
        _ => None,
    });
    assert_eq!(thoughts, Some("first"));
}

#[test]
fn time_that_stood_still_is_told_before_anything_looks_at_a_deadline() {
    let mut bench = Bench::begun();
    bench.post("@ann hello");
    let batch = bench.look();
    bench.append(batch, Ok(vec![]));
    let mut bench = bench.again();
    let batch = bench.look();
    assert_eq!(batch.events[0].event.kind(), "resumed");
    bench.append(batch, Err(AppendError::Overloaded));
    bench.post("Still there?");
    let batch = bench.look();
    assert_eq!(batch.events[0].event.kind(), "resumed", "though its pause is not over");
}

#[test]
fn a_clock_that_was_set_back_holds_nobody() {
    let mut bench = Bench::begun();
    bench.post("@ann hello");
    let batch = bench.look();
    bench.append(batch, Ok(vec![]));
    let last = bench.log.last().unwrap().ts;
    bench.back = 3_600_000;
    bench.steady += 5_000;
    bench.post("Still there?");
    let batch = bench.look();
    let passed = batch.events[0].ts.since(last);
    assert!(passed > Millis(4_900) && passed <= Millis(5_000), "{passed:?}");
    // The deadline is checked when it has passed, not an hour later.
    let outputs = bench.append(batch, Ok(vec![]));
    let Some(Output::Wake { at: Some(at) }) = outputs.last() else { panic!("{outputs:?}") };
    assert!(at.0 <= bench.steady + 3_600_000, "{at:?}");
}

#[test]
fn a_writer_that_was_replaced_does_nothing_more() {
    let mut bench = Bench::begun();
    bench.post("one");
    let batch = bench.look();
    let outputs = bench.append(batch, Err(AppendError::Fenced { stream: "s".into() }));
    assert_eq!(answers(&outputs), []);
    assert_eq!(outputs.last(), Some(&Output::Close { why: EndReason::Fenced }));
    assert_eq!(bench.tell(Input::Look), []);
    assert_eq!(EndReason::Fenced.error(&"s".into()), HallError::Overloaded);
}

#[test]
fn items_of_an_append_with_a_refused_mark_are_decided_one_at_a_time() {
    let mut bench = Bench::begun();
    let asked = [bench.post("one"), bench.post("two")];
    let channel = PostChannel { sender: "1server".into(), log: "l".into() };
    let marked = || Err(AppendError::Marked { channel: channel.clone(), through: 4 });
    let batch = bench.look();
    let outputs = bench.append(batch, marked());
    assert_eq!(answers(&outputs), []);
    let first = bench.go_on(outputs);
    let refused = bench.append(first, marked());
    assert_eq!(answers(&refused), asked[..1]);
    let second = bench.go_on(refused);
    assert_eq!(second.events.iter().filter(|event| event.event.kind() == "posted").count(), 1);
    assert_eq!(answers(&bench.append(second, Ok(vec![]))), asked[1..]);
}

#[test]
fn an_answer_that_none_asked_for_changes_nothing() {
    let mut bench = Bench::begun();
    let before = bench.host.committed().clone();
    assert!(before.head() > Seq(0));
    for input in [
        Input::Appended(Ok(vec![])),
        found(),
        Input::Charged { paid: false, budgets: <_>::default() },
    ] {
        assert_eq!(bench.tell(input), []);
    }
    assert_eq!(*bench.host.committed(), before);
}

/// Makes a state that no rules lead to: a turn of a participant that is not in the conversation.
fn haunted(bench: &Bench) -> Conversation {
    let mut state = bench.host.conversation().unwrap().clone();
    let cause = Cause {
        seq: Seq(1),
        id: bench.log[0].id(state.stream()),
        from: "user".into(),
        depth: 0,
        unproven: false,
    };
    let (turn, participant, why, kind) =
        (state.last_turn().next(), "ghost".into(), Reason::Forced, TurnKind::Reply);
    let event = Event::TurnGranted {
        turn,
        participant,
        why,
        kind,
        may_pass: false,
        cause,
        expires: now(9_000).wall,
        patience: None,
        hosted: None,
    };
    state.apply(&RecordedEvent { seq: state.head().next(), ts: state.last_ts(), event });
    state
}

fn hosted(bench: Bench, loaded: LoadedStream) -> Bench {
    let around = Around { now: now(bench.steady), draining: false, agents: &bench.roster };
    let host = Host::new("s".into(), loaded, StartMode::Existing(around.now.wall), &around);
    Bench { host, ..bench }
}

#[test]
fn what_leads_to_a_state_that_no_rule_allows_is_refused_and_the_stream_is_read_again() {
    let bench = Bench::begun();
    let (good, bad) = (bench.host.committed().clone(), haunted(&bench));
    let mut bench = hosted(bench, LoadedStream { state: bad.into(), unwritable: None });
    let asked = bench.post("one");
    bench.tell(Input::Look);
    assert!(matches!(bench.tell(found())[..], [Output::Charge { .. }]));
    let outputs = bench.tell(Input::Charged { paid: true, budgets: <_>::default() });
    let [
        Output::GiveBack { .. },
        Output::Broken(broken),
        Output::Answer { answers: replies },
        Output::Reload,
    ] = &outputs[..]
    else {
        panic!("{outputs:?}")
    };
    assert_eq!(broken.rule, "turn_owners");
    assert!(
        matches!(&replies[..], [(id, Err(HallError::Failed(_)))] if *id == asked),
        "{replies:?}"
    );
    bench.tell(Input::Loaded(Ok(Box::new(LoadedStream::new(good, None)))));
    let asked = bench.post("two");
    let batch = bench.look();
    assert_eq!(answers(&bench.append(batch, Ok(Vec::new()))), [asked]);
}

#[test]
fn a_stream_whose_events_lead_to_such_a_state_can_be_read_and_not_written() {
    let bench = Bench::begun();
    let loaded = LoadedStream::new(haunted(&bench), None);
    let mut bench = hosted(bench, loaded);
    let asked = bench.post("one");
    let id = RequestId(99);
    bench.tell(Input::View { id });
    let outputs = bench.tell(Input::Look);
    let [Output::Answer { answers: replies }, Output::Show { ids }, Output::Wake { at: None }] =
        &outputs[..]
    else {
        panic!("{outputs:?}")
    };
    assert!(
        matches!(&replies[..], [(refused, Err(HallError::Broken { .. }))] if *refused == asked),
        "{replies:?}"
    );
    assert_eq!(ids[..], [id]);
}

#[test]
fn events_that_do_not_follow_the_log_are_never_appended() {
    let bench = Bench::begun();
    let state = bench.host.committed();
    let next = |seq: Seq, ts| RecordedEvent { seq, ts, event: Event::RoundClosed };
    let good = next(state.head().next(), state.last_ts());
    assert_eq!(state.check_next(std::slice::from_ref(&good)), Ok(()));
    for wrong in [next(good.seq.next(), good.ts), next(good.seq, Timestamp::from_millis(1))] {
        assert_eq!(state.check_next(&[wrong]).unwrap_err().rule, "order");
    }
}

#[test]
fn what_is_owed_goes_with_the_append_and_a_chain_of_commands_has_an_end() {
    let mut bench = Bench::begun();
    let owed = OutboxEntry::to_stream(
        &"t".into(),
        &StreamCommand::Tell { from: "a".into(), to: "b".into(), text: "hello".into() },
    );
    let (last, beyond) = (RequestId(101), RequestId(102));
    for (id, hops) in [(last, HOPS_MAX - 1), (beyond, HOPS_MAX)] {
        let once = Idempotency {
            principal: "p".into(),
            key: hops.to_string(),
            fingerprint: String::new(),
        };
        let owing = OwedItems { hops, owed: vec![owed.clone()] };
        bench.tell(Input::Request {
            id,
            wanted: ItemBody::Owing,
            idempotency: Some(Box::new(once)),
            condition: None,
            owing,
            taking: None,
        });
    }
    let batch = bench.look();
    assert_eq!(batch.events, []);
    let [delivery] = &batch.deliveries[..] else { panic!("{:?}", batch.deliveries) };
    assert_eq!(
        (delivery.target.to_string().as_str(), delivery.through_seq),
        ("stream:t", bench.host.committed().head())
    );
    let carried: serde_json::Value =
        serde_json::from_str(delivery.command.as_deref().unwrap()).unwrap();
    assert_eq!(
        carried,
        serde_json::json!({"hops": 8, "command": {"do": "tell", "from": "a", "to": "b", "text": "hello"}})
    );
    let outputs = bench.append(batch, Ok(vec![1]));
    let Some(Output::Answer { answers }) = outputs.first() else { panic!("{outputs:?}") };
    let [(first, Ok(_)), (second, Err(HallError::Rejected(why)))] = &answers[..] else {
        panic!("{answers:?}")
    };
    assert_eq!((*first, *second, why.code), (last, beyond, "chain_too_long"));
}

/// The runtime has the turn since it was granted. The events for its new brief cannot be read.
#[test]
fn a_runtime_that_has_a_turn_hears_that_its_prompt_cannot_be_made() {
    let mut bench = Bench::begun();
    bench.roster.insert("demo".into(), AgentFacts::of_runtime(Runtime::SCRIPT), true);
    let policy = Control::Policy(Policy::named(PolicyName::MentionOnly));
    bench.ask(ClientCommand::Control { by: Actor::human("user"), controls: vec![policy] });
    bench.post("@ann hello");
    let batch = bench.look();
    let outputs = bench.append(batch, Ok(vec![]));
    assert!(outputs.iter().any(|output| matches!(output, Output::Start { .. })), "{outputs:?}");
    bench.tell(Input::Quiet);
    bench.post("@ann and this");
    let batch = bench.look();
    bench.log.extend(batch.events);
    let outputs = bench.tell(Input::Appended(Ok(vec![])));
    assert!(matches!(outputs.last(), Some(Output::Read { .. })), "{outputs:?}");
    let outputs = bench.tell(Input::Read(Err(LogError::Unreadable("a bad sector".into()))));
    let key = TurnKey { stream: "s".into(), turn: TurnNo(1), attempt: 1 };
    assert!(outputs.contains(&Output::Cancel { key }), "{outputs:?}");
}
