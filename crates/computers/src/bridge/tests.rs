//! Halls of two computers that exchange rows through a post with faults.
#![allow(clippy::unwrap_used)]

mod pair;
mod faults;
mod restored;

/// Opens a hall without sessions, over a log of its own.
pub(super) async fn hall() -> moothall_engine::hall::Hall {
    pair::hall_over(Default::default()).await
}
