//! Random bytes of the operating system, for ids and keys.

use ring::rand::{SecureRandom, SystemRandom};

/// Returns random bytes.
///
/// # Panics
/// The operating system gives no randomness. A weak key would be worse than a stop.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    assert!(filled.is_ok(), "the operating system gives no random bytes");
    bytes
}
