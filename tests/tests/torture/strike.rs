//! One fault at one write, and what must be done about it: restart who was killed, wake who sleeps.

use std::sync::Arc;
use std::time::Duration;

use tandem_testkit::faults::{At, Call, Fault, Moment, Plan, Then};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep};

use crate::checks::attempts;
use crate::faults::How;
use crate::setting::{LEASE_MS, Victim};
use crate::world::World;

/// A sleeper sleeps longer than its lease, and until it is displaced; not for ever, as it may have held nothing.
const ASLEEP_AT_LEAST: Duration = Duration::from_millis(LEASE_MS * 3 / 2);
const ASLEEP_AT_MOST: Duration = Duration::from_millis(LEASE_MS * 6);

/// A fault that is armed in a world.
#[derive(Debug)]
pub(crate) struct Strike<'a> {
    world: &'a World,
    victim: Victim,
    how: How,
    struck: mpsc::UnboundedReceiver<Call>,
    /// Lets the write that waits in the proxy go on.
    release: Arc<Notify>,
}

impl<'a> Strike<'a> {
    /// `k`: the write, counted from now on.
    pub(crate) fn arm(world: &'a World, victim: Victim, how: How, k: u64) -> Self {
        let (tell, struck) = mpsc::unbounded_channel();
        let release = Arc::new(Notify::new());
        let worker = world.victim(victim);
        match how {
            How::Kill(moment) => {
                let process = worker.handle();
                worker.proxy.on_hook(move |call| {
                    process.lock().unwrap().kill();
                    let _ = tell.send(call);
                    async { Then::Close }
                });
                worker.proxy.plan(Plan::once(At::Write(k), Fault::Hook(moment)));
            }
            How::Sleep(moment) => {
                let (process, released) = (worker.handle(), Arc::clone(&release));
                worker.proxy.on_hook(move |call| {
                    process.lock().unwrap().freeze();
                    let _ = tell.send(call);
                    let released = Arc::clone(&released);
                    async move {
                        if moment == Moment::Before {
                            released.notified().await;
                        }
                        Then::GoOn
                    }
                });
                worker.proxy.plan(Plan::once(At::Write(k), Fault::Hook(moment)));
            }
            How::Store(fault, lasts) => worker.proxy.plan(Plan::during(At::Write(k), fault, lasts)),
            How::StoreForAll(..) => {
                let released = Arc::clone(&release);
                worker.proxy.on_hook(move |call| {
                    let _ = tell.send(call);
                    let released = Arc::clone(&released);
                    async move {
                        released.notified().await;
                        Then::Close
                    }
                });
                worker.proxy.plan(Plan::once(At::Write(k), Fault::Hook(Moment::Before)));
            }
        }
        Strike { world, victim, how, struck, release }
    }

    /// Sees to the victim until `done`, which does not need this to go on.
    pub(crate) async fn see_through<T>(
        &mut self,
        runs: &watch::Receiver<Vec<String>>,
        done: impl Future<Output = T>,
    ) -> T {
        let mut done = std::pin::pin!(done);
        loop {
            tokio::select! {
                result = &mut done => return result,
                Some(call) = self.struck.recv() => self.attend_to_victim(&call, runs).await,
            }
        }
    }

    /// Leaves everybody alive and awake.
    pub(crate) async fn finish(mut self, runs: &watch::Receiver<Vec<String>>) {
        self.world.calm().await;
        while let Ok(call) = self.struck.try_recv() {
            self.attend_to_victim(&call, runs).await;
        }
        self.world.calm().await;
    }

    async fn attend_to_victim(&self, call: &Call, runs: &watch::Receiver<Vec<String>>) {
        match self.how {
            How::Kill(_) => self.world.victim(self.victim).restart().await,
            How::Sleep(_) => {
                self.world.lead_around(self.victim);
                let known = || run_of(call).or_else(|| runs.borrow().last().cloned());
                self.displaced(known).await;
                // First the late write, then its writer.
                self.release.notify_one();
                sleep(Duration::from_millis(50)).await;
                self.world.victim(self.victim).handle().lock().unwrap().thaw();
                self.world.open_road();
            }
            How::StoreForAll(fault, lasts) => {
                self.world.proxies().for_each(|proxy| proxy.break_for(fault, lasts));
                self.release.notify_one();
            }
            How::Store(..) => {}
        }
    }

    /// Waits until somebody else has taken the log of the run, or it has ended.
    async fn displaced(&self, known: impl Fn() -> Option<String>) {
        let began = Instant::now();
        let before = match known() {
            Some(run) => attempts(&self.world.store.run(&run).await),
            None => 0,
        };
        while began.elapsed() < ASLEEP_AT_MOST {
            sleep(Duration::from_millis(25)).await;
            let Some(run) = known() else { continue };
            let (holder, ended) = self.world.store.holder(&run).await;
            if began.elapsed() >= ASLEEP_AT_LEAST && (holder > before || ended) {
                return;
            }
        }
    }
}

/// The run that a write is about, if its keys tell.
fn run_of(call: &Call) -> Option<String> {
    let partition = |key: &String| Some(key.strip_prefix("RUN#")?.split(' ').next()?.to_owned());
    call.operation.keys.iter().find_map(partition)
}
