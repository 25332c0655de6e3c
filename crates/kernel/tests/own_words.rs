//! Own words of agents: loops of remote agents end under every policy, and harmless agents are not
//! stopped. (Rulings 14 and 16.)

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;

use moothall_kernel::Conversation;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Facts, Invite, Post, Refusal, Rejection,
};
use moothall_kernel::event::{Cause, Event, Guard, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::{AgentFacts, Profile};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::task_command::{NamedAgent, TaskOrder};
use moothall_kernel::time::{Millis, Timestamp};

/// Returns the policies under which people and agents talk without a gathering.
fn policies() -> impl Iterator<Item = PolicyName> {
    PolicyName::chosen()
}

/// A hall: its conversations, and the words that they know of each other.
struct Hall {
    now: Timestamp,
    rooms: Vec<Conversation>,
    facts: Facts,
}

impl Hall {
    fn new() -> Self {
        let now = Timestamp::from_millis(1_763_700_000_000);
        Self { now, rooms: Vec::new(), facts: Facts::default() }
    }

    /// Creates a conversation with agents that read and take no turns. Returns its number.
    fn room(&mut self, policy: PolicyName, agents: &[&str]) -> usize {
        let by = Actor::human("user");
        let room = self.rooms.len();
        self.rooms.push(Conversation::new(StreamId::new(format!("room{room}"))));
        let create = ClientCommand::Create {
            name: "r".into(),
            policy: Policy::named(policy),
            folder: None,
            by: by.clone(),
        };
        self.give(room, create).unwrap();
        let controls = agents.iter().map(|agent| Control::Invite(invite(agent))).collect();
        self.give(room, ClientCommand::Control { by: by.clone(), controls }).unwrap();
        let talk = Control::Discussion { on: true, allow_agent_mentions: true };
        self.give(room, ClientCommand::Control { by, controls: vec![talk] }).unwrap();
        self.facts.readers.extend(agents.iter().map(ParticipantId::new));
        room
    }

    /// Creates a conversation of a task. Returns its number.
    fn task(&mut self, agents: &[&str]) -> usize {
        let room = self.rooms.len();
        self.rooms.push(Conversation::new(StreamId::new(format!("room{room}"))));
        let named = |agent: &&str| NamedAgent { agent: (*agent).into(), name: (*agent).into() };
        let policy = Policy { max_exchanges_without_human: 200, ..Policy::default() };
        let order = TaskOrder::Begin {
            name: None,
            by: agents[0].into(),
            participants: Vec::new(),
            first: true,
            agents: agents.iter().map(named).collect(),
            policy: Box::new(policy),
        };
        self.give(room, EngineCommand::Obey { task: "task".into(), order: Box::new(order) })
            .unwrap();
        self.facts.readers.extend(agents.iter().map(ParticipantId::new));
        room
    }

    fn give(
        &mut self,
        room: usize,
        command: impl Into<Command>,
    ) -> Result<Vec<RecordedEvent>, Rejection> {
        let state = &mut self.rooms[room];
        let decision = state.decide(self.now, command, &self.facts);
        let voices = Arc::make_mut(&mut self.facts.voices);
        decision.events.iter().for_each(|recorded| voices.note(state, recorded));
        decision.outcome.map(|()| decision.events)
    }

    fn says(&mut self, room: usize, who: &str, words: &str) -> Result<Cause, Rejection> {
        self.posts(room, Post::new(Actor::unproven(who), words))
    }

    fn posts(&mut self, room: usize, post: Post) -> Result<Cause, Rejection> {
        let events = self.give(room, ClientCommand::Post(post))?;
        let (seq, from) = (events[0].seq, events[0].event.from().unwrap().clone());
        let id = events[0].id(self.rooms[room].stream());
        let Event::Posted(posted) = &events[0].event else { panic!("{events:?}") };
        Ok(Cause { seq, id, from, depth: posted.depth, unproven: posted.lacks_person() })
    }

    fn wait(&mut self, seconds: u64) {
        self.now = self.now + Millis::from_secs(seconds);
    }

    fn held(&self, room: usize) -> Option<Guard> {
        self.rooms[room].holding_guard()
    }
}

fn invite(agent: &str) -> Invite {
    let profile =
        Profile { client: Some("x".into()), model: Some("m".into()), ..Profile::default() };
    Invite::new(agent, profile, AgentFacts::external())
}

/// True if a bot stops here: it was refused, and not for its pace.
fn is_end(refused: &Rejection) -> bool {
    refused.refusal != Refusal::TooSoon
}

#[test]
fn two_bridges_between_two_rooms_end_by_themselves() {
    for policy in policies() {
        for (delay, changes) in [(0, false), (0, true), (7, true), (40, false), (40, true)] {
            let mut hall = Hall::new();
            let rooms = [hall.room(policy, &["there"]), hall.room(policy, &["back"])];
            hall.says(rooms[0], "user", "hello everybody in there").unwrap();
            let mut words = "hello everybody in there".to_owned();
            let mut crossed = 0;
            'echo: loop {
                for (room, bridge) in [(rooms[1], "back"), (rooms[0], "there")] {
                    words = if changes { format!("[{bridge}] {words}!") } else { words };
                    hall.wait(delay);
                    match hall.says(room, bridge, &words) {
                        Ok(_) => crossed += 1,
                        Err(refused) if is_end(&refused) => break 'echo,
                        Err(refused) => {
                            assert!(crossed <= 60, "{policy} {delay} {changes}: {refused:?}");
                            hall.now = hall.now + refused.wait.unwrap();
                        }
                    }
                }
                assert!(crossed <= 60, "{policy} {delay} {changes}: {crossed} crossed");
            }
        }
    }
}

#[test]
fn agents_that_answer_each_other_end_by_themselves() {
    for policy in policies() {
        for by_name in [true, false] {
            let mut hall = Hall::new();
            let room = hall.room(policy, &["ada", "bob"]);
            let mut newest = hall.says(room, "user", "@ada @bob talk").unwrap();
            let mut said = 0;
            for n in 0.. {
                let (me, other) = if n % 2 == 0 { ("ada", "bob") } else { ("bob", "ada") };
                let words = if by_name { format!("@{other} and {n}") } else { format!("well {n}") };
                let reply_to = (!by_name).then(|| newest.clone());
                hall.wait(20);
                match hall.posts(room, Post { reply_to, ..Post::new(Actor::unproven(me), words) }) {
                    Ok(cause) => (newest, said) = (cause, said + 1),
                    Err(refused) => {
                        assert!(is_end(&refused), "{policy}: {refused:?}");
                        break;
                    }
                }
                assert!(said <= 21, "{policy}: {said}");
            }
        }
    }
}

#[test]
fn agents_that_talk_at_once_without_a_name_are_held() {
    let mut hall = Hall::new();
    let room = hall.room(PolicyName::MentionOnly, &["ada", "bob"]);
    for n in 0..21 {
        hall.wait(5);
        let who = if n % 2 == 0 { "ada" } else { "bob" };
        hall.says(room, who, &format!("thought number {n} about {}", "x".repeat(n))).unwrap();
    }
    assert_eq!(hall.held(room), Some(Guard::Exchanges));
    let refused = hall.says(room, "ada", "and one more").unwrap_err();
    assert_eq!((refused.code, refused.kept.is_some()), ("held", true), "{refused:?}");
}

/// Under `hybrid` and `round_robin` own words are charged to the message before them, and end
/// sooner.
#[test]
fn two_bots_that_report_all_night_are_not_stopped() {
    for policy in [PolicyName::MentionOnly, PolicyName::Open] {
        let mut hall = Hall::new();
        let room = hall.room(policy, &["core", "web"]);
        for n in 0..400 {
            hall.wait(60);
            let bot = if n % 2 == 0 { "core" } else { "web" };
            hall.says(room, bot, &format!("build {n} of {bot} passed"))
                .unwrap_or_else(|refused| panic!("{policy} at {n}: {refused:?}"));
        }
        assert_eq!(hall.held(room), None);
    }
}

#[test]
fn a_person_without_proof_before_every_answer_is_answered_for_ever() {
    for policy in policies() {
        let mut hall = Hall::new();
        let room = hall.room(policy, &["lead", "dev"]);
        for n in 0..100 {
            hall.wait(15);
            hall.says(room, "user", &format!("@lead question {n}")).unwrap();
            hall.wait(3);
            for agent in ["lead", "dev"] {
                hall.says(room, agent, &format!("@dev @lead answer {n} of {agent}"))
                    .unwrap_or_else(|refused| panic!("{policy} at {n}: {refused:?}"));
            }
        }
        assert_eq!(hall.held(room), None);
    }
}

#[test]
fn a_task_of_agents_talks_up_to_its_own_limit() {
    let mut hall = Hall::new();
    let room = hall.task(&["ada", "bob", "cid"]);
    let mut said = 0;
    let refused = loop {
        hall.now = hall.now + Millis(400);
        let who = ["ada", "bob", "cid"][said % 3];
        match hall.posts(room, Post::new(Actor::named(who), "@ada @bob @cid yes")) {
            Ok(_) => said += 1,
            Err(refused) => break refused,
        }
    };
    assert_eq!((said, refused.code, hall.held(room)), (200, "held", Some(Guard::Exchanges)));
    let resume =
        ClientCommand::Control { by: Actor::human("user"), controls: vec![Control::Resume] };
    hall.give(room, resume).unwrap();
    hall.posts(room, Post::new(Actor::named("ada"), "@bob we go on")).unwrap();
}

#[test]
fn what_comes_by_itself_has_a_pace_and_an_hourly_limit_of_its_own() {
    let mut hall = Hall::new();
    let rooms: Vec<usize> = (0..4).map(|_| hall.room(PolicyName::MentionOnly, &["bot"])).collect();
    for n in 0..30 {
        hall.says(rooms[0], "bot", &format!("{n}")).unwrap();
    }
    // A participant's pace counts in all rooms. Another participant has the pace of the room.
    for (room, who) in [(rooms[0], "bot"), (rooms[1], "bot"), (rooms[0], "other")] {
        let refused = hall.says(room, who, "more").unwrap_err();
        assert_eq!((refused.refusal, refused.code), (Refusal::TooSoon, "own_words_rate"), "{who}");
        assert!(refused.wait.is_some_and(|wait| wait > Millis::from_secs(59)), "{refused:?}");
        assert_eq!(refused.kept, None);
    }
    hall.says(rooms[1], "other", "more").unwrap();
    // A person's words start a new minute.
    hall.wait(1);
    hall.says(rooms[0], "user", "well?").unwrap();
    hall.says(rooms[0], "bot", "more").unwrap();
    let mut said = 31;
    loop {
        hall.wait(3);
        match hall.says(rooms[said % 4], "bot", &format!("{said}")) {
            Ok(_) => said += 1,
            Err(refused) if refused.code == "own_words_rate" => {
                hall.wait(refused.wait.unwrap().0.div_ceil(1000))
            }
            Err(refused) => {
                assert_eq!((refused.code, said), ("own_words_limit", 600), "{refused:?}");
                break;
            }
        }
    }
}

#[test]
fn a_credential_has_one_pace_under_all_of_its_names() {
    let mut hall = Hall::new();
    let rooms =
        [hall.room(PolicyName::MentionOnly, &["x"]), hall.room(PolicyName::MentionOnly, &["y"])];
    let with = |name: String, token: &str| Post {
        credential: Some(token.into()),
        ..Post::new(Actor::named(name.as_str()), name.clone())
    };
    for n in 0..30 {
        hall.posts(rooms[n % 2], with(format!("bot{n}"), "t1")).unwrap();
        hall.now = hall.now + Millis(10_001 / 30);
    }
    assert_eq!(
        hall.posts(rooms[0], with("fresh".into(), "t1")).unwrap_err().code,
        "own_words_rate"
    );
    hall.posts(rooms[0], with("fresh".into(), "t2")).unwrap();
}
