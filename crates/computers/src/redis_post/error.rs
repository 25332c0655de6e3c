//! The answers of a Redis that are errors, as errors of the post and without secrets.

use std::error::Error;
use std::io;
use std::sync::Arc;

use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::post::PostError;

/// Returns the post's error for one of the client. `secret` is cut out of its text: an old Redis
/// repeats a command that it does not know, with the password in it.
pub(super) fn post_error(error: &RedisError, secret: Option<&str>) -> PostError {
    let mut text = error.to_string();
    if let Some(secret) = secret {
        text = text.replace(secret, "…");
    }
    // The error of a command within a script has its own code in its text.
    let says = |code: &str| error.code() == Some(code) || text.contains(&format!("-{code} "));
    if error.kind() == ErrorKind::AuthenticationFailed || says("WRONGPASS") || says("NOAUTH") {
        return PostError::WrongPassword;
    }
    if says("OOM") || text.contains("OOM command not allowed") {
        return PostError::Full;
    }
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::NoPerm) => PostError::Denied(text),
        ErrorKind::Server(ServerErrorKind::ReadOnly) => PostError::ReadOnly(text),
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::TryAgain,
        ) => PostError::Away(text),
        ErrorKind::Io if is_tls(error) => PostError::Tls(text),
        ErrorKind::Io => PostError::Away(text),
        ErrorKind::RESP3NotSupported => {
            PostError::Failed("it is older than version 6, which Moothall needs".into())
        }
        _ if says("READONLY") => PostError::ReadOnly(text),
        _ => PostError::Failed(text),
    }
}

/// True if a connection ended because of TLS.
fn is_tls(error: &RedisError) -> bool {
    let Some(source) = error.source() else { return false };
    // The client's source is the shared pointer to the error, not the error in it.
    let shared = source.downcast_ref::<Arc<dyn Error + Send + Sync>>();
    let io = match shared {
        Some(shared) => shared.downcast_ref::<io::Error>(),
        None => source.downcast_ref(),
    };
    io.and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<rustls::Error>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(code: &str, detail: &str) -> PostError {
        let error = redis::make_extension_error(code.into(), Some(detail.into()));
        post_error(&error, Some("s3cret"))
    }

    #[test]
    fn answers_have_their_own_errors() {
        assert_eq!(answer("WRONGPASS", "invalid username-password pair"), PostError::WrongPassword);
        assert_eq!(answer("NOAUTH", "Authentication required."), PostError::WrongPassword);
        assert_eq!(answer("OOM", "command not allowed when used memory"), PostError::Full);
        let in_script = answer("ERR", "Error running script: -OOM command not allowed");
        assert_eq!(in_script, PostError::Full);
        let read_only = RedisError::from((
            ErrorKind::Server(ServerErrorKind::ReadOnly),
            "READONLY",
            "You can't write against a read only replica.".into(),
        ));
        assert!(matches!(post_error(&read_only, None), PostError::ReadOnly(_)));
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(matches!(post_error(&refused.into(), None), PostError::Away(_)));
        let tls = io::Error::other(rustls::Error::DecryptError);
        assert!(matches!(post_error(&tls.into(), None), PostError::Tls(_)));
    }

    #[test]
    fn a_server_that_repeats_the_password_is_not_repeated() {
        let error = answer("ERR", "unknown command `HELLO`, beginning with: `AUTH`, `s3cret`");
        assert!(matches!(&error, PostError::Failed(text) if text.contains("AUTH")), "{error}");
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
}
