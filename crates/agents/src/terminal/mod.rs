//! Runtime `terminal`: command-line agents that live in terminals, and what they report about themselves.

pub mod hooks;
