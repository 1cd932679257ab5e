//! One process with several invocations at a time, as Lambda Managed Instances have them: it is not frozen in between,
//! and what is over time goes on.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::payload::{Fault, Job, Reply, ReplyTo};
use super::pool::{Pool, Throttled};
use super::process::Process;
use super::records::{Invoker, Outcome};

/// The way to the process.
#[derive(Debug)]
pub(super) struct Instance {
    pid: u32,
    jobs: mpsc::UnboundedSender<Job>,
}

/// Hands the payload to the process, and returns when the response begins.
pub(super) async fn invoke(pool: &Arc<Pool>, id: String, invoker: Invoker, payload: Bytes) -> Result<Reply, Throttled> {
    let (pid, jobs) = match instance(pool).await {
        Ok(found) => found,
        Err(fault) => return Ok(Reply::Fault(fault)),
    };
    // Nobody else asks for work: who comes now is refused, as there.
    if pool.busy().len() >= pool.function.concurrency {
        return Err(Throttled);
    }
    pool.begin_one(pid);
    let record = pool.records.start(&id, invoker, pid);
    let ((reply, answered), (ended, end)) = (ReplyTo::new(), oneshot::channel());
    // A process that has just died drops the job, and its caller hears of it.
    drop(jobs.send(Job { id, payload, deadline_ms: pool.deadline_ms(), reply, ended: Some(ended) }));
    let books = Arc::clone(pool);
    tokio::spawn(async move {
        let outcome = end.await.unwrap_or(Outcome::Died);
        books.records.end(record, outcome);
        books.end_one(pid);
    });
    let no_answer = |_| Reply::Fault(Fault::new("Runtime.ExitError", "the process is gone"));
    Ok(answered.await.unwrap_or_else(no_answer))
}

/// The process, which is started when there is none, or none any more.
async fn instance(pool: &Pool) -> Result<(u32, mpsc::UnboundedSender<Job>), Fault> {
    let mut found = pool.instance.lock().await;
    if let Some(Instance { pid, jobs }) = found.as_ref().filter(|instance| !instance.jobs.is_closed()) {
        return Ok((*pid, jobs.clone()));
    }
    let process = Process::start(&pool.function, &pool.invoke_endpoint, &pool.records).await?;
    let (pid, (jobs, inbox)) = (process.pid, mpsc::unbounded_channel());
    tokio::spawn(attend(process, inbox));
    *found = Some(Instance { pid, jobs: jobs.clone() });
    Ok((pid, jobs))
}

/// Keeps the process for as long as there is a way to it, or until it dies.
async fn attend(mut process: Process, mut inbox: mpsc::UnboundedReceiver<Job>) {
    loop {
        tokio::select! {
            job = inbox.recv() => match job {
                Some(job) => process.api.hand(job),
                None => return,
            },
            done = process.done() => if done.is_err() { return },
        }
    }
}
