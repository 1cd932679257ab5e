//! The door without a socket: an HTTP connector for the SDK that calls the engine instead of connecting.

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use tokio::task::spawn_blocking;

use crate::engine::Engine;
use crate::operations::{Answer, answer};

/// Hands each request of an SDK client to one engine.
#[derive(Debug, Clone)]
pub(crate) struct InProcess {
    engine: Engine,
}

impl InProcess {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine }
    }
}

impl HttpClient for InProcess {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for InProcess {
    /// The engine's calls block, so they run on tokio's blocking threads. Not on a thread of our own: tokio holds
    /// a paused clock still while a blocking task runs, and the SDK's timeouts with it.
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let engine = self.engine.clone();
        HttpConnectorFuture::new(async move {
            let answered = spawn_blocking(move || {
                let target = request.headers().get("x-amz-target").unwrap_or_default();
                let body = request.body().bytes().unwrap_or_default();
                answer(engine.database(), target, body)
            });
            let answer = answered.await.map_err(|error| ConnectorError::other(error.into(), None))?;
            response(answer)
        })
    }
}

fn response(answer: Answer) -> Result<HttpResponse, ConnectorError> {
    let status = answer.status.try_into().map_err(|error| ConnectorError::other(Box::new(error), None))?;
    let mut response = HttpResponse::new(status, SdkBody::from(answer.body));
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    Ok(response)
}
