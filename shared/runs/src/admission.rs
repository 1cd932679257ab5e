//! Who may ask, start and follow how much: requests a minute and runs at a time by numbers in the store, open streams by
//! what this process knows. Without limits the store is not asked.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tandem_protocol::{CountedIn, Principal, TenantId, UserId};
use tandem_store::{Asking, MostRuns, StoreError, now_ms};

use crate::Runtime;

/// When somebody whose runs fill the limit may try again, in seconds: some of them may have ended by then.
const RUNS_RETRY_AFTER: u32 = 5;
/// When somebody whose streams do may, in seconds.
const STREAMS_RETRY_AFTER: u32 = 5;
const MINUTE_MS: i64 = 60_000;

/// Most of what people may do at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Runs under way.
    pub runs: MostRuns,
    /// Requests of a person in a minute.
    pub user_requests: Option<u32>,
    /// Requests of a tenant in a minute.
    pub tenant_requests: Option<u32>,
    /// Streams of a person that this process has open.
    pub user_streams: u32,
}

impl Default for Most {
    fn default() -> Self {
        Most { runs: MostRuns::default(), user_requests: None, tenant_requests: None, user_streams: 256 }
    }
}

/// Too much at a time. The text says of what and whose, and nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct TooMany {
    pub text: &'static str,
    /// Seconds to wait before trying again.
    pub retry_after: u32,
}

impl From<CountedIn> for TooMany {
    fn from(counted: CountedIn) -> Self {
        let text = match counted {
            CountedIn::User => "You have as many runs under way as you may: wait for one to end, or stop one.",
            CountedIn::Tenant { .. } => "Your team has as many runs under way as it may: wait for some to end.",
        };
        TooMany { text, retry_after: RUNS_RETRY_AFTER }
    }
}

/// Why a request is not let in.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    #[error(transparent)]
    TooMany(TooMany),
    #[error(transparent)]
    Store(#[from] StoreError),
}

type Whose = (Asking, TenantId, UserId);

#[derive(Default)]
struct Full {
    minute: i64,
    whose: HashSet<Whose>,
}

/// What this process knows.
#[derive(Default)]
pub(crate) struct Seen {
    /// A minute, and whose requests have no room in it: they are refused without a word to the store.
    full: Mutex<Full>,
    streams: Arc<Streams>,
}

#[derive(Debug, Default)]
struct Streams(Mutex<HashMap<(TenantId, UserId), u32>>);

/// A stream that is open; dropped when it ends.
#[derive(Debug)]
pub struct OpenStream {
    streams: Arc<Streams>,
    who: (TenantId, UserId),
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        match open.get_mut(&self.who) {
            Some(count) if *count > 1 => *count -= 1,
            _ => _ = open.remove(&self.who),
        }
    }
}

impl Runtime {
    /// Counts a request, where there are limits.
    pub async fn admit(&self, who: &Principal) -> Result<(), NotAdmitted> {
        let most = self.0.config.most;
        let limits = [(Asking::User, most.user_requests), (Asking::Tenant, most.tenant_requests)];
        let now = now_ms();
        let minute = now / MINUTE_MS;
        for (asking, most) in limits {
            let Some(most) = most else { continue };
            let key = (asking, who.tenant.clone(), who.user.clone());
            let has_room =
                !self.0.seen.is_full(minute, &key) && self.0.store.count_request(who, asking, minute, most).await?;
            if has_room {
                continue;
            }
            self.0.seen.fill(minute, key);
            let text = match asking {
                Asking::User => "You have sent as many requests as you may in a minute.",
                Asking::Tenant => "Your team has sent as many requests as it may in a minute.",
            };
            let retry_after = u32::try_from((MINUTE_MS - now % MINUTE_MS).div_euclid(1000) + 1).unwrap_or(60);
            return Err(NotAdmitted::TooMany(TooMany { text, retry_after }));
        }
        Ok(())
    }

    /// Counts a stream of somebody until it is dropped.
    pub fn open_stream(&self, who: &Principal) -> Result<OpenStream, TooMany> {
        let streams = &self.0.seen.streams;
        let who = (who.tenant.clone(), who.user.clone());
        let mut open = streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(who.clone()).or_default();
        if *count >= self.0.config.most.user_streams {
            let text = "You have as many streams open as you may: close some.";
            return Err(TooMany { text, retry_after: STREAMS_RETRY_AFTER });
        }
        *count += 1;
        Ok(OpenStream { streams: Arc::clone(streams), who })
    }
}

impl Seen {
    fn is_full(&self, minute: i64, key: &Whose) -> bool {
        let full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        full.minute == minute && full.whose.contains(key)
    }

    fn fill(&self, minute: i64, key: Whose) {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        if full.minute != minute {
            *full = Full { minute, whose: HashSet::new() };
        }
        full.whose.insert(key);
    }
}
