//! The fake of Discord under direct requests and a plain connection to its gateway.
#![allow(clippy::unwrap_used)]

#[path = "discord/gateway.rs"]
mod gateway;

use moothall_testkit::discord::{
    ChannelId, DiscordBot, DiscordPerson, DiscordServer, GuildId, Permission, RestFault,
};
use serde_json::{Value, json};

/// A server with a person, a bot and a channel.
struct Review {
    server: DiscordServer,
    bot: DiscordBot,
    ann: DiscordPerson,
    guild: GuildId,
    channel: ChannelId,
}

impl Review {
    async fn open() -> Self {
        let server = DiscordServer::start().await.unwrap();
        let (bot, ann) = (server.add_bot("Critic"), server.person("Ann"));
        let guild = server.guild("Judges");
        let channel = server.text_channel(guild, "review");
        server.enter(guild, ann);
        server.invite(guild, &bot);
        Self { server, bot, ann, guild, channel }
    }

    async fn call(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}/api/v10{path}", self.server.url());
        let request = client().request(method.parse().unwrap(), url);
        let request = request.header("authorization", format!("Bot {}", self.bot.token));
        let request = if body.is_null() { request } else { request.json(&body) };
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }

    /// Writes in the channel.
    async fn write(&self, body: Value) -> (u16, Value) {
        self.call("POST", &format!("/channels/{}/messages", self.channel.0), body).await
    }

    /// Writes in the channel, and returns the code of the refusal and the field.
    async fn refused(&self, body: Value) -> (u64, String) {
        let (status, answer) = self.write(body).await;
        assert_eq!(status, 400, "{answer}");
        let field = answer["errors"].as_object().and_then(|it| it.keys().next().cloned());
        (answer["code"].as_u64().unwrap(), field.unwrap_or_default())
    }

    /// Makes a webhook of the channel, and returns its path.
    async fn webhook(&self) -> String {
        let path = format!("/channels/{}/webhooks", self.channel.0);
        let (status, made) = self.call("POST", &path, json!({"name": "Moothall"})).await;
        assert_eq!(status, 200, "{made}");
        format!("/webhooks/{}/{}", made["id"].as_str().unwrap(), made["token"].as_str().unwrap())
    }
}

fn client() -> reqwest::Client {
    // Another test of this process may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

#[tokio::test]
async fn a_bot_writes_changes_and_deletes() {
    let review = Review::open().await;
    let (status, sent) = review.write(json!({"content": " Hello. "})).await;
    assert_eq!(
        (status, &sent["content"], &sent["author"]["bot"]),
        (200, &json!("Hello."), &json!(true))
    );
    let path = format!("/channels/{}/messages/{}", review.channel.0, sent["id"].as_str().unwrap());
    let (status, changed) = review.call("PATCH", &path, json!({"content": "Bye."})).await;
    assert_eq!((status, changed["edited_timestamp"].is_string()), (200, true));
    assert_eq!(review.server.texts(review.channel), ["Bye."]);
    assert_eq!(review.call("DELETE", &path, Value::Null).await.0, 204);
    assert!(review.server.texts(review.channel).is_empty());
    assert_eq!(review.call("GET", &path, Value::Null).await.1["code"], 10_008);
}

#[tokio::test]
async fn wrong_bodies_are_refused() {
    let review = Review::open().await;
    let long = "x".repeat(2001);
    let button = |id: &str| json!({"type": 2, "style": 1, "label": "Yes", "custom_id": id});
    for (body, expected) in [
        (json!({"content": long}), (50_035, "content")),
        (json!({"content": "  "}), (50_006, "")),
        (json!({"content": 7}), (50_035, "content")),
        (json!({"content": "x", "silent": true}), (50_035, "silent")),
        (json!({"content": "x", "nonce": "n".repeat(26)}), (50_035, "nonce")),
        (
            json!({"content": "x", "allowed_mentions": {"parse": ["all"]}}),
            (50_035, "allowed_mentions"),
        ),
        (
            json!({"content": "x", "message_reference": {"message_id": "1"}}),
            (50_035, "message_reference"),
        ),
        (
            json!({"content": "x", "components": [{"type": 1, "components": []}]}),
            (50_035, "components"),
        ),
        (
            json!({"content": "x", "components": [{"type": 1, "components": [button("a"), button("a")]}]}),
            (50_035, "components"),
        ),
    ] {
        let found = review.refused(body.clone()).await;
        assert_eq!((found.0, found.1.as_str()), expected, "{body}");
    }
    assert!(review.server.texts(review.channel).is_empty());
}

#[tokio::test]
async fn an_enforced_nonce_makes_a_repeated_message_one() {
    let review = Review::open().await;
    let body = json!({"content": "Once.", "nonce": "7", "enforce_nonce": true});
    review.server.fault("POST /channels/{}/messages", RestFault::BadGatewayAfter);
    assert_eq!(review.write(body.clone()).await.0, 502);
    let (status, sent) = review.write(body).await;
    assert_eq!((status, &sent["nonce"]), (200, &json!("7")));
    assert_eq!(review.server.texts(review.channel), ["Once."]);
    review.write(json!({"content": "Once.", "nonce": "7"})).await;
    assert_eq!(review.server.texts(review.channel).len(), 2, "without the word it is a new one");
}

#[tokio::test]
async fn a_webhook_speaks_under_any_name_but_some() {
    let review = Review::open().await;
    let hook = review.webhook().await;
    let waiting = format!("{hook}?wait=true");
    let said =
        json!({"content": "Bullish.", "username": "Analyst", "allowed_mentions": {"parse": []}});
    let (status, sent) = review.call("POST", &waiting, said).await;
    assert_eq!((status, &sent["author"]["username"]), (200, &json!("Analyst")));
    for name in ["", &"n".repeat(81), "My Discord", "clyde"] {
        let body = json!({"content": "x", "username": name});
        assert_eq!(review.call("POST", &waiting, body).await.1["code"], 50_035, "{name}");
    }
    let path = format!("{hook}/messages/{}", sent["id"].as_str().unwrap());
    assert_eq!(review.call("PATCH", &path, json!({"content": "Bearish."})).await.0, 200);
    assert_eq!(review.server.texts(review.channel), ["Bearish."]);
    assert_eq!(review.call("DELETE", &path, Value::Null).await.0, 204);
    review.server.delete_webhooks(review.channel);
    let (status, gone) = review.call("POST", &hook, json!({"content": "x"})).await;
    assert_eq!((status, &gone["code"]), (404, &json!(10_015)));
}

#[tokio::test]
async fn a_webhook_writes_in_the_threads_of_its_channel() {
    let review = Review::open().await;
    let hook = review.webhook().await;
    let other = review.server.text_channel(review.guild, "other");
    let thread = review.server.thread(review.channel, "details");
    let strange = review.server.thread(other, "elsewhere");
    let body = json!({"content": "Here."});
    let path = |id: ChannelId| format!("{hook}?wait=true&thread_id={}", id.0);
    assert_eq!(review.call("POST", &path(thread), body.clone()).await.0, 200);
    assert_eq!(review.server.texts(thread), ["Here."]);
    assert_eq!(review.call("POST", &path(strange), body).await.1["code"], 10_003);
}

#[tokio::test]
async fn permissions_are_checked() {
    let review = Review::open().await;
    let hooks = format!("/channels/{}/webhooks", review.channel.0);
    review.server.deny(review.channel, &review.bot, &[Permission::ManageWebhooks]);
    assert_eq!(review.call("GET", &hooks, Value::Null).await.1["code"], 50_013);
    review.server.deny(review.channel, &review.bot, &[Permission::Send]);
    assert_eq!(review.write(json!({"content": "x"})).await.1["code"], 50_013);
    review.server.kick(review.guild, &review.bot);
    assert_eq!(review.write(json!({"content": "x"})).await.1["code"], 50_001);
    review.server.revoke(&review.bot);
    assert_eq!(review.write(json!({"content": "x"})).await.0, 401);
}

#[tokio::test]
async fn what_was_missed_is_read_page_by_page() {
    let review = Review::open().await;
    let first = review.server.say(review.channel, review.ann, "0");
    for number in 1..=120 {
        review.server.say(review.channel, review.ann, &number.to_string());
    }
    let path = format!("/channels/{}/messages?limit=100", review.channel.0);
    let (_, page) = review.call("GET", &format!("{path}&after={}", first.0), Value::Null).await;
    let texts: Vec<&str> =
        page.as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
    assert_eq!((texts.len(), texts[0], texts[99]), (100, "100", "1"));
    let (_, newest) = review.call("GET", &path, Value::Null).await;
    assert_eq!(newest[0]["content"], "120");
    let many = format!("/channels/{}/messages?limit=101", review.channel.0);
    assert_eq!(review.call("GET", &many, Value::Null).await.0, 400);
}

#[tokio::test]
async fn rates_are_told_and_kept() {
    let review = Review::open().await;
    review.server.limit_rates(true);
    for _ in 0..5 {
        assert_eq!(review.write(json!({"content": "x"})).await.0, 200);
    }
    let (status, answer) = review.write(json!({"content": "x"})).await;
    assert_eq!((status, answer["global"].as_bool()), (429, Some(false)));
    assert!(answer["retry_after"].as_f64().unwrap() > 0.0, "{answer}");
    assert_eq!(review.server.texts(review.channel).len(), 5);
}

#[tokio::test]
async fn a_press_is_answered_once() {
    let review = Review::open().await;
    let row = json!({"type": 1, "components": [{"type": 2, "style": 1, "label": "Yes", "custom_id": "y"}]});
    let (_, sent) = review.write(json!({"content": "Well?", "components": [row]})).await;
    let message = review.server.shown(review.channel)[0].id;
    let press = review.server.press(review.ann, review.channel, message, "Yes");
    let path = format!("/interactions/{0}/interaction-{0}-token/callback", press.0);
    let deferred = json!({"type": 5, "data": {"flags": 64}});
    assert_eq!(review.call("POST", &path, deferred.clone()).await.0, 204);
    assert_eq!(review.call("POST", &path, deferred).await.1["code"], 40_060);
    assert!(review.server.interaction(press).is_acknowledged);
    let answer =
        format!("/webhooks/{}/interaction-{}-token/messages/@original", review.bot.id, press.0);
    assert_eq!(review.call("PATCH", &answer, json!({"content": "Done."})).await.0, 200);
    let shown = review.server.wait_for_answer(press).await;
    assert_eq!((shown.text.as_str(), shown.is_ephemeral), ("Done.", true));
    assert_eq!(review.server.texts(review.channel), ["Well?"], "the answer is for one person");
    let late = review.server.press(review.ann, review.channel, message, "Yes");
    review.server.expire(late);
    let path = format!("/interactions/{0}/interaction-{0}-token/callback", late.0);
    assert_eq!(review.call("POST", &path, json!({"type": 6})).await.1["code"], 10_062);
    assert_eq!(sent["components"][0]["components"][0]["custom_id"], "y");
}

#[tokio::test]
async fn commands_have_names_that_people_can_write() {
    let review = Review::open().await;
    let path = format!("/applications/{}/commands", review.bot.id);
    let command = |name: &str| json!([{"name": name, "description": "Stops the agents"}]);
    assert_eq!(review.call("PUT", &path, command("Stop it")).await.0, 400);
    assert_eq!(review.call("PUT", &path, command("stop")).await.0, 200);
    let stop = review.server.slash(review.ann, review.channel, &review.bot, "stop", "");
    assert!(!review.server.interaction(stop).is_acknowledged);
}
