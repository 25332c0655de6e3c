//! Chats of other products as surfaces of conversations.
//!
//! A channel brings in what people write in a chat, under the account by which they paired, and
//! carries out what a conversation owes to the chats that it is bound to. It adds no rule about who
//! may speak: every word goes through the hall's door, like a request of any other surface.

pub mod telegram;
