//! The knobs, as plain data.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// One function. Start from [`Function::new`] and change what matters.
#[derive(Debug, Clone)]
pub struct Function {
    pub name: String,
    /// The executable that speaks the Runtime API.
    pub bootstrap: PathBuf,
    /// Its environment, over the variables that Lambda sets. Nothing is inherited from this process but `PATH`.
    pub env: BTreeMap<String, String>,
    pub memory_mb: u32,
    /// The process is killed this long after an invocation was handed to it.
    pub timeout: Duration,
    /// The process is killed when it has not asked for its first invocation by then.
    pub init_timeout: Duration,
    /// How many processes there may be at once: the reserved concurrency. 0 throttles everything.
    pub max_processes: usize,
    /// How many invocations one process has at a time. Above 1 it is one of Lambda Managed Instances: the first one is
    /// kept for all, it is not stopped in between, and not killed at a deadline.
    pub concurrency: usize,
    /// Whether a process is stopped (SIGSTOP) between its invocations.
    pub freeze: bool,
    /// Whether the function has a Function URL.
    pub url: bool,
    pub queue: Queue,
}

impl Function {
    /// A function as `template.yaml` has them, without a URL.
    pub fn new(name: impl Into<String>, bootstrap: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            bootstrap: bootstrap.into(),
            env: BTreeMap::new(),
            memory_mb: 512,
            timeout: Duration::from_secs(75),
            init_timeout: Duration::from_secs(10),
            max_processes: 10,
            concurrency: 1,
            freeze: true,
            url: false,
            queue: Queue::default(),
        }
    }

    /// With one more variable of its environment.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    /// With a Function URL.
    pub fn with_url(mut self) -> Self {
        self.url = true;
        self
    }
}

/// How asynchronous invocations are tried again.
#[derive(Debug, Clone)]
pub struct Queue {
    /// `MaximumRetryAttempts`: how often an event is delivered again after the function failed.
    pub retries: u32,
    /// `MaximumEventAgeInSeconds`: an event that could not be delivered by then has failed.
    pub max_age: Duration,
    /// The wait before the next try; Lambda takes a second to minutes.
    pub pause: Duration,
    /// The function that gets the events that were given up, as messages of SQS. Without one they are only kept for
    /// the test to look at.
    pub on_failure: Option<String>,
}

impl Default for Queue {
    fn default() -> Self {
        Self { retries: 0, max_age: Duration::from_secs(60), pause: Duration::from_millis(100), on_failure: None }
    }
}

/// What becomes of one asynchronous invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delivery {
    /// Delivered once, at once.
    #[default]
    Prompt,
    /// Accepted, and delivered after this time.
    Late(Duration),
    /// Delivered at once, and again this much later.
    Twice(Duration),
    /// Accepted, and never delivered.
    Lost,
    /// Refused with 429 before it is queued.
    Throttled,
}
