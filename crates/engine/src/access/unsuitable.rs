//! Requests that no session accepts, from any caller.

/// Maximum number of arguments of a program.
pub const ARGS_MAX: usize = 64;
/// Maximum length of an argument, in bytes.
pub const ARG_BYTES_MAX: usize = 8 * 1024;
/// Maximum length of a message to a session, in bytes: the same as for an agent's message.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024;

/// The reason why a session cannot be asked for this, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionRequestError {
    /// Only a session has links of its own.
    #[error(
        "Only a session can talk over a link of its own: send the token of its environment, or leave 'direct' and 'close_link' out. Or link \
         two sessions with `POST /links` and close that link by its id."
    )]
    OnlySessions,
    /// The request both opens and ends a link.
    #[error("'direct' opens a link and 'close_link' ends it: give one of them.")]
    BothWays,
    /// The message is too long; its length in bytes.
    #[error(
        "The message has {0} bytes; at most {MESSAGE_BYTES_MAX} are taken. Put it into a file and say where."
    )]
    TooLong(usize),
    /// The message is too long to be shown to a person.
    #[error("The message is too long to be shown to a person. Put it into a file and say where.")]
    TooLongToShow,
    /// The message is empty.
    #[error("Missing 'message': say something, or close a link with 'close_link'.")]
    NoWords,
    /// The arguments are too many, too long, or contain NUL.
    #[error(
        "'args' is a list of at most {ARGS_MAX} texts, each without NUL and up to {ARG_BYTES_MAX} bytes."
    )]
    Arguments,
    /// The conversation in which to ask a person does not exist for the caller.
    #[error("There is no such conversation, or you are not in it. `GET /threads` shows yours.")]
    NoThread,
}
