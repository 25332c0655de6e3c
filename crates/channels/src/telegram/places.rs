//! The chats in which the bots are, as far as Telegram's updates and answers show them. The list is
//! only in memory. After a restart it is collected again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

use super::bot::Bot;
use super::room::Room;

/// Number of messages of basic groups whose place among equal ones is remembered.
const EQUALS_MAX: usize = 1_000;

/// A chat in which bots are.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The chat's title.
    pub title: String,
    /// The agents whose bots are known to be in the chat, with true if the bot receives all
    /// messages there.
    pub bots: BTreeMap<String, bool>,
    /// The agents whose bots are known to be outside: removed, or refused there.
    pub gone: BTreeSet<String>,
    /// The agents whose bots do not receive all messages, if a line in the chat has already said
    /// so.
    pub told_deaf: BTreeSet<String>,
    /// Time at which the chat began to wait for a person who opens it.
    pub waiting_since: Option<Instant>,
}

impl Place {
    /// True if the bot of an agent is known to be in the chat, or known to be outside.
    pub fn knows(&self, agent: &str) -> bool {
        self.bots.contains_key(agent) || self.gone.contains(agent)
    }

    /// True if several bots are in the chat and at least one of them does not receive all messages,
    /// so that the messages can arrive in a wrong order.
    pub fn is_heard_in_parts(&self) -> bool {
        self.bots.len() > 1 && self.bots.values().any(|hears| !hears)
    }
}

/// The chats that the bots know.
#[derive(Default)]
pub struct Places {
    places: Mutex<BTreeMap<i64, Place>>,
    /// The newest messages of basic groups, with the text that equal messages have in common.
    equals: Mutex<VecDeque<(MessageId, String)>>,
    /// Groups that became supergroups, with their new ids.
    moved: Mutex<BTreeMap<i64, i64>>,
}

/// A message as Telegram numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId {
    chat: i64,
    /// The bot that sees the message under this number; `None` in supergroups, in which the numbers
    /// are the same for all bots.
    seen_by: Option<i64>,
    number: i64,
}

impl MessageId {
    /// Returns the id of a message that a bot sees in a chat.
    pub fn new(bot: &Bot, chat: i64, number: i64) -> Self {
        let is_shared = Room::new(chat, None).is_supergroup();
        Self { chat, seen_by: (!is_shared).then(|| bot.id()), number }
    }

    /// Returns the number of the message.
    pub fn number(self) -> i64 {
        self.number
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Places {
    /// Changes the known facts of a chat, and returns the result of the change.
    pub fn change<T>(&self, chat: i64, change: impl FnOnce(&mut Place) -> T) -> T {
        change(lock(&self.places).entry(chat).or_default())
    }

    /// Returns the known facts of a chat.
    pub fn get(&self, chat: i64) -> Option<Place> {
        lock(&self.places).get(&chat).cloned()
    }

    /// Forgets all places of the bot of an agent, because the agent has another bot now, or none.
    pub fn forget_bot(&self, agent: &str) {
        for place in lock(&self.places).values_mut() {
            place.bots.remove(agent);
            place.gone.remove(agent);
            place.told_deaf.remove(agent);
        }
    }

    /// Forgets a chat.
    pub fn remove(&self, chat: i64) {
        lock(&self.places).remove(&chat);
    }

    /// Returns all chats.
    pub fn all(&self) -> Vec<(i64, Place)> {
        lock(&self.places).iter().map(|(chat, place)| (*chat, place.clone())).collect()
    }

    /// Notes that a group has another id now.
    pub fn note_move(&self, from: i64, to: i64) {
        lock(&self.moved).insert(from, to);
        let mut places = lock(&self.places);
        if let Some(place) = places.remove(&from) {
            places.insert(to, place);
        }
    }

    /// Returns the present id of a chat.
    pub fn moved_to(&self, chat: i64) -> i64 {
        lock(&self.moved).get(&chat).copied().unwrap_or(chat)
    }

    /// Returns the number of equal messages that a bot saw before this one: messages of the same
    /// author with the same words in the same second. A message that arrives again gets the same
    /// number.
    pub fn place_among_equals(&self, message: MessageId, print: &str) -> usize {
        let mut equals = lock(&self.equals);
        let is_equal =
            |one: &&(MessageId, String)| one.0.seen_by == message.seen_by && one.1 == print;
        let mut seen = equals.iter().filter(is_equal);
        let place = seen.position(|(known, _)| *known == message);
        place.unwrap_or_else(|| {
            let before = equals.iter().filter(is_equal).count();
            if equals.len() == EQUALS_MAX {
                equals.pop_front();
            }
            equals.push_back((message, print.to_owned()));
            before
        })
    }
}
