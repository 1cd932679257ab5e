//! The kept answer of a run: what its log says, beside the thread, so that it outlives the log and is read at once.
//!
//! It is written when the run ends, its first part in the very transaction of the end: a terminal run always has
//! its answer, and expiry of the log never takes a message away. The other parts are put before, under the name of
//! this one attempt to end the run; the first part says which name counts.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use tandem_protocol::{Run, RunId, Seq, TenantId, ThreadId, Transcript};

use crate::items::{Item, key_item, s, text};
use crate::keys::Key;
use crate::{Frame, Store, StoreError, keys};

/// Longest part, in bytes.
const PART_BYTES: usize = 200 * 1024;

/// What one attempt to end a run has put of its answer: over several tries only what has changed is put again.
#[derive(Debug, Default)]
pub struct AnswerParts(Mutex<Put>);

#[derive(Debug, Default)]
struct Put {
    /// Empty: nothing was put yet.
    writer: String,
    /// A hash of each later part.
    later: Vec<u64>,
}

impl AnswerParts {
    /// The name of the writer, and which of the later parts are not there yet, counted from 0.
    fn take(&self, later: &[&str]) -> (String, Vec<usize>) {
        let mut put = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if put.writer.is_empty() || later.len() < put.later.len() {
            // What is there beyond the end would count, as readers take all of a writer's parts.
            *put = Put { writer: crate::new_id(), later: Vec::new() };
        }
        let hashes: Vec<u64> = later.iter().map(|body| hash(body)).collect();
        let new = (0..later.len()).filter(|at| put.later.get(*at) != Some(&hashes[*at])).collect();
        put.later = hashes;
        (put.writer.clone(), new)
    }
}

fn hash(body: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}

/// An answer of one part.
pub(crate) fn answer_item(
    tenant: &TenantId,
    thread: &ThreadId,
    run: &RunId,
    transcript: &Transcript,
) -> Result<Item, StoreError> {
    Ok(part_item(&keys::answer(tenant, thread, run), &crate::new_id(), &json(transcript)?))
}

fn json(transcript: &Transcript) -> Result<String, StoreError> {
    serde_json::to_string(transcript).map_err(|e| StoreError::corrupt("an answer", e))
}

fn part_item(key: &Key, writer: &str, body: &str) -> Item {
    let mut item = key_item(key);
    item.insert("writer".into(), s(writer));
    item.insert("body".into(), s(body));
    item
}

impl Store {
    /// Puts the later parts of an answer, which do not count without the first one, and gives that.
    pub(crate) async fn put_answer(
        &self,
        tenant: &TenantId,
        thread: &ThreadId,
        run: &RunId,
        transcript: &Transcript,
        parts: &AnswerParts,
    ) -> Result<Item, StoreError> {
        let json = json(transcript)?;
        let bodies = split(&json, PART_BYTES);
        let (first, later) = bodies.split_first().unwrap_or((&"", &[]));
        let (writer, new) = parts.take(later);
        let put = new.into_iter().map(|at| {
            let key = keys::answer_part(tenant, thread, run, &writer, at + 1);
            let item = part_item(&key, &writer, later[at]);
            self.db.put_item().table_name(&self.table).set_item(Some(item)).send()
        });
        futures::future::try_join_all(put).await?;
        Ok(part_item(&keys::answer(tenant, thread, run), &writer, first))
    }

    /// What a run said: the kept answer, or while there is none the fold of its log so far.
    pub async fn answer(&self, tenant: &TenantId, thread: &ThreadId, run: &RunId) -> Result<Transcript, StoreError> {
        match self.kept_answer(tenant, thread, run).await? {
            Some(transcript) => Ok(transcript),
            None => match self.run(run).await? {
                Some(run) => Ok(self.said(&run).await?.0),
                None => Ok(self.transcript(run).await?.0),
            },
        }
    }

    /// What the message of a run says so far, with what the runs before said that it continues, and where the next
    /// frame of its log goes.
    pub async fn said(&self, run: &Run) -> Result<(Transcript, Seq), StoreError> {
        let mut transcript = self.said_before(run).await?;
        let log = self.log_from(&run.run_id, 0).await?;
        for frame in &log {
            frame.parsed()?.iter().for_each(|chunk| transcript.apply(chunk));
        }
        Ok((transcript, log.last().map_or(0, Frame::next)))
    }

    /// What the runs before said that this one continues; nothing for a run that continues none.
    pub async fn said_before(&self, run: &Run) -> Result<Transcript, StoreError> {
        match (&run.continues, &run.thread_id) {
            (Some(before), Some(thread)) => {
                let kept = self.kept_answer(&run.owner.tenant, thread, before).await?;
                // It is written in the transaction of the end, and only a run that has ended is continued.
                let kept =
                    kept.ok_or_else(|| StoreError::corrupt(before.to_string(), "it ended without its answer"))?;
                Ok(kept.continued())
            }
            _ => Ok(Transcript::default()),
        }
    }

    async fn kept_answer(
        &self,
        tenant: &TenantId,
        thread: &ThreadId,
        run: &RunId,
    ) -> Result<Option<Transcript>, StoreError> {
        let Some(first) = self.get(&keys::answer(tenant, thread, run)).await? else { return Ok(None) };
        let mut json = text(&first, "body").to_owned();
        if json.len() + 4 > PART_BYTES {
            // Full but for the rest of a character: there may be more.
            let writer = text(&first, "writer");
            let mut next = 1;
            loop {
                let page = self
                    .between(
                        keys::thread_partition(tenant, thread),
                        keys::answer_part_sort(run, writer, next),
                        keys::answer_part_sort(run, writer, 9_999),
                    )
                    .consistent_read(true)
                    .send()
                    .await?;
                let items = page.items.unwrap_or_default();
                next += items.len();
                items.iter().for_each(|item| json.push_str(text(item, "body")));
                if page.last_evaluated_key.is_none() {
                    break;
                }
            }
        }
        serde_json::from_str(&json).map(Some).map_err(|e| StoreError::corrupt(format!("the answer of {run}"), e))
    }
}

/// Pieces of at most `most` bytes, at borders of characters; at least one.
fn split(text: &str, most: usize) -> Vec<&str> {
    let mut rest = text;
    let mut parts = Vec::new();
    while rest.len() > most {
        let cut = (0..=most).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (part, more) = rest.split_at(cut);
        parts.push(part);
        rest = more;
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_several_tries_only_what_has_changed_is_put() {
        let parts = AnswerParts::default();
        let (writer, new) = parts.take(&["a", "b"]);
        assert_eq!(new, [0, 1]);
        assert_eq!(parts.take(&["a", "c", "d"]), (writer.clone(), vec![1, 2]));
        assert_eq!(parts.take(&["a", "c", "d"]), (writer.clone(), vec![]));
        // Shorter than before: under another name, as what is left over would count.
        let (another, new) = parts.take(&["a"]);
        assert_eq!((another == writer, new), (false, vec![0]));
    }

    #[test]
    fn parts_are_whole_characters_and_nothing_is_lost() {
        for text in ["", "a", "grüße 👋🏽 aaaa", &"é".repeat(100)] {
            let parts = split(text, 7);
            assert_eq!(parts.concat(), text);
            assert!(parts.iter().all(|part| part.len() <= 7), "{parts:?}");
        }
    }
}
