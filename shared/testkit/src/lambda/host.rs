//! The host as a test holds it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use axum::Router;
use rustix::process::Signal;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::config::{Delivery, Function};
use super::failure_queue::FailureQueue;
use super::function_url;
use super::invoke_api::{self, Target, Targets};
use super::pool::Pool;
use super::process::send;
use super::queue::EventQueue;
use super::records::{FailedEvent, Invocation, Records};

/// A running Lambda with its functions. Everything ends when it is dropped, processes included.
///
/// Functions are named by the name they were started with; a name that nobody has is a mistake in the test, and panics.
#[derive(Debug)]
pub struct LambdaHost {
    endpoint: String,
    targets: Targets,
    urls: BTreeMap<String, String>,
    /// Aborted with the set.
    _servers: JoinSet<()>,
}

impl LambdaHost {
    /// Opens the ports. Processes start when they are needed.
    pub async fn start(functions: impl IntoIterator<Item = Function>) -> anyhow::Result<Self> {
        let epoch = Instant::now();
        let mut servers = JoinSet::new();
        let (listener, endpoint) = bind().await?;
        let (mut pools, mut urls) = (BTreeMap::new(), BTreeMap::new());
        for function in functions {
            let (name, has_url) = (function.name.clone(), function.url);
            if !function.bootstrap.is_file() {
                bail!("{name}: there is no bootstrap at {}", function.bootstrap.display());
            }
            let pool = Arc::new(Pool::new(function, endpoint.clone(), Arc::new(Records::new(epoch))));
            if has_url {
                let (listener, url) = bind().await?;
                servers.spawn(serve(listener, function_url::router(Arc::clone(&pool))));
                urls.insert(name.clone(), url);
            }
            pools.insert(name, pool);
        }
        let mut targets = BTreeMap::new();
        for (name, pool) in &pools {
            let consumer = pool.function().queue.on_failure.as_ref().map(|consumer| {
                pools.get(consumer).with_context(|| format!("{name}: there is no function {consumer} for its failures"))
            });
            let failures = consumer.transpose()?.map(|consumer| FailureQueue { consumer: Arc::clone(consumer) });
            let queue = EventQueue::new(Arc::clone(pool), failures);
            targets.insert(name.clone(), Target { queue, pool: Arc::clone(pool) });
        }
        let targets = Arc::new(targets);
        servers.spawn(serve(listener, invoke_api::router(Arc::clone(&targets))));
        Ok(Self { endpoint, targets, urls, _servers: servers })
    }

    /// The Invoke API's address: `AWS_ENDPOINT_URL_LAMBDA`, which every function has in its environment.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The address of a function's URL, without a slash at the end.
    pub fn url(&self, function: &str) -> &str {
        self.urls.get(function).unwrap_or_else(|| panic!("{function} has no URL"))
    }

    /// Decides what becomes of the next events for a function, in order; those after them are delivered promptly.
    pub fn script(&self, function: &str, deliveries: impl IntoIterator<Item = Delivery>) {
        self.target(function).queue.script(deliveries);
    }

    /// Changes how many processes a function may have.
    pub fn limit(&self, function: &str, max_processes: usize) {
        self.target(function).pool.limit(max_processes);
    }

    /// `kill -9` to every process of a function that has an invocation. Returns how many there were.
    pub fn kill(&self, function: &str) -> usize {
        self.signal_busy(function, Signal::KILL)
    }

    /// Stops every process of a function in the middle of its invocation, deadlines running on.
    pub fn pause(&self, function: &str) -> usize {
        self.signal_busy(function, Signal::STOP)
    }

    /// Ends [`LambdaHost::pause`].
    pub fn resume(&self, function: &str) -> usize {
        self.signal_busy(function, Signal::CONT)
    }

    /// The processes of a function that have an invocation.
    pub fn busy(&self, function: &str) -> Vec<u32> {
        self.target(function).pool.busy()
    }

    /// The processes of a function that wait for one.
    pub fn idle(&self, function: &str) -> Vec<u32> {
        self.target(function).pool.idle()
    }

    /// Every invocation of a function so far, in the order they were handed over.
    pub fn invocations(&self, function: &str) -> Vec<Invocation> {
        self.target(function).pool.records().invocations()
    }

    /// The events of a function that were given up.
    pub fn failed_events(&self, function: &str) -> Vec<FailedEvent> {
        self.target(function).pool.records().failed()
    }

    /// What a function's processes wrote to stdout and stderr; with `LAMBDA_HOST_LOG` set it is shown as it comes.
    pub fn log(&self, function: &str) -> Vec<String> {
        self.target(function).pool.records().log()
    }

    fn signal_busy(&self, function: &str, signal: Signal) -> usize {
        let busy = self.busy(function);
        for pid in &busy {
            send(*pid, signal);
        }
        busy.len()
    }

    fn target(&self, function: &str) -> &Target {
        self.targets.get(function).unwrap_or_else(|| panic!("there is no function {function}"))
    }
}

impl Drop for LambdaHost {
    fn drop(&mut self) {
        for target in self.targets.values() {
            target.pool.shut_down();
        }
    }
}

async fn bind() -> anyhow::Result<(TcpListener, String)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    Ok((listener, address))
}

/// Ends only with the host.
async fn serve(listener: TcpListener, router: Router) {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    drop(axum::serve(listener, service).await);
}
