//! The client of the Bot API: a method, its answer as a JSON value, and whether it was sent.
