//! The queue behind asynchronous invocations.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep};

use super::config::Delivery;
use super::failure_queue::FailureQueue;
use super::payload::{Fault, Reply};
use super::pool::{Pool, Throttled};
use super::records::{FailedEvent, Invoker, locked};

/// Accepts events for one function and delivers them, each as its script says.
#[derive(Debug)]
pub(super) struct EventQueue {
    pool: Arc<Pool>,
    failures: Option<FailureQueue>,
    script: Mutex<VecDeque<Delivery>>,
}

impl EventQueue {
    pub(super) fn new(pool: Arc<Pool>, failures: Option<FailureQueue>) -> Self {
        Self { pool, failures, script: Mutex::default() }
    }

    /// Decides what becomes of the next events, in order.
    pub(super) fn script(&self, deliveries: impl IntoIterator<Item = Delivery>) {
        locked(&self.script).extend(deliveries);
    }

    /// Returns at once: the event is queued.
    pub(super) fn accept(&self, id: &str, payload: &Bytes) -> Result<(), Throttled> {
        let delivery = locked(&self.script).pop_front().unwrap_or_default();
        let deliver = |delay: Duration| {
            let event = Event { id: id.to_owned(), payload: payload.clone(), accepted: Instant::now() };
            let (pool, failures) = (Arc::clone(&self.pool), self.failures.clone());
            tokio::spawn(async move {
                sleep(delay).await;
                let Some(given_up) = event.deliver(&pool).await else { return };
                pool.records().fail(given_up.event.clone());
                if let Some(failures) = failures {
                    let GivenUp { event, invoked, fault } = given_up;
                    failures.deliver(&pool.function().name, &event, invoked, fault.as_ref()).await;
                }
            });
        };
        match delivery {
            Delivery::Prompt => deliver(Duration::ZERO),
            Delivery::Late(delay) => deliver(delay),
            Delivery::Twice(apart) => {
                deliver(Duration::ZERO);
                deliver(apart);
            }
            Delivery::Lost => {}
            Delivery::Throttled => return Err(Throttled),
        }
        Ok(())
    }
}

struct Event {
    id: String,
    payload: Bytes,
    accepted: Instant,
}

impl Event {
    /// Tries until the function has succeeded (`None`), failed too often, or the event is too old.
    async fn deliver(self, pool: &Arc<Pool>) -> Option<GivenUp> {
        let queue = &pool.function().queue;
        let (mut invoked, mut fault) = (0, None);
        let condition = loop {
            if self.accepted.elapsed() > queue.max_age {
                break "EventAgeExceeded";
            }
            match self.attempt(pool).await {
                Attempt::Succeeded => return None,
                Attempt::Failed(why) => {
                    invoked += 1;
                    fault = Some(why);
                }
                Attempt::Throttled => {}
            }
            if invoked > queue.retries {
                break "RetriesExhausted";
            }
            sleep(queue.pause).await;
        };
        Some(GivenUp { event: FailedEvent { id: self.id, payload: self.payload, condition }, invoked, fault })
    }

    /// Nobody reads the response; it only has to be complete.
    async fn attempt(&self, pool: &Arc<Pool>) -> Attempt {
        match pool.invoke(self.id.clone(), Invoker::Event, self.payload.clone()).await {
            Err(Throttled) => Attempt::Throttled,
            Ok(Reply::Fault(fault)) => Attempt::Failed(fault),
            Ok(Reply::Response { body, .. }) => match body.collect().await {
                Ok(_) => Attempt::Succeeded,
                Err(cut) => Attempt::Failed(Fault::new("Runtime.StreamError", cut.to_string())),
            },
        }
    }
}

/// What came of one delivery.
enum Attempt {
    Succeeded,
    Failed(Fault),
    Throttled,
}

/// An event that nobody tries again.
struct GivenUp {
    event: FailedEvent,
    invoked: u32,
    /// What the function answered at last.
    fault: Option<Fault>,
}
