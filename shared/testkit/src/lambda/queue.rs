//! The queue behind asynchronous invocations.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep};

use super::config::Delivery;
use super::payload::Reply;
use super::pool::{Pool, Throttled};
use super::records::{FailedEvent, Invoker, locked};

/// Accepts events for one function and delivers them, each as its script says.
#[derive(Debug)]
pub(super) struct EventQueue {
    pool: Arc<Pool>,
    script: Mutex<VecDeque<Delivery>>,
}

impl EventQueue {
    pub(super) fn new(pool: Arc<Pool>) -> Self {
        Self { pool, script: Mutex::default() }
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
            let pool = Arc::clone(&self.pool);
            tokio::spawn(async move {
                sleep(delay).await;
                event.deliver(&pool).await;
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
    /// Tries until the function has succeeded, failed too often, or the event is too old.
    async fn deliver(self, pool: &Arc<Pool>) {
        let queue = &pool.function().queue;
        let mut failures = 0;
        loop {
            if self.accepted.elapsed() > queue.max_age {
                return self.fail(pool, "EventAgeExceeded");
            }
            match self.attempt(pool).await {
                Attempt::Succeeded => return,
                Attempt::Failed => failures += 1,
                Attempt::Throttled => {}
            }
            if failures > queue.retries {
                return self.fail(pool, "RetriesExhausted");
            }
            sleep(queue.pause).await;
        }
    }

    /// Nobody reads the response; it only has to be complete.
    async fn attempt(&self, pool: &Arc<Pool>) -> Attempt {
        match pool.invoke(self.id.clone(), Invoker::Event, self.payload.clone()).await {
            Err(Throttled) => Attempt::Throttled,
            Ok(Reply::Fault(_)) => Attempt::Failed,
            Ok(Reply::Response { body, .. }) => match body.collect().await {
                Ok(_) => Attempt::Succeeded,
                Err(_) => Attempt::Failed,
            },
        }
    }

    fn fail(self, pool: &Pool, condition: &'static str) {
        pool.records().fail(FailedEvent { id: self.id, payload: self.payload, condition });
    }
}

/// What came of one delivery.
enum Attempt {
    Succeeded,
    Failed,
    Throttled,
}
