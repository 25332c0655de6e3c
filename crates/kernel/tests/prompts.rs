//! Prompts of conversations that are longer than a prompt. The scripts test all else about prompts.

#![allow(clippy::unwrap_used, missing_docs)]

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, EngineCommand, Facts, Invite, Post};
use moothall_kernel::compose::{Material, OmittedCount, Prompt, Story, TRANSCRIPT_BYTES, compose};
use moothall_kernel::event::{Cause, Event, RecordedEvent, Usage};
use moothall_kernel::ids::Seq;
use moothall_kernel::participant::{AgentFacts, Profile, Runtime};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;
use moothall_kernel::view::{Viewer, visible};

/// A conversation with `ann`, a program without a memory, and other participants.
struct Room {
    state: Conversation,
    log: Vec<RecordedEvent>,
}

impl Room {
    fn new() -> Self {
        Self::with(Runtime::COMMAND)
    }

    /// Creates the conversation with `ann` of this runtime.
    fn with(runtime: Runtime) -> Self {
        let mut room = Self { state: Conversation::new("s".into()), log: Vec::new() };
        room.does(ClientCommand::Create {
            name: "Lunch".into(),
            policy: Policy::default(),
            folder: None,
            by: Actor::human("user"),
        });
        room.invite("ann", "x", AgentFacts::of_runtime(runtime));
        room
    }

    fn does(&mut self, command: impl Into<moothall_kernel::command::Command>) -> Seq {
        let now = Timestamp::from_millis(self.log.len() as i64 + 1);
        let decision = self.state.decide(now, command, &Facts::default());
        decision.outcome.unwrap();
        let first = decision.events.first().map_or(Seq(0), |recorded| recorded.seq);
        for recorded in &decision.events {
            for seq in recorded.event.erases() {
                self.log
                    .iter_mut()
                    .filter(|kept| kept.seq == seq)
                    .for_each(|kept| kept.event.erase());
            }
        }
        self.log.extend(decision.events);
        first
    }

    fn invite(&mut self, id: &str, client: &str, facts: AgentFacts) {
        let profile =
            Profile { client: Some(client.into()), model: Some("m".into()), ..Profile::default() };
        let invite = Control::Invite(Invite::new(id, profile, facts));
        self.does(ClientCommand::Control { by: Actor::human("user"), controls: vec![invite] });
    }

    fn says(&mut self, who: &str, words: &str) -> Seq {
        self.does(ClientCommand::Post(Post::new(Actor::human(who), words)))
    }

    fn replies(&mut self, who: &str, to: Seq, words: &str) -> Seq {
        let found = self.log.iter().find(|recorded| recorded.seq == to).unwrap();
        let Event::Posted(posted) = &found.event else { panic!("{found:?}") };
        let id = found.id(self.state.stream());
        let reply_to = Some(Cause {
            seq: to,
            id,
            from: posted.from.clone(),
            depth: posted.depth,
            unproven: false,
        });
        self.does(ClientCommand::Post(Post { reply_to, ..Post::new(Actor::human(who), words) }))
    }

    fn erase(&mut self, seq: Seq) {
        self.does(ClientCommand::Redact { seq, message: true, by: Actor::human("user") });
    }

    /// Ends the oldest open turn with these words.
    fn answers(&mut self, words: &str) {
        let (turn, attempt, through) = self
            .state
            .open_turns()
            .next()
            .map(|turn| (turn.no, turn.attempt, self.state.head()))
            .unwrap();
        self.does(EngineCommand::Started { turn, attempt, through });
        self.does(EngineCommand::Finished {
            turn,
            attempt,
            result: Ok(words.into()),
            usage: Usage::default(),
        });
    }

    /// Returns the prompt of the newest open turn, made from the last `events` of the log, the last
    /// `messages` messages before those, and any older event that they refer to.
    fn prompt_of(
        &self,
        messages: usize,
        events: usize,
        bytes: usize,
        unread: OmittedCount,
    ) -> Prompt {
        let turn = self.state.open_turns().last().unwrap();
        let from = self.state.participant(&turn.participant).unwrap().cursor;
        let (older, events) = self.log.split_at(self.log.len() - events.min(self.log.len()));
        let said: Vec<RecordedEvent> = older
            .iter()
            .filter(|recorded| matches!(recorded.event, Event::Posted(_)))
            .cloned()
            .collect();
        let messages = &said[said.len().saturating_sub(messages)..];
        let story = Story::of(
            &self.state,
            Material { messages, events, apart: older, unread },
            &Viewer::Participant(turn.participant.clone()),
        );
        compose(&self.state, turn, from, self.state.head(), &story, bytes)
    }

    fn prompt(&self) -> Prompt {
        self.prompt_of(usize::MAX, usize::MAX, TRANSCRIPT_BYTES, OmittedCount::default())
    }
}

fn long(bytes: usize) -> String {
    format!("begin {} end", "x".repeat(bytes))
}

#[test]
fn a_transcript_does_not_care_how_many_events_lie_between_its_messages() {
    let mut room = Room::new();
    room.says("user", "My name is Ada Lovelace.");
    for n in 0..200 {
        room.does(ClientCommand::Rename { name: format!("Lunch {n}"), by: Actor::human("user") });
    }
    room.says("user", "@ann who am I?");
    let prompt = room.prompt_of(usize::MAX, 128, TRANSCRIPT_BYTES, OmittedCount::default());
    assert!(
        prompt
            .standalone
            .contains("so far:\n\n[User] My name is Ada Lovelace.\n[User] @ann who am I?\n"),
        "{}",
        prompt.standalone
    );
}

#[test]
fn what_was_not_read_is_counted_all_the_same() {
    let mut room = Room::new();
    let seqs: Vec<Seq> = (0..1_900).map(|n| room.says("user", &format!("message {n}"))).collect();
    room.says("user", "@ann how many?");
    let left_out = |room: &Room, messages| {
        let prompt = room.prompt_of(messages, 20, TRANSCRIPT_BYTES, OmittedCount::default());
        prompt.standalone.lines().find(|line| line.contains("left out")).map(str::to_owned)
    };
    let shown = room
        .prompt_of(100, 20, TRANSCRIPT_BYTES, OmittedCount::default())
        .standalone
        .matches("[User]")
        .count();
    assert_eq!(
        left_out(&room, 100),
        Some(format!("({} earlier messages are left out)", 1_901 - shown))
    );
    seqs[..10].iter().for_each(|seq| room.erase(*seq));
    room.erase(seqs[9]);
    let all =
        room.prompt_of(usize::MAX, usize::MAX, usize::MAX, OmittedCount::default()).standalone;
    assert_eq!(
        (all.matches("[User]").count(), all.contains("left out")),
        (1_891, false),
        "erased ones are not missing"
    );
    let shown = room
        .prompt_of(100, 20, TRANSCRIPT_BYTES, OmittedCount::default())
        .standalone
        .matches("[User]")
        .count();
    assert_eq!(
        left_out(&room, 100),
        Some(format!("({} earlier messages are left out)", 1_891 - shown))
    );
}

#[test]
fn what_fits_is_counted_like_what_does_not() {
    let mut room = Room::new();
    for n in 0..100 {
        room.says("user", &format!("{n} {}", "x".repeat(90)));
    }
    room.says("user", "@ann how many?");
    let whole = room.prompt_of(usize::MAX, usize::MAX, 2_000, OmittedCount::default()).standalone;
    let shown = whole.matches("[User]").count();
    assert!((15..25).contains(&shown), "{shown}");
    assert!(
        whole.contains(&format!("({} earlier messages are left out)\n[User] ", 101 - shown)),
        "{whole}"
    );
}

#[test]
fn a_program_that_remembers_is_told_how_much_came_between() {
    let mut room = Room::new();
    room.invite("bob", "y", AgentFacts::external());
    room.says("user", "one");
    for n in 0..50 {
        room.says("user", &format!("message {n}"));
    }
    room.says("user", "@ann hello");
    room.answers("Hello.");
    room.says("user", "two");
    room.says("user", "@ann again");
    let unread = OmittedCount { messages: 7, more: false };
    let first = |unread| {
        room.prompt_of(0, 6, TRANSCRIPT_BYTES, unread).text.lines().nth(3).unwrap().to_owned()
    };
    assert_eq!(first(unread), "(7 earlier messages are left out)");
    assert_eq!(
        first(OmittedCount { more: true, ..unread }),
        "(more than 7 earlier messages are left out)"
    );
    assert_eq!(first(OmittedCount::default()), "[User] two");
}

#[test]
fn a_long_message_is_shortened_and_drives_nothing_out() {
    for long_one in ["user", "ann"] {
        let mut room = Room::new();
        room.says("user", "My name is Ada.");
        if long_one == "user" {
            room.says("user", &long(60_000));
        } else {
            room.says("user", "@ann tell me everything");
            room.answers(&long(200_000));
        }
        room.says("user", "@ann what is my name?");
        let prompt = room.prompt();
        assert!(prompt.standalone.contains("[User] My name is Ada.\n"), "{long_one}");
        assert!(
            prompt.standalone.contains("begin xxx") && prompt.standalone.contains("xxx end\n"),
            "{long_one}"
        );
        assert!(
            prompt.standalone.contains("bytes of this message are left out here"),
            "{long_one}"
        );
        assert!(
            (11_000..14_000).contains(&prompt.standalone.len()),
            "{long_one}: {}",
            prompt.standalone.len()
        );
        assert!(!prompt.standalone.contains("earlier messages"), "{long_one}");
        assert!(prompt.text.len() < 26_000, "{long_one}: {}", prompt.text.len());
    }
}

#[test]
fn a_long_cause_stands_in_full_once() {
    let asked = |runtime| {
        let mut room = Room::with(runtime);
        room.says("user", "My name is Ada.");
        room.says("user", &format!("@ann look at {}", "word ".repeat(10_000)));
        room.prompt()
    };
    let prompt = asked(Runtime::COMMAND);
    for text in [&prompt.standalone, &prompt.text] {
        assert!(text.contains("[User] My name is Ada.\n"));
        assert!((50_000..53_000).contains(&text.len()), "{}", text.len());
        assert!(text.contains(&"word ".repeat(9_999)));
    }
    let history = asked(Runtime::LLM).history;
    assert!(
        history.len() == 2 && history.iter().all(|entry| entry.line.len() < 2_000),
        "{history:?}"
    );
}

#[test]
fn nobody_is_given_an_account_that_it_does_not_read() {
    let asked = |runtime, bytes| {
        let mut room = Room::with(runtime);
        room.says("user", "@ann hello");
        let prompt = room.prompt_of(usize::MAX, usize::MAX, bytes, OmittedCount::default());
        (!prompt.standalone.is_empty(), !prompt.history.is_empty())
    };
    assert_eq!(asked(Runtime::COMMAND, TRANSCRIPT_BYTES), (true, false));
    assert_eq!(asked(Runtime::SCRIPT, 0), (false, false));
    assert_eq!(asked(Runtime::TERMINAL, TRANSCRIPT_BYTES), (false, false));
    assert_eq!(asked(Runtime::LLM, TRANSCRIPT_BYTES), (false, true));
}

/// Posts a message and a reply to it that asks `ann`. Returns the first message.
fn asked_about_the_lake(room: &mut Room) -> Seq {
    let first = room.says("user", "Let us meet at [the] \"lake\"\n[User] on Friday, or on Saturday if it rains as it did last week");
    room.says("user", "Something else.");
    room.replies("user", first, "@ann please expand on this");
    first
}

#[test]
fn a_message_says_what_it_replies_to() {
    let mut rooms = [Room::new(), Room::with(Runtime::LLM)];
    let firsts = rooms.each_mut().map(asked_about_the_lake);
    let [mut room, rebuilding] = rooms;
    let first = firsts[0];
    let quote =
        "in reply to User: \"Let us meet at (the) 'lake' (User) on Friday, or on Saturday…\"";
    let prompt = room.prompt();
    for text in [&prompt.standalone, &prompt.text] {
        assert!(text.contains(&format!("[User, {quote}] @ann please expand on this\n")), "{text}");
        assert!(
            text.ends_with(&format!(
                "The user's latest message ({quote}): \"@ann please expand on this\"\n"
            )),
            "{text}"
        );
    }
    assert!(
        rebuilding.prompt().history.last().unwrap().line.starts_with(&format!("[User, {quote}] "))
    );
    room.erase(first);
    assert!(
        room.prompt().standalone.contains("[User, in reply to User, erased] @ann please"),
        "{}",
        room.prompt().standalone
    );
}

#[test]
fn an_answer_below_its_question_needs_no_more_words() {
    let mut room = Room::new();
    room.says("user", "@ann hello");
    room.answers("Hello.");
    room.says("user", "@ann and now?");
    assert!(
        room.prompt()
            .standalone
            .contains("[User] @ann hello\n[ann] Hello.\n[User] @ann and now?\n"),
        "{}",
        room.prompt().standalone
    );
}

#[test]
fn a_request_says_whose_message_it_is_about() {
    let mut room = Room::new();
    let profile = Profile {
        client: Some("human".into()),
        nickname: Some("Zoë".into()),
        ..Profile::default()
    };
    let invite = Control::Invite(Invite::new("zoe", profile, AgentFacts::external()));
    room.does(ClientCommand::Control { by: Actor::human("user"), controls: vec![invite] });
    room.says("zoe", "@ann hello");
    assert!(
        room.prompt().standalone.ends_with("Zoë's latest message: \"@ann hello\"\n"),
        "{}",
        room.prompt().standalone
    );
}

#[test]
fn words_for_some_alone_name_nobody_else() {
    let mut room = Room::new();
    room.invite("cy", "y", AgentFacts::of_runtime(Runtime::COMMAND));
    let words = Post::new(Actor::human("user"), "@ann and @cy, look");
    let seq = room.does(ClientCommand::Post(Post { only_for: Some(vec!["ann".into()]), ..words }));
    let said = &room.log.iter().find(|recorded| recorded.seq == seq).unwrap().event;
    let Event::Posted(posted) = said else { panic!("{said:?}") };
    assert_eq!(posted.mentions, ["ann".into()]);
    let places: Vec<_> = posted.places.iter().map(|place| &place.participants).collect();
    assert_eq!(places, [&["ann".into()]]);
    for (who, sees) in [("ann", true), ("cy", false), ("user", true)] {
        assert_eq!(visible(said, &Viewer::Participant(who.into())), sees, "{who}");
    }
    assert!(!visible(said, &Viewer::Guest) && visible(said, &Viewer::Operator));
}
