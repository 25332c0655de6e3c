//! A streamed answer as a list of steps, played when the body is read.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;

use super::OpenAnswer;
use super::reply::{Act, ConnectionFate, Gate, Reply};
use super::wire::{Speech, Wire};

/// Bytes of an overlong event sent at once.
const FLOOD_CHUNK_BYTES: usize = 64 * 1024;

/// One step of a streamed answer.
enum Step {
    Send(Bytes),
    Wait(Gate),
    Rest(Duration),
    Repeat(Bytes),
    Hang,
    Break,
}

/// Plays an answer. It counts as in progress until it ends or its reader disconnects.
pub(super) fn body(wire: Wire, speech: &Speech, reply: &Reply, open: OpenAnswer) -> Body {
    play(steps(wire, speech, reply), open)
}

/// Returns an endless body without meaning.
pub(super) fn endless(open: OpenAnswer) -> Body {
    play(VecDeque::from([Step::Repeat(Bytes::from(vec![b'x'; FLOOD_CHUNK_BYTES]))]), open)
}

/// Sends the first half of a text and breaks the connection.
pub(super) fn half(text: &str, open: OpenAnswer) -> Body {
    let bytes = Bytes::copy_from_slice(&text.as_bytes()[..text.len() / 2]);
    raw(&[bytes], ConnectionFate::Breaks, open)
}

/// Sends the bytes of a test unchanged.
pub(super) fn raw(pieces: &[Bytes], then: ConnectionFate, open: OpenAnswer) -> Body {
    let end = match then {
        ConnectionFate::Ends => None,
        ConnectionFate::Breaks => Some(Step::Break),
        ConnectionFate::Holds => Some(Step::Hang),
    };
    play(pieces.iter().cloned().map(Step::Send).chain(end).collect(), open)
}

fn play(steps: VecDeque<Step>, open: OpenAnswer) -> Body {
    Body::from_stream(stream::unfold((steps, open), |(mut steps, open)| async move {
        loop {
            match steps.pop_front()? {
                Step::Send(bytes) => return Some((Ok(bytes), (steps, open))),
                Step::Wait(gate) => gate.pass().await,
                Step::Rest(pace) => tokio::time::sleep(pace).await,
                Step::Repeat(bytes) => {
                    steps.push_front(Step::Repeat(bytes.clone()));
                    return Some((Ok(bytes), (steps, open)));
                }
                Step::Hang => std::future::pending().await,
                Step::Break => {
                    // Yield once, so that the bytes before the error are sent. Without it they
                    // would be discarded.
                    tokio::task::yield_now().await;
                    return Some((Err(io::Error::other("as scripted")), (steps, open)));
                }
            }
        }
    }))
}

fn steps(wire: Wire, speech: &Speech, reply: &Reply) -> VecDeque<Step> {
    let mut steps =
        Steps { wire, speech, gate: reply.gate.as_ref(), pace: reply.pace, steps: VecDeque::new() };
    steps.send(wire.opening(speech));
    match &reply.act {
        Act::Say(pieces) => {
            steps.say(pieces);
            steps.send(wire.closing(speech));
        }
        Act::Call { .. } => {
            steps.send(wire.call(speech));
            steps.send(wire.closing(speech));
        }
        Act::Stall(pieces) => {
            steps.say(pieces);
            steps.push(Step::Hang);
        }
        Act::Break(pieces) => {
            steps.say(pieces);
            steps.half(&wire.piece(speech, "é"), "é");
        }
        Act::End(pieces) => steps.say(pieces),
        Act::BreakInCall => steps.half(&wire.call(speech), "Par"),
        Act::Endless(piece) => steps.push(Step::Repeat(wire.piece(speech, piece).into())),
        Act::Flood(bytes) => steps.flood(*bytes),
        Act::Fail { after, kind, message } => {
            steps.say(after);
            steps.send(wire.failure(kind, message));
        }
        // These acts have no stream.
        Act::Refuse { .. } | Act::RefuseEndlessly | Act::Hang | Act::Page | Act::Raw { .. } => {}
    }
    steps.steps
}

struct Steps<'a> {
    wire: Wire,
    speech: &'a Speech,
    gate: Option<&'a Gate>,
    pace: Duration,
    steps: VecDeque<Step>,
}

impl Steps<'_> {
    fn push(&mut self, step: Step) {
        self.steps.push_back(step);
    }

    fn send(&mut self, text: String) {
        if !text.is_empty() {
            self.push(Step::Send(text.into()));
        }
    }

    fn say(&mut self, pieces: &[String]) {
        for piece in pieces {
            if let Some(gate) = self.gate {
                self.push(Step::Wait(gate.clone()));
            }
            if !self.pace.is_zero() {
                self.push(Step::Rest(self.pace));
            }
            self.send(self.wire.piece(self.speech, piece));
        }
    }

    /// Sends the event up to one byte into the mark, and breaks the connection.
    fn half(&mut self, event: &str, mark: &str) {
        let end = event.find(mark).map_or(event.len() / 2, |at| at + 1);
        self.push(Step::Send(Bytes::copy_from_slice(&event.as_bytes()[..end])));
        self.push(Step::Break);
    }

    fn flood(&mut self, bytes: usize) {
        let event = self.wire.piece(self.speech, "\u{1}");
        // JSON escapes a control character, so that its position is found in any text.
        let Some((head, tail)) = event.split_once("\\u0001") else { return };
        self.send(head.to_owned());
        let chunk = Bytes::from(vec![b'x'; FLOOD_CHUNK_BYTES]);
        for _ in 0..bytes / FLOOD_CHUNK_BYTES {
            self.push(Step::Send(chunk.clone()));
        }
        self.send(tail.to_owned());
        self.send(self.wire.closing(self.speech));
    }
}
