//! Waits for the answers to one message, and prints them.
//!
//! Waits for each agent that is asked about the message, until the agent answers or passes. As soon
//! as only voluntary answers are open and a named agent has answered, they get a short extra time.
//! Answers to other messages, and reactions to answers, are not awaited. They are printed only at a
//! terminal, with a mark.

use std::collections::BTreeSet;
use std::time::Duration;

use moothall_surfaces::wire::{Envelope, PendingAnswers, TurnEntry, TurnList};
use tokio::time::Instant;

use super::Context;
use super::awaited::LiveAnswers;
use super::events::{self, EventSelection, FollowItem, Follower};
use super::outcome;
use super::permit::{self, PendingPermission};
use super::show::{View, is_conversation};
use super::why::goes_back_to;
use crate::client::{Client, segment};
use crate::fault::Fault;
use crate::paint::note;
use crate::threads::{self, Faces};

/// Interval between checks for pending answers while the stream is silent.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Longest wait for a named agent that takes no turns, because no end of a turn shows that it will
/// not answer.
const READER_WAIT: Duration = Duration::from_secs(30);

/// Longest wait for voluntary answers after the named agents have answered.
const VOLUNTEERS_WAIT: Duration = Duration::from_secs(2);

/// Kind of the answers that are still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// The answer of a named agent is open, or a voluntary one while no named agent has answered.
    Awaited,
    /// Only voluntary answers are open, and at least one named agent has answered.
    Voluntary,
    /// No answer is open.
    Nothing,
}

/// A message, with its turns and answers.
struct Answers<'a> {
    said: &'a Envelope,
    list: TurnList,
    heard: Vec<Envelope>,
}

/// Prints the answers to a message until none is open, then prints the outcome. Stops with an
/// error, without the outcome, if an awaited agent waits for a person's answer to a permission
/// request.
///
/// # Errors
/// The message was not answered, a permission request is open, or the server is unreachable or
/// refuses.
pub(super) async fn wait(context: &Context, said: &Envelope) -> Result<(), Fault> {
    let (client, thread) = (&context.client, said.thread.as_str());
    // Only the trace shows a turn that ends without a reply.
    let mut follow = Follower::new(client, thread, said.seq, EventSelection::Trace);
    // The message is stored, so the wait continues if the server restarts now.
    let look = async || about(client, said).await;
    let state = async || threads::state(client, thread).await;
    let first = follow.retry_until_reachable(state).await?;
    let mut live = LiveAnswers::of(context, &first);
    let mut view = View::new(context, thread, Faces::of(&first));
    let list = follow.retry_until_reachable(look).await?;
    let mut answers = Answers { said, list, heard: Vec::new() };
    let (until, mut voluntary_until) = (Instant::now() + READER_WAIT, None);
    let (mut shown, mut changed, mut asks) = (said.seq, false, true);
    let mut in_the_way = BTreeSet::new();
    loop {
        let is_due = live.as_ref().is_some_and(LiveAnswers::is_due);
        if changed || asks || is_due {
            live.iter_mut().for_each(LiveAnswers::clear);
        }
        if is_due {
            let state = follow.retry_until_reachable(state).await?;
            live.iter_mut().for_each(|live| live.update(&state));
        }
        if std::mem::take(&mut changed) {
            answers.list = follow.retry_until_reachable(look).await?;
        }
        if std::mem::take(&mut asks) {
            let state = follow.retry_until_reachable(state).await?;
            let holds = |asked: &PendingPermission| answers.are_kept_by(asked);
            follow
                .retry_until_reachable(async || permit::still_asked(context, &state, holds).await)
                .await?;
        }
        answers.note_waits(&mut in_the_way);
        let now = Instant::now();
        let is_over = match answers.rest() {
            Rest::Awaited => false,
            Rest::Voluntary => now >= *voluntary_until.get_or_insert(now + VOLUNTEERS_WAIT),
            Rest::Nothing => now >= until || !answers.are_read(),
        };
        if is_over {
            break;
        }
        live.iter_mut().for_each(|live| live.draw(|turn| answers.asks(turn)));
        // The wait is interrupted only between two frames, so no frame is lost.
        match tokio::time::timeout(LOOK_EVERY, follow.next()).await {
            Ok(Ok(FollowItem::Signal)) => {}
            Ok(Ok(FollowItem::Delta(delta))) => {
                live.iter_mut().for_each(|live| live.add(delta.clone()));
            }
            Ok(Ok(FollowItem::Event(envelope))) => {
                (shown, changed) = (envelope.seq, true);
                asks |= envelope.kind == "permission";
                if let Some(live) = &mut live {
                    live.clear();
                    live.hear(&envelope);
                }
                if is_conversation(&envelope) {
                    answers.list = follow.retry_until_reachable(look).await?;
                    answers.hear(&mut view, *envelope, live.is_some()).await?;
                }
            }
            Ok(Err(fault)) => return Err(fault),
            Err(_) => changed = true,
        }
    }
    let shows_others = live.take().is_some();
    let rest = async || {
        events::after(client, thread, shown, EventSelection::Conversation, is_conversation).await
    };
    for envelope in follow.retry_until_reachable(rest).await?.events {
        answers.hear(&mut view, envelope, shows_others).await?;
    }
    let state = follow.retry_until_reachable(state).await?;
    answers.note_rest(&Faces::of(&state));
    follow
        .retry_until_reachable(async || outcome::of(client, said, &state, &answers.heard).await)
        .await
}

/// Reads the turns about a message, and its pending answers.
async fn about(client: &Client, said: &Envelope) -> Result<TurnList, Fault> {
    let path = threads::path(&said.thread, "turns");
    client.get(&format!("{path}?message={}", segment(&said.id))).await
}

impl Answers<'_> {
    /// Returns the kind of the open answers. Until a named agent has answered, voluntary answers
    /// count as awaited ones.
    fn rest(&self) -> Rest {
        let is_open = |turn: &TurnEntry| turn.outcome.is_none() && turn.id.is_some();
        let (awaited, voluntary) = match &self.list.pending {
            Some(PendingAnswers { waits, must, may }) => {
                (*waits || !must.is_empty(), !may.is_empty())
            }
            // A server of an earlier version reports only its open turns.
            None => (self.list.turns.iter().any(is_open), false),
        };
        match (awaited, voluntary) {
            (false, false) => Rest::Nothing,
            (false, true) if self.has_named_answer() => Rest::Voluntary,
            _ => Rest::Awaited,
        }
    }

    fn has_named_answer(&self) -> bool {
        let spoke = |turn: &TurnEntry| turn.outcome.as_deref() == Some("spoke");
        let is_answer = |turn: &TurnEntry| self.is_own(turn) && !turn.may_pass && spoke(turn);
        self.list.turns.iter().any(is_answer)
    }

    /// Prints the obstacles that open turns about the message wait for, each text only once.
    /// `printed` holds the texts so far.
    fn note_waits(&self, printed: &mut BTreeSet<String>) {
        let is_open = |turn: &&TurnEntry| turn.outcome.is_none() && turn.id.is_some();
        let waiting = self.list.turns.iter().filter(is_open).filter(|turn| self.is_own(turn));
        for what in waiting.filter_map(|turn| turn.detail.as_ref()) {
            if printed.insert(what.clone()) {
                note(what);
            }
        }
    }

    /// Prints the names of the agents that may still answer, so that their silence does not look
    /// like a pass.
    fn note_rest(&self, faces: &Faces) {
        let may = self.list.pending.iter().flat_map(|pending| &pending.may);
        let names: Vec<_> = may.map(|id| faces.name(id)).collect();
        if !names.is_empty() {
            let thread = threads::short(&self.said.thread);
            note(&format!("{} may still answer: moothall tail {thread}", names.join(", ")));
        }
    }

    /// True if a named agent that takes no turns has not spoken yet.
    fn are_read(&self) -> bool {
        self.readers().any(|reader| self.heard.iter().all(|heard| heard.from != reader))
    }

    /// Returns the named participants that take no turns. These may answer at any time.
    fn readers(&self) -> impl Iterator<Item = &str> {
        let named = |id: &String| self.said.to == *id || self.said.meta.mentions.contains(id);
        let turns = self.list.turns.iter();
        let reads = move |turn: &&TurnEntry| {
            turn.why_not.as_deref() == Some("reads_only") && named(&turn.participant)
        };
        turns.filter(reads).map(|turn| turn.participant.as_str())
    }

    /// True if a turn is about the message itself, and not about an answer to it.
    fn is_own(&self, turn: &TurnEntry) -> bool {
        goes_back_to(turn, self.said) && turn.why.as_deref() != Some("reaction") && !turn.listens
    }

    /// True if this turn is about the message itself.
    fn asks(&self, turn: &str) -> bool {
        let is_it = |entry: &&TurnEntry| entry.id.as_deref() == Some(turn);
        self.list.turns.iter().find(is_it).is_some_and(|entry| self.is_own(entry))
    }

    /// True if an awaited answer cannot come before a person answers this permission request. A
    /// request without a turn blocks all turns of its agent.
    fn are_kept_by(&self, asked: &PendingPermission) -> bool {
        match &asked.turn {
            Some(turn) => self.asks(turn),
            None => self.is_awaited(&asked.participant),
        }
    }

    /// True if an open turn of this agent is about the message, or if the server says that the
    /// agent must or may still answer.
    fn is_awaited(&self, agent: &str) -> bool {
        let is_open = |turn: &TurnEntry| {
            let is_open = turn.id.is_some() && turn.outcome.is_none();
            turn.participant == agent && is_open && self.is_own(turn)
        };
        let mut pending = self.list.pending.iter();
        self.list.turns.iter().any(is_open)
            || pending.any(|list| list.must.iter().chain(&list.may).any(|id| id == agent))
    }

    /// True if an event answers the message. With a turn, the turn has to be about the message. A
    /// message without a turn has to reply to the message, or be by a named agent that takes no
    /// turns and reply to nothing.
    fn is_answer(&self, envelope: &Envelope) -> bool {
        let replies_to = envelope.meta.reply_to.as_ref();
        match envelope.meta.turn.as_deref() {
            Some(turn) => self.asks(turn),
            None => {
                envelope.kind == "message"
                    && (replies_to == Some(&self.said.id)
                        || (replies_to.is_none() && self.readers().any(|id| id == envelope.from)))
            }
        }
    }

    /// Prints and stores an answer to the message. With `shows_others`, prints other messages with
    /// a mark.
    async fn hear(
        &mut self,
        view: &mut View<'_>,
        envelope: Envelope,
        shows_others: bool,
    ) -> Result<(), Fault> {
        if self.is_answer(&envelope) {
            view.show(&envelope).await?;
            self.heard.push(envelope);
        } else if shows_others && envelope.kind == "message" {
            view.show_aside(&envelope).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn envelope(id: &str, from: &str, meta: Value) -> Envelope {
        let event = json!({
            "id": id, "seq": 1, "ts": "", "thread": "t", "type": "message", "from": from,
            "to": "all", "content": "", "meta": meta,
        });
        serde_json::from_value(event).unwrap()
    }

    fn turn(id: Option<&str>, of: &str, more: Value) -> TurnEntry {
        let cause = json!({"id": "m", "seq": 1, "from": "user", "depth": 0});
        let mut entry = json!({
            "id": id, "participant": of, "may_pass": false, "attempt": 1, "granted_at": "",
            "cause": cause, "message": "m",
        });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(entry).unwrap()
    }

    fn answers(said: &Envelope, turns: Vec<TurnEntry>) -> Answers<'_> {
        let list = TurnList { turns, head: 1, whole: true, unasked: Vec::new(), pending: None };
        Answers { said, list, heard: Vec::new() }
    }

    #[test]
    fn an_answer_is_of_a_turn_about_the_message_or_replies_to_it() {
        let said = envelope("m", "user", json!({"mentions": ["ada"]}));
        let answers = answers(
            &said,
            vec![
                turn(Some("t.1"), "a", json!({})),
                turn(Some("t.2"), "b", json!({"message": "n", "also_about": ["m"]})),
                turn(Some("t.3"), "a", json!({"why": "reaction"})),
                turn(Some("t.4"), "a", json!({"message": "n"})),
                turn(Some("t.5"), "a", json!({"listens": true})),
                turn(None, "ada", json!({"why_not": "reads_only"})),
            ],
        );
        let is_answer = |from, meta| answers.is_answer(&envelope("x", from, meta));
        let of_turns = ["t.1", "t.2", "t.3", "t.4", "t.5", "t.6"]
            .map(|turn| is_answer("a", json!({"turn": turn})));
        assert_eq!(of_turns, [true, true, false, false, false, false]);
        assert!(is_answer("user", json!({"reply_to": "m"})));
        assert!(!is_answer("ada", json!({"reply_to": "n"})));
        assert!(is_answer("ada", json!({})) && !is_answer("bob", json!({})));
    }

    #[test]
    fn a_question_keeps_answers_if_its_agent_has_a_turn_of_this_message() {
        let said = envelope("m", "user", json!({}));
        let mut answers = answers(
            &said,
            vec![
                turn(Some("t.1"), "a", json!({})),
                turn(Some("t.2"), "b", json!({"message": "n"})),
                turn(Some("t.3"), "c", json!({"outcome": "spoke"})),
                turn(None, "e", json!({"why_not": "muted"})),
            ],
        );
        let pending = PendingAnswers { waits: false, must: vec!["d".into()], may: vec![] };
        answers.list.pending = Some(pending);
        let asked = |turn: Option<&str>, participant: &str| {
            answers.are_kept_by(&PendingPermission {
                thread: "t".into(),
                permission: "p".into(),
                number: 1,
                since: String::new(),
                turn: turn.map(str::to_owned),
                participant: participant.into(),
                action: String::new(),
                detail: None,
                complete: true,
                options: Vec::new(),
                folder: None,
                look: None,
            })
        };
        assert!(asked(Some("t.1"), "a") && !asked(Some("t.2"), "b"));
        let in_no_turn = ["a", "b", "c", "d", "e"].map(|agent| asked(None, agent));
        assert_eq!(in_no_turn, [true, false, false, true, false]);
    }

    #[test]
    fn agents_that_may_answer_are_waited_for_until_a_named_one_has() {
        let said = envelope("m", "user", json!({}));
        let rest = |turns, waits, must: &[&str], may: &[&str]| {
            let ids = |list: &[&str]| list.iter().map(ToString::to_string).collect();
            let mut answers = answers(&said, turns);
            let pending = PendingAnswers { waits, must: ids(must), may: ids(may) };
            answers.list.pending = Some(pending);
            answers.rest()
        };
        let spoke = |may_pass| {
            vec![turn(Some("t.1"), "a", json!({"outcome": "spoke", "may_pass": may_pass}))]
        };
        assert_eq!(rest(vec![], true, &[], &[]), Rest::Awaited);
        assert_eq!(rest(spoke(false), false, &["b"], &["c"]), Rest::Awaited);
        assert_eq!(rest(spoke(false), false, &[], &["c"]), Rest::Voluntary);
        assert_eq!(rest(spoke(true), false, &[], &["c"]), Rest::Awaited);
        assert_eq!(rest(spoke(false), false, &[], &[]), Rest::Nothing);
    }

    #[test]
    fn a_named_agent_that_takes_no_turns_is_waited_for_until_it_speaks() {
        let said = envelope("m", "user", json!({"mentions": ["ada"]}));
        let reads = |of| turn(None, of, json!({"why_not": "reads_only"}));
        assert!(!answers(&said, vec![reads("bob")]).are_read(), "it is not named");
        let mut answers = answers(&said, vec![reads("ada"), reads("bob")]);
        assert!(answers.are_read());
        answers.heard.push(envelope("x", "ada", json!({})));
        assert!(!answers.are_read());
    }
}
