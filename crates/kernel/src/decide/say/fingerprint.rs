//! The hash of words by which the repeat guard finds the same words again.

/// ASCII characters in a fingerprint: letters in lower case, digits, and 0 for all others.
const FOLDED: [u8; 128] = {
    let mut folded = [0; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            folded[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    folded
};

/// Returns the FNV-1a hash of the letters and digits in lower case, to find repetitions.
pub(super) fn fingerprint(body: &str) -> u32 {
    const EMPTY: u32 = 0x811c_9dc5;
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let mix_char = |hash: u32, c: char| match FOLDED.get(c as usize) {
        Some(0) => hash,
        Some(&folded) => mix(hash, folded),
        None if c.is_alphanumeric() => c
            .to_lowercase()
            .fold(hash, |hash, c| c.encode_utf8(&mut [0; 4]).bytes().fold(hash, mix)),
        None => hash,
    };
    body.chars().fold(EMPTY, mix_char)
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    /// Logs contain these hashes, so they must not change.
    #[test]
    fn a_repetition_is_known_whatever_its_case_and_punctuation() {
        for (said, hash) in [
            ("Hello, World 7!", 0x31de_5b62),
            ("hello world7", 0x31de_5b62),
            ("Straße İ", 0xc3e8_ec0e),
            ("hello, world 7 \u{2014}", 0x31de_5b62),
            ("", 0x811c_9dc5),
        ] {
            assert_eq!(fingerprint(said), hash, "{said}");
        }
    }
}
