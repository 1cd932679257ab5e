//! Who is here: items of their own beside a scope, off its feed, as otherwise every sign of life would make a writer
//! lose a race.
//!
//! Nobody is swept away: whoever reads judges by its own clock. A client is here while its item keeps changing; one that
//! is seen for the first time is judged by the time that its server wrote, so that a page that was just opened does
//! not show who left an hour ago.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::ReturnValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_protocol::{Principal, UserId, is_too_deep};
use tokio::time::Instant;

use super::{Scope, StateError};
use crate::items::{Item, key_item, n, number, s, text};
use crate::write::Condition;
use crate::{Store, StoreError, keys, now_ms};

/// How long somebody is here after the last sign of life.
pub const PRESENCE_TTL: Duration = Duration::from_secs(20);
/// Longest activity, in bytes of JSON.
pub const MAX_ACTIVITY_BYTES: usize = 2 * 1024;
/// Most clients of one person in a scope: another one takes the place of the one that has been silent for the longest time.
/// Otherwise one person could fill the page that everybody's presence is read with.
const MAX_CLIENTS: usize = 32;
/// The end of the range of presence items.
pub(super) const PRESENCE_END: &str = "PRESENCE$";

/// Items that nobody renewed for so long are removed by whoever reads them; the store's own expiry takes days.
const FORGET: Duration = Duration::from_secs(120);

/// A client that is here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Present {
    pub user: UserId,
    /// Which of the user's windows: chosen by the window.
    pub client: String,
    /// What it does there, in the application's own words.
    pub activity: Value,
}

/// A sign of life as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Beat {
    sort: String,
    /// When a server wrote it, in milliseconds since 1970.
    at: i64,
    present: Present,
}

impl Beat {
    /// None: not such an item.
    pub(super) fn read(item: &Item) -> Option<Self> {
        let sort = text(item, "sk").to_owned();
        let (user, client) = sort.strip_prefix("PRESENCE#")?.split_once('#')?;
        let (user, client) = (UserId::new(user).ok()?, client.to_owned());
        let activity = serde_json::from_str(text(item, "activity")).ok()?;
        Some(Beat { at: number(item, "at")?, present: Present { user, client, activity }, sort })
    }
}

/// What one reader knows of who is here.
#[derive(Debug, Default)]
pub(super) struct Roll {
    /// By sort key: the time that was written, and until when that counts.
    known: HashMap<String, (i64, Instant)>,
}

impl Roll {
    /// Who is here by what was read, and what can be forgotten. `now_ms` is this machine's idea of the time.
    pub(super) fn call(&mut self, beats: &[Beat], now: Instant, now_ms: i64) -> (Vec<Present>, Vec<Beat>) {
        let mut known = HashMap::new();
        let (mut here, mut forgotten) = (Vec::new(), Vec::new());
        for beat in beats {
            let until = match self.known.get(&beat.sort) {
                Some((at, until)) if *at == beat.at => *until,
                Some(_) => now + PRESENCE_TTL,
                None => {
                    let age = Duration::from_millis(u64::try_from(now_ms - beat.at).unwrap_or(0));
                    if age > FORGET {
                        forgotten.push(beat.clone());
                    }
                    now + PRESENCE_TTL.saturating_sub(age)
                }
            };
            if until > now {
                here.push(beat.present.clone());
            }
            known.insert(beat.sort.clone(), (beat.at, until));
        }
        self.known = known;
        (here, forgotten)
    }
}

impl Store {
    /// Says that a client is here and what it does; without an activity that it has left. The names of clients have
    /// the alphabet of ids. A client that is there already costs one call.
    pub async fn show_presence(
        &self,
        principal: &Principal,
        scope: &Scope,
        client: &str,
        activity: Option<&Value>,
    ) -> Result<(), StateError> {
        if activity.is_some_and(is_too_deep) {
            return Err(StateError::TooDeep("activity".into()));
        }
        let partition = scope.partition(self, principal).await?;
        let key = keys::presence(&partition, &principal.user, client);
        match activity {
            Some(activity) => {
                let mut item = key_item(&key);
                item.insert("at".into(), n(now_ms()));
                item.insert("activity".into(), s(activity.to_string()));
                let keep = i64::try_from(FORGET.as_secs()).unwrap_or(120);
                item.insert("expires_at".into(), n(now_ms() / 1000 + keep));
                let put = self.db.put_item().table_name(&self.table).set_item(Some(item));
                let before = put.return_values(ReturnValue::AllOld).send().await.map_err(StoreError::from)?;
                if before.attributes.is_none() {
                    self.bound_clients(&partition, &principal.user).await?;
                }
            }
            None => {
                let gone = self.db.delete_item().table_name(&self.table).set_key(Some(key_item(&key)));
                gone.send().await.map_err(StoreError::from)?;
            }
        }
        self.scopes.nudge(&partition);
        Ok(())
    }

    /// Removes the clients of a person that are too many, after another one came. Of many that come at once the last one sees
    /// all of them.
    async fn bound_clients(&self, partition: &str, user: &UserId) -> Result<(), StoreError> {
        let mut clients = self.beats(partition, &keys::presence_of(user)).await?;
        clients.sort_by_key(|client| std::cmp::Reverse(client.at));
        for client in clients.iter().skip(MAX_CLIENTS) {
            self.forget(partition, client).await?;
        }
        Ok(())
    }

    /// The signs of life whose keys begin so.
    async fn beats(&self, partition: &str, prefix: &str) -> Result<Vec<Beat>, StoreError> {
        let mut pages = self
            .db
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk AND begins_with(sk, :prefix)")
            .expression_attribute_values(":pk", s(partition))
            .expression_attribute_values(":prefix", s(prefix))
            .consistent_read(true)
            .into_paginator()
            .send();
        let mut beats = Vec::new();
        while let Some(page) = pages.next().await {
            beats.extend(page.map_err(StoreError::from)?.items.unwrap_or_default().iter().filter_map(Beat::read));
        }
        Ok(beats)
    }

    /// Who is in a scope now, as one look tells.
    pub async fn presence(&self, principal: &Principal, scope: &Scope) -> Result<Vec<Present>, StateError> {
        let partition = scope.partition(self, principal).await?;
        let beats = self.beats(&partition, "PRESENCE#").await?;
        Ok(Roll::default().call(&beats, Instant::now(), now_ms()).0)
    }

    /// Removes a sign of life, if nobody renews it right now.
    pub(super) async fn forget(&self, partition: &str, beat: &Beat) -> Result<(), StoreError> {
        let condition =
            Condition { text: "#at = :at".into(), names: vec![("#at", "at")], values: vec![(":at", n(beat.at))] };
        let key = keys::Key { pk: partition.to_owned(), sk: beat.sort.clone() };
        self.delete_if(&key, condition).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn beat(user: &str, at: i64) -> Beat {
        let present = Present { user: UserId::new(user).unwrap(), client: "w1".into(), activity: json!("reads") };
        Beat { sort: format!("PRESENCE#{user}#w1"), at, present }
    }

    fn names(here: &[Present]) -> Vec<&str> {
        here.iter().map(|present| present.user.as_str()).collect()
    }

    #[test]
    fn who_is_seen_for_the_first_time_is_judged_by_what_was_written() {
        let (now, ms) = (Instant::now(), 1_000_000);
        let mut roll = Roll::default();
        let beats = [beat("fresh", ms - 5_000), beat("old", ms - 21_000), beat("older", ms - 200_000)];
        let (here, forgotten) = roll.call(&beats, now, ms);
        assert_eq!((names(&here), forgotten), (vec!["fresh"], vec![beats[2].clone()]));
        // What is left of its 20 seconds, and no more.
        let later = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(names(&roll.call(&beats, later(14), ms).0), ["fresh"]);
        assert_eq!(names(&roll.call(&beats, later(15), ms).0), [""; 0]);
    }

    #[test]
    fn a_wrong_clock_neither_hides_the_living_nor_keeps_the_dead() {
        let (now, ms) = (Instant::now(), 1_000_000);
        let later = |seconds| now + Duration::from_secs(seconds);
        let mut roll = Roll::default();
        // A server whose clock is a minute behind, and one that is an hour ahead.
        let skewed = |tick: i64| [beat("behind", ms - 60_000 + tick), beat("ahead", ms + 3_600_000 + tick)];
        assert_eq!(names(&roll.call(&skewed(0), now, ms).0), ["ahead"]);
        assert_eq!(names(&roll.call(&skewed(5_000), later(5), ms + 5_000).0), ["behind", "ahead"]);
        assert_eq!(names(&roll.call(&skewed(5_000), later(24), ms + 24_000).0), ["behind", "ahead"]);
        assert_eq!(names(&roll.call(&skewed(5_000), later(25), ms + 25_000).0), [""; 0]);
    }
}
