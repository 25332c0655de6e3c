//! Sessions that ended and run again.

use std::collections::{BTreeMap, BTreeSet};

use moothall_engine::sessions::ResumedSession;
use moothall_kernel::command::Control;

use super::*;

impl Room {
    async fn end(&self, session: &SessionId) {
        self.sessions().end(session, &Actor::human("user")).await.unwrap();
        eventually(async || self.log.heads().await.unwrap().is_empty().then_some(())).await;
    }

    /// Lets a session's program exit by itself.
    async fn dies(&self, session: &SessionId) {
        self.bench.show(session.as_str(), PaneState::Gone);
        eventually(async || {
            let found = self.sessions().find(session.as_str()).unwrap();
            found.session.ended.map(drop)
        })
        .await;
        eventually(async || self.log.heads().await.unwrap().is_empty().then_some(())).await;
    }

    /// Simulates a restart of the computer.
    async fn are_lost(&self, sessions: &[&SessionId]) {
        self.bench.lost.store(true, Relaxed);
        for session in sessions {
            self.dies(session).await;
        }
        self.bench.lost.store(false, Relaxed);
    }

    async fn waits(&self, session: &SessionId) -> BTreeMap<StreamId, Vec<SessionId>> {
        self.sessions().waits_of(session).await.unwrap()
    }

    async fn take_out(&self, link: &StreamId, name: &str) {
        let (by, controls) = (Actor::human("user"), vec![Control::Uninvite(name.into())]);
        let command = ClientCommand::Control { by, controls };
        self.hall.submit(link, command, None).await.unwrap();
    }

    async fn are_in(&self, link: &StreamId, sessions: &[&SessionId]) {
        let members = self.members(link).await.into_iter().map(|(session, _)| session);
        let expected: Vec<SessionId> = sessions.iter().map(|id| (**id).clone()).collect();
        assert_eq!(members.collect::<BTreeSet<_>>(), BTreeSet::from_iter(expected));
    }

    /// Resumes a session; returns true if it remembers, and the arguments of its program.
    async fn resumed_with(&self, session: &SessionId) -> (bool, Vec<String>) {
        let resumed = self.resume(session).await.unwrap();
        (resumed.remembers, self.bench.args.lock().unwrap().last().unwrap().clone())
    }

    async fn resume(&self, session: &SessionId) -> Result<ResumedSession, SessionError> {
        self.sessions().resume(session, &Actor::human("user")).await
    }

    /// Returns the conflict that keeps a session from being resumed.
    async fn conflict(&self, session: &SessionId) -> String {
        match self.resume(session).await {
            Err(SessionError::Conflict(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    async fn members(&self, link: &StreamId) -> Vec<(SessionId, Option<u32>)> {
        let link = self.sessions().link_of(link).await.unwrap();
        assert!(link.active);
        let mut members: Vec<_> =
            link.members.into_iter().map(|member| (member.session, member.number)).collect();
        members.sort();
        members
    }

    async fn linked(&self, sessions: &[&SessionId]) -> StreamId {
        let member = |(at, session): (usize, &&SessionId)| Member {
            session: (*session).clone(),
            computer: String::new(),
            name: None,
            number: Some(at as u32 + 1),
            role: None,
        };
        let members = sessions.iter().enumerate().map(member).collect();
        let by = Asker::Actor(Actor::human("user"));
        let new = NewLink { members, elsewhere: Vec::new(), title: None, by, exchanges_max: None };
        self.sessions().link(new).await.unwrap().0.id
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_runs_again_under_its_name_in_its_home_and_links_come_back_with_their_members() {
    let mut room = Room::new().await;
    let (a, b, c) = (room.start().await, room.start().await, room.start().await);
    let (pair, three) = (room.linked(&[&a, &b]).await, room.linked(&[&a, &b, &c]).await);
    room.are_lost(&[&a, &b, &c]).await;
    room.restart().await;
    let first = room.resume(&a).await.unwrap();
    assert_eq!((first.status.session.name.as_str(), first.remembers), ("claude", false));
    assert_eq!(first.links, [], "nobody else is back");
    let second = room.resume(&b).await.unwrap();
    assert_eq!(second.links, std::slice::from_ref(&pair), "the third is not back");
    let expected = |sessions: &[&SessionId]| {
        let mut all: Vec<_> =
            sessions.iter().map(|id| (**id).clone()).zip((1..).map(Some)).collect();
        all.sort();
        all
    };
    assert_eq!(room.members(&pair).await, expected(&[&a, &b]));
    assert_eq!(room.resume(&c).await.unwrap().links, std::slice::from_ref(&three));
    assert_eq!(room.members(&three).await, expected(&[&a, &b, &c]));
    room.hall.submit(&a, post("are you there?"), None).await.unwrap();
    assert!(room.takes(&a, 1).await.starts_with("User:\n\nare you there?\n"));
    room.says(&a, "yes").await;
    assert!(room.conflict(&a).await.starts_with("claude is live;"));
}

#[tokio::test(start_paused = true)]
async fn a_link_that_was_closed_stays_closed() {
    let room = Room::new().await;
    let (a, b, c) = (room.start().await, room.start().await, room.start().await);
    let three = room.linked(&[&a, &b, &c]).await;
    room.dies(&a).await;
    room.sessions().close_link(&three, &Asker::Session(b)).await.unwrap();
    assert_eq!(room.resume(&a).await.unwrap().links, []);
    assert!(!room.sessions().link_of(&three).await.unwrap().active);
    let by = Actor::human("user");
    room.hall.submit(&three, ClientCommand::Archive { on: false, by }, None).await.unwrap();
    room.dies(&a).await;
    assert_eq!(room.resume(&a).await.unwrap().links, [], "its place went with the link");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_resumed_says_why_and_can_be_tried_again() {
    let room = Room::new().await;
    let old = room.start().await;
    room.end(&old).await;
    let new = room.start().await;
    let why = room.conflict(&old).await;
    assert!(why.ends_with("end it first, with `POST /sessions/claude/end`."), "{why}");
    room.end(&new).await;
    room.bench.fates.lock().unwrap().insert("claude".into(), Fate::Fails);
    assert!(room.resume(&old).await.is_err());
    let ended = room.sessions().find(old.as_str()).unwrap().session.ended;
    assert_eq!(ended.map(|(_, why)| why).as_deref(), Some("it fell over"));
    room.bench.fates.lock().unwrap().clear();
    assert_eq!(room.resume(&old).await.unwrap().status.session.id, old);
}

#[tokio::test(start_paused = true)]
async fn a_program_resumes_the_conversation_in_which_it_took_a_prompt() {
    let mut room = Room::new().await;
    let a = room.start().await;
    room.hook(&a, HookNews::Began).await;
    room.dies(&a).await;
    assert_eq!(room.resumed_with(&a).await, (false, vec![]), "it keeps nothing before a prompt");
    room.hook(&a, HookNews::Began).await;
    room.types(&a, "hello").await;
    room.dies(&a).await;
    let own = format!("native-{a}");
    let with_memory = (true, vec!["--resume".to_owned(), own]);
    assert_eq!(room.resumed_with(&a).await, with_memory);
    room.dies(&a).await;
    room.restart().await;
    assert_eq!(room.resumed_with(&a).await, with_memory, "no word came in between");
    *room.bench.last.lock().unwrap() = Some("who?".into());
    room.dies(&a).await;
    assert_eq!(room.resumed_with(&a).await, (false, vec![]), "its program had forgotten");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_ends_with_such_words_later_keeps_its_memory() {
    let room = Room::new().await;
    let a = room.start().await;
    room.types(&a, "hello").await;
    *room.bench.last.lock().unwrap() = Some("who?".into());
    room.dies(&a).await;
    assert!(room.resume(&a).await.unwrap().remembers);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_a_person_took_out_does_not_come_back() {
    let room = Room::new().await;
    let (a, b, c) = (room.start().await, room.start().await, room.start().await);
    let three = room.linked(&[&a, &b, &c]).await;
    room.dies(&b).await;
    assert_eq!(room.resume(&b).await.unwrap().links, std::slice::from_ref(&three));
    room.take_out(&three, "claude-2").await;
    room.dies(&a).await;
    assert_eq!(room.resume(&a).await.unwrap().links, std::slice::from_ref(&three));
    room.are_in(&three, &[&a, &c]).await;
    room.dies(&b).await;
    assert_eq!(room.resume(&b).await.unwrap().links, []);
    room.end(&a).await;
    assert_eq!(room.resume(&a).await.unwrap().links, [], "a person ended it");
    room.dies(&c).await;
    assert_eq!(room.resume(&c).await.unwrap().links, [], "it is alone there");
}

#[tokio::test(start_paused = true)]
async fn who_ended_a_member_of_three_is_not_overruled_by_a_restart() {
    let room = Room::new().await;
    let (a, b, c) = (room.start().await, room.start().await, room.start().await);
    let three = room.linked(&[&a, &b, &c]).await;
    room.end(&b).await;
    room.are_lost(&[&a, &c]).await;
    assert_eq!(room.resume(&a).await.unwrap().links, []);
    assert_eq!(room.resume(&b).await.unwrap().links, []);
    assert_eq!(room.resume(&c).await.unwrap().links, std::slice::from_ref(&three));
    room.are_in(&three, &[&a, &c]).await;
}

#[tokio::test(start_paused = true)]
async fn the_last_member_may_be_the_one_that_a_person_ended() {
    let room = Room::new().await;
    let (a, b, c) = (room.start().await, room.start().await, room.start().await);
    let three = room.linked(&[&a, &b, &c]).await;
    room.are_lost(&[&a, &b]).await;
    room.end(&c).await;
    assert_eq!(room.resume(&a).await.unwrap().links, []);
    assert_eq!(room.resume(&b).await.unwrap().links, std::slice::from_ref(&three));
    room.are_in(&three, &[&a, &b]).await;
}

#[tokio::test(start_paused = true)]
async fn a_place_is_kept_over_a_second_end() {
    let room = Room::new().await;
    let (a, b) = (room.start().await, room.start().await);
    let pair = room.linked(&[&a, &b]).await;
    room.are_lost(&[&a, &b]).await;
    assert_eq!(room.resume(&a).await.unwrap().links, []);
    room.dies(&a).await;
    assert_eq!(room.resume(&b).await.unwrap().links, []);
    room.dies(&b).await;
    assert_eq!(room.resume(&b).await.unwrap().links, []);
    assert_eq!(room.resume(&a).await.unwrap().links, std::slice::from_ref(&pair));
    room.are_in(&pair, &[&a, &b]).await;
}

#[tokio::test(start_paused = true)]
async fn a_link_does_not_wait_for_a_program_that_ended_before_the_restart() {
    let room = Room::new().await;
    let (a, b, c) = (room.start().await, room.start().await, room.start().await);
    let three = room.linked(&[&a, &b, &c]).await;
    room.dies(&b).await;
    room.are_lost(&[&a, &c]).await;
    assert_eq!(room.resume(&a).await.unwrap().links, []);
    assert_eq!(room.resume(&c).await.unwrap().links, std::slice::from_ref(&three));
    room.are_in(&three, &[&a, &c]).await;
    assert_eq!(room.resume(&b).await.unwrap().links, std::slice::from_ref(&three));
    room.are_in(&three, &[&a, &b, &c]).await;
}

#[tokio::test(start_paused = true)]
async fn ending_a_lost_member_that_is_not_resumed_brings_the_link_back_for_the_rest() {
    let mut room = Room::new().await;
    let (a, b, c) = (room.start().await, room.start().await, room.start().await);
    let (pair, three) = (room.linked(&[&a, &c]).await, room.linked(&[&a, &b, &c]).await);
    room.are_lost(&[&a, &b, &c]).await;
    room.restart().await;
    room.resume(&a).await.unwrap();
    assert_eq!(room.resume(&b).await.unwrap().links, []);
    let expected = |link: &StreamId| (link.clone(), vec![c.clone()]);
    assert_eq!(room.waits(&a).await, BTreeMap::from([expected(&pair), expected(&three)]));
    assert_eq!(room.waits(&b).await, BTreeMap::from([expected(&three)]));
    let user = Actor::human("user");
    room.sessions().end(&c, &user).await.unwrap();
    room.are_in(&three, &[&a, &b]).await;
    assert_eq!(room.waits(&a).await, BTreeMap::new(), "nobody else had the other link");
    let again = room.sessions().end(&c, &user).await;
    assert!(matches!(again, Err(SessionError::Ended { .. })), "{again:?}");
    assert_eq!(room.resume(&c).await.unwrap().links, [], "a person ended it");
    room.are_in(&three, &[&a, &b]).await;
}

#[tokio::test(start_paused = true)]
async fn of_an_end_and_a_resume_at_the_same_time_the_first_counts() {
    let user = Actor::human("user");
    for end_first in [true, false] {
        let room = Room::new().await;
        let (a, b, c) = (room.start().await, room.start().await, room.start().await);
        let three = room.linked(&[&a, &b, &c]).await;
        room.are_lost(&[&a, &b, &c]).await;
        room.resume(&a).await.unwrap();
        room.resume(&b).await.unwrap();
        let sessions = room.sessions();
        let (end, resume) = (sessions.end(&c, &user), room.resume(&c));
        if end_first {
            let (ended, resumed) = tokio::join!(end, resume);
            ended.unwrap();
            assert!(resumed.is_err() || resumed.unwrap().links.is_empty());
            room.are_in(&three, &[&a, &b]).await;
        } else {
            let (resumed, ended) = tokio::join!(resume, end);
            assert_eq!(resumed.unwrap().links, std::slice::from_ref(&three));
            let refused = ended.unwrap_err().to_string();
            assert!(refused.contains("is being resumed or ended"), "{refused}");
            room.are_in(&three, &[&a, &b, &c]).await;
        }
    }
}

/// Returns the conflict of one of two concurrent starts.
fn refused<T: std::fmt::Debug>(started: [Result<T, SessionError>; 2]) -> String {
    match started {
        [Ok(_), Err(SessionError::Conflict(why))] | [Err(SessionError::Conflict(why)), Ok(_)] => {
            why
        }
        other => panic!("one of them was to start: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_sessions_with_one_name_one_runs_however_they_meet() {
    let room = Room::new().await;
    let old = room.start().await;
    room.end(&old).await;
    let new = room.start().await;
    room.end(&new).await;
    let (one, other) = tokio::join!(room.resume(&old), room.resume(&new));
    refused([one, other]);
    for status in room.sessions().list(false) {
        room.end(&status.session.id).await;
    }
    let run = || NewSession { name: Some("claude".into()), ..room.new_session() };
    let start = |new| room.sessions().start(new);
    let (one, other) =
        tokio::join!(async { start(run()).await.map(|status| status.session.id) }, async {
            room.resume(&old).await.map(|resumed| resumed.status.session.id)
        },);
    refused([one, other]);
    for status in room.sessions().list(false) {
        room.end(&status.session.id).await;
    }
    let (one, other) = tokio::join!(start(run()), start(run()));
    let why = refused([one, other]);
    assert!(why.contains("choose another name"), "{why}");
}
