//! What cannot be asked of a session, whoever asks.

/// Most arguments of a program.
pub const ARGS_MAX: usize = 64;
/// The longest of them, in bytes.
pub const ARG_BYTES_MAX: usize = 8 * 1024;
/// Longest message to a session, in bytes: as much as an agent may say at once.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024;

/// What cannot be asked of a session, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionRequestError {
    /// A link of one's own is a session's.
    #[error(
        "Only a session can talk over a link of its own: send the token of its environment, or leave 'direct' and 'close_link' out. Or link \
         two sessions with `POST /links` and close that link by its id."
    )]
    OnlySessions,
    /// A link is opened and ended at once.
    #[error("'direct' opens a link and 'close_link' ends it: give one of them.")]
    BothWays,
    /// A message has so many bytes.
    #[error(
        "The message has {0} bytes; at most {MESSAGE_BYTES_MAX} are taken. Put it into a file and say where."
    )]
    TooLong(usize),
    /// A person could not be shown all of it.
    #[error("The message is too long to be shown to a person. Put it into a file and say where.")]
    TooLongToShow,
    /// A message says nothing.
    #[error("Missing 'message': say something, or close a link with 'close_link'.")]
    NoWords,
    /// A program takes no such arguments.
    #[error(
        "'args' is a list of at most {ARGS_MAX} texts, each without NUL and up to {ARG_BYTES_MAX} bytes."
    )]
    Arguments,
    /// There is no such conversation to ask a person in.
    #[error("There is no such conversation, or you are not in it. `GET /threads` shows yours.")]
    NoThread,
}
