//! What a participant is told when its turn comes. Pure: the host fetches the events.

use serde::{Deserialize, Serialize};

/// A prompt, split the way runtimes need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Who it is, who else is here, and what the rules are.
    pub system: String,
    /// What happened since its last turn, and what is asked: for runtimes that remember.
    pub text: String,
    /// The same with a transcript of what came before: for runtimes without a memory.
    pub standalone: String,
}
