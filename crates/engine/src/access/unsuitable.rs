//! Requests about sessions that are refused to every caller.

use crate::sessions::{KEYSTROKES_MAX, TYPED_BYTES_MAX};

/// Maximum number of arguments of a program.
pub const ARGS_MAX: usize = 64;
/// Maximum length of an argument, in bytes.
pub const ARG_BYTES_MAX: usize = 8 * 1024;
/// Maximum length of a message to a session, in bytes: the same as for an agent's message.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024;

/// The reason why such a request is refused, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionRequestError {
    /// Only a session has links of its own.
    #[error(
        "'direct' and 'close_link' need the token of a session, which is in the session's \
         environment. Without it, leave them out. Or link two sessions with `POST /links` and \
         close that link by its id."
    )]
    OnlySessions,
    /// The request both opens and ends a link.
    #[error("'direct' opens a link and 'close_link' closes it; give only one of them.")]
    BothWays,
    /// The message is too long; its length in bytes.
    #[error(
        "The message has {0} bytes; the maximum is {MESSAGE_BYTES_MAX}. Put it into a file and \
         send the file's path."
    )]
    TooLong(usize),
    /// The message is too long to be shown to a person.
    #[error(
        "The message is too long to be shown to a person. Put it into a file and send the file's \
         path."
    )]
    TooLongToShow,
    /// The message is empty.
    #[error("'message' is missing: give a text, or close a link with 'close_link'.")]
    NoWords,
    /// The arguments are too many, too long, or contain NUL.
    #[error(
        "'args' takes at most {ARGS_MAX} strings, each without NUL and with at most \
         {ARG_BYTES_MAX} bytes."
    )]
    Arguments,
    /// The keystrokes are too many, too long, or not keys.
    #[error(
        "'keys' takes at most {KEYSTROKES_MAX} entries with {TYPED_BYTES_MAX} bytes of text. Each \
         has one of 'text', 'paste' and 'key', and 'key' is a word such as `enter`, `escape`, \
         `tab`, `up` or `ctrl+c`."
    )]
    Keystrokes,
    /// The conversation in which to ask a person does not exist for the caller.
    #[error("This conversation does not exist, or you are not in it. `GET /threads` lists yours.")]
    NoThread,
}
