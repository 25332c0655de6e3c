//! The acts of people, of computers and of the post, drawn by chance.

use std::sync::Arc;
use std::time::Duration;

use moothall_computers::invitation::Invitation;
use moothall_engine::computers::{ComputerDirectory, JoinOutcome, NewComputer};

use super::hall::name;
use super::ledger::lock;
use super::rows;
use super::world::{ComputersWorld, faults};

/// Most steps that a doomed process makes.
const DOOM_MAX: u64 = 60;
/// Time after which people stop waiting for a request.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

impl ComputersWorld {
    /// Does one thing.
    pub(super) async fn act(&mut self) {
        match self.rng.weighted(&[34, 20, 9, 3, 3, 24, 5, 3, 6, 6, 6, 3]) {
            0 => self.owe().await,
            1 => self.wait().await,
            2 => self.doom(),
            3 => self.crash(),
            4 => self.stop().await,
            5 => self.start().await,
            6 => self.pause(),
            7 => self.flush(),
            8 => self.disturb(),
            9 => self.back_up(),
            10 => self.restore().await,
            _ => self.part().await,
        }
    }

    /// Owes rows.
    async fn owe(&mut self) {
        let (from, to) = self.two();
        if !self.computers[from].is_awake() || !self.know_each_other(from, to) {
            return;
        }
        let count = self.rng.between(1, 4);
        self.tell(|| format!("c{from} owes c{to} {count} rows"));
        let mut commands = Vec::new();
        for _ in 0..count {
            self.serial += 1;
            commands.push(rows::draw(&mut self.rng, self.serial));
        }
        let to = self.computers[to].id;
        let owing = self.computers[from].owe(to, &commands);
        let _ = tokio::time::timeout(PATIENCE, owing).await;
    }

    async fn wait(&mut self) {
        let millis = [
            self.rng.below(20),
            self.rng.below(3_000),
            self.rng.below(20_000),
            self.rng.below(100_000),
        ][self.rng.weighted(&[4, 4, 2, 1])];
        self.tell(|| format!("{millis} ms pass"));
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }

    fn doom(&mut self) {
        let (place, steps) = (self.two().0, self.rng.between(1, DOOM_MAX));
        if let Some(process) = &self.computers[place].process {
            self.tell(|| format!("c{place} dies after {steps} steps"));
            process.life.doom(steps);
        }
    }

    fn crash(&mut self) {
        let place = self.two().0;
        if let Some(process) = &self.computers[place].process {
            process.life.die();
        }
    }

    async fn stop(&mut self) {
        let place = self.two().0;
        if self.computers[place].is_awake() {
            self.tell(|| format!("c{place} is stopped"));
            let _ = tokio::time::timeout(PATIENCE, self.computers[place].stop()).await;
        }
    }

    /// Starts the computers that are down. Some die while they start.
    async fn start(&mut self) {
        for place in 0..self.computers.len() {
            if self.computers[place].process.is_none() {
                let doom = self.rng.chance(30).then(|| self.rng.between(1, DOOM_MAX));
                self.tell(|| format!("c{place} starts, and dies after {doom:?} steps"));
                self.computers[place].start(doom).await;
            }
        }
    }

    fn pause(&mut self) {
        let place = self.two().0;
        if let Some(process) = &self.computers[place].process {
            let is_paused = process.life.is_paused();
            self.tell(|| format!("c{place} pauses: {}", !is_paused));
            process.life.pause(!is_paused);
        }
    }

    fn flush(&mut self) {
        self.tell(|| "the post loses everything".into());
        self.server.flush();
    }

    /// Changes the faults of the post.
    fn disturb(&mut self) {
        let (is_on, place) = (self.rng.chance(50), self.two().0);
        match self.rng.below(4) {
            0 => {
                let faults = faults(&mut self.rng);
                self.tell(|| format!("{faults:?}"));
                self.server.set_faults(faults);
            }
            1 => {
                self.tell(|| format!("the post is away: {is_on}"));
                self.server.set_away(is_on);
            }
            2 if is_on => {
                self.tell(|| "the post hangs".into());
                self.server.freeze();
            }
            2 => {
                self.tell(|| "the post does not hang".into());
                self.server.thaw();
            }
            _ => {
                self.tell(|| format!("what c{place} puts is lost: {is_on}"));
                self.server.set_one_way(self.computers[place].id, is_on);
            }
        }
    }

    fn back_up(&mut self) {
        let place = self.two().0;
        self.tell(|| format!("c{place} makes a backup"));
        self.computers[place].back_up();
    }

    /// Restores a log that is not in use.
    async fn restore(&mut self) {
        let place = self.two().0;
        if self.rng.chance(50) {
            self.crash_now(place);
        }
        if self.computers[place].restore() {
            self.tell(|| format!("c{place} is restored"));
            self.computers[place].start(None).await;
        }
    }

    fn crash_now(&mut self, place: usize) {
        self.tell(|| format!("c{place} crashes"));
        self.computers[place].crash();
    }

    /// Ends a pair, and makes it again at times.
    async fn part(&mut self) {
        let (one, other) = self.two();
        match self.rng.below(4) {
            0 => drop(self.forget(one, other).await),
            _ => self.pair_anew(one, other).await,
        }
    }

    /// Lets two computers forget each other, and pairs them again. Each request may fail.
    pub(super) async fn pair_anew(&mut self, one: usize, other: usize) {
        let has_paired = self.try_to_pair(one, other).await.is_some();
        self.tell(|| format!("c{one} and c{other} pair: {has_paired}"));
    }

    async fn try_to_pair(&mut self, one: usize, other: usize) -> Option<()> {
        self.forget(one, other).await?;
        self.forget(other, one).await?;
        let invited = self
            .ask(one, |directory| async move { directory.invite(NewComputer::default()).await });
        let line = invited.await?.ok()?;
        let invitation: Invitation = line.parse().ok()?;
        lock(&self.ledger).pair(one, other, invitation.key);
        let answer = match self.join(other, line).await? {
            JoinOutcome::Accepted { answer, .. } => answer,
            JoinOutcome::Paired { .. } => return None,
        };
        self.join(one, answer).await.map(drop)
    }

    /// Lets a computer forget another. Returns none if it cannot be asked, or dies.
    async fn forget(&mut self, own: usize, other: usize) -> Option<()> {
        if !self.computers[own].is_awake() {
            return None;
        }
        self.tell(|| format!("c{own} forgets c{other}"));
        lock(&self.ledger).forgetting.insert((own, other));
        let name = name(other);
        let forgot = self.ask(own, |directory| async move { directory.forget(&name).await });
        forgot.await?.ok().map(drop)
    }

    async fn join(&self, place: usize, line: String) -> Option<JoinOutcome> {
        let new = NewComputer::default();
        let joined =
            self.ask(place, |directory| async move { directory.join(&line, new).await }).await;
        joined?.ok()
    }

    /// Asks the directory of a computer. Returns none if it dies, or does not answer.
    async fn ask<T, F: Future<Output = T>>(
        &self,
        place: usize,
        question: impl FnOnce(Arc<dyn ComputerDirectory>) -> F,
    ) -> Option<T> {
        let process = self.computers[place].process.as_ref()?;
        let asking = process.life.lives_through(question(process.computers.directory()));
        tokio::time::timeout(PATIENCE, asking).await.ok().flatten()
    }
}
