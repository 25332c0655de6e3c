//! Named points at which a test can make the process die, as a power cut would.

/// Aborts the process when `MOOTHALL_CRASH_AT` is `name:count` and this is the `count`-th time, from 1, that the point is passed.
///
/// Only with the cargo feature `crash-points`; otherwise it is nothing.
#[cfg(feature = "crash-points")]
pub fn point(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static WANTED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);

    let wanted = WANTED.get_or_init(|| parse(&std::env::var("MOOTHALL_CRASH_AT").ok()?));
    let Some((at, count)) = wanted else { return };
    if at == name && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *count {
        std::process::abort();
    }
}

/// Nothing: the cargo feature `crash-points` is off.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn point(_name: &str) {}

#[cfg(feature = "crash-points")]
fn parse(text: &str) -> Option<(String, u64)> {
    let (name, count) = text.split_once(':')?;
    Some((name.to_owned(), count.parse().ok()?))
}

#[cfg(all(test, feature = "crash-points"))]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_named_with_its_count() {
        assert_eq!(parse("before_append:3"), Some(("before_append".into(), 3)));
        assert_eq!(parse("before_append"), None);
    }
}
