//! Gatherings in words: what their events say, for every command that shows events. Pure.

use jiff::{SignedDuration, Timestamp};
use moothall_kernel::gathering::{LetGo, Phase};
use moothall_kernel::policy::PolicyName;
use moothall_surfaces::wire::{
    Envelope, GatheringAnswer, GatheringMember, PieceHolder, ThreadStateAnswer,
};
use serde::Deserialize;

use crate::client::{Client, segment};
use crate::fault::Fault;

/// What an event of a gathering says.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Step {
    /// It began.
    Opened {
        /// The id of whoever began it.
        by: String,
        /// How it goes.
        plan: Plan,
        /// Who takes part, by number.
        participants: Vec<GatheringMember>,
    },
    /// A round began.
    RoundOpened {
        /// The phase in which it is.
        phase: Phase,
        /// What the phase asks of the speakers.
        rule: String,
        /// Which round of the phase, from 1.
        round: u32,
    },
    /// Somebody got the piece.
    PieceGiven {
        /// The id of whoever has it now.
        holder: String,
        /// Why it is not the one who was named.
        note: Option<String>,
    },
    /// The holder's time went on.
    Beat {
        /// Which beat of the hold, from 1.
        number: u32,
    },
    /// The holder's time is over but for a last word.
    LastWordAsked,
    /// The holder let go.
    PieceReleased {
        /// The id of whoever had it.
        holder: String,
        /// What ended the time with it.
        because: LetGo,
    },
    /// Nothing more is spoken.
    HarvestAsked {
        /// The id of whoever writes the harvest.
        harvester: String,
    },
    /// The harvest is there.
    Harvested {
        /// The id of whoever wrote it.
        harvester: String,
    },
    /// It is over.
    Closed {
        /// `done`, `too_few` or `ended`.
        because: String,
    },
}

/// How a gathering goes, as far as it is told.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Plan {
    /// What kind of gathering it is.
    rhythm: String,
    /// The question it begins with.
    opening_question: String,
    /// Rounds of each phase.
    breath: [u32; 3],
    beats_per_turn: u32,
    beat_interval_seconds: f64,
    last_word_seconds: f64,
}

/// A gathering as it is followed: who takes part, how it goes, and who has the piece.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circle {
    members: Vec<GatheringMember>,
    plan: Plan,
    hold: Option<Hold>,
    /// Who writes the harvest, once it is asked for.
    harvests: Option<String>,
}

/// Having the piece.
#[derive(Clone, Debug, PartialEq)]
struct Hold {
    holder: String,
    beat: u32,
    last_word: bool,
    /// When the next beat comes, or the time for the last word ends; none while that stands still.
    next_at: Option<Timestamp>,
}

/// Asks for a gathering.
///
/// # Errors
/// No server, or its refusal.
pub async fn ask(client: &Client, id: &str) -> Result<GatheringAnswer, Fault> {
    client.get(&path(id, "")).await
}

/// The path of a gathering, or of what can be done with it.
pub fn path(id: &str, rest: &str) -> String {
    format!("/gatherings/{}{rest}", segment(id))
}

/// Whether a conversation is held as a gathering.
pub fn is_one(state: &ThreadStateAnswer) -> bool {
    state.state.policy["name"] == <&str>::from(PolicyName::GATHERING)
}

/// What an event says about a gathering, if it is about one.
pub fn step(envelope: &Envelope) -> Option<Step> {
    (envelope.kind == "gathering").then(|| Step::deserialize(&envelope.content).ok()).flatten()
}

/// Whether everybody in a conversation is told of an event of its gathering: not of beats, and not
/// of what the next event says as well.
pub fn is_told(envelope: &Envelope) -> bool {
    step(envelope).is_some_and(|step| match step {
        Step::Opened { .. }
        | Step::RoundOpened { .. }
        | Step::PieceGiven { .. }
        | Step::LastWordAsked
        | Step::HarvestAsked { .. }
        | Step::Closed { .. } => true,
        Step::PieceReleased { because, .. } => matches!(because, LetGo::Grace | LetGo::Gone),
        Step::Beat { .. } | Step::Harvested { .. } => false,
    })
}

/// Whether a notice says again what the event of a gathering before it says.
pub fn is_repeated(envelope: &Envelope) -> bool {
    envelope.kind == "notice" && envelope.content["code"] == "phase"
}

/// A name with its number.
pub fn numbered(name: &str, number: u32) -> String {
    format!("{name} ({number})")
}

/// Why a gathering is over, in words.
pub fn closing(because: &str) -> &str {
    match because {
        "done" => "its breath is over",
        "too_few" => "fewer than two speakers were left",
        "ended" => "a person ended it",
        other => other,
    }
}

/// How long it is until a moment, in whole seconds; none where it has passed.
pub fn seconds_until(at: Timestamp, now: Timestamp) -> i64 {
    let left = at.duration_since(now).as_millis().max(0);
    i64::try_from((left + 999) / 1000).unwrap_or(i64::MAX)
}

impl Circle {
    /// The gathering as it is now.
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
            plan: Plan {
                rhythm: answer.rhythm.clone(),
                opening_question: answer.opening_question.clone(),
                breath: answer.breath,
                beats_per_turn: answer.beats_per_turn,
                beat_interval_seconds: answer.beat_interval_seconds,
                last_word_seconds: answer.last_word_seconds,
            },
            hold,
            harvests: harvester.filter(|_| asked).map(|member| member.participant_id.clone()),
        }
    }

    /// Who takes part and how it goes, without who has the piece now: for what was before.
    pub fn earlier(answer: &GatheringAnswer) -> Self {
        Self { hold: None, harvests: None, ..Self::of(answer) }
    }

    /// Whether it is known who takes part.
    pub fn is_known(&self) -> bool {
        !self.members.is_empty()
    }

    /// `Ann (2)`; the id of somebody who does not take part.
    pub fn named(&self, id: &str) -> String {
        let member = self.members.iter().find(|member| member.participant_id == id);
        member.map_or_else(|| id.to_owned(), |member| numbered(&member.name, member.number))
    }

    /// Takes an event; gives what it says, if it is about a gathering.
    pub fn hear(&mut self, envelope: &Envelope) -> Option<Step> {
        let step = step(envelope)?;
        let after = |seconds: f64| {
            let at: Timestamp = envelope.ts.parse().ok()?;
            at.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()
        };
        match &step {
            Step::Opened { plan, participants, .. } => {
                let (plan, members) = (plan.clone(), participants.clone());
                *self = Self { plan, members, ..Self::default() };
            }
            Step::PieceGiven { holder, .. } => {
                let next_at = after(self.plan.beat_interval_seconds);
                let holder = holder.clone();
                self.hold = Some(Hold { holder, beat: 0, last_word: false, next_at });
            }
            Step::Beat { number } => {
                let next_at = after(self.plan.beat_interval_seconds);
                if let Some(hold) = &mut self.hold {
                    (hold.beat, hold.next_at) = (*number, next_at);
                }
            }
            Step::LastWordAsked => {
                let next_at = after(self.plan.last_word_seconds);
                if let Some(hold) = &mut self.hold {
                    (hold.last_word, hold.next_at) = (true, next_at);
                }
            }
            Step::PieceReleased { .. } => self.hold = None,
            Step::HarvestAsked { harvester } => self.harvests = Some(harvester.clone()),
            Step::Closed { .. } => (self.hold, self.harvests) = (None, None),
            Step::RoundOpened { .. } | Step::Harvested { .. } => {}
        }
        Some(step)
    }

    /// What an event says that was just heard, as people read it.
    pub fn words(&self, step: &Step) -> String {
        match step {
            Step::Opened { by, plan, participants } => opened(&self.named(by), plan, participants),
            Step::RoundOpened { phase, rule, round } => {
                let name = phase.to_string().to_uppercase();
                let rounds = match self.plan.breath[*phase as usize] {
                    0 => String::new(),
                    rounds => format!("/{rounds}"),
                };
                format!("--- Phase: {name} (round {round}{rounds}) ---\n{rule}")
            }
            Step::PieceGiven { holder, note } => {
                let note = note.as_ref().map_or(String::new(), |note| format!(" {note}"));
                format!("The piece is now with {}.{note}", self.named(holder))
            }
            Step::Beat { number } => format!("beat {number} of {}", self.of_holder()),
            Step::LastWordAsked => format!("A last word is asked of {}.", self.of_holder()),
            Step::PieceReleased { holder, because } => {
                let holder = self.named(holder);
                match because {
                    LetGo::Passed => format!("{holder} hands the piece on."),
                    LetGo::LastWord => format!("{holder} has said a last word."),
                    LetGo::Grace => format!("{holder} said no last word in time."),
                    LetGo::Gone => format!("{holder} had the piece and is gone."),
                    LetGo::Stopped => format!("{holder} has the piece no more."),
                }
            }
            Step::HarvestAsked { harvester } => {
                format!("--- Phase: CLOSE ---\n{} writes the harvest.", self.named(harvester))
            }
            Step::Harvested { harvester } => format!("The harvest is {}'s.", self.named(harvester)),
            Step::Closed { because } => format!("The gathering is closed: {}.", closing(because)),
        }
    }

    fn of_holder(&self) -> String {
        self.hold.as_ref().map_or_else(|| "the holder".into(), |hold| self.named(&hold.holder))
    }

    /// What somebody has to do after an event, where it is theirs to do something.
    pub fn call(&self, step: &Step, me: &str) -> Option<String> {
        let has_piece = self.hold.as_ref().is_some_and(|hold| hold.holder == me);
        match step {
            Step::PieceGiven { .. } if has_piece => Some(self.turn_began()),
            Step::LastWordAsked if has_piece => {
                Some("Your turn is up. What would you like to say last?".into())
            }
            Step::HarvestAsked { harvester } if harvester == me => Some(HARVEST.into()),
            Step::Opened { .. }
            | Step::RoundOpened { .. }
            | Step::PieceGiven { .. }
            | Step::Beat { .. }
            | Step::LastWordAsked
            | Step::PieceReleased { .. }
            | Step::HarvestAsked { .. }
            | Step::Harvested { .. }
            | Step::Closed { .. } => None,
        }
    }

    /// What is for somebody to do as it is now: for whoever comes while they have the piece.
    pub fn call_now(&self, me: &str) -> Option<String> {
        if self.harvests.as_deref() == Some(me) {
            return Some(HARVEST.into());
        }
        let hold = self.hold.as_ref().filter(|hold| hold.holder == me)?;
        let step = if hold.last_word {
            Step::LastWordAsked
        } else {
            Step::PieceGiven { holder: hold.holder.clone(), note: None }
        };
        self.call(&step, me)
    }

    fn turn_began(&self) -> String {
        let beat = self.hold.as_ref().map_or(0, |hold| hold.beat);
        format!(
            "You have the piece, beat {beat} of {}, one every {} s: say what you see; /pass or /pass NAME hands it on.",
            self.plan.beats_per_turn, self.plan.beat_interval_seconds
        )
    }

    /// What the one who has the piece hears of a beat, and nobody else.
    pub fn beat_of(&self, step: &Step, me: &str) -> Option<String> {
        let Step::Beat { number } = step else { return None };
        let mine = self.hold.as_ref().is_some_and(|hold| hold.holder == me);
        let last = *number >= self.plan.beats_per_turn;
        (mine && !last)
            .then(|| format!("Beat {number} of {}: you have the piece.", self.plan.beats_per_turn))
    }

    /// Whether it is somebody's turn, so that time counts for them.
    pub fn is_on(&self, me: &str) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.holder == me)
            || self.harvests.as_deref() == Some(me)
    }

    /// Who has the piece, in a few words for a line that is always there.
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

    /// Why somebody's words are not heard now, where a gathering keeps them out.
    pub fn refusal(&self, fault: &Fault) -> Option<String> {
        if fault.code.as_deref() != Some("not_your_piece") {
            return None;
        }
        let who = match (&self.hold, &self.harvests) {
            (_, Some(harvester)) => format!("{} writes the harvest", self.named(harvester)),
            (Some(hold), None) => format!("{} has the piece", self.named(&hold.holder)),
            (None, None) => "somebody else has the piece".into(),
        };
        Some(format!("{who}: nobody else is heard now"))
    }
}

const HARVEST: &str =
    "You write the harvest: what you say next is kept as what came of this gathering.";

fn opened(by: &str, plan: &Plan, participants: &[GatheringMember]) -> String {
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
