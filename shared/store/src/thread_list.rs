//! Lists of threads, newest first: one's own, or those that people of the tenant share.

use futures::StreamExt;
use futures::stream::{self, TryStreamExt};
use tandem_protocol::{Principal, ThreadId};

use crate::items::text;
use crate::threads::{Page, Thread};
use crate::{Store, StoreError, keys};

/// Entries that are looked at for one page; a page of a search may be short, or empty, and have a next one.
const LOOKED_AT: usize = 500;
/// Entries read in one go.
const BATCH: usize = 100;
/// Threads read side by side.
const READS: usize = 16;

/// Which threads.
#[derive(Debug, Clone, Copy)]
pub struct ThreadList<'a> {
    /// Those that somebody in the tenant shares, instead of one's own.
    pub shared: bool,
    /// Archived ones too.
    pub archived: bool,
    /// Only titles that hold this, whatever the case.
    pub title: Option<&'a str>,
    pub cursor: Option<&'a str>,
    /// At least 1.
    pub limit: usize,
}

impl ThreadList<'_> {
    /// Whether a text is a cursor of these lists: when a thread was created, and its id.
    pub fn is_cursor(text: &str) -> bool {
        let parts = text.split_once('#');
        parts.is_some_and(|(created, thread)| {
            created.len() == 15 && created.bytes().all(|byte| byte.is_ascii_digit()) && ThreadId::new(thread).is_ok()
        })
    }
}

impl Store {
    /// A page of threads.
    pub async fn threads(&self, principal: &Principal, list: ThreadList<'_>) -> Result<Page<Thread>, StoreError> {
        let partition = match list.shared {
            true => keys::shared_partition(&principal.tenant),
            false => keys::owner_partition(&principal.tenant, &principal.user),
        };
        let title = list.title.map(str::to_lowercase);
        let wanted = |thread: &Thread| {
            let fits = title.as_ref().is_none_or(|title| thread.title.to_lowercase().contains(title));
            fits && (list.archived || !thread.archived)
        };
        let mut before = list.cursor.map(|cursor| format!("THREAD#{cursor}"));
        let (mut items, mut looked_at): (Vec<Thread>, usize) = (Vec::new(), 0);
        loop {
            let batch = if title.is_some() { BATCH } else { (list.limit + 1).saturating_sub(items.len()).min(BATCH) };
            let entries = self.list_entries(&partition, before.as_deref(), batch).await?;
            let last = entries.len() < batch;
            let found: Vec<(String, Option<Thread>)> = stream::iter(entries)
                .map(|sort| async move {
                    let id = sort.rsplit('#').next().and_then(|id| ThreadId::new(id).ok());
                    let thread = match id {
                        Some(id) => self.thread(principal, &id).await?,
                        None => None,
                    };
                    Ok::<_, StoreError>((sort, thread))
                })
                .buffered(READS)
                .try_collect()
                .await?;
            for (sort, thread) in found {
                if items.len() == list.limit || looked_at == LOOKED_AT {
                    // There is one more entry at least: the next page begins with it.
                    let cursor = before.as_deref().and_then(|sort| sort.strip_prefix("THREAD#")).map(str::to_owned);
                    return Ok(Page { items, cursor });
                }
                looked_at += 1;
                items.extend(thread.filter(|thread| wanted(thread)));
                before = Some(sort);
            }
            if last {
                return Ok(Page { items, cursor: None });
            }
        }
    }

    /// Sort keys of entries older than `before`, newest first.
    async fn list_entries(
        &self,
        partition: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let before = before.unwrap_or("THREAD#~");
        let page = self
            .between(partition, "THREAD#", before)
            .scan_index_forward(false)
            // One more, as BETWEEN includes the cursor itself.
            .limit(i32::try_from(limit + 1).unwrap_or(i32::MAX))
            .consistent_read(true)
            .send()
            .await?;
        let entries = page.items.unwrap_or_default();
        let sorts = entries.iter().map(|item| text(item, "sk").to_owned()).filter(|sort| *sort != before);
        Ok(sorts.take(limit).collect())
    }
}
