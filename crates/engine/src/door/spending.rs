//! Costs of turns, and budgets, through the door.

use moothall_kernel::budget::BudgetOwner;
use moothall_kernel::ids::StreamId;

use super::{Action, Door};
use crate::access::AccessError;
use crate::hall::budgets::BudgetState;
use crate::hall::meters::EngineCounts;
use crate::ports::{UsageSum, UsageWanted};

impl Door {
    /// Returns the costs of turns, in all conversations within reach or in the named ones.
    ///
    /// # Errors
    /// [`AccessError`], also if a named conversation does not exist for the caller.
    pub async fn usage(&self, wanted: UsageWanted) -> Result<Vec<UsageSum>, AccessError> {
        self.may(Action::ReadUsage)?;
        let streams = match wanted.streams {
            Some(streams) => {
                streams.iter().try_for_each(|stream| self.reaches(stream))?;
                Some(streams)
            }
            None => self.caller.reach.only().map(|streams| streams.iter().cloned().collect()),
        };
        Ok(self.hall.used(&UsageWanted { streams, ..wanted }).await?)
    }

    /// Returns the currency of all costs.
    pub fn currency(&self) -> String {
        self.hall.currency()
    }

    /// Returns the state of the budgets of an owner, for a caller that reaches all conversations.
    /// Other callers get nothing, because all conversations share these budgets.
    pub fn budgets(&self, owner: &BudgetOwner) -> Vec<BudgetState> {
        if self.caller.reach.only().is_none() {
            self.hall.budgets_of(owner, None)
        } else {
            Vec::new()
        }
    }

    /// Returns the state of a conversation's own budgets.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn thread_budgets(&self, stream: &StreamId) -> Result<Vec<BudgetState>, AccessError> {
        let standing = self.view(Action::ReadUsage, stream, |state| state.standing()).await?;
        Ok(self.hall.budgets_of(&BudgetOwner::Conversation, Some(standing)))
    }

    /// Returns all metrics.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn counted(&self) -> Result<EngineCounts, AccessError> {
        self.may(Action::ReadMetrics)?;
        Ok(self.hall.counted().await?)
    }
}
