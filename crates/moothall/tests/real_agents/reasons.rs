//! Failures of programs: the program's own words about its provider appear wherever people look.

use moothall_testkit::model_server::Reply;
use serde_json::Value;

use crate::harness::Server;
use crate::house::{House, until};

/// Returns the outcome of a turn, its fault, and the shown message.
async fn ended(server: &Server<'_>, session: &str, said: &Value) -> (String, String, String) {
    let own = |event: &Value| {
        event["type"] == "message" && event["meta"]["reply_to"] == said["id"]
            || event["content"]["event"] == "ended"
    };
    let since = said["seq"].as_u64().unwrap();
    let over = async || {
        let events = server.events(session).await;
        events.iter().any(|event| event["seq"].as_u64() > Some(since) && own(event))
    };
    until(server, session, "its turn ends", over).await;
    let turns = server.get(&format!("/threads/{session}/turns")).await;
    let turn = turns["turns"].as_array().unwrap().iter().find(|turn| turn["message"] == said["id"]);
    let turn = turn.unwrap_or_else(|| panic!("{turns:#}"));
    let events = server.events(session).await;
    let shown = events
        .iter()
        .rfind(|event| event["type"] == "message" && event["seq"].as_u64() > Some(since));
    let shown = shown.map(|event| format!("{} {}", event["content"], event["meta"]["error"]));
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (word(&turn["outcome"]), turn["fault"].to_string(), shown.unwrap_or_default())
}

/// Checks that each of these model replies ends its turn with these words of the program, and that
/// the next turn is answered.
async fn says_why(client: &str, args: &[&str], rows: &[(&str, Reply, &str)]) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, args).await;
    let mut wrong = String::new();
    for (at, (name, reply, expected)) in rows.iter().enumerate() {
        let (key, next) = (format!("fault-{at:02}"), format!("next-{at:02}"));
        house.when(&key, reply);
        let said = server.say(&session, &format!("Please {key}")).await;
        let (outcome, fault, shown) = ended(&server, &session, &said).await;
        eprintln!("{client} {name}: {outcome}\n  {fault}\n  {shown}");
        let is_reported = fault.contains("program_failed") && fault.contains(expected);
        if outcome != "failed" || !is_reported || fault.contains("\\\"error\\\"") {
            wrong +=
                &format!("{name}, which tells of {expected:?}: {outcome} {fault}\n  {shown}\n");
        }
        house.when(&next, &Reply::text(&format!("Reply to {next}.")));
        let said = server.say(&session, &format!("And {next}")).await;
        let answer = server.reply(&session, &said, client).await;
        assert_eq!(answer["content"], format!("Reply to {next}."), "after {name}");
    }
    assert!(wrong.is_empty(), "{client}:\n{wrong}");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_says_why_it_could_not_go_on() {
    let overflow = "prompt is too long: 210000 tokens > 200000 maximum";
    let rows = [
        (
            "a request",
            Reply::refusal(400, "a request that is not valid"),
            "a request that is not valid",
        ),
        ("no login", Reply::refusal(401, "invalid x-api-key"), "Invalid API key"),
        ("limit", Reply::refusal(429, "too many requests"), "too many requests"),
        ("late limit", Reply::refusal(429, "many requests").retry_after("5"), "many requests"),
        ("failing", Reply::refusal(500, "Internal server error"), "Internal server error"),
        ("overloaded", Reply::refusal(529, "Overloaded"), "Overloaded"),
        ("context", Reply::refusal(400, overflow), "Prompt is too long"),
        (
            "no credit",
            Reply::refusal(400, "Your credit balance is too low to access"),
            "Credit balance is too low",
        ),
        ("inside", Reply::failing(["Begun "], "overloaded_error", "Overloaded"), "Overloaded"),
        ("broken", Reply::cut(["Begun "]), "API Error"),
        ("unfinished", Reply::unfinished(["Begun "]), "API Error"),
    ];
    says_why("claude", &[], &rows).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_says_why_it_could_not_go_on() {
    let overflow = "Your input exceeds the context window of this model.";
    let rows = [
        (
            "no login",
            Reply::refusal(401, "Incorrect API key provided"),
            "Incorrect API key provided",
        ),
        (
            "a request",
            Reply::refusal(400, "a request that is not valid"),
            "a request that is not valid",
        ),
        ("limit", Reply::refusal(429, "too many requests"), "429"),
        ("late limit", Reply::refusal(429, "many requests").retry_after("5"), "429"),
        (
            "usage",
            Reply::refusal(429, "The usage limit").of_kind("usage_limit_reached"),
            "usage limit",
        ),
        ("failing", Reply::refusal(500, "Internal server error"), "high demand"),
        ("overloaded", Reply::refusal(503, "Overloaded"), "503"),
        ("context", Reply::failing([], "context_length_exceeded", overflow), "context window"),
        ("quota", Reply::failing([], "insufficient_quota", "You exceeded your quota."), "uota"),
        (
            "inside",
            Reply::failing(["Begun "], "server_error", "It failed inside."),
            "It failed inside.",
        ),
        ("broken", Reply::cut(["Begun "]), "stream disconnected"),
        ("unfinished", Reply::unfinished(["Begun "]), "stream disconnected"),
    ];
    says_why("codex", &[], &rows).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_says_why_it_could_not_go_on() {
    let overflow =
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    let rows = [
        ("a key", Reply::refusal(400, "API key not valid"), "API key not valid"),
        ("no login", Reply::refusal(401, "Request had invalid credentials"), "invalid credentials"),
        ("context", Reply::refusal(400, overflow), "exceeds the maximum"),
        ("inside", Reply::failing(["Begun "], "internal", "It failed inside."), "stream ended"),
        ("broken", Reply::cut(["Begun "]), "terminated"),
        ("unfinished", Reply::unfinished(["Begun "]), "stream"),
    ];
    // Gemini CLI retries other failures (429, 500, 503) for minutes, and is busy meanwhile.
    says_why("gemini", &[], &rows).await;
}
