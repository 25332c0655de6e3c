//! Repeatable randomness: a seed always gives the same numbers.

/// A stream of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns an independent stream.
    pub fn branch(&mut self) -> Self {
        Self(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `below - 1`.
    pub fn below(&mut self, below: u64) -> u64 {
        self.next() % below
    }
}

/// Reads a number from the environment, or computes the default.
pub fn setting(name: &str, otherwise: impl FnOnce() -> u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("{name} takes a whole number, not {text:?}"))
        }
        Err(_) => otherwise(),
    }
}

/// Returns the seed of this run: `MOOTHALL_KILL_SEED`, or a new one.
pub fn seed() -> u64 {
    let now =
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    setting("MOOTHALL_KILL_SEED", || u64::try_from(now()).unwrap())
}
