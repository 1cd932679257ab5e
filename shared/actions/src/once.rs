//! A call that was sent with an idempotency key: one effect and one outcome, however often and wherever it is sent.
//!
//! The first request stores an intent and carries the call out, with signs of life beside the work. Others wait for
//! the outcome. One that sees no sign of life for a lease takes the intent, and goes on by the effect: what may run
//! again does, with the same key and from the last checkpoint; of an external effect nobody knows. Taking it too early
//! does no harm, as the outcome is put once, whoever is right.

use serde_json::Value;
use sha2::{Digest, Sha256};
use tandem_protocol::Principal;
use tandem_store::{Intent, IntentKey, Outcome, Slot, Store, StoreError, new_id};
use tokio::time::{Duration, Instant, sleep};

use crate::context::digest;
use crate::order::in_order;
use crate::run::{self, Job};
use crate::settle::result_of;
use crate::{ActionError, IdempotencyKey, Once};

/// Pause between two looks at the outcome, at first and at most.
const LOOK: Duration = Duration::from_millis(20);
const MAX_LOOK: Duration = Duration::from_millis(400);

/// Carries the call out, or waits for whoever does. `job` has no place for its outcome yet.
pub(crate) async fn call(mut job: Job, input: Value, once: &Once) -> Result<Value, ActionError> {
    let store = job.call.store.clone();
    let key = intent_key(&job.call.principal, job.def.options.name, &once.key);
    let mine = Intent { input: canonical(&input), started_at: job.call.started_at, holder: new_id(), beat: 0 };
    let intent = match intend(&store, &key, &mine).await? {
        None => mine,
        Some(theirs) => match wait(&job, once, &key, theirs, mine.holder).await? {
            Waited::Settled(outcome) => return result_of(outcome),
            Waited::Taken(intent) if job.effect().may_run_again() => intent,
            Waited::Taken(intent) => {
                return result_of(store.put_outcome(&slot(&key, &intent), &Outcome::Unknown).await?);
            }
        },
    };
    job.slot = Some(slot(&key, &intent));
    // The other side must be able to tell two people's equal keys apart, and two tenants'.
    let person = digest([key.tenant.as_str(), &key.digest]);
    job.call.idempotency_key = format!("{person}/{}", intent.started_at);
    job.call.started_at = intent.started_at;
    let mut held = Held { store, key, intent };
    let result = tokio::select! {
        result = run::run(job, input) => result,
        never = held.keep(once.heartbeat) => match never {},
    };
    if let Err(ActionError::Cancelled | ActionError::Store(_)) = &result {
        held.leave().await;
    }
    result
}

/// A name of the one call that a person's key means, until the key expires; afterwards it means a new call, and has a new
/// name. For calls that others carry out: nobody waits for them here.
pub async fn call_named(
    store: &Store,
    principal: &Principal,
    action: &str,
    key: &IdempotencyKey,
    input: &Value,
    now: i64,
) -> Result<String, ActionError> {
    let key = intent_key(principal, action, key);
    let mine = Intent { input: canonical(input), started_at: now, holder: new_id(), beat: 0 };
    let intent = intend(store, &key, &mine).await?.unwrap_or(mine);
    // Unlike a slot it is not beside the tenant.
    Ok(digest([key.tenant.as_str(), &name(&key, &intent)]))
}

fn intent_key(principal: &Principal, action: &str, key: &IdempotencyKey) -> IntentKey {
    let names = [principal.user.as_str(), action, key.as_str()];
    IntentKey { tenant: principal.tenant.clone(), digest: digest(names) }
}

/// Stores the intent; gives the one of the same call that is there already.
async fn intend(store: &Store, key: &IntentKey, mine: &Intent) -> Result<Option<Intent>, ActionError> {
    match store.put_intent(key, mine).await? {
        Some(theirs) if theirs.input != mine.input => Err(ActionError::KeyReused),
        found => Ok(found),
    }
}

/// Where the outcome is stored: a key that is used again after it has expired has another one.
fn slot(key: &IntentKey, intent: &Intent) -> Slot {
    Slot::Key { tenant: key.tenant.clone(), digest: name(key, intent) }
}

fn name(key: &IntentKey, intent: &Intent) -> String {
    digest([key.digest.as_str(), &intent.started_at.to_string()])
}

/// What came of waiting.
enum Waited {
    Settled(Outcome),
    /// Nobody carried the call out any more; now we do.
    Taken(Intent),
}

/// Waits until the call has an outcome, or whoever carries it out is gone.
async fn wait(
    job: &Job,
    once: &Once,
    key: &IntentKey,
    mut seen: Intent,
    holder: String,
) -> Result<Waited, ActionError> {
    let (call, slot) = (&job.call, slot(key, &seen));
    let until = call.deadline.min(Instant::now() + job.def.options.timeout + once.lease);
    let every = once.heartbeat.min(once.lease / 3);
    let (mut alive_at, mut look_at, mut pause) = (Instant::now(), Instant::now() + every, LOOK);
    loop {
        if let Some(outcome) = call.store.outcome(&slot).await? {
            return Ok(Waited::Settled(outcome));
        }
        if seen.holder.is_empty() || alive_at.elapsed() >= once.lease {
            let next = Intent { holder: holder.clone(), beat: seen.beat + 1, ..seen.clone() };
            if call.store.move_intent(key, &seen, &next).await? {
                return Ok(Waited::Taken(next));
            }
            look_at = Instant::now();
        }
        if Instant::now() + pause >= until {
            return Err(ActionError::InProgress);
        }
        tokio::select! {
            () = call.cancel.cancelled() => return Err(ActionError::Cancelled),
            () = sleep(pause) => pause = (pause * 2).min(MAX_LOOK),
        }
        if Instant::now() >= look_at {
            look_at = Instant::now() + every;
            // Gone, or a later call with the same key: this one is over.
            let now = call.store.intent(key).await?.filter(|now| now.started_at == seen.started_at);
            let now = now.ok_or(ActionError::InProgress)?;
            if (now.beat, &now.holder) != (seen.beat, &seen.holder) {
                (seen, alive_at) = (now, Instant::now());
            }
        }
    }
}

/// An intent that this call carries out.
struct Held {
    store: Store,
    key: IntentKey,
    intent: Intent,
}

impl Held {
    /// Gives signs of life for ever, or until the intent is somebody else's.
    async fn keep(&mut self, heartbeat: Duration) -> std::convert::Infallible {
        loop {
            sleep(heartbeat).await;
            let next = Intent { beat: self.intent.beat + 1, ..self.intent.clone() };
            match self.store.move_intent(&self.key, &self.intent, &next).await {
                Ok(true) => self.intent = next,
                // The work goes on: its outcome is put once, by whoever is first.
                Ok(false) => std::future::pending().await,
                Err(error) => tracing::warn!(%error, "a sign of life could not be stored"),
            }
        }
    }

    /// Lets the next request go on at once. It is only faster than a lease, so a failure does not matter.
    async fn leave(mut self) {
        if let Err(error) = self.try_leave().await {
            tracing::warn!(%error, "an intent could not be left");
        }
    }

    async fn try_leave(&mut self) -> Result<(), StoreError> {
        loop {
            let next = Intent { holder: String::new(), beat: self.intent.beat + 1, ..self.intent.clone() };
            if self.store.move_intent(&self.key, &self.intent, &next).await? {
                return Ok(());
            }
            // Somebody has taken it, or a sign of life of ours was on its way when the work ended.
            match self.store.intent(&self.key).await? {
                Some(now) if now.holder == self.intent.holder && now.beat > self.intent.beat => self.intent = now,
                _ => return Ok(()),
            }
        }
    }
}

/// A digest of the whole input in which the order of fields does not matter.
fn canonical(input: &Value) -> String {
    hex::encode(Sha256::digest(in_order(input)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_fields_does_not_make_another_input() {
        let input = |text: &str| canonical(&serde_json::from_str(text).unwrap());
        assert_eq!(input(r#"{"a":1,"b":{"c":2,"d":[3,null]}}"#), input(r#"{"b":{"d":[3,null],"c":2},"a":1}"#));
        let long = |end: &str| canonical(&json!({"text": "x".repeat(10_240) + end}));
        assert_ne!(long("y"), long("z"));
        for (a, b) in [(json!([1, 2]), json!([2, 1])), (json!({"a": "1"}), json!({"a": 1})), (json!([[]]), json!([]))] {
            assert_ne!(canonical(&a), canonical(&b));
        }
    }
}
