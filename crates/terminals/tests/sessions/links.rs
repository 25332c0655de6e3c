//! Closing of links, and links that lose a member.

use super::*;

impl Room {
    async fn link(&self, sessions: &[&SessionId]) -> (StreamId, LinkState) {
        let member = |session: &&SessionId| Member {
            session: (*session).clone(),
            computer: String::new(),
            name: None,
            number: None,
            role: None,
        };
        let members = sessions.iter().map(member).collect();
        let (link, state) = self
            .sessions()
            .link(NewLink {
                elsewhere: Vec::new(),
                members,
                title: None,
                by: Asker::Actor(Actor::human("user")),
                exchanges_max: None,
            })
            .await
            .unwrap();
        (link.id, state)
    }

    async fn close_with(&self, from: &SessionId, to: &SessionId, words: &str) -> SendResult {
        let message = Message {
            from: Asker::Session(from.clone()),
            to: to.clone(),
            text: words.into(),
            direct: false,
            close_link: true,
        };
        self.sessions().send(message).await.unwrap()
    }

    async fn is_active(&self, link: &StreamId) -> bool {
        self.sessions().link_of(link).await.unwrap().active
    }

    fn escapes(&self, session: &SessionId) -> usize {
        self.bench.with(session.as_str(), |screen| screen.escapes)
    }

    /// Waits until these are the last words at a session's home.
    async fn hears_at_home(&self, session: &SessionId, words: &str) {
        let heard = async || {
            self.said(session).await.last().is_some_and(|(_, said)| said == words).then_some(())
        };
        eventually(heard).await;
    }

    async fn links_of(&self, session: &SessionId) -> Vec<StreamId> {
        self.sessions()
            .links(Some(session))
            .await
            .unwrap()
            .into_iter()
            .map(|link| link.id)
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_words_of_a_link_are_delivered_and_its_end_interrupts_nobody() {
    let room = Room::new().await;
    let (a, b) = (room.start().await, room.start().await);
    let link = room.send(&a, &b, "a long piece of work, please", true).await.link.unwrap();
    room.takes(&b, 1).await;
    let closed = room.close_with(&a, &b, "that was all").await;
    assert_eq!((closed.state, closed.delivered_to), (LinkState::Closed, vec![b.clone()]));
    assert!(!room.is_active(&link).await && room.links_of(&a).await.is_empty());
    room.says(&b, "here is the work").await;
    room.hears_at_home(&b, "here is the work").await;
    assert!(room.takes(&b, 2).await.contains("that was all"));
    room.says(&b, "goodbye").await;
    room.hears_at_home(&b, "goodbye").await;
    assert_eq!((room.escapes(&b), room.taken(&a)), (0, Vec::new()));
    let said = room.said(&link).await;
    assert_eq!(said.len(), 2, "nobody says anything in a link that is closed: {said:?}");
}

#[tokio::test(start_paused = true)]
async fn the_last_words_of_a_link_arrive_though_the_server_dies() {
    let mut room = Room::new().await;
    let (a, b) = (room.start().await, room.start().await);
    room.send(&a, &b, "a long piece of work, please", true).await;
    room.takes(&b, 1).await;
    room.close_with(&a, &b, "that was all").await;
    room.restart().await;
    room.says(&b, "here is the work").await;
    room.hears_at_home(&b, "here is the work").await;
    assert!(room.takes(&b, 2).await.contains("that was all"));
    assert_eq!(room.escapes(&b), 0);
}

#[tokio::test(start_paused = true)]
async fn a_link_that_lost_a_member_is_the_link_of_the_rest() {
    let mut room = Room::new().await;
    let [a, b, c] = [room.start().await, room.start().await, room.start().await];
    let (link, _) = room.link(&[&a, &b, &c]).await;
    room.sessions().end(&c, &Actor::human("user")).await.unwrap();
    eventually(async || {
        (room.sessions().link_of(&link).await.unwrap().members.len() == 2).then_some(())
    })
    .await;
    let sent = room.send(&a, &b, "just us", true).await;
    assert_eq!((sent.link, sent.state), (Some(link.clone()), LinkState::Reused));
    room.restart().await;
    assert_eq!(room.link(&[&b, &a]).await, (link, LinkState::Reused));
}

#[tokio::test(start_paused = true)]
async fn a_link_whose_rest_have_one_already_closes_after_its_deliveries() {
    let room = Room::new().await;
    let [a, b, c] = [room.start().await, room.start().await, room.start().await];
    let (pair, _) = room.link(&[&a, &b]).await;
    let (three, _) = room.link(&[&a, &b, &c]).await;
    room.hall.submit(&three, post("all of you: what do you think?"), None).await.unwrap();
    for session in [&a, &b] {
        room.takes(session, 1).await;
    }
    room.sessions().end(&c, &Actor::human("user")).await.unwrap();
    eventually(async || (!room.is_active(&three).await).then_some(())).await;
    assert_eq!(
        (room.links_of(&a).await, room.links_of(&b).await),
        (vec![pair.clone()], vec![pair.clone()])
    );
    room.says(&a, "I like it").await;
    room.hears_at_home(&a, "I like it").await;
    assert_eq!((room.escapes(&a), room.escapes(&b)), (0, 0));
    assert_eq!(room.link(&[&a, &b]).await, (pair, LinkState::Reused));
}

#[tokio::test(start_paused = true)]
async fn a_link_that_got_another_member_is_not_that_of_the_first_two() {
    let room = Room::new().await;
    let [a, b, c] = [room.start().await, room.start().await, room.start().await];
    let (link, _) = room.link(&[&a, &b]).await;
    let invite = moothall_kernel::command::Control::Invite(room.sessions().invite(&c).unwrap());
    let joins = ClientCommand::Control { by: Actor::human("user"), controls: vec![invite] };
    room.hall.submit(&link, joins, None).await.unwrap();
    let (pair, state) = room.link(&[&a, &b]).await;
    assert!(pair != link && state == LinkState::Created);
    assert_eq!(room.link(&[&a, &b, &c]).await, (link, LinkState::Reused));
}

/// A line typed at a terminal is for its program, even if it looks like a slash command.
#[tokio::test(start_paused = true)]
async fn a_line_typed_at_a_terminal_is_never_a_command() {
    let room = Room::new().await;
    let (a, b) = (room.start().await, room.start().await);
    let link = room.send(&a, &b, "shall we?", true).await.link.unwrap();
    room.takes(&b, 1).await;
    room.says(&b, "").await;
    room.types(&a, "/pause").await;
    room.says(&a, "what?").await;
    let said = [pair("claude", "shall we?"), pair("user", "/pause"), pair("claude", "what?")];
    assert_eq!(room.said(&link).await, said);
}
