//! Gatherings in requests and answers.

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
    /// Id of the participant that begins the gathering. If absent, `user`, or the session to which
    /// the token belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// Title of the gathering's thread; made from the rhythm if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Rhythm of the gathering, for example `daily`: 1 to 64 characters; `gathering` if absent.
    /// Harvests of one rhythm make a trail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rhythm: Option<String>,
    /// The opening question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_question: Option<String>,
    /// Rounds of inhale, hold and exhale: `minimal` (1-1-1), `standard` (2-2-2), `extended`
    /// (2-3-2), or three numbers from 1; `standard` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub breath: Option<Value>,
    /// Beats for which a speaker may hold the piece: 1 to 100; 3 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beats_per_turn: Option<u32>,
    /// Seconds from beat to beat: 1 to 86,400; 60 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beat_interval_seconds: Option<f64>,
    /// Seconds for a last word after the last beat: 1 to 86,400; 20 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_word_seconds: Option<f64>,
    /// Delivery of others' words to agents with their own memory. `live`: at once, which costs a
    /// turn for each contribution and listener. `on_turn`: together with the piece. `live` if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
    /// True if programs started for the gathering continue after it. Otherwise they end with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<bool>,
    /// The participants: two or more speakers, and one harvester.
    #[schema(min_items = 3, max_items = 200)]
    pub participants: Vec<NewGatheringMember>,
}

/// A future participant of a gathering.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGatheringMember {
    /// Name for the other participants. Required.
    pub name: String,
    /// Number of the participant, from 1. Speakers hold the piece in the order of their numbers.
    /// Required.
    #[schema(minimum = 1)]
    pub number: u32,
    /// `speaker`, or `harvester`, who listens and writes the harvest; `speaker` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Kind of the participant. `session`: a living session. `agent`: an agent of the registry,
    /// started for the gathering if it runs in a terminal. `human`: a person. Required.
    pub kind: String,
    /// For `session`: its id, the beginning of its id, or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// For `agent`: its name in the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// For a started agent: absolute path of the working folder; the agent's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// For a started agent: additional arguments for its program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// For an agent: name of the model, which a program in a terminal gets as `--model`; the
    /// agent's own model if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Computer of the participant. Only the server's own is known yet: absent, or `local`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<String>,
    /// For a person: id under which the person speaks. Without an id, the first person is the one
    /// who begins the gathering, or `user` if an agent begins it. The others get an id made from
    /// their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant_id: Option<String>,
}

/// Body of `POST /gatherings/{id}/pass`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPiecePass {
    /// Id of the participant that holds the piece and passes it; `user` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// Name, id or number of the next holder; the next in order if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// A participant of a gathering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GatheringMember {
    /// Name for people.
    pub name: String,
    /// Number of the participant.
    pub number: u32,
    /// `speaker` or `harvester`.
    pub role: String,
    /// `human` or `agent`.
    pub kind: String,
    /// Id under which the participant speaks in the thread.
    pub participant_id: String,
}

/// The holder of the talking piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PieceHolder {
    /// Name for people.
    pub name: String,
    /// Number of the participant.
    pub number: u32,
    /// Id under which the participant speaks in the thread.
    pub participant_id: String,
}

/// The harvest of a gathering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Harvest {
    /// Text by the harvester, as Markdown; empty if it was erased.
    pub text: String,
    /// Id of the message with the harvest.
    pub event: String,
}

/// A gathering, as it is now or was at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GatheringAnswer {
    /// Id of the gathering, equal to that of its thread.
    pub id: String,
    /// Id of the gathering's thread.
    pub thread: String,
    /// Title of the gathering's thread.
    pub title: String,
    /// `seeding` while its participants join; then `active`; at the end `closed`.
    pub status: String,
    /// Rhythm of the gathering.
    pub rhythm: String,
    /// The opening question.
    pub opening_question: String,
    /// Numbers of rounds of inhale, hold and exhale.
    pub breath: [u32; 3],
    /// Beats for which a speaker may hold the piece.
    pub beats_per_turn: u32,
    /// Seconds from beat to beat.
    pub beat_interval_seconds: f64,
    /// Seconds for a last word after the last beat.
    pub last_word_seconds: f64,
    /// `live` or `on_turn`.
    pub delivery: String,
    /// `inhale`, `hold` or `exhale`; `close` from the request for the harvest on; `null` during
    /// seeding.
    pub phase: Option<String>,
    /// Rule of the phase for speakers, in one sentence.
    pub rule: Option<String>,
    /// Round of the phase, from 1; 0 before the first.
    pub round: u32,
    /// Number of rounds of the phase.
    pub rounds: u32,
    /// Holder of the piece; `null` between two holders, and at the close.
    pub holder: Option<PieceHolder>,
    /// Time since which the holder has had the piece; `null` without a holder.
    pub since: Option<String>,
    /// Number of beats of this hold so far.
    pub beat: u32,
    /// Number of beats of a hold.
    pub beats: u32,
    /// True if the holder was asked for a last word.
    pub last_word: bool,
    /// True if the holder passed the piece during its turn. The piece moves on when that turn ends.
    pub pass_asked: bool,
    /// Time of the next beat, or of the end of the last word. `null` while the clock stands: before
    /// the holder begins, while a permission is open, and in a pause.
    pub next_beat_at: Option<String>,
    /// True if a person stopped the gathering. It continues after a resume.
    pub stopped: bool,
    /// Ids of the participants that will still hold the piece in this round, in order.
    pub order: Vec<String>,
    /// All participants at the beginning, ordered by number, including those who left.
    pub participants: Vec<GatheringMember>,
    /// The harvest; `null` before it is written.
    pub harvest: Option<Harvest>,
    /// Reason of the close: `done`, `too_few` (speakers were left), or `ended` (by a person);
    /// `null` before.
    pub closed_because: Option<String>,
    /// Seed message of the requested participant; `null` without one.
    pub seed: Option<String>,
    /// Summary of the last beat, for the requested holder; `null` without one.
    pub pulse: Option<String>,
}

/// Answer of `GET /gatherings`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GatheringList {
    /// The newest 100 gatherings, newest first.
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

/// Returns the member of this id as the holder of the piece; `None` if it is not a member.
fn holder(gathering: &Gathering, id: &ParticipantId) -> Option<PieceHolder> {
    let member = gathering.members.iter().find(|member| member.id == *id)?;
    Some(PieceHolder {
        name: member.name.clone(),
        number: member.number,
        participant_id: id.to_string(),
    })
}

impl From<&GatheringEntry> for GatheringAnswer {
    /// Returns a gathering as it is now. From the request for the harvest on, its phase is `close`.
    /// Before the gathering is open, only the fields that `seeding` sets are known.
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
    /// Returns the answer about a gathering that is not open yet. Its id, title, harvest, seed
    /// message and pulse are also those of an open or closed gathering.
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
