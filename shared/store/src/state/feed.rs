//! The feed of a scope: one frame per commit, at the position that the commit took.

use std::ops::RangeInclusive;

use serde::Deserialize;

use crate::items::{Item, key_item, n, number, s, text};
use crate::keys::{self, Key};
use crate::write::Condition;
use crate::{Store, StoreError};

/// How long a frame is kept. Who comes back later reads the documents instead.
const KEEP_SECONDS: i64 = 7 * 24 * 3600;
/// More frames than this are not read to save a lost race: running again is cheaper.
const MAX_BETWEEN: u64 = 500;

pub(super) fn frame_item(key: &Key, body: String) -> Item {
    let mut item = key_item(key);
    item.insert("body".into(), s(body));
    item.insert("expires_at".into(), n(crate::now_ms() / 1000 + KEEP_SECONDS));
    item
}

/// The position of a scope, 0 before its first change.
pub(super) fn head_item(key: &Key, pos: u64) -> Item {
    let mut item = key_item(key);
    item.insert("pos".into(), n(pos));
    item
}

/// Requires that HEAD is still here.
pub(super) fn head_is(pos: u64) -> Condition {
    if pos == 0 {
        return Condition::absent();
    }
    Condition { text: "#pos = :pos".into(), names: vec![("#pos", "pos")], values: vec![(":pos", n(pos))] }
}

pub(super) fn position(head: Option<&Item>) -> Result<u64, StoreError> {
    match head {
        None => Ok(0),
        Some(item) => number(item, "pos").ok_or_else(|| StoreError::corrupt(text(item, "pk"), "no position")),
    }
}

impl Store {
    pub(super) async fn head(&self, partition: &str) -> Result<u64, StoreError> {
        position(self.get(&keys::head(partition)).await?.as_ref())
    }

    /// The keys that were changed at these positions; none if that is not known any more.
    pub(super) async fn changed_keys(
        &self,
        partition: &str,
        between: RangeInclusive<u64>,
    ) -> Result<Option<Vec<String>>, StoreError> {
        let (first, last) = between.into_inner();
        let count = (last + 1).saturating_sub(first);
        if count > MAX_BETWEEN {
            return Ok(None);
        }
        let mut pages = self
            .between(partition, keys::change_sort(first), keys::change_sort(last))
            .consistent_read(true)
            .into_paginator()
            .send();
        let (mut frames, mut changed) = (0_u64, Vec::new());
        while let Some(page) = pages.next().await {
            for item in page?.items.unwrap_or_default() {
                frames += 1;
                changed.extend(keys_of(&item)?);
            }
        }
        Ok((frames == count).then_some(changed))
    }
}

fn keys_of(frame: &Item) -> Result<impl Iterator<Item = String> + use<>, StoreError> {
    #[derive(Deserialize)]
    struct Keyed {
        key: String,
    }
    let changes: Vec<Keyed> = serde_json::from_str(text(frame, "body"))
        .map_err(|e| StoreError::corrupt(format!("{} {}", text(frame, "pk"), text(frame, "sk")), e))?;
    Ok(changes.into_iter().map(|change| change.key))
}
