//! A route: what serves it and what is said about it, in one value, so that neither can be without the other.

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter};

use crate::App;
use crate::app::Hosts;
use crate::description::Operation;

/// One path with its methods. [`routes::table`](crate::routes::table) lists them all.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    side: Side,
    pub(crate) serves: MethodRouter<App>,
    pub(crate) about: About,
}

/// Which hosts serve a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Foreground,
    Background,
    Both,
}

/// What the description says about a route.
pub(crate) enum About {
    /// One operation for each method, in small letters.
    Operations(Vec<(&'static str, Operation)>),
    /// One path for each action of the registry.
    Actions,
}

impl Route {
    /// A route without methods yet. `path` is written as the router takes it; `{*name}` holds slashes.
    pub(crate) fn at(path: &'static str, side: Side) -> Self {
        Route { path, side, serves: MethodRouter::new(), about: About::Operations(Vec::new()) }
    }

    pub(crate) fn get<H: Handler<T, App>, T: 'static>(self, handler: H, about: Operation) -> Self {
        self.on(MethodFilter::GET, "get", handler, about)
    }

    pub(crate) fn post<H: Handler<T, App>, T: 'static>(self, handler: H, about: Operation) -> Self {
        self.on(MethodFilter::POST, "post", handler, about)
    }

    pub(crate) fn put<H: Handler<T, App>, T: 'static>(self, handler: H, about: Operation) -> Self {
        self.on(MethodFilter::PUT, "put", handler, about)
    }

    pub(crate) fn patch<H: Handler<T, App>, T: 'static>(self, handler: H, about: Operation) -> Self {
        self.on(MethodFilter::PATCH, "patch", handler, about)
    }

    pub(crate) fn delete<H: Handler<T, App>, T: 'static>(self, handler: H, about: Operation) -> Self {
        self.on(MethodFilter::DELETE, "delete", handler, about)
    }

    /// Every method: each action says which one is its own.
    pub(crate) fn actions<H: Handler<T, App>, T: 'static>(self, handler: H) -> Self {
        Route { serves: axum::routing::any(handler), about: About::Actions, ..self }
    }

    pub(crate) fn is_on(&self, hosts: Hosts) -> bool {
        match self.side {
            Side::Foreground => hosts.foreground,
            Side::Background => hosts.background,
            Side::Both => true,
        }
    }

    fn on<H: Handler<T, App>, T: 'static>(
        mut self,
        filter: MethodFilter,
        method: &'static str,
        handler: H,
        about: Operation,
    ) -> Self {
        self.serves = self.serves.on(filter, handler);
        if let About::Operations(operations) = &mut self.about {
            operations.push((method, about));
        }
        self
    }
}
