//! The numbers that stand for states.

use strum::VariantArray;

use crate::ports::DeliveryState;

/// A delivery's state as it is stored; those below 4 are still owed, which an index relies on.
pub const fn code_of(state: DeliveryState) -> i64 {
    match state {
        DeliveryState::Pending => 0,
        DeliveryState::Sending => 1,
        DeliveryState::Sent => 2,
        DeliveryState::Accepted => 3,
        DeliveryState::Done => 4,
        DeliveryState::Failed => 5,
        DeliveryState::Unknown => 6,
    }
}

/// The state that a stored number stands for.
pub fn state_of(code: i64) -> Option<DeliveryState> {
    DeliveryState::VARIANTS.iter().copied().find(|state| code_of(*state) == code)
}
