//! Plays the scripts in `tests/tasks`: commands to a task, and the results after `>`.
//! `MOOTHALL_BLESS=1` writes the results anew.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::{env, fs};

use moothall_kernel::Conversation;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, EngineCommand, Facts, Post, Rejection,
};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::task::{DEFAULT_APP, NewConversation, Task, TaskEvent, TaskTerms};
use moothall_kernel::task_command::{NamedAgent, TaskCommand, TaskOrder};
use moothall_kernel::time::{Millis, Timestamp};

/// The manager of apps in the scripts, if a script names no other.
const MANAGER: &str = "tm";

struct Stage {
    task: Task,
    now: Timestamp,
    events: Vec<RecordedEvent>,
}

fn names(list: &str) -> Vec<ParticipantId> {
    list.split(',').filter(|name| !name.is_empty()).map(ParticipantId::from).collect()
}

/// Reads a conversation: `c1:ann,bob` is c1 for ann and bob.
fn conversation(words: &str) -> NewConversation {
    let (id, participants) = words.split_once(':').unwrap();
    NewConversation { id: id.into(), name: None, participants: names(participants) }
}

fn command(line: &str) -> Command {
    let words: Vec<&str> = line.split_whitespace().collect();
    let command = match words[..] {
        [by, "requests", invited, ref rest @ ..] => {
            let of = |key: &str| rest.iter().find_map(|word| word.strip_prefix(key));
            let manager = match of("manager=") {
                Some("-") => None,
                named => Some(named.unwrap_or(MANAGER).into()),
            };
            TaskCommand::Request {
                manager: manager.filter(|_| of("app=").is_some()),
                app: of("app=").unwrap_or(DEFAULT_APP).to_owned(),
                by: by.into(),
                invited: names(invited.trim_matches('-')),
                first: of("with=").map(conversation),
                terms: TaskTerms {
                    agents_max: of("most=").map(|most| most.parse().unwrap()),
                    moderated: false,
                    exchanges_max: of("exchanges=").map(|most| most.parse().unwrap()),
                },
                within: of("within=").map(|secs| Millis::from_secs(secs.parse().unwrap())),
            }
        }
        ["answer", "yes"] => TaskCommand::Answer { refusal: None },
        ["answer", "no", ref why @ ..] => {
            let why = Some(why.join(" ")).filter(|why| !why.is_empty());
            TaskCommand::Answer { refusal: Some(why) }
        }
        [name, "admits", agent] => TaskCommand::Admit { by: name.into(), agent: agent.into() },
        [name, "removes", agent] => TaskCommand::Remove { by: name.into(), agent: agent.into() },
        [agent, "leaves"] => TaskCommand::Leave { agent: agent.into() },
        [name, "opens", words] => {
            TaskCommand::Open { by: name.into(), conversation: conversation(words) }
        }
        [name, "closes"] => TaskCommand::Close { by: name.into() },
        ["settled", conversation] => {
            TaskCommand::Settle { conversation: StreamId::new(conversation) }
        }
        [person, "entrusts", manager] => {
            let manager = Some(manager).filter(|name| *name != "-").map(ParticipantId::from);
            TaskCommand::Entrust { manager, by: person.into() }
        }
        ["tick"] => return Command::Engine(EngineCommand::Tick),
        _ => panic!("no such line: {line}"),
    };
    Command::Task(command)
}

fn list(ids: impl IntoIterator<Item = impl ToString>) -> String {
    ids.into_iter().map(|id| id.to_string()).collect::<Vec<_>>().join("+")
}

fn describe(event: &TaskEvent) -> String {
    match event {
        TaskEvent::Requested { initiator, invited, first, until, .. } => {
            let first = first.as_ref().map(|first| format!(" with {}", first.id));
            let asks = until.map_or("", |_| ", its manager is asked");
            let with = first.unwrap_or_default();
            format!("requested by {initiator} for {}{with}{asks}", list(invited))
        }
        TaskEvent::Accepted => "accepted".into(),
        TaskEvent::Rejected { reason } => {
            format!("rejected: {}", reason.as_deref().unwrap_or("no reason"))
        }
        TaskEvent::Admitted { agent, again } => {
            format!("admitted {agent}{}", if *again { " again" } else { "" })
        }
        TaskEvent::Removed { agent } => format!("removed {agent}"),
        TaskEvent::Left { agent, conversations } => {
            format!("left {agent}, and {}", list(conversations))
        }
        TaskEvent::ConversationOpened { conversation, by, first, exchanges_max } => {
            let first = if *first { ", with the task" } else { "" };
            let limit = exchanges_max.map(|most| format!(", {most} exchanges"));
            format!(
                "opened {} by {by} for {}{first}{}",
                conversation.id,
                list(&conversation.participants),
                limit.unwrap_or_default()
            )
        }
        TaskEvent::Closing { by, conversations } => {
            format!("closing by {by}: {}", list(conversations))
        }
        TaskEvent::ConversationSettled { conversation } => format!("settled {conversation}"),
        TaskEvent::Closed => "closed".into(),
        TaskEvent::Entrusted { manager, by, .. } => {
            format!("entrusted to {} by {by}", manager.as_ref().map_or("-", |one| one.as_str()))
        }
    }
}

impl Stage {
    fn new() -> Self {
        let now = Timestamp::from_millis(1_000_000);
        Self { task: Task::new("t".into()), now, events: Vec::new() }
    }

    fn play(&mut self, line: &str) -> Vec<String> {
        if let Some(secs) = line.strip_prefix("wait ") {
            self.now = self.now + Millis::from_secs(secs.trim_end_matches('s').parse().unwrap());
            return Vec::new();
        }
        let decision = self.task.decide(self.now, command(line));
        self.events.extend(decision.events.iter().cloned());
        assert_eq!(
            Task::fold("t".into(), &self.events),
            self.task,
            "state is a fold of its events"
        );
        self.task.check_invariants().unwrap();
        assert_eq!(Task::from_bytes(&self.task.to_bytes().unwrap()).as_ref(), Some(&self.task));
        let mut out: Vec<String> = decision
            .events
            .iter()
            .map(|recorded| match &recorded.event {
                Event::Task(event) => describe(event),
                other => panic!("no event of a task: {other:?}"),
            })
            .collect();
        if let Err(Rejection { code, message, .. }) = decision.outcome {
            out.push(format!("refused {code}: {message}"));
        } else if out.is_empty() {
            out.push("nothing".into());
        }
        out
    }
}

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tasks");
    let mut all: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn played(script: &str) -> String {
    let (mut stage, mut out) = (Stage::new(), String::new());
    for line in script.lines().filter(|line| !line.starts_with('>')) {
        out.push_str(&format!("{line}\n"));
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        for decision in stage.play(line) {
            out.push_str(&format!("> {decision}\n"));
        }
    }
    out
}

#[test]
fn every_script_of_a_task_plays_as_it_is_written() {
    let mut wrong = Vec::new();
    for path in scripts() {
        let script = fs::read_to_string(&path).unwrap();
        let now = played(&script);
        if now != script && env::var_os("MOOTHALL_BLESS").is_some() {
            fs::write(&path, now).unwrap();
        } else if now != script {
            wrong.push(format!("{}:\n{now}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(scripts().len() >= 5);
}

#[test]
fn what_belongs_to_a_conversation_is_refused_and_what_is_no_tasks_changes_nothing() {
    let mut stage = Stage::new();
    assert_eq!(stage.play("ann requests bob").len(), 2);
    let stray = RecordedEvent { seq: Seq(3), ts: stage.now, event: Event::RoundClosed };
    let mut task = stage.task.clone();
    task.apply(&stray);
    assert_eq!(task.head(), Seq(3));
    assert_eq!(task.admitted().count(), 2);
}

#[test]
fn in_a_conversation_of_a_task_agents_speak_that_are_in_it() {
    let (now, facts) = (Timestamp::from_millis(1), Facts::default());
    let mut room = Conversation::new("c".into());
    let begin = TaskOrder::Begin {
        name: None,
        by: "ann".into(),
        participants: vec!["bob".into()],
        first: false,
        agents: ["bob", "ann"].map(|one| NamedAgent { agent: one.into(), name: one.into() }).into(),
        policy: Box::default(),
    };
    let obey = |order| EngineCommand::Obey { task: "t".into(), order: Box::new(order) };
    room.decide(now, obey(begin), &facts).outcome.unwrap();
    let says = |room: &mut Conversation, by| {
        let said = room.decide(now, ClientCommand::Post(Post::new(by, "hello")), &facts);
        said.outcome.err().map(|no| no.code)
    };
    assert_eq!(says(&mut room, Actor::named("bob")), None);
    assert_eq!(says(&mut room, Actor::named("zoe")), Some("not_of_task"));
    assert_eq!(says(&mut room, Actor::human("user")), None);
    let part = TaskOrder::Part { agent: "bob".into() };
    room.decide(now, obey(part), &facts).outcome.unwrap();
    assert_eq!(says(&mut room, Actor::named("bob")), Some("not_of_task"));
    let foreign = EngineCommand::Obey {
        task: "other".into(),
        order: Box::new(TaskOrder::Archive { by: "ann".into(), on: true }),
    };
    let refused = room.decide(now, foreign, &facts).outcome.unwrap_err();
    assert_eq!(refused.code, "not_of_task");
}

/// Returns a script line that numbers choose.
fn line_of(kind: u8, who: u8, other: u8) -> String {
    let name = |number: u8| ["ann", "bob", "cy", MANAGER, "zoe"][usize::from(number) % 5];
    let (who, other) = (name(who), name(other));
    match kind % 11 {
        0 => format!("{who} requests {other} with=c0:{other}"),
        1 => format!("{who} requests {other} app=x with=c0:{other} within=5"),
        2 => "answer yes".into(),
        3 => "answer no because".into(),
        4 => format!("{who} admits {other}"),
        5 => format!("{who} removes {other}"),
        6 => format!("{who} leaves"),
        7 => format!("{who} opens c{}:{other}", kind % 4),
        8 => format!("{who} closes"),
        9 => format!("settled c{}", kind % 4),
        _ => "tick".into(),
    }
}

proptest::proptest! {
    /// Under any commands a task keeps to the rules, and an ended task stays ended.
    #[test]
    fn whatever_is_asked_of_a_task_it_keeps_its_rules(
        asked in proptest::collection::vec((0..44_u8, 0..5_u8, 0..5_u8, 0..4_u64), 1..60)
    ) {
        let mut stage = Stage::new();
        for (kind, who, other, pause) in asked {
            let over = stage.task.ended_at().is_some();
            stage.now = stage.now + Millis::from_secs(pause);
            let decisions = stage.play(&line_of(kind, who, other));
            let goes_on = decisions.iter().any(|line| {
                ["accepted", "opened", "closing", "admitted", "requested"]
                    .iter()
                    .any(|word| line.starts_with(word))
            });
            proptest::prop_assert!(!(over && goes_on), "{:?}", decisions);
        }
    }
}
