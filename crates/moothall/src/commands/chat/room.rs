//! State of a conversation for the person who chats. It does no input or output: the caller gives
//! it the server's events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use moothall_kernel::ids::ParticipantId;
use moothall_surfaces::wire::{
    DeltaSignal, Envelope, GatheringAnswer, GatheringStep, PresenceUpdate, ThreadStateAnswer,
    TurnEvent,
};
use serde_json::Value;

use crate::commands::circle::{self, Circle};
use crate::commands::descriptions;
use crate::commands::permit::{self, Open, PermissionEvent};
use crate::commands::show::{doubt, mark, words_of};
use crate::fault::Fault;
use crate::threads::Faces;

/// Maximum number of messages that can be replied to by number.
const NUMBERS_MAX: usize = 5000;
/// Time after which a presence counts no more; equal to the server's.
const PRESENCE_TTL: Duration = Duration::from_secs(120);

/// An item to show once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A message, sent or still on its way.
    Message(ShownMessage),
    /// A short status line.
    Status(String),
    /// A step of a gathering, as shown to all members.
    Told(String),
    /// A request for the person to act.
    Alert(String),
}

/// A message as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownMessage {
    /// Number of its event; `None` while it is on its way.
    pub number: Option<u64>,
    /// Id of the sender.
    pub from: String,
    /// Id of the addressed participant.
    pub to: Option<String>,
    /// Number of the message replied to, if a person chose it.
    pub reply: Option<u64>,
    /// Reason to doubt the sender.
    pub doubt: Option<String>,
    /// Text of the message.
    pub text: String,
    /// Remark that the text may be incomplete.
    pub mark: Option<String>,
    /// Error message, if the message reports a failed agent.
    pub fault: Option<String>,
}

/// A turn that was granted and has not ended.
#[derive(Clone, Debug, Default)]
struct Turn {
    participant: String,
    running: bool,
    /// True if the turn only listens: its output stays in the trace.
    listens: bool,
    /// True if the agent was addressed; its pass then has a notice of its own.
    addressed: bool,
    attempt: u32,
    /// Output so far.
    text: String,
}

/// A followed conversation.
#[derive(Debug, Default)]
pub struct ChatView {
    /// Title of the conversation.
    pub name: String,
    /// Id of the person who chats.
    me: String,
    /// The gathering, if the conversation is one.
    circle: Circle,
    /// True if the gathering's seed message was shown already.
    seeded: bool,
    /// Start of the hold and the beat whose pulse was shown last.
    pulse_of: Option<(String, u32)>,
    /// Names and colours of participants.
    pub faces: Faces,
    agents: BTreeSet<String>,
    people: BTreeSet<String>,
    invited: BTreeSet<String>,
    /// Ids and numbers of messages.
    numbers: VecDeque<(String, u64)>,
    turns: BTreeMap<String, Turn>,
    presence: BTreeMap<String, (String, Instant)>,
    /// Latest status line about each participant, so that it is not repeated.
    latest_status: BTreeMap<String, String>,
    /// Open permission requests.
    pub asks: Open,
    /// Reason why agents do not respond, if any.
    pub still: Option<&'static str>,
    /// Newest position received.
    pub heard: u64,
}

impl ChatView {
    /// Creates the state from the server's answer, with the open turns.
    pub fn new(answer: &ThreadStateAnswer, me: &str) -> Self {
        let mut room = Self { heard: answer.head, me: me.to_owned(), ..Self::default() };
        room.update(answer);
        for turn in &answer.state.turns {
            let open = Turn {
                participant: turn.participant.clone(),
                running: turn.state == "running",
                ..Turn::default()
            };
            room.turns.insert(turn.id.clone(), open);
        }
        room
    }

    /// Stores the name, the participants, and the reason why agents do not respond.
    pub fn update(&mut self, answer: &ThreadStateAnswer) {
        let state = &answer.state;
        let invited = &state.participants.invited;
        self.name.clone_from(&answer.name);
        self.faces = Faces::of(answer);
        self.invited = invited.iter().map(|entry| entry.id.clone()).collect();
        self.agents = invited
            .iter()
            .filter(|entry| entry.kind == "agent")
            .map(|entry| entry.id.clone())
            .collect();
        self.people = self.invited.difference(&self.agents).cloned().collect();
        self.still = match (&state.held, state.paused, state.archived) {
            (_, _, true) => Some("archived: /unarchive opens it again"),
            (_, true, _) => Some("paused: /resume ends the pause"),
            (Some(_), ..) => Some("a guard holds the agents: send a message, or /resume"),
            _ => None,
        };
    }

    /// True for `user` and participants invited as a person; all others count as agents.
    fn is_person(&self, id: &str) -> bool {
        id == ParticipantId::USER || self.people.contains(id)
    }

    /// Returns a warning if this sender is neither `user` nor invited, and so does not count as a
    /// person.
    pub fn stranger(&self, id: &str) -> Option<String> {
        let word = || {
            format!(
                "{id} is not invited as a person, so messages of {id} count as an agent's; to \
                 change that: /invite human id={id}"
            )
        };
        (!self.is_person(id) && !self.invited.contains(id)).then(word)
    }

    /// Returns the id of the message with this number.
    pub fn id_of(&self, number: u64) -> Option<&str> {
        self.numbers.iter().rev().find(|(_, known)| *known == number).map(|(id, _)| id.as_str())
    }

    /// True if turns are open.
    pub fn is_busy(&self) -> bool {
        !self.turns.is_empty()
    }

    /// True if the event may change the participants, or the reason why agents do not respond.
    pub fn changes_with(envelope: &Envelope) -> bool {
        let floor = || {
            matches!(envelope.content.get("code").and_then(Value::as_str), Some("held" | "stopped"))
        };
        match envelope.kind.as_str() {
            "control" | "thread.renamed" | "thread.archived" | "thread.unarchived" => true,
            "notice" => floor(),
            _ => false,
        }
    }

    /// Applies an event; returns the item to show.
    pub fn hear(&mut self, envelope: &Envelope) -> Option<Item> {
        let is_news = envelope.seq > self.heard;
        self.heard = self.heard.max(envelope.seq);
        match envelope.kind.as_str() {
            "gathering" => self.gathering(envelope, is_news),
            "notice" if circle::is_repeated(envelope) => None,
            "message" => Some(Item::Message(self.message(envelope))),
            "notice" => Some(notice(&envelope.content)),
            "turn" => {
                self.turn(serde_json::from_value(envelope.content.clone()).ok()?).map(Item::Status)
            }
            "control" => Some(Item::Status(format!(
                "{} {}",
                self.faces.name(&envelope.from),
                control_words(&envelope.content)
            ))),
            "permission" => self.permission(envelope),
            "thread.created" => None,
            "thread.renamed" => Some(Item::Status(format!(
                "the conversation was renamed to {}",
                words(&envelope.content)
            ))),
            "thread.archived" => Some(Item::Status("the conversation was archived".into())),
            "thread.deleted" => Some(Item::Status("the conversation was deleted".into())),
            "thread.unarchived" => Some(Item::Status("the conversation is open again".into())),
            kind => Some(Item::Status(format!(
                "{kind} by {}: {}",
                self.faces.name(&envelope.from),
                words(&envelope.content)
            ))),
        }
    }

    /// Applies an event of the gathering. Returns the first that applies: the call to this person
    /// to act, the announcement of this person's beat, or the text of the step. Calls and beats are
    /// returned only for new events.
    fn gathering(&mut self, envelope: &Envelope, is_news: bool) -> Option<Item> {
        let step = self.circle.hear(envelope)?;
        // A new gathering has a seed message of its own to show.
        self.seeded &= !(is_news && matches!(step, GatheringStep::Opened { .. }));
        let call = self.circle.call(&step, &self.me).filter(|_| is_news);
        if let Some(call) = call {
            return Some(Item::Alert(call));
        }
        let beat = self.circle.beat_of(&step, &self.me).filter(|_| is_news);
        let step_text = || circle::is_shown(envelope).then(|| self.circle.words(&step));
        beat.or_else(step_text).map(Item::Told)
    }

    /// Sets the gathering before its earlier messages are shown.
    pub fn gathers(&mut self, answer: &GatheringAnswer) {
        self.circle = Circle::earlier(answer);
    }

    /// Sets the current state of the gathering. Returns the items that only this person sees: the
    /// seed message, if it was not shown yet, and the pulse of a beat, if it was not shown yet.
    pub fn stands(&mut self, answer: &GatheringAnswer) -> Vec<Item> {
        self.circle = Circle::of(answer);
        let seed = answer.seed.as_ref().filter(|_| !std::mem::replace(&mut self.seeded, true));
        let beat = answer.since.clone().map(|since| (since, answer.beat));
        let pulse = answer.pulse.as_ref().filter(|_| self.pulse_of != beat);
        if pulse.is_some() {
            self.pulse_of = beat;
        }
        let texts = [seed.map(|seed| seed.trim_end().to_owned()), pulse.cloned()];
        texts.into_iter().flatten().map(Item::Told).collect()
    }

    /// Returns the gathering's current call to this person to act, if there is one.
    pub fn call(&self) -> Option<Item> {
        self.circle.call_now(&self.me).map(Item::Alert)
    }

    /// True if this person holds the talking piece or writes the harvest.
    pub fn is_on(&self) -> bool {
        self.circle.is_on(&self.me)
    }

    /// Describes the holder of the talking piece, or the writer of the harvest; `None` without
    /// either.
    pub fn piece(&self, now: Timestamp) -> Option<String> {
        self.circle.standing(&self.me, now)
    }

    /// Replaces the text of an error with a more precise one, if the gathering explains it.
    pub fn refused(&self, fault: Fault) -> Fault {
        match self.circle.refusal(&fault) {
            Some(what) => Fault { what, ..fault },
            None => fault,
        }
    }

    /// Applies a permission event to the open requests. Returns the item to show; `None` if the
    /// event is unreadable or reports a refused or expired outcome.
    fn permission(&mut self, envelope: &Envelope) -> Option<Item> {
        let news = permit::news(envelope)?;
        let asked = self.asks.all().iter().find(|asked| news.is_about(asked)).cloned();
        self.asks.take(&envelope.thread, envelope.seq, &envelope.ts, &news);
        let who = |id: &str| self.faces.name(id).to_owned();
        match news {
            PermissionEvent::Requested { .. } => {
                let asked = self.asks.all().last()?;
                let lines = asked.remarks().into_iter().chain(asked.answers());
                let below = lines.map(|line| format!("\n{line}")).collect::<String>();
                let mut how = format!(
                    "/permit allow {0}   /permit deny {0}   or the number of an answer",
                    envelope.seq
                );
                if asked.options.iter().any(|option| option.with_others) {
                    how.push_str(&format!("\n/permit 1,2 {}: several answers", envelope.seq));
                }
                if let Some(at) = asked.options.iter().position(|option| option.takes_text) {
                    how.push_str(&format!("\n/permit {} {}: your own text", at + 1, envelope.seq));
                }
                Some(Item::Alert(format!(
                    "{} asks for permission:\n{}{below}\n{how}",
                    who(&asked.participant),
                    asked.shown()
                )))
            }
            PermissionEvent::Answered { by, label, text, .. } => {
                let asker = asked
                    .map_or_else(String::new, |asked| format!(" to {}", who(&asked.participant)));
                Some(Item::Status(format!(
                    "{} answered {}{asker}",
                    who(&by),
                    permit::answer_text(&label, text.as_deref())
                )))
            }
            PermissionEvent::Withdrawn { because, .. } => {
                let asker =
                    asked.map_or_else(|| "the agent".to_owned(), |asked| who(&asked.participant));
                Some(Item::Status(match because.as_str() {
                    "not_given" => format!(
                        "{asker} asked something else before the answer arrived; the answer was \
                         discarded"
                    ),
                    "replaced" => format!("{asker} replaced its request"),
                    "left" => format!("{asker} has left; its request was withdrawn"),
                    _ => format!(
                        "the request of {asker} was withdrawn: it was answered at its terminal, \
                         or given up"
                    ),
                }))
            }
            PermissionEvent::Settled { participant, outcome, .. } => {
                let is_shown = !matches!(outcome.outcome.as_str(), "refused" | "expired");
                is_shown.then(|| Item::Status(outcome.line(&who(&participant))))
            }
            PermissionEvent::Expired { .. } => {
                let asker =
                    asked.map_or_else(|| "the agent".to_owned(), |asked| who(&asked.participant));
                Some(Item::Status(format!("the request of {asker} expired")))
            }
            PermissionEvent::GaveUp { .. } => {
                let asker =
                    asked.map_or_else(|| "the agent".to_owned(), |asked| who(&asked.participant));
                let ending = "got no answer in time and gave up; it may ask again";
                Some(Item::Status(format!("{asker} {ending}")))
            }
        }
    }

    /// Applies earlier requests, and returns those that are still open.
    pub fn recall(&mut self, earlier: &[Envelope]) -> Vec<Item> {
        let heard = self.heard;
        let items: Vec<_> =
            earlier.iter().map(|envelope| (envelope.seq, self.hear(envelope))).collect();
        // The requests may be newer than the state, and the events between are still to come as
        // news.
        self.heard = heard;
        let open = |seq: u64| self.asks.all().iter().any(|asked| asked.number == seq);
        items.into_iter().filter(|(seq, _)| open(*seq)).filter_map(|(_, item)| item).collect()
    }

    /// Applies a message: ends its turn and its author's presence, and stores its number for
    /// replies. Returns the message to show.
    fn message(&mut self, envelope: &Envelope) -> ShownMessage {
        if let Some(turn) = &envelope.meta.turn {
            self.turns.remove(turn);
        }
        self.presence.remove(&envelope.from);
        let human = self.is_person(&envelope.from);
        if human {
            // A person spoke: the agents' reactions are worth showing again.
            self.latest_status.clear();
        }
        if self.numbers.len() == NUMBERS_MAX {
            self.numbers.pop_front();
        }
        self.numbers.push_back((envelope.id.clone(), envelope.seq));
        let answered = envelope.meta.reply_to.as_ref().filter(|_| human);
        ShownMessage {
            number: Some(envelope.seq),
            from: envelope.from.clone(),
            to: Some(envelope.to.clone()).filter(|to| to != "all"),
            reply: answered.and_then(|id| {
                self.numbers.iter().find(|(known, _)| known == id).map(|(_, number)| *number)
            }),
            doubt: doubt(envelope),
            text: words_of(envelope).into_owned(),
            mark: mark(envelope).map(|mark| format!("({mark})")),
            fault: envelope.meta.error.as_ref().map(|fault| fault.message.clone()),
        }
    }

    /// Applies a turn event to the open turns. Returns a status line if the event matters to the
    /// person and the line differs from the participant's latest one.
    fn turn(&mut self, event: TurnEvent) -> Option<String> {
        match event {
            TurnEvent::Granted { turn, participant, kind, may_pass, .. } => {
                let listens = kind == "listen";
                self.turns.insert(
                    turn,
                    Turn {
                        participant,
                        listens,
                        addressed: !may_pass && !listens,
                        ..Turn::default()
                    },
                );
                None
            }
            TurnEvent::Widened { turn, kind, may_pass, .. } => {
                let open = self.turns.get_mut(&turn)?;
                open.listens = kind == "listen";
                open.addressed = !may_pass && !open.listens;
                None
            }
            TurnEvent::Released { turn } => {
                let name = self.turns.get(&turn)?.participant.clone();
                self.tell(&name, "is still working; the others continue")
            }
            TurnEvent::Started { turn, attempt, .. } => {
                let open = self.turns.get_mut(&turn)?;
                (open.running, open.attempt) = (true, attempt);
                None
            }
            TurnEvent::Lost { turn, .. } => {
                let open = self.turns.get_mut(&turn)?;
                (open.running, open.text) = (false, String::new());
                let name = open.participant.clone();
                self.tell(&name, "starts again, because the server was restarted")
            }
            TurnEvent::Ended { turn, participant, outcome, .. } => {
                let addressed = self.turns.remove(&turn).is_some_and(|turn| turn.addressed);
                self.asks.forget(&participant);
                match outcome.as_str() {
                    "passed" if addressed => None,
                    "passed" => self.tell(&participant, "passed"),
                    "cancelled" => self.tell(&participant, "was stopped"),
                    // Speech is shown as a message, and a failure has a message of its own.
                    _ => None,
                }
            }
            TurnEvent::Skipped { participant, why_not, .. } => match why_not.as_str() {
                "capped" => self.tell(&participant, "was not asked: there are enough replies"),
                "cooled" => self.tell(&participant, "was not asked: it has just spoken"),
                "offline" => self.tell(&participant, "is not connected"),
                "ended" => self.tell(&participant, "has ended"),
                "muted" => self.tell(&participant, "is muted"),
                _ => None,
            },
            // The author got the refusal as the answer to their request.
            TurnEvent::Kept { participant, because, .. } if because == "no_piece" => {
                if participant == self.me {
                    return None;
                }
                self.tell(&participant, "wrote without having the piece; the message is not shown")
            }
            // Some models send their thoughts with each answer; they stay in the trace.
            TurnEvent::Kept { because, .. } if because == "thought" => None,
            TurnEvent::Kept { participant, because, .. } => {
                self.tell(&participant, &format!("wrote a message that is not shown ({because})"))
            }
            TurnEvent::Unkept { participant, count, .. } => self.tell(
                &participant,
                &format!(
                    "is rejected repeatedly; {count} of its messages were counted, but not stored"
                ),
            ),
            TurnEvent::Taken { .. }
            | TurnEvent::RoundOpened { .. }
            | TurnEvent::ReactionOpened { .. }
            | TurnEvent::RoundClosed
            | TurnEvent::RoundReopened { .. }
            | TurnEvent::Summarised { .. }
            | TurnEvent::Facts { .. } => None,
        }
    }

    /// Returns a status line about a participant, unless it repeats the latest.
    fn tell(&mut self, participant: &str, what: &str) -> Option<String> {
        let before = self.latest_status.insert(participant.to_owned(), what.to_owned());
        (before.as_deref() != Some(what))
            .then(|| format!("{} {what}", self.faces.name(participant)))
    }

    /// Adds a piece of a running answer.
    pub fn delta(&mut self, delta: DeltaSignal) {
        let open = self.turns.entry(delta.turn).or_default();
        open.participant = delta.participant;
        open.running = true;
        if delta.attempt > open.attempt || delta.offset == 0 {
            (open.attempt, open.text) = (delta.attempt, String::new());
        }
        // Drop pieces after a gap, and pieces of an earlier attempt.
        if delta.attempt == open.attempt && open.text.is_char_boundary(delta.offset) {
            open.text.truncate(delta.offset);
            open.text.push_str(&delta.text);
        }
    }

    /// Stores a participant's presence.
    pub fn presence(&mut self, update: PresenceUpdate, now: Instant) {
        self.presence.insert(update.participant, (update.state, now));
    }

    /// Returns the running answers: participant, and text so far.
    pub fn writing(&self) -> impl Iterator<Item = (&str, &str)> {
        let writing = self.turns.values().filter(|turn| !turn.text.is_empty() && !turn.listens);
        writing.map(|turn| (turn.participant.as_str(), turn.text.as_str()))
    }

    /// Describes the current activity of the other participants.
    pub fn doing(&self, me: &str, now: Instant) -> Vec<String> {
        let thinking = self
            .turns
            .values()
            .filter(|turn| turn.text.is_empty() && turn.running && !turn.listens);
        let mut words: Vec<String> = thinking
            .map(|turn| format!("{} is thinking", self.faces.name(&turn.participant)))
            .collect();
        words.extend(
            self.writing()
                .map(|(participant, _)| format!("{} is writing", self.faces.name(participant))),
        );
        for (id, (state, since)) in &self.presence {
            let busy = ["thinking", "typing"].contains(&state.as_str())
                && now.duration_since(*since) < PRESENCE_TTL;
            // Turns already show an agent's activity.
            if busy && id != me && !self.agents.contains(id) {
                words.push(format!("{} is {state}", self.faces.name(id)));
            }
        }
        words
    }
}

fn notice(content: &Value) -> Item {
    let text = content.get("text").map_or_else(|| words(content), words);
    match content.get("code").and_then(Value::as_str) {
        Some("held") => Item::Alert(format!("{text} (type /resume)")),
        _ => Item::Status(text),
    }
}

/// Returns a string as it is, anything else as JSON.
fn words(content: &Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}

/// Describes changes, to follow the name of their author.
fn control_words(content: &Value) -> String {
    let Value::Object(changes) = content else { return "changed something".into() };
    let parts: Vec<String> =
        descriptions::each(changes).map(|(key, value)| change_words(key, value)).collect();
    parts.join(", ")
}

/// Describes one change of a control event, to be read after the author's name.
fn change_words(key: &str, value: &Value) -> String {
    let on = value.get("on").and_then(Value::as_bool).unwrap_or(true);
    let text =
        |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("a participant").to_owned();
    match key {
        "invite" => format!("invited {}", text("participant_id")),
        "uninvite" => format!("removed {}", text("participant_id")),
        "mute" => format!("muted {}", list(&value["targets"])),
        "unmute" => format!("unmuted {}", list(&value["targets"])),
        "pause" => if on { "paused the conversation" } else { "resumed the conversation" }.into(),
        "resume" => "lifted a guard".into(),
        "prod" => format!("asked {} to speak", list(value)),
        "bind" => format!("bound this conversation to {}", descriptions::bound(value)),
        "unbind" => format!("unbound this conversation from {}", descriptions::bound(value)),
        "policy" => format!("chose the policy {}", text("name")),
        "discussion" | "invited_auto" => format!("turned {key} {}", if on { "on" } else { "off" }),
        "config" => match value {
            Value::Object(keys) => keys
                .iter()
                .map(|(key, value)| format!("set {key} to {value}"))
                .collect::<Vec<_>>()
                .join(", "),
            _ => "changed the settings".into(),
        },
        key => format!("changed {key}"),
    }
}

fn list(value: &Value) -> String {
    let names: Vec<&str> =
        value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;
