//! Context for the members of a new gathering: the activity on this server, and earlier messages
//! about its opening question.

use std::collections::BTreeSet;

use moothall_kernel::search::Query;
use moothall_kernel::search::tokens::words;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::view::Viewer;

use crate::access::Caller;
use crate::hall::Hall;
use crate::ports::{Hit, ListFilter, ListedStream};

/// Number of words of the opening question that are searched for, the longest first.
const KEYWORDS_MAX: usize = 6;
/// Minimum length of a word that is searched for.
const KEYWORD_CHARS_MIN: usize = 4;
/// Maximum number of lines about earlier conversations.
const SIGNALS_MAX: usize = 5;
/// Maximum length of such a line, in characters.
const SIGNAL_CHARS_MAX: usize = 200;
/// Age up to which a conversation counts as recent.
const LATELY: Millis = Millis::from_secs(24 * 3600);

impl Hall {
    /// Returns the activity on this server within the caller's reach: one line for each kind, with
    /// counts and without content.
    pub(crate) async fn pulse(&self, caller: &Caller) -> Vec<String> {
        let mut lines = Vec::new();
        let filter = ListFilter { archived: Some(false), ..ListFilter::of_conversations() };
        if let Ok(page) = self.list(filter).await {
            let since = self.now() - LATELY;
            let within: Vec<&ListedStream> =
                page.streams.iter().filter(|one| caller.reach.includes(&one.stream)).collect();
            let lately = within.iter().filter(|one| one.last_ts >= since).count();
            lines.push(format!("conversations: {}, {lately} used within a day", within.len()));
        }
        if let Ok(sessions) = self.sessions() {
            let seen = sessions.list(false);
            let seen = seen.iter().filter(|status| self.sees(caller, status)).count();
            lines.push(format!("sessions that live: {seen}"));
        }
        let registry = self.registry();
        let agents: Vec<&str> = registry.iter().map(|spec| spec.client.as_str()).collect();
        if !agents.is_empty() {
            lines.push(format!("agents that can be asked: {}", agents.join(", ")));
        }
        lines
    }

    /// Returns lines about earlier messages that share words with a question, within the caller's
    /// reach, at most five. Messages with the most shared words come first, and of those the
    /// newest.
    pub(crate) async fn signals(&self, caller: &Caller, question: &str) -> Vec<String> {
        let mut found: Vec<(usize, Hit)> = Vec::new();
        for keyword in keywords(question) {
            let Ok(query) = Query::parse(&keyword) else { continue };
            let hits = self.search_within(&caller.reach, query, &Viewer::Guest, SIGNALS_MAX, None);
            for hit in hits.await.map(|hits| hits.hits).unwrap_or_default() {
                let same = |(_, known): &&mut (usize, Hit)| {
                    known.stream == hit.stream && known.recorded.seq == hit.recorded.seq
                };
                match found.iter_mut().find(same) {
                    Some((count, _)) => *count += 1,
                    None => found.push((1, hit)),
                }
            }
        }
        found.sort_by_key(|(count, hit)| std::cmp::Reverse((*count, hit.recorded.ts)));
        let mut lines = Vec::new();
        for (_, hit) in found.into_iter().take(SIGNALS_MAX) {
            lines.extend(self.signal(&hit).await);
        }
        lines
    }

    /// Returns one line about a hit: its day, title, author and the beginning of its words. `None`
    /// if the conversation cannot be found, or the event has no words or author.
    async fn signal(&self, hit: &Hit) -> Option<String> {
        let title = self.find(&hit.stream).await.ok()?.catalog.title;
        let body = hit.recorded.event.body()?;
        let text: String = body.split_whitespace().collect::<Vec<_>>().join(" ");
        let from = hit.recorded.event.from()?;
        let line = format!("{} {title:?}, {from}: {text}", day(hit.recorded.ts));
        Some(if line.chars().count() <= SIGNAL_CHARS_MAX {
            line
        } else {
            line.chars().take(SIGNAL_CHARS_MAX - 1).chain(['…']).collect()
        })
    }
}

fn day(ts: Timestamp) -> String {
    ts.to_string().chars().take(10).collect()
}

/// Returns the longest words of a question, without repetitions, at most six.
fn keywords(question: &str) -> Vec<String> {
    let all: BTreeSet<String> = words(question)
        .into_iter()
        .map(|word| word.text)
        .filter(|word| word.chars().count() >= KEYWORD_CHARS_MIN)
        .collect();
    let mut all: Vec<String> = all.into_iter().collect();
    all.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    all.truncate(KEYWORDS_MAX);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_words_of_a_question_are_searched_for_once_each() {
        let question = "What needs attention in the deployment? The deployment of it!";
        assert_eq!(keywords(question), ["deployment", "attention", "needs", "what"]);
        assert!(keywords("Who? Me.").is_empty());
    }
}
