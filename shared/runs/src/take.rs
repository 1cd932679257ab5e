//! Taking the log: after its claim, a new holder writes its own chunk at the end before anything else.
//!
//! From then on the holder before fails at its next append. The transcript is the fold of exactly the chunks
//! before the new holder's own. The first holder of a run does not wait for that write before it asks the model: calls begin
//! only after their intent is stored, and so after it.

use tandem_protocol::{Chunk, Seq, Transcript};
use tandem_store::{Append, Frame, StoreError};

use crate::{Claim, Runtime};

/// A log that this process writes from now on.
pub(crate) struct Taken {
    pub(crate) next: Seq,
    pub(crate) transcript: Transcript,
    /// What the holder says first, where that is not stored yet.
    pub(crate) first: Vec<Chunk>,
}

impl Runtime {
    /// `None`: a later attempt, or the end, stands in the log already; this holder stops for good.
    ///
    /// `frames`: the log from its beginning, as it stood a moment ago.
    pub(crate) async fn take_log(&self, claim: &Claim, mut frames: Vec<Frame>) -> Result<Option<Taken>, StoreError> {
        let run = &claim.run;
        let mut transcript = self.0.store.said_before(run).await?;
        let mut next: Seq = 0;
        loop {
            for frame in frames {
                if frame.attempt > run.attempt || frame.is_terminal() {
                    return Ok(None);
                }
                next = frame.next();
                for chunk in frame.parsed()? {
                    transcript.apply(&chunk);
                }
            }
            let chunks = taking(&transcript, claim);
            if run.attempt == 1 {
                // Nobody has held the run before. Whoever stands there now has taken or ended it since, and the first write
                // tells so: it may be under way while the model is asked.
                chunks.iter().for_each(|chunk| transcript.apply(chunk));
                return Ok(Some(Taken { next, transcript, first: chunks }));
            }
            let append = Append::new(next, run.attempt, &chunks)?;
            if self.0.store.append(&run.run_id, &append).await? {
                next += chunks.len() as Seq;
                for chunk in &chunks {
                    transcript.apply(chunk);
                }
                return Ok(Some(Taken { next, transcript, first: Vec::new() }));
            }
            // The holder before wrote in between: read that too.
            frames = self.0.store.log_from(&run.run_id, next).await?;
        }
    }
}

/// What a new holder says first. A step that is open and called nothing is void: the model is asked again.
fn taking(transcript: &Transcript, claim: &Claim) -> Vec<Chunk> {
    let mut chunks = vec![Chunk::attempt(claim.run.attempt, claim.kind, claim.reason)];
    if transcript.open_step().is_some_and(|step| !step.called) {
        chunks.push(Chunk::ResetStep);
    }
    // In the same frame: every run begins with a step.
    if transcript.steps.is_empty() {
        chunks.push(Chunk::StartStep);
    }
    chunks
}
