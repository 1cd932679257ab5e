//! The issuer's keys, and when to ask for them again.
//!
//! Asking is cheap and rare as long as tokens name known keys. A token with an unknown key may be the first after
//! a rotation or the thousandth of an attacker: it makes us ask, but not more than twice in 30 s. Twice, as the issuer
//! may rotate right after we asked. An issuer that is down stops nobody who has signed in: its keys go on working for a
//! day.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jsonwebtoken::Algorithm;

use super::claims::TokenRefused;
use super::issuer::Issuer;
use super::keys::{Key, KeySet, Pick, is_accepted};
use crate::authenticate::AuthError;

/// Seconds after which keys are fetched again although they are known: so that a withdrawn key ends.
const FRESH: u64 = 60 * 60;
/// Seconds for which keys go on working while they cannot be fetched.
const USABLE: u64 = 24 * 60 * 60;
/// Seconds in which at most two fetches start, and one where the last was not answered.
const FLOOR: u64 = 30;
/// The same while there are no keys at all: nobody can be let in until there are.
const FLOOR_WITHOUT_KEYS: u64 = 2;

/// The keys of one issuer, shared by all requests of a process.
#[derive(Debug)]
pub(super) struct KeyCache {
    issuer: Issuer,
    state: Mutex<State>,
    /// Held during a fetch, so that there is one at a time.
    fetching: tokio::sync::Mutex<()>,
}

impl KeyCache {
    pub(super) fn new(issuer: Issuer) -> Self {
        KeyCache { issuer, state: Mutex::default(), fetching: tokio::sync::Mutex::default() }
    }

    /// The key that the token header names, asking the issuer if need be. `now` is in seconds since 1970.
    pub(super) async fn find(&self, kid: Option<&str>, algorithm: Algorithm, now: i64) -> Result<Arc<Key>, AuthError> {
        if !is_accepted(algorithm) {
            return Err(TokenRefused::Algorithm.into());
        }
        let next = || self.state().next(kid, algorithm, now);
        let meanwhile = match next() {
            Next::Use(key) => return Ok(key),
            Next::Refuse(refused) => return Err(refused.into()),
            Next::Fetch { meanwhile } => meanwhile,
            Next::Wait { .. } => None,
        };
        // Asked once more when it is our turn: between the question and now somebody may have fetched.
        let needed = || matches!(next(), Next::Fetch { .. });
        match (self.fetching.try_lock(), meanwhile) {
            (Ok(_turn), _) => {
                if needed() {
                    self.fetch(now).await;
                }
            }
            (Err(_), Some(key)) => return Ok(key),
            // The fetch under way is ours too. It may have read the keys before ours was there; but if each who waited
            // then asked an issuer that hangs, the queue would grow for ever.
            (Err(_), None) => {
                let _turn = self.fetching.lock().await;
                if self.state().keys_are_known() && needed() {
                    self.fetch(now).await;
                }
            }
        }
        match next() {
            Next::Use(key) | Next::Fetch { meanwhile: Some(key) } => Ok(key),
            Next::Refuse(refused) => Err(refused.into()),
            Next::Wait { seconds } => Err(unavailable(seconds)),
            // The keys are of just now.
            Next::Fetch { meanwhile: None } if self.state().keys_are_known() => Err(TokenRefused::UnknownKey.into()),
            Next::Fetch { meanwhile: None } => Err(unavailable(FLOOR_WITHOUT_KEYS)),
        }
    }

    async fn fetch(&self, now: i64) {
        self.state().begin(now);
        match self.issuer.fetch().await {
            Ok(keys) => self.state().succeed(keys, now),
            Err(error) => tracing::warn!(%error, "the issuer's keys could not be fetched"),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic between two assignments would leave a state that is merely out of date.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unavailable(seconds: u64) -> AuthError {
    AuthError::Unavailable {
        detail: "The token cannot be checked, as the issuer's keys cannot be had at the moment. Try again soon.".into(),
        retry_after: u32::try_from(seconds).unwrap_or(u32::MAX).max(1),
    }
}

#[derive(Debug, Default)]
struct State {
    /// With the time of the fetch.
    keys: Option<(KeySet, i64)>,
    /// Start of the last fetch.
    asked: Option<i64>,
    /// Start of the one before it.
    asked_before: Option<i64>,
    /// The last fetch has failed, was given up, or is under way.
    unanswered: bool,
}

/// What to do about a token.
#[derive(Debug)]
enum Next {
    Use(Arc<Key>),
    Fetch {
        /// The key, if it is known but no longer fresh.
        meanwhile: Option<Arc<Key>>,
    },
    Refuse(TokenRefused),
    Wait {
        seconds: u64,
    },
}

impl State {
    fn next(&self, kid: Option<&str>, algorithm: Algorithm, now: i64) -> Next {
        // Distances and not differences: a clock that was set back must not stop fetches for as long.
        let age = |then: i64| now.abs_diff(then);
        let usable = self.keys.as_ref().filter(|(_, fetched)| age(*fetched) <= USABLE);
        let floor = if usable.is_some() { FLOOR } else { FLOOR_WITHOUT_KEYS };
        let asked = if usable.is_some() && !self.unanswered { self.asked_before } else { self.asked };
        let wait = asked.map_or(0, |asked| floor.saturating_sub(age(asked)));

        let pick = usable.map_or(Pick::Unknown, |(keys, _)| keys.pick(kid, algorithm));
        let fresh = usable.is_some_and(|(_, fetched)| age(*fetched) <= FRESH);
        match pick {
            Pick::Found(key) if fresh || wait > 0 => Next::Use(key),
            Pick::Found(key) => Next::Fetch { meanwhile: Some(key) },
            Pick::Refused(refused) => Next::Refuse(refused),
            Pick::Unknown if wait == 0 => Next::Fetch { meanwhile: None },
            // Without an answer from the issuer the key may be a new one.
            Pick::Unknown if self.unanswered || usable.is_none() => Next::Wait { seconds: wait },
            Pick::Unknown => Next::Refuse(TokenRefused::UnknownKey),
        }
    }

    fn begin(&mut self, now: i64) {
        self.asked_before = self.asked.replace(now);
        self.unanswered = true;
    }

    /// Whether the last fetch was answered.
    fn keys_are_known(&self) -> bool {
        self.keys.is_some() && !self.unanswered
    }

    fn succeed(&mut self, keys: KeySet, now: i64) {
        self.keys = Some((keys, now));
        self.unanswered = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: i64 = 1_800_000_000;

    fn keys(kid: &str) -> KeySet {
        KeySet::parse(format!(r#"{{"keys":[{{"kty":"RSA","kid":"{kid}","n":"AQAB","e":"AQAB"}}]}}"#).as_bytes())
            .unwrap()
    }

    /// A state that fetched the key `a` at T.
    fn fetched() -> State {
        let mut state = State::default();
        state.begin(T);
        state.succeed(keys("a"), T);
        state
    }

    #[track_caller]
    fn check(state: &State, kid: &str, now: i64, want: &str) {
        let got = match state.next(Some(kid), Algorithm::RS256, now) {
            Next::Use(_) => "use".to_owned(),
            Next::Fetch { meanwhile: Some(_) } => "fetch, or use".to_owned(),
            Next::Fetch { meanwhile: None } => "fetch".to_owned(),
            Next::Refuse(_) => "refuse".to_owned(),
            Next::Wait { seconds } => format!("wait {seconds}"),
        };
        assert_eq!(got, want, "{kid} {:+}", now - T);
    }

    #[test]
    fn an_unknown_key_makes_us_ask_but_not_often() {
        let mut state = fetched();
        // The issuer may have rotated since.
        check(&state, "b", T + 1, "fetch");
        state.begin(T + 1);
        state.succeed(keys("a"), T + 1);
        check(&state, "b", T + 1, "refuse");
        check(&state, "b", T + 29, "refuse");
        check(&state, "b", T + 30, "fetch");
        state.begin(T + 30);
        check(&state, "b", T + 30, "wait 30");
        check(&state, "a", T + 31, "use");
        state.succeed(keys("b"), T + 30);
        check(&state, "b", T + 31, "use");
        check(&state, "c", T + 30, "refuse");
        check(&state, "c", T + 31, "fetch");
        // The key that was withdrawn.
        state.begin(T + 31);
        state.succeed(keys("b"), T + 31);
        check(&state, "a", T + 31, "refuse");
    }

    #[test]
    fn keys_outlive_an_issuer_that_is_down_for_a_day() {
        let mut state = fetched();
        check(&state, "a", T + 3600, "use");
        check(&state, "a", T + 3601, "fetch, or use");
        state.begin(T + 3601);
        check(&state, "a", T + 3602, "use");
        check(&state, "a", T + 3631, "fetch, or use");
        check(&state, "b", T + 3602, "wait 29");
        state.begin(T + 86_399);
        check(&state, "a", T + 86_400, "use");
        check(&state, "a", T + 86_401, "fetch");
        state.begin(T + 86_401);
        check(&state, "a", T + 86_401, "wait 2");
    }

    #[test]
    fn without_any_key_we_ask_again_soon() {
        let mut state = State::default();
        check(&state, "a", T, "fetch");
        state.begin(T);
        check(&state, "a", T, "wait 2");
        check(&state, "a", T + 1, "wait 1");
        check(&state, "a", T + 2, "fetch");
    }

    #[test]
    fn a_clock_that_is_set_back_stops_nothing() {
        let state = fetched();
        check(&state, "a", T - 10, "use");
        check(&state, "a", T - 7200, "fetch, or use");
        check(&state, "b", T - 7200, "fetch");
    }
}
