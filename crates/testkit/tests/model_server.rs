//! The fake providers under direct requests: those of real programs beside an answer, and those of
//! a careless client.
#![allow(clippy::unwrap_used)]

use moothall_testkit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

fn client() -> reqwest::Client {
    // Another test of this process may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

async fn post(server: &ModelServer, path: &str, body: Value) -> (u16, Value) {
    let answer = client().post(format!("{}{path}", server.url())).json(&body).send().await.unwrap();
    (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap())
}

#[tokio::test]
async fn every_protocol_answers_in_one_piece_too() {
    let server = ModelServer::start().await.unwrap();
    server.always("m", Reply::text("Hello there.").usage(5, 3));
    let text =
        json!([{"role": "user", "content": [{"type": "text", "text": "hi", "odd": 1}], "odd": {}}]);
    for (path, body, said, used) in [
        (
            "/v1/messages?beta=true",
            json!({"model": "m", "messages": text}),
            "/content/0/text",
            "/usage/output_tokens",
        ),
        (
            "/v1/chat/completions",
            json!({"model": "m", "messages": text}),
            "/choices/0/message/content",
            "/usage/completion_tokens",
        ),
        (
            "/v1/responses",
            json!({"model": "m", "input": "hi"}),
            "/output/0/content/0/text",
            "/usage/output_tokens",
        ),
        (
            "/v1beta/models/m:generateContent",
            json!({"contents": []}),
            "/candidates/0/content/parts/0/text",
            "/usageMetadata/candidatesTokenCount",
        ),
        (
            "/api/chat",
            json!({"model": "m", "stream": false, "messages": text}),
            "/message/content",
            "/eval_count",
        ),
    ] {
        let (status, answer) = post(&server, path, body).await;
        assert_eq!(
            (status, answer.pointer(said), answer.pointer(used)),
            (200, Some(&json!("Hello there.")), Some(&json!(3))),
            "{path}"
        );
    }
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn what_programs_ask_beside_an_answer_is_there() {
    let server = ModelServer::start().await.unwrap();
    assert!(
        post(&server, "/v1/messages/count_tokens", json!({"messages": []})).await.1["input_tokens"]
            .as_u64()
            .unwrap()
            > 0
    );
    assert!(post(&server, "/v1beta/models/m:countTokens", json!({"contents": []})).await.1["totalTokens"].as_u64().unwrap() > 0);
    for (path, first) in [
        ("/v1/models", "/data/0/id"),
        ("/v1beta/models", "/models/0/name"),
        ("/api/tags", "/models/0/name"),
    ] {
        let list: Value = serde_json::from_str(
            &client().get(server.url() + path).send().await.unwrap().text().await.unwrap(),
        )
        .unwrap();
        assert!(list.pointer(first).is_some(), "{path}");
    }
    assert_eq!(post(&server, "/v1/elsewhere", json!({})).await.0, 404);
    assert_eq!(server.requests(), [], "only requests for an answer are kept");
}

#[tokio::test]
async fn whatever_is_sent_gets_an_answer() {
    let server = ModelServer::start().await.unwrap();
    for body in [
        json!(null),
        json!([]),
        json!({"messages": 7}),
        json!({"messages": [7, {"role": "user"}, {"content": null}]}),
    ] {
        let (status, answer) = post(&server, "/v1/messages", body).await;
        assert_eq!(
            (status, &answer["content"][0]["text"]),
            (200, &json!("This is , a fake model. Nothing was asked."))
        );
    }
}

#[tokio::test]
async fn a_script_goes_by_model_first_and_by_key_second() {
    let server = ModelServer::start().await.unwrap();
    server.script("m", [Reply::text("by model")]);
    server.script("k", [Reply::text("by key")]);
    let mut said = Vec::new();
    for _ in 0..3 {
        let request = client().post(server.url() + "/v1/chat/completions").bearer_auth("k");
        let answer = request
            .body(r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        said.push(answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        said,
        [
            "by model",
            "by key",
            "This is m, a fake model. I read 1 words, and the message was: “hi”"
        ]
    );
}

#[tokio::test]
async fn what_is_asked_may_choose_the_answer() {
    let server = ModelServer::start().await.unwrap();
    server.script("m", [Reply::text("by model")]);
    server.when("zebra", Reply::text("by words"));
    server.when("zebra", Reply::tool("look", json!({})));
    let ask = |words: &str| json!({"model": "m", "messages": [{"role": "user", "content": words}]});
    let said =
        |answer: &Value| answer["choices"][0]["message"]["content"].as_str().map(str::to_owned);
    let (_, answer) = post(&server, "/v1/chat/completions", ask("the zebra")).await;
    assert_eq!(
        said(&answer).as_deref(),
        Some("by words"),
        "a tool that is not offered is not asked for"
    );
    let mut offering = ask("the zebra");
    offering["tools"] = json!([{"type": "function", "function": {"name": "look"}}]);
    let (_, answer) = post(&server, "/v1/chat/completions", offering).await;
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "look");
    let (_, answer) = post(&server, "/v1/chat/completions", ask("anything")).await;
    assert_eq!(said(&answer).as_deref(), Some("by model"));
    server.asked_about("zebra").await;
}
