//! Checks the plan of a gathering and its members.

use crate::model::command::{Refusal, Rejection};
use crate::model::gathering::GatheringPlan;
use crate::model::participant::SeatRole;
use crate::model::time::Millis;
use crate::text::names;

/// Fewest speakers of a gathering.
pub const SPEAKERS_MIN: usize = 2;
/// Most beats of a hold, and most rounds of a phase.
const BEATS_MAX: u32 = 100;
/// Longest name of a rhythm, in characters.
const RHYTHM_CHARS_MAX: usize = 64;
/// Longest opening question, in bytes.
const QUESTION_BYTES_MAX: usize = 4096;
/// Shortest and longest time of a beat or a last word.
const TIMES: (Millis, Millis) = (Millis::from_secs(1), Millis::from_secs(24 * 3600));
/// Checks that a gathering can run by this plan.
///
/// # Errors
/// `invalid_gathering`, naming the field that is outside its range.
pub fn check_plan(plan: &GatheringPlan) -> Result<(), Rejection> {
    let invalid =
        |message: String| Err(Rejection::new(Refusal::Invalid, "invalid_gathering", message));
    let rhythm = plan.rhythm.trim();
    if rhythm.is_empty()
        || rhythm.chars().count() > RHYTHM_CHARS_MAX
        || rhythm.chars().any(|c| c.is_control() || c == '/')
    {
        return invalid(format!(
            "`rhythm` takes 1 to {RHYTHM_CHARS_MAX} characters on one line, without a slash."
        ));
    }
    if plan.opening_question.len() > QUESTION_BYTES_MAX {
        return invalid(format!("`opening_question` takes at most {QUESTION_BYTES_MAX} bytes."));
    }
    if !(1..=BEATS_MAX).contains(&plan.beats_per_turn) {
        return invalid(format!("`beats_per_turn` takes 1 to {BEATS_MAX}."));
    }
    if plan.breath.iter().any(|rounds| !(1..=BEATS_MAX).contains(rounds)) {
        return invalid(format!("Each phase of `breath` takes 1 to {BEATS_MAX} rounds."));
    }
    let times =
        [("beat_interval_seconds", plan.beat_interval), ("last_word_seconds", plan.last_word)];
    match times.into_iter().find(|(_, time)| !(TIMES.0..=TIMES.1).contains(time)) {
        None => Ok(()),
        Some((name, _)) => invalid(format!("`{name}` takes one second to one day.")),
    }
}

/// Checks that these members can hold a gathering: each with its name, number and role.
///
/// # Errors
/// `invalid_circle`, naming the members in conflict or the missing role.
pub fn check_circle<'a>(
    members: impl Iterator<Item = (&'a str, u32, SeatRole)>,
) -> Result<(), Rejection> {
    let members: Vec<_> = members.collect();
    let invalid =
        |message: String| Err(Rejection::new(Refusal::Invalid, "invalid_circle", message));
    for (at, (name, number, _)) in members.iter().enumerate() {
        let before = &members[..at];
        if let Some((other, ..)) = before.iter().find(|(_, taken, _)| taken == number) {
            return invalid(format!(
                "{name} and {other} have the same number, {number}. Give each participant its own \
                 number."
            ));
        }
        if let Some((other, ..)) = before.iter().find(|(taken, ..)| names::are_alike(taken, name)) {
            return invalid(format!("The name {name:?} looks like {other:?}. Choose another one."));
        }
    }
    let of = |part: SeatRole| members.iter().filter(move |(.., own)| *own == part);
    if of(SeatRole::Speaker).count() < SPEAKERS_MIN {
        return invalid(format!("A gathering needs at least {SPEAKERS_MIN} speakers."));
    }
    match of(SeatRole::Harvester).collect::<Vec<_>>()[..] {
        [_] => Ok(()),
        [] => invalid("A gathering needs a harvester: one participant with that role.".into()),
        [(first, ..), (second, ..), ..] => invalid(format!(
            "A gathering has one harvester; {first} and {second} both have that role."
        )),
    }
}
