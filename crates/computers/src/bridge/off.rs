//! The stop after a restore. A restored log does not know what was sent after its backup, so this
//! computer exchanges nothing until a person resumes the exchange.

use std::sync::Arc;

use moothall_engine::computers::ComputerError;
use moothall_engine::hall::HallError;
use moothall_engine::ports::Store;

use super::run::kernel_id;
use super::{Directory, not_kept};
use crate::id::LogId;
use crate::pairs::Pairs;

/// The next step for people while the computers are off.
pub(super) const OFF_CURE: &str = "The log was restored from a backup, and does not know what was \
    sent after it. Nothing is sent or taken until: moothall computers resume";

/// Notes the log whose rows are sent. If the file of pairs names another log, this log was
/// restored: its open rows may have arrived before, so they are not sent again, and the computers
/// stop.
pub(super) async fn note_log(
    pairs: &Pairs,
    store: &Store,
    log: LogId,
) -> Result<(), ComputerError> {
    let known = pairs.log();
    if known == Some(log) {
        return Ok(());
    }
    if known.is_some() {
        let why = "the log was restored from a backup; it may have arrived before";
        store.posts.doubt_all(why).await.map_err(not_kept)?;
    }
    // The log is noted last. After a crash in between, the rows are doubted one more time, which
    // changes nothing.
    pairs.set_log(log, known.is_some()).map_err(not_kept)
}

impl Directory {
    /// True if the log was restored, and no person has resumed the computers since.
    pub(super) fn is_off(&self) -> bool {
        self.book().is_some_and(|pairs| pairs.is_stopped())
    }

    /// Notes the log. Then returns the file of pairs if there is something to exchange: it has a
    /// pair, and the computers are on.
    pub(super) async fn noted_book(&self) -> Result<Option<Arc<Pairs>>, ComputerError> {
        let Some(pairs) = self.book() else { return Ok(None) };
        if pairs.all().is_empty() {
            // The log owes nothing to a computer that is paired later.
            pairs.set_log(self.log, false).map_err(not_kept)?;
            return Ok(None);
        }
        let Some(hall) = self.hall.weak().enter() else {
            return Err(not_kept(HallError::ShuttingDown));
        };
        note_log(&pairs, hall.store(), self.log).await?;
        if pairs.is_stopped() {
            tracing::warn!("the log was restored, so the other computers are off until a resume");
            return Ok(None);
        }
        Ok(Some(pairs))
    }

    /// Puts the computers on, after it has owed them the open turns again. Returns false if they
    /// are on already. After an error they are still off.
    pub(super) async fn put_on(&self) -> Result<bool, ComputerError> {
        let Some(pairs) = self.book().filter(|pairs| pairs.is_stopped()) else { return Ok(false) };
        let Some(hall) = self.hall.weak().enter() else {
            return Err(not_kept(HallError::ShuttingDown));
        };
        // All that can fail comes before the computers are on, so that a resume can be repeated.
        let post = self.make_post(&pairs.own())?;
        // The rows about turns were doubted with all others. New ones are owed before the computers
        // are on, so that a crash in between leaves neither a turn without such a row nor two
        // offers of one turn.
        for pair in pairs.all() {
            hall.offer_again(&kernel_id(pair.id)).await.map_err(not_kept)?;
        }
        pairs.set_log(self.log, false).map_err(not_kept)?;
        self.begin_tasks(pairs, post);
        Ok(true)
    }
}
