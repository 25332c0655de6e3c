//! Matrix as one of the server's channels.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::channels::{
    BotStatus, ChannelError, ChannelStatus, ChatActivity, ChatState, ChatStatus, PairingLink,
};
use moothall_engine::hall::HallError;
use moothall_engine::outbox::{DeliveryNotes, Outcome};
use moothall_engine::ports::Delivery;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};

use super::Matrix;
use super::names::{Ghost, RELAY};
use super::places::MatrixPlace;
use super::room::{MATRIX, MatrixRoom};
use crate::port::Channel;

/// Time for which an account is shown as typing.
const TYPING: Duration = Duration::from_secs(6);
/// The next step for people if no account is in a room.
const AWAY: &str = "No account of this server is in the room. Invite one, or unbind the chat.";
/// The next step for people if no person has opened a room.
const WAITING: &str = "A paired person with the right threads:admin can open the room with /group \
                       create and the names of agents; or a conversation can be bound to it.";

#[async_trait]
impl Channel for Matrix {
    fn name(&self) -> &'static str {
        MATRIX
    }

    fn has_voice(&self) -> bool {
        true
    }

    fn is_stopped(&self) -> bool {
        Matrix::is_stopped(self)
    }

    fn resume(&self) -> bool {
        self.stopped.send_replace(false)
    }

    async fn status(&self) -> Result<ChannelStatus, HallError> {
        let mut bound = self.inbox.hall().bound_chats().await?;
        bound.retain(|(chat, _)| chat.channel() == MATRIX);
        let mut chats = Vec::new();
        for (chat, stream) in &bound {
            // A list must not wait for the homeserver.
            let place = MatrixRoom::of(chat).and_then(|room| self.places.get(&room.id));
            chats.push(self.chat_status(chat.clone(), Some(stream.clone()), place));
        }
        for (id, place) in self.places.all() {
            if let Some(chat) =
                MatrixRoom::new(&id).to_chat().filter(|_| place.waiting_since.is_some())
            {
                chats.push(self.chat_status(chat, None, Some(place)));
            }
        }
        chats.sort_by(|one, other| one.chat.cmp(&other.chat));
        let agents: BTreeSet<String> =
            chats.iter().flat_map(|chat| &chat.agents).map(ToString::to_string).collect();
        let mut bots = vec![self.bot_status(&Ghost::Relay)];
        bots.extend(agents.into_iter().map(|agent| self.bot_status(&Ghost::Agent(agent))));
        Ok(ChannelStatus { name: MATRIX.to_owned(), bots, chats })
    }

    async fn add_bot(self: Arc<Self>, agent: &str, token: &str) -> Result<BotStatus, ChannelError> {
        if !token.is_empty() {
            let text =
                "In Matrix an agent needs no token: its account is made by the registration.";
            return Err(ChannelError::BadToken(text.into()));
        }
        let ghost = Ghost::Agent(agent.to_owned());
        self.prepare(&ghost).await.map_err(|fault| {
            ChannelError::Unreachable(format!("The account cannot be made now: {fault}"))
        })?;
        Ok(self.bot_status(&ghost))
    }

    async fn offer_bot(
        &self,
        agent: &str,
        _person: &ParticipantId,
    ) -> Result<Vec<String>, ChannelError> {
        Err(ChannelError::NoManager(format!(
            "In Matrix an account needs no offer: moothall channels add matrix {agent}"
        )))
    }

    fn remove_bot(&self, _agent: &str) -> Result<bool, ChannelError> {
        Ok(false)
    }

    fn pairing_links(&self, _code: &str) -> Vec<PairingLink> {
        Vec::new()
    }

    async fn carry(&self, delivery: &Delivery, chat: &Chat, notes: &DeliveryNotes<'_>) -> Outcome {
        self.carry_to(delivery, chat, notes).await
    }

    async fn note_thinking(self: Arc<Self>, _stream: &StreamId, _agent: &ParticipantId) {}

    async fn show_typing(&self, stream: &StreamId, agent: &ParticipantId) {
        let bound = self.inbox.hall().view(stream, |state| state.chats().collect::<Vec<_>>()).await;
        let Ok(domain) = self.domain().await else { return };
        let Some(user) = Ghost::Agent(agent.to_string()).user_id(&domain) else { return };
        for room in bound.unwrap_or_default().iter().filter_map(MatrixRoom::of) {
            let is_here = |place: MatrixPlace| place.members.contains(&user);
            if !self.places.get(&room.id).is_some_and(is_here) {
                continue;
            }
            if let Err(fault) = self.client.typing(&room.id, &user, TYPING).await {
                tracing::debug!(%room, %fault, "typing could not be shown");
            }
        }
    }

    fn close(&self) {
        self.tasks().abort_all();
    }
}

impl Matrix {
    /// Returns an account as surfaces show it. All accounts share one connection.
    fn bot_status(&self, ghost: &Ghost) -> BotStatus {
        let report = self.health.report();
        let domain = self.health.domain();
        let agent = match ghost {
            Ghost::Agent(agent) => agent.clone(),
            Ghost::Relay | Ghost::Person(_) => RELAY.to_owned(),
        };
        BotStatus {
            agent,
            username: domain.map(|domain| format!("{}:{domain}", ghost.localpart())),
            state: report.state,
            since: report.since,
            is_private: false,
            heard_at: report.heard_at,
            // All accounts share one connection, so one line is enough.
            cure: report.cure.filter(|_| *ghost == Ghost::Relay),
        }
    }

    /// Returns the state of a room, with the next step for people. A room without an account of the
    /// server counts as away.
    fn chat_status(
        &self,
        chat: Chat,
        stream: Option<StreamId>,
        place: Option<MatrixPlace>,
    ) -> ChatStatus {
        let domain = self.health.domain().unwrap_or_default();
        // Nothing is known of a room before the homeserver is reached.
        let is_away = place.as_ref().is_some_and(|place| place.ghosts(&domain).is_empty());
        let (state, cure) = match (&stream, is_away) {
            (_, true) => (ChatState::Away, Some(AWAY)),
            (Some(_), false) => (ChatState::Bound, None),
            (None, false) => (ChatState::Waiting, Some(WAITING)),
        };
        let place = place.unwrap_or_default();
        let agents = place.ghosts(&domain).into_iter().filter_map(|ghost| match ghost {
            Ghost::Agent(agent) => Some(ParticipantId::new(agent)),
            Ghost::Relay | Ghost::Person(_) => None,
        });
        ChatStatus {
            dropped: self.inbox.dropped(&chat),
            chat,
            title: place.title.clone(),
            stream,
            state,
            agents: agents.collect(),
            deaf: Vec::new(),
            cure: cure.map(str::to_owned),
            activity: ChatActivity::default(),
        }
    }
}
