//! The ports of the engine: one per file, with the types of its methods. Each port has an
//! implementation in [`crate::memory`], the reference for the real ones. [`Store`] holds all ports
//! to storage.

mod clock;
mod error;
mod claims;
mod post_marks;
mod target;
mod deliveries;
mod log;
mod posts;
mod sessions;
mod principals;
mod apps;
mod ledger;
mod marks;
mod search;
mod upkeep;
mod store;

pub use apps::{APPS_MAX, AppHold, Apps, HeldApp};
pub use claims::{Claim, ClaimChange};
pub use clock::{Clock, SystemClock};
pub use deliveries::{
    COMMANDER, DELIVERIES_PAGE, Deliveries, Delivery, DeliveryState, Durability, NewDelivery,
    PendingDeliveries, command_claim,
};
pub use error::{AppendError, LogError};
pub use ledger::{Ledger, UsageBy, UsageSum, UsageWanted};
pub use log::{
    Acquisition, AppendResult, Catalog, DELETED, Epoch, EventLog, Lease, ListFilter, ListPage,
    ListedStream, PAGE_BYTES_MAX, Page, SNAPSHOT_BEHIND_MAX, SNAPSHOT_BYTES_MAX, Snapshot,
    StreamBatch, StreamStart,
};
pub use marks::{ReadMarks, UnreadCount};
pub use post_marks::{PostChannel, PostMark};
pub use posts::{COMPUTER_FORGOTTEN, PostBook, keeps_command};
pub use principals::{
    AgentCard, AuditAction, AuditEntry, AuditRecord, CARDS_AN_HOUR_MAX, CARDS_BYTES_MAX,
    CARDS_LISTED_MAX, CARDS_MAX, CardCount, ClaimOutcome, InsertOutcome, Principal, Principals,
    RandomnessError, RegisterOutcome, Registration, RevocationScope, STARTUP_ID, Scope, Scopes,
    Secret, Token, TokenHash, TokenId, TokenKind, TokenPlace, fresh_claim, reach_of,
};
pub use search::{Hit, Hits, Search, SearchRequest};
pub use sessions::{LeftLink, Origin, Pane, Session, SessionBook, SessionId, Starter, UnixUser};
pub use store::{FullStore, Store};
pub use target::{Target, TargetKind};
pub use upkeep::{CheckedTable, CopyError, Upkeep, Verification};
