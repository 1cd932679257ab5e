//! The endpoints for one invocation at a time.

use std::convert::Infallible;
use std::future::ready;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::{Extension, Router};
use futures::{StreamExt, stream};
use lambda_http::RequestExt;
use lambda_http::tower::Service;
use tandem_host::Invocation;
use tandem_http::{App, Deadline, router};

/// Lambda's library clones this for each invocation that the process may have at a time, which is one but on Managed
/// Instances. A clone has tasks of its own: an invocation ends when its own runs have, whatever others do.
pub(crate) struct Endpoints {
    app: App,
    router: Router,
}

impl Endpoints {
    pub(crate) fn new(app: App) -> Self {
        let invocation = Invocation::foreground(app.runtime.config());
        let router = router(app.clone()).layer(from_fn(name_deadline)).layer(Extension(invocation));
        Endpoints { app, router }
    }
}

impl Clone for Endpoints {
    fn clone(&self) -> Self {
        Self::new(App { runtime: self.app.runtime.apart(), ..self.app.clone() })
    }
}

impl Service<lambda_http::Request> for Endpoints {
    type Response = Response;
    type Error = Infallible;
    type Future = <Router as Service<lambda_http::Request>>::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<lambda_http::Request>::poll_ready(&mut self.router, context)
    }

    fn call(&mut self, request: lambda_http::Request) -> Self::Future {
        self.router.call(request)
    }
}

/// Tells the routes when this invocation is killed.
async fn name_deadline(Extension(invocation): Extension<Invocation>, mut request: Request, next: Next) -> Response {
    let deadline = invocation.deadline(request.lambda_context_ref().map_or(0, |context| context.deadline));
    request.extensions_mut().insert(Deadline(deadline));
    let response = next.run(request).await;
    if tandem_host::has_traces() { response.map(with_traces) } else { response }
}

/// A body that ends when its spans have been sent: the process is frozen afterwards. All of it has been read by then.
fn with_traces(body: Body) -> Body {
    let sent = stream::once(tandem_host::flush_traces()).filter_map(|()| ready(None));
    Body::from_stream(body.into_data_stream().chain(sent))
}
