//! One at a time for each key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Mutex as Turnstile;

/// Requests under way, by key: one of each at a time.
#[derive(Default)]
pub(crate) struct Turnstiles(Mutex<HashMap<String, Weak<Turnstile<()>>>>);

impl Turnstiles {
    pub(crate) fn of(&self, key: &str) -> Arc<Turnstile<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, turnstile| turnstile.strong_count() > 0);
        let known = all.get(key).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let new = Arc::new(Turnstile::default());
            all.insert(key.to_owned(), Arc::downgrade(&new));
            new
        })
    }
}
