//! The entry point of a hall: hosts, origins, limits and everything else the surfaces share. The
//! operator can replace hosts, origins and limits while the server runs.

use std::sync::{Arc, PoisonError, RwLock};

use axum::Router;
use moothall_engine::access::Access;
use moothall_engine::door::Entrance;
use moothall_engine::hall::Hall;
use tokio::sync::watch;

use crate::http::{HttpOptions, TrustedValues, router_until};
use crate::mcp::Mcp;
use crate::meters::SurfaceMetrics;
use crate::rates::{Limits, Rates};
use crate::slots::ConnectionSlots;

/// The entry point of a hall. Clones share one state.
#[derive(Clone)]
pub struct Surface(Arc<ServerState>);

struct ServerState {
    entrance: Entrance,
    options: HttpOptions,
    access: Arc<Access>,
    reloadable: RwLock<Arc<ReloadableState>>,
    rates: Rates,
    slots: Arc<ConnectionSlots>,
    meters: Arc<SurfaceMetrics>,
}

/// The parts that depend on the configured hosts and origins.
pub(crate) struct ReloadableState {
    pub(crate) trusted: TrustedValues,
    pub(crate) mcp: Mcp,
}

impl ReloadableState {
    fn of(entrance: &Entrance, options: &HttpOptions) -> Arc<Self> {
        let trusted = TrustedValues::of(options);
        let mcp = Mcp::new(entrance.clone(), trusted.hosts(), trusted.origins());
        Arc::new(Self { trusted, mcp })
    }
}

impl Surface {
    /// Creates the surface of a hall with these options.
    pub fn new(hall: Hall, options: HttpOptions) -> Self {
        let meters = Arc::<SurfaceMetrics>::default();
        let entrance = hall.entrance();
        let reloadable = RwLock::new(ReloadableState::of(&entrance, &options));
        let rates = Rates::new(options.mode, options.limits.clone());
        let slots = ConnectionSlots::new(
            options.connections_max,
            options.limits.connections_per_address,
            meters.clone(),
        );
        let access = Access::new(hall, options.mode, options.startup.as_ref())
            .with_registration_code(options.invite_code.as_deref());
        let access = Arc::new(access);
        Self(Arc::new(ServerState { entrance, options, access, reloadable, rates, slots, meters }))
    }

    /// Replaces hosts, origins and limits. They count from the next request and the next connection
    /// on. Open connections stay open. If a rate changes, the debts that were counted at the old
    /// rate are dropped.
    pub fn replace(&self, hosts: Vec<String>, origins: Vec<String>, limits: Limits) {
        let ServerState { entrance, options, reloadable, rates, slots, .. } = &*self.0;
        slots.replace(limits.connections_per_address);
        rates.replace(limits);
        let options = HttpOptions { hosts, origins, ..options.clone() };
        *reloadable.write().unwrap_or_else(PoisonError::into_inner) =
            ReloadableState::of(entrance, &options);
    }

    /// Returns the parts that depend on the hosts and origins last configured.
    pub(crate) fn reloadable(&self) -> Arc<ReloadableState> {
        self.0.reloadable.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the surfaces' handle on the hall.
    pub(crate) fn entrance(&self) -> &Entrance {
        &self.0.entrance
    }

    /// Returns the options the server started with.
    pub(crate) fn options(&self) -> &HttpOptions {
        &self.0.options
    }

    pub(crate) fn access(&self) -> &Arc<Access> {
        &self.0.access
    }

    pub(crate) fn rates(&self) -> &Rates {
        &self.0.rates
    }

    pub(crate) fn slots(&self) -> &Arc<ConnectionSlots> {
        &self.0.slots
    }

    pub(crate) fn meters(&self) -> &Arc<SurfaceMetrics> {
        &self.0.meters
    }
}

/// Returns a router with all HTTP routes.
pub fn router(hall: Hall, options: &HttpOptions) -> Router {
    router_until(&Surface::new(hall, options.clone()), watch::channel(false).1)
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use moothall_engine::MemoryLog;
    use moothall_engine::hall::HallParts;
    use moothall_engine::ports::{Store, SystemClock};
    use moothall_kernel::policy::Policy;

    /// Opens an empty hall in memory.
    pub async fn hall() -> Hall {
        let parts = HallParts {
            store: Store::of(Arc::new(MemoryLog::new())),
            clock: Arc::new(SystemClock),
            registry: Default::default(),
            defaults: Policy::default(),
            budgets: Default::default(),
            owner: "test".into(),
        };
        Hall::open(parts).await.unwrap()
    }
}
