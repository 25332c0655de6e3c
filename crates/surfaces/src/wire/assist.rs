//! What helps a person before and beside speaking: previews, slash commands, publishing what was
//! kept.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::Envelope;
use super::turn::NoAgentAsked;

/// Body of `POST /threads/{id}/preview`: a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Who would say it; `user` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// `all` (also if it is missing), or a participant's id or nickname.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What the message would say, as text.
    pub content: String,
    /// The id of the earlier message that it replies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
}

/// Answer of `POST /threads/{id}/preview`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    /// Every invited agent: those who would be asked first, in the order in which they would be.
    pub forecast: Vec<ForecastEntry>,
    /// The reason for which the words ask no agent, if what they say is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unasked: Option<NoAgentAsked>,
    /// A name in the words that reaches no participant, with the reason, if they ask agents all the
    /// same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stray: Option<NoAgentAsked>,
}

/// What would become of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ForecastEntry {
    /// The id of the agent.
    pub participant: String,
    /// Why it would be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Why it would not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// The same as a phrase for people, which follows the agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Body of `POST /threads/{id}/commands`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCommand {
    /// Who asks; `user` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// The command, e.g. `/ask analyst -- why?`.
    pub text: String,
}

/// Answer of `POST /threads/{id}/commands`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CommandRan {
    /// What to show the person.
    pub text: String,
    /// The event that it became, when it changed something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Envelope>,
}

/// A slash command, as help and completion show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommandUsage {
    /// The words that name it.
    pub name: String,
    /// What follows its name; square brackets mean that it can be left out.
    pub arguments: String,
    /// What it does, in one sentence.
    pub does: String,
    /// An example that can be sent as it stands.
    pub example: String,
}

/// Answer of `GET /commands`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommandList {
    /// In the order in which help shows them.
    pub commands: Vec<CommandUsage>,
}

/// Answer of `POST /threads/{id}/kept/{seq}/publish`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Published {
    /// The message that it became.
    pub event: Envelope,
}
