//! The processes of one function: which is free, how many there may be, and what each is doing.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use rustix::process::Signal;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::config::Function;
use super::instance::{self, Instance};
use super::payload::{Fault, Job, Reply, ReplyTo};
use super::process::{Process, send};
use super::records::{Invoker, Outcome, Records, locked};

/// A process that has answered asks for more a moment later. Waiting for it lets calls in a row have one process, as
/// on Lambda, where the next call takes longer to arrive.
const TURNAROUND: Duration = Duration::from_millis(20);

/// The function has as many processes as it may have, and all are busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Throttled;

/// One function's processes.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) function: Function,
    pub(super) invoke_endpoint: String,
    pub(super) records: Arc<Records>,
    state: Mutex<State>,
    freed: Notify,
    /// The way to the one process that has several invocations at a time, once there is one.
    pub(super) instance: tokio::sync::Mutex<Option<Instance>>,
}

#[derive(Debug)]
struct State {
    max_processes: usize,
    /// The most recently used one is last, and used first, as on Lambda.
    idle: Vec<Process>,
    /// The processes that have an invocation.
    busy: Vec<u32>,
    starting: usize,
}

impl Pool {
    pub(super) fn new(function: Function, invoke_endpoint: String, records: Arc<Records>) -> Self {
        let max_processes = function.max_processes;
        let state = Mutex::new(State { max_processes, idle: Vec::new(), busy: Vec::new(), starting: 0 });
        Self { function, invoke_endpoint, records, state, freed: Notify::new(), instance: Default::default() }
    }

    /// Hands the payload to a free process, or to a new one, and returns when the response begins.
    pub(super) async fn invoke(
        self: &Arc<Self>,
        id: String,
        invoker: Invoker,
        payload: Bytes,
    ) -> Result<Reply, Throttled> {
        if self.function.concurrency > 1 {
            return instance::invoke(self, id, invoker, payload).await;
        }
        if self.all_busy() {
            drop(timeout(TURNAROUND, self.freed.notified()).await);
        }
        let free = self.check_out()?;
        let (reply, answered) = ReplyTo::new();
        let pool = Arc::clone(self);
        tokio::spawn(async move { pool.carry_out(free, id, invoker, payload, reply).await });
        let no_answer = |_| Reply::Fault(Fault::new("Runtime.NoResponse", "the runtime gave no response"));
        Ok(answered.await.unwrap_or_else(no_answer))
    }

    pub(super) fn function(&self) -> &Function {
        &self.function
    }

    pub(super) fn records(&self) -> &Arc<Records> {
        &self.records
    }

    /// Idle processes beyond the new limit go at once, busy ones after their invocation.
    pub(super) fn limit(&self, max_processes: usize) {
        let mut state = locked(&self.state);
        state.max_processes = max_processes;
        state.idle.truncate(max_processes);
    }

    /// The processes that have an invocation.
    pub(super) fn busy(&self) -> Vec<u32> {
        locked(&self.state).busy.clone()
    }

    /// The processes that wait for one.
    pub(super) fn idle(&self) -> Vec<u32> {
        locked(&self.state).idle.iter().map(|process| process.pid).collect()
    }

    /// Kills every process and starts no more.
    pub(super) fn shut_down(&self) {
        let mut state = locked(&self.state);
        state.max_processes = 0;
        state.idle.clear();
        // Where somebody has it, it ends with the pool.
        drop(self.instance.try_lock().map(|mut instance| instance.take()));
        for pid in &state.busy {
            send(*pid, Signal::KILL);
        }
    }

    /// When an invocation that begins now is over time, in milliseconds since 1970.
    pub(super) fn deadline_ms(&self) -> u128 {
        let deadline = SystemTime::now() + self.function.timeout;
        deadline.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis()
    }

    fn all_busy(&self) -> bool {
        let state = locked(&self.state);
        state.idle.is_empty() && !state.busy.is_empty()
    }

    /// A free process, or leave to start one.
    fn check_out(&self) -> Result<Option<Process>, Throttled> {
        let mut state = locked(&self.state);
        // A process that died while it was idle is replaced, and nobody hears of it.
        state.idle.retain_mut(Process::is_alive);
        if state.busy.len() + state.starting >= state.max_processes {
            return Err(Throttled);
        }
        match state.idle.pop() {
            Some(process) => {
                state.busy.push(process.pid);
                Ok(Some(process))
            }
            None => {
                state.starting += 1;
                Ok(None)
            }
        }
    }

    async fn carry_out(&self, free: Option<Process>, id: String, invoker: Invoker, payload: Bytes, reply: ReplyTo) {
        let process = match free {
            Some(process) => process,
            None => match self.start().await {
                Ok(process) => process,
                Err(fault) => return reply.send(Reply::Fault(fault)),
            },
        };
        process.thaw();
        let record = self.records.start(&id, invoker, process.pid);
        let deadline_ms = self.deadline_ms();
        process.api.hand(Job { id, payload, deadline_ms, reply, ended: None });
        let outcome = self.finish(process).await;
        self.records.end(record, outcome);
    }

    async fn start(&self) -> Result<Process, Fault> {
        let started = Process::start(&self.function, &self.invoke_endpoint, &self.records).await;
        let mut state = locked(&self.state);
        state.starting -= 1;
        if let Ok(process) = &started {
            state.busy.push(process.pid);
        }
        started
    }

    /// An invocation lasts until its process asks for more, whenever its response was sent.
    async fn finish(&self, mut process: Process) -> Outcome {
        let (fault, outcome) = match timeout(self.function.timeout, process.done()).await {
            Ok(Ok(())) => {
                let outcome = process.api.outcome();
                self.check_in(process);
                return outcome;
            }
            Ok(Err(fault)) => (fault, Outcome::Died),
            Err(_) => {
                process.kill().await;
                let seconds = self.function.timeout.as_secs_f64();
                (
                    Fault::new("Sandbox.Timedout", format!("Task timed out after {seconds:.2} seconds")),
                    Outcome::TimedOut,
                )
            }
        };
        self.forget(process.pid);
        if let Some(reply) = process.api.take_reply() {
            reply.send(Reply::Fault(fault));
        }
        outcome
    }

    fn check_in(&self, process: Process) {
        self.forget(process.pid);
        let mut state = locked(&self.state);
        if state.idle.len() + state.busy.len() + state.starting >= state.max_processes {
            return; // The limit was lowered: this process is one too many, and dropping it kills it.
        }
        if self.function.freeze {
            process.freeze();
        }
        state.idle.push(process);
        self.freed.notify_waiters();
    }

    /// One more invocation of a process that has several.
    pub(super) fn begin_one(&self, pid: u32) {
        locked(&self.state).busy.push(pid);
    }

    pub(super) fn end_one(&self, pid: u32) {
        let busy = &mut locked(&self.state).busy;
        if let Some(at) = busy.iter().position(|busy| *busy == pid) {
            busy.swap_remove(at);
        }
    }

    fn forget(&self, pid: u32) {
        locked(&self.state).busy.retain(|busy| *busy != pid);
    }
}
