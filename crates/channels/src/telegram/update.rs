//! Updates of the Bot API, each read alone: what is unknown is skipped and named.
