//! What programs in terminals report about themselves, and how they are made to report it.
//!
//! A program is launched for its session ([`HookInjector`]): arguments and variables that make it
//! run `moothall hook` at the moments that count, and that give it the server's tools; its user's
//! own configuration is left alone. `moothall hook` ([`report`]) writes each report into the
//! session's spool folder, rings, and ends, so that nothing is lost while no server runs and no
//! program ever waits for one. The server ([`Spool`]) reads the reports in order, tells them apart
//! by vendor ([`HookEvent::of`]) and removes each one when its listener ([`HookSink`]) has kept
//! what follows from it. Only the question for a permission waits, on a socket, for a person's
//! answer.

mod note;
mod lenient_json;
mod vendor;
mod folder;
mod words;
mod report;
mod wait;
mod bell;
mod drain;
mod spool;
mod inject;
mod outside;
mod errand;

pub use errand::run_errand;
pub use folder::SpoolFolder;
pub(crate) use folder::{private_folder, write_private};
pub(crate) use inject::{Fitting, TOOLS, VARIABLES};
pub use inject::{HookInjector, LaunchCommand};
pub use note::{Note, PAYLOAD_BYTES_MAX};
pub use outside::UserSpools;
pub use report::{Surroundings, report};
pub use spool::{HookSink, Spool};
pub use vendor::HookEvent;
pub(crate) use wait::PERMISSION_SECONDS;
