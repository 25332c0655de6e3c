//! The fake of Telegram under direct requests.
#![allow(clippy::unwrap_used)]

use moothall_testkit::telegram::{Bot, TelegramServer};
use serde_json::{Value, json};

fn client() -> reqwest::Client {
    // Another test of this process may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

async fn call(server: &TelegramServer, bot: &Bot, method: &str, body: Value) -> (u16, Value) {
    let url = format!("{}/bot{}/{method}", server.url(), bot.token);
    let answer = client().post(url).json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_bot_hears_a_person_and_is_seen_by_people() {
    let server = TelegramServer::start().await.unwrap();
    let bot = server.add_bot("critic_bot", "Critic");
    let ann = server.person(7, "Ann");
    let group = server.supergroup("Review");
    server.join(group, &bot, ann);
    server.say(group, ann, "not for bots");
    server.say(group, ann, "/start@critic_bot now");
    let (status, answer) = call(&server, &bot, "getUpdates", json!({})).await;
    assert_eq!(status, 200, "{answer}");
    let updates = answer["result"].as_array().unwrap();
    assert_eq!(updates.len(), 3, "{updates:?}");
    assert_eq!(updates[0]["my_chat_member"]["new_chat_member"]["status"], "member");
    assert_eq!(updates[2]["message"]["entities"][0]["length"], 17);
    let (status, sent) =
        call(&server, &bot, "sendMessage", json!({"chat_id": group.id, "text": "Hello."})).await;
    assert_eq!((status, &sent["result"]["text"]), (200, &json!("Hello.")), "{sent}");
    assert_eq!(server.texts(group), ["not for bots", "/start@critic_bot now", "Hello."]);
}
