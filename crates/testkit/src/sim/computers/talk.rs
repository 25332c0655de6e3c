//! The acts of people who converse over several computers, and what holds when they have left.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use moothall_engine::computers::{PairedComputer, RemoteSession};
use moothall_engine::ports::ListFilter;
use moothall_engine::residents::ResidentHall;
use moothall_engine::sessions::{ADDRESS, SessionDirectory as _};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Post};
use moothall_kernel::event::Recipient;
use moothall_kernel::ids::{ParticipantId, StreamId, TurnNo};

use super::super::check::Objection;
use super::super::rng::Rng;
use super::acts::PATIENCE;
use super::hall::{kernel_id, name};
use super::ledger::lock;
use super::links::links_here;
use super::sessions::{PRESENT, Residence};
use super::terminal::words;
use super::world::ComputersWorld;

/// Pause between two looks at turns that have to end.
const LOOK: Duration = Duration::from_secs(5);
/// Most looks. A terminal works on one turn for up to 25 minutes.
const LOOKS_MAX: u32 = 3_000;

/// The parts of a computer that people use.
struct TalkPlace {
    hall: ResidentHall,
    sessions: Arc<Residence>,
    /// The conversation with sessions of other computers.
    talk: StreamId,
}

fn user() -> Actor {
    Actor::human(ParticipantId::USER)
}

fn control(control: Control) -> ClientCommand {
    ClientCommand::Control { by: user(), controls: vec![control] }
}

impl TalkPlace {
    /// Gives an order to a conversation. What the rules refuse has no effect.
    async fn order(&self, stream: &StreamId, command: ClientCommand) {
        let _ = self.hall.submit(stream, command, None).await;
    }

    /// Returns the home of the living session.
    fn home(&self) -> Option<StreamId> {
        Some(self.sessions.living()?.id)
    }

    async fn open_turns(&self, stream: &StreamId) -> Vec<TurnNo> {
        let turns = |state: &Conversation| state.open_turns().map(|turn| turn.no).collect();
        self.hall.view(stream, turns).await.unwrap_or_default()
    }

    /// Returns the member of a computer in the conversation, with the session that it is.
    async fn member(&self, computer: &PairedComputer) -> Option<(String, String)> {
        let id = computer.id.to_string();
        let find = move |state: &Conversation| {
            state.agents().find_map(|one| {
                let address = one.address.as_ref().filter(|address| address.computer == id)?;
                Some((one.id.to_string(), address.local_id.clone()))
            })
        };
        self.hall.view(&self.talk, find).await.ok().flatten()
    }

    /// Invites a session of another computer, in place of an earlier one.
    async fn invite(&self, computer: &PairedComputer, session: &RemoteSession) {
        let mut controls = Vec::new();
        if let Some((member, known)) = self.member(computer).await {
            if known == session.id {
                return;
            }
            controls.push(Control::Uninvite(member));
        }
        controls.push(Control::Invite(session.invitation(computer)));
        self.order(&self.talk, ClientCommand::Control { by: user(), controls }).await;
    }

    /// Says something to the member of a computer, so that it is asked.
    async fn ask(&self, computer: &PairedComputer, serial: u64) {
        let Some((member, _)) = self.member(computer).await else { return };
        let to = Recipient::One(ParticipantId::new(member));
        let post = Post { to, ..Post::new(user(), words("asked", serial)) };
        self.order(&self.talk, ClientCommand::Post(post)).await;
    }

    /// Says something to the session here.
    async fn say_at_home(&self, serial: u64) {
        let Some(home) = self.home() else { return };
        let to = Recipient::One(ParticipantId::new(PRESENT));
        let post = Post { to, ..Post::new(user(), words("asked", serial)) };
        self.order(&home, ClientCommand::Post(post)).await;
    }

    async fn cancel(&self, stream: &StreamId, ticket: u64) {
        let turns = self.open_turns(stream).await;
        if let Some(turn) = turns.get(ticket as usize % turns.len().max(1)).copied() {
            self.order(stream, ClientCommand::Cancel { turn, by: user() }).await;
        }
    }

    /// Says something in a link of the session, or closes it.
    async fn use_link(&self, ticket: u64, words: Option<(u64, String)>) {
        let links = self.sessions.known_links(&self.hall).await.unwrap_or_default();
        let Some(link) = links.get(ticket as usize % links.len().max(1)) else { return };
        let _ = match words {
            Some(words) => self.sessions.say_in(&self.hall, link, words).await,
            None => self.sessions.close(&self.hall, link).await,
        };
    }

    /// Lifts what people and guards have stopped.
    async fn resume(&self) {
        for stream in self.conversations().await {
            self.order(&stream, control(Control::Resume)).await;
        }
    }

    async fn conversations(&self) -> Vec<StreamId> {
        let listed = self.hall.store().log.list(ListFilter::of_conversations()).await;
        let listed = listed.map(|page| page.streams).unwrap_or_default();
        listed.into_iter().map(|listed| listed.stream).collect()
    }

    /// Returns the members of the open links that live here.
    async fn links(&self, own: &str) -> Vec<BTreeSet<String>> {
        let mut links = Vec::new();
        for stream in links_here(&self.hall).await.unwrap_or_default() {
            let own = own.to_owned();
            let members = move |state: &Conversation| {
                let at = state.agents().filter_map(|one| one.address.clone());
                let sessions = at.filter(|address| address.kind == ADDRESS);
                let computer = |computer: String| match computer.is_empty() {
                    true => own.clone(),
                    false => computer,
                };
                sessions.map(|at| format!("{}/{}", computer(at.computer), at.local_id)).collect()
            };
            links.extend(self.hall.view(&stream, members).await);
        }
        links
    }
}

impl ComputersWorld {
    /// Lets people converse, in the worlds that do.
    pub(super) async fn converse(&mut self) {
        let Some(mut rng) = self.talk.take() else { return };
        if rng.chance(70) {
            self.talk_once(&mut rng).await;
        }
        self.talk = Some(rng);
    }

    async fn talk_once(&mut self, rng: &mut Rng) {
        let count = self.computers.len() as u64;
        let at = rng.below(count);
        let other = ((at + rng.between(1, count - 1)) % count) as usize;
        let (at, is_on, ticket) = (at as usize, rng.chance(50), rng.below(u64::MAX));
        let act = rng.weighted(&[30, 7, 3, 4, 14, 3, 6, 3, 8, 14, 8, 4, 2]);
        self.serial += 1;
        let serial = self.serial;
        let Some(place) = self.place(at) else { return };
        let computer =
            PairedComputer { id: kernel_id(self.computers[other].id), name: name(other) };
        let own = PairedComputer { id: kernel_id(self.computers[at].id), name: name(at) };
        let there = self.place(other).filter(|_| self.know_each_other(at, other));
        let status = there.as_ref().and_then(|there| there.sessions.list(false).pop());
        self.tell(|| format!("c{at} about c{other}: {}", ACTS[act]));
        let talk = place.talk.clone();
        let doing = async {
            match act {
                0 => {
                    if let Some(status) = &status {
                        place.invite(&computer, &RemoteSession::from(status)).await;
                    }
                    place.ask(&computer, serial).await;
                }
                1 if is_on => place.order(&talk, ClientCommand::Stop { by: user() }).await,
                1 => place.cancel(&talk, ticket).await,
                2 => {
                    if let Some((member, _)) = place.member(&computer).await {
                        place.order(&talk, control(Control::Uninvite(member))).await;
                    }
                }
                3 => {
                    if let Some((member, _)) = place.member(&computer).await {
                        let all = vec![member];
                        let mute = if is_on { Control::Mute(all) } else { Control::Unmute(all) };
                        place.order(&talk, control(mute)).await;
                    }
                }
                4 if is_on => {
                    // What the post has not taken until then is sent empty.
                    place.order(&talk, control(Control::Pause(true))).await;
                    tokio::time::sleep(Duration::from_millis(ticket % 3_000)).await;
                    place.order(&talk, control(Control::Pause(false))).await;
                }
                4 => place.order(&talk, control(Control::Pause(ticket % 4 == 0))).await,
                5 => place.order(&talk, ClientCommand::Archive { on: is_on, by: user() }).await,
                6 => {
                    if let Some(home) = place.home() {
                        place.cancel(&home, ticket).await;
                    }
                }
                7 => {
                    let all = vec![PRESENT.to_owned()];
                    let mute = if is_on { Control::Mute(all) } else { Control::Unmute(all) };
                    if let Some(home) = place.home() {
                        place.order(&home, control(mute)).await;
                    }
                }
                8 => place.say_at_home(serial).await,
                9 => {
                    let there = there.as_ref().filter(|_| is_on);
                    let their_way = async {
                        let sessions = there.map(|there| &there.sessions)?;
                        sessions.link_with(own).await.ok()
                    };
                    let _ = tokio::join!(place.sessions.link_with(computer), their_way);
                }
                10 => place.use_link(ticket, Some((serial, words("told", serial)))).await,
                11 => place.use_link(ticket, None).await,
                _ => drop(place.sessions.end_living(&place.hall).await),
            }
        };
        self.try_at(at, doing).await;
    }

    /// Returns the place of a computer that works.
    fn place(&self, at: usize) -> Option<TalkPlace> {
        let hall = self.computers[at].hall()?;
        let process = self.computers[at].process.as_ref()?;
        Some(TalkPlace { hall, sessions: process.sessions.clone(), talk: process.talk.clone() })
    }

    /// Does something at a computer, until it dies or people lose their patience.
    async fn try_at<T>(&self, at: usize, doing: impl Future<Output = T>) -> Option<T> {
        let life = self.computers[at].process.as_ref()?.life.clone();
        tokio::time::timeout(PATIENCE, life.lives_through(doing)).await.ok().flatten()
    }

    /// Notes decisions that the rules' own checks have stopped.
    pub(super) async fn see_broken_rules(&self) {
        for at in 0..self.computers.len() {
            let Some(process) = &self.computers[at].process else { continue };
            let counted = process.hall.counted().await;
            if let Some(broken) = counted.ok().filter(|counted| !counted.broken.is_empty()) {
                lock(&self.ledger).object("invariants", format!("c{at}: {:?}", broken.broken));
            }
        }
    }

    /// Waits until all turns have ended, and checks the links. Each computer is started once more,
    /// so that it asks for the turns that were lost with a log.
    pub(super) async fn end_talk(&mut self) -> Result<(), Objection> {
        if self.talk.is_none() {
            return Ok(());
        }
        self.tell(|| "— people leave —".into());
        for at in 0..self.computers.len() {
            let Some(place) = self.place(at) else { continue };
            self.try_at(at, place.resume()).await;
            drop(place);
            self.computers[at].stop().await;
            self.computers[at].start(None).await;
        }
        for _ in 0..LOOKS_MAX {
            if self.turn_that_is_open().await.is_none() {
                self.come_to_rest().await?;
                return self.check_links().await;
            }
            self.see_broken_rules().await;
            self.check()?;
            tokio::time::sleep(LOOK).await;
        }
        let message = self.turn_that_is_open().await.unwrap_or_default();
        Err(Objection { checker: "open", message })
    }

    /// Returns a turn that has not ended.
    async fn turn_that_is_open(&self) -> Option<String> {
        for at in 0..self.computers.len() {
            let place = self.place(at)?;
            for stream in place.conversations().await {
                let find = |state: &Conversation| {
                    let turn = state.open_turns().next()?;
                    let (no, hosted) = (turn.no, turn.is_hosted());
                    let (begun, title) = (turn.running.is_some(), state.name().to_owned());
                    Some(format!("turn {no} of {title}, hosted: {hosted}, begun: {begun}"))
                };
                if let Ok(Some(turn)) = place.hall.view(&stream, find).await {
                    return Some(format!("c{at}: {turn}"));
                }
            }
        }
        None
    }

    /// Checks that a set of members has one open link over all computers.
    async fn check_links(&self) -> Result<(), Objection> {
        let mut known = BTreeSet::new();
        for at in 0..self.computers.len() {
            let Some(place) = self.place(at) else { continue };
            for members in place.links(&self.computers[at].id.to_string()).await {
                let is_new = known.insert(members.clone());
                if members.len() > 1 && !is_new {
                    let message = format!("{members:?} have two open links");
                    return Err(Objection { checker: "links", message });
                }
            }
        }
        Ok(())
    }
}

/// The acts, for stories.
const ACTS: [&str; 13] = [
    "asks",
    "cancels",
    "uninvites",
    "mutes",
    "pauses",
    "archives",
    "interrupts",
    "mutes at home",
    "asks at home",
    "links",
    "says in a link",
    "closes a link",
    "ends its session",
];
