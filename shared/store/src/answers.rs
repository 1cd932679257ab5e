//! The kept answer of a run: what its log says, beside the thread, so that it outlives the log and is read at once.
//!
//! It is written when the run ends, its first part in the very transaction of the end: a terminal run always has
//! its answer, and expiry of the log never takes a message away.

use aws_sdk_dynamodb::types::AttributeValue;
use tandem_protocol::{RunId, TenantId, ThreadId, Transcript};

use crate::items::{Item, key_item, n, number, s, text};
use crate::{Store, StoreError, keys};

/// Longest part, in bytes.
const PART_BYTES: usize = 200 * 1024;

/// The items of an answer, the first part first.
pub(crate) fn answer_items(
    tenant: &TenantId,
    thread: &ThreadId,
    run: &RunId,
    transcript: &Transcript,
) -> Result<Vec<Item>, StoreError> {
    let json = serde_json::to_string(transcript).map_err(|e| StoreError::corrupt("an answer", e))?;
    let parts = split(&json, PART_BYTES);
    let of = parts.len();
    let items = parts.into_iter().enumerate().map(|(part, body)| {
        let mut item = key_item(&keys::answer(tenant, thread, run, part));
        item.insert("of".into(), n(of));
        item.insert("body".into(), s(body));
        item
    });
    Ok(items.collect())
}

impl Store {
    /// What a run said: the kept answer, or while there is none the fold of its log so far.
    pub async fn answer(&self, tenant: &TenantId, thread: &ThreadId, run: &RunId) -> Result<Transcript, StoreError> {
        match self.kept_answer(tenant, thread, run).await? {
            Some(transcript) => Ok(transcript),
            None => Ok(self.transcript(run).await?.0),
        }
    }

    async fn kept_answer(
        &self,
        tenant: &TenantId,
        thread: &ThreadId,
        run: &RunId,
    ) -> Result<Option<Transcript>, StoreError> {
        let mut json = String::new();
        let mut part = 0;
        loop {
            let page = self
                .db
                .query()
                .table_name(&self.table)
                .key_condition_expression("pk = :pk AND sk BETWEEN :from AND :to")
                .expression_attribute_values(":pk", s(keys::thread_partition(tenant, thread)))
                .expression_attribute_values(":from", s(keys::answer_sort(run, part)))
                .expression_attribute_values(":to", AttributeValue::S(keys::answer_sort(run, 9_999)))
                .consistent_read(true)
                .send()
                .await?;
            let items = page.items.unwrap_or_default();
            // The first part is written last: without it the others do not count.
            let Some(first) = items.first().filter(|item| text(item, "sk") == keys::answer_sort(run, part)) else {
                return Ok(None);
            };
            let of: usize = number(first, "of").unwrap_or(0);
            for item in &items {
                json.push_str(text(item, "body"));
            }
            part += items.len();
            if part >= of {
                let parsed = serde_json::from_str(&json);
                return parsed.map(Some).map_err(|e| StoreError::corrupt(format!("the answer of {run}"), e));
            }
        }
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
    fn parts_are_whole_characters_and_nothing_is_lost() {
        for text in ["", "a", "grüße 👋🏽 aaaa", &"é".repeat(100)] {
            let parts = split(text, 7);
            assert_eq!(parts.concat(), text);
            assert!(parts.iter().all(|part| part.len() <= 7), "{parts:?}");
        }
    }
}
