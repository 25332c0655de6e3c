//! Questions about an open turn between the computer of its conversation and the computer of its
//! participant. Each is decided on the state that the next append follows.

use moothall_kernel::Conversation;
use moothall_kernel::command::EngineCommand;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::hosted::HostedKey;
use moothall_kernel::ids::TurnNo;

use super::host::Host;
use super::remote_effects::MemberElsewhere;
use crate::computers::HostedState;
use crate::outbox::{OutboxEntry, PostCommand};

/// The consequence for a turn that the computer of its participant does not know.
pub(super) enum MissingTurn {
    /// The turn is over at this computer too.
    Over,
    /// The turn has not begun, so it is offered once more.
    Waits(OutboxEntry),
    /// The turn had begun, so it was lost.
    Ends(EngineCommand),
}

impl Host {
    /// Returns the row that reports the state of a hosted turn to the computer of its conversation.
    pub(super) fn state_of(&self, key: &HostedKey) -> OutboxEntry {
        let turn = self.working().conversation().and_then(|state| state.hosted_turn(key));
        let state = match turn.map(|turn| turn.running.is_some()) {
            Some(true) => HostedState::Running,
            Some(false) => HostedState::Waiting,
            None => HostedState::Unknown,
        };
        PostCommand::State { hosted: key.clone(), state }.entry(&key.computer)
    }

    /// Returns the consequence for a turn that the computer of its participant does not know. The
    /// turn ends if it had begun, and is offered again if it had not. A turn that is over needs
    /// nothing.
    pub(super) fn miss(&self, no: TurnNo, attempt: u32) -> MissingTurn {
        let conversation = self.working().conversation();
        match conversation.and_then(|state| at_computer(state, no, attempt)) {
            None => MissingTurn::Over,
            Some((true, _)) => MissingTurn::Ends(EngineCommand::Finished {
                turn: no,
                attempt,
                result: Err(Fault::new("interrupted", "Its computer lost it.")),
                usage: Usage::default(),
            }),
            Some((false, MemberElsewhere { computer, session })) => MissingTurn::Waits(
                PostCommand::Turn { turn: no, attempt, session }.entry(&computer),
            ),
        }
    }
}

/// Returns the session of another computer that has a turn, and true if the turn has begun. `None`
/// if the turn is over, or if its participant is not a session of another computer.
pub(crate) fn at_computer(
    state: &Conversation,
    no: TurnNo,
    attempt: u32,
) -> Option<(bool, MemberElsewhere)> {
    let turn = state.turn(no).filter(|turn| turn.attempt == attempt)?;
    let address = state.participant(&turn.participant)?.address.as_ref()?;
    Some((turn.running.is_some(), MemberElsewhere::at(address)?))
}
