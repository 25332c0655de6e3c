//! The gateway of the fake: sessions, intents, and what follows a lost connection.

use futures_util::{SinkExt as _, StreamExt as _};
use moothall_testkit::discord::{DiscordBot, DiscordServer, GatewayFault};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::Review;

const CONTENT: u64 = 1 << 15;
/// Servers, their messages, and direct messages.
const PLAIN: u64 = 1 | 1 << 9 | 1 << 12;

/// A connection to the gateway.
struct Talk(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Talk {
    async fn open(server: &DiscordServer) -> Self {
        let url = format!("{}/?v=10&encoding=json", server.gateway_url());
        let mut talk = Self(connect_async(url).await.unwrap().0);
        assert_eq!(talk.next().await.unwrap()["op"], 10);
        talk
    }

    async fn send(&mut self, op: u64, data: Value) {
        let frame = json!({"op": op, "d": data}).to_string();
        self.0.send(Message::Text(frame.into())).await.unwrap();
    }

    async fn identify(&mut self, bot: &DiscordBot, intents: u64) {
        let properties = json!({"os": "linux", "browser": "test", "device": "test"});
        let token = &bot.token;
        self.send(2, json!({"token": token, "intents": intents, "properties": properties})).await;
    }

    /// Returns the next frame, or the code of the close.
    async fn next(&mut self) -> Result<Value, u16> {
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => Ok(serde_json::from_str(&text).unwrap()),
            Some(Ok(Message::Close(Some(frame)))) => Err(frame.code.into()),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the next event with a name.
    async fn event(&mut self, name: &str) -> Value {
        loop {
            let frame = self.next().await.unwrap();
            if frame["t"] == name {
                return frame;
            }
        }
    }
}

#[tokio::test]
async fn a_session_gets_the_events_it_asked_for() {
    let review = Review::open().await;
    let mut talk = Talk::open(&review.server).await;
    talk.identify(&review.bot, PLAIN).await;
    assert_eq!(talk.event("READY").await["d"]["user"]["id"], review.bot.id.to_string());
    assert_eq!(talk.event("GUILD_CREATE").await["d"]["name"], "Judges");
    review.server.say(review.channel, review.ann, "hidden");
    assert_eq!(talk.event("MESSAGE_CREATE").await["d"]["content"], "");
    let to_bot = format!("<@{}> seen", review.bot.id);
    review.server.say(review.channel, review.ann, &to_bot);
    assert_eq!(talk.event("MESSAGE_CREATE").await["d"]["content"], to_bot);
    talk.send(1, json!(3)).await;
    assert_eq!(talk.next().await.unwrap()["op"], 11);
}

#[tokio::test]
async fn bad_tokens_and_intents_close_the_connection() {
    let review = Review::open().await;
    let stranger = DiscordBot { token: "nonsense".into(), ..review.bot.clone() };
    let mut talk = Talk::open(&review.server).await;
    talk.identify(&stranger, PLAIN).await;
    assert_eq!(talk.next().await, Err(4004));
    review.server.set_reads_content(&review.bot, false);
    let mut talk = Talk::open(&review.server).await;
    talk.identify(&review.bot, PLAIN | CONTENT).await;
    assert_eq!(talk.next().await, Err(4014));
    let mut talk = Talk::open(&review.server).await;
    talk.send(4, json!({})).await;
    assert_eq!(talk.next().await, Err(4003));
}

#[tokio::test]
async fn a_resumed_session_gets_what_it_missed() {
    let review = Review::open().await;
    let mut talk = Talk::open(&review.server).await;
    talk.identify(&review.bot, PLAIN | CONTENT).await;
    let session = talk.event("READY").await["d"]["session_id"].clone();
    let seq = talk.event("GUILD_CREATE").await["s"].clone();
    review.server.gateway_fault(&review.bot, GatewayFault::Cut);
    review.server.wait_for(|server| server.connected(&review.bot) == 0).await;
    review.server.say(review.channel, review.ann, "missed");
    let mut again = Talk::open(&review.server).await;
    let token = &review.bot.token;
    again.send(6, json!({"token": token, "session_id": session, "seq": seq})).await;
    let missed = again.next().await.unwrap();
    assert_eq!(
        (&missed["t"], &missed["d"]["content"]),
        (&json!("MESSAGE_CREATE"), &json!("missed"))
    );
    assert_eq!(again.next().await.unwrap()["t"], "RESUMED");
    let mut third = Talk::open(&review.server).await;
    third.send(6, json!({"token": token, "session_id": "unknown", "seq": 1})).await;
    let refused = third.next().await.unwrap();
    assert_eq!((&refused["op"], &refused["d"]), (&json!(9), &json!(false)));
}

#[tokio::test]
async fn a_silent_connection_answers_nothing() {
    let review = Review::open().await;
    let mut talk = Talk::open(&review.server).await;
    talk.identify(&review.bot, PLAIN | CONTENT).await;
    talk.event("GUILD_CREATE").await;
    review.server.gateway_fault(&review.bot, GatewayFault::Silence);
    review.server.say(review.channel, review.ann, "unheard");
    talk.send(1, json!(2)).await;
    review.server.gateway_fault(&review.bot, GatewayFault::Close(4000));
    assert_eq!(talk.next().await, Err(4000), "nothing came before the close");
}
