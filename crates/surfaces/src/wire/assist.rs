//! Help for a person before and beside speaking: previews, slash commands, publishing of kept text.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::Envelope;
use super::turn::NoAgentAsked;

/// Body of `POST /threads/{id}/preview`: a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Id of the participant that would speak; `user` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// Addressee: `all`, or a participant's id or nickname; `all` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Text of the draft.
    pub content: String,
    /// Id of the earlier message that the draft replies to; absent if it replies to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
}

/// Answer of `POST /threads/{id}/preview`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    /// Every invited agent: first those that would be asked, in the order in which they would be
    /// asked.
    pub forecast: Vec<ForecastEntry>,
    /// The reason why the draft asks no agent, if its words are the reason; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unasked: Option<NoAgentAsked>,
    /// A name in the draft that reaches no participant, with the reason, if the draft asks agents
    /// nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stray: Option<NoAgentAsked>,
}

/// The forecast for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ForecastEntry {
    /// Id of the agent.
    pub participant: String,
    /// Reason why the agent would be asked; absent if it would not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Reason why the agent would not be asked; absent if it would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// The reason as a phrase for people, which follows the agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Body of `POST /threads/{id}/commands`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCommand {
    /// Id of the participant that runs the command; `user` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// The command, e.g. `/ask analyst -- why?`.
    pub text: String,
}

/// Answer of `POST /threads/{id}/commands`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CommandRan {
    /// Text for the person.
    pub text: String,
    /// The event, if the command changed something; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Envelope>,
}

/// A slash command, as help and completion show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommandUsage {
    /// Name of the command.
    pub name: String,
    /// Arguments of the command, with optional ones in square brackets.
    pub arguments: String,
    /// Effect of the command, in one sentence.
    pub does: String,
    /// An example that can be sent unchanged.
    pub example: String,
}

/// Answer of `GET /commands`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommandList {
    /// The commands, in the order of the help.
    pub commands: Vec<CommandUsage>,
}

/// Answer of `POST /threads/{id}/kept/{seq}/publish`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Published {
    /// The published message.
    pub event: Envelope,
}
