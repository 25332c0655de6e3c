//! The conversation that was used last. It is stored separately for each user of this computer,
//! each server and each participant's name.

use std::fs;
use std::path::PathBuf;

use crate::client::{Client, segment};
use crate::config::{Variables, environment, usual_state_folder};
use crate::credential::write_private;

/// Stores the id of a conversation as the one used last. Errors are ignored, because the person can
/// still name the conversation.
pub fn remember(client: &Client, thread: &str) {
    let Some(file) = place(&client.base(), client.name(), &environment()) else { return };
    let _ = file
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| write_private(&file, thread.as_bytes()));
}

/// Returns the id of the conversation used last, if there is one.
pub fn recall(client: &Client) -> Option<String> {
    let id = fs::read_to_string(place(&client.base(), client.name(), &environment())?).ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Returns the file for the conversation that a participant used last on a server. `None` if the
/// state folder is unknown.
fn place(server: &str, name: &str, variables: &Variables) -> Option<PathBuf> {
    usual_state_folder(variables)
        .map(|folder| folder.join("last").join(format!("{}.{}", segment(server), segment(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_and_name_has_a_place_of_its_own() {
        let variables = Variables::from([("HOME".to_owned(), "/people/ann".to_owned())]);
        let place = |server, name| place(server, name, &variables);
        let ann = place("http://127.0.0.1:5111", "ann");
        assert!(
            ann.as_ref()
                .is_some_and(|file| file.starts_with("/people/ann/.local/state/moothall/last"))
        );
        assert_ne!(ann, place("http://127.0.0.1:5111", "bob"));
        assert_ne!(ann, place("http://127.0.0.1:5112", "ann"));
    }
}
