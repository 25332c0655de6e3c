//! Interrupting programs at work, and answering their questions.

use std::fs;
use std::path::Path;
use std::process::Command;

use moothall_testkit::model_server::Reply;
use serde_json::{Value, json};

use crate::harness::Server;
use crate::house::{House, in_state, until};

/// Returns the outcomes of a session's turns at its home.
pub async fn outcomes(server: &Server<'_>, session: &str) -> Vec<Value> {
    let turns = server.get(&format!("/threads/{session}/turns")).await;
    turns["turns"].as_array().unwrap().iter().map(|turn| turn["outcome"].clone()).collect()
}

/// Checks that a program interrupted during this reply takes the next prompt, and nothing else.
async fn is_interrupted(client: &str, slow: Reply) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    house.when("slow-tag", &slow);
    server.say(&session, "Please slow-tag").await;
    house.model(client).asked_about("slow-tag").await;
    in_state(&server, &session, "busy").await;
    server.accepted(&format!("/sessions/{session}/interrupt"), json!({})).await;
    until(&server, &session, "its turn is cancelled", async || {
        outcomes(&server, &session).await == ["cancelled"]
    })
    .await;
    house.when("next-tag", &Reply::text("Reply to the next."));
    let next = server.say(&session, "And next-tag").await;
    assert_eq!(server.reply(&session, &next, client).await["content"], "Reply to the next.");
    assert_eq!(outcomes(&server, &session).await, ["cancelled", "spoke"]);
    let asked = house.model(client).requests();
    let asked: Vec<&str> = asked
        .iter()
        .map(|request| request.newest.as_str())
        .filter(|newest| newest.contains("next-tag"))
        .collect();
    assert!(
        !asked.is_empty() && asked.iter().all(|newest| !newest.contains("slow-tag")),
        "nothing is added to it: {asked:?}"
    );
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_is_interrupted_before_it_says_anything() {
    // Claude Code puts the prompt back into its composer.
    is_interrupted("claude", Reply::hang()).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_is_interrupted_in_the_middle_of_its_words() {
    is_interrupted("claude", Reply::stall(["Begun "])).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_is_interrupted() {
    is_interrupted("codex", Reply::stall(["Begun "])).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_is_interrupted() {
    is_interrupted("gemini", Reply::stall(["Begun "])).await;
}

/// Waits for the question of a session.
pub async fn question(server: &Server<'_>, session: &str) -> Value {
    let asks =
        |event: &Value| event["type"] == "permission" && event["content"]["event"] == "requested";
    let asked = async || server.events(session).await.iter().any(asks);
    until(server, session, "it asks", asked).await;
    server.events(session).await.into_iter().find(asks).unwrap()["content"].clone()
}

/// Returns the tool that a session uses, and its line, from an answer with states.
fn used(answer: &Value, session: &str) -> (Value, Value) {
    let mut states = answer["states"].as_array().unwrap().iter();
    let state = states.find(|state| state["session"] == session).cloned().unwrap_or_default();
    (state["tool"].clone(), state["line"].clone())
}

/// A command that runs until it may go on, for Codex.
const WAITING: &str = "touch made-by-agent; until test -e go-on; do sleep 0.1; done";

/// Checks that a program asks before it runs a command: people see the exact command, and one of
/// them allows it. While a command of Codex runs, it is the state of the program.
async fn asks_before(client: &str, args: &[&str], tool: &str, arguments: Value, allow: &str) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, args).await;
    house.when("touch-tag", &Reply::tool(tool, arguments));
    server.say(&session, "Please touch-tag").await;
    let question = question(&server, &session).await;
    let action = question["action"].as_str().unwrap();
    assert!(
        action.contains("touch made-by-agent"),
        "the action itself, and not its title: {question}"
    );
    let options = question["options"].as_array().unwrap();
    let allow = options
        .iter()
        .find(|option| option["label"].as_str().unwrap().starts_with(allow))
        .unwrap_or_else(|| panic!("{question}"));
    assert_eq!(allow["kind"], "allow_once", "{question}");
    let allow = &allow["id"];
    let path = format!("/permissions/{}/answer", question["permission"].as_str().unwrap());
    let answer = json!({"thread": session, "option": allow});
    let made = house.home.path().join("work/made-by-agent");
    assert!(!made.exists());
    assert_eq!(
        server.post(&path, json!({"thread": session, "option": allow, "from": client})).await.0,
        403,
        "no agent answers"
    );
    assert_eq!(house.post_as_owner(&server, &path, &answer).await, 200);
    until(&server, &session, "it does it", async || made.exists()).await;
    if client == "codex" {
        // Its record alone tells the tool.
        until(&server, &session, "its tool is shown", async || {
            used(&server.get("/states").await, &session) == (json!(tool), json!(WAITING))
        })
        .await;
        fs::write(house.home.path().join("work/go-on"), "").unwrap();
    }
    until(&server, &session, "it is done", async || outcomes(&server, &session).await == ["spoke"])
        .await;
    assert_eq!(house.post_as_owner(&server, &path, &answer).await, 409, "the first answer counts");
}

/// Checks that the fault of a refused turn is the refusal, and neither an interruption nor a turn
/// that never began.
async fn is_refused(client: &str, tool: &str, arguments: Value) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    house.when("touch-tag", &Reply::tool(tool, arguments));
    server.say(&session, "Please touch-tag").await;
    let question = question(&server, &session).await;
    let path = format!("/permissions/{}/answer", question["permission"].as_str().unwrap());
    assert_eq!(
        house.post_as_owner(&server, &path, &json!({"thread": session, "option": "deny"})).await,
        200
    );
    until(&server, &session, "it stops", async || outcomes(&server, &session).await == ["failed"])
        .await;
    let faults = server
        .events(&session)
        .await
        .into_iter()
        .map(|event| event["meta"]["error"]["code"].clone());
    assert_eq!(faults.filter(|code| !code.is_null()).collect::<Vec<_>>(), ["refused"]);
    assert!(!house.home.path().join("work/made-by-agent").exists());
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_stops_when_it_is_refused() {
    let arguments = json!({"cmd": "touch made-by-agent", "sandbox_permissions": "require_escalated", "justification": "Read a file?"});
    is_refused("codex", "exec_command", arguments).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_stops_when_it_is_refused() {
    let arguments = json!({"command": "touch made-by-agent", "description": "Read a file"});
    is_refused("gemini", "run_shell_command", arguments).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_asks_by_its_hook() {
    let arguments = json!({"command": "touch made-by-agent", "description": "Read a file"});
    asks_before("claude", &[], "Bash", arguments, "allow").await;
}

/// Lets Claude Code ask its user a question, and answers it by the permission. Returns the model's
/// view of the answer.
async fn is_asked_which(answer: Value) -> String {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, "claude", &[]).await;
    let option =
        |label: &str, description: &str| json!({"label": label, "description": description});
    let options = [option("SQLite", "One file"), option("Postgres", "A server")];
    let asks = json!({"question": "Which database do we use?", "header": "DB", "multiSelect": false, "options": options});
    house.when("choose-tag", &Reply::tool("AskUserQuestion", json!({"questions": [asks]})));
    server.say(&session, "Please choose-tag").await;
    let question = question(&server, &session).await;
    assert!(
        question["action"].as_str().unwrap().contains("Which database do we use?"),
        "{question}"
    );
    let of = |key: &str| {
        question["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(|option| option[key].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("label"), ["SQLite", "Postgres", "Type something.", "Chat about this"]);
    assert_eq!(of("description")[..2], ["One file", "A server"]);
    assert_eq!(of("takes_text"), [Value::Null, Value::Null, json!(true), Value::Null]);
    let path = format!("/permissions/{}/answer", question["permission"].as_str().unwrap());
    let mut body = json!({"thread": session});
    body.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
    assert_eq!(house.post_as_owner(&server, &path, &body).await, 200);
    until(&server, &session, "it goes on", async || outcomes(&server, &session).await == ["spoke"])
        .await;
    let mut heard =
        house.model("claude").requests().into_iter().map(|request| request.body.to_string());
    heard.rfind(|body| body.contains("tool_result")).unwrap_or_default()
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_is_answered_by_an_option() {
    let heard = is_asked_which(json!({"option": "Postgres"})).await;
    assert!(heard.contains(r#"\"Which database do we use?\"=\"Postgres\""#), "{heard}");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_is_answered_in_words() {
    let heard = is_asked_which(json!({"text": "/srv has one:\n\n1. MariaDB \u{1f600}"})).await;
    assert!(heard.contains(r#"\"=\"/srv has one:\n\n1. MariaDB 😀\""#), "{heard}");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_asks_on_its_screen() {
    let arguments = json!({"cmd": WAITING, "sandbox_permissions": "require_escalated", "justification": "Read a file?"});
    asks_before("codex", &[], "exec_command", arguments, "Yes, proceed").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_asks_on_its_screen() {
    let arguments = json!({"command": "touch made-by-agent", "description": "Read a file"});
    asks_before("gemini", &[], "run_shell_command", arguments, "Allow once").await;
}

/// Checks that a program in an unknown folder first asks if the folder is trusted. People are asked
/// at its home, and the prompt is typed after their answer.
async fn trusts_a_folder(client: &str, trust: &str) {
    let house = House::new().await;
    let server = house.serve();
    let elsewhere = tempfile::tempdir().unwrap();
    // Codex asks about repositories only.
    let git = Command::new("git").args(["init", "--quiet"]).current_dir(elsewhere.path()).status();
    assert!(git.unwrap().success());
    let session = house.run_in(&server, client, &[], elsewhere.path()).await;
    house.when("hello-tag", &Reply::text("Hello from elsewhere."));
    let question = question(&server, &session).await;
    assert_eq!(
        (&question["turn"], &question["expires"]),
        (&Value::Null, &Value::Null),
        "{question}"
    );
    assert_eq!(question["complete"], true, "its screen says all of it: {question}");
    let options = question["options"].as_array().unwrap();
    let trust = options
        .iter()
        .find(|option| option["label"].as_str().unwrap().starts_with(trust))
        .unwrap_or_else(|| panic!("{question}"));
    in_state(&server, &session, "asking").await;
    let said = server.say(&session, "Please hello-tag").await;
    let path = format!("/permissions/{}/answer", question["permission"].as_str().unwrap());
    assert_eq!(
        house
            .post_as_owner(&server, &path, &json!({"thread": session, "option": trust["id"]}))
            .await,
        200
    );
    assert_eq!(server.reply(&session, &said, client).await["content"], "Hello from elsewhere.");
    let state = server.get(&format!("/threads/{session}/state")).await;
    assert_eq!(state["state"]["questions"], json!([]));
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_trusts_a_folder() {
    trusts_a_folder("claude", "Yes, I trust").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_trusts_a_folder() {
    trusts_a_folder("codex", "Trust").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_trusts_a_folder() {
    trusts_a_folder("gemini", "Trust folder").await;
}

/// The offer appears a moment after the composer, and its first answer runs `npm`.
#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn an_update_that_codex_offers_is_accepted_by_a_person_alone() {
    let house = House::new().await;
    let codex = house.home.path().join(".codex");
    let config = fs::read_to_string(codex.join("config.toml")).unwrap();
    let offers = config.replace("on_startup = false", "on_startup = true");
    fs::write(codex.join("config.toml"), offers).unwrap();
    let newer = json!({"latest_version": "99.0.0", "last_checked_at": "2099-01-01T00:00:00Z"});
    fs::write(codex.join("version.json"), newer.to_string()).unwrap();
    let ran = house.home.path().join("npm-ran");
    let npm = house.home.script("npm", &format!("touch {}", ran.display()));
    let server = house.serve_with_programs(Path::new(&npm).parent().unwrap());
    house.when("hello-tag", &Reply::text("Hello after the choice."));
    let session = house.run(&server, "codex", &[]).await;
    let said = server.say(&session, "Please hello-tag").await;
    let question = question(&server, &session).await;
    let options = question["options"].as_array().unwrap();
    let is_skip = |option: &&Value| option["label"].as_str().unwrap().starts_with("Skip");
    let skip = options.iter().find(is_skip).unwrap_or_else(|| panic!("{question}"));
    let path = format!("/permissions/{}/answer", question["permission"].as_str().unwrap());
    let answer = json!({"thread": session, "option": skip["id"]});
    assert_eq!(house.post_as_owner(&server, &path, &answer).await, 200);
    let answer = server.reply(&session, &said, "codex").await;
    assert_eq!(answer["content"], "Hello after the choice.");
    assert!(!ran.exists(), "its first answer was given");
}
