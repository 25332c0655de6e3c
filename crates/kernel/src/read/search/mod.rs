//! Search in texts: the query language, the words of a text, and the places of matches.
//!
//! Every index cuts texts with [`tokens::words`] and every answer marks its matches with
//! [`Query::find`], so that they all agree.
//!
//! ```
//! use moothall_kernel::search::query::Query;
//!
//! let query = Query::parse("\"rolling deploy\" from:ann after:2026-01-31").unwrap();
//! assert_eq!(query.from, ["ann"]);
//! assert!(query.find("Shall we do a Rolling Deploy tonight?").is_some());
//! assert!(query.find("Deploy, then keep rolling.").is_none());
//! ```

pub mod tokens;
pub mod query;
pub mod snippet;

pub use query::{Query, QueryFault};
pub use snippet::{Piece, snippet};

use crate::model::event::{Change, Event, Posted};
use crate::model::ids::ParticipantId;
use crate::read::view::{Viewer, visible};

/// Returns the message of an event that can be searched for: one that all may see. Words in the
/// trace stay out of every index.
pub fn searchable(event: &Event) -> Option<&Posted> {
    match event {
        Event::Posted(posted) if visible(event, &Viewer::Guest) => Some(posted),
        _ => None,
    }
}

/// Returns the participants whose nickname an event changed, with the new one if any. Messages are
/// found by the name that their speaker had at the time.
pub fn renamings(event: &Event) -> impl Iterator<Item = (&ParticipantId, Option<&str>)> {
    let changes = match event {
        Event::Controlled { changes, .. } => changes.as_slice(),
        _ => &[],
    };
    changes.iter().filter_map(|change| match change {
        Change::Invited { participant, profile, .. } => {
            Some((participant, profile.nickname.as_deref()))
        }
        Change::Uninvited { participant, .. } => Some((participant, None)),
        _ => None,
    })
}
