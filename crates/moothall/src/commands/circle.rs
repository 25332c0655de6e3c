//! State and words of gatherings, for every command that shows events.

use jiff::{SignedDuration, Timestamp};
use moothall_kernel::policy::PolicyName;
use moothall_surfaces::wire::{
    Envelope, GatheringAnswer, GatheringMember, GatheringRules, GatheringStep, PieceHolder,
    ThreadStateAnswer,
};
use serde::Deserialize;

use crate::client::{Client, segment};
use crate::fault::Fault;

/// A followed gathering: its members, its rules, and the current holder of the piece.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circle {
    members: Vec<GatheringMember>,
    plan: GatheringRules,
    hold: Option<Hold>,
    /// Id of the harvester while the harvest is awaited.
    harvests: Option<String>,
}

/// The current holder's turn with the piece.
#[derive(Clone, Debug, PartialEq)]
struct Hold {
    holder: String,
    beat: u32,
    last_word: bool,
    /// Time of the next beat, or the end of the last word; `None` while the clock stands: before
    /// the holder begins, during a permission request, and in a pause.
    next_at: Option<Timestamp>,
}

/// Reads a gathering, as the participant that the credential names.
///
/// # Errors
/// No server, or its refusal.
pub async fn ask(client: &Client, id: &str) -> Result<GatheringAnswer, Fault> {
    client.get(&path(id, "")).await
}

/// Reads a gathering as a participant, with the seed message and the pulse for that participant.
///
/// # Errors
/// No server, or its refusal.
pub async fn ask_as(client: &Client, id: &str, me: &str) -> Result<GatheringAnswer, Fault> {
    if me == client.name() {
        return ask(client, id).await;
    }
    client.get(&path(id, &format!("?participant={}", segment(me)))).await
}

/// Returns the path of a gathering, or of an action on it.
pub fn path(id: &str, rest: &str) -> String {
    format!("/gatherings/{}{rest}", segment(id))
}

/// True if a conversation is a gathering.
pub fn is_one(state: &ThreadStateAnswer) -> bool {
    state.state.policy["name"] == <&str>::from(PolicyName::GATHERING)
}

/// Reads an event as a step of a gathering.
pub fn step(envelope: &Envelope) -> Option<GatheringStep> {
    (envelope.kind == "gathering")
        .then(|| GatheringStep::deserialize(&envelope.content).ok())
        .flatten()
}

/// True if an event of a gathering is shown to all its members. Beats and the harvest's step are
/// not. The release of the piece is shown only if the holder gave no last word in time or left.
pub fn is_shown(envelope: &Envelope) -> bool {
    step(envelope).is_some_and(|step| match step {
        GatheringStep::Opened { .. }
        | GatheringStep::RoundOpened { .. }
        | GatheringStep::PieceGiven { .. }
        | GatheringStep::LastWordAsked
        | GatheringStep::PassAsked { .. }
        | GatheringStep::HarvestAsked { .. }
        | GatheringStep::Closed { .. } => true,
        GatheringStep::PieceReleased { because, .. } => {
            ["grace", "gone"].contains(&because.as_str())
        }
        GatheringStep::Beat { .. } | GatheringStep::Harvested { .. } => false,
    })
}

/// True if a notice repeats the gathering event before it.
pub fn is_repeated(envelope: &Envelope) -> bool {
    envelope.kind == "notice" && envelope.content["code"] == "phase"
}

/// Returns a name with its number.
pub fn numbered(name: &str, number: u32) -> String {
    format!("{name} ({number})")
}

/// Returns the reason why a gathering closed, in words.
pub fn closing(because: &str) -> &str {
    match because {
        "done" => "all its rounds are complete",
        "too_few" => "fewer than two speakers were left",
        "ended" => "a person ended it",
        other => other,
    }
}

/// Returns the seconds until a moment, rounded up; 0 if it has passed.
pub fn seconds_until(at: Timestamp, now: Timestamp) -> i64 {
    let left = at.duration_since(now).as_millis().max(0);
    i64::try_from((left + 999) / 1000).unwrap_or(i64::MAX)
}

impl Circle {
    /// Returns the current state of a gathering.
    pub fn of(answer: &GatheringAnswer) -> Self {
        let hold = answer.holder.as_ref().map(|PieceHolder { participant_id, .. }| Hold {
            holder: participant_id.clone(),
            beat: answer.beat,
            last_word: answer.last_word,
            next_at: answer.next_beat_at.as_ref().and_then(|at| at.parse().ok()),
        });
        let harvester = answer.participants.iter().find(|member| member.role == "harvester");
        let asked = answer.status == "active" && answer.phase.as_deref() == Some("close");
        Self {
            members: answer.participants.clone(),
            plan: GatheringRules {
                rhythm: answer.rhythm.clone(),
                opening_question: answer.opening_question.clone(),
                breath: answer.breath,
                beats_per_turn: answer.beats_per_turn,
                beat_interval_seconds: answer.beat_interval_seconds,
                last_word_seconds: answer.last_word_seconds,
                delivery: answer.delivery.clone(),
            },
            hold,
            harvests: harvester.filter(|_| asked).map(|member| member.participant_id.clone()),
        }
    }

    /// Returns the members and the rules without the current holder, for showing earlier events.
    pub fn earlier(answer: &GatheringAnswer) -> Self {
        Self { hold: None, harvests: None, ..Self::of(answer) }
    }

    /// True if the members are known.
    pub fn is_known(&self) -> bool {
        !self.members.is_empty()
    }

    /// Returns `Ann (2)`, or the id of a non-member.
    pub fn named(&self, id: &str) -> String {
        let member = self.members.iter().find(|member| member.participant_id == id);
        member.map_or_else(|| id.to_owned(), |member| numbered(&member.name, member.number))
    }

    /// Applies an event; returns its step if it is about a gathering.
    pub fn hear(&mut self, envelope: &Envelope) -> Option<GatheringStep> {
        let step = step(envelope)?;
        let after = |seconds: f64| {
            let at: Timestamp = envelope.ts.parse().ok()?;
            at.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()
        };
        match &step {
            GatheringStep::Opened { plan, participants, .. } => {
                let (plan, members) = (plan.clone(), participants.clone());
                *self = Self { plan, members, ..Self::default() };
            }
            GatheringStep::PieceGiven { holder, .. } => {
                let next_at = after(self.plan.beat_interval_seconds);
                let holder = holder.clone();
                self.hold = Some(Hold { holder, beat: 0, last_word: false, next_at });
            }
            GatheringStep::Beat { number } => {
                let next_at = after(self.plan.beat_interval_seconds);
                if let Some(hold) = &mut self.hold {
                    (hold.beat, hold.next_at) = (*number, next_at);
                }
            }
            GatheringStep::LastWordAsked => {
                let next_at = after(self.plan.last_word_seconds);
                if let Some(hold) = &mut self.hold {
                    (hold.last_word, hold.next_at) = (true, next_at);
                }
            }
            GatheringStep::PieceReleased { .. } => self.hold = None,
            GatheringStep::HarvestAsked { harvester, .. } => {
                self.harvests = Some(harvester.clone())
            }
            GatheringStep::Closed { .. } => (self.hold, self.harvests) = (None, None),
            GatheringStep::RoundOpened { .. }
            | GatheringStep::PassAsked { .. }
            | GatheringStep::Harvested { .. } => {}
        }
        Some(step)
    }

    /// Describes a step that was just applied.
    pub fn words(&self, step: &GatheringStep) -> String {
        match step {
            GatheringStep::Opened { by, plan, participants } => {
                opened(&self.named(by), plan, participants)
            }
            GatheringStep::RoundOpened { phase, rule, round, .. } => {
                let name = phase.to_uppercase();
                let rounds = match self.rounds_of(phase) {
                    0 => String::new(),
                    rounds => format!("/{rounds}"),
                };
                format!("--- Phase: {name} (round {round}{rounds}) ---\n{rule}")
            }
            GatheringStep::PieceGiven { holder, note } => {
                let note = note.as_ref().map_or(String::new(), |note| format!(" {note}"));
                format!("The piece is now with {}.{note}", self.named(holder))
            }
            GatheringStep::Beat { number } => format!("beat {number} of {}", self.of_holder()),
            GatheringStep::LastWordAsked => {
                format!("{} is asked for a last word.", self.of_holder())
            }
            GatheringStep::PassAsked { holder, .. } => {
                format!("{} passes the piece on when its turn ends.", self.named(holder))
            }
            GatheringStep::PieceReleased { holder, because, .. } => {
                let holder = self.named(holder);
                match because.as_str() {
                    "passed" => format!("{holder} passes the piece on."),
                    "last_word" => format!("{holder} has said a last word."),
                    "grace" => format!("{holder} said no last word in time."),
                    "gone" => format!("{holder} left while holding the piece."),
                    _ => format!("{holder} no longer has the piece."),
                }
            }
            GatheringStep::HarvestAsked { harvester, .. } => {
                format!("--- Phase: CLOSE ---\n{} writes the harvest.", self.named(harvester))
            }
            GatheringStep::Harvested { harvester, .. } => {
                format!("{} wrote the harvest.", self.named(harvester))
            }
            GatheringStep::Closed { because } => {
                format!("The gathering is closed: {}.", closing(because))
            }
        }
    }

    fn of_holder(&self) -> String {
        self.hold.as_ref().map_or_else(|| "the holder".into(), |hold| self.named(&hold.holder))
    }

    /// Returns a call to act after a step, if the participant has to act.
    pub fn call(&self, step: &GatheringStep, me: &str) -> Option<String> {
        let has_piece = self.hold.as_ref().is_some_and(|hold| hold.holder == me);
        match step {
            GatheringStep::PieceGiven { .. } if has_piece => Some(self.turn_began()),
            GatheringStep::LastWordAsked if has_piece => {
                Some("Your turn is up. What would you like to say last?".into())
            }
            GatheringStep::HarvestAsked { harvester, .. } if harvester == me => {
                Some(HARVEST.into())
            }
            GatheringStep::Opened { .. }
            | GatheringStep::RoundOpened { .. }
            | GatheringStep::PieceGiven { .. }
            | GatheringStep::Beat { .. }
            | GatheringStep::LastWordAsked
            | GatheringStep::PassAsked { .. }
            | GatheringStep::PieceReleased { .. }
            | GatheringStep::HarvestAsked { .. }
            | GatheringStep::Harvested { .. }
            | GatheringStep::Closed { .. } => None,
        }
    }

    /// Returns the call to act that is open now, for a participant whose chat begins during their
    /// own turn.
    pub fn call_now(&self, me: &str) -> Option<String> {
        if self.harvests.as_deref() == Some(me) {
            return Some(HARVEST.into());
        }
        let hold = self.hold.as_ref().filter(|hold| hold.holder == me)?;
        let step = if hold.last_word {
            GatheringStep::LastWordAsked
        } else {
            GatheringStep::PieceGiven { holder: hold.holder.clone(), note: None }
        };
        self.call(&step, me)
    }

    /// Returns the call to the holder of the piece, with the current beat.
    fn turn_began(&self) -> String {
        let beat = self.hold.as_ref().map_or(0, |hold| hold.beat);
        format!(
            "You have the piece: beat {beat} of {}, one every {} s. Write what you see; /pass or \
             /pass NAME passes it on.",
            self.plan.beats_per_turn, self.plan.beat_interval_seconds
        )
    }

    /// Returns the announcement of a beat to the holder of the piece. `None` for other
    /// participants, and for the last beat, which the request for a last word follows.
    pub fn beat_of(&self, step: &GatheringStep, me: &str) -> Option<String> {
        let GatheringStep::Beat { number } = step else { return None };
        let mine = self.hold.as_ref().is_some_and(|hold| hold.holder == me);
        let last = *number >= self.plan.beats_per_turn;
        (mine && !last)
            .then(|| format!("Beat {number} of {}: you have the piece.", self.plan.beats_per_turn))
    }

    /// True if the participant holds the piece or writes the harvest.
    pub fn is_on(&self, me: &str) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.holder == me)
            || self.harvests.as_deref() == Some(me)
    }

    /// Returns the status line about the harvest if it is awaited, otherwise about the talking
    /// piece.
    pub fn standing(&self, me: &str, now: Timestamp) -> Option<String> {
        if let Some(harvester) = &self.harvests {
            return Some(match harvester == me {
                true => "you write the harvest".into(),
                false => format!("{} writes the harvest", self.named(harvester)),
            });
        }
        let hold = self.hold.as_ref()?;
        if hold.holder != me {
            return Some(format!("{} has the piece", self.named(&hold.holder)));
        }
        let left = hold.next_at.map(|at| seconds_until(at, now));
        Some(match (hold.last_word, left) {
            (true, Some(left)) => format!("your turn is up, {left} s for a last word"),
            (true, None) => "your turn is up, say a last word".into(),
            (false, Some(left)) => format!("you have the piece, next beat in {left} s"),
            (false, None) => "you have the piece".into(),
        })
    }

    /// Returns the number of rounds of a phase.
    fn rounds_of(&self, phase: &str) -> u32 {
        let [inhale, hold, exhale] = self.plan.breath;
        match phase {
            "inhale" => inhale,
            "hold" => hold,
            _ => exhale,
        }
    }

    /// Explains why a gathering rejected a message; `None` for other errors.
    pub fn refusal(&self, fault: &Fault) -> Option<String> {
        if fault.code.as_deref() != Some("not_your_piece") {
            return None;
        }
        let who = match (&self.hold, &self.harvests) {
            (_, Some(harvester)) => format!("{} writes the harvest", self.named(harvester)),
            (Some(hold), None) => format!("{} has the piece", self.named(&hold.holder)),
            (None, None) => "another participant has the piece".into(),
        };
        Some(format!("{who}: others cannot speak now"))
    }
}

const HARVEST: &str =
    "You write the harvest: your next message is kept as the result of this gathering.";

/// Describes the start of a gathering: its rhythm, speakers, harvester and opening question.
fn opened(by: &str, plan: &GatheringRules, participants: &[GatheringMember]) -> String {
    let with = |role: &str| {
        let members = participants.iter().filter(|member| member.role == role);
        let names: Vec<_> = members.map(|member| numbered(&member.name, member.number)).collect();
        names.join(", ")
    };
    let question = match plan.opening_question.trim() {
        "" => String::new(),
        question => format!("\n{question}"),
    };
    format!(
        "{by} began a gathering ({}): {}; {} writes the harvest.{question}",
        plan.rhythm,
        with("speaker"),
        with("harvester")
    )
}

#[cfg(test)]
mod tests;
