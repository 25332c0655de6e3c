//! The player of conversations written as scripts.

mod input;
mod output;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Command, EngineCommand, Facts, Post};
use moothall_kernel::decide::Decision;
use moothall_kernel::duties::TurnDuty;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::time::{Millis, Timestamp};

/// A conversation being played.
pub struct Player {
    pub state: Conversation,
    pub log: Vec<RecordedEvent>,
    pub now: Timestamp,
    pub facts: Facts,
    /// Agents that take a turn up and start it only when the script says so.
    pub hesitating: BTreeSet<ParticipantId>,
    /// Position up to which these agents were shown the log with each taken turn.
    pub taken_up: BTreeMap<TurnNo, Seq>,
}

impl Player {
    fn new() -> Self {
        let now = Timestamp::from_millis(1_763_700_000_000);
        Self {
            state: Conversation::new(StreamId::new("script")),
            log: Vec::new(),
            now,
            facts: Facts::default(),
            hesitating: BTreeSet::new(),
            taken_up: BTreeMap::new(),
        }
    }

    /// Submits a command, then starts every turn that may run, as a host with idle agents would.
    /// The turns of hesitating agents are left alone.
    pub fn submit(&mut self, command: impl Into<Command>, out: &mut Vec<String>) {
        let Decision { events, outcome, .. } = self.decide(command);
        out.extend(outcome.err().map(|rejection| format!("refused {}", rejection.code)));
        self.tell(events, out);
        while let Some(run) = self.next_run() {
            self.begin(&run, self.state.head(), out);
        }
        self.check();
    }

    fn next_run(&mut self) -> Option<TurnDuty> {
        let (taken, begun): (Vec<TurnDuty>, Vec<TurnDuty>) = self
            .state
            .duties()
            .run
            .into_iter()
            .filter(|run| !run.started)
            .partition(|run| self.hesitating.contains(&run.participant));
        for run in taken {
            self.taken_up.entry(run.turn).or_insert(self.state.head());
        }
        begun.into_iter().next()
    }

    fn begin(&mut self, run: &TurnDuty, through: Seq, out: &mut Vec<String>) {
        let started = EngineCommand::Started { turn: run.turn, attempt: run.attempt, through };
        let Decision { events, outcome, .. } = self.decide(started);
        outcome.expect("a start is never refused");
        assert!(!events.is_empty(), "turn {} did not start", run.turn);
        self.tell(events, out);
    }

    fn taken_up(&self, who: &str) -> Result<TurnDuty, String> {
        let mut runs = self.state.duties().run.into_iter();
        let taken = runs.find(|run| !run.started && run.participant.as_str() == who);
        taken.ok_or_else(|| format!("{who} took nothing up"))
    }

    /// Shows a hesitating agent the events since it took its turn up.
    pub fn looks(&mut self, who: &str) -> Result<(), String> {
        let run = self.taken_up(who)?;
        self.taken_up.insert(run.turn, self.state.head());
        Ok(())
    }

    /// Starts the turn that an agent took up, without the events since it looked.
    pub fn begins(&mut self, who: &str, out: &mut Vec<String>) -> Result<(), String> {
        let run = self.taken_up(who)?;
        let through = self.taken_up.get(&run.turn).copied().ok_or("it was not taken up")?;
        self.begin(&run, through, out);
        Ok(())
    }

    /// Decides a command and takes its charges from the budgets.
    fn decide(&mut self, command: impl Into<Command>) -> Decision {
        let decision = self.state.decide(self.now, command, &self.facts);
        let budgets = Arc::make_mut(&mut self.facts.budgets);
        decision.charges.iter().for_each(|charge| budgets.charge(charge));
        let voices = Arc::make_mut(&mut self.facts.voices);
        decision.events.iter().for_each(|recorded| voices.note(&self.state, recorded));
        decision
    }

    /// Posts words of an agent in another conversation.
    pub fn hears_elsewhere(&mut self, speaker: &str, body: String) {
        let mut other = Conversation::new(StreamId::new("elsewhere"));
        let post = Post::new(Actor::named(speaker), body);
        let said = other.decide(self.now, ClientCommand::Post(post), &Facts::default());
        let voices = Arc::make_mut(&mut self.facts.voices);
        said.events.iter().for_each(|recorded| voices.note(&other, recorded));
    }

    fn tell(&mut self, events: Vec<RecordedEvent>, out: &mut Vec<String>) {
        for recorded in events {
            out.extend(output::line(&self.state, &recorded.event));
            // Erase the words in the log too, as the stored log does.
            for erased in recorded.event.erases() {
                self.log
                    .iter_mut()
                    .filter(|kept| kept.seq == erased)
                    .for_each(|kept| kept.event.erase());
            }
            self.log.push(recorded);
        }
    }

    /// Checks that the state is a fold of the events, and that events and states survive
    /// serialisation.
    fn check(&self) {
        let reread = self.log.iter().map(|recorded| {
            let text = serde_json::to_string(&recorded.event).unwrap();
            let event: Event = serde_json::from_str(&text).unwrap();
            let event = event.with_body(recorded.event.body().unwrap_or_default().to_owned());
            assert_eq!(event, recorded.event);
            RecordedEvent { event, ..recorded.clone() }
        });
        let reread: Vec<_> = reread.collect();
        assert_eq!(Conversation::fold(self.state.stream().clone(), &reread), self.state);
        let again = self.state.to_bytes().and_then(|bytes| Conversation::from_bytes(&bytes));
        assert_eq!(again.as_ref(), Some(&self.state), "a state is read as it was written");
        for (recorded, next) in self.log.iter().zip(&self.log[1..]) {
            assert!(recorded.seq.next() == next.seq && recorded.ts < next.ts);
        }
    }

    /// Advances the clock, with a tick whenever the conversation asked for one.
    pub fn wait(&mut self, length: Millis, out: &mut Vec<String>) {
        let until = self.now + length;
        while let Some(at) = self.state.duties().wake_at.filter(|at| *at <= until) {
            self.now = self.now.max(at);
            let before = self.log.len();
            self.submit(EngineCommand::Tick, out);
            if self.log.len() == before {
                self.now = self.now + Millis(1);
            }
        }
        self.now = self.now.max(until);
    }
}

/// Plays a script and returns it with the `>` lines that the kernel's decisions make.
pub fn play(script: &str) -> Result<String, String> {
    let mut player = Player::new();
    let mut transcript = String::new();
    for (number, line) in script.lines().enumerate().filter(|(_, line)| !line.starts_with('>')) {
        transcript.push_str(line);
        transcript.push('\n');
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let mut out = Vec::new();
        input::perform(&mut player, line, &mut out)
            .map_err(|fault| format!("line {}: {fault}", number + 1))?;
        for decision in out {
            transcript.push_str(&format!("> {decision}\n"));
        }
    }
    Ok(transcript)
}

/// Returns the first lines in which two texts differ.
pub fn difference(written: &str, played: &str) -> String {
    let pairs = written
        .lines()
        .chain(std::iter::repeat(""))
        .zip(played.lines().chain(std::iter::repeat("")));
    let longest = written.lines().count().max(played.lines().count());
    let first = pairs.clone().take(longest).position(|(a, b)| a != b).unwrap_or(0);
    let show = pairs.take(longest).skip(first.saturating_sub(2)).take(10);
    show.map(|(a, b)| if a == b { format!("    {a}\n") } else { format!("  - {a}\n  + {b}\n") })
        .collect()
}
