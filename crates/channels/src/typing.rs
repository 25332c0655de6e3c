//! Typing: while an agent thinks, the channels show so in the chats of the conversation.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::Duration;
use tokio::time::Instant;

use moothall_engine::hall::HallChange;
use moothall_kernel::ids::{ParticipantId, StreamId};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::port::Channel;

/// Pause between two notices of typing. Products show each for about five seconds.
const AGAIN_AFTER: Duration = Duration::from_secs(4);
/// Longest time for which typing is shown.
const SHOWN_MAX: Duration = Duration::from_secs(600);

type Thinking = BTreeMap<(StreamId, ParticipantId), Instant>;

/// Shows typing for agents that think, until the channel is closed. If no event has reported for
/// [`SHOWN_MAX`] that an agent thinks, the agent is not shown any more.
pub(crate) async fn show<C: Channel>(channel: Weak<C>, mut changes: Receiver<HallChange>) {
    let mut thinking = Thinking::new();
    let mut ticks = tokio::time::interval(AGAIN_AFTER);
    loop {
        tokio::select! {
            change = changes.recv() => match change {
                Ok(HallChange::Presence { stream, presence }) => {
                    let key = (stream, presence.participant);
                    if presence.state != "thinking" {
                        thinking.remove(&key);
                    } else {
                        let Some(open) = channel.upgrade() else { return };
                        open.clone().note_thinking(&key.0, &key.1).await;
                        if thinking.insert(key.clone(), Instant::now()).is_none() {
                            open.show_typing(&key.0, &key.1).await;
                        }
                    }
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            _ = ticks.tick(), if !thinking.is_empty() => {
                let Some(open) = channel.upgrade() else { return };
                thinking.retain(|_, since| since.elapsed() < SHOWN_MAX);
                for (stream, agent) in thinking.keys() {
                    open.show_typing(stream, agent).await;
                }
            }
        }
    }
}
