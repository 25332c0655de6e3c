//! Trails: the harvests of gatherings in the files of their rhythms, even if the server dies.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Home, Server, comes_about};

/// Configures an agent that writes its harvest at once, and the folder of the trails.
fn agents(home: &Home) -> String {
    let folder = home.path().join("trails");
    format!(
        r#"
[server]
trails = {folder:?}

[agents.scribe]
replies = ["What emerged: two words."]
"#
    )
}

fn planned(home: &Home) -> Server<'_> {
    home.configure(&agents(home));
    home.serve()
}

/// Starts a gathering and ends it at once; returns its id. If the server dies at the end, the end
/// may be unacknowledged.
async fn held(server: &Server<'_>, rhythm: &str, question: &str) -> String {
    let members = json!([
        {"name": "Ann", "number": 1, "kind": "human", "participant_id": "ann"},
        {"name": "Bob", "number": 2, "kind": "human", "participant_id": "bob"},
        {"name": "Hal", "number": 3, "kind": "agent", "client": "scribe", "role": "harvester"},
    ]);
    let plan = json!({"rhythm": rhythm, "opening_question": question, "participants": members});
    let begun = server.accepted("/gatherings", plan).await;
    let id = begun["id"].as_str().unwrap().to_owned();
    let _ = server.try_post(&format!("/gatherings/{id}/end"), &json!({})).await;
    id
}

fn trail(home: &Home, rhythm: &str) -> String {
    fs::read_to_string(home.path().join("trails").join(format!("{rhythm}.md"))).unwrap_or_default()
}

/// Waits until the daily trail contains an id; returns how often it does.
async fn written(home: &Home, id: &str) -> usize {
    let times = || trail(home, "daily").matches(id).count();
    assert!(comes_about(async || times() > 0).await, "{}", trail(home, "daily"));
    times()
}

/// Waits until no delivery is owed.
async fn settled(server: &Server<'_>) {
    let owes = async || {
        let url = format!("{}/metrics", server.url);
        let text = server.http.get(url).send().await.unwrap().text().await.unwrap();
        let mut lines = text.lines().filter(|line| line.starts_with("moothall_deliveries{"));
        lines.any(|line| !line.ends_with(" 0"))
    };
    assert!(comes_about(async || !owes().await).await);
}

async fn closed(server: &Server<'_>, id: &str) -> Value {
    server.wait_for(id, 0, |event| event["content"]["event"] == "closed").await
}

#[tokio::test]
async fn a_harvest_is_appended_to_the_trail_of_its_rhythm_once_although_the_server_is_killed() {
    let home = Home::new();
    let server = planned(&home);
    let first = held(&server, "daily", "What is\n# in the way?").await;
    closed(&server, &first).await;
    // The crash may come before or after the write.
    let server = server.crash_and_restart();
    assert_eq!(written(&home, &first).await, 1);
    let text = trail(&home, "daily");
    let day = text.trim_start().get(2..12).unwrap().to_owned();
    let mark = text.lines().last().unwrap().to_owned();
    assert!(mark.starts_with(&format!("<!-- gathering {first} ")), "{text}");
    let expected = format!(
        "\n# {day} Gathering: daily\n\nSpeakers: Ann (1), Bob (2). Harvester: Hal (3).\n\
         Opening question: What is\n  # in the way?\n\nWhat emerged: two words.\n\n{mark}\n"
    );
    assert_eq!(text, expected);

    // A second harvest of the rhythm follows the first; another rhythm has its own file.
    let second = held(&server, "daily", "").await;
    let other = held(&server, "weekly", "").await;
    assert_eq!(written(&home, &second).await, 1);
    let server = server.crash_and_restart();
    settled(&server).await;
    let text = trail(&home, "daily");
    assert!(text.starts_with(&expected), "{text}");
    let counts = [&first, &second, &other].map(|id| text.matches(id.as_str()).count());
    assert_eq!(counts, [1, 1, 0], "{text}");
    assert_eq!(trail(&home, "weekly").matches(&other).count(), 1);
}

#[cfg(feature = "crash-points")]
#[tokio::test]
async fn a_server_that_dies_while_it_writes_to_a_trail_writes_once() {
    for point in
        ["before_reply_append:1", "after_reply_append:1", "delivery_taken:1", "delivery_carried:1"]
    {
        let home = Home::new();
        home.configure(&agents(&home));
        let server = home.serve_with("127.0.0.1:0", &[("MOOTHALL_CRASH_AT", point)]);
        let id = held(&server, "daily", "").await;
        assert!(!server.end().success(), "{point}");
        let server = home.serve();
        closed(&server, &id).await;
        assert_eq!(written(&home, &id).await, 1, "{point}");
        settled(&server).await;
        assert_eq!(written(&home, &id).await, 1, "{point}");
    }
}

#[tokio::test]
async fn nothing_is_written_of_a_gathering_that_was_erased_or_deleted_meanwhile() {
    let home = Home::new();
    home.sign();
    // A file in place of the folder makes every write fail.
    fs::write(home.path().join("trails"), "in the way").unwrap();
    let server = planned(&home);
    let mut gone = Vec::new();
    for fate in ["erased", "deleted", "kept"] {
        let id = held(&server, "daily", fate).await;
        let path = format!("/gatherings/{id}");
        let harvested = async || server.get(&path).await["harvest"]["event"].is_string();
        assert!(comes_about(harvested).await, "{fate}");
        gone.push(id);
    }
    let [erased, deleted, kept] = &gone[..] else { unreachable!() };
    let harvest = server.get(&format!("/gatherings/{erased}")).await["harvest"]["event"].clone();
    let redact = format!("/threads/{erased}/events/{}/redact", harvest.as_str().unwrap());
    server.accepted(&redact, json!({})).await;
    let delete = server.http.delete(format!("{}/threads/{deleted}", server.url));
    assert!(delete.bearer_auth(home.key()).send().await.unwrap().status().is_success());

    server.kill();
    fs::remove_file(home.path().join("trails")).unwrap();
    let server = home.serve();
    assert_eq!(written(&home, kept).await, 1);
    settled(&server).await;
    let text = trail(&home, "daily");
    let counts = [erased, deleted, kept].map(|id| text.matches(id.as_str()).count());
    assert_eq!(counts, [0, 0, 1], "{text}");
    assert!(!text.contains("erased") && !text.contains("deleted"), "{text}");
}
