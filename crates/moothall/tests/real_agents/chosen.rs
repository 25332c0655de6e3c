//! A program's questions to its user, with options: several options at once, several questions in
//! one call, and own words.

use moothall_testkit::model_server::Reply;
use serde_json::{Value, json};

use crate::driven::outcomes;
use crate::harness::Server;
use crate::house::{House, until};

/// Returns the questions so far, in order.
async fn asked(server: &Server<'_>, session: &str) -> Vec<Value> {
    let asks =
        |event: &Value| event["type"] == "permission" && event["content"]["event"] == "requested";
    let events = server.events(session).await.into_iter().filter(asks);
    events.map(|event| event["content"].clone()).collect()
}

/// Lets a program ask by its tool, and answers its questions one after another. Checks that each
/// question is complete. Returns the model's view of the answers.
async fn answered(client: &str, tool: &str, questions: Value, pages: &[(&str, Value)]) -> String {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    house.when("choose-tag", &Reply::tool(tool, json!({"questions": questions.clone()})));
    server.say(&session, "Please choose-tag").await;
    for (page, (about, answer)) in pages.iter().enumerate() {
        let is_asked = async || asked(&server, &session).await.len() > page;
        until(&server, &session, about, is_asked).await;
        let question = asked(&server, &session).await.swap_remove(page);
        assert!(question["action"].as_str().unwrap().contains(about), "{question}");
        assert_eq!(question["complete"], true, "{question}");
        let of = questions.as_array().unwrap().len();
        match questions.as_array().unwrap().iter().position(|asked| asked["question"] == *about) {
            // Gemini CLI reports no question of this tool; its options are read from the screen.
            Some(at) if client == "claude" => {
                assert_eq!(question["detail"]["parts"][0]["text"], *about, "{question}");
                let step = (of > 1).then(|| json!({"number": at + 1, "of": of}));
                assert_eq!(question["detail"]["step"], json!(step), "{question}");
                let offered = &questions[at]["options"];
                for (option, offered) in offered.as_array().into_iter().flatten().enumerate() {
                    let shown = &question["options"][option];
                    assert_eq!(shown["label"], offered["label"], "{question}");
                    assert_eq!(shown["description"], offered["description"], "{question}");
                }
            }
            _ => assert!(!question["action"].as_str().unwrap().contains('{'), "{question}"),
        }
        let path = format!("/permissions/{}/answer", question["permission"].as_str().unwrap());
        let mut body = json!({"thread": session});
        body.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        assert_eq!(house.post_as_owner(&server, &path, &body).await, 200, "{about}");
    }
    until(&server, &session, "it goes on", async || outcomes(&server, &session).await == ["spoke"])
        .await;
    assert_eq!(asked(&server, &session).await.len(), pages.len(), "no more is asked");
    let mut heard =
        house.model(client).requests().into_iter().map(|request| request.body.to_string());
    heard.rfind(|body| body.contains("tool_result") || body.contains("functionResponse")).unwrap()
}

fn option(label: &str, description: &str) -> Value {
    json!({"label": label, "description": description})
}

fn checks() -> Value {
    let options =
        [option("Unit", "Fast ones"), option("Style", "Lints"), option("Real", "Slow ones")];
    json!({"question": "Which checks run?", "header": "Checks", "type": "choice", "multiSelect": true, "options": options})
}

fn database() -> Value {
    let options = [option("SQLite", "One file"), option("Postgres", "A server")];
    json!({"question": "Which database?", "header": "DB", "type": "choice", "multiSelect": false, "options": options})
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_is_answered_by_several_options() {
    let pages = [("Which checks run?", json!({"option": "3, unit"}))];
    let heard = answered("claude", "AskUserQuestion", json!([checks()]), &pages).await;
    assert!(heard.contains(r#"\"Which checks run?\"=\"Unit, Real\""#), "{heard}");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_is_answered_question_by_question() {
    let pages = [
        ("Which database?", json!({"option": "2"})),
        ("Which checks run?", json!({"option": "2"})),
        ("Review your answers", json!({"option": "Submit answers"})),
    ];
    let questions = json!([database(), checks()]);
    let heard = answered("claude", "AskUserQuestion", questions, &pages).await;
    assert!(heard.contains(r#"\"Which database?\"=\"Postgres\""#), "{heard}");
    assert!(heard.contains(r#"\"Which checks run?\"=\"Style\""#), "{heard}");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_is_answered_by_an_option() {
    let pages = [("Which database?", json!({"option": "Postgres"}))];
    let heard = answered("gemini", "ask_user", json!([database()]), &pages).await;
    assert!(heard.contains(r#"\"0\":\"Postgres\""#), "{heard}");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_is_answered_question_by_question_and_in_words() {
    let go = json!({"question": "Go on now?", "header": "Go", "type": "yesno"});
    let pages = [
        ("Which database?", json!({"text": "MariaDB, please"})),
        ("Go on now?", json!({"option": "Yes"})),
        ("MariaDB, please", json!({"option": "Submit"})),
    ];
    let heard = answered("gemini", "ask_user", json!([database(), go]), &pages).await;
    assert!(heard.contains("MariaDB, please"), "{heard}");
}
