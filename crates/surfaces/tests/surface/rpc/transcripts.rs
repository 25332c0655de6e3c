//! The frames in both directions, for each method and error, as written in `transcripts/*.txt`.
//! `MOOTHALL_BLESS=1` writes the received frames anew: read the difference.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use moothall_surfaces::openrpc;

use super::stage::Stage;

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/surface/rpc/transcripts");
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|one| one.unwrap().path()).collect();
    all.sort();
    all
}

/// Plays the transcripts whose names begin with this text.
async fn play(beginning: &str) {
    let blessing = env::var_os("MOOTHALL_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in transcripts() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.starts_with(beginning) {
            continue;
        }
        let script = fs::read_to_string(&path).unwrap();
        let mut stage = Stage::new(blessing).await;
        let now = stage.play(&script).await;
        wrong.append(&mut stage.wrong);
        if now != script && blessing {
            fs::write(&path, now).unwrap();
        } else if now != script {
            wrong.push(difference(&name, &script, &now));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn difference(name: &str, kept: &str, now: &str) -> String {
    let (mut kept, mut now) = (kept.lines(), now.lines());
    let mut line = 0;
    loop {
        line += 1;
        let (kept, now) = (kept.next(), now.next());
        if kept != now || kept.is_none() {
            return format!("{name}:{line}: it says\n  {kept:?}\nand what happens is\n  {now:?}");
        }
    }
}

#[tokio::test]
async fn every_transcript_about_connecting_plays_as_it_is_written() {
    play("connect").await;
}

#[tokio::test]
async fn every_transcript_about_conversations_plays_as_it_is_written() {
    play("conversation").await;
}

#[tokio::test]
async fn every_transcript_about_managers_plays_as_it_is_written() {
    play("manager").await;
}

#[tokio::test]
async fn every_transcript_about_messages_plays_as_it_is_written() {
    play("messages").await;
}

#[tokio::test]
async fn every_transcript_about_tasks_plays_as_it_is_written() {
    play("task").await;
}

#[tokio::test]
async fn every_transcript_about_agents_plays_as_it_is_written() {
    play("agents").await;
}

/// A promised method or error needs a transcript that shows it.
#[test]
fn every_method_and_notification_and_nearly_every_error_stands_in_a_transcript() {
    let all: Vec<_> = transcripts().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let text = all.join("\n");
    let document = openrpc();
    for method in document["methods"].as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        let called = text.contains(&format!("-> {name} ")) || text.contains(&format!("\"{name}\""));
        assert!(called, "{name} stands in no transcript");
    }
    let errors = document["components"]["errors"].as_object().unwrap();
    let codes: BTreeSet<i64> =
        errors.values().map(|error| error["code"].as_i64().unwrap()).collect();
    // Excluded: internal errors do not occur, contacts do not exist, and floods and crowds have
    // their own tests.
    let elsewhere = BTreeSet::from([-32603, -32005, -32004, -32007]);
    for code in codes.difference(&elsewhere) {
        assert!(text.contains(&format!("\"code\":{code},")), "{code} stands in no transcript");
    }
}
