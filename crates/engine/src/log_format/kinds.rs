//! The stored numbers of the states of deliveries. The number of a state never changes.

use strum::VariantArray;

use crate::ports::DeliveryState;

/// Returns the stored number of a delivery's state. States with numbers below 4 are not settled,
/// and an index relies on that.
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

/// Returns the state of a stored number.
pub fn state_of(code: i64) -> Option<DeliveryState> {
    DeliveryState::VARIANTS.iter().copied().find(|state| code_of(*state) == code)
}
