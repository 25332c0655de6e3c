//! Halls of two computers that exchange rows through a post with faults.
#![allow(clippy::unwrap_used)]

mod pair;
mod joining;
mod faults;
mod off;
mod outages;
mod without;
mod restored;

use moothall_kernel::permission::{OptionKind, PermissionOption};

/// Opens a hall without sessions, over a log of its own.
pub(super) async fn hall() -> moothall_engine::hall::Hall {
    pair::hall_over(Default::default()).await
}

/// Returns an answer to a question of a program.
pub(super) fn allow() -> PermissionOption {
    PermissionOption::new("allow", "Yes", OptionKind::AllowOnce)
}
