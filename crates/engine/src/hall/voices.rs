//! Recent words of agents in all conversations of a hall. They are only in memory, so a restart
//! forgets the count of unprompted words. A hold is in the state of its conversation.

use std::sync::{Arc, Mutex, PoisonError};

use moothall_kernel::Conversation;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::voices::Voices;

/// The words with which decisions compare new ones.
#[derive(Debug, Default)]
pub struct VoiceBook(Mutex<Arc<Voices>>);

impl VoiceBook {
    /// Returns the voices for a decision.
    pub fn facts(&self) -> Arc<Voices> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds the messages among committed events to the words with which later ones are compared.
    pub fn note(&self, state: &Conversation, events: &[RecordedEvent]) {
        let is_said = |recorded: &&RecordedEvent| matches!(recorded.event, Event::Posted(_));
        let said: Vec<_> = events.iter().filter(is_said).collect();
        if said.is_empty() {
            return;
        }
        let mut voices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let voices = Arc::make_mut(&mut voices);
        said.into_iter().for_each(|recorded| voices.note(state, recorded));
    }
}
