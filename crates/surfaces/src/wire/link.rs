//! Links between sessions in requests and answers.

use moothall_engine::sessions::{Link, LinkState, Member};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /links`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// The sessions of the link, two or more.
    #[schema(min_items = 2, max_items = 200)]
    pub members: Vec<NewLinkMember>,
    /// Title of the link; made from the members' names if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Maximum number of messages that members may exchange before a person has to continue, 1 to
    /// 200. If absent, the value in the operator's `[defaults]`. An existing link of these sessions
    /// keeps its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 200)]
    pub max_exchanges_without_human: Option<u32>,
    /// Id of the participant that asks. If absent, `user`, or the session to which the token
    /// belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// A future member of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLinkMember {
    /// The session: its id, the beginning of its id, or its name. Required.
    pub session: String,
    /// Name of the member in the link; the session's own name if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of the member, shown beside its name before its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub number: Option<u32>,
    /// Purpose of the member in the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// A member of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkMember {
    /// Id of the member's session.
    pub session: String,
    /// Name of the member in the link.
    pub name: String,
    /// Number of the member, shown beside its name before its words; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Purpose of the member in the link; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Name of the session's computer; absent for the server's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<String>,
}

/// A link: a thread under `open` whose members are sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkEntry {
    /// Id of the link, equal to that of its thread.
    pub id: String,
    /// Title of the link's thread.
    pub title: String,
    /// True if the link delivers messages between its members.
    pub active: bool,
    /// Time at which the link was created.
    pub created_at: String,
    /// Members of the link; the last ones for a closed link.
    pub members: Vec<LinkMember>,
    /// Ended sessions that keep the link closed: they ended with the computer, or as the last of
    /// the link. Resume them or end them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
}

/// Answer of `GET /links`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkList {
    /// The active links.
    pub links: Vec<LinkEntry>,
    /// Closed links that open again when the sessions in `waits_for` are resumed or ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<LinkEntry>,
}

/// Answer of `POST /links` and `POST /links/{id}/close`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkAnswer {
    /// `created`; `reused` if these members had a link already; or `closed`.
    pub link_state: String,
    /// The link as it is now.
    pub link: LinkEntry,
}

impl LinkEntry {
    /// Returns a link for the wire. `name_of` returns a session's own name, and `computer_of` the
    /// name of a computer by its id.
    pub fn of(
        link: &Link,
        name_of: impl Fn(&Member) -> String,
        computer_of: impl Fn(&str) -> String,
    ) -> Self {
        let member = |member: &Member| LinkMember {
            session: member.session.to_string(),
            name: member.name.clone().unwrap_or_else(|| name_of(member)),
            number: member.number,
            role: member.role.clone(),
            computer: Some(member.computer.as_str())
                .filter(|computer| !computer.is_empty())
                .map(&computer_of),
        };
        Self {
            id: link.id.to_string(),
            title: link.title.clone(),
            active: link.active,
            created_at: link.created_at.to_string(),
            members: link.members.iter().map(member).collect(),
            waits_for: Vec::new(),
        }
    }
}

impl LinkAnswer {
    /// Returns the answer about a link.
    pub fn of(link: LinkEntry, state: LinkState) -> Self {
        Self { link_state: state.to_string(), link }
    }
}
