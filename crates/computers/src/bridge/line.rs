//! The id and the name of this computer, and the lines by which it is paired.

use std::sync::Arc;
use std::time::Instant;

use moothall_engine::computers::{ComputerError, JoinOutcome, NewComputer};

use super::{Directory, lock, not_kept};
use crate::id::{ComputerId, ComputerName};
use crate::invitation::{AnswerError, Invitation, InvitationAnswer, JOIN, JOINED, Pair};
use crate::pairs::{OwnComputer, Pairs, PairsError};
use crate::redis_post::{RedisAddress, RedisPost};

/// The first digit of a new id if the person does not say how often the computer is up.
const USUAL_UP: u8 = 5;
/// Bound of the numbers that are added to the name of a computer whose name is taken here.
const NAMES_TRIED: u32 = 99;

fn invalid(error: impl ToString) -> ComputerError {
    ComputerError::Invalid(error.to_string())
}

/// A line that another computer printed.
pub(super) enum Line {
    /// An invitation of that computer.
    Invitation(Invitation),
    /// Its answer to an invitation of this one.
    Answer(InvitationAnswer),
}

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// [`ComputerError::BadLine`].
    pub(super) fn read(line: &str) -> Result<Self, ComputerError> {
        let bad = |error: &dyn std::fmt::Display| ComputerError::BadLine(error.to_string());
        let line = line.trim();
        if line.starts_with(JOINED) {
            return line.parse().map(Self::Answer).map_err(|error| bad(&error));
        }
        if !line.starts_with(JOIN) {
            return Err(bad(&format!(
                "This is not a line of another computer: an invitation begins with `{JOIN}`, and \
                 its answer with `{JOINED}`."
            )));
        }
        line.parse().map(Self::Invitation).map_err(|error| bad(&error))
    }

    /// Returns the name that the computer of the line has for itself.
    pub(super) fn name(&self) -> &ComputerName {
        match self {
            Self::Invitation(invitation) => &invitation.name,
            Self::Answer(answer) => answer.name(),
        }
    }
}

impl Directory {
    /// Returns the file of this computer's pairs. If there is none yet, gives the computer its id,
    /// after the Redis has answered. Otherwise changes the name and the Redis to those in `new`.
    pub(super) async fn begun(&self, new: NewComputer) -> Result<Arc<Pairs>, ComputerError> {
        let redis = new.redis.as_deref().map(str::parse::<RedisAddress>).transpose();
        let redis = redis.map_err(invalid)?;
        if let Some(pairs) = self.book() {
            self.change_own(&pairs, &new, redis).await?;
            return Ok(pairs);
        }
        let Some(redis) = redis else {
            return Err(invalid(
                "Say at which Redis the computers meet: `moothall computers invite --redis \
                 redis://HOST`. It is a post office, and all of them must reach it.",
            ));
        };
        let id = ComputerId::random(new.up.unwrap_or(USUAL_UP)).map_err(invalid)?;
        let own = OwnComputer { id, name: own_name(new.name)?, redis, ca: None };
        // A wrong address is told before a person carries a line to another computer.
        let post = RedisPost::new(own.id, own.redis.clone(), None).map_err(invalid)?;
        post.health().await.map_err(invalid)?;
        let pairs = Arc::new(Pairs::create(&self.folder, own).map_err(not_kept)?);
        *lock(&self.pairs) = Some(pairs.clone());
        Ok(pairs)
    }

    /// Changes the name and the Redis of this computer, if they differ, and then runs the tasks:
    /// anew if something changed. Refuses another first digit, because the id stays.
    async fn change_own(
        &self,
        pairs: &Pairs,
        new: &NewComputer,
        redis: Option<RedisAddress>,
    ) -> Result<(), ComputerError> {
        let own = pairs.own();
        if new.up.is_some_and(|up| up != own.id.up()) {
            return Err(invalid(
                "This computer has its id for good, and with it how often it is up.",
            ));
        }
        let name = match &new.name {
            Some(name) => name.parse().map_err(invalid)?,
            None => own.name.clone(),
        };
        let redis = redis.unwrap_or_else(|| own.redis.clone());
        if (&name, &redis) != (&own.name, &own.redis) {
            pairs.set_own(name, redis, own.ca).map_err(of_pairs)?;
        }
        // An earlier request may have stored the change, and then failed to run the tasks.
        self.run().await
    }

    /// Accepts an invitation: stores the pair, and returns the answer for the inviter. The same
    /// invitation may be accepted again, and a new one of the same computer as long as it has not
    /// been met. Refuses an invitation if this computer meets the others at another Redis and `new`
    /// names none.
    pub(super) async fn accept(
        &self,
        invitation: Invitation,
        new: NewComputer,
    ) -> Result<JoinOutcome, ComputerError> {
        let is_other = |pairs: &Arc<Pairs>| pairs.own().redis != invitation.redis;
        if let Some(pairs) = self.book().filter(|pairs| new.redis.is_none() && is_other(pairs)) {
            return Err(invalid(format!(
                "The inviter meets others at {}, and this computer at {}. If both mean one server, \
                 repeat this with `--redis` and the address for this computer.",
                invitation.redis,
                pairs.own().redis
            )));
        }
        let redis = new.redis.or_else(|| Some(invitation.redis.secret_url().to_owned()));
        let pairs = self.begun(NewComputer { redis, ..new }).await?;
        let own = pairs.own();
        let pair = Pair {
            id: invitation.inviter,
            name: invitation.name.clone(),
            key: invitation.key.clone(),
        };
        let computer = self.keep(&pairs, pair).await?;
        let answer = invitation.answer(own.id, own.name).line();
        Ok(JoinOutcome::Accepted { computer: computer.to_string(), answer })
    }

    /// Takes the answer to an invitation of this computer, and stores the pair. An answer that made
    /// the present pair may be given again.
    pub(super) async fn take_answer(
        &self,
        answer: &InvitationAnswer,
    ) -> Result<JoinOutcome, ComputerError> {
        let bad = |error: AnswerError| ComputerError::BadLine(error.to_string());
        let Some(pairs) = self.book() else { return Err(bad(AnswerError::Unknown)) };
        let known = pairs.get(answer.joiner()).filter(|known| answer.is_of(&known.key));
        if let Some(known) = known {
            return Ok(JoinOutcome::Paired { computer: known.name.to_string() });
        }
        let pair = lock(&self.invitations).pair(answer, Instant::now()).map_err(bad)?;
        let computer = self.keep(&pairs, pair).await?.to_string();
        lock(&self.invitations).use_up(answer);
        Ok(JoinOutcome::Paired { computer })
    }

    /// Stores a pair, and returns its name here: its own, or its own with a number if that is
    /// taken.
    async fn keep(&self, pairs: &Pairs, pair: Pair) -> Result<ComputerName, ComputerError> {
        if pairs.get(pair.id).is_none() {
            // The server may have stopped while it forgot the computer, and then has rows of the
            // former pair.
            self.forget_rows(pair.id).await?;
        }
        let mut named = pair.clone();
        for number in 2..NAMES_TRIED {
            match pairs.add(named.clone()) {
                Ok(name) => return Ok(name),
                Err(PairsError::NameTaken(_)) => named.name = numbered(&pair.name, number)?,
                Err(error) => return Err(of_pairs(error)),
            }
        }
        Err(ComputerError::Taken(format!("Too many computers are called {} here.", pair.name)))
    }
}

/// Returns a name with a number at its end, shortened so that both fit.
fn numbered(name: &ComputerName, number: u32) -> Result<ComputerName, ComputerError> {
    let name: String = name.as_str().chars().take(28).collect();
    format!("{}-{number}", name.trim_end_matches('-')).parse().map_err(invalid)
}

fn of_pairs(error: PairsError) -> ComputerError {
    match error {
        PairsError::File(..) | PairsError::Content(..) => not_kept(error),
        PairsError::Exists(_)
        | PairsError::NameTaken(_)
        | PairsError::Paired(_)
        | PairsError::OwnComputer
        | PairsError::Unknown(_) => ComputerError::Taken(format!("{error}.")),
    }
}

/// Returns the name that a person gave this computer, or that of the machine.
fn own_name(given: Option<String>) -> Result<ComputerName, ComputerError> {
    match given {
        Some(name) => name.parse().map_err(invalid),
        None => Ok(machine_name()),
    }
}

/// Returns the name of the machine, as far as its letters are legal.
fn machine_name() -> ComputerName {
    let host = nix::unistd::gethostname().unwrap_or_default().to_string_lossy().to_lowercase();
    let first = host.split('.').next().unwrap_or_default();
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let name: String = first.chars().map(|c| if is_letter(c) { c } else { '-' }).take(32).collect();
    let usual = || "computer".parse().expect("a legal name");
    name.trim_matches('-').parse().unwrap_or_else(|_| usual())
}
