//! A dispatch that fails, slowly or in part: the run has one holder all the same.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tandem_auth::SignedDispatch;
use tandem_protocol::{AttemptReason, HolderKind};
use tandem_runs::{Config, Dispatch, DispatchError, Driven, Processed, Runtime};
use tokio::task::JoinHandle;

use crate::harness::{World, assert_whole, attempts, patient, runtime_on};

/// A background that answers too late, or never.
enum Slow {
    Refuses(Duration),
    Silent,
}

#[async_trait::async_trait]
impl Dispatch for Slow {
    async fn dispatch(&self, _: &SignedDispatch) -> Result<(), DispatchError> {
        match self {
            Slow::Refuses(after) => tokio::time::sleep(*after).await,
            Slow::Silent => std::future::pending().await,
        }
        Err(DispatchError("too many requests".into()))
    }
}

/// So long that whoever waits for it has overlooked the refusal.
fn long_grace() -> Config {
    Config { claim_grace: Duration::from_secs(300), foreground_soft_timeout: Duration::from_secs(300), ..patient() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatch_that_is_refused_late_or_never_answered_leaves_the_run_to_the_foreground() {
    for slow in [Slow::Refuses(Duration::from_secs(3)), Slow::Silent] {
        let world = World::new(patient()).await;
        let run = world.start("hello").await;
        let runtime = runtime_on(world.store.clone(), long_grace(), 50, Arc::new(slow));
        let began = Instant::now();
        runtime.attend(run.clone(), None).join().await;
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
        let log = world.log(&run.run_id).await;
        assert_whole(&log);
        assert_eq!(attempts(&log), [(1, HolderKind::Foreground, AttemptReason::Reclaimed)]);
    }
}

/// A way to the background that delivers, and loses the answer.
struct Lossy {
    background: Runtime,
    working: Mutex<Option<JoinHandle<Processed>>>,
}

#[async_trait::async_trait]
impl Dispatch for Lossy {
    async fn dispatch(&self, dispatch: &SignedDispatch) -> Result<(), DispatchError> {
        let (background, verified) = (self.background.clone(), self.background.verify(dispatch).unwrap());
        let run = verified.run().clone();
        let working = tokio::spawn(async move { background.process(&verified, None).await.unwrap() });
        *self.working.lock().unwrap() = Some(working);
        while self.background.store().run(&run).await.unwrap().unwrap().attempt == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Err(DispatchError("the connection was reset".into()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatch_whose_answer_is_lost_is_carried_out_once() {
    let world = World::new(patient()).await;
    let run = world.start("/list-emails {}\n\n@say 5 every 10ms").await;
    let lossy = Arc::new(Lossy { background: world.elsewhere(patient()), working: Mutex::default() });
    let foreground = runtime_on(world.store.clone(), long_grace(), 50, lossy.clone());
    foreground.attend(run.clone(), None).join().await;
    let working = lossy.working.lock().unwrap().take().unwrap();
    let processed = working.await.unwrap();
    assert!(matches!(processed, Processed::Driven(Driven::Ended(_))), "{processed:?}");
    let log = world.log(&run.run_id).await;
    assert_whole(&log);
    assert_eq!(attempts(&log), [(1, HolderKind::Background, AttemptReason::Claimed)]);
}
