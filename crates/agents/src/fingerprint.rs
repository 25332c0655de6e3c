//! A hash that is the same in every version and on every machine, for choices that look random and
//! are not.

/// Returns the 64-bit FNV-1a hash of the bytes.
pub(crate) fn fingerprint(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
