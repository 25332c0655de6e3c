//! `mention_only`: only those addressed answer. (Ruling 16.)

use crate::event::To;
use crate::policy::hybrid::AGENT_MENTIONS_MAX;
use crate::policy::{Nomination, addressed, others};
use crate::state::{Conversation, Spoken};

pub(crate) fn nominate(state: &Conversation, spoken: &Spoken) -> Nomination {
    let mut forced = addressed(state, spoken);
    if !spoken.human {
        let direct = matches!(spoken.to, To::One(_));
        let heard = state.discussion.on && state.discussion.allow_agent_mentions;
        forced.truncate(if heard { AGENT_MENTIONS_MAX } else { usize::from(direct) });
    }
    let auto = spoken.human && state.invited_auto && forced.is_empty() && spoken.to == To::All;
    let polled = if auto { others(state, &spoken.cause.from) } else { Vec::new() };
    Nomination { forced, polled, cap: u32::MAX, ..Nomination::default() }
}
