//! The programs that are offered for terminals, and the folders to start them in.

use std::path::Path;

use moothall_agents::terminal::Program;
use moothall_engine::sessions::SessionHost;

use crate::terminal::Terminals;

#[tokio::test]
async fn a_program_that_is_not_installed_says_how_to_get_it() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let mut known = Program::known_programs();
    known.retain(|client, _| client == "codex");
    known.insert("odd".into(), Program::new(["no-such-program-here"]));
    let here = std::env::current_exe().unwrap().to_string_lossy().into_owned();
    known.insert("own".into(), Program::new([here]));
    // The programs of this computer are not found without a search path.
    let empty = tempfile::tempdir().unwrap();
    let path = empty.path().to_string_lossy().into_owned();
    for program in known.values_mut() {
        program.env.insert("PATH".into(), path.clone());
    }
    terminals.host.replace(known);
    let missing: Vec<_> =
        terminals.host.programs().into_iter().map(|offer| (offer.client, offer.missing)).collect();
    let [(_, codex), (_, odd), (_, own)] = &missing[..] else { panic!("{missing:?}") };
    assert_eq!(
        codex.as_deref(),
        Some("codex is not installed. Install it with `npm install -g @openai/codex`.")
    );
    assert!(odd.as_ref().unwrap().contains("correct its section"), "{odd:?}");
    assert_eq!(*own, None);
}

#[tokio::test]
async fn folders_are_listed_without_hidden_ones_and_files() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["shop/.git", "Notes", ".cache", "bad\u{7}name"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    std::fs::write(at("a file"), "").unwrap();
    std::os::unix::fs::symlink(at("shop"), at("a link")).unwrap();
    let listed = async |path: &Path| terminals.host.folders("fake", path).await;
    let found = listed(folder.path()).await.unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.is_project)).collect();
    assert_eq!(found, [("a link", true), ("Notes", false), ("shop", true)]);
    for (path, why) in [
        (at("a file"), "it is a file"),
        (at("nothing"), "it does not exist"),
        ("shop".into(), "the path is not absolute"),
    ] {
        let fault = listed(&path).await.unwrap_err().to_string();
        assert!(fault.contains(why), "{fault}");
    }
}
