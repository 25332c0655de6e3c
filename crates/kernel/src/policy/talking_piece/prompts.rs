//! The texts of a gathering: the seed message, the announcements, the request to the holder at each
//! beat, and the request to the harvester at the close. (Rulings 29 to 32.)

use std::fmt::Write;

use strum::VariantArray;

use crate::model::event::TurnReason;
use crate::model::gathering::{DeliveryMode, Gathering, GatheringEvent, Member, Phase};
use crate::model::ids::ParticipantId;
use crate::model::participant::{Kind, SeatRole};
use crate::model::state::{Conversation, Turn};
use crate::read::templates::{
    BEAT, CLOSE, HARVEST, HARVESTS, LAST_WORD, NOW, PHASE, PIECE_WITH, PIECE_WITH_YOU, SEATED,
};
use crate::text::{counted, hang};

/// Returns `Name (2)`.
pub(super) fn numbered(name: &str, number: u32) -> String {
    format!("{name} ({number})")
}

/// Returns a participant's name, with its number if it is a member.
fn called(gathering: &Gathering, state: &Conversation, id: &ParticipantId) -> String {
    let member = gathering.members.iter().find(|member| member.id == *id);
    let name = state.name_of(id);
    member.map_or_else(|| name.to_owned(), |member| numbered(name, member.number))
}

/// Returns `--- Phase: HOLD (round 1/2) ---` and the rule of the phase.
pub(super) fn phase_line(phase: Phase, round: u32, rounds: u32) -> String {
    let name = phase.to_string().to_uppercase();
    let line = PHASE.fill(&[&name, &round.to_string(), &rounds.to_string()]);
    format!("{line}\n{}", phase.rule())
}

/// Returns the announcement of a step to all members, as whole lines, or `None` for a step that is
/// not announced.
pub(super) fn announcement(state: &Conversation, step: &GatheringEvent) -> Option<String> {
    let gathering = state.newest_gathering()?;
    Some(match step {
        GatheringEvent::RoundOpened { phase, round, .. } => {
            phase_line(*phase, *round, gathering.plan.rounds(*phase))
        }
        GatheringEvent::PieceGiven { holder, note } => {
            let note = note.as_ref().map_or(String::new(), |note| format!(" {note}"));
            PIECE_WITH.fill(&[&format!("{}.{note}", called(gathering, state, holder))])
        }
        GatheringEvent::HarvestAsked { harvester, .. } => {
            let harvests = HARVESTS.fill(&[&called(gathering, state, harvester)]);
            format!("{}\n{harvests}", CLOSE.fill(&[]))
        }
        GatheringEvent::Opened { .. }
        | GatheringEvent::Beat { .. }
        | GatheringEvent::LastWordAsked
        | GatheringEvent::PassAsked { .. }
        | GatheringEvent::PieceReleased { .. }
        | GatheringEvent::Harvested { .. }
        | GatheringEvent::Closed { .. } => return None,
    })
}

/// Returns the seed message, with which a member's first prompt begins: the member's seat, the
/// members in their order, the rules, the activity on the server, and lines from earlier
/// conversations.
pub(super) fn introduction(state: &Conversation, you: &ParticipantId) -> Option<String> {
    let gathering = state.gathering()?;
    let plan = &gathering.plan;
    let mut out = String::new();
    let own = gathering.members.iter().find(|member| member.id == *you);
    if let Some(Member { name, number, .. }) = own {
        let _ = writeln!(out, "{}", SEATED.fill(&[&numbered(name, *number)]));
    }
    let [inhale, hold, exhale] = plan.breath;
    let question = match plan.opening_question.trim() {
        "" => String::new(),
        question => format!(" Opening question: {}", hang(question)),
    };
    let _ = writeln!(out, "Rhythm: {}.{question}", hang(&plan.rhythm));
    circle(&mut out, &gathering.members, you);
    let _ = writeln!(
        out,
        "Breath: inhale {inhale}, hold {hold}, exhale {exhale} rounds. In a round the talking piece goes once around the speakers."
    );
    for phase in Phase::VARIANTS {
        let _ = writeln!(out, "- {phase}: {}", phase.rule());
    }
    let _ = writeln!(
        out,
        "Whoever holds the piece has {} of {} s each, and is asked for a last word at the last one. Only the holder speaks: what \
         anybody else writes is shown to nobody.",
        counted(plan.beats_per_turn.into(), "beat"),
        plan.beat_interval.as_secs_f64()
    );
    out.push_str(match (own.map(|member| member.part), plan.hearing) {
        (Some(SeatRole::Harvester), _) => {
            "You are the harvester: you never hold the piece. Listen in silence; when the gathering closes you are asked for its harvest.\n"
        }
        (_, DeliveryMode::Live) => {
            "To hand the piece on, end with a line of its own: \"I pass\" or \"I pass to NAME\". You hear what the others say at once: take it \
             in, and keep silent until the piece is with you.\n"
        }
        (_, DeliveryMode::OnTurn) => {
            "To hand the piece on, end with a line of its own: \"I pass\" or \"I pass to NAME\". What the others said is told to you together \
             with the piece.\n"
        }
    });
    listed(&mut out, "Pulse", &plan.pulse);
    listed(&mut out, "History signals", &plan.signals);
    let now = if gathering.harvesting.is_some() {
        "Now: close.".to_owned()
    } else {
        NOW.fill(&[&gathering.phase.to_string()])
    };
    let _ = writeln!(out, "{now}");
    Some(out)
}

/// Appends the lines that list a gathering's speakers and its harvester.
fn circle(out: &mut String, members: &[Member], you: &ParticipantId) {
    let line = |member: &Member| {
        let kind = if member.kind == Kind::Human { ", a person" } else { "" };
        let own = if member.id == *you { ", you" } else { "" };
        format!("{}{kind}{own}", numbered(&member.name, member.number))
    };
    let named = |part: SeatRole| members.iter().filter(move |member| member.part == part).map(line);
    let speakers: Vec<String> = named(SeatRole::Speaker).collect();
    let _ = writeln!(out, "Speakers, in their order: {}.", speakers.join("; "));
    for harvester in named(SeatRole::Harvester) {
        let _ = writeln!(out, "Harvester, silent until the close: {harvester}.");
    }
}

/// Appends a list of lines with its title, unless the list is empty.
fn listed(out: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(out, "{title}:");
        for line in lines {
            let _ = writeln!(out, "- {line}");
        }
    }
}

/// Returns the request to the holder of the piece or to the harvester.
pub(super) fn request(state: &Conversation, turn: &Turn) -> Option<String> {
    matches!(turn.why, TurnReason::Piece | TurnReason::Beat)
        .then(|| state.gathering().map_or(String::new(), |gathering| request_text(gathering, turn)))
}

/// Returns the request for the harvest, for the first turn of a hold, for a beat or for the last
/// word.
fn request_text(gathering: &Gathering, turn: &Turn) -> String {
    if gathering.harvesting.is_some() {
        return format!("{}\n{HARVEST_FORM}", HARVEST.fill(&[]));
    }
    let Some(tenure) = &gathering.tenure else { return String::new() };
    if turn.why == TurnReason::Piece {
        let note = tenure.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        return PIECE_WITH_YOU.fill(&[&note, gathering.phase.rule()]) + "\n";
    }
    if tenure.last_word {
        return LAST_WORD.fill(&[]) + "\n";
    }
    let (beat, beats) = (tenure.beats.to_string(), gathering.plan.beats_per_turn.to_string());
    format!("{}\n{}\n", BEAT.fill(&[&beat, &beats, &tenure.pulse]), gathering.phase.rule())
}

/// The Markdown form that the harvester fills in.
const HARVEST_FORM: &str = "
## What emerged
### Individual, intangible
### Individual, tangible
### Collective, intangible
### Collective, tangible

## What is known now

## Thread for the next breath

## Artifacts
- one line for each thing that follows from it: what it is (a task, a change of a document, something to remember, an idea), and where it belongs
";
