//! The proxy: counts what one process asks of the store, and breaks what the plans say.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::server::{Upstream, serve};
use super::{At, Fault, Latency, Operation, Plan};

/// One call of the process, in the order of arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its number among all calls, from 1.
    pub call: u64,
    /// Its number among the writes, if it is one.
    pub write: Option<u64>,
    pub operation: Operation,
    /// What a plan did to it.
    pub fault: Option<Fault>,
}

/// What becomes of a call after a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It goes on: to the store, or back to the process.
    GoOn,
    /// The connection is closed.
    Close,
}

/// Called at a planned place, with the call that stands there.
pub type Hook = Arc<dyn Fn(Call) -> Pin<Box<dyn Future<Output = Then> + Send>> + Send + Sync>;

/// A DynamoDB endpoint on a loopback port that passes everything on to another one, until a plan says otherwise.
/// It is gone when this is dropped.
#[derive(Debug)]
pub struct Proxy {
    url: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// `upstream`: `http://host:port` of the engine.
    pub async fn open(upstream: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared::default());
        let task = tokio::spawn(serve(listener, Upstream::new(upstream), Arc::clone(&shared)));
        Ok(Proxy { url, shared, task })
    }

    /// The endpoint for the process that is watched.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Adds something that is to go wrong.
    pub fn plan(&self, plan: Plan) {
        self.shared.state().plans.push(plan);
    }

    /// From now on every call meets the fault, for a while.
    pub fn break_for(&self, what: Fault, lasts: Duration) {
        self.shared.state().lasting.push((what, Instant::now() + lasts));
    }

    /// From now on every call takes longer, as it would to a store that is not on this machine.
    pub fn slow(&self, latency: Latency) {
        self.shared.state().latency = Some(latency);
    }

    /// What [`Fault::Hook`] calls.
    pub fn on_hook<F>(&self, hook: impl Fn(Call) -> F + Send + Sync + 'static)
    where
        F: Future<Output = Then> + Send + 'static,
    {
        self.shared.state().hook = Some(Arc::new(move |call| Box::pin(hook(call))));
    }

    /// Counts from 1 again; no plans, no hook, no trace, no latency. Calls under way go on as they were.
    pub fn reset(&self) {
        *self.shared.state() = State::default();
    }

    /// The calls so far.
    pub fn trace(&self) -> Vec<Call> {
        self.shared.state().trace.clone()
    }

    /// The number of writes so far.
    pub fn writes(&self) -> u64 {
        self.shared.state().writes()
    }

    /// Whether a plan has broken anything so far.
    pub fn has_struck(&self) -> bool {
        self.shared.state().trace.iter().any(|call| call.fault.is_some())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Default)]
pub(super) struct Shared(Mutex<State>);

#[derive(Default)]
struct State {
    trace: Vec<Call>,
    plans: Vec<Plan>,
    /// What breaks everything at the moment, and until when.
    lasting: Vec<(Fault, Instant)>,
    hook: Option<Hook>,
    latency: Option<Latency>,
}

impl Shared {
    /// Counts a call, and says what is to happen to it.
    pub(super) fn arrived(&self, operation: Operation) -> (Call, Option<Hook>) {
        let mut state = self.state();
        let call = state.trace.len() as u64 + 1;
        let write = operation.is_write().then(|| state.writes() + 1);
        let fault = state.fault(call, write);
        let call = Call { call, write, operation, fault };
        state.trace.push(call.clone());
        (call, state.hook.clone())
    }

    /// What the next call takes longer.
    pub(super) fn latency(&self) -> Option<Duration> {
        self.state().latency.as_mut().map(Latency::sample)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn writes(&self) -> u64 {
        self.trace.iter().rev().find_map(|call| call.write).unwrap_or(0)
    }

    fn fault(&mut self, call: u64, write: Option<u64>) -> Option<Fault> {
        let here = |plan: &Plan| match plan.at {
            At::Call(k) => k == call,
            At::Write(k) => Some(k) == write,
        };
        let now = Instant::now();
        let planned = self.plans.iter().copied().find(here);
        if let Some(plan) = planned.filter(|plan| !plan.lasts.is_zero()) {
            self.lasting.push((plan.what, now + plan.lasts));
        }
        let lasting = self.lasting.iter().find(|(_, until)| now < *until).map(|(what, _)| *what);
        planned.map(|plan| plan.what).or(lasting)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        f.debug_struct("Shared").field("calls", &state.trace.len()).field("plans", &state.plans).finish()
    }
}
