//! Texts for Telegram: Markdown as plain text with entities, in parts of the permitted length.
