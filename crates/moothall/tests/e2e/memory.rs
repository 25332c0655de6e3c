//! Prompts of a stateless program in a growing conversation.

use serde_json::{Value, json};

use crate::harness::{Home, Server};

/// Prints how often its prompt contains a name, and whether earlier messages were left out.
const COUNTS: &str = r#"prompt=$(cat); echo "times $(printf '%s' "$prompt" | grep -c Lovelace) of $(printf '%s' "$prompt" | grep -c 'earlier messages')""#;
/// Stores its complete input document.
const WINDOW: &str = r#"cat > "$0.part.$$"; mv "$0.part.$$" "$0.json"; echo "[PASS]""#;

async fn answer_of(server: &Server<'_>, thread: &str, who: &str, words: &str) -> String {
    let said = server.say(thread, words).await;
    server.reply(thread, &said, who).await["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_program_remembers_what_was_said_however_many_events_lie_between() {
    let home = Home::new();
    let (counts, window) = (home.script("counts", COUNTS), home.script("window", WINDOW));
    let passes = home.script("passes", "cat > /dev/null; echo '[PASS]'");
    home.configure(&format!(
        "[agents.mem]\ncommand = [\"{counts}\"]\nstdin = \"prompt\"\n[agents.window]\ncommand = [\"{window}\"]\n\
         [agents.passes]\ncommand = [\"{passes}\"]\n[agents.short]\ncommand = [\"{counts}\"]\nstdin = \"prompt\"\ntranscript_bytes = 1024\n"
    ));
    let server = home.serve();
    let policy = json!({"name": "hybrid", "cooldown_seconds": 0.0});
    let created = server.accepted("/threads", json!({"name": "Talk", "policy": policy})).await;
    let thread = created["id"].as_str().unwrap().to_owned();
    for client in ["mem", "window", "passes", "short"] {
        server.invite(&thread, client, client).await;
    }
    server.control(&thread, json!({"mute": {"targets": ["short"]}})).await;
    server.say(&thread, "My name is Ada Lovelace.").await;
    for round in 0..15 {
        assert_eq!(
            answer_of(&server, &thread, "mem", &format!("@mem question {round}?")).await,
            "times 1 of 0",
            "question {round}"
        );
    }
    let events = server.events(&thread).await;
    let head = events.last().unwrap()["seq"].as_u64().unwrap();
    assert!(head > 200, "there are only {head} events: too few to show anything");
    let document: Value =
        serde_json::from_slice(&std::fs::read(format!("{window}.json")).unwrap()).unwrap();
    assert_eq!(document["context_window"].as_array().unwrap().len(), 25);
    server.control(&thread, json!({"mute": {"targets": ["mem", "window", "passes"]}})).await;
    for _ in 0..6 {
        server.say(&thread, &"More words. ".repeat(40)).await;
    }
    server.control(&thread, json!({"unmute": {"targets": ["short"]}})).await;
    assert_eq!(
        answer_of(&server, &thread, "short", "@short and you?").await,
        "times 0 of 1",
        "it has room for less"
    );
}

#[tokio::test]
async fn a_paste_drives_nothing_out_and_goes_in_once() {
    let home = Home::new();
    let script = home.script("reader", r#"cat > "$0.prompt"; echo "read""#);
    home.configure(&format!("[agents.reader]\ncommand = [\"{script}\"]\nstdin = \"prompt\"\n"));
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "reader", "reader").await;
    server.say(&thread, "My name is Ada Lovelace.").await;
    let paste = "word ".repeat(10_000);
    let prompt = || std::fs::read_to_string(format!("{script}.prompt")).unwrap();
    answer_of(&server, &thread, "reader", &format!("@reader look at {paste}end")).await;
    assert!(prompt().contains("Lovelace") && prompt().contains(&paste), "{}", prompt().len());
    assert!(prompt().len() < 55_000, "{}", prompt().len());
    answer_of(&server, &thread, "reader", "@reader what is my name?").await;
    assert!(
        prompt().contains("Lovelace") && prompt().contains("@reader look at word word"),
        "{}",
        prompt().len()
    );
    assert!((12_000..15_000).contains(&prompt().len()), "{}", prompt().len());
}
