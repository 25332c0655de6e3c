//! Posts that need another person's consent: the questions, the answers and their times, and the
//! check that nothing is decided without consent.

use std::collections::{BTreeMap, BTreeSet};

use moothall_engine::stream::{Consent, Input, RequestId};
use moothall_kernel::command::{ClientCommand, Command, Rejection};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::time::Millis;

use super::check::{Objection, Verdict};
use super::marks;
use super::rng::Rng;
use super::server::{ClientRequest, HostInput};
use super::world::{DAWN, World, object};

/// Time for an answer.
pub(crate) const WITHIN: Millis = Millis::from_secs(30);

/// An answer about a request, sent to the host of the room at the time of its arrival.
#[derive(Clone, Debug)]
pub(crate) struct ConsentAnswer {
    room: usize,
    id: RequestId,
    consent: Consent,
}

/// An open question about a request.
#[derive(Clone, Copy, Debug)]
struct Question {
    mark: usize,
    until: Millis,
}

/// All questions about consent. Their randomness is separate, so that runs without consent do not
/// change.
pub(crate) struct Consents {
    rng: Rng,
    /// True if consent is needed in this run.
    happen: bool,
    /// The future answers and their times.
    coming: Vec<(i64, ConsentAnswer)>,
    open: BTreeMap<RequestId, Question>,
    /// Marks of posts that need consent.
    needed: BTreeSet<usize>,
    /// Hosts, each with the mark of a post to which consent arrived in time.
    given: BTreeSet<(u64, usize)>,
}

impl Consents {
    pub(crate) fn new(seed: u64) -> Self {
        let (coming, open, needed, given) = <_>::default();
        Self {
            rng: Rng::new(!seed),
            happen: matches!(seed % 7, 3 | 6),
            coming,
            open,
            needed,
            given,
        }
    }

    /// True if the next post needs consent.
    pub(crate) fn are_wanted(&mut self) -> bool {
        self.happen && self.rng.chance(40)
    }

    /// Returns the time of the next answer.
    pub(crate) fn next(&self) -> Option<i64> {
        self.coming.iter().map(|(at, _)| *at).min()
    }

    /// Checks that words that need consent do not reach the disk without it.
    pub(crate) fn check(&self, host: u64, recorded: &RecordedEvent) -> Verdict {
        let body = match &recorded.event {
            Event::Posted(posted) if posted.published.is_none() => &posted.body,
            Event::Suppressed { body, .. } => body,
            _ => return Ok(()),
        };
        match marks::first(body).filter(|mark| self.needed.contains(mark)) {
            Some(mark) if !self.given.contains(&(host, mark)) => {
                Err(format!("nobody agreed to the words with mark {mark}, at {}", recorded.seq))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the answers to a question and their delays in milliseconds: soon, late, never, or
    /// twice.
    fn say(&mut self) -> Vec<(u64, Consent)> {
        let no = || Consent::Refused("not now".into());
        let soon = self.rng.between(1, 20_000);
        let late = WITHIN.0 + self.rng.below(60_000);
        match self.rng.weighted(&[50, 12, 12, 12, 7, 7]) {
            0 => vec![(soon, Consent::Given)],
            1 => vec![(soon, no())],
            2 => vec![],
            3 => vec![(late, Consent::Given)],
            4 => vec![(soon, Consent::Given), (soon + 1, Consent::Given)],
            _ => vec![(soon, no()), (soon, Consent::Given)],
        }
    }
}

impl World {
    /// Posts words that need consent. Some clients send the post twice, because they are impatient.
    pub(crate) fn post_if_agreed(&mut self, room: usize, post: ClientCommand) {
        let key = self.consents.rng.chance(80).then(|| self.key());
        let request = ClientRequest { conditional: true, ..ClientRequest::new(post, key) };
        self.consents.needed.extend(mark_of(&request));
        if request.key.is_some() && self.consents.rng.chance(25) {
            self.servers[room].queue.push_back(HostInput::Asked(request.clone()));
        }
        self.servers[room].queue.push_back(HostInput::Asked(request));
    }

    /// Takes a host's question.
    pub(crate) fn asked(
        &mut self,
        room: usize,
        id: RequestId,
        until: Millis,
    ) -> Result<(), Objection> {
        let request = self.servers[room].waiting.get(&id).filter(|request| request.conditional);
        let Some(mark) = request.and_then(mark_of) else {
            return object(
                "consent",
                Err(format!(
                    "somebody in room {room} was asked about {id:?}, for which nobody waits"
                )),
            );
        };
        self.story.tell(|| format!("  room {room} asks about mark {mark}"));
        self.consents.open.insert(id, Question { mark, until });
        let now = self.time;
        let said = self
            .consents
            .say()
            .into_iter()
            .map(|(after, consent)| (now + after as i64, ConsentAnswer { room, id, consent }));
        self.consents.coming.extend(said);
        Ok(())
    }

    /// Sends the due answers to the hosts, including those that did not ask.
    pub(crate) fn tell_of_consents(&mut self) {
        let now = self.time;
        for (_, answered) in self.consents.coming.extract_if(.., |(at, _)| *at <= now) {
            self.servers[answered.room].queue.push_back(HostInput::Consent(answered));
        }
    }

    /// Passes an answer to a host. It counts if it is in time and the first.
    pub(crate) fn note_consent(&mut self, room: usize, answered: ConsentAnswer) -> Input {
        let ConsentAnswer { id, consent, .. } = answered;
        let (host, steady) = (self.servers[room].number, Millis((self.time - DAWN) as u64));
        let waits = self.servers[room].waiting.contains_key(&id);
        if let Some(question) =
            self.consents.open.remove(&id).filter(|question| waits && steady < question.until)
            && consent == Consent::Given
        {
            self.consents.given.insert((host, question.mark));
        }
        Input::Answered { id, consent }
    }

    /// Forgets a finished request. Once no equal request waits, the post needs new consent.
    pub(crate) fn forget_consent(&mut self, room: usize, request: &ClientRequest) {
        let server = &self.servers[room];
        let Some(mark) = mark_of(request).filter(|_| request.conditional) else { return };
        if !server.waiting.values().any(|other| mark_of(other) == Some(mark)) {
            self.consents.given.remove(&(server.number, mark));
        }
    }

    /// Checks at rest that no request waits for consent.
    pub(crate) fn ask_for_consents(&self) -> Result<(), Objection> {
        let waits = |server: &super::server::Server| {
            server.waiting.values().any(|request| request.conditional)
        };
        let room = self.servers.iter().position(waits);
        object(
            "consent",
            room.map_or(Ok(()), |room| Err(format!("a request to room {room} waits for ever"))),
        )
    }
}

fn mark_of(request: &ClientRequest) -> Option<usize> {
    match &request.command {
        Command::Client(ClientCommand::Post(post)) => marks::first(&post.body),
        _ => None,
    }
}

/// True if a client without consent may ask again under the same key.
pub(crate) fn may_ask_again(rejection: &Rejection, request: &ClientRequest) -> bool {
    request.key.is_some() && matches!(rejection.code, "unanswered" | "not_agreed")
}
