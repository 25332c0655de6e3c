//! The complete matrix: every route and every tool, called by every kind of caller, in both modes,
//! with targets that are the caller's own and others.

use std::collections::BTreeSet;

use moothall_engine::access::{Mode, Scope, Scopes, SessionAction};
use moothall_engine::door::{Action, ActionTarget, Need};
use moothall_surfaces::{ROUTES, Route, actions_of_tools, openapi};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::access::{expired, sign_in, token};
use crate::server::{Server, soon};

/// A kind of caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatrixCaller {
    Nobody,
    Person,
    Agent,
    Session,
}

/// A caller, with its credential.
#[derive(Clone, Debug)]
struct Role {
    name: &'static str,
    who: MatrixCaller,
    credential: Option<String>,
    scopes: Scopes,
    /// True if the caller is bound to another conversation than the requested one.
    elsewhere: bool,
    /// True if the credential is valid.
    valid: bool,
    /// True if the credential is sent in a cookie.
    cookie: bool,
}

/// The session that a request is about, by its relation to the asking session. Other callers make
/// no difference between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Own,
    Started,
    Beside,
    Stranger,
}

const TARGETS: [Target; 4] = [Target::Own, Target::Started, Target::Beside, Target::Stranger];

impl Target {
    /// Returns the name of the session.
    fn session(self) -> &'static str {
        match self {
            Target::Own => "inside",
            Target::Started => "child",
            Target::Beside => "friend",
            Target::Stranger => WATCHED,
        }
    }
}

fn as_role(server: &Server, role: &Role, method: &str, path: &str) -> RequestBuilder {
    let request = server.client.request(method.parse().unwrap(), server.url(path));
    match &role.credential {
        Some(cookie) if role.cookie => request
            .header("cookie", cookie)
            .header("x-moothall", "1")
            .header("origin", server.url("")),
        Some(credential) => request.bearer_auth(credential),
        None => request,
    }
}

const AGENT: [Scope; 2] = [Scope::ThreadsRead, Scope::ThreadsWrite];
const SESSION: [Scope; 4] =
    [Scope::ThreadsRead, Scope::ThreadsWrite, Scope::ParticipantsInvite, Scope::SessionsDrive];
/// The session that is read and prompted.
const WATCHED: &str = "watched";

async fn roles(server: &Server, session: String) -> Vec<Role> {
    let other =
        server.as_operator(Method::POST, "/threads", json!({"name": "other"})).await.1["id"]
            .clone();
    let words = |scopes: &[Scope]| scopes.iter().map(<&str>::from).collect::<Vec<_>>();
    let writer = Scopes::of(&[Scope::ThreadsRead, Scope::ThreadsWrite, Scope::TurnsControl]);
    let (_, reading) =
        token(server, json!({"principal": "rita", "scopes": ["threads:read"]})).await;
    let (_, writing) = token(
        server,
        json!({"principal": "will", "scopes": words(&writer.iter().collect::<Vec<_>>())}),
    )
    .await;
    let (_, agent) = token(
        server,
        json!({"principal": "echo", "kind": "agent", "scopes": words(&AGENT), "threads": [other]}),
    )
    .await;
    let (id, revoked) =
        token(server, json!({"principal": "rex", "scopes": ["server:admin"]})).await;
    assert_eq!(
        server.as_operator(Method::POST, &format!("/tokens/{id}/revoke"), json!({})).await.0,
        200
    );
    let drive = Scopes::of(&[Scope::ThreadsRead, Scope::SessionsDrive]);
    let (_, driving) = token(
        server,
        json!({"principal": "dora", "scopes": words(&drive.iter().collect::<Vec<_>>())}),
    )
    .await;
    let agent_driving = json!({"principal": "dron", "kind": "agent", "scopes": words(&drive.iter().collect::<Vec<_>>())});
    let (_, agent_driving) = token(server, agent_driving).await;
    let cookie = sign_in(server, &server.key).await;
    let role = |name, who, credential, scopes| Role {
        name,
        who,
        credential: Some(credential),
        scopes,
        elsewhere: false,
        valid: true,
        cookie: false,
    };
    vec![
        Role {
            credential: None,
            valid: false,
            ..role("anonymous", MatrixCaller::Nobody, String::new(), Scopes::NONE)
        },
        role("reader", MatrixCaller::Person, reading, Scopes::of(&[Scope::ThreadsRead])),
        role("writer", MatrixCaller::Person, writing, writer),
        role("driver", MatrixCaller::Person, driving, drive),
        role("driving agent", MatrixCaller::Agent, agent_driving, drive),
        Role {
            elsewhere: true,
            ..role("agent elsewhere", MatrixCaller::Agent, agent, Scopes::of(&AGENT))
        },
        role("operator", MatrixCaller::Person, server.key.clone(), Scopes::ALL),
        Role { cookie: true, ..role("page", MatrixCaller::Person, cookie, Scopes::ALL) },
        role("session", MatrixCaller::Session, session, Scopes::of(&SESSION)),
        Role { valid: false, ..role("revoked", MatrixCaller::Person, revoked, Scopes::ALL) },
        Role {
            valid: false,
            ..role("expired", MatrixCaller::Person, expired(server).await, Scopes::ALL)
        },
    ]
}

/// Returns the status and code with which a route refuses, or `None` if the request reaches its
/// handler.
fn refusal(
    mode: Mode,
    role: &Role,
    (need, place): (Need, ActionTarget),
    target: Target,
) -> Option<(u16, &'static str)> {
    let forbidden = Some((403, "forbidden"));
    if need == Need::Nothing {
        return None;
    }
    if !role.valid && (role.credential.is_some() || mode == Mode::Token) {
        return Some((401, "unauthenticated"));
    }
    let people = [Scope::PermissionsAnswer, Scope::ServerAdmin, Scope::SessionsDrive];
    let free = !people.into_iter().any(|scope| need == Need::Scope(scope));
    let enough = match need {
        Need::Nothing | Need::Entry => true,
        Need::Scope(scope) => role.scopes.has(scope) || (!role.valid && free),
        Need::Proof(scope) => role.valid && role.scopes.has(scope),
    };
    let out_of_reach =
        role.elsewhere || (role.who == MatrixCaller::Session && target != Target::Own);
    match place {
        _ if !enough => forbidden,
        ActionTarget::Everywhere if role.elsewhere || role.who == MatrixCaller::Session => {
            forbidden
        }
        ActionTarget::Own | ActionTarget::Session(_) | ActionTarget::Link if role.elsewhere => {
            forbidden
        }
        // An agent from outside is not in any link.
        ActionTarget::Link
            if role.who == MatrixCaller::Agent && need == Need::Proof(Scope::SessionsDrive) =>
        {
            forbidden
        }
        ActionTarget::Thread | ActionTarget::Turn if out_of_reach => {
            Some((404, "thread_not_found"))
        }
        ActionTarget::Session(over) => over_session(role.who, over, target),
        ActionTarget::Nowhere
        | ActionTarget::Reachable
        | ActionTarget::Everywhere
        | ActionTarget::Own
        | ActionTarget::Link
        | ActionTarget::Thread
        | ActionTarget::Task
        | ActionTarget::Turn => None,
    }
}

/// Returns the refusal for a session's token, or for an agent from outside. A session's rights
/// differ for itself, for sessions it started, for linked ones, and for others.
fn over_session(
    who: MatrixCaller,
    over: SessionAction,
    target: Target,
) -> Option<(u16, &'static str)> {
    let allowed: &[Target] = match (who, over) {
        (MatrixCaller::Nobody | MatrixCaller::Person, _)
        | (MatrixCaller::Agent, SessionAction::Seeing) => &TARGETS,
        (
            MatrixCaller::Agent,
            SessionAction::Messaging
            | SessionAction::Telling
            | SessionAction::Looking
            | SessionAction::Steering
            | SessionAction::Sitting,
        )
        | (MatrixCaller::Session, SessionAction::Sitting) => &[],
        (MatrixCaller::Session, SessionAction::Seeing | SessionAction::Telling) => {
            &[Target::Own, Target::Started, Target::Beside]
        }
        // For a session that the caller has not met, a person is asked first, so this is not a
        // refusal.
        (MatrixCaller::Session, SessionAction::Messaging) => &TARGETS,
        (MatrixCaller::Session, SessionAction::Looking) => &[Target::Own, Target::Started],
        (MatrixCaller::Session, SessionAction::Steering) => &[Target::Started],
    };
    match target {
        target if allowed.contains(&target) => None,
        Target::Stranger if who == MatrixCaller::Session => Some((404, "session_not_found")),
        Target::Own | Target::Started | Target::Beside | Target::Stranger => {
            Some((403, "forbidden"))
        }
    }
}

fn path_of(route: &Route, thread: &str, target: Target) -> String {
    let id = match route.action.acts_on() {
        ActionTarget::Turn => format!("{thread}.1"),
        ActionTarget::Session(_) => target.session().to_owned(),
        ActionTarget::Nowhere
        | ActionTarget::Thread
        | ActionTarget::Reachable
        | ActionTarget::Everywhere
        | ActionTarget::Own
        | ActionTarget::Task
        | ActionTarget::Link => thread.to_owned(),
    };
    route
        .path
        .replace("{id}", &id)
        .replace("{seq}", "1")
        .replace("{event}", "none")
        .replace("{*rest}", "index.html")
}

async fn code(response: Response) -> String {
    let body: Value = response.json().await.unwrap_or_default();
    let called = &body["result"]["structuredContent"]["error"]["code"];
    called.as_str().or(body["error"]["code"].as_str()).unwrap_or_default().to_owned()
}

/// Returns the code of an unused invitation.
pub async fn code_for(server: &Server, thread: &str) -> String {
    let wanted = json!({"principal": "guest", "kind": "agent"});
    let (status, made) =
        server.as_operator(Method::POST, &format!("/threads/{thread}/invitations"), wanted).await;
    assert_eq!(status, 200, "{made}");
    made["code"].as_str().unwrap().to_owned()
}

/// The server and the callers of the matrix.
struct Board {
    server: Server,
    roles: Vec<Role>,
    /// A conversation without sessions.
    thread: String,
    /// The home of the asking session.
    home: String,
    _folder: tempfile::TempDir,
}

impl Board {
    /// Sets up sessions in every relation to each other, and all callers.
    async fn set(mode: Mode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (server, stage) = Server::with_startable(mode, folder.path()).await;
        let thread = server.as_operator(Method::POST, "/threads", json!({"name": "home"})).await.1
            ["id"]
            .as_str()
            .unwrap()
            .to_owned();
        for name in ["inside", "friend", WATCHED] {
            server.session(name).await;
        }
        let members = json!({"members": [{"session": "inside"}, {"session": "friend"}]});
        assert_eq!(server.as_operator(Method::POST, "/links", members).await.0, 200);
        let session = stage.token("inside");
        let child = json!({"client": "demo", "name": "child", "cwd": folder.path()});
        assert_eq!(server.post_as(&session, "/sessions", child).await.0, 200);
        let home = server.as_operator(Method::GET, "/sessions/inside", json!(null)).await.1["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let roles = roles(&server, session).await;
        Self { server, roles, thread, home, _folder: folder }
    }

    /// Returns the conversation that a caller asks for. A session is in its own home only.
    fn thread(&self, role: &Role, target: Target) -> &str {
        if role.who == MatrixCaller::Session && target == Target::Own {
            &self.home
        } else {
            &self.thread
        }
    }
}

/// Returns the row of the engine's table.
fn row(action: Action) -> (Need, ActionTarget) {
    (action.need(), action.acts_on())
}

/// Returns the refusal if it was about the caller; `None` for every other refusal.
fn refused(status: u16, code: String) -> Option<(u16, String)> {
    let lost = ["thread_not_found", "session_not_found"].contains(&code.as_str());
    (matches!(status, 401 | 403) && code != "wrong_speaker" || lost).then_some((status, code))
}

/// Returns the targets to try: all four for a session, one for other callers.
fn targets(role: &Role) -> &'static [Target] {
    if role.who == MatrixCaller::Session { &TARGETS } else { &[Target::Stranger] }
}

async fn play_matrix(mode: Mode) {
    let board = Board::set(mode).await;
    let mut wrong = Vec::new();
    // Routes that delete come last, because afterwards their targets are missing.
    let (last, first): (Vec<&Route>, Vec<&Route>) =
        ROUTES.iter().partition(|route| route.method == "DELETE");
    for route in first.into_iter().chain(last) {
        for role in &board.roles {
            for target in targets(role) {
                wrong.extend(play(&board, mode, route, role, *target).await);
            }
        }
    }
    assert!(wrong.is_empty(), "{mode} mode:\n{}", wrong.join("\n"));
}

async fn play(
    board: &Board,
    mode: Mode,
    route: &Route,
    role: &Role,
    target: Target,
) -> Option<String> {
    let server = &board.server;
    let request =
        as_role(server, role, route.method, &path_of(route, board.thread(role, target), target));
    let body = match route.path {
        "/session" => json!({"key": server.key}),
        "/invitations/accept" => json!({"code": code_for(server, &board.thread).await}),
        // The page stays signed in.
        "/session/end" if role.cookie => return None,
        _ => json!({}),
    };
    let request = if route.method == "GET" { request } else { request.json(&body) };
    let response = soon(request.send()).await.unwrap();
    let (status, streams) =
        (response.status().as_u16(), response.headers()["content-type"] == "text/event-stream");
    let got = if streams { None } else { refused(status, code(response).await) };
    let expected = refusal(mode, role, row(route.action), target)
        .map(|(status, code)| (status, code.to_owned()));
    // An accepted stream must begin, and every other request must be answered.
    let open = expected.is_none() && route.path.ends_with("/stream");
    let fits = got == expected && (!open || streams);
    (!fits).then(|| {
        format!(
            "{} as {} of {target:?}: {status} {got:?}, expected {expected:?}",
            route_name(route),
            role.name
        )
    })
}

/// Returns the arguments of a call about one of the four sessions, or about a conversation.
fn arguments(tool: &str, action: Action, thread: &str, role: &Role, target: Target) -> Value {
    let mut arguments = match (tool, action) {
        ("send_message", Action::SendMessage) | ("end_session" | "get_session_data", _) => {
            json!({"session_id": target.session()})
        }
        ("read_thread", Action::ListTurns) => json!({"thread": thread, "why": 0}),
        ("send_message" | "read_thread", _) => json!({"thread": thread}),
        ("gathering_status" | "pass_piece", _) => json!({"gathering": thread}),
        ("invite", Action::BeginThread) => json!({"new_thread": "x"}),
        ("invite", Action::MakeLink) => json!({"link": ["x"], "policy": "refused later"}),
        ("list_sessions", Action::ListLinks) => json!({"links": true}),
        ("search", _) => json!({"query": "x"}),
        _ => json!({}),
    };
    // A caller without a credential names itself; a credential names all others.
    if role.who == MatrixCaller::Nobody && ["send_message", "end_session"].contains(&tool) {
        arguments["from"] = json!("desk");
    }
    arguments
}

/// Plays the matrix for every tool, by the rule of its action.
async fn play_tools(mode: Mode) {
    let board = Board::set(mode).await;
    let mut wrong = Vec::new();
    for (tool, action) in actions_of_tools() {
        // `invite` checks its target only when the call itself is handled.
        let place = if (tool, action) == ("invite", Action::Post) {
            ActionTarget::Reachable
        } else {
            action.acts_on()
        };
        for role in &board.roles {
            for target in targets(role) {
                let given = arguments(tool, action, board.thread(role, *target), role, *target);
                let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": given}});
                let request = as_role(&board.server, role, "POST", "/mcp")
                    .header("accept", "application/json, text/event-stream");
                let got = code(soon(request.json(&call).send()).await.unwrap()).await;
                let refusals =
                    ["unauthenticated", "forbidden", "thread_not_found", "session_not_found"];
                let got = refusals.contains(&got.as_str()).then_some(got);
                let expected = refusal(mode, role, (action.need(), place), *target)
                    .map(|(_, code)| code.to_owned());
                if got != expected {
                    wrong.push(format!(
                        "{tool} as {} of {target:?}: {got:?}, expected {expected:?}",
                        role.name
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{mode} mode:\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_tool_asks_every_caller_for_what_the_row_of_its_action_says() {
    play_tools(Mode::Token).await;
    play_tools(Mode::Local).await;
}

fn route_name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

#[tokio::test]
async fn every_route_asks_every_caller_for_what_its_row_says_in_token_mode() {
    play_matrix(Mode::Token).await;
}

#[tokio::test]
async fn every_route_asks_every_caller_for_what_its_row_says_in_local_mode() {
    play_matrix(Mode::Local).await;
}

#[test]
fn every_route_has_a_row_and_every_row_a_route() {
    let api = serde_json::to_value(openapi()).unwrap();
    let mut routes: BTreeSet<String> =
        ["/docs", "/docs/", "/docs/{*rest}", "/openapi.json", "/health"]
            .map(|path| format!("GET {path}"))
            .into();
    for (path, methods) in api["paths"].as_object().unwrap() {
        routes.extend(
            methods
                .as_object()
                .unwrap()
                .keys()
                .map(|method| format!("{} {path}", method.to_uppercase())),
        );
    }
    let rows: Vec<String> = ROUTES.iter().map(route_name).collect();
    assert_eq!(
        rows.iter().cloned().collect::<BTreeSet<_>>(),
        routes,
        "a route without a row is refused: add the row to ROUTES"
    );
    assert_eq!(rows.len(), routes.len(), "a row stands twice");
}

#[test]
fn every_action_is_a_routes_a_tools_a_commands_or_a_methods() {
    let commands = [
        Action::Say,
        Action::PostCustom,
        Action::Pass,
        Action::Rename,
        Action::Archive,
        Action::Invite,
        Action::Steer,
        Action::Prod,
        Action::Bind,
        Action::RaiseThreadBudget,
        Action::Gather,
    ];
    let methods = [
        Action::AttendTasks,
        Action::LookUpAgents,
        Action::BeginTask,
        Action::ReadTask,
        Action::LeaveTask,
        Action::ManageTask,
        Action::SayInTask,
    ];
    let named = ROUTES
        .iter()
        .map(|route| route.action)
        .chain(actions_of_tools().into_iter().map(|(_, action)| action))
        .chain(commands)
        .chain(methods);
    let named: Vec<_> = named.collect();
    for action in Action::ALL {
        assert!(named.contains(action), "nobody can do {action:?}");
    }
}
