//! The home of a session, the actions in it, and the checks of each prompt.

use moothall_kernel::Conversation;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Facts, Invite, Post,
};
use moothall_kernel::compose::{Material, Story, TRANSCRIPT_BYTES, compose};
use moothall_kernel::event::{Event, Fault, RecordedEvent, TurnKind, Usage};
use moothall_kernel::hosted::{HostedKey, HostedTurn};
use moothall_kernel::ids::{Seq, TurnNo};
use moothall_kernel::link::{JoinedConversation, PartReason};
use moothall_kernel::participant::{Address, AgentFacts, Profile, Runtime};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::state::Turn;
use moothall_kernel::time::Timestamp;
use moothall_kernel::view::Viewer;
use proptest::prelude::*;

/// One action. Numbers are taken modulo the number of choices.
#[derive(Clone, Debug)]
pub enum Move {
    Say(&'static str),
    Own(&'static str),
    Reply(usize),
    Pass(Option<usize>),
    Prod,
    Host { from: usize, turn: u64, listens: bool },
    Unhost(usize, bool),
    Join(usize),
    Part(usize),
    Start(usize, u64),
    Finish(usize, Option<&'static str>),
    Lose(usize),
    Erase(usize),
    Cancel(usize),
    Stop,
    Pause(bool),
    Wait(u64),
}

pub fn moves() -> impl Strategy<Value = Move> {
    let words =
        || prop::sample::select(vec!["@codex go", "hello", "@scribe see", "[PASS]", "same"]);
    prop_oneof![
        6 => words().prop_map(Move::Say),
        2 => words().prop_map(Move::Own),
        1 => (0..40_usize).prop_map(Move::Reply),
        1 => prop::option::of(0..40_usize).prop_map(Move::Pass),
        1 => Just(Move::Prod),
        6 => (0..3_usize, 0..9_u64, any::<bool>())
            .prop_map(|(from, turn, listens)| Move::Host { from, turn, listens }),
        1 => (0..9_usize, any::<bool>()).prop_map(|(turn, lapse)| Move::Unhost(turn, lapse)),
        1 => (0..3_usize).prop_map(Move::Join),
        1 => (0..3_usize).prop_map(Move::Part),
        8 => (0..4_usize, 0..4_u64).prop_map(|(turn, behind)| Move::Start(turn, behind)),
        8 => (0..4_usize, prop::option::weighted(0.9, words()))
            .prop_map(|(turn, words)| Move::Finish(turn, words)),
        2 => (0..4_usize).prop_map(Move::Lose),
        1 => (0..40_usize).prop_map(Move::Erase),
        1 => (0..4_usize).prop_map(Move::Cancel),
        1 => Just(Move::Stop),
        1 => any::<bool>().prop_map(Move::Pause),
        3 => prop::sample::select(vec![1_u64, 2_500, 70_000, 4_000_000]).prop_map(Move::Wait),
    ]
}

pub fn policies() -> impl Strategy<Value = Policy> {
    let names =
        vec![PolicyName::MentionOnly, PolicyName::Open, PolicyName::Hybrid, PolicyName::RoundRobin];
    prop::sample::select(names)
        .prop_map(|name| Policy { max_exchanges_without_human: 6, ..Policy::named(name) })
}

/// The home of a session with another agent in it, and its whole log.
pub struct Home {
    pub state: Conversation,
    pub log: Vec<RecordedEvent>,
    pub now: i64,
    pub facts: Facts,
}

impl Home {
    pub fn new(policy: Policy) -> Self {
        let state = Conversation::new("home".into());
        let mut home = Self { state, log: Vec::new(), now: 1_000_000, facts: Facts::default() };
        let by = Actor::named("user");
        home.command(ClientCommand::Create {
            name: "home".into(),
            policy,
            folder: None,
            by: by.clone(),
        });
        let agent = |id: &str, runtime| {
            let word = || Some("x".to_owned());
            let profile = Profile { client: word(), model: word(), ..Profile::default() };
            Invite::new(id, profile, AgentFacts::of_runtime(runtime))
        };
        let address =
            Address { computer: String::new(), kind: "session".into(), local_id: "home".into() };
        let session = Invite { address: Some(address), ..agent("codex", Runtime::TERMINAL) };
        let controls =
            vec![Control::Invite(session), Control::Invite(agent("scribe", Runtime::LLM))];
        home.command(ClientCommand::Control { by, controls });
        (0..3).for_each(|from| home.play(Move::Join(from)));
        home
    }

    pub fn command(&mut self, command: impl Into<Command>) {
        let now = Timestamp::from_millis(self.now);
        self.log.extend(self.state.decide(now, command, &self.facts).events);
        self.state.check_invariants().unwrap();
        self.check_prompts();
    }

    pub fn post(&mut self, by: &str, words: &str) {
        self.command(ClientCommand::Post(Post::new(Actor::named(by), words)));
    }

    pub fn open(&self, number: usize) -> Option<&Turn> {
        let open: Vec<&Turn> = self.state.open_turns().collect();
        open.get(number % open.len().max(1)).copied()
    }

    pub fn due(&self, number: usize) -> Option<(TurnNo, u32)> {
        let run = self.state.duties().run;
        run.get(number % run.len().max(1)).map(|run| (run.turn, run.attempt))
    }

    /// Returns the message at a place, counted over all messages.
    pub fn message(&self, number: usize) -> Option<moothall_kernel::event::Cause> {
        let messages: Vec<&RecordedEvent> =
            self.log.iter().filter(|one| matches!(one.event, Event::Posted(_))).collect();
        let recorded = messages.get(number % messages.len().max(1))?;
        let Event::Posted(posted) = &recorded.event else { return None };
        Some(moothall_kernel::event::Cause {
            seq: recorded.seq,
            id: recorded.id(self.state.stream()),
            from: posted.from.clone(),
            depth: posted.depth,
            unproven: posted.lacks_person(),
        })
    }

    pub fn play(&mut self, step: Move) {
        let user = Actor::named("user");
        match step {
            Move::Say(words) => self.post("user", words),
            Move::Own(words) => self.post("codex", words),
            Move::Reply(place) => {
                let reply_to = self.message(place);
                let post = Post { reply_to, ..Post::new(user, "to that") };
                self.command(ClientCommand::Post(post));
            }
            Move::Pass(place) => {
                let reply_to = place.and_then(|place| self.message(place));
                let by = Actor::named("codex");
                self.command(ClientCommand::Pass { by, to: None, reply_to, at_once: false });
            }
            Move::Prod => {
                let controls = vec![Control::Prod(vec!["codex".into()])];
                self.command(ClientCommand::Control { by: user, controls });
            }
            Move::Host { from, turn, listens } => self.host(from, turn, listens),
            Move::Unhost(turn, lapse) => {
                let open = self.open(turn).and_then(|turn| turn.hosted.as_deref().cloned());
                if let Some(key) = open {
                    self.command(EngineCommand::Unhost { key, lapse });
                }
            }
            Move::Join(from) => {
                let (computer, stream) = CONVERSATIONS[from % 3];
                self.command(EngineCommand::Join(Box::new(JoinedConversation {
                    created_at: Timestamp::default(),
                    computer: computer.into(),
                    stream: stream.into(),
                    title: stream.into(),
                    link: true,
                    participant: "codex".into(),
                    members: Vec::new(),
                })));
            }
            Move::Part(from) => {
                let (computer, stream) = CONVERSATIONS[from % 3];
                let (computer, stream) = (computer.into(), stream.into());
                let why = PartReason::Closed;
                self.command(EngineCommand::Part { computer, stream, why });
            }
            Move::Start(turn, behind) => {
                let Some((turn, attempt)) = self.due(turn) else { return };
                let through = Seq(self.state.head().0.saturating_sub(behind));
                self.command(EngineCommand::Started { turn, attempt, through });
            }
            Move::Finish(turn, words) => {
                let Some((turn, attempt)) = self.due(turn) else { return };
                let result = words.map(str::to_owned).ok_or_else(|| Fault::new("x", "y"));
                let usage = Usage::default();
                self.command(EngineCommand::Finished { turn, attempt, result, usage });
            }
            Move::Lose(turn) => {
                let Some((turn, attempt)) = self.open(turn).map(|turn| (turn.no, turn.attempt))
                else {
                    return;
                };
                self.command(EngineCommand::Lost { turn, attempt });
            }
            Move::Erase(place) => {
                let Some(seq) = self.message(place).map(|cause| cause.seq) else { return };
                let message = self.log[seq.0 as usize - 1].event.is_in_prompts();
                self.command(ClientCommand::Redact { seq, message, by: user });
                self.log[seq.0 as usize - 1].event.erase();
            }
            Move::Cancel(turn) => {
                let Some(turn) = self.open(turn).map(|turn| turn.no) else { return };
                self.command(ClientCommand::Cancel { turn, by: user });
            }
            Move::Stop => self.command(ClientCommand::Stop { by: user }),
            Move::Pause(on) => {
                let controls = vec![Control::Pause(on)];
                self.command(ClientCommand::Control { by: user, controls });
            }
            Move::Wait(length) => {
                self.now += length as i64;
                self.command(EngineCommand::Tick);
            }
        }
    }

    /// Offers a turn of one of the conversations. The prompt is unlike all other words.
    pub fn host(&mut self, from: usize, turn: u64, listens: bool) {
        let (computer, stream) = CONVERSATIONS[from % 3];
        let (computer, stream) = (computer.into(), stream.into());
        let key = HostedKey { computer, stream, turn: TurnNo(turn), attempt: 1 };
        let hosted = Box::new(HostedTurn {
            key,
            through: Seq(turn),
            label: ["a", "a", "b"][from % 3].into(),
            kind: if listens { TurnKind::Listen } else { TurnKind::Reply },
            may_pass: turn.is_multiple_of(2),
            bodies: Box::default(),
        });
        let text = format!("{HIDDEN} {}: @scribe @codex go", self.log.len());
        self.command(EngineCommand::Host { hosted, text });
    }

    /// Checks that the prompt of a hosted turn is its own offer, and that no other prompt has words
    /// of one.
    pub fn check_prompts(&self) {
        for turn in self.state.open_turns() {
            let viewer = Viewer::Participant(turn.participant.clone());
            let story = Story::of(&self.state, Material::of(&self.log), &viewer);
            let head = self.state.head();
            let (from, through) = turn.own_range().unwrap_or((Seq(0), head));
            let prompt = compose(&self.state, turn, from, through, &story, TRANSCRIPT_BYTES);
            if turn.is_hosted() {
                let cause = &self.log[turn.cause.seq.0 as usize - 1].event;
                let body = cause.body().unwrap();
                assert!(prompt.text.ends_with(&format!(")\n\n{body}")), "{}", prompt.text);
                assert_eq!(prompt.text.matches(HIDDEN).count(), usize::from(!body.is_empty()));
                assert!(prompt.history.is_empty() && prompt.standalone.is_empty());
            } else {
                assert!(!format!("{prompt:?}").contains(HIDDEN), "{}", prompt.text);
            }
        }
    }
}

/// Two conversations of one computer, and one of another with the id of the first.
pub const CONVERSATIONS: [(&str, &str); 3] = [("2a", "lunch"), ("2a", "plans"), ("2b", "lunch")];

/// Words that only prompts of hosted turns have.
pub const HIDDEN: &str = "hidden from this conversation";
