//! The HTTP surface: routes, and the guards before them.

mod basics;
mod start;
mod channels;
mod computers;
mod threads;
mod events;
mod presence;
mod turns;
mod usage;
mod guards;
mod states;
mod needs;
mod search;
mod erase;
mod marks;
mod metrics;
mod observe;
mod assist;
mod streams;
mod access;
mod sign_in;
mod tokens;
mod apps;
mod registrations;
mod invitations;
mod once;
mod sessions;
mod links;
mod gatherings;
mod permissions;
mod registration;
mod security;
mod description;
mod query;
mod layer;

pub use access::{ROUTES, Route};
pub(crate) use events::write_envelope;
pub(crate) use layer::TrustedValues;
pub(crate) use presence::update as presence_update;
pub(crate) use search::find_messages;
pub(crate) use threads::policy_of;

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Deref;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use moothall_engine::access::{Access, Mode, Secret};
use moothall_engine::door::Entrance;
use tokio::sync::watch;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::SwaggerUi;

use crate::error::{ApiError, Code};
use crate::jsonrpc::socket;
use crate::mcp;
use crate::meters::{Gauges, SurfaceMetrics};
use crate::rates::{Limits, Rates};
use crate::sse::FollowingStreams;
use crate::sse::frames::FrameCache;
use crate::surface::Surface;
use crate::tls::Tls;
use crate::ui;
use crate::wire::{
    Bell, DeltaSignal, Envelope, ErrorBody, FollowSignal, GatheringStep, KeysTyped, NeedsSignal,
    PresenceAccepted, PresenceUpdate, ProgressSignal, StatesSignal, StreamOpened, TurnEvent,
};

/// Default port.
const DEFAULT_PORT: u16 = 5111;

/// Options of the HTTP server.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address that the server is bound to.
    pub bound: SocketAddr,
    /// More values of `Host` to accept, exactly as they are sent, e.g. `moothall.lan:5111`.
    pub hosts: Vec<String>,
    /// More origins to accept, exactly as they are sent, e.g. `https://moothall.lan`.
    pub origins: Vec<String>,
    /// The certificate, if the server uses TLS.
    pub tls: Option<Tls>,
    /// Maximum number of connections. A further one waits, or another one is evicted for it.
    pub connections_max: usize,
    /// Limits of one principal, thread or address.
    pub limits: Limits,
    /// Gauges that `/metrics` shows beside the surfaces' own counters.
    pub gauges: Gauges,
    /// The mode, which sets the rights of callers without a credential.
    pub mode: Mode,
    /// The start-up credential, if one was made.
    pub startup: Option<Secret>,
    /// The code that agents need to register, if one is set.
    pub invite_code: Option<String>,
    /// In local mode: true if every user of this computer has the owner's rights without a
    /// credential.
    pub other_users: bool,
    /// In local mode: the rights of a caller without a credential if the owner of its process is
    /// unknown.
    pub unasked: UnknownPeerRights,
}

/// The rights of a caller without a credential if the owner of its process is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownPeerRights {
    /// Health checks, the page and sign-in only.
    #[default]
    SignIn,
    /// Everything that needs no credential, except actions that start a program.
    Converse,
}

impl HttpOptions {
    /// Returns the default options for a server on this address.
    pub fn new(bound: SocketAddr) -> Self {
        Self {
            bound,
            hosts: Vec::new(),
            origins: Vec::new(),
            tls: None,
            connections_max: 16_384,
            limits: Limits::default(),
            gauges: Gauges::default(),
            mode: Mode::default(),
            startup: None,
            invite_code: None,
            other_users: false,
            unasked: UnknownPeerRights::default(),
        }
    }
}

/// Returns the address at which local programs reach a server bound to `bound`. It is always plain
/// HTTP.
pub fn here(bound: SocketAddr) -> String {
    let ip = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, bound.port()))
}

/// The state that handlers share. It is in an `Arc`, because it is cloned several times per
/// request.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

impl App {
    /// Creates the state that all handlers of a surface share. `known` lists the parameters of each
    /// route. `closing` turns true at shutdown.
    pub(crate) fn of(
        surface: &Surface,
        known: query::KnownParameters,
        closing: watch::Receiver<bool>,
    ) -> Self {
        let (entrance, options) = (surface.entrance().clone(), surface.options());
        Self(Arc::new(Parts {
            access: surface.access().clone(),
            cookie: access::cookie_name(options.bound.port()),
            tokens_made: Arc::default(),
            keys_typed: Arc::default(),
            frames: FrameCache::of_hall(&entrance),
            following: Arc::default(),
            entrance,
            base: here(options.bound),
            unasked: options.unasked,
            over_tls: options.tls.is_some(),
            presences: Arc::default(),
            meters: surface.meters().clone(),
            rates: surface.rates().clone(),
            gauges: options.gauges.clone(),
            page: ui::routes().collect(),
            known,
            closing,
        }))
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// The fields of an [`App`].
pub(crate) struct Parts {
    pub(crate) entrance: Entrance,
    /// The address for clients on this computer, e.g. `http://127.0.0.1:5111`.
    pub(crate) base: String,
    /// The rights of callers whose process owner the system does not name.
    pub(crate) unasked: UnknownPeerRights,
    /// True if remote clients use TLS.
    pub(crate) over_tls: bool,
    pub(crate) frames: Arc<FrameCache>,
    /// The open event streams that follow threads or terminals.
    pub(crate) following: Arc<FollowingStreams>,
    pub(crate) presences: Arc<once::KeyedAnswers<PresenceAccepted>>,
    pub(crate) access: Arc<Access>,
    /// The name of the cookie for this server's pages.
    pub(crate) cookie: String,
    pub(crate) tokens_made: Arc<once::KeyedAnswers<()>>,
    pub(crate) keys_typed: Arc<once::KeyedAnswers<KeysTyped>>,
    pub(crate) meters: Arc<SurfaceMetrics>,
    pub(crate) rates: Rates,
    pub(crate) gauges: Gauges,
    /// The routes of the page, which need no credential.
    pub(crate) page: HashSet<String>,
    /// The known parameters of each route.
    pub(crate) known: query::KnownParameters,
    /// Turns true when the server begins to shut down. A dropped sender does not count as shutdown.
    pub(crate) closing: watch::Receiver<bool>,
}

/// Returns the router with all HTTP routes, the page and its files, inside the guards of [`layer`].
/// `closing` turns true at shutdown.
pub(crate) fn router_until(surface: &Surface, closing: watch::Receiver<bool>) -> Router {
    let (routes, api) = api_router().split_for_parts();
    let api = completed(api, &access::cookie_name(surface.options().bound.port()));
    let app = App::of(surface, query::KnownParameters::of(&api), closing);
    let guarded = routes.merge(SwaggerUi::new("/docs").url("/openapi.json", api));
    // The alias is added after the split, so that the description names only `/healthz`.
    let guarded = guarded.route("/health", get(basics::healthz));
    let guarded = guarded.route(mcp::PATH_WITH_SLASH, post(mcp::serve));
    let with_files = ui::files().fold(guarded, |routes, path| routes.route(&path, get(ui::file)));
    let router = ui::PAGES
        .iter()
        .fold(with_files, |routes, path| routes.route(path, get(ui::page)))
        .fallback(|| async { ApiError::plain(Code::NotFound) })
        .method_not_allowed_fallback(|| async { ApiError::plain(Code::MethodNotAllowed) })
        .with_state(app.clone());
    layer::stand_before(router, surface.clone(), app)
}

/// Returns the OpenAPI description of the HTTP routes, for the default port.
pub fn openapi() -> utoipa::openapi::OpenApi {
    completed(api_router().into_openapi(), &access::cookie_name(DEFAULT_PORT))
}

fn completed(api: utoipa::openapi::OpenApi, cookie: &str) -> utoipa::openapi::OpenApi {
    description::completed(security::described(api, cookie))
}

/// Returns the routes that the OpenAPI description lists, together with that description. It also
/// names the types of events, because only streams send them.
fn api_router() -> OpenApiRouter<App> {
    #[derive(OpenApi)]
    #[openapi(
        info(
            title = "Moothall",
            description = "Conversations of people and AI agents.",
            license(name = "Apache-2.0", identifier = "Apache-2.0")
        ),
        components(schemas(
            Envelope,
            TurnEvent,
            GatheringStep,
            ErrorBody,
            Bell,
            PresenceUpdate,
            DeltaSignal,
            ProgressSignal,
            StatesSignal,
            NeedsSignal,
            StreamOpened,
            FollowSignal
        ))
    )]
    struct Description;

    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(basics::ping))
        .routes(routes!(basics::healthz))
        .routes(routes!(basics::openrpc))
        .routes(routes!(basics::agents))
        .routes(routes!(start::read))
        .routes(routes!(threads::list, threads::create))
        .routes(routes!(threads::delete))
        .routes(routes!(threads::state))
        .routes(routes!(events::read, events::post))
        .routes(routes!(streams::thread))
        .routes(routes!(streams::hall))
        .routes(routes!(streams::change))
        .routes(routes!(presence::read, presence::post))
        .routes(routes!(turns::list))
        .routes(routes!(turns::stop))
        .routes(routes!(turns::cancel))
        .routes(routes!(turns::context))
        .routes(routes!(search::search))
        .routes(routes!(erase::redact))
        .routes(routes!(marks::mark))
        .routes(routes!(metrics::metrics))
        .routes(routes!(usage::read))
        .routes(routes!(usage::raise))
        .routes(routes!(guards::read))
        .routes(routes!(states::read))
        .routes(routes!(needs::read))
        .routes(routes!(assist::preview))
        .routes(routes!(assist::list))
        .routes(routes!(assist::run))
        .routes(routes!(assist::publish))
        .routes(routes!(sign_in::begin, sign_in::who))
        .routes(routes!(sign_in::end))
        .routes(routes!(tokens::create, tokens::list))
        .routes(routes!(tokens::revoke))
        .routes(routes!(tokens::audit))
        .routes(routes!(channels::deliveries))
        .routes(routes!(channels::again))
        .routes(routes!(channels::list))
        .routes(routes!(channels::add))
        .routes(routes!(channels::remove))
        .routes(routes!(channels::offer))
        .routes(routes!(channels::resume))
        .routes(routes!(channels::pair))
        .routes(routes!(channels::pairings))
        .routes(routes!(channels::unpair))
        .routes(routes!(computers::list))
        .routes(routes!(computers::invite))
        .routes(routes!(computers::join))
        .routes(routes!(computers::resume))
        .routes(routes!(computers::forget))
        .routes(routes!(registrations::list))
        .routes(routes!(registrations::revoke))
        .routes(routes!(registrations::free))
        .routes(routes!(apps::list))
        .routes(routes!(apps::free))
        .routes(routes!(apps::transfer))
        .routes(routes!(apps::begin))
        .routes(routes!(invitations::invite))
        .routes(routes!(invitations::invite_into_hall))
        .routes(routes!(invitations::accept))
        .routes(routes!(sessions::list, sessions::start))
        .routes(routes!(sessions::read))
        .routes(routes!(sessions::screen))
        .routes(routes!(sessions::screens))
        .routes(routes!(sessions::data))
        .routes(routes!(sessions::send))
        .routes(routes!(sessions::keys))
        .routes(routes!(sessions::interrupt))
        .routes(routes!(sessions::end))
        .routes(routes!(sessions::resume))
        .routes(routes!(sessions::folders))
        .routes(routes!(sessions::attach))
        .routes(routes!(links::list, links::make))
        .routes(routes!(links::read))
        .routes(routes!(links::close))
        .routes(routes!(gatherings::list, gatherings::open))
        .routes(routes!(gatherings::read))
        .routes(routes!(gatherings::pass))
        .routes(routes!(gatherings::end))
        .routes(routes!(permissions::answer))
        .routes(routes!(registration::register))
        .routes(routes!(registration::claim))
        .routes(routes!(socket::connect))
        .routes(routes!(mcp::serve))
}
