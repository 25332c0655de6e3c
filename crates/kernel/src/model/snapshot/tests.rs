//! The bytes of a state are stored, so they must not change without another version.

use std::collections::{BTreeMap, BTreeSet};

use super::STATE_VERSION;
use crate::model::budget::{Account, BudgetOwner, Measure, Raise, SpentBudget, WindowTotals};
use crate::model::contribution::{Aside, Asides, Contribution};
use crate::model::event::{Cause, Guard, Recipient, TurnKind, TurnReason, Usage};
use crate::model::gathering::{
    DeliveryMode, Gathering, GatheringPlan, Member, PendingPass, Phase, PieceTenure,
};
use crate::model::hosted::HostedKey;
use crate::model::ids::{EventId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use crate::model::link::{FarMember, JoinedConversation};
use crate::model::message_count::MessageCounters;
use crate::model::own::{AgentWords, Restraint, Stop};
use crate::model::participant::{
    Abilities, Address, AgentFacts, Kind, OnLost, Participant, Profile, Runtime, SeatRole,
    TerminalReach,
};
use crate::model::permission::{
    OpenPermission, OpenQuestion, PermissionOption, SettledPermission, Settlement, WithdrawalReason,
};
use crate::model::refused::{Refusals, RefusedWords};
use crate::model::request::{OpenRequest, Request, Stage};
use crate::model::settings::{Policy, PolicyName};
use crate::model::start::StartRequest;
use crate::model::state::{
    ClosedRound, Conversation, Discussion, EndedTurn, Floor, Guards, Origin, Owner, QueuedMessage,
    Reply, Round, RunningTurn, Spending, Tombstone, Turn, TurnCause, WakingWords,
};
use crate::model::summary::{Summaries, Summary};
use crate::model::talk::TalkRefusal;
use crate::model::task::{NewConversation, Task, TaskStatus, TaskTerms};
use crate::model::time::{Millis, Timestamp};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn cause() -> Cause {
    Cause {
        seq: Seq(3),
        id: EventId::of(&StreamId::new("full"), Seq(3), at(3)),
        from: "user".into(),
        depth: 1,
        unproven: true,
    }
}

fn waiting() -> OpenPermission {
    let options = PermissionOption::allow_or_deny();
    OpenPermission { at: Seq(5), asked_at: at(6), expires: at(9), options }
}

fn question() -> OpenQuestion {
    let options = PermissionOption::allow_or_deny();
    OpenQuestion { at: Seq(5), asked_at: at(6), participant: "a".into(), options }
}

/// Returns a floor without empty fields.
fn floor() -> Floor {
    let round = Round {
        cause: cause(),
        forced: ["a".into()].into(),
        polled: ["b".into()].into(),
        polls: 1,
        volunteers: 2,
        replies: vec![Reply { cause: cause(), mentions: vec!["b".into()] }],
        named: 1,
        reacting: true,
        targeted: true,
        asked: true,
        left_out: vec!["c".into()],
        reacted: vec!["d".into()],
        spared: vec!["e".into()],
        current: Some(TurnNo(4)),
        began_at: Some(at(4)),
        awaited_at: Some(at(5)),
    };
    let start = StartRequest {
        client: "claude".into(),
        args: vec!["-v".into()],
        folder: "/".into(),
        name: Some("n".into()),
        message: Some("m".into()),
        direct: true,
    };
    let open = |stage| {
        let request = Request::Start(start.clone());
        OpenRequest { at: Seq(5), participant: "a".into(), request, stage }
    };
    let how = [
        Settlement::Answered {
            by: "user".into(),
            option: "yes".into(),
            label: "Yes".into(),
            at: Seq(7),
        },
        Settlement::Expired,
        Settlement::Withdrawn(WithdrawalReason::Gone),
        Settlement::TurnOver,
    ];
    Floor {
        turns: BTreeMap::from([(TurnNo(4), turn())]),
        last_turn: TurnNo(4),
        queue: [WakingWords {
            cause: cause(),
            author: "user".into(),
            to: Recipient::One("a".into()),
            mentions: vec!["a".into()],
            elsewhere: vec!["c".into()],
            replies_to: Some("b".into()),
            asks: vec!["a".into()],
            human: true,
            late: Some(Seq(2)),
        }]
        .into(),
        taken: Some((Seq(3), Seq(4))),
        waited: [QueuedMessage { said: Seq(2), left: Seq(4) }].into(),
        message: Some(Seq(3)),
        earlier: vec![ClosedRound { round: round.clone(), spent: 2, cap: 4 }],
        round: Some(round),
        spent: 1,
        cap: 3,
        ended: [EndedTurn {
            turn: TurnNo(2),
            participant: "a".into(),
            stopped: true,
            cancelled: vec![Seq(1)],
        }]
        .into(),
        settled: how
            .into_iter()
            .map(|how| SettledPermission { permission: PermissionId::new("p"), at: at(6), how })
            .collect(),
        refusals: vec![TalkRefusal { participant: "a".into(), to: "b".into(), until: at(9) }],
        requests: BTreeMap::from([
            (PermissionId::new("q"), open(Stage::Asked(waiting()))),
            (PermissionId::new("r"), open(Stage::Allowed)),
        ]),
        questions: BTreeMap::from([(PermissionId::new("s"), question())]),
        last_speaker: Some("a".into()),
        passed_over: vec!["f".into()],
        limits_announced: true,
    }
}

/// Returns a turn without empty fields.
fn turn() -> Turn {
    Turn {
        no: TurnNo(4),
        participant: "a".into(),
        why: TurnReason::Prod,
        kind: TurnKind::Reply,
        may_pass: true,
        cause: cause(),
        causes: [TurnCause { cause: cause(), at: Seq(4) }].into(),
        message: Some(Seq(3)),
        patience: Some(at(34)),
        released: true,
        stopped: true,
        cause_at: Seq(3),
        asked_at: Seq(4),
        attempt: 2,
        granted_at: at(4),
        deadline: at(99),
        running: Some(RunningTurn { from_seq: Seq(1), through_seq: Seq(3), started_at: at(5) }),
        frozen_since: Some(at(6)),
        permissions: BTreeMap::from([(PermissionId::new("p"), waiting())]),
        account: Account { agent: "claude".into(), by: "user".into(), attended: true },
        summed: Usage { ms: 1, input_tokens: 2, output_tokens: 3, cost_micros: 4 },
        hosted: Some(Box::new(HostedKey {
            computer: "c".into(),
            stream: "h".into(),
            turn: TurnNo(5),
            attempt: 1,
        })),
    }
}

fn tombstone() -> Tombstone {
    Tombstone {
        name: "Gone".into(),
        client: Some("claude".into()),
        number: Some(4),
        left_at: at(7),
    }
}

/// Returns a participant without empty fields.
fn participant() -> Participant {
    Participant {
        id: "a".into(),
        kind: Kind::Agent,
        profile: Profile {
            client: Some("claude".into()),
            model: Some("m".into()),
            roles: Some(vec!["r".into()]),
            nickname: Some("Ann".into()),
        },
        facts: AgentFacts {
            runtime: Runtime::TERMINAL,
            known: true,
            timeout: Some(Millis(7)),
            waits: Some(Millis(8)),
            on_lost: OnLost::Fail,
            abilities: Abilities::TERMINAL,
        },
        address: Some(Address {
            computer: "c".into(),
            kind: "session".into(),
            local_id: "l".into(),
        }),
        full_name: Some("a@c".into()),
        number: Some(1),
        part: Some(SeatRole::Speaker),
        reach: Some(TerminalReach::Drivers),
        skeleton: "ann".into(),
        invited_by: "user".into(),
        invited_at: at(2),
        cursor: Seq(1),
        shown: Seq(2),
        spoke_at: Some(at(3)),
        passes_in_a_row: 1,
        polls_skipped: 2,
        answered: true,
        told_ended: true,
    }
}

/// Returns a gathering without empty fields.
fn gathering() -> Gathering {
    Gathering {
        plan: GatheringPlan {
            rhythm: "r".into(),
            breath: [1, 2, 3],
            beats_per_turn: 2,
            beat_interval: Millis(3),
            last_word: Millis(4),
            opening_question: "q".into(),
            hearing: DeliveryMode::default(),
            pulse: vec!["p".into()],
            signals: vec!["s".into()],
        },
        by: "a".into(),
        unproven: true,
        members: vec![Member {
            id: "a".into(),
            name: "A".into(),
            number: 1,
            part: SeatRole::Speaker,
            kind: Kind::Agent,
        }],
        phase: Phase::Inhale,
        round: 1,
        order: vec!["a".into()],
        tenure: Some(PieceTenure {
            holder: "a".into(),
            since: at(7),
            beats: 1,
            pulse: "p".into(),
            next_at: at(8),
            last_word: true,
            note: Some("n".into()),
            pass: Some(PendingPass { turn: TurnNo(1), to: Some("b".into()) }),
        }),
        note: Some("n".into()),
        harvesting: Some("done".into()),
        harvest_until: Some(at(9)),
        after: Some(Box::new(Policy::default())),
        harvest: Some(EventId::of(&"s".into(), Seq(3), at(3))),
        closed: Some("done".into()),
    }
}

/// Returns a spending without empty fields.
fn spending() -> Spending {
    Spending {
        standing: WindowTotals {
            hour: at(1),
            turns: 2,
            unattended: 1,
            day: at(0),
            micros: 5,
            raise: Raise { turns: 1, micros: 2, until: at(3) },
        },
        announced: vec![SpentBudget {
            owner: BudgetOwner::Conversation,
            measure: Measure::Turns,
            limit: 3,
            until: at(4),
        }],
        origins: [Origin { seq: Seq(3), by: "user".into() }].into(),
    }
}

/// Returns a restraint without empty fields.
fn restraint() -> Restraint {
    let said_by = |agent: &str| Some(AgentWords { agent: agent.into(), at: at(5) });
    Restraint {
        stop: Some(Stop {
            by: "user".into(),
            at: Some(at(5)),
            excused: BTreeSet::from(["a".into()]),
        }),
        lifts: [at(4)].into(),
        said: [at(5)].into(),
        newest: said_by("a"),
        other: said_by("b"),
        exchange: Some((Seq(5), vec!["b".into()])),
    }
}

/// Returns a state without empty fields. It lists every field, so a new field has to be added here.
fn full() -> Conversation {
    let guards = Guards {
        exchanges: 3,
        pairs: BTreeMap::from([(("a".into(), "b".into()), [at(4)].into())]),
        recent: [7].into(),
        held: Some(Guard::Pair),
        held_since: Some(at(4)),
    };
    let summaries = Summaries {
        of: BTreeMap::from([("a".into(), vec![Summary { seq: Seq(2), through: Seq(1) }])]),
        redacted_at: Seq(1),
    };
    let refused = RefusedWords { since: at(1), kept: 2, bytes: 3, over: true };
    let contribution = || Some(Contribution { cause: cause(), author: "a".into() });
    Conversation {
        stream: StreamId::new("full"),
        head: Seq(8),
        last_ts: at(8),
        name: "Lunch".into(),
        created_at: at(1),
        policy: Policy {
            agent_reply_timeout: Some(Millis(1)),
            max_voluntary_responders: Some(2),
            voluntary_timeout: Some(Millis(3)),
            ..Policy::named(PolicyName::PLAIN)
        },
        folder: Some("/srv/lunch".into()),
        archived: true,
        archived_at: Some(at(7)),
        deleted: false,
        paused: true,
        paused_since: Some(at(6)),
        discussion: Discussion { on: true, allow_agent_mentions: true },
        invited_auto: true,
        muted: BTreeSet::from(["a".into()]),
        muted_by_proof: BTreeSet::from(["a".into()]),
        paused_by_proof: true,
        people: BTreeSet::from([ParticipantId::user()]),
        participants: vec![participant()],
        tombstones: BTreeMap::from([("gone".into(), tombstone())]),
        bindings: BTreeSet::from(["chat:1".to_owned()]),
        floor: floor(),
        guards,
        restraint: restraint(),
        spending: spending(),
        gathering: Some(gathering()),
        summaries,
        refused: Refusals(BTreeMap::from([("b".into(), refused)])),
        said: MessageCounters { messages: 5, erased: Seq(6) },
        latest: contribution(),
        latest_other: contribution(),
        asides: Asides(
            contribution()
                .into_iter()
                .map(|said| Aside { said, heard: vec!["c".into()] })
                .collect(),
        ),
        published: BTreeMap::from([(Seq(3), EventId::of(&"s".into(), Seq(4), at(9)))]),
        joined: vec![JoinedConversation {
            computer: "c".into(),
            stream: "h".into(),
            title: "Elsewhere".into(),
            link: true,
            created_at: Timestamp::from_millis(5),
            participant: "a".into(),
            members: vec![FarMember {
                address: participant().address.expect("an address"),
                name: "A".into(),
                number: Some(1),
                part: Some(SeatRole::Speaker),
            }],
        }],
        owner: Some(Owner { task: "task".into(), titled: true, by: "a".into() }),
    }
}

/// Returns a task state without empty fields.
fn full_task() -> Task {
    let first = NewConversation {
        id: "c".into(),
        name: Some("Lunch".into()),
        participants: vec!["a".into()],
    };
    Task {
        stream: "full".into(),
        head: Seq(3),
        last_ts: at(3),
        created_at: at(1),
        app: "app".into(),
        terms: TaskTerms { agents_max: Some(3), moderated: true, exchanges_max: Some(7) },
        initiator: "a".into(),
        manager: Some("b".into()),
        status: TaskStatus::Active,
        started_at: Some(at(2)),
        ended_at: Some(at(4)),
        reason: Some("no".into()),
        until: Some(at(3)),
        first: Some(first),
        admitted: BTreeMap::from([("a".into(), at(1))]),
        conversations: BTreeSet::from(["c".into()]),
        closing: Some(BTreeSet::from(["c".into()])),
    }
}

#[test]
fn a_state_is_read_as_it_was_written() {
    let bytes = full().to_bytes().expect("a state can be written");
    assert_eq!(Conversation::from_bytes(&bytes), Some(full()));
    assert_eq!(Conversation::from_bytes(&bytes[1..]), None);
    let bytes = full_task().to_bytes().expect("a task can be written");
    assert_eq!(Task::from_bytes(&bytes), Some(full_task()));
}

#[test]
fn another_shape_is_another_version() {
    let kept = include_str!("../../../tests/golden/state.json");
    let shown = serde_json::to_string_pretty(
        &serde_json::json!({ "version": STATE_VERSION, "state": full(), "task": full_task() }),
    )
    .expect("JSON");
    assert!(
        kept.trim_end() == shown,
        "a state's bytes have changed: raise STATE_VERSION, and keep this as tests/golden/state.json:\n{shown}"
    );
}
