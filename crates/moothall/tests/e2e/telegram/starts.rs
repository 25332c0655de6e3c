//! The first seconds of a server whose bots are in groups already.

use std::time::Duration;

use moothall_testkit::telegram::TelegramFault;

use super::{Chatroom, OpenGroup, entered, only_named};

#[tokio::test]
async fn a_mention_is_one_before_the_other_bots_have_their_names() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let OpenGroup { chat, person, thread } = room.open_group(&server).await;
    only_named(&server, &thread).await;
    server.kill();
    let late = TelegramFault::Delay(Duration::from_secs(2));
    room.telegram.fault(&room.bots[1], "getMe", late);
    room.telegram.say(chat, person, "@writer_bot A letter, please.");
    let server = room.home.serve();
    entered(&server, &thread, "@writer A letter, please.").await;
    room.said(chat, |message| message.text == "Here is a draft.").await;
}
