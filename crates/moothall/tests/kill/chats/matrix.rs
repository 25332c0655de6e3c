//! A room of Matrix with an account for each of two agents.

use std::sync::atomic::{AtomicBool, Ordering};

use moothall_testkit::matrix::{Homeserver, HomeserverFault};
use tempfile::TempDir;

use super::stage::ChatService;

/// Number of messages behind which the next send of the server fails.
const FAIL_AFTER: usize = 6;

pub struct MatrixRoom {
    homeserver: Homeserver,
    /// The folder of the registration.
    folder: TempDir,
    person: String,
    room: String,
    is_disturbed: AtomicBool,
}

impl MatrixRoom {
    fn registration(&self) -> String {
        self.folder.path().join("registration.yaml").display().to_string()
    }

    async fn said(&self, room: &str, begin: &str) {
        let is_said = |it: &Homeserver| it.texts(room).iter().any(|text| text.starts_with(begin));
        self.homeserver.wait_for(is_said).await;
    }
}

impl ChatService for MatrixRoom {
    const CHANNEL: &'static str = "matrix";
    const HEAD: &'static str = "user (page, not proven):\n";
    // The homeserver keeps transactions while it runs, and a send is repeated under the same one.
    const MAY_BE_UNKNOWN: bool = false;

    async fn start() -> Self {
        let homeserver = Homeserver::start().await.unwrap();
        let person = homeserver.user("ann");
        let room = homeserver.room(&person, &[]);
        let folder = tempfile::tempdir().unwrap();
        let is_disturbed = AtomicBool::new(false);
        let service = Self { homeserver, folder, person, room, is_disturbed };
        std::fs::write(service.registration(), service.homeserver.registration()).unwrap();
        service
    }

    fn config(&self) -> String {
        let (url, registration) = (self.homeserver.url(), self.registration());
        format!("[channels.matrix]\nhomeserver = \"{url}\"\nregistration = \"{registration}\"\n")
    }

    async fn open(&self, code: &str) {
        let Self { homeserver, person, room, .. } = self;
        let private = homeserver.private_room(person, "moothall");
        homeserver.wait_for(|it| it.is_in(&private, "moothall")).await;
        homeserver.say(&private, person, &format!("/start {code}"));
        self.said(&private, "You are now").await;
        homeserver.invite(room, person, "moothall_analyst");
        self.said(room, "This chat").await;
        homeserver.invite(room, person, "moothall_writer");
        self.said(room, "writer joined").await;
    }

    fn chat(&self) -> String {
        format!("matrix:{}", self.room)
    }

    fn say(&self, number: usize, text: &str) {
        if number.is_multiple_of(FAIL_AFTER) && self.is_disturbed.load(Ordering::Relaxed) {
            self.homeserver.fault(match number / FAIL_AFTER % 4 {
                0 => HomeserverFault::ResetAfter,
                1 => HomeserverFault::ResetBefore,
                2 => HomeserverFault::BadGatewayAfter,
                _ => HomeserverFault::TooMany(30),
            });
        }
        self.homeserver.say(&self.room, &self.person, text);
    }

    fn texts(&self) -> Vec<String> {
        self.homeserver.texts(&self.room)
    }

    async fn until_shown(&self, wanted: usize) {
        self.homeserver.wait_for(|it| it.texts(&self.room).len() >= wanted).await;
    }

    async fn until_heard(&self) {
        self.homeserver.wait_for(Homeserver::is_idle).await;
    }

    fn disturb(&self, seed: Option<u64>) {
        self.is_disturbed.store(seed.is_some(), Ordering::Relaxed);
    }
}
