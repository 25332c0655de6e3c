//! The rules of a conversation: who may speak now, what was said, what the engine still owes.
//!
//! Pure: time, ids and facts come in as arguments; no clock, no randomness, no I/O. A
//! [`Conversation`] is a fold of [`event::Event`]s. [`Conversation::decide`] decides a
//! [`command::Command`] and returns the events. State changes only in [`Conversation::apply`].
//! `(Ruling 8)` is a rule of `docs/rules.md`.
//!
//! ```
//! use moothall_kernel::Conversation;
//! use moothall_kernel::command::{Actor, ClientCommand, Facts, Post};
//! use moothall_kernel::event::Event;
//! use moothall_kernel::policy::Policy;
//! use moothall_kernel::time::Timestamp;
//!
//! let (now, facts, user) = (Timestamp::from_millis(0), Facts::default(), Actor::human("user"));
//! let mut lunch = Conversation::new("lunch".into());
//! let (name, policy) = ("Lunch".into(), Policy::default());
//! let create = ClientCommand::Create { name, policy, folder: None, by: user.clone() };
//! let created = lunch.decide(now, create, &facts);
//! let said = lunch.decide(now, ClientCommand::Post(Post::new(user, "Soup or salad?")), &facts);
//! assert!(matches!(said.events[0].event, Event::Posted(_)));
//! let events = [created.events, said.events].concat();
//! assert_eq!(Conversation::fold("lunch".into(), &events), lunch);
//! ```

pub mod text;
pub mod model;
pub mod policy;
pub mod decide;
pub mod read;
pub mod aggregate;
pub mod planted;

pub use aggregate::Aggregate;
pub use decide::{control, gatherings, say, tasks};
pub use model::snapshot::STATE_VERSION;
pub use model::state::Conversation;
pub use model::{
    budget, chat, command, ending, event, gathering, hosted, ids, invariants, link, message_part,
    own, participant, permission, refused, request, silence, start, state, summary, talk, task,
    task_command, time, voices,
};
pub use read::gathering as gathering_view;
pub use read::silence as silences;
pub use read::{cards, compose, duties, guards, occupation, pending, preview, search, turns, view};
pub use text::{mentions, names, pass, slash, thoughts};
