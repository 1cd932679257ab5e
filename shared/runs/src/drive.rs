//! Driving a run: take its log, show that somebody is alive, let the agent work, and end or hand over.
//!
//! Foreground and background run this same function; they differ in how long they may take.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use tandem_agent::{Setup, TurnEnd};
use tandem_protocol::{EndReason, HolderKind, Run, RunId, Transcript};
use tandem_store::{AppendError, LogWriter, Rest, StoreError};
use tokio::time::Instant;
use tracing::Instrument;

use crate::ahead::Ahead;
use crate::end::{Ending, KnownLog};
use crate::span::attempt_span;
use crate::state::{EndBy, Event, Recovery, recovery};
use crate::take::Taken;
use crate::{Claim, Runtime};

/// How long a holder may work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The soft timeout: from here on nothing new begins, and the run is handed over.
    pub soft: Instant,
    /// From here on nothing is waited for.
    pub hard: Instant,
}

/// What became of a drive.
#[derive(Debug, Clone, PartialEq)]
pub enum Driven {
    /// The run ended here.
    Ended(Box<Run>),
    /// The time was up; the next attempt has been dispatched, or will be by whoever notices.
    HandedOver,
    /// Somebody else holds the run, or ended it: this holder stopped without a further effect.
    Displaced,
    /// The store failed; others recover the run when the lease has passed.
    Lost,
}

impl Runtime {
    /// The budget of a holder of this kind that begins now. `deadline`: when the invocation is killed.
    pub fn budget(&self, kind: HolderKind, deadline: Option<Instant>) -> Budget {
        let config = &self.0.config;
        let soft = Instant::now()
            + match kind {
                HolderKind::Foreground => config.foreground_soft_timeout,
                HolderKind::Background => config.background_soft_timeout,
            };
        let hard = soft + config.margin * 8 / 10;
        match deadline {
            None => Budget { soft, hard },
            Some(deadline) => Budget {
                soft: soft.min(deadline.checked_sub(config.margin).unwrap_or(deadline)),
                hard: hard.min(deadline.checked_sub(config.margin / 5).unwrap_or(deadline)),
            },
        }
    }

    /// The time that a holder has in all who takes over a run that is handed over.
    fn whole_budget(&self) -> Duration {
        let dispatches = self.0.dispatch.is_some();
        let next = if dispatches { HolderKind::Background } else { HolderKind::Foreground };
        self.budget(next, None).hard.saturating_duration_since(Instant::now())
    }

    /// Drives a claimed run until it ends, the time is up or somebody else has it. Never panics into the caller
    /// and never leaves a task behind.
    pub async fn drive(&self, claim: Claim, budget: Budget) -> Driven {
        let span = attempt_span(&claim.run);
        self.drive_in_span(claim, budget).instrument(span).await
    }

    async fn drive_in_span(&self, claim: Claim, budget: Budget) -> Driven {
        let id = claim.run.run_id.clone();
        let driven = match Box::pin(self.try_drive(claim, budget)).await {
            Ok(driven) => driven,
            Err(error) => {
                tracing::error!(run = %id, %error, "the store failed; the run will be recovered");
                Driven::Lost
            }
        };
        tracing::info!(run = %id, result = driven.name(), "holder stopped");
        driven
    }

    /// Whether this process holds the run now, so that an invocation that watches it must not end.
    pub fn is_driving(&self, run: &RunId) -> bool {
        self.driven().contains(run)
    }

    /// How many runs this process holds now.
    pub fn held(&self) -> usize {
        self.driven().len()
    }

    fn driven(&self) -> MutexGuard<'_, HashSet<RunId>> {
        self.0.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn try_drive(&self, mut claim: Claim, budget: Budget) -> Result<Driven, StoreError> {
        let ahead = claim.ahead.take().unwrap_or_else(|| self.read_ahead(&claim.run, None));
        let store = &self.0.store;
        let _driven = DrivenHere::new(self, &claim.run.run_id);
        let feed = store.feeds().of(&claim.run.run_id);
        let _source = feed.holder();
        let shared = Shared {
            run: Mutex::new(claim.run.clone()),
            progressed: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
        };
        // Boxed, here and below: a turn is a large future, and stacks are small.
        let work = AssertUnwindSafe(Box::pin(self.work(&claim, ahead, budget, &shared))).catch_unwind();
        tokio::select! {
            worked = work => match worked {
                Ok(worked) => worked,
                Err(_) => self.end_after_panic(&shared).await,
            },
            refused = self.heartbeats(&shared, claim.since) => {
                tracing::info!(run = %claim.run.run_id, ?refused, "the run is somebody else's");
                Ok(Driven::Displaced)
            }
        }
    }

    /// A bug ends the run with the truth: the next attempt would meet it again.
    async fn end_after_panic(&self, shared: &Shared) -> Result<Driven, StoreError> {
        let run = shared.run();
        tracing::error!(run = %run.run_id, "the turn panicked");
        let ending = Ending::Fail(EndReason::Internal, "The run failed, by a fault on our side.".into());
        let by = EndBy::Holder { attempt: run.attempt };
        Ok(match self.end(&run, by, &ending, None).await? {
            Ok(run) => Driven::Ended(Box::new(run)),
            Err(_) => Driven::Displaced,
        })
    }

    /// Takes the log, works on the turn and writes its end.
    async fn work(
        &self,
        claim: &Claim,
        mut ahead: Ahead,
        budget: Budget,
        shared: &Shared,
    ) -> Result<Driven, StoreError> {
        let frames = ahead.log().await?;
        let Some(mut taken) = self.take_log(claim, frames).await? else { return Ok(Driven::Displaced) };
        let (run, interval) = (&claim.run, self.0.config.flush_interval);
        let log = LogWriter::start(self.0.store.clone(), run.run_id.clone(), run.attempt, taken.next, interval);
        // A failure shows at the next push.
        let _ = log.push_all(std::mem::take(&mut taken.first)).await;
        let driven = self.turn(claim, ahead, taken, &log, budget, shared).await;
        log.close().await;
        driven
    }

    /// The turn itself, and its end.
    async fn turn(
        &self,
        claim: &Claim,
        mut ahead: Ahead,
        taken: Taken,
        log: &LogWriter,
        budget: Budget,
        shared: &Shared,
    ) -> Result<Driven, StoreError> {
        let agent = Box::pin(async {
            let setup = Setup {
                run: claim.run.clone(),
                prepared: ahead.prepared().await,
                transcript: taken.transcript,
                soft: budget.soft,
                hard: budget.hard,
                whole: self.whole_budget(),
                progressed: &shared.progressed,
            };
            self.0.agent.run(setup, log).await
        });
        let Ok(turn) = tokio::time::timeout_at(budget.hard, agent).await else {
            return self.hand_over(shared).await;
        };
        let ending = match turn.end {
            TurnEnd::Finished(reason) => Ending::Finish(reason),
            TurnEnd::AwaitingApproval => Ending::AwaitApproval,
            TurnEnd::Failed(reason, text) => Ending::Fail(reason, text),
            TurnEnd::TimeUp => return self.hand_over(shared).await,
            TurnEnd::Displaced => return Ok(Driven::Displaced),
            TurnEnd::StoreFailed(error) => return Err(error),
        };
        self.finish(shared, log, turn.transcript, &ending).await
    }

    async fn finish(
        &self,
        shared: &Shared,
        log: &LogWriter,
        transcript: Transcript,
        ending: &Ending,
    ) -> Result<Driven, StoreError> {
        let too_large;
        let (known, ending) = match log.leave().await {
            Ok(Rest { next, chunks }) => (Some(KnownLog { next, transcript, unstored: chunks }), ending),
            // What could not be stored is not part of the log; the log says what is, and the end that it is not all.
            Err(error @ AppendError::TooLarge(_)) => {
                too_large = Ending::Fail(EndReason::Internal, error.to_string());
                (None, if matches!(ending, Ending::Fail(..)) { ending } else { &too_large })
            }
            Err(AppendError::Displaced | AppendError::Closed) => return Ok(Driven::Displaced),
            Err(AppendError::Store(error)) => return Err(error),
        };
        shared.leaving.store(true, Ordering::Relaxed);
        let run = shared.run();
        let by = EndBy::Holder { attempt: run.attempt };
        Ok(match self.end(&run, by, ending, known).await? {
            Ok(run) => Driven::Ended(Box::new(run)),
            Err(_) => Driven::Displaced,
        })
    }

    /// Gives the run to the background, or up where it has had its share.
    async fn hand_over(&self, shared: &Shared) -> Result<Driven, StoreError> {
        shared.leaving.store(true, Ordering::Relaxed);
        let run = shared.run();
        let progressed = shared.progressed.load(Ordering::Relaxed);
        let event = Event::HandOver { attempt: run.attempt, progressed };
        let Ok(run) = self.transition(&run.run_id.clone(), &event, Some(run)).await? else {
            return Ok(Driven::Displaced);
        };
        match recovery(&run, tandem_store::now_ms(), &self.0.config.limits) {
            Recovery::GiveUp(reason) => Ok(match self.give_up(&run, reason).await? {
                Ok(run) => Driven::Ended(Box::new(run)),
                Err(_) => Driven::Displaced,
            }),
            Recovery::DispatchAgain => {
                // A failure is noticed by whoever watches the run, or by the sweeper.
                let _ = self.send(&run).await;
                Ok(Driven::HandedOver)
            }
        }
    }
}

/// Names a run as driven here for as long as it lives, also when the drive is cancelled.
struct DrivenHere<'a> {
    runtime: &'a Runtime,
    run: RunId,
}

impl<'a> DrivenHere<'a> {
    fn new(runtime: &'a Runtime, run: &RunId) -> Self {
        runtime.driven().insert(run.clone());
        DrivenHere { runtime, run: run.clone() }
    }
}

impl Drop for DrivenHere<'_> {
    fn drop(&mut self) {
        self.runtime.driven().remove(&self.run);
    }
}

/// What the heartbeats and the work of one holder share.
pub(crate) struct Shared {
    pub(crate) run: Mutex<Run>,
    pub(crate) progressed: AtomicBool,
    /// The holder writes its end or hand-over: a heartbeat that is refused now has met just that.
    pub(crate) leaving: AtomicBool,
}

impl Shared {
    pub(crate) fn run(&self) -> Run {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Driven {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Driven::Ended(_) => "ended",
            Driven::HandedOver => "handed over",
            Driven::Displaced => "displaced",
            Driven::Lost => "lost",
        }
    }
}
