//! `round_robin`: each is asked once, starting after the last speaker; mentions do not change the order. (Ruling 17.)

use crate::policy::{Nomination, others};
use crate::state::{Conversation, Spoken};

pub(crate) fn nominate(state: &Conversation, spoken: &Spoken) -> Nomination {
    let mut polled = others(state, &spoken.cause.from);
    let last = state.floor.last_speaker.as_ref();
    if let Some(at) = polled.iter().position(|id| Some(id) == last) {
        polled.rotate_left(at + 1);
    }
    Nomination { polled, cap: state.policy.max_agent_turns_per_message, ..Nomination::default() }
}
