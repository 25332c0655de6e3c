//! Tests each word of state, and the one state of a session.

#![allow(clippy::unwrap_used)]

use strum::VariantArray;

use super::*;
use crate::model::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Facts, Invite, Post,
};
use crate::model::ids::{PermissionId, Seq};
use crate::model::participant::{AgentFacts, Profile, Runtime};
use crate::model::permission::{PermissionOption, Question};
use crate::model::settings::{Policy, PolicyName};
use crate::model::time::Millis;

/// A conversation under `hybrid` with three agents of the server, a remote one and a person.
struct Meeting {
    now: Timestamp,
    state: Conversation,
    live: LiveFacts,
}

impl Meeting {
    fn begin() -> Self {
        let now = Timestamp::from_millis(1_763_700_000_000);
        let state = Conversation::new("room".into());
        let mut meeting = Self { now, state, live: LiveFacts::default() };
        let policy = Policy::named(PolicyName::Hybrid);
        meeting.give(ClientCommand::Create { name: "r".into(), policy, folder: None, by: user() });
        for agent in ["ann", "bob", "cyd"] {
            meeting.invite(agent, "script", AgentFacts::of_runtime(Runtime::SCRIPT));
        }
        meeting.invite("far", "other", AgentFacts::external());
        meeting.invite("eve", "human", AgentFacts::external());
        meeting
    }

    fn invite(&mut self, id: &str, client: &str, facts: AgentFacts) {
        let profile =
            Profile { client: Some(client.into()), model: Some("m".into()), ..Profile::default() };
        self.control(Control::Invite(Invite::new(id, profile, facts)));
    }

    fn give(&mut self, command: impl Into<Command>) {
        let facts = Facts { offline: ["far".into()].into(), ..Facts::default() };
        let decision = self.state.decide(self.now, command, &facts);
        decision.outcome.unwrap();
        self.now = decision.events.last().map_or(self.now, |recorded| recorded.ts);
    }

    fn control(&mut self, control: Control) {
        self.give(ClientCommand::Control { by: user(), controls: vec![control] });
    }

    /// A person names agents, and the first of them begins its turn.
    fn asks(&mut self, words: &str) {
        self.give(ClientCommand::Post(Post::new(user(), words)));
        self.start(TurnNo(1));
    }

    fn start(&mut self, turn: TurnNo) {
        let through = self.state.head();
        self.give(EngineCommand::Started { turn, attempt: 1, through });
    }

    fn asks_permission(&mut self) {
        self.give(EngineCommand::AskPermission {
            permission: PermissionId::new("p"),
            turn: TurnNo(1),
            question: Box::new(Question::new("rm -r x", PermissionOption::allow_or_deny())),
            within: Millis::from_secs(600),
        });
    }

    fn of(&self, id: &str) -> Occupation {
        let all = self.state.occupations(&self.live);
        all.into_iter().find(|one| one.participant.as_str() == id).unwrap()
    }

    fn words(&self) -> Vec<String> {
        self.state.occupations(&self.live).iter().map(|one| one.word.to_string()).collect()
    }
}

fn user() -> Actor {
    Actor::human("user")
}

#[test]
fn who_rests_is_ready_or_away() {
    let mut meeting = Meeting::begin();
    assert_eq!(meeting.words(), ["ready", "ready", "ready", "away", "away"]);
    meeting.live.present =
        [("far".into(), "listening".into()), ("eve".into(), "typing".into())].into();
    assert_eq!(meeting.words(), ["ready", "ready", "ready", "ready", "writing"]);
    meeting.live.present.insert("far".into(), "thinking".into());
    // The server's own word for an agent that it runs is not the agent's.
    meeting.live.present.insert("ann".into(), "thinking".into());
    assert_eq!(meeting.words(), ["ready", "ready", "ready", "thinking", "writing"]);
}

#[test]
fn the_others_wait_for_the_one_that_works() {
    let mut meeting = Meeting::begin();
    meeting.asks("@ann @bob @cyd go");
    assert_eq!(meeting.words()[..3], ["thinking", "waits", "queued"]);
    let (ann, bob, cyd) = (meeting.of("ann"), meeting.of("bob"), meeting.of("cyd"));
    let running = meeting.state.turn(TurnNo(1)).unwrap().running.unwrap();
    assert_eq!((ann.turn, ann.since), (Some(TurnNo(1)), Some(running.started_at)));
    assert_eq!((bob.waits_for.as_ref(), bob.place), (Some(&"ann".into()), Some(1)));
    assert_eq!((cyd.waits_for.as_ref(), cyd.place), (Some(&"ann".into()), Some(2)));

    let tool = ToolUse { tool: Some("Bash".into()), line: Some("cargo test".into()) };
    meeting.live.progress.insert(TurnNo(1), TurnProgress::Working(tool.clone()));
    assert_eq!((meeting.of("ann").word, meeting.of("ann").tool), (StateWord::Working, Some(tool)));
    meeting.live.progress.insert(TurnNo(1), TurnProgress::Writing);
    assert_eq!(meeting.of("ann").word, StateWord::Writing);
}

#[test]
fn a_turn_that_has_not_begun_is_next() {
    let mut meeting = Meeting::begin();
    meeting.give(ClientCommand::Post(Post::new(user(), "@ann go")));
    let ann = meeting.of("ann");
    assert_eq!((ann.word, ann.place, ann.waits_for), (StateWord::Queued, Some(1), None));
}

#[test]
fn a_question_stops_its_agent_and_lets_the_next_begin() {
    let mut meeting = Meeting::begin();
    meeting.asks("@ann @bob go");
    meeting.asks_permission();
    meeting.live.progress.insert(TurnNo(1), TurnProgress::Writing);
    let asked_at = meeting.state.open_cards()[0].asked_at;
    let ann = meeting.of("ann");
    assert_eq!((ann.word, ann.since, ann.turn), (StateWord::Asks, Some(asked_at), Some(TurnNo(1))));
    assert_eq!(meeting.of("bob").word, StateWord::Queued);
    meeting.start(TurnNo(2));
    assert_eq!(meeting.of("bob").word, StateWord::Thinking);
    // A question is shown in a pause and to a muted agent's readers too: it can be answered.
    meeting.control(Control::Pause(true));
    meeting.control(Control::Mute(vec!["ann".into()]));
    assert_eq!(meeting.of("ann").word, StateWord::Asks);
}

#[test]
fn a_request_is_told_while_its_agent_does_nothing_else() {
    use crate::model::request::Request;
    use crate::model::start::StartRequest;
    let mut meeting = Meeting::begin();
    let start = StartRequest {
        client: "claude".into(),
        args: Vec::new(),
        folder: "/".into(),
        name: None,
        message: None,
        direct: false,
    };
    meeting.give(EngineCommand::Ask {
        permission: PermissionId::new("q"),
        by: Actor::named("ann"),
        request: Box::new(Request::Start(start)),
        within: Millis::from_secs(600),
    });
    assert_eq!(meeting.of("ann").word, StateWord::Asks);
    meeting.asks("@ann go");
    assert_eq!(meeting.of("ann").word, StateWord::Thinking);
    assert!(meeting.state.open_cards()[0].is_request);
    assert_ne!(meeting.state.open_cards()[0].at, Seq(0));
}

#[test]
fn a_pause_is_a_state_of_agents_alone() {
    let mut meeting = Meeting::begin();
    meeting.asks("@ann @bob go");
    meeting.control(Control::Mute(vec!["cyd".into()]));
    meeting.control(Control::Pause(true));
    assert_eq!(meeting.words(), ["paused", "paused", "muted", "paused", "away"]);
    assert_eq!(meeting.of("ann").since, meeting.state.paused_since);
    assert_eq!(meeting.of("ann").turn, Some(TurnNo(1)));
    meeting.control(Control::Resume);
    assert_eq!(meeting.of("ann").word, StateWord::Thinking);
    meeting.state.guards.held = Some(crate::model::event::Guard::Pair);
    assert_eq!(meeting.words()[..3], ["thinking", "waits", "muted"]);
    meeting.give(ClientCommand::Stop { by: user() });
    assert_eq!(meeting.words()[..3], ["paused", "paused", "muted"]);
}

fn own(word: StateWord) -> Occupation {
    Occupation { place: Some(1), turn: Some(TurnNo(7)), ..Occupation::of(&"ann".into(), word) }
}

fn at(stream: &str, word: StateWord) -> (StreamId, Occupation) {
    (stream.into(), Occupation { turn: Some(TurnNo(9)), ..Occupation::of(&"x".into(), word) })
}

#[test]
fn a_session_has_one_state_in_all_its_conversations() {
    use SessionWork::{Asking, Busy, Drafting, Ended, Idle, Starting};
    let (home, other): (StreamId, StreamId) = ("home".into(), "other".into());
    let nothing: &[(StreamId, Occupation)] = &[];
    let thinks = &[at("other", StateWord::Thinking)][..];
    let asks = &[at("more", StateWord::Thinking), at("other", StateWord::Asks)][..];
    let (ready, queued) = (StateWord::Ready, StateWord::Queued);
    let rows = [
        (ready, nothing, Idle, ready, None),
        (ready, nothing, Ended, StateWord::Ended, None),
        (StateWord::Writing, asks, Ended, StateWord::Ended, None),
        (StateWord::Writing, asks, Busy, StateWord::Writing, None),
        (ready, thinks, Busy, StateWord::Thinking, Some(&other)),
        (queued, thinks, Busy, StateWord::Thinking, Some(&other)),
        (ready, asks, Asking, StateWord::Asks, Some(&other)),
        (StateWord::Paused, thinks, Busy, StateWord::Thinking, Some(&other)),
        (ready, nothing, Asking, StateWord::Asks, Some(&home)),
        (ready, nothing, Busy, StateWord::Working, Some(&home)),
        (ready, nothing, Starting, StateWord::Working, Some(&home)),
        (queued, nothing, Busy, queued, None),
        (queued, nothing, Drafting, StateWord::Waits, None),
        (ready, nothing, Drafting, ready, None),
        (StateWord::Muted, nothing, Busy, StateWord::Muted, None),
    ];
    for (word, elsewhere, work, expected, place) in rows {
        let shown = of_session(&own(word), elsewhere, &home, &work.into());
        let row = (word, work);
        assert_eq!((shown.occupation.word, shown.at.as_ref()), (expected, place), "{row:?}");
        assert_eq!(shown.occupation.participant, "ann".into(), "{row:?}");
    }
    // The turn that is shown is the participant's own, whatever runs elsewhere.
    assert_eq!(
        of_session(&own(queued), thinks, &home, &Busy.into()).occupation.turn,
        Some(TurnNo(7))
    );
}

#[test]
fn a_busy_program_shows_the_tool_that_it_uses() {
    use SessionWork::{Asking, Busy, Idle};
    let home: StreamId = "home".into();
    let tool = ToolUse { tool: Some("Bash".into()), line: Some("cargo test".into()) };
    let shown = |own: &Occupation, work| {
        let activity = SessionActivity { work, tool: Some(tool.clone()) };
        let shown = of_session(own, &[], &home, &activity).occupation;
        (shown.word, shown.tool)
    };
    let working = (StateWord::Working, Some(tool.clone()));
    assert_eq!(shown(&own(StateWord::Thinking), Busy), working);
    assert_eq!(shown(&own(StateWord::Ready), Busy), working, "typed at its terminal");
    for (word, work) in [(StateWord::Writing, Busy), (StateWord::Asks, Asking)] {
        assert_eq!(shown(&own(word), work), (word, None));
    }
    assert_eq!(shown(&own(StateWord::Ready), Idle), (StateWord::Ready, None), "its end came late");
    assert_eq!(shown(&own(StateWord::Thinking), Idle), (StateWord::Thinking, None));
    let said = ToolUse { tool: None, line: Some("of its own turn".into()) };
    let own = Occupation { tool: Some(said.clone()), ..own(StateWord::Working) };
    assert_eq!(shown(&own, Busy), (StateWord::Working, Some(said)));
}

#[test]
fn only_four_words_are_work_and_the_strongest_comes_first() {
    let at_work: Vec<String> = StateWord::VARIANTS
        .iter()
        .filter(|word| word.is_at_work())
        .map(ToString::to_string)
        .collect();
    assert_eq!(at_work, ["asks", "writing", "working", "thinking"]);
    assert!(StateWord::Asks < StateWord::Writing && StateWord::Writing < StateWord::Thinking);
}
