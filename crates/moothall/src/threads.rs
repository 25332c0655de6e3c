//! Resolves command-line names of conversations and participants.

use std::collections::BTreeMap;

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::mentions::{self, Bearer, NameError};
use moothall_kernel::names::{self, NameFault};
use moothall_kernel::participant::Profile;
use moothall_surfaces::wire::{SessionEntry, ThreadEntry, ThreadList, ThreadStateAnswer};

use crate::client::{Client, segment};
use crate::commands::width as cells;
use crate::fault::{Exit, Fault};
use crate::last;
use crate::paint::{Printer, Style, note};

/// Maximum width of the column for names. A longer name pushes the rest of its line to the right.
const NAME_CHARS_MAX: usize = 20;
/// The shortest beginning of an id that can name a conversation.
const PREFIX_CHARS_MIN: usize = 4;

/// The word that stands for the conversation used last.
const LAST: &str = "-";

/// Returns all conversations, in creation order.
///
/// # Errors
/// The server is unreachable or refuses.
pub async fn all(client: &Client) -> Result<Vec<ThreadEntry>, Fault> {
    let mut threads = Vec::new();
    let mut path = "/threads".to_owned();
    loop {
        let page: ThreadList = client.get(&path).await?;
        threads.extend(page.threads);
        let Some(next) = page.next else { return Ok(threads) };
        path = format!("/threads?after={next}");
    }
}

/// Resolves a word to the id of a conversation, and remembers that conversation as the one used
/// last. The word is a whole id, `-` for the conversation used last, an exact name, the beginning
/// of an id with at least four characters, or the name of a session, which stands for its home.
///
/// # Errors
/// The word matches no conversation or several, or the server is unreachable or refuses.
pub async fn resolve(client: &Client, word: &str) -> Result<String, Fault> {
    let id = find(client, word).await?;
    last::remember(client, &id);
    Ok(id)
}

/// Returns the id for [`resolve`]. A whole id is not checked with the server. `-` stands for the
/// conversation with the newest event if none was used from here yet. A note on standard error
/// names the conversation for which `-` stands.
async fn find(client: &Client, word: &str) -> Result<String, Fault> {
    if uuid::Uuid::try_parse(word).is_ok() {
        return Ok(word.to_owned());
    }
    if word == LAST
        && let Some(used) = used_last(client).await?
    {
        note(&format!("Using {:?} (last used).", used.name));
        return Ok(used.thread);
    }
    match choose(&all(client).await?, word) {
        Ok(thread) if word == LAST => {
            note(&format!(
                "Using {:?} (newest message), because no conversation was used from here yet.",
                thread.name
            ));
            Ok(thread.id.clone())
        }
        Ok(thread) => Ok(thread.id.clone()),
        Err(fault) => home_of(client, word).await.ok_or(fault),
    }
}

/// Returns the conversation used last, if there is one.
///
/// # Errors
/// The stored conversation cannot be read. The result is not `None` then, because a message must
/// not go to another conversation in its place.
async fn used_last(client: &Client) -> Result<Option<ThreadStateAnswer>, Fault> {
    let Some(id) = last::recall(client) else { return Ok(None) };
    let forward = "name a conversation; `moothall list` shows them";
    state(client, &id).await.map(Some).map_err(|fault| match fault.exit {
        Exit::Unavailable => fault,
        _ => fault.because("`-` stands for the conversation used last").try_this(forward),
    })
}

/// Returns the id of the named session, which is the id of its home too. `None` if the session is
/// not found.
async fn home_of(client: &Client, word: &str) -> Option<String> {
    let session: SessionEntry = client.get(&format!("/sessions/{}", segment(word))).await.ok()?;
    Some(session.id)
}

/// Finds the conversation whose name or id is the word. If none matches, finds the one whose id
/// begins with the word. For `-`, returns the conversation with the latest event. Fails without a
/// match, or with several.
fn choose<'a>(threads: &'a [ThreadEntry], word: &str) -> Result<&'a ThreadEntry, Fault> {
    if word == LAST {
        let used_last = threads.iter().max_by(|a, b| a.updated_at.cmp(&b.updated_at));
        let none = || {
            Fault::new(Exit::Failure, "no conversation exists yet")
                .try_this("start one: moothall new \"A name\"")
        };
        return used_last.ok_or_else(none);
    }
    let named: Vec<_> =
        threads.iter().filter(|thread| thread.name == word || thread.id == word).collect();
    let begun = || {
        threads
            .iter()
            .filter(|thread| word.len() >= PREFIX_CHARS_MIN && thread.id.starts_with(word))
            .collect()
    };
    let found: Vec<_> = if named.is_empty() { begun() } else { named };
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(Fault::new(
            Exit::Failure,
            format!("no conversation has the name or id prefix {word:?}"),
        )
        .try_this("choose one from `moothall list`, or use - for the one used last")),
        several => {
            let ids: Vec<_> =
                several.iter().map(|thread| format!("{} ({})", thread.id, thread.name)).collect();
            Err(Fault::new(
                Exit::Failure,
                format!("{word:?} matches {} conversations", several.len()),
            )
            .because(ids.join(", "))
            .try_this("use a longer part of the id"))
        }
    }
}

/// Returns the short form of an id for a hint: its first 13 characters, which are its time to the
/// millisecond, without its random digits. Returns a word that is not an id as it is.
pub fn short(id: &str) -> &str {
    const TIME_CHARS: usize = 13;
    match uuid::Uuid::try_parse(id) {
        Ok(_) => id.get(..TIME_CHARS).unwrap_or(id),
        Err(_) => id,
    }
}

/// Returns the path of a conversation's resource.
pub fn path(thread: &str, rest: &str) -> String {
    format!("/threads/{}/{rest}", segment(thread))
}

/// Returns the current state of a conversation.
///
/// # Errors
/// The server is unreachable or refuses.
pub async fn state(client: &Client, thread: &str) -> Result<ThreadStateAnswer, Fault> {
    client.get(&path(thread, "state")).await
}

/// Resolves a word to the id of a participant of a conversation. A word that matches no participant
/// is returned as an id if it has only characters that an id may have.
///
/// # Errors
/// The server is unreachable or refuses, the name matches several participants, or it matches none
/// and cannot be an id.
pub async fn participant(client: &Client, thread: &str, word: &str) -> Result<String, Fault> {
    let state = state(client, thread).await?;
    let invited = &state.state.participants.invited;
    if invited.iter().any(|entry| entry.id == word) {
        return Ok(word.to_owned());
    }
    let faces = Faces::of(&state);
    match faces.addressed(word) {
        Ok((id, "")) => Ok(id),
        // The id may be the person's own; the server gives a better error.
        Err(NameError::Nobody(_))
            if !matches!(names::check_id(word), Err(NameFault::Character(_))) =>
        {
            Ok(word.to_owned())
        }
        Ok(_) => Err(Fault::new(Exit::Failure, faces.explain(&NameError::Nobody(word.to_owned())))),
        Err(unclear) => Err(Fault::new(Exit::Failure, faces.explain(&unclear))),
    }
}

/// Display names of a conversation's participants, and their colours, which follow the order of
/// invitation.
#[derive(Clone, Debug, Default)]
pub struct Faces {
    known: BTreeMap<String, (String, usize)>,
    /// Names of participants who left.
    left: BTreeMap<String, String>,
    profiles: Vec<(ParticipantId, Profile)>,
}

impl Faces {
    /// Collects the participants of a conversation.
    pub fn of(answer: &ThreadStateAnswer) -> Self {
        let known = answer.state.participants.invited.iter().map(|entry| {
            let name = entry.profile.nickname.clone().unwrap_or_else(|| entry.id.clone());
            (entry.id.clone(), (name, entry.color))
        });
        let invited = answer.state.participants.invited.iter();
        let profiles = invited
            .map(|entry| (ParticipantId::new(&entry.id), Profile::from(entry.profile.clone())))
            .collect();
        let left = answer.state.participants.left.iter();
        let left = left.map(|gone| (gone.id.clone(), gone.name.clone())).collect();
        Self { known: known.collect(), left, profiles }
    }

    /// Creates faces of these participants only.
    #[cfg(test)]
    pub fn among(profiles: impl IntoIterator<Item = (ParticipantId, Profile)>) -> Self {
        Self {
            known: BTreeMap::new(),
            left: BTreeMap::new(),
            profiles: profiles.into_iter().collect(),
        }
    }

    /// Parses the id or a name of a participant at the start of a text, by the rules of the
    /// server's mentions. Returns the participant's id and the remaining text.
    ///
    /// # Errors
    /// [`NameError`] if no participant has the name, or several.
    pub fn addressed<'w>(&self, words: &'w str) -> Result<(String, &'w str), NameError> {
        let among =
            self.profiles.iter().map(|(id, profile)| Bearer { id, profile, full_name: None });
        mentions::addressed(words, among).map(|(id, rest)| (id.to_string(), rest))
    }

    /// Explains a name that matches no participant, with all ids, or one that matches several, with
    /// their ids.
    pub fn explain(&self, unclear: &NameError) -> String {
        let listed = |ids: &mut dyn Iterator<Item = &ParticipantId>| {
            ids.map(ParticipantId::as_str).collect::<Vec<_>>().join(", ")
        };
        match unclear {
            NameError::Nobody(name) => {
                let here = listed(&mut self.profiles.iter().map(|(id, _)| id));
                format!("{name} is not a participant here; participants: {here}")
            }
            NameError::Several(name, ids) => {
                let ids = listed(&mut ids.iter());
                format!("{name} matches several participants; use an id: {ids}")
            }
        }
    }

    /// Returns the display name of a participant, also of one who left. Returns any other id as it
    /// is.
    pub fn name<'a>(&'a self, id: &'a str) -> &'a str {
        let left = || self.left.get(id).map_or(id, String::as_str);
        self.known.get(id).map_or_else(left, |(name, _)| name)
    }

    /// Returns the painted name, padded to a width.
    pub fn painted(&self, printer: &Printer, id: &str, width: usize) -> String {
        let name = self.name(id);
        let fill = " ".repeat(width.saturating_sub(cells(name)));
        format!("{}{fill}", printer.paint(self.style(id), name))
    }

    /// Returns the style of a participant.
    pub fn style(&self, id: &str) -> Style {
        match self.known.get(id) {
            Some((_, place)) => Style::Person(*place),
            None if id == ParticipantId::MOOTHALL => Style::Dim,
            None => Style::Bold,
        }
    }

    /// Returns the width of the column for names: that of the longest name, but at least that of
    /// `moothall` and at most [`NAME_CHARS_MAX`].
    pub fn width(&self) -> usize {
        let names = self.known.values().map(|(name, _)| name).chain(self.left.values());
        names
            .map(|name| cells(name))
            .max()
            .unwrap_or_default()
            .clamp(ParticipantId::MOOTHALL.len(), NAME_CHARS_MAX)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Returns an entry in which only id, name and time of the last change matter.
    fn thread(id: &str, name: &str, updated_at: &str) -> ThreadEntry {
        ThreadEntry {
            id: id.into(),
            name: name.into(),
            created_at: "2026-01-01T00:00:00.000Z".into(),
            updated_at: updated_at.into(),
            head: 1,
            archived: false,
            policy: "hybrid".into(),
            waits_for_people: None,
            read: None,
            unread: None,
            last: None,
            direct: None,
            names: Default::default(),
        }
    }

    #[test]
    fn a_word_means_one_conversation_or_says_which() {
        let threads = [
            thread("0198aaaa", "Plan", "2026-01-01T00:00:03.000Z"),
            thread("0198aabb", "Review", "2026-01-01T00:00:09.000Z"),
            thread("0198ccdd", "Plan", "2026-01-01T00:00:01.000Z"),
        ];
        let chosen = |word: &str| choose(&threads, word).map(|thread| thread.id.as_str());
        assert_eq!(chosen("-").unwrap(), "0198aabb");
        assert_eq!(chosen("Review").unwrap(), "0198aabb");
        assert_eq!(chosen("0198c").unwrap(), "0198ccdd");
        assert!(chosen("Plan").unwrap_err().why.unwrap().contains("0198ccdd"));
        assert!(chosen("0198aa").is_err());
        assert!(chosen("019").is_err(), "too short to mean an id");
        assert!(chosen("review").is_err());
        assert!(choose(&[], "-").unwrap_err().forward.unwrap().contains("moothall new"));
    }
}
