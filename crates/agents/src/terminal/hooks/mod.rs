//! The reports of programs in terminals, and the hooks that make them.
//!
//! [`HookInjector`] prepares a launch: arguments and variables that make the program run `moothall
//! hook` at certain events and give it the server's tools. The user's own configuration is not
//! changed. `moothall hook` ([`report`]) writes a report into the session's spool folder, notifies
//! the server and exits, so that reports survive while the server is down and programs do not wait
//! for it. The server ([`Spool`]) reads the reports in order, interprets them by vendor
//! ([`HookEvent::of`]), and removes each one after its listener ([`HookSink`]) has stored the
//! consequences. Two kinds of reports go over a socket instead: a question for a permission, which
//! waits for a person's answer, and the use of a tool, which is not stored.

mod note;
mod lenient_json;
mod vendor;
mod folder;
mod words;
mod report;
mod wait;
mod socket;
mod drain;
mod spool;
mod inject;
mod outside;
mod user_process;

pub use folder::SpoolFolder;
pub(crate) use folder::{private_folder, write_private};
pub(crate) use inject::{Fitting, TOOLS, VARIABLES};
pub use inject::{HookInjector, LaunchCommand, READING_TOOLS};
pub use note::{Note, PAYLOAD_BYTES_MAX};
pub use outside::UserSpools;
pub use report::{Surroundings, report};
pub use spool::{HookSink, Spool};
pub use user_process::run_as_user;
pub use vendor::HookEvent;
pub(crate) use wait::PERMISSION_SECONDS;
