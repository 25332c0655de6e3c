//! The HTTP surface: routes, and what stands before them.

mod basics;
mod threads;
mod events;
mod presence;
mod turns;
mod search;
mod erase;
mod marks;
mod metrics;
mod observe;
mod assist;
mod streams;
mod access;
mod session;
mod tokens;
mod invitations;
mod once;
mod sessions;
mod links;
mod permissions;
mod security;
mod guard;

pub use access::{Need, Place, ROUTES, Route};
pub(crate) use events::{strangers, write_envelope};
pub(crate) use presence::update as presence_update;
pub(crate) use search::find_messages;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::middleware;
use axum::routing::get;
use axum::{Extension, Router};
use moothall_engine::access::{Access, Mode, Secret};
use moothall_engine::hall::Hall;
use tokio::sync::watch;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::SwaggerUi;

use crate::error::{ApiError, Code};
use crate::mcp::{self, Mcp};
use crate::meters::{Gauges, Meters};
use crate::sse::frames::Frames;
use crate::ui;
use crate::wire::{Bell, DeltaSignal, Envelope, ErrorBody, PresenceAccepted, PresenceUpdate, ProgressSignal, TurnEvent};
use guard::Trusted;

/// Where a server listens when nobody says otherwise.
const DEFAULT_PORT: u16 = 5111;

/// How the server is reached.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address it is bound to.
    pub bound: SocketAddr,
    /// More values of `Host` to accept, exactly as they are sent, e.g. `moothall.lan:5111`.
    pub hosts: Vec<String>,
    /// More origins to accept, exactly as they are sent, e.g. `https://moothall.lan`.
    pub origins: Vec<String>,
    /// Most connections at a time; more wait.
    pub connections_max: usize,
    /// What `/metrics` shows beside what is counted here.
    pub gauges: Gauges,
    /// Who may do what without a credential.
    pub mode: Mode,
    /// The start-up credential, where there is one.
    pub startup: Option<Secret>,
}

impl HttpOptions {
    /// What a server on this address accepts when nothing else is said.
    pub fn new(bound: SocketAddr) -> Self {
        Self {
            bound,
            hosts: Vec::new(),
            origins: Vec::new(),
            connections_max: 16_384,
            gauges: Gauges::default(),
            mode: Mode::default(),
            startup: None,
        }
    }
}

/// What handlers share.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) hall: Hall,
    /// How clients on this computer reach the server, e.g. `http://127.0.0.1:5111`.
    pub(crate) base: Arc<str>,
    pub(crate) frames: Arc<Frames>,
    pub(crate) presences: Arc<presence::Keyed<PresenceAccepted>>,
    pub(crate) access: Arc<Access>,
    /// The name of the cookie of this server's pages.
    pub(crate) cookie: Arc<str>,
    pub(crate) tokens_made: Arc<presence::Keyed<()>>,
    pub(crate) meters: Arc<Meters>,
    pub(crate) gauges: Gauges,
    /// Turns true when the server begins to go down; a sender that is gone never says so.
    pub(crate) closing: watch::Receiver<bool>,
}

/// Everything that HTTP serves.
pub fn router(hall: Hall, options: &HttpOptions) -> Router {
    router_until(hall, options, watch::channel(false).1)
}

pub(crate) fn router_until(hall: Hall, options: &HttpOptions, closing: watch::Receiver<bool>) -> Router {
    let (routes, api) = api_router().split_for_parts();
    let cookie = access::cookie_name(options.bound.port());
    let api = security::described(api, &cookie);
    let meters = Arc::<Meters>::default();
    let trusted = Trusted::of(options);
    let mcp = Mcp::new(hall.clone(), trusted.hosts(), trusted.origins());
    let app = App {
        access: Arc::new(Access::new(hall.clone(), options.mode, options.startup.as_ref())),
        cookie: cookie.into(),
        tokens_made: Arc::default(),
        hall,
        base: format!("http://{}", options.bound).into(),
        frames: Arc::default(),
        presences: Arc::default(),
        meters: meters.clone(),
        gauges: options.gauges.clone(),
        closing,
    };
    // Whoever is to sign in needs the page first, so its own files are before the guard of access; everything else is behind it.
    let behind = middleware::from_fn_with_state(app.clone(), access::guard);
    let guarded = routes.merge(SwaggerUi::new("/docs").url("/openapi.json", api)).layer(behind);
    let page = ui::files().fold(guarded, |routes, path| routes.route(&path, get(ui::file)));
    let router = page
        .route("/", get(ui::page))
        .route("/t/{thread}", get(ui::page))
        .route("/s", get(ui::page))
        .route("/s/{session}", get(ui::page))
        .fallback(|| async { ApiError::plain(Code::NotFound) })
        .method_not_allowed_fallback(|| async { ApiError::plain(Code::MethodNotAllowed) })
        .layer(Extension(Arc::new(mcp)))
        .with_state(app);
    observe::watch(guard::stand_before(router, trusted), meters)
}

/// The description of everything that HTTP serves, at the port that nobody changed.
pub fn openapi() -> utoipa::openapi::OpenApi {
    security::described(api_router().into_openapi(), &access::cookie_name(DEFAULT_PORT))
}

fn api_router() -> OpenApiRouter<App> {
    #[derive(OpenApi)]
    #[openapi(
        info(
            title = "Moothall",
            description = "Conversations of people and AI agents.",
            license(name = "Apache-2.0", identifier = "Apache-2.0")
        ),
        components(schemas(Envelope, TurnEvent, ErrorBody, Bell, PresenceUpdate, DeltaSignal, ProgressSignal))
    )]
    struct Description;

    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(basics::ping))
        .routes(routes!(basics::healthz))
        .routes(routes!(basics::agents))
        .routes(routes!(threads::list, threads::create))
        .routes(routes!(threads::state))
        .routes(routes!(events::read, events::post))
        .routes(routes!(streams::thread))
        .routes(routes!(streams::hall))
        .routes(routes!(presence::read, presence::post))
        .routes(routes!(turns::list))
        .routes(routes!(turns::stop))
        .routes(routes!(turns::cancel))
        .routes(routes!(search::search))
        .routes(routes!(erase::redact))
        .routes(routes!(marks::mark))
        .routes(routes!(metrics::metrics))
        .routes(routes!(assist::preview))
        .routes(routes!(assist::list))
        .routes(routes!(assist::run))
        .routes(routes!(assist::publish))
        .routes(routes!(session::begin, session::who))
        .routes(routes!(session::end))
        .routes(routes!(tokens::create, tokens::list))
        .routes(routes!(tokens::revoke))
        .routes(routes!(tokens::audit))
        .routes(routes!(invitations::invite))
        .routes(routes!(invitations::accept))
        .routes(routes!(sessions::list, sessions::start))
        .routes(routes!(sessions::read))
        .routes(routes!(sessions::screen))
        .routes(routes!(sessions::screens))
        .routes(routes!(sessions::data))
        .routes(routes!(sessions::send))
        .routes(routes!(sessions::interrupt))
        .routes(routes!(sessions::end))
        .routes(routes!(sessions::attach))
        .routes(routes!(links::list, links::make))
        .routes(routes!(links::read))
        .routes(routes!(links::close))
        .routes(routes!(permissions::answer))
        .routes(routes!(mcp::serve))
}
