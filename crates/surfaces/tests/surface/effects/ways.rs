//! The ways by which words, keys and programs reach a terminal.

use moothall_engine::access::Scope;
use moothall_kernel::command::{ClientCommand, Control};
use reqwest::Method;
use serde_json::{Value, json};

use super::world::{CallerKind, Credential, Place, World};
use crate::server::{answer, soon};

/// The requirements of a way, in addition to those of the place.
pub struct Need {
    pub scope: Scope,
    /// True if the way brings, starts, tells, looks at or ends a terminal wherever it is tried.
    pub drives: bool,
    /// True if only a person may use the way, whatever a credential allows.
    pub people: bool,
    /// True if the way needs a credential in local mode too, wherever it is tried.
    pub proof: bool,
    /// True if the way is about a program that an agent has not met, or may not start.
    pub programs: bool,
}

macro_rules! ways {
    ($($name:ident $(, $need:ident)*;)*) => {
        /// One way to a terminal or a program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Way { $($name,)* }

        impl Way {
            pub const ALL: &'static [Way] = &[$(Way::$name,)*];
        }
    };
}

ways! {
    Say; SayTo; Mention; Reply; Custom; Pass; McpSay; Ask; SlashSay;
    Stop; SlashStop; Cancel; Publish; Prod; Resume; Pause; Mute; Unmute; Discussion; InvitedAuto;
    Policy; PolicyObject; Config; Confirm; Archive; CloseGathering; Uninvite; RaiseBudget;
    BindChat; UnbindChat;
    InviteAgent; InviteSession; InviteClient; InviteReach; WidenSession; SlashInvite; McpInvite;
    SendMessage; McpSend; Interrupt; End; McpEnd; Revive; Screen; Attach; Keys; MakeLink; CloseLink;
    Start; McpStart; Adopt; GatherSession; GatherProgram;
}

/// Returns the ways of a command. The match covers every command.
pub fn of_command(command: &ClientCommand) -> Vec<Way> {
    match command {
        ClientCommand::Post(_) => {
            vec![Way::Say, Way::SayTo, Way::Mention, Way::Reply, Way::Ask, Way::McpSay]
        }
        ClientCommand::PostCustom(_) => vec![Way::Custom],
        ClientCommand::Pass { .. } => vec![Way::Pass],
        ClientCommand::Stop { .. } => vec![Way::Stop, Way::SlashStop],
        ClientCommand::Cancel { .. } => vec![Way::Cancel],
        ClientCommand::Publish { .. } => vec![Way::Publish],
        ClientCommand::Archive { .. } => vec![Way::Archive],
        ClientCommand::Gather { .. } => vec![Way::GatherSession, Way::GatherProgram],
        ClientCommand::CloseGathering { .. } => vec![Way::CloseGathering],
        ClientCommand::Control { controls, .. } => controls.iter().flat_map(of_control).collect(),
        // These reach no terminal: a new conversation, a title, removed words, and an answer, which
        // has its own right (`permissions:answer`).
        ClientCommand::Create { .. }
        | ClientCommand::Rename { .. }
        | ClientCommand::Delete { .. }
        | ClientCommand::Redact { .. }
        | ClientCommand::AnswerPermission { .. } => Vec::new(),
    }
}

/// Returns the ways of a control. The match covers every control.
pub fn of_control(control: &Control) -> Vec<Way> {
    match control {
        Control::Invite(_) => vec![
            Way::InviteAgent,
            Way::InviteSession,
            Way::InviteClient,
            Way::InviteReach,
            Way::WidenSession,
            Way::SlashInvite,
            Way::McpInvite,
        ],
        Control::Uninvite(_) => vec![Way::Uninvite],
        Control::Prod(_) => vec![Way::Prod],
        Control::Mute(_) => vec![Way::Mute],
        Control::Unmute(_) => vec![Way::Unmute],
        Control::Pause(_) => vec![Way::Pause],
        Control::Resume => vec![Way::Resume],
        Control::Discussion { .. } => vec![Way::Discussion],
        Control::InvitedAuto(_) => vec![Way::InvitedAuto],
        Control::Policy(_) => vec![Way::PolicyObject],
        Control::PolicyNamed(_) => vec![Way::Policy],
        Control::Config(_) => vec![Way::Config],
        Control::Confirm => vec![Way::Confirm],
        Control::RaiseBudget { .. } => vec![Way::RaiseBudget],
        // No surface accepts a key from a client.
        Control::Hold(_) | Control::Release(_) => Vec::new(),
        Control::BindChat(_) => vec![Way::BindChat],
        Control::UnbindChat(_) => vec![Way::UnbindChat],
    }
}

/// Returns the ways of the controls without content. They stand for the others in the test of the
/// table, which the matches above make complete.
pub fn commanded() -> Vec<Way> {
    let controls = [Control::Resume, Control::Pause(true), Control::InvitedAuto(true)];
    let by = moothall_kernel::command::Actor::human("user");
    let command = ClientCommand::Control { by: by.clone(), controls: controls.into() };
    let stop = ClientCommand::Stop { by };
    of_command(&command).into_iter().chain(of_command(&stop)).collect()
}

impl Way {
    pub fn need(self) -> Need {
        use Scope::*;
        let need =
            |scope| Need { scope, drives: false, people: false, programs: false, proof: false };
        match self {
            Way::Say
            | Way::SayTo
            | Way::Mention
            | Way::Reply
            | Way::Custom
            | Way::Pass
            | Way::McpSay
            | Way::SlashSay => need(ThreadsWrite),
            Way::Ask => Need { people: true, ..need(ThreadsWrite) },
            Way::Stop
            | Way::SlashStop
            | Way::Cancel
            | Way::Publish
            | Way::Resume
            | Way::Pause
            | Way::Mute
            | Way::Unmute
            | Way::Discussion
            | Way::InvitedAuto
            | Way::Policy
            | Way::PolicyObject
            | Way::Config
            | Way::Confirm
            | Way::CloseGathering => Need { people: true, ..need(TurnsControl) },
            Way::RaiseBudget => Need { people: true, proof: true, ..need(TurnsControl) },
            Way::BindChat | Way::UnbindChat => {
                Need { people: true, proof: true, ..need(ThreadsAdmin) }
            }
            Way::Prod => Need { people: true, ..need(AgentsRun) },
            Way::Archive => Need { people: true, ..need(ThreadsAdmin) },
            Way::Uninvite | Way::InviteAgent => need(ParticipantsInvite),
            Way::InviteSession | Way::McpInvite => {
                Need { drives: true, programs: true, ..need(ParticipantsInvite) }
            }
            Way::InviteClient | Way::InviteReach | Way::WidenSession | Way::SlashInvite => {
                Need { drives: true, people: true, ..need(ParticipantsInvite) }
            }
            Way::SendMessage | Way::McpSend | Way::MakeLink | Way::Screen => {
                Need { drives: true, programs: true, ..need(SessionsDrive) }
            }
            Way::CloseLink => Need { drives: true, programs: true, ..need(SessionsDrive) },
            Way::Interrupt
            | Way::End
            | Way::McpEnd
            | Way::Revive
            | Way::Attach
            | Way::Keys
            | Way::Adopt => {
                Need { drives: true, programs: true, people: true, ..need(SessionsDrive) }
            }
            Way::Start | Way::McpStart => {
                Need { drives: true, programs: true, people: true, ..need(SessionsDrive) }
            }
            Way::GatherSession => Need { drives: true, programs: true, ..need(ThreadsWrite) },
            Way::GatherProgram => {
                Need { drives: true, programs: true, people: true, ..need(ThreadsWrite) }
            }
        }
    }

    /// True if the way says, stops or steers something in a conversation.
    pub fn is_said(self) -> bool {
        self.is_in_a_conversation()
    }

    /// True if the way is tried in each place. The others are about a session or a program.
    pub fn is_in_a_conversation(self) -> bool {
        self < Way::SendMessage
    }

    pub fn places(self) -> &'static [Place] {
        match self {
            way if way.is_in_a_conversation() => Place::ALL,
            _ => &[Place::Home],
        }
    }

    /// True for a tool with which people cannot speak.
    pub fn is_of_programs_alone(self) -> bool {
        matches!(self, Way::McpSay | Way::McpInvite | Way::McpSend | Way::McpEnd | Way::McpStart)
    }

    /// True if the way starts a program. The list of terminals then shows the effect.
    pub fn starts_a_program(self) -> bool {
        matches!(self, Way::Start | Way::McpStart | Way::Adopt | Way::GatherProgram)
    }

    /// True if further attempts are impossible after the way succeeded.
    pub fn ends_something(self) -> bool {
        matches!(self, Way::Uninvite | Way::CloseLink | Way::End | Way::McpEnd | Way::Archive)
    }

    /// True if an unauthorised caller gets a card for a person instead of a refusal.
    pub fn may_ask(self) -> bool {
        matches!(self, Way::Start | Way::McpStart | Way::SendMessage | Way::McpSend)
    }

    /// True if the program of a session may use the way in its own places and with sessions it has
    /// met.
    pub fn is_open_to_sessions(self) -> bool {
        !self.need().people
    }

    /// Tries the way. Returns the status and the code of the answer.
    pub async fn attempt(
        self,
        world: &World,
        credential: &Credential,
        place: Place,
    ) -> (u16, String) {
        let (method, path, mut body) = self.request(world, credential, place).await;
        // In local mode a client without a credential names itself.
        if credential.who == CallerKind::Nobody && path != "/mcp" && body.is_object() {
            body["from"] = json!("user");
        }
        let client = &world.server.client;
        let mut request = client.request(method.clone(), world.server.url(&path));
        if let Some(token) = &credential.token {
            request = request.bearer_auth(token);
        }
        if path == "/mcp" {
            request = request.header("accept", "application/json, text/event-stream");
        }
        let request = if method == Method::GET { request } else { request.json(&body) };
        let (status, answer) = answer(soon(request.send()).await.unwrap()).await;
        let called = &answer["result"]["structuredContent"]["error"]["code"];
        let code = called.as_str().or(answer["error"]["code"].as_str()).unwrap_or_default();
        let status = match code {
            "unauthenticated" => 401,
            "forbidden" | "wrong_speaker" | "not_a_person" | "humans_only" | "needs_proof" => 403,
            "thread_not_found" | "session_not_found" => 404,
            _ => status,
        };
        (status, code.to_owned())
    }

    async fn request(
        self,
        world: &World,
        credential: &Credential,
        place: Place,
    ) -> (Method, String, Value) {
        let thread = world.thread(place);
        let (events, commands) =
            (format!("/threads/{thread}/events"), format!("/threads/{thread}/commands"));
        let post = |path: String, body: Value| (Method::POST, path, body);
        let control =
            |content: Value| post(events.clone(), json!({"type": "control", "content": content}));
        let slash = |text: &str| post(commands.clone(), json!({"text": text}));
        let tool = |name: &str, mut arguments: Value| {
            if credential.who == CallerKind::Nobody {
                arguments["from"] = json!("desk");
            }
            let params = json!({"name": name, "arguments": arguments});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            post("/mcp".into(), call)
        };
        let own = json!({"client": "demo", "model": "m"});
        match self {
            Way::Say | Way::SlashSay => post(events.clone(), json!({"content": "type this"})),
            Way::SayTo => post(events.clone(), json!({"content": "type this", "to": "planner"})),
            Way::Mention => post(events.clone(), json!({"content": "@planner type this"})),
            Way::Reply => {
                let stream = thread.into();
                let page = world.server.hall.read(&stream, Default::default(), Some(1)).await;
                let first = page.unwrap().events[0].id(&stream).to_string();
                post(events.clone(), json!({"content": "so?", "meta": {"reply_to": first}}))
            }
            Way::Custom => post(events.clone(), json!({"type": "x.note", "content": {"a": 1}})),
            Way::Pass => slash("/pass"),
            Way::McpSay => tool("send_message", json!({"thread": thread, "message": "type this"})),
            Way::Ask => slash("/ask planner what now?"),
            Way::Stop => post(format!("/threads/{thread}/stop"), json!({})),
            Way::SlashStop => slash("/stop"),
            Way::Cancel => post(format!("/turns/{thread}.1/cancel"), json!({})),
            Way::Publish => post(format!("/threads/{thread}/kept/1/publish"), json!({})),
            Way::Prod => control(json!({"prod": {"targets": ["planner"]}})),
            Way::Resume => control(json!({"resume": {}})),
            Way::Pause => control(json!({"pause": {"on": true}})),
            Way::Mute => control(json!({"mute": {"targets": ["planner"]}})),
            Way::Unmute => control(json!({"unmute": {"targets": ["planner"]}})),
            Way::Discussion => control(json!({"discussion": {"on": true}})),
            Way::InvitedAuto => control(json!({"invited_auto": {"on": true}})),
            Way::Policy => control(json!({"policy": "hybrid"})),
            Way::PolicyObject => control(json!({"policy": {"name": "hybrid"}})),
            Way::Confirm => control(json!({"policy": "round_robin", "confirm": true})),
            Way::Config => control(json!({"config": {"cooldown_seconds": 1}})),
            Way::BindChat => control(json!({"bind": "telegram:-100"})),
            Way::UnbindChat => control(json!({"unbind": "telegram:-100"})),
            Way::RaiseBudget => control(json!({"budget": {"turns": 5}})),
            Way::Archive => control(json!({"archive": {"on": true}})),
            Way::CloseGathering => post(format!("/gatherings/{thread}/end"), json!({})),
            Way::Uninvite => control(json!({"uninvite": {"participant_id": "planner"}})),
            Way::InviteAgent => control(
                json!({"invite": {"participant_id": "pal", "profile": {"client": "echo", "model": "m"}}}),
            ),
            Way::InviteSession => control(json!({"invite": {"profile": {"session": "builder"}}})),
            Way::InviteClient => {
                control(json!({"invite": {"participant_id": "mine", "profile": own}}))
            }
            Way::InviteReach => control(
                json!({"invite": {"participant_id": "planner", "profile": {}, "reach": "writers"}}),
            ),
            Way::WidenSession => {
                control(json!({"invite": {"profile": {"session": "planner"}, "reach": "writers"}}))
            }
            Way::SlashInvite => slash("/invite demo id=mine"),
            Way::McpInvite => tool("invite", json!({"thread": thread, "session": "builder"})),
            Way::SendMessage => {
                post("/sessions/planner/messages".into(), json!({"message": "type this"}))
            }
            Way::McpSend => {
                tool("send_message", json!({"session_id": "planner", "message": "type this"}))
            }
            Way::Interrupt => post("/sessions/planner/interrupt".into(), json!({})),
            Way::End => post("/sessions/planner/end".into(), json!({})),
            Way::Revive => post("/sessions/planner/resume".into(), json!({})),
            Way::McpEnd => tool("end_session", json!({"session_id": "planner"})),
            Way::Screen => (Method::GET, "/sessions/planner/screen".into(), Value::Null),
            Way::Attach => (Method::GET, "/sessions/planner/attach".into(), Value::Null),
            Way::Keys => post(
                "/sessions/planner/keys".into(),
                json!({"keys": [{"text": "ls"}, {"key": "enter"}], "release": true}),
            ),
            Way::MakeLink => post(
                "/links".into(),
                json!({"members": [{"session": "planner"}, {"session": "builder"}]}),
            ),
            Way::CloseLink => {
                post(format!("/links/{}/close", world.thread(Place::Link)), json!({}))
            }
            Way::Start => post("/sessions".into(), json!({"client": "demo", "thread": thread})),
            Way::McpStart => tool("start_session", json!({"client": "demo", "thread": thread})),
            Way::Adopt => post(
                "/sessions".into(),
                json!({"client": "demo", "adopt": {"socket": "default", "pane": "%7"}}),
            ),
            Way::GatherSession => {
                gathering(post, json!({"kind": "session", "session_id": "planner"}))
            }
            Way::GatherProgram => gathering(post, json!({"kind": "agent", "client": "demo"})),
        }
    }
}

/// Returns a gathering with one member in a terminal.
fn gathering(
    post: impl Fn(String, Value) -> (Method, String, Value),
    mut terminal: Value,
) -> (Method, String, Value) {
    terminal["name"] = json!("First");
    terminal["number"] = json!(1);
    terminal["role"] = json!("speaker");
    let agent = |name: &str, number: u32, role: &str| json!({"name": name, "number": number, "role": role, "kind": "agent", "client": "echo"});
    let body = json!({
        "rhythm": "standup", "breath": "minimal", "opening_question": "What now?",
        "participants": [terminal, agent("Second", 2, "speaker"), agent("Third", 3, "harvester")],
    });
    post("/gatherings".into(), body)
}
