//! What an MCP client can ask for: the tools, and calls of them.

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use std::sync::Arc;
use tandem_actions::{ActionError, Effect, Entry, IdempotencyKey};
use tandem_protocol::{Caller, Principal, Problem, ProgressData, Run};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::Instrument;

use super::approval::{self, Asked, Decision};
use super::tools;
use crate::routes::actions::{Asking, UnderWay, new_call, problem, start};
use crate::{ApiError, App};

/// How long a client may take the list for current, in milliseconds: roles and versions change.
const LIST_TTL_MS: u64 = 60_000;
/// Under this name in `_meta` a call has the idempotency key that HTTP has in a header.
const KEY: &str = "tandem/idempotencyKey";
/// Under this name in `_meta` a failed call has the problem that HTTP would answer with.
const PROBLEM: &str = "tandem/problem";

/// Answers one request of one person.
#[derive(Clone)]
pub(super) struct Server {
    app: App,
    principal: Principal,
    killed_at: Option<Instant>,
    request_id: String,
    /// The request's, as the SDK answers in tasks of its own.
    span: tracing::Span,
}

impl Server {
    pub(super) fn new(app: App, principal: Principal, killed_at: Option<Instant>, request_id: String) -> Self {
        Server { app, principal, killed_at, request_id, span: tracing::Span::current() }
    }

    async fn call(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let registry = Arc::clone(self.app.runtime.agent().registry());
        let input = Value::Object(params.arguments.clone().unwrap_or_default());
        // Before a person is asked: who calls, and with what.
        let input = match registry.check(&params.name, input, &self.principal, Caller::Mcp) {
            Ok(input) => input,
            Err(error @ ActionError::NotFound { .. }) => {
                return Err(ErrorData::invalid_params(format!("Unknown tool: {error}"), None));
            }
            Err(error) => return Ok(self.failed(problem(error))),
        };
        let Some(entry) = registry.get(&params.name) else {
            return Err(ErrorData::invalid_params("Unknown tool", None));
        };
        let mut key = match context.meta.get(KEY).map(key).transpose() {
            Ok(key) => key,
            Err(fault) => return Ok(self.failed(ApiError::invalid(&format!("_meta {KEY}"), fault))),
        };
        if entry.needs_approval(&input) {
            let asked = Asked { principal: &self.principal, action: entry.name(), input: &input, key };
            key = match approval::decide(asked, &params, &context, self.app.runtime.keys()) {
                Decision::Approved(key) => Some(key),
                Decision::Ask(question) => return Ok(CallToolResponse::InputRequired(*question)),
                Decision::Refused(error) => return Ok(self.failed(error)),
            };
        }
        if entry.effect() == Effect::Checkpointed {
            let Server { app, principal, killed_at, .. } = self;
            let asking = Asking { principal, door: Caller::Mcp, key, killed_at: *killed_at };
            return Ok(match start(&app.runtime, entry.name(), input, asking).await {
                Ok(run) => under_way(&run, entry.name()).into(),
                Err(error) => self.failed(problem(error)),
            });
        }
        Ok(match self.run(entry, input, key, &context).await {
            Ok(output) => done(output).into(),
            Err(error) => self.failed(error),
        })
    }

    /// Runs the action, and tells the client how far it is if it wants to know.
    async fn run(
        &self,
        entry: &Entry,
        input: Value,
        key: Option<IdempotencyKey>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ApiError> {
        let mut call = new_call(&self.app, entry, self.principal.clone(), Caller::Mcp, self.killed_at, key);
        let (sender, mut reports) = mpsc::unbounded_channel::<ProgressData>();
        let token = context.meta.get_progress_token();
        if token.is_some() {
            call.progress = Some(Arc::new(move |data| {
                // Nobody listens any more once the call has ended.
                let _ = sender.send(data);
            }));
        }
        let registry = Arc::clone(self.app.runtime.agent().registry());
        let name = entry.name();
        // In a task of its own: disconnecting is not stopping, and must not cut an effect in half.
        let work = async move { registry.call(name, input, call).await };
        let mut running = self.app.runtime.tasks().spawn(work.instrument(self.span.clone()));
        let mut last = f64::NEG_INFINITY;
        loop {
            tokio::select! {
                biased;
                Some(ProgressData { label, done, total }) = reports.recv() => {
                    // The protocol wants it to grow.
                    let Some(token) = token.clone().filter(|_| done as f64 > last) else { continue };
                    last = done as f64;
                    let mut progress = ProgressNotificationParam::new(token, last).with_message(label);
                    progress.total = total.map(|total| total as f64);
                    // A client that has gone does not stop the call.
                    let _ = context.peer.notify_progress(progress).await;
                }
                ended = &mut running => return match ended {
                    Ok(result) => result.map_err(problem),
                    Err(error) => {
                        tracing::error!(parent: &self.span, %error, "a call broke down");
                        Err(ApiError::new(tandem_protocol::Code::Internal, "Report the request id to the operator."))
                    }
                },
            }
        }
    }

    /// A failure that the model reads, and beside it the problem that HTTP would answer with.
    fn failed(&self, ApiError(mut problem): ApiError) -> CallToolResponse {
        problem.request_id = Some(self.request_id.clone());
        let mut result = CallToolResult::error(vec![ContentBlock::text(text(&problem))]);
        let mut meta = MetaObject::default();
        meta.insert(PROBLEM.to_owned(), serde_json::to_value(&problem).unwrap_or_default());
        result.meta = Some(meta);
        result.into()
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("tandem", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "The tools are the actions of an application that people and agents share. Calls act as the person \
                 whose token is used. A failure says in its text what was wrong and what to do.",
            )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let registry = self.app.runtime.agent().registry();
        let mut list =
            ListToolsResult::with_all_items(registry.offered(&self.principal, Caller::Mcp).map(tools::tool).collect());
        // Which tools there are depends on who asks.
        (list.ttl_ms, list.cache_scope) = (Some(LIST_TTL_MS), Some(CacheScope::Private));
        Ok(list)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Box::pin(self.call(params, context)).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let registry = self.app.runtime.agent().registry();
        let entry = registry.get(name).filter(|entry| entry.is_on(Caller::Mcp) && entry.admits(&self.principal));
        entry.map(tools::tool)
    }
}

/// The run of an action that takes longer than a request, and for models where to look.
fn under_way(run: &Run, action: &str) -> CallToolResult {
    let id = &run.run_id;
    let status = run.status.as_str();
    let text = format!(
        "{action} takes longer than a call, so the run {id} carries it out ({status}); nothing needs to be called again. \
         GET /runs/{id} says how it stands, GET /runs/{id}/events how far it is and what it gives, \
         POST /runs/{id}/abort stops it."
    );
    let mut result = done(serde_json::to_value(UnderWay::of(run, action)).unwrap_or_default());
    result.content.push(ContentBlock::text(text));
    result
}

/// A result as data and, for clients that know only text, as text.
fn done(output: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(output.to_string())]);
    result.structured_content = Some(output);
    result
}

fn text(problem: &Problem) -> String {
    let mut text = format!("{} [{}]", problem.detail, problem.code.as_str());
    for fault in &problem.errors {
        let at = if fault.pointer.is_empty() { "the input" } else { &fault.pointer };
        text.push_str(&format!("\n{at} {}", fault.detail));
    }
    text
}

fn key(value: &Value) -> Result<IdempotencyKey, String> {
    IdempotencyKey::new(value.as_str().ok_or("must be a text")?)
}
