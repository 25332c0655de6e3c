//! What a person in the conversation has to know: pure, fed with what the server tells.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use moothall_kernel::ids::ParticipantId;
use moothall_surfaces::wire::{
    DeltaSignal, Envelope, PresenceUpdate, ThreadStateAnswer, TurnEvent,
};
use serde_json::Value;

use crate::commands::permit::{self, News, Open};
use crate::commands::said;
use crate::commands::show::{doubt, words_of};
use crate::threads::Faces;

/// Messages whose numbers are known, to reply to.
const NUMBERS_MAX: usize = 5000;
/// How long a presence counts, as the server counts it.
const PRESENCE_TTL: Duration = Duration::from_secs(120);

/// Something to show, once and for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// What somebody said.
    Message(Said),
    /// What happened, in a few words.
    Status(String),
    /// What a person has to do something about.
    Alert(String),
}

/// What somebody said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Its number; none while it is on its way.
    pub number: Option<u64>,
    /// Whose words.
    pub from: String,
    /// Whom they address, if one.
    pub to: Option<String>,
    /// The number of the message that they reply to, where a person chose it.
    pub reply: Option<u64>,
    /// What keeps them from being surely the speaker's.
    pub doubt: Option<String>,
    /// The words.
    pub text: String,
    /// What went wrong, when they say that an agent failed.
    pub fault: Option<String>,
}

/// An open turn.
#[derive(Clone, Debug, Default)]
struct Turn {
    participant: String,
    running: bool,
    /// It only listens: what it says stays in the trace.
    listens: bool,
    /// It was addressed, so that a pass has a notice of its own.
    addressed: bool,
    attempt: u32,
    /// What came of it so far.
    text: String,
}

/// A conversation as it is followed.
#[derive(Debug, Default)]
pub struct Room {
    /// The conversation's title.
    pub name: String,
    /// How participants are shown.
    pub faces: Faces,
    agents: BTreeSet<String>,
    people: BTreeSet<String>,
    invited: BTreeSet<String>,
    /// Ids and numbers of messages.
    numbers: VecDeque<(String, u64)>,
    turns: BTreeMap<String, Turn>,
    presence: BTreeMap<String, (String, Instant)>,
    /// What was said last about a participant, so that it is not said again.
    told: BTreeMap<String, String>,
    /// What agents ask permission for.
    pub asks: Open,
    /// Why agents stand still, if they do.
    pub still: Option<&'static str>,
    /// The newest position heard of.
    pub heard: u64,
}

impl Room {
    /// A conversation, with the turns that are open now.
    pub fn new(answer: &ThreadStateAnswer) -> Self {
        let mut room = Self { heard: answer.head, ..Self::default() };
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

    /// Takes down who is here and whether agents stand still.
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
            (_, true, _) => Some("paused: /resume goes on"),
            (Some(_), ..) => Some("agents are held: say something, or /resume"),
            _ => None,
        };
    }

    /// Whether somebody with this id was invited.
    pub fn knows(&self, id: &str) -> bool {
        self.invited.contains(id)
    }

    /// `user`, and who was invited as a person; everybody else counts as an agent.
    fn is_person(&self, id: &str) -> bool {
        id == ParticipantId::USER || self.people.contains(id)
    }

    /// What somebody should know who speaks here without counting as a person.
    pub fn stranger(&self, id: &str) -> Option<String> {
        let word = || {
            format!(
                "{id} is not invited as a person, so words of {id} count as an agent's: /invite human id={id}"
            )
        };
        (!self.is_person(id) && !self.invited.contains(id)).then(word)
    }

    /// The id of the message with this number.
    pub fn id_of(&self, number: u64) -> Option<&str> {
        self.numbers.iter().rev().find(|(_, known)| *known == number).map(|(id, _)| id.as_str())
    }

    /// Whether turns are open.
    pub fn is_busy(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Whether such an event may change who is here, or whether agents stand still.
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

    /// Takes an event; gives what is to be shown of it.
    pub fn hear(&mut self, envelope: &Envelope) -> Option<Item> {
        self.heard = self.heard.max(envelope.seq);
        match envelope.kind.as_str() {
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
                "the conversation is called {} now",
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

    fn permission(&mut self, envelope: &Envelope) -> Option<Item> {
        let news = permit::news(envelope)?;
        let asked = self.asks.all().iter().find(|asked| news.is_about(asked)).cloned();
        self.asks.take(envelope.seq, &news);
        let who = |id: &str| self.faces.name(id).to_owned();
        match news {
            News::Requested { .. } => {
                let asked = self.asks.all().last()?;
                let lines = asked.remarks().into_iter().chain(asked.answers());
                let below = lines.map(|line| format!("\n{line}")).collect::<String>();
                let mut how = format!(
                    "/permit allow {0}   /permit deny {0}   or a number in place of the word",
                    envelope.seq
                );
                if let Some(at) = asked.options.iter().position(|option| option.takes_text) {
                    how.push_str(&format!(
                        "\n/permit {} {}: words of your own",
                        at + 1,
                        envelope.seq
                    ));
                }
                Some(Item::Alert(format!(
                    "{} asks for permission:\n{}{below}\n{how}",
                    who(&asked.participant),
                    asked.action
                )))
            }
            News::Answered { by, label, text, .. } => {
                let asker = asked
                    .map_or_else(String::new, |asked| format!(" to {}", who(&asked.participant)));
                Some(Item::Status(format!(
                    "{} said {}{asker}",
                    who(&by),
                    permit::said(&label, text.as_deref())
                )))
            }
            News::Withdrawn { because, .. } => {
                let asker =
                    asked.map_or_else(|| "somebody".to_owned(), |asked| who(&asked.participant));
                Some(Item::Status(match because.as_str() {
                    "not_given" => format!(
                        "{asker} asked something else before the answer got there: it was given to nobody"
                    ),
                    "replaced" => format!("{asker} asks something else now"),
                    _ => format!(
                        "{asker} does not ask that any more: it was answered at its terminal, or given up"
                    ),
                }))
            }
            News::Settled { participant, outcome, name, why, .. } => {
                let asker = who(&participant);
                Some(Item::Status(match (outcome.as_str(), name, why) {
                    ("started", Some(name), _) => format!("what {asker} asked for runs as {name}"),
                    ("failed", _, Some(why)) => {
                        format!("what {asker} asked for could not be started: {why}")
                    }
                    _ => return None,
                }))
            }
            News::Expired { .. } => {
                let asker =
                    asked.map_or_else(|| "somebody".to_owned(), |asked| who(&asked.participant));
                Some(Item::Status(format!("nobody answered {asker} in time")))
            }
        }
    }

    /// Takes what was asked before, and gives what is asked still.
    pub fn recall(&mut self, earlier: &[Envelope]) -> Vec<Item> {
        let heard = self.heard;
        let items: Vec<_> =
            earlier.iter().map(|envelope| (envelope.seq, self.hear(envelope))).collect();
        self.heard = heard;
        let open = |seq: u64| self.asks.all().iter().any(|asked| asked.number == seq);
        items.into_iter().filter(|(seq, _)| open(*seq)).filter_map(|(_, item)| item).collect()
    }

    fn message(&mut self, envelope: &Envelope) -> Said {
        if let Some(turn) = &envelope.meta.turn {
            self.turns.remove(turn);
        }
        self.presence.remove(&envelope.from);
        let human = self.is_person(&envelope.from);
        if human {
            // What agents do about it is news again.
            self.told.clear();
        }
        if self.numbers.len() == NUMBERS_MAX {
            self.numbers.pop_front();
        }
        self.numbers.push_back((envelope.id.clone(), envelope.seq));
        let answered = envelope.meta.reply_to.as_ref().filter(|_| human);
        Said {
            number: Some(envelope.seq),
            from: envelope.from.clone(),
            to: Some(envelope.to.clone()).filter(|to| to != "all"),
            reply: answered.and_then(|id| {
                self.numbers.iter().find(|(known, _)| known == id).map(|(_, number)| *number)
            }),
            doubt: doubt(envelope),
            text: words_of(envelope).into_owned(),
            fault: envelope.meta.error.as_ref().map(|fault| fault.message.clone()),
        }
    }

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
                self.tell(&name, "is still working; the others go on")
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
                self.tell(&name, "begins again: the server was restarted")
            }
            TurnEvent::Ended { turn, participant, outcome, .. } => {
                let addressed = self.turns.remove(&turn).is_some_and(|turn| turn.addressed);
                self.asks.forget(&participant);
                match outcome.as_str() {
                    "passed" if addressed => None,
                    "passed" => self.tell(&participant, "passed"),
                    "cancelled" => self.tell(&participant, "was stopped"),
                    // What was said is shown, and what failed has a message of its own.
                    _ => None,
                }
            }
            TurnEvent::Skipped { participant, why_not, .. } => match why_not.as_str() {
                "capped" => self.tell(&participant, "was not asked: there are enough replies"),
                "cooled" => self.tell(&participant, "was not asked: it has just spoken"),
                "offline" => self.tell(&participant, "is not connected"),
                "muted" => self.tell(&participant, "is muted"),
                _ => None,
            },
            TurnEvent::Kept { participant, because, .. } => {
                self.tell(&participant, &format!("said something that is not shown ({because})"))
            }
            TurnEvent::Unkept { participant, count, .. } => self.tell(
                &participant,
                &format!(
                    "is refused again and again; {count} of its messages are counted and not kept"
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

    /// Says something about a participant, unless that was said last.
    fn tell(&mut self, participant: &str, what: &str) -> Option<String> {
        let before = self.told.insert(participant.to_owned(), what.to_owned());
        (before.as_deref() != Some(what))
            .then(|| format!("{} {what}", self.faces.name(participant)))
    }

    /// Takes a piece of a running answer.
    pub fn delta(&mut self, delta: DeltaSignal) {
        let open = self.turns.entry(delta.turn).or_default();
        open.participant = delta.participant;
        open.running = true;
        if delta.attempt > open.attempt || delta.offset == 0 {
            (open.attempt, open.text) = (delta.attempt, String::new());
        }
        // After a gap, or from an attempt that is over, a piece has no place.
        if delta.attempt == open.attempt && open.text.is_char_boundary(delta.offset) {
            open.text.truncate(delta.offset);
            open.text.push_str(&delta.text);
        }
    }

    /// Takes how somebody is.
    pub fn presence(&mut self, update: PresenceUpdate, now: Instant) {
        self.presence.insert(update.participant, (update.state, now));
    }

    /// The answers that are being written: whose, and what there is so far.
    pub fn writing(&self) -> impl Iterator<Item = (&str, &str)> {
        let writing = self.turns.values().filter(|turn| !turn.text.is_empty() && !turn.listens);
        writing.map(|turn| (turn.participant.as_str(), turn.text.as_str()))
    }

    /// What goes on right now, in a few words; nothing about oneself.
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
            // What an agent does is told by its turns.
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

/// Text as it is, anything else as JSON.
fn words(content: &Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}

/// What somebody changed, after their name.
fn control_words(content: &Value) -> String {
    let Value::Object(changes) = content else { return "changed something".into() };
    let parts: Vec<String> =
        said::each(changes).map(|(key, value)| change_words(key, value)).collect();
    parts.join(", ")
}

fn change_words(key: &str, value: &Value) -> String {
    let on = value.get("on").and_then(Value::as_bool).unwrap_or(true);
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("somebody").to_owned();
    match key {
        "invite" => format!("invited {}", text("participant_id")),
        "uninvite" => format!("removed {}", text("participant_id")),
        "mute" => format!("muted {}", list(&value["targets"])),
        "unmute" => format!("unmuted {}", list(&value["targets"])),
        "pause" => if on { "paused the conversation" } else { "let the conversation go on" }.into(),
        "resume" => "let the agents go on".into(),
        "prod" => format!("asked {} to speak", list(value)),
        "bind" => format!("made this {}", said::bound(value)),
        "unbind" => format!("let go of {}", said::bound(value)),
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
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn event(seq: u64, kind: &str, from: &str, content: Value, meta: Value) -> Envelope {
        serde_json::from_value(json!({"id": format!("id{seq}"), "seq": seq, "ts": "2026-01-01T00:00:00.000Z", "thread": "t",
            "type": kind, "from": from, "to": "all", "content": content, "meta": meta}))
        .unwrap()
    }

    fn turn(seq: u64, content: Value) -> Envelope {
        event(seq, "turn", "moothall", content, json!({}))
    }

    fn granted(seq: u64, turn_id: &str, who: &str) -> Envelope {
        turn(
            seq,
            json!({"event": "granted", "turn": turn_id, "participant": who, "why": "forced", "kind": "reply", "may_pass": true,
            "cause": {"id": "x", "seq": 1, "from": "user", "depth": 0}, "expires": ""}),
        )
    }

    fn started(seq: u64, turn_id: &str) -> Envelope {
        turn(
            seq,
            json!({"event": "started", "turn": turn_id, "attempt": 1, "from_seq": 0, "through_seq": 1, "deadline": ""}),
        )
    }

    fn ended(seq: u64, turn_id: &str, who: &str, outcome: &str) -> Envelope {
        let usage =
            json!({"seconds": 0.0, "input_tokens": 0, "output_tokens": 0, "cost_micros": 0});
        turn(
            seq,
            json!({"event": "ended", "turn": turn_id, "participant": who, "attempt": 1, "outcome": outcome, "usage": usage}),
        )
    }

    fn delta(turn: &str, attempt: u32, offset: usize, text: &str) -> DeltaSignal {
        DeltaSignal {
            turn: turn.into(),
            attempt,
            participant: "writer".into(),
            offset,
            text: text.into(),
        }
    }

    fn room() -> Room {
        Room { agents: ["writer".to_owned(), "critic".to_owned()].into(), ..Room::default() }
    }

    fn status(text: &str) -> Option<Item> {
        Some(Item::Status(text.into()))
    }

    #[test]
    fn an_answer_grows_and_settles_once() {
        let mut room = room();
        assert_eq!(room.hear(&granted(1, "t.1", "writer")), None);
        room.hear(&started(2, "t.1"));
        assert_eq!(room.doing("user", Instant::now()), ["writer is thinking"]);
        room.delta(delta("t.1", 1, 0, "Hé"));
        room.delta(delta("t.1", 1, 3, "llo"));
        room.delta(delta("t.1", 1, 3, "llo"));
        room.delta(delta("t.1", 1, 2, "?"));
        room.delta(delta("t.1", 1, 99, "?"));
        assert_eq!(room.writing().collect::<Vec<_>>(), [("writer", "Héllo")]);
        let settled = room.hear(&event(
            3,
            "message",
            "writer",
            json!("Héllo."),
            json!({"turn": "t.1", "reply_to": "id0"}),
        ));
        assert!(
            matches!(settled, Some(Item::Message(said)) if said.text == "Héllo." && said.reply.is_none())
        );
        assert_eq!(room.writing().count(), 0);
        assert_eq!(room.hear(&ended(4, "t.1", "writer", "spoke")), None);
        assert!(!room.is_busy());
    }

    #[test]
    fn a_new_attempt_begins_anew_and_an_old_one_is_over() {
        let mut room = room();
        room.delta(delta("t.1", 1, 0, "first"));
        room.delta(delta("t.1", 2, 0, "second"));
        room.delta(delta("t.1", 1, 5, " more"));
        assert_eq!(room.writing().collect::<Vec<_>>(), [("writer", "second")]);
    }

    #[test]
    fn what_listeners_say_is_not_shown() {
        let mut room = room();
        let mut listen = granted(1, "t.1", "writer");
        listen.content["kind"] = json!("listen");
        room.hear(&listen);
        room.hear(&started(2, "t.1"));
        room.delta(delta("t.1", 1, 0, "private"));
        assert_eq!(
            (room.writing().count(), room.doing("user", Instant::now()).len(), room.is_busy()),
            (0, 0, true)
        );
    }

    #[test]
    fn silence_is_told_once_for_each_human_message() {
        let mut room = room();
        assert_eq!(room.hear(&ended(1, "t.1", "critic", "passed")), status("critic passed"));
        assert_eq!(room.hear(&ended(2, "t.2", "critic", "passed")), None);
        room.hear(&event(3, "message", "user", json!("well?"), json!({})));
        assert_eq!(room.hear(&ended(4, "t.3", "critic", "passed")), status("critic passed"));
        assert_eq!(
            room.hear(&ended(5, "t.4", "critic", "cancelled")),
            status("critic was stopped")
        );
    }

    #[test]
    fn a_pass_that_has_a_notice_is_told_once() {
        let mut room = room();
        let mut addressed = granted(1, "t.1", "critic");
        addressed.content["may_pass"] = json!(false);
        room.hear(&addressed);
        assert_eq!(room.hear(&ended(2, "t.1", "critic", "passed")), None);
        let notice = event(
            3,
            "notice",
            "moothall",
            json!({"code": "passed", "text": "critic was addressed and passed."}),
            json!({}),
        );
        assert_eq!(room.hear(&notice), status("critic was addressed and passed."));
    }

    #[test]
    fn replies_of_people_say_to_what() {
        let mut room = room();
        room.hear(&event(7, "message", "writer", json!("a"), json!({})));
        let answer =
            room.hear(&event(9, "message", "user", json!("b"), json!({"reply_to": "id7"})));
        assert!(matches!(answer, Some(Item::Message(said)) if said.reply == Some(7)));
        assert_eq!((room.id_of(7), room.id_of(8), room.heard), (Some("id7"), None, 9));
    }

    #[test]
    fn guards_and_controls_are_said_in_words() {
        let mut room = room();
        let held = room.hear(&event(
            1,
            "notice",
            "moothall",
            json!({"code": "held", "guard": "pair", "text": "Too often."}),
            json!({}),
        ));
        assert_eq!(held, Some(Item::Alert("Too often. (type /resume)".into())));
        let control = |content: Value| event(2, "control", "user", content, json!({}));
        assert_eq!(
            room.hear(&control(json!({"mute": {"targets": ["critic", "writer"]}}))),
            status("user muted critic, writer")
        );
        assert_eq!(
            room.hear(&control(json!({"pause": {"on": false}}))),
            status("user let the conversation go on")
        );
        assert_eq!(
            room.hear(&control(json!({"config": {"cooldown_seconds": 5}}))),
            status("user set cooldown_seconds to 5")
        );
    }

    #[test]
    fn a_permission_is_a_card_until_somebody_answers() {
        let mut room = room();
        let permission =
            |seq: u64, content: Value| event(seq, "permission", "moothall", content, json!({}));
        let asks = json!({"event": "requested", "permission": "p1", "turn": "t.1", "participant": "writer", "action": "rm -r build",
            "complete": false, "folder": "/src", "look": "moothall attach writer", "expires": "",
            "options": [{"id": "1", "label": "Yes", "kind": "allow_once"}, {"id": "2", "label": "No", "kind": "reject_once"}]});
        let card = "writer asks for permission:\nrm -r build\nin /src\nthis is not all of it; look at the whole of it first: \
            moothall attach writer\n1. Yes\n2. No\n/permit allow 5   /permit deny 5   or a number in place of the word";
        assert_eq!(room.hear(&permission(5, asks.clone())), Some(Item::Alert(card.into())));
        let answered = json!({"event": "answered", "permission": "p1", "by": "user", "option": "2", "label": "No"});
        assert_eq!(room.hear(&permission(6, answered.clone())), status("user said No to writer"));
        assert!(room.asks.all().is_empty());
        let mut late = self::room();
        late.heard = 9;
        assert_eq!(late.recall(&[permission(5, asks.clone()), permission(6, answered)]), []);
        assert_eq!(late.recall(&[permission(5, asks)]), [Item::Alert(card.into())]);
        assert_eq!(late.heard, 9);
        late.hear(&ended(10, "t.1", "writer", "cancelled"));
        assert!(late.asks.all().is_empty(), "what was asked for is of no interest any more");
    }

    #[test]
    fn people_are_seen_typing_for_a_while() {
        let mut room = room();
        let now = Instant::now();
        let update = |who: &str| PresenceUpdate {
            thread: "t".into(),
            participant: who.into(),
            state: "typing".into(),
            updated_at: String::new(),
            details: None,
        };
        for who in ["ann", "user", "writer"] {
            room.presence(update(who), now);
        }
        assert_eq!(room.doing("user", now), ["ann is typing"]);
        assert_eq!(room.doing("user", now + PRESENCE_TTL), Vec::<String>::new());
    }
}
