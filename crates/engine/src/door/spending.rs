//! What turns cost, and what may be spent, through the door.

use moothall_kernel::budget::BudgetOwner;
use moothall_kernel::ids::StreamId;

use super::{Action, Door};
use crate::access::AccessError;
use crate::hall::budgets::BudgetState;
use crate::hall::meters::EngineCounts;
use crate::ports::{UsageWanted, UsageSum};

impl Door {
    /// What turns have cost, in all that the caller reaches or in what is named of that.
    ///
    /// # Errors
    /// [`AccessError`], also where a conversation is named that does not exist for the caller.
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

    /// The currency of what turns cost.
    pub fn currency(&self) -> String {
        self.hall.currency()
    }

    /// How the budgets of a purse that all conversations share stand; nothing for those who do not
    /// reach all of them.
    pub fn budgets(&self, purse: &BudgetOwner) -> Vec<BudgetState> {
        if self.caller.reach.only().is_none() {
            self.hall.budgets_of(purse, None)
        } else {
            Vec::new()
        }
    }

    /// How a conversation's own budgets stand.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or it cannot be read.
    pub async fn thread_budgets(&self, stream: &StreamId) -> Result<Vec<BudgetState>, AccessError> {
        let standing = self.view(Action::ReadUsage, stream, |state| state.standing()).await?;
        Ok(self.hall.budgets_of(&BudgetOwner::Conversation, Some(standing)))
    }

    /// Everything that is counted.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn counted(&self) -> Result<EngineCounts, AccessError> {
        self.may(Action::ReadMetrics)?;
        Ok(self.hall.counted().await?)
    }
}
