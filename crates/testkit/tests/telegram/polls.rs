//! Polls for updates, faults of the network and the service, and rates, under direct requests.

use moothall_testkit::model_server::Gate;
use moothall_testkit::telegram::{CallOutcome, TelegramFault, TelegramServer};
use serde_json::json;

use super::{Review, client, url};

#[tokio::test]
async fn a_long_poll_ends_with_the_first_update() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    let poll = |offset: i64| review.call("getUpdates", json!({"offset": offset, "timeout": 40}));
    let (_, first) = poll(0).await;
    let next =
        first["result"].as_array().unwrap().last().unwrap()["update_id"].as_i64().unwrap() + 1;
    let speak = async {
        server.wait_for(|server| server.is_polling(bot)).await;
        server.say(*group, *ann, "/hi@critic_bot");
    };
    let ((_, second), ()) = tokio::join!(poll(next), speak);
    assert_eq!(second["result"][0]["message"]["text"], "/hi@critic_bot");
    assert_eq!(second["result"][0]["update_id"], next);
    assert!(!server.is_polling(bot));
    assert_eq!(server.pending(bot).len(), 1, "only what an offset confirms is forgotten");
}

#[tokio::test]
async fn one_poller_at_a_time() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    review.call("getUpdates", json!({"offset": -1})).await;
    let next = server.pending(bot).pop().unwrap()["update_id"].as_i64().unwrap() + 1;
    let poll = || review.call("getUpdates", json!({"offset": next, "timeout": 40}));
    let older = poll();
    let newer = async {
        server.wait_for(|server| server.is_polling(bot)).await;
        poll().await
    };
    let speak = async {
        let refused = |server: &TelegramServer| server.calls_of(bot, "getUpdates").len() == 2;
        server.wait_for(refused).await;
        server.say(*group, *ann, "/hi@critic_bot");
    };
    let (older, newer, ()) = tokio::join!(older, newer, speak);
    assert_eq!((older.0, newer.0), (409, 200), "{older:?} {newer:?}");
    server.set_webhook(bot);
    assert_eq!(poll().await.0, 409);
    assert_eq!(review.call("deleteWebhook", json!({})).await.0, 200);
    assert_eq!(poll().await.0, 200);
}

#[tokio::test]
async fn only_the_kinds_that_a_bot_asked_for_are_queued() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    let asked = json!({"offset": -1, "allowed_updates": ["edited_message"]});
    review.call("getUpdates", asked).await;
    let message = server.say(*group, *ann, "/a@critic_bot");
    server.edit(message, "/b@critic_bot");
    server.raw_update(bot, json!({"thought": {"a": 1}}));
    let pending = server.pending(bot);
    assert_eq!(pending.len(), 3, "{pending:?}");
    assert_eq!(pending[1]["edited_message"]["text"], "/b@critic_bot");
    assert_eq!(pending[2]["thought"]["a"], 1);
}

#[tokio::test]
async fn faults_come_in_the_order_in_which_they_were_queued() {
    let review = Review::open().await;
    let Review { server, bot, group, .. } = &review;
    let body = json!({"chat_id": group.id, "text": "x"});
    for fault in [
        TelegramFault::Drop,
        TelegramFault::ResetAfter,
        TelegramFault::BadGateway,
        TelegramFault::TooMany(json!(86_400.5)),
        TelegramFault::OddAnswer,
    ] {
        server.fault(bot, "sendMessage", fault);
    }
    let send = || client().post(url(server, bot, "sendMessage")).json(&body).send();
    for _ in ["dropped", "reset"] {
        let error = send().await.unwrap_err();
        assert!(!error.is_connect(), "{error:?}");
    }
    let page = send().await.unwrap();
    assert_eq!(
        (page.status().as_u16(), page.text().await.unwrap().contains("<html>")),
        (502, true)
    );
    let (status, flood) = review.call("sendMessage", body.clone()).await;
    assert_eq!((status, &flood["parameters"]["retry_after"]), (429, &json!(86_400.5)));
    let (status, odd) = review.call("sendMessage", body.clone()).await;
    assert_eq!(
        (status, &odd["result"]["rich_message"]["blocks"][0]["type"]),
        (200, &json!("hologram"))
    );
    let done: Vec<bool> = server.calls().iter().map(|call| call.is_done()).collect();
    assert_eq!(done, [false, true, false, false, true]);
    assert!(matches!(server.calls()[1].outcome, CallOutcome::Silence(_)));
    assert_eq!(server.texts(*group).len(), 2);
}

#[tokio::test]
async fn a_gate_holds_a_call_or_its_answer() {
    let review = Review::open().await;
    let Review { server, bot, group, .. } = &review;
    let gate = Gate::default();
    server.fault(bot, "sendMessage", TelegramFault::Hold(gate.clone()));
    server.fault(bot, "sendMessage", TelegramFault::HoldAnswer(gate.clone()));
    let first = review.done("sendMessage", json!({"text": "first"}));
    let second = async {
        assert!(server.texts(*group).is_empty());
        gate.open(1);
        server.wait_for_message(*group, |message| message.text == "first").await;
        let third = async {
            server.wait_for_message(*group, |message| message.text == "second").await;
            gate.open(1);
        };
        tokio::join!(review.done("sendMessage", json!({"text": "second"})), third)
    };
    tokio::join!(first, second);
}

#[tokio::test]
async fn batches_of_updates_are_doubled_turned_and_mixed() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    server.say(*group, *ann, "/a@critic_bot");
    for fault in [
        TelegramFault::DuplicateUpdates,
        TelegramFault::ReorderUpdates,
        TelegramFault::UnknownUpdate,
    ] {
        server.fault(bot, "getUpdates", fault);
    }
    let mut batches = Vec::new();
    for _ in 0..4 {
        let (_, answer) = review.call("getUpdates", json!({})).await;
        let ids = answer["result"].as_array().unwrap().iter();
        batches.push(ids.map(|update| update["update_id"].as_i64().unwrap()).collect::<Vec<_>>());
    }
    let plain = batches.pop().unwrap();
    assert_eq!(plain.len(), 3);
    assert_eq!(batches[0], plain.iter().flat_map(|id| [*id, *id]).collect::<Vec<_>>());
    assert_eq!(batches[1], plain.iter().rev().copied().collect::<Vec<_>>());
    assert_eq!(batches[2], [&[plain[0]], &plain[..]].concat());
}

#[tokio::test]
async fn random_faults_are_the_same_for_a_seed() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let review = Review::open().await;
        review.server.fault_at_random(
            5,
            50,
            // A conflict is drawn for polls only.
            &[
                TelegramFault::BadGatewayAfter,
                TelegramFault::TooMany(json!(1)),
                TelegramFault::Conflict,
            ],
        );
        let mut statuses = Vec::new();
        for _ in 0..20 {
            let response = client().post(url(&review.server, &review.bot, "getMe")).send().await;
            statuses.push(response.unwrap().status().as_u16());
        }
        runs.push(statuses);
    }
    assert_eq!(runs[0], runs[1]);
    assert!([200, 429, 502].iter().all(|status| runs[0].contains(status)), "{runs:?}");
    assert!(!runs[0].contains(&409), "{runs:?}");
}

#[tokio::test]
async fn rates_are_limited_if_asked() {
    let review = Review::open().await;
    review.server.limit_rates(true);
    review.done("sendMessage", json!({"text": "1"})).await;
    let body = json!({"chat_id": review.group.id, "text": "2"});
    let (status, answer) = review.call("sendMessage", body).await;
    assert_eq!((status, &answer["parameters"]["retry_after"]), (429, &json!(1)));
    review.call("getMe", json!({})).await;
}

#[tokio::test]
async fn a_dropped_server_ends_its_connections() {
    let review = Review::open().await;
    let (client, body) = (client(), json!({"timeout": 40, "offset": 999_999}));
    let poll = client.post(url(&review.server, &review.bot, "getUpdates")).json(&body).send();
    let poll = tokio::spawn(poll);
    review.server.wait_for(|server| server.is_polling(&review.bot)).await;
    drop(review);
    assert!(poll.await.unwrap().is_err());
}
