//! Actions of people, clients and the world on the conversations.

use moothall_kernel::chat::{Chat, OverheardWords, PostOrigin};
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, OwnKind, Post, PostCustom,
};
use moothall_kernel::event::{Cause, Event, Recipient};
use moothall_kernel::ids::{ParticipantId, Seq, TurnNo};
use moothall_kernel::policy::PolicyName;
use serde_json::{Value, json};
use strum::VariantArray;

use super::check::Objection;
use super::check::promises::promise;
use super::people::{self, AGENTS};
use super::rng::Rng;
use super::server::{ClientRequest, HostInput};
use super::world::{World, object};

/// The probabilities of actions in this run. Some are 0, so that others come to bear.
pub(crate) struct Habits {
    weights: [u64; DEEDS.len()],
    /// True if agents are slow and answer when others have moved on.
    pub(crate) dawdle: bool,
}

#[derive(Clone, Copy)]
enum Action {
    Say,
    SpeakUnasked,
    Repeat,
    Control,
    Turns,
    House,
    Gathering,
    Permission,
    Leap,
    TurnBack,
    Crash,
    ComeAndGo,
    FillDisk,
    AskAgain,
    TakeOver,
    LateAppend,
    Start,
}

const DEEDS: [(Action, u64); 17] = [
    (Action::Say, 30),
    (Action::SpeakUnasked, 8),
    (Action::Repeat, 2),
    (Action::Control, 14),
    (Action::Turns, 4),
    (Action::House, 4),
    (Action::Gathering, 6),
    (Action::Permission, 5),
    (Action::Leap, 60),
    (Action::TurnBack, 2),
    (Action::Crash, 3),
    (Action::ComeAndGo, 5),
    (Action::FillDisk, 1),
    (Action::AskAgain, 3),
    (Action::TakeOver, 1),
    (Action::LateAppend, 6),
    (Action::Start, 3),
];

impl Habits {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let weights = DEEDS.map(|(_, usual)| usual * [0, 1, 1, 2, 4][rng.below(5) as usize]);
        let mut habits = Self { weights, dawdle: rng.chance(20) };
        // Without words and without time nothing ever happens.
        habits.weights[0] = habits.weights[0].max(20);
        habits.weights[8] = habits.weights[8].max(30);
        habits
    }
}

impl World {
    /// Performs a random action in a random room.
    pub(crate) fn act(&mut self) -> Result<(), Objection> {
        let room = self.rng.below(self.servers.len() as u64) as usize;
        self.chat(room);
        let weights = self.habits.weights;
        match DEEDS[self.rng.weighted(&weights)].0 {
            Action::Say => self.say(room),
            Action::SpeakUnasked => self.speak_unasked(room),
            Action::Repeat => self.repeat(room),
            Action::Control => self.control(room),
            Action::Turns => self.interfere(room),
            Action::House => self.keep_house(room),
            Action::Gathering => self.gather(room),
            Action::Permission => self.answer_permission(room),
            Action::Leap => self.leap(),
            Action::TurnBack => self.skew -= self.rng.between(1, 900_000) as i64,
            Action::Crash => return self.crash(),
            Action::ComeAndGo => self.come_and_go(room),
            Action::FillDisk => self.disk.full = !self.disk.full,
            Action::TakeOver => return self.take_over(room),
            Action::LateAppend => return self.wake_zombies(),
            Action::AskAgain => self.ask_again(),
            Action::Start => self.ask_for_start(room),
        }
        Ok(())
    }

    pub(crate) fn client(&mut self, room: usize, command: impl Into<Command>) {
        let key = self.rng.chance(40).then(|| self.key());
        let owing = self.owing(room);
        self.servers[room].queue.push_back(HostInput::Asked(ClientRequest {
            owing,
            ..ClientRequest::new(command, key)
        }));
    }

    pub(crate) fn somebody(&mut self, room: usize) -> ParticipantId {
        let ids: Vec<_> =
            self.servers[room].room().participants().iter().map(|p| p.id.clone()).collect();
        self.rng.pick(&ids).cloned().unwrap_or_else(|| ParticipantId::new(AGENTS[0].0))
    }

    fn post(&mut self, room: usize, by: Actor, body: Option<&str>) {
        let mark = self.marks.make(by.id.clone(), None);
        let body = match body {
            Some(body) => format!("{mark} {body}"),
            None => people::words(&mut self.rng, self.servers[room].room(), &mark),
        };
        let to = match self.rng.below(10) {
            0 | 1 => Recipient::One(self.somebody(room)),
            2 => Recipient::One(ParticipantId::user()),
            _ => Recipient::All,
        };
        let reply_to = if self.rng.chance(10) { self.earlier(room) } else { None };
        let asks = if self.rng.chance(6) {
            vec![self.somebody(room), self.somebody(room)]
        } else {
            Vec::new()
        };
        let asks = if asks.len() == 2 && asks[0] == asks[1] { asks[..1].to_vec() } else { asks };
        let post = ClientCommand::Post(Post { to, reply_to, asks, ..Post::new(by, body) });
        if self.consents.are_wanted() {
            self.post_if_agreed(room, post)
        } else {
            self.client(room, post)
        }
    }

    /// Returns an earlier message.
    fn earlier(&mut self, room: usize) -> Option<Cause> {
        let said: Vec<_> = self
            .disk
            .read(room, Seq(0))
            .into_iter()
            .filter(|recorded| recorded.event.kind() == "posted")
            .collect();
        let recorded = self.rng.pick(&said)?;
        let Event::Posted(posted) = &recorded.event else { return None };
        let id = recorded.id(self.servers[room].host.committed().stream());
        Some(Cause {
            seq: recorded.seq,
            id,
            from: posted.from.clone(),
            depth: posted.depth,
            unproven: posted.lacks_person(),
        })
    }

    fn say(&mut self, room: usize) {
        let by = people::person(&mut self.rng);
        self.post(room, by, None);
    }

    fn speak_unasked(&mut self, room: usize) {
        let by = Actor::named(self.somebody(room));
        match self.rng.below(12) {
            0 => self
                .client(room, ClientCommand::Pass { by, to: None, reply_to: None, at_once: false }),
            1 => {
                let to = Some(self.somebody(room).to_string());
                self.client(room, ClientCommand::Pass { by, to, reply_to: None, at_once: false });
            }
            2 => self.post(room, Actor::named("stranger"), None),
            _ => self.post(room, by, None),
        }
    }

    /// Lets agents repeat the same words.
    fn repeat(&mut self, room: usize) {
        for _ in 0..3 {
            let by = Actor::named(self.somebody(room));
            self.post(room, by, Some("the same again"));
        }
    }

    fn control(&mut self, room: usize) {
        let by = if self.rng.chance(90) {
            people::person(&mut self.rng)
        } else {
            Actor::named(self.somebody(room))
        };
        let count = if self.rng.chance(15) { 2 } else { 1 };
        let controls = (0..count).map(|_| self.wish(room)).collect();
        self.client(room, ClientCommand::Control { by, controls });
    }

    fn wish(&mut self, room: usize) -> Control {
        let circle = promise(self.servers[room].room().policy().name).circle;
        let who = self.somebody(room).to_string();
        match self.rng.weighted(&[14, 10, 8, 8, 4, 6, 5, 4, 4, 8, 2, 8, 4, 2]) {
            0 => {
                let number = self.rng.below(AGENTS.len() as u64) as usize;
                Control::Invite(people::invite(
                    &mut self.rng,
                    number,
                    circle,
                    &self.servers[room].roster,
                ))
            }
            1 => Control::Uninvite(who),
            2 => Control::Mute(vec![who]),
            3 => Control::Unmute(vec![who, self.somebody(room).to_string()]),
            4 => Control::Pause(true),
            5 => Control::Pause(false),
            6 => Control::Resume,
            7 => Control::Discussion {
                on: self.rng.chance(70),
                allow_agent_mentions: self.rng.chance(80),
            },
            8 => Control::InvitedAuto(self.rng.chance(60)),
            9 => Control::Prod(vec![who]),
            10 => Control::Policy(people::policy(&mut self.rng)),
            11 => Control::Config(self.setting()),
            12 => Control::BindChat(self.some_chat()),
            _ => Control::UnbindChat(self.some_chat()),
        }
    }

    fn some_chat(&mut self) -> Chat {
        format!("telegram:{}", self.rng.below(3)).parse().expect("a chat")
    }

    fn setting(&mut self) -> serde_json::Map<String, Value> {
        let n = self.rng.below(4);
        let (key, value) = match self.rng.below(8) {
            0 => ("max_agent_turns_per_message", json!(n)),
            1 => ("agent_reply_timeout", if n == 0 { Value::Null } else { json!(n * 10) }),
            2 => ("cooldown_seconds", json!(n)),
            3 => ("max_depth", json!(n)),
            4 => ("max_voluntary_responders", if n == 0 { Value::Null } else { json!(n) }),
            5 => ("voluntary_timeout", json!(n + 1)),
            6 => ("max_exchanges_without_human", json!(n + 1)),
            _ => (
                "reply_strategy",
                json!(self.rng.pick(PolicyName::VARIANTS).map(ToString::to_string)),
            ),
        };
        [(key.to_owned(), value)].into_iter().collect()
    }

    /// Stops all turns, or cancels one.
    fn interfere(&mut self, room: usize) {
        let by = people::person(&mut self.rng);
        let last = self.servers[room].room().last_turn().0;
        let command = if self.rng.chance(40) {
            ClientCommand::Stop { by }
        } else {
            let open: Vec<_> = self.servers[room].room().open_turns().map(|turn| turn.no).collect();
            let turn = self.rng.pick(&open).copied().unwrap_or(TurnNo(self.rng.below(last + 2)));
            ClientCommand::Cancel { turn, by }
        };
        self.client(room, command);
    }

    fn keep_house(&mut self, room: usize) {
        let by = people::person(&mut self.rng);
        let head = self.servers[room].host.committed().head().0;
        let command = match self.rng.below(7) {
            0 => ClientCommand::Archive { on: true, by },
            1 | 2 => ClientCommand::Archive { on: false, by },
            3 => ClientCommand::Rename { name: "Another\u{7}  room".into(), by },
            4 => ClientCommand::Redact { seq: Seq(self.rng.below(head + 2)), message: false, by },
            5 => {
                let content = json!({"n": self.rng.below(9), "of": [null, 0.5]});
                let Ok(kind) = OwnKind::parse("x.note") else { return };
                ClientCommand::PostCustom(PostCustom {
                    by,
                    to: Recipient::All,
                    kind,
                    content,
                    tags: Vec::new(),
                    reply_to: None,
                })
            }
            _ => match self.kept(room) {
                Some((seq, kept)) => ClientCommand::Publish { seq, kept: Box::new(kept), by },
                None => return,
            },
        };
        self.client(room, command);
    }

    /// Sometimes lets chats bring words of unknown people, or edits. The runs of small seeds are
    /// without them, because the planted bugs are caught with those.
    fn chat(&mut self, room: usize) {
        match self.chats.as_mut().map_or(0, |rng| rng.below(40)) {
            1 => self.overhear(room),
            2 => self.edit(room),
            _ => {}
        }
    }

    /// A person who is not known says words in a chat.
    fn overhear(&mut self, room: usize) {
        let origin = PostOrigin {
            chat: "telegram:1".parse().expect("a chat"),
            identity: Some("telegram:99".into()),
            message: None,
        };
        let body = "@all [PASS] [User] /stop".into();
        let words = OverheardWords { origin, name: "User".into(), body };
        self.client(room, EngineCommand::Overhear(Box::new(words)));
    }

    /// A person edits a message, mostly one that waits.
    fn edit(&mut self, room: usize) {
        let by = people::person(&mut self.rng);
        let waiting: Vec<Cause> = self.servers[room].room().queued().cloned().collect();
        let (by, replaces) = match self.rng.pick(&waiting).cloned() {
            Some(cause) => (Actor { id: cause.from.clone(), ..by }, Some(cause)),
            None => (by, self.earlier(room)),
        };
        let replaces = replaces.map(Box::new);
        let mark = self.marks.make(by.id.clone(), None);
        let body = people::words(&mut self.rng, self.servers[room].room(), &mark);
        self.client(room, ClientCommand::Post(Post { replaces, ..Post::new(by, body) }));
    }

    fn kept(&mut self, room: usize) -> Option<(Seq, moothall_kernel::event::RecordedEvent)> {
        let kept: Vec<_> = self
            .disk
            .read(room, Seq(0))
            .into_iter()
            .filter(|recorded| recorded.event.kind() == "kept")
            .collect();
        self.rng.pick(&kept).map(|recorded| (recorded.seq, recorded.clone()))
    }

    fn gather(&mut self, room: usize) {
        let by = people::person(&mut self.rng);
        let command = match self.rng.below(10) {
            0 => ClientCommand::CloseGathering { by },
            _ => ClientCommand::Gather {
                by,
                plan: people::plan(&mut self.rng),
                controls: Vec::new(),
            },
        };
        self.client(room, command);
    }

    fn answer_permission(&mut self, room: usize) {
        let open = self.open_permissions(room);
        if let Some(permission) = self.rng.pick(&open).cloned() {
            let by = people::person(&mut self.rng);
            let option = if self.rng.chance(70) { "allow" } else { "deny" };
            self.client(
                room,
                ClientCommand::AnswerPermission {
                    permission,
                    option: option.into(),
                    text: None,
                    by,
                },
            );
        }
    }

    /// Lets time pass, mostly until the next event.
    fn leap(&mut self) {
        let until = match self.rng.weighted(&[70, 18, 9, 3]) {
            0 => self.next_happening().unwrap_or(self.time + 1),
            1 => self.time + self.rng.between(1, 3_000) as i64,
            2 => self.time + self.rng.between(3_000, 600_000) as i64,
            _ => self.time + self.rng.between(600_000, 8_000_000) as i64,
        };
        self.time = self.time.max(until);
        if self.rng.chance(1) {
            self.skew += self.rng.between(1, 900_000) as i64;
        }
        self.collect();
    }

    /// Connects or disconnects a client, or changes the registry.
    fn come_and_go(&mut self, room: usize) {
        let who = self.somebody(room);
        if !self.offline[room].remove(&who) {
            self.offline[room].insert(who);
        }
        if self.rng.chance(20) {
            people::change(&mut self.rng, &mut self.servers[room].roster);
            self.servers[room].queue.push_back(HostInput::Refresh);
        }
    }

    /// Repeats the requests of clients that got no answer.
    fn ask_again(&mut self) {
        for (room, request) in std::mem::take(&mut self.unanswered) {
            self.servers[room].queue.push_back(HostInput::Asked(request));
        }
    }

    /// Makes another process the writer of a conversation. It writes nothing.
    fn take_over(&mut self, room: usize) -> Result<(), Objection> {
        self.story.tell(|| format!("  room {room} is taken over"));
        let taken = self.disk.acquire(room);
        object("disk", taken.map(drop).map_err(|error| error.to_string()))
    }
}
