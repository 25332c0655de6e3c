//! Hostile input for parsers: a corpus, changed as storage, networks and attackers would change it.
//!
//! The cases follow from the target's name and a seed, so every machine and every run tries the
//! same ones. A failure prints its input. `MOOTHALL_FUZZ=200` tries 200 times as many cases,
//! `MOOTHALL_FUZZ_SEED=7` tries others.

use std::path::Path;

use crate::sim::rng::Rng;

/// Number of cases for each target.
const CASES: u64 = 2_000;
/// Longest input, in bytes.
const BYTES_MAX: usize = 16 * 1024;
/// Maximum number of changes to a case.
const CHANGES_MAX: u64 = 4;
/// Maximum number of repeats of a piece: enough to nest deeper than any parser may follow.
const REPEATS_MAX: u64 = 400;

/// Returns the files of a corpus, in the order of their names.
///
/// # Panics
/// The folder is empty or cannot be read: a target without a corpus tries little.
pub fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no corpus", folder.display());
    files
        .iter()
        .map(|file| {
            std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        })
        .collect()
}

/// Tries each file of a corpus unchanged, and then thousands of changed ones. `words` are keywords
/// of the parser, which are inserted more often than chance would.
///
/// # Panics
/// The check panics.
pub fn bytes(target: &str, corpus: &[Vec<u8>], words: &[&str], check: impl Fn(&[u8])) {
    let seed = number("MOOTHALL_FUZZ_SEED", 1);
    let mut rng = Rng::new(
        target.bytes().fold(seed, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into())),
    );
    for input in corpus {
        tried(target, input, &check);
    }
    for _ in 0..CASES * number("MOOTHALL_FUZZ", 1) {
        tried(target, &changed(&mut rng, corpus, words), &check);
    }
}

/// Tries the cases of [`bytes`] as text, with invalid UTF-8 replaced.
///
/// # Panics
/// The check panics.
pub fn texts(target: &str, corpus: &[Vec<u8>], words: &[&str], check: impl Fn(&str)) {
    bytes(target, corpus, words, |bytes| check(&String::from_utf8_lossy(bytes)));
}

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn tried(target: &str, input: &[u8], check: &impl Fn(&[u8])) {
    let report = PanicReport { target, input };
    check(input);
    drop(report);
}

/// Prints the input when the check panics.
struct PanicReport<'a> {
    target: &'a str,
    input: &'a [u8],
}

impl Drop for PanicReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "{} fails for these {} bytes: b\"{}\"",
                self.target,
                self.input.len(),
                self.input.escape_ascii()
            );
        }
    }
}

fn changed(rng: &mut Rng, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut input = rng.pick(corpus).cloned().unwrap_or_default();
    for _ in 0..rng.between(1, CHANGES_MAX) {
        change(rng, &mut input, corpus, words);
        input.truncate(BYTES_MAX);
    }
    input
}

/// Makes one change. An inserted piece replaces another, which is often empty.
fn change(rng: &mut Rng, input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str]) {
    let at = piece(rng, input.len());
    match rng.below(8) {
        0 => flip(rng, input),
        1 => input.truncate(at.start),
        2 => drop(input.drain(at)),
        3 => repeat(rng, input, at),
        4 => drop(input.splice(at.start..at.start, byte(rng))),
        5 => {
            let other = rng.pick(corpus).map_or(&[][..], Vec::as_slice);
            let taken = other[piece(rng, other.len())].to_vec();
            input.splice(at, taken);
        }
        6 | 7 => {
            let word = rng.pick(words).copied().unwrap_or_default();
            let end = if rng.chance(50) { at.start } else { at.end };
            input.splice(at.start..end, word.bytes());
        }
        other => unreachable!("{other} is no change"),
    }
}

/// Returns a range within `length`, mostly a short one.
fn piece(rng: &mut Rng, length: usize) -> std::ops::Range<usize> {
    let start = rng.below(length as u64 + 1) as usize;
    let room = (length - start) as u64;
    let room = if rng.chance(80) { room.min(12) } else { room };
    start..start + rng.below(room + 1) as usize
}

fn flip(rng: &mut Rng, input: &mut [u8]) {
    let at = rng.below(input.len() as u64) as usize;
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << rng.below(8);
    }
}

fn byte(rng: &mut Rng) -> Option<u8> {
    // Bytes that command a terminal, end a line, or are half of something.
    const HARD: &[u8] = b"\0\x1b\r\n\t\"\\{}[]:,@`/-\xff\xc3\xe2\xf0\x80\x7f";
    if rng.chance(70) { rng.pick(HARD).copied() } else { Some(rng.below(256) as u8) }
}

fn repeat(rng: &mut Rng, input: &mut Vec<u8>, at: std::ops::Range<usize>) {
    let piece = input[at.clone()].to_vec();
    let times = if rng.chance(80) { rng.between(1, 4) } else { rng.between(1, REPEATS_MAX) };
    let room = BYTES_MAX.checked_div(piece.len()).unwrap_or_default();
    input.splice(at.end..at.end, piece.repeat(room.min(times as usize)));
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::*;

    fn inputs(target: &str) -> Vec<Vec<u8>> {
        let seen = RefCell::new(Vec::new());
        bytes(
            target,
            &[b"{\"a\": [1]}".to_vec(), b"/ask @ann".to_vec()],
            &["--", "null"],
            |input| seen.borrow_mut().push(input.to_vec()),
        );
        seen.into_inner()
    }

    #[test]
    fn every_run_tries_the_same_and_every_target_something_else() {
        assert_eq!(inputs("one"), inputs("one"));
        assert_ne!(inputs("one"), inputs("another"));
    }

    #[test]
    fn the_corpus_comes_first_and_then_many_different_cases() {
        let inputs = inputs("one");
        assert_eq!(inputs[..2], [b"{\"a\": [1]}".to_vec(), b"/ask @ann".to_vec()]);
        assert!(inputs.iter().collect::<BTreeSet<_>>().len() > CASES as usize / 2);
        assert!(inputs.iter().all(|input| input.len() <= BYTES_MAX));
        let holds = |word: &[u8]| {
            inputs.iter().any(|input| input.windows(word.len()).any(|window| window == word))
        };
        assert!(holds(b"--") && holds(b"null") && holds(&b"[".repeat(100)) && holds(b"\x1b"));
    }

    #[test]
    #[should_panic(expected = "an escape")]
    fn what_fails_is_found() {
        bytes("one", &[b"some words".to_vec()], &[], |input| {
            assert!(!input.contains(&0x1b), "an escape")
        });
    }
}
