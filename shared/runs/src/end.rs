//! The one end: finish, fail, abort and give up all end a run here, in one transaction.

use tandem_protocol::{AttemptReason, Chunk, EndReason, FinishReason, Run, Seq, ToolCallId, Transcript};
use tandem_store::{AnswerParts, EndWrite, Outcome, RunEnd, Slot, Store, StoreError, now_ms};

use crate::last_frame::{Last, asks, last_frame};
use crate::state::{EndBy, Event, Refused, apply};
use crate::tell::tell_end;
use crate::{Runtime, displace};

/// How a run ends, as its last chunk says it.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    Finish(FinishReason),
    /// A person must agree to calls of the last step.
    AwaitApproval,
    Abort,
    /// A text for people; the code of the reason is added in brackets.
    Fail(EndReason, String),
}

impl Ending {
    fn reason(&self) -> EndReason {
        match self {
            Ending::Finish(_) => EndReason::Completed,
            Ending::AwaitApproval => EndReason::AwaitingApproval,
            Ending::Abort => EndReason::Aborted,
            Ending::Fail(reason, _) => *reason,
        }
    }
}

/// A log up to a position. A holder knows its own; anybody else reads it.
pub(crate) struct KnownLog {
    pub(crate) next: Seq,
    pub(crate) transcript: Transcript,
    /// The end of the transcript, where it is not stored yet: it goes into the last frame.
    pub(crate) unstored: Vec<Chunk>,
}

/// A run that is to end, as far as is known.
pub(crate) struct Leaving {
    pub(crate) run: Run,
    pub(crate) log: KnownLog,
    /// Outcomes that the log does not show.
    settled: Vec<(ToolCallId, Outcome)>,
    /// What earlier tries have put of the answer.
    parts: AnswerParts,
    /// Who took the log last did so to end the run, and writes nothing but its end.
    pub(crate) only_ends: bool,
    /// This process took the run, to end it.
    pub(crate) is_taken: bool,
}

impl Leaving {
    fn new(run: &Run, log: KnownLog) -> Self {
        let (settled, parts) = (Vec::new(), AnswerParts::default());
        Leaving { run: run.clone(), log, settled, parts, only_ends: false, is_taken: false }
    }

    /// Reads what the log says more. `false`: its end, or a later attempt than that of the run as it is known here.
    pub(crate) async fn read_on(&mut self, store: &Store) -> Result<bool, StoreError> {
        let mut is_open = true;
        for frame in store.log_from(&self.run.run_id, self.log.next).await? {
            is_open &= frame.attempt <= self.run.attempt && !frame.is_terminal();
            for chunk in frame.parsed()? {
                if let Chunk::DataAttempt { data, .. } = &chunk {
                    self.only_ends = data.reason == AttemptReason::Stopped;
                }
                self.log.transcript.apply(&chunk);
            }
            self.log.next = frame.next();
        }
        Ok(is_open)
    }

    /// The end as it is written; it asks nobody, and the thread is for others to free.
    pub(crate) fn end<'a>(&'a self, next: &'a Run, last: &'a Last) -> RunEnd<'a> {
        RunEnd {
            next,
            version: self.run.version,
            terminal: &last.terminal,
            frees_thread: false,
            unsettled: &last.unsettled,
            asks: &[],
            answer: &last.answer,
            parts: &self.parts,
        }
    }
}

impl Runtime {
    /// Ends a run that nobody holds any more, if it still is as observed.
    pub(crate) async fn give_up(&self, observed: &Run, reason: EndReason) -> Result<Result<Run, Refused>, StoreError> {
        let by = EndBy::Observer { observed: observed.version };
        self.end(observed, by, &Ending::Fail(reason, explain(reason).into()), None).await
    }

    /// Writes the end: everything or nothing. The log is read unless its holder passes what it knows.
    pub(crate) async fn end(
        &self,
        run: &Run,
        by: EndBy,
        ending: &Ending,
        known: Option<KnownLog>,
    ) -> Result<Result<Run, Refused>, StoreError> {
        let mut leaving = match known {
            Some(log) => Leaving::new(run, log),
            None => self.leaving(run).await?,
        };
        let mut frees_thread = true;
        let mut tries = 0;
        loop {
            tries += 1;
            let (next, last) = match self.last(&leaving, by, ending)? {
                Ok(last) => last,
                Err(refused) => return Ok(Err(refused)),
            };
            let asks = asks(ending, &last.answer);
            let end = RunEnd { frees_thread, asks: &asks, ..leaving.end(&next, &last) };
            match self.0.store.end_run(&end).await? {
                EndWrite::Committed => {
                    tell_end(&next, &last.answer);
                    return Ok(Ok(next));
                }
                EndWrite::Refused { thread_changed, settled } => {
                    frees_thread &= !thread_changed;
                    if !self.look_again(&mut leaving, settled).await? {
                        return Ok(Err(Refused::Missing));
                    }
                    if by == EndBy::Anyone && tries >= displace::TRIES && !leaving.only_ends {
                        self.displace(&mut leaving).await?;
                    }
                }
            }
        }
    }

    /// A run that is to end, with what its log says.
    pub(crate) async fn leaving(&self, run: &Run) -> Result<Leaving, StoreError> {
        let (transcript, next) = self.0.store.said(run).await?;
        Ok(Leaving::new(run, KnownLog { next, transcript, unstored: Vec::new() }))
    }

    /// The record of the run when it has ended, and its last frame.
    pub(crate) fn last(
        &self,
        leaving: &Leaving,
        by: EndBy,
        ending: &Ending,
    ) -> Result<Result<(Run, Last), Refused>, StoreError> {
        let event = Event::End { by, reason: ending.reason() };
        let mut next = match apply(&leaving.run, &event, now_ms(), &self.0.config.limits) {
            Ok(next) => next,
            Err(refused) => return Ok(Err(refused)),
        };
        next.expires_at = Some(self.0.store.run_expiry());
        let last = last_frame(&next, &leaving.log, ending, &leaving.settled)?;
        Ok(Ok((next, last)))
    }

    /// Reads what has changed since the end was refused: what the log says more, and the outcomes of calls that were
    /// taken for open. `false`: there is no such run any more.
    pub(crate) async fn look_again(&self, leaving: &mut Leaving, settled: Vec<ToolCallId>) -> Result<bool, StoreError> {
        let store = &self.0.store;
        let id = leaving.run.run_id.clone();
        for call in settled {
            let slot = Slot::Call { run: id.clone(), call: call.clone() };
            // An outcome that nobody has shown yet: the end does.
            leaving.settled.extend(store.outcome(&slot).await?.map(|outcome| (call, outcome)));
        }
        // Only what is new, and both at once: a holder that streams must not be faster for ever.
        let (now, _) = tokio::try_join!(store.run(&id), leaving.read_on(store))?;
        let Some(now) = now else { return Ok(false) };
        leaving.run = now;
        Ok(true)
    }
}

fn explain(reason: EndReason) -> &'static str {
    match reason {
        EndReason::NeverClaimed => {
            "No worker took the run, although it was dispatched several times. Please try again."
        }
        EndReason::NoProgress => {
            "The run was stopped, as several attempts in a row got no further. What was completed before is kept."
        }
        EndReason::RunBudgetExhausted => "The run was stopped, as it took too long. What was completed before is kept.",
        _ => "The run failed.",
    }
}
