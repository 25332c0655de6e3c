//! Strict reading of requests for gatherings, for all surfaces.

use moothall_engine::door::{Door, MemberSource, NewGathering, NewMember};
use moothall_kernel::command::Actor;
use moothall_kernel::gathering::{DeliveryMode, GatheringPlan};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::SeatRole;
use moothall_kernel::time::Millis;
use serde_json::Value;

use crate::ask::{folder, non_empty, required};
use crate::error::{ApiError, ApiResult, Code};
use crate::strict::Inbound;
use crate::wire::{self, GatheringAnswer, NewGatheringMember, NewPiecePass};

/// Default kind of a gathering.
const RHYTHM: &str = "gathering";
/// Default number of beats of a turn.
const BEATS: u32 = 3;
/// Default number of seconds between beats.
const BEAT_SECONDS: f64 = 60.0;
/// Default number of seconds for a last word.
const LAST_WORD_SECONDS: f64 = 20.0;
/// Named breaths: the numbers of rounds of inhale, hold and exhale.
const BREATHS: [(&str, [u32; 3]); 3] =
    [("minimal", [1, 1, 1]), ("standard", [2, 2, 2]), ("extended", [2, 3, 2])];
/// Maximum number of members.
const MEMBERS_MAX: usize = 200;

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidField, message)
}

/// Begins a gathering of 3 to 200 members. Fields that are missing get the defaults of this module.
///
/// # Errors
/// [`ApiError`] for a field that cannot be read, and of the door.
pub async fn begin(door: &Door, by: Actor, new: wire::NewGathering) -> ApiResult<GatheringAnswer> {
    if !(3..=MEMBERS_MAX).contains(&new.participants.len()) {
        return Err(no_members());
    }
    let mut members = Vec::new();
    for given in new.participants {
        members.push(member(given).await?);
    }
    let plan = GatheringPlan {
        rhythm: non_empty(new.rhythm).unwrap_or_else(|| RHYTHM.into()),
        breath: breath(new.breath.as_ref())?,
        beats_per_turn: new.beats_per_turn.unwrap_or(BEATS),
        beat_interval: seconds(
            "beat_interval_seconds",
            new.beat_interval_seconds.unwrap_or(BEAT_SECONDS),
        )?,
        last_word: seconds(
            "last_word_seconds",
            new.last_word_seconds.unwrap_or(LAST_WORD_SECONDS),
        )?,
        opening_question: new.opening_question.unwrap_or_default(),
        hearing: match non_empty(new.delivery).as_deref() {
            None | Some("live") => DeliveryMode::Live,
            Some("on_turn") => DeliveryMode::OnTurn,
            Some(_) => return Err(invalid("'delivery' takes \"live\" or \"on_turn\".")),
        },
        pulse: Vec::new(),
        signals: Vec::new(),
    };
    let keep = new.keep.unwrap_or_default();
    let new = NewGathering { by, title: non_empty(new.title), plan, members, keep };
    let entry = door.gather(new).await?;
    Ok(GatheringAnswer::from(&entry))
}

fn no_members() -> ApiError {
    invalid(
        "'participants' must be a list of three or more, each such as {\"name\": \"Ann\", \
         \"number\": 1, \"role\": \"speaker\", \"kind\": \"human\"}.",
    )
}

/// Reads a breath: its name, or its numbers of rounds of inhale, hold and exhale. Without a breath,
/// returns the second of [`BREATHS`].
fn breath(given: Option<&Value>) -> ApiResult<[u32; 3]> {
    let no_breath = || {
        let names = BREATHS.map(|(name, _)| format!("\"{name}\"")).join(", ");
        invalid(format!(
            "'breath' takes {names}, or three whole numbers from 1 such as [1, 2, 1]: the rounds of inhale, hold and exhale."
        ))
    };
    match given {
        None | Some(Value::Null) => Ok(BREATHS[1].1),
        Some(Value::String(word)) => {
            let named = BREATHS.into_iter().find(|(name, _)| name == word);
            named.map(|(_, rounds)| rounds).ok_or_else(no_breath)
        }
        Some(Value::Array(rounds)) => {
            let numbers = rounds.iter().map(|round| u32::try_from(round.as_u64()?).ok());
            let numbers: Option<Vec<u32>> = numbers.collect();
            numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(no_breath)
        }
        Some(_) => Err(no_breath()),
    }
}

fn seconds(field: &str, given: f64) -> ApiResult<Millis> {
    if given.is_finite() && (0.0..=1e9).contains(&given) {
        return Ok(Millis((given * 1000.0) as u64));
    }
    Err(invalid(format!("'{field}' takes a number of seconds.")))
}

/// Converts a member of a gathering. Rejects a missing name, a number of 0, another computer, an
/// unknown role or kind, a missing session or client, a folder that does not exist, and a field
/// that is only for another kind.
async fn member(given: NewGatheringMember) -> ApiResult<NewMember> {
    let name = required("name", given.name.clone())?;
    let about = |what: &str| invalid(format!("{name}: {what}"));
    if given.number == 0 {
        return Err(about("'number' must be a whole number from 1."));
    }
    if given.computer.as_deref().is_some_and(|computer| !["", "local"].contains(&computer)) {
        return Err(about(
            "'computer' must be \"local\" or absent: other computers are not known.",
        ));
    }
    let part = match non_empty(given.role.clone()).as_deref() {
        None | Some("speaker") => SeatRole::Speaker,
        Some("harvester") => SeatRole::Harvester,
        Some(_) => return Err(about("'role' takes \"speaker\" or \"harvester\".")),
    };
    let is = match given.kind.as_str() {
        "session" => {
            let no_session = || about("'session_id' is missing: give the session's id or name.");
            MemberSource::Session(non_empty(given.session_id.clone()).ok_or_else(no_session)?)
        }
        "agent" => MemberSource::Agent {
            client: non_empty(given.client.clone())
                .ok_or_else(|| about("'client' is missing: name an agent of the registry."))?,
            cwd: folder(given.cwd.as_deref()).await?,
            args: given.args.clone(),
            model: non_empty(given.model.clone()),
        },
        "human" => {
            MemberSource::Person(non_empty(given.participant_id.clone()).map(ParticipantId::new))
        }
        _ => return Err(about("'kind' takes \"session\", \"agent\" or \"human\".")),
    };
    let unfit = [
        ("session_id", given.session_id.is_some(), "session"),
        ("client", given.client.is_some(), "agent"),
        ("cwd", given.cwd.is_some(), "agent"),
        ("args", !given.args.is_empty(), "agent"),
        ("model", given.model.is_some(), "agent"),
        ("participant_id", given.participant_id.is_some(), "human"),
    ];
    if let Some((field, _, kind)) =
        unfit.into_iter().find(|(_, is_given, kind)| *is_given && *kind != given.kind)
    {
        return Err(about(&format!("'{field}' is only for the kind {kind:?}.")));
    }
    Ok(NewMember { name: name.clone(), number: given.number, part, is })
}

impl Inbound for wire::NewGathering {
    fn missing(field: &str) -> ApiError {
        if field == "participants" {
            no_members()
        } else {
            invalid(format!("'{field}' is missing."))
        }
    }

    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        match field {
            "participants" | "participants[]" => no_members(),
            other => invalid(format!("'{other}' {takes}.")),
        }
    }
}

impl Inbound for NewPiecePass {}
