//! The client against the fake: what each kind of answer means.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use moothall_testkit::discord::{ChannelId, DiscordBot, DiscordServer, RestFault};

use super::*;

const SEND: &str = "POST /channels/{}/messages";

async fn house() -> (DiscordServer, DiscordBot, ChannelId, RestClient) {
    let server = DiscordServer::start().await.unwrap();
    let bot = server.add_bot("Critic");
    let guild = server.guild("Judges");
    let channel = server.text_channel(guild, "review");
    server.invite(guild, &bot);
    let http = connector(&server.url()).unwrap();
    let client = RestClient::new(http, &server.url(), bot.token.parse().unwrap());
    (server, bot, channel, client)
}

#[tokio::test]
async fn the_meaning_of_a_failure_says_if_the_call_may_be_made_again() {
    let (server, _, channel, client) = house().await;
    let send = async || client.send(channel.0, &NewMessage::text("x")).await;
    for fault in [RestFault::ResetAfter, RestFault::BadGatewayAfter, RestFault::BadGateway] {
        server.fault(SEND, fault);
        assert!(matches!(send().await, Err(RestFailure::Maybe { .. })));
    }
    server.fault(SEND, RestFault::UnreadableAnswer);
    assert_eq!(send().await, Ok(None), "it was done");
    server.fault(SEND, RestFault::Refuse(403, 50_013, "Missing Permissions".into()));
    let refused = send().await.unwrap_err();
    assert!(refused.is_gone() && !refused.is_passing(), "{refused}");
    let lonely = RestClient::new(
        connector("http:").unwrap(),
        "http://127.0.0.1:1",
        "a.b.c".parse().unwrap(),
    );
    assert!(matches!(lonely.me().await, Err(RestFailure::NotSent { .. })));
}

#[tokio::test]
async fn refusals_for_a_time_are_told_and_kept_by_the_next_call() {
    let (server, _, channel, client) = house().await;
    let send = async || client.send(channel.0, &NewMessage::text("x")).await;
    server.fault(SEND, RestFault::TooMany(7200.0));
    let after = Duration::from_secs(7200);
    assert_eq!(send().await, Err(RestFailure::Limited { after }));
    let calls = server.calls().len();
    assert!(matches!(send().await, Err(RestFailure::Limited { .. })));
    assert_eq!(server.calls().len(), calls, "the second one was not made");
    assert!(client.show_typing(channel.0).await.is_ok(), "another route is free");
    server.fault("GET /users/@me", RestFault::Banned(3600));
    assert!(matches!(client.me().await, Err(RestFailure::Limited { .. })));
    assert!(matches!(client.show_typing(channel.0).await, Err(RestFailure::Limited { .. })));
    assert_eq!(server.calls().len(), calls + 2, "a ban is for all calls");
}

#[tokio::test]
async fn a_webhook_that_is_gone_is_not_a_bad_token() {
    let (server, bot, channel, client) = house().await;
    let hook = client.make_hook(channel.0, "Moothall").await.unwrap();
    assert_eq!(client.own_hook(channel.0).await.unwrap().unwrap().id, hook.id);
    let name = ("Analyst", None);
    let sent = client.send_by_hook(&hook, None, name, "@everyone").await.unwrap();
    let shown = &server.shown(channel)[0];
    assert_eq!((Some(shown.id.0), shown.from.as_str()), (sent, "Analyst"));
    assert_eq!(shown.allowed_mentions["parse"], serde_json::json!([]));
    server.delete_webhooks(channel);
    let fault = client.send_by_hook(&hook, None, name, "x").await.unwrap_err();
    assert!(fault.is_webhook_gone() && !fault.is_unauthorised(), "{fault}");
    assert_eq!(client.own_hook(channel.0).await.unwrap().map(|hook| hook.id), None);
    server.revoke(&bot);
    assert!(client.me().await.unwrap_err().is_unauthorised());
}

#[test]
fn tokens_are_checked_and_never_shown() {
    let token: DiscordToken = " Bot MTIz.GxYz.abc-_9 \n".parse().unwrap();
    assert_eq!(
        (token.reveal(), format!("{token:?}").as_str()),
        ("MTIz.GxYz.abc-_9", "BotToken(…)")
    );
    for text in ["", "a.b", "a.b.c.d", "a..c", "a.b.ü", &"a.b.".repeat(60)] {
        assert_eq!(text.parse::<DiscordToken>(), Err(NotADiscordToken), "{text}");
    }
}
