//! Positions have no gap, time rises, and every written event can be read again.

use moothall_engine::log_format::codec;
use moothall_kernel::event::RecordedEvent;

use super::{Checker, ConversationModel, Scene, Verdict};

pub(super) struct Order;

/// Returns the event as the store would return it.
pub(super) fn reread(recorded: &RecordedEvent) -> RecordedEvent {
    let body = recorded.event.body().map(str::to_owned);
    codec::decode(recorded.seq, recorded.ts, &codec::envelope(&recorded.event), body)
        .event()
        .unwrap_or_else(|| recorded.clone())
}

impl Checker for Order {
    fn name(&self) -> &'static str {
        "order"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        _scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        if recorded.seq != room.head.next() {
            return Err(format!("{} follows {}", recorded.seq, room.head));
        }
        if recorded.ts <= room.last_ts {
            return Err(format!("time went from {} to {}", room.last_ts, recorded.ts));
        }
        let body = recorded.event.body().map(str::to_owned);
        let read =
            codec::decode(recorded.seq, recorded.ts, &codec::envelope(&recorded.event), body);
        if read.clone().event().as_ref() != Some(recorded) {
            return Err(format!("written {recorded:?}, read {read:?}"));
        }
        Ok(())
    }
}
