//! The short memory of a channel: the events of messages, and the messages that it answered. It is
//! not stored. After it is lost, events are looked up again, and an answer may be given again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

use moothall_kernel::ids::{Seq, StreamId};

/// Number of messages of all chats that replies can refer to.
const MESSAGES_MAX: usize = 20_000;
/// Number of messages of which an answer is remembered.
const TAKEN_MAX: usize = 1_000;
/// Pause between two answers to people who are not known in a chat.
const ANSWER_PAUSE: Duration = Duration::from_secs(60);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The newest messages of a channel with their events. `K` is the channel's id of a message.
pub(crate) struct MessageIndex<K>(Mutex<Messages<K>>);

struct Messages<K> {
    events: BTreeMap<K, (StreamId, Seq)>,
    order: VecDeque<K>,
}

impl<K> Default for MessageIndex<K> {
    fn default() -> Self {
        Self(Mutex::new(Messages { events: BTreeMap::new(), order: VecDeque::new() }))
    }
}

impl<K: Ord + Clone> MessageIndex<K> {
    /// Notes the event that a message shows. The oldest message is forgotten if there are too many.
    pub(crate) fn note(&self, message: K, event: (StreamId, Seq)) {
        let mut index = lock(&self.0);
        if index.events.insert(message.clone(), event).is_none() {
            index.order.push_back(message);
        }
        if index.order.len() > MESSAGES_MAX
            && let Some(oldest) = index.order.pop_front()
        {
            index.events.remove(&oldest);
        }
    }

    /// Returns the event that a message shows, if it is remembered.
    pub(crate) fn event_of(&self, message: &K) -> Option<(StreamId, Seq)> {
        lock(&self.0).events.get(message).cloned()
    }

    /// Returns the newest message in a range of ids that shows an event.
    pub(crate) fn message_of(
        &self,
        range: std::ops::RangeInclusive<K>,
        event: &(StreamId, Seq),
    ) -> Option<K> {
        let index = lock(&self.0);
        let mut newest_first = index.events.range(range).rev();
        newest_first.find(|(_, at)| *at == event).map(|(message, _)| message.clone())
    }
}

/// The newest answers of the channels.
#[derive(Default)]
pub(crate) struct Answers {
    /// The keys of messages that are answered in their chat.
    taken: Mutex<VecDeque<String>>,
    /// The chats in which people who are not known got an answer, with its time.
    strangers: Mutex<BTreeMap<String, Instant>>,
}

impl Answers {
    /// True the first time for the key of a message. Several bots can receive the same message, and
    /// only one of them answers.
    pub(crate) fn take(&self, key: &str) -> bool {
        let mut taken = lock(&self.taken);
        if taken.iter().any(|known| known == key) {
            return false;
        }
        if taken.len() == TAKEN_MAX {
            taken.pop_front();
        }
        taken.push_back(key.to_owned());
        true
    }

    /// Lets a message be answered again, because its answer could not be made.
    pub(crate) fn give_back(&self, key: &str) {
        lock(&self.taken).retain(|known| known != key);
    }

    /// True at most once a minute for a chat, so that unpaired people get few answers there.
    pub(crate) fn may_answer_stranger(&self, chat: &str, now: Instant) -> bool {
        let mut answered = lock(&self.strangers);
        answered.retain(|_, last| now.duration_since(*last) < ANSWER_PAUSE);
        let is_free = !answered.contains_key(chat);
        if is_free {
            answered.insert(chat.to_owned(), now);
        }
        is_free
    }
}
