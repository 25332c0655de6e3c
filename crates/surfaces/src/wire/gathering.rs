//! Gatherings as clients send and get them.

use moothall_engine::door::GatheringEntry;
use moothall_kernel::gathering::{Gathering, Member};
use moothall_kernel::ids::ParticipantId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Body of `POST /gatherings`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGathering {
    /// Who begins it; `user` where it is missing, and the session itself where its token says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// The title of its thread; made from the rhythm where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What kind of gathering it is, for example `daily`: 1 to 64 characters; `gathering` where it
    /// is missing. Harvests of one rhythm make a trail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rhythm: Option<String>,
    /// The question it begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_question: Option<String>,
    /// Rounds of inhale, hold and exhale: `minimal` (1-1-1), `standard` (2-2-2), `extended`
    /// (2-3-2), or three numbers from 1; `standard` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub breath: Option<Value>,
    /// Beats for which a speaker may hold the piece: 1 to 100, 3 where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beats_per_turn: Option<u32>,
    /// Seconds from beat to beat: 1 to 86,400, 60 where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beat_interval_seconds: Option<f64>,
    /// Seconds for a last word after the last beat: 1 to 86,400, 20 where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_word_seconds: Option<f64>,
    /// When agents with a memory of their own hear what others say: `live`, at once, which costs a
    /// turn for each contribution and listener; or `on_turn`, together with the piece. `live` where
    /// it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
    /// True if programs that are started for it go on after it. Without this, they end with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<bool>,
    /// Who takes part: two speakers or more, and one harvester.
    #[schema(min_items = 3, max_items = 200)]
    pub participants: Vec<NewGatheringMember>,
}

/// Somebody who shall take part in a gathering.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGatheringMember {
    /// The name that the others read. Required.
    pub name: String,
    /// Its number, from 1: speakers hold the piece in the order of their numbers. Required.
    #[schema(minimum = 1)]
    pub number: u32,
    /// `speaker`, or `harvester`, who listens and writes the harvest; `speaker` where it is
    /// missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// `session`, one that lives; `agent`, one of the registry, started for the occasion where it
    /// lives in a terminal; or `human`. Required.
    pub kind: String,
    /// For `session`: its id, the beginning of its id, or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// For `agent`: its name in the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// For an agent that is started: the folder it works in, as a whole path; its own where it is
    /// missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// For an agent that is started: more arguments for its program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// For an agent: the model it is called with, which a program in a terminal is given as
    /// `--model`; its own where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The computer it is on; only this one is known yet: missing, or `local`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<String>,
    /// For a person: the id that they speak under. The first person without one is whoever begins
    /// the gathering, or `user` where that is an agent; the others get one made of their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant_id: Option<String>,
}

/// Body of `POST /gatherings/{id}/pass`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPiecePass {
    /// Who holds the piece and hands it on; `user` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// To whom: a name, an id or a number; the next in order where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Somebody who takes part in a gathering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GatheringMember {
    /// The name that people read.
    pub name: String,
    /// Its number.
    pub number: u32,
    /// `speaker` or `harvester`.
    pub role: String,
    /// `human` or `agent`.
    pub kind: String,
    /// The id under which it speaks in the thread.
    pub participant_id: String,
}

/// Who holds the talking piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PieceHolder {
    /// The name that people read.
    pub name: String,
    /// Its number.
    pub number: u32,
    /// The id under which it speaks in the thread.
    pub participant_id: String,
}

/// What came of a gathering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Harvest {
    /// What the harvester wrote, as Markdown; empty where it was erased.
    pub text: String,
    /// The id of the message with it.
    pub event: String,
}

/// A gathering, as it is now or was at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GatheringAnswer {
    /// Its id, which is that of its thread.
    pub id: String,
    /// Its thread.
    pub thread: String,
    /// The title of its thread.
    pub title: String,
    /// `seeding`, while those who take part are brought; `active`; or `closed`.
    pub status: String,
    /// What kind of gathering it is.
    pub rhythm: String,
    /// The question it began with.
    pub opening_question: String,
    /// Rounds of inhale, hold and exhale.
    pub breath: [u32; 3],
    /// Beats for which a speaker may hold the piece.
    pub beats_per_turn: u32,
    /// Seconds from beat to beat.
    pub beat_interval_seconds: f64,
    /// Seconds for a last word.
    pub last_word_seconds: f64,
    /// `live` or `on_turn`.
    pub delivery: String,
    /// `inhale`, `hold`, `exhale`, or `close` while the harvest is written and after; none while
    /// it is seeded.
    pub phase: Option<String>,
    /// What the phase asks of the speakers, in one sentence.
    pub rule: Option<String>,
    /// The round of the phase, from 1; 0 before the first.
    pub round: u32,
    /// How many rounds the phase has.
    pub rounds: u32,
    /// Who holds the piece; nobody between two holders, and at the close.
    pub holder: Option<PieceHolder>,
    /// Since when they hold it.
    pub since: Option<String>,
    /// Beats of the hold so far.
    pub beat: u32,
    /// How many beats a hold has.
    pub beats: u32,
    /// Whether the holder was asked for a last word.
    pub last_word: bool,
    /// The holder handed the piece on while it was at work: it goes on when that turn ends.
    pub pass_asked: bool,
    /// When the next beat comes, or the time for the last word ends; none while that stands still:
    /// before the holder begins, while a permission is open, and in a pause.
    pub next_beat_at: Option<String>,
    /// A person stopped it; it goes on when somebody resumes.
    pub stopped: bool,
    /// The ids of those who will still hold the piece in this round, in order.
    pub order: Vec<String>,
    /// Everybody who took part when it began, by number; those who left too.
    pub participants: Vec<GatheringMember>,
    /// What came of it, once it is there.
    pub harvest: Option<Harvest>,
    /// Why it is closed: `done`, `too_few` speakers were left, or a person `ended` it.
    pub closed_because: Option<String>,
    /// The seed message of the participant that was asked for.
    pub seed: Option<String>,
    /// What went on at the last beat, for the holder that was asked for.
    pub pulse: Option<String>,
}

/// Answer of `GET /gatherings`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GatheringList {
    /// The newest 100, the newest first.
    pub gatherings: Vec<GatheringAnswer>,
}

impl From<&Member> for GatheringMember {
    fn from(member: &Member) -> Self {
        Self {
            name: member.name.clone(),
            number: member.number,
            role: member.part.to_string(),
            kind: member.kind.to_string(),
            participant_id: member.id.to_string(),
        }
    }
}

fn holder(gathering: &Gathering, id: &ParticipantId) -> Option<PieceHolder> {
    let member = gathering.members.iter().find(|member| member.id == *id)?;
    Some(PieceHolder {
        name: member.name.clone(),
        number: member.number,
        participant_id: id.to_string(),
    })
}

impl From<&GatheringEntry> for GatheringAnswer {
    fn from(entry: &GatheringEntry) -> Self {
        let view = &entry.view;
        let seeding = GatheringAnswer::seeding(entry);
        let Some(gathering) = &view.gathering else { return seeding };
        let plan = &gathering.plan;
        let closing = gathering.harvesting.is_some() || gathering.closed.is_some();
        let phase = Some(gathering.phase).filter(|_| !closing);
        let tenure = gathering.tenure.as_ref();
        Self {
            status: if view.is_over { "closed" } else { "active" }.into(),
            rhythm: plan.rhythm.clone(),
            opening_question: plan.opening_question.clone(),
            breath: plan.breath,
            beats_per_turn: plan.beats_per_turn,
            beat_interval_seconds: plan.beat_interval.as_secs_f64(),
            last_word_seconds: plan.last_word.as_secs_f64(),
            delivery: plan.hearing.to_string(),
            phase: Some(phase.map_or_else(|| "close".into(), |phase| phase.to_string())),
            rule: phase.map(|phase| phase.rule().into()),
            round: gathering.round,
            rounds: plan.rounds(gathering.phase),
            holder: tenure.and_then(|tenure| holder(gathering, &tenure.holder)),
            since: tenure.map(|tenure| tenure.since.to_string()),
            beat: tenure.map_or(0, |tenure| tenure.beats),
            beats: plan.beats_per_turn,
            last_word: tenure.is_some_and(|tenure| tenure.last_word),
            pass_asked: tenure.is_some_and(|tenure| tenure.pass.is_some()),
            next_beat_at: view.next_beat_at.map(|at| at.to_string()),
            stopped: view.stopped,
            order: gathering.order.iter().map(ToString::to_string).collect(),
            participants: gathering.members.iter().map(GatheringMember::from).collect(),
            closed_because: gathering.closed.clone(),
            ..seeding
        }
    }
}

impl GatheringAnswer {
    /// What is known before it is open.
    fn seeding(entry: &GatheringEntry) -> Self {
        let view = &entry.view;
        Self {
            id: entry.id.to_string(),
            thread: entry.id.to_string(),
            title: view.title.clone(),
            status: if view.is_over { "closed" } else { "seeding" }.into(),
            rhythm: String::new(),
            opening_question: String::new(),
            breath: [0; 3],
            beats_per_turn: 0,
            beat_interval_seconds: 0.0,
            last_word_seconds: 0.0,
            delivery: String::new(),
            phase: None,
            rule: None,
            round: 0,
            rounds: 0,
            holder: None,
            since: None,
            beat: 0,
            beats: 0,
            last_word: false,
            pass_asked: false,
            next_beat_at: None,
            stopped: false,
            order: Vec::new(),
            participants: Vec::new(),
            harvest: entry
                .harvest
                .as_ref()
                .map(|(event, text)| Harvest { text: text.clone(), event: event.to_string() }),
            closed_because: None,
            seed: view.seed.clone(),
            pulse: view.pulse.clone(),
        }
    }
}
