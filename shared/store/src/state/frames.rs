//! Reading a scope's feed: what each commit changed, in order.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::Change;
use super::feed::position;
use super::presence::{Beat, PRESENCE_END};
use crate::items::{Item, text};
use crate::{Store, StoreError, keys};

/// What one commit changed in one scope. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFrame {
    /// The scope's position since this commit.
    pub rev: u64,
    body: Arc<str>,
}

impl StateFrame {
    /// The changes as they were stored: `{rev, key, value | deleted, by}` each. Never empty.
    pub fn json(&self) -> Result<Vec<Box<RawValue>>, StoreError> {
        serde_json::from_str(&self.body).map_err(|e| StoreError::corrupt(format!("feed frame {}", self.rev), e))
    }

    pub fn changes(&self) -> Result<Vec<Change>, StoreError> {
        serde_json::from_str(&self.body).map_err(|e| StoreError::corrupt(format!("feed frame {}", self.rev), e))
    }

    pub fn bytes(&self) -> usize {
        self.body.len()
    }

    fn read(item: &Item) -> Option<Self> {
        let rev = text(item, "sk").strip_prefix("FEED#")?.parse().ok()?;
        Some(StateFrame { rev, body: text(item, "body").into() })
    }
}

/// What one read of a scope found.
#[derive(Debug, Default)]
pub(super) struct Polled {
    /// Frames from the wanted position on, without a hole.
    pub(super) frames: Vec<StateFrame>,
    /// There is more to read, or something was missing in between.
    pub(super) more: bool,
    /// Who has shown up, at any time; none: the read did not get so far.
    pub(super) beats: Option<Vec<Beat>>,
}

impl Store {
    /// Frames from `next` on, HEAD and presence in one query: their keys follow each other. At most 1 MB.
    pub(super) async fn poll_scope(&self, partition: &str, next: u64, consistent: bool) -> Result<Polled, StoreError> {
        let page =
            self.between(partition, keys::change_sort(next), PRESENCE_END).consistent_read(consistent).send().await?;
        let complete = page.last_evaluated_key.is_none();
        let (mut frames, mut beats, mut head) = (Vec::new(), Vec::new(), None);
        for item in page.items.unwrap_or_default() {
            match text(&item, "sk") {
                "HEAD" => head = Some(position(Some(&item))?),
                sk if sk.starts_with("FEED#") => frames.extend(StateFrame::read(&item)),
                _ => beats.extend(Beat::read(&item)),
            }
        }
        let dense = frames.iter().zip(next..).take_while(|(frame, rev)| frame.rev == *rev).count();
        let whole = dense == frames.len() && head.is_none_or(|head| head < next + dense as u64);
        frames.truncate(dense);
        Ok(Polled { frames, more: !complete || !whole, beats: complete.then_some(beats) })
    }

    /// Frames [first, last] of a feed, consistently and without a hole; fewer where the page is full. None: the first
    /// is not kept any more.
    pub(super) async fn feed_page(
        &self,
        partition: &str,
        first: u64,
        last: u64,
    ) -> Result<Option<Vec<StateFrame>>, StoreError> {
        if first > last {
            return Ok(Some(Vec::new()));
        }
        let page = self
            .between(partition, keys::change_sort(first), keys::change_sort(last))
            .consistent_read(true)
            .send()
            .await?;
        let items = page.items.unwrap_or_default();
        let mut frames: Vec<StateFrame> = items.iter().filter_map(StateFrame::read).collect();
        let dense = frames.iter().zip(first..).take_while(|(frame, rev)| frame.rev == *rev).count();
        frames.truncate(dense);
        Ok((dense > 0).then_some(frames))
    }
}
