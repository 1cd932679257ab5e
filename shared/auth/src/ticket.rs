//! Tickets: leave to read one path for a minute, for clients that can send no header (`EventSource`).
//!
//! A ticket is `<claims>.<MAC>`, both in base64url: who it was given to, and until when. The path is under the MAC and not in
//! it. It is signed with a key of its own, derived from the dispatch keys, so every process of a deployment takes it and
//! nothing is stored. The development key is published, so tickets under it need a secret of the process beside it: they
//! are good where they were made, and nobody else can make one.
//!
//! A ticket has no roles: what is followed is a person's by tenant and name alone.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use tandem_protocol::{Principal, TenantId, UserId};

use crate::DispatchKeys;

/// How long a ticket lets in: long enough for a stream to begin, short enough to stand in an access log.
pub const TICKET_TTL_MS: i64 = 60_000;
/// Longest ticket that is looked at.
const MOST: usize = 4 * 1024;
const PURPOSE: &str = "tandem.ticket.v1";

/// How far the clocks of two processes may be apart.
const SKEW_MS: i64 = 300_000;

#[derive(Serialize, Deserialize)]
struct Claims {
    tenant: TenantId,
    user: UserId,
    /// Milliseconds since 1970.
    expires_at: i64,
}

/// What nobody knows but this process.
static SECRET: LazyLock<[u8; 32]> = LazyLock::new(|| {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).expect("the system gives random bytes");
    secret
});

impl DispatchKeys {
    /// Leave for `principal` to read `path` until `now_ms` + [`TICKET_TTL_MS`].
    pub fn ticket(&self, principal: &Principal, path: &str, now_ms: i64) -> String {
        let Principal { tenant, user, .. } = principal.clone();
        let claims = Claims { tenant, user, expires_at: now_ms + TICKET_TTL_MS };
        let claims = serde_json::to_vec(&claims).unwrap_or_default();
        let keys = self.derive(PURPOSE);
        let mac = keys.first().map(|(_, key)| self.mac(key, path, &claims).finalize().into_bytes()).unwrap_or_default();
        format!("{}.{}", BASE64.encode(claims), BASE64.encode(mac))
    }

    /// Who holds a ticket for `path`; `None`: it is for another path, too old, or not ours.
    pub fn open_ticket(&self, ticket: &str, path: &str, now_ms: i64) -> Option<Principal> {
        let (claims, signature) = ticket.split_once('.').filter(|_| ticket.len() <= MOST)?;
        let (claims, signature) = (BASE64.decode(claims).ok()?, BASE64.decode(signature).ok()?);
        // Compares in constant time.
        let signed = |(_, key): &(_, [u8; 32])| self.mac(key, path, &claims).verify_slice(&signature).is_ok();
        self.derive(PURPOSE).iter().find(|key| signed(key))?;
        let Claims { tenant, user, expires_at } = serde_json::from_slice(&claims).ok()?;
        // Nobody gives one for longer.
        let is_due = (now_ms + 1..=now_ms + TICKET_TTL_MS + SKEW_MS).contains(&expires_at);
        is_due.then(|| Principal { tenant, user, roles: Vec::new() })
    }

    /// Each field is preceded by its length, and the path by no other length than its own: no two tickets have the same
    /// bytes under it. `%3A` and `:` are one path, as clients write either.
    fn mac(&self, key: &[u8; 32], path: &str, claims: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(key).expect("HMAC takes a key of any length");
        let path: Vec<u8> = percent_encoding::percent_decode_str(path).collect();
        let secret: &[u8] = if self.is_development() { &*SECRET } else { &[] };
        for field in [&path[..], claims, secret] {
            mac.update(&(field.len() as u64).to_be_bytes());
            mac.update(field);
        }
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn keys(json: &str) -> DispatchKeys {
        DispatchKeys::parse(json).unwrap()
    }

    #[test]
    fn a_ticket_is_for_one_person_one_path_and_one_minute() {
        let (old, new) = (r#""old": "0123456789abcdef""#, r#""new": "fedcba9876543210""#);
        let both = keys(&format!("{{{old}, {new}}}"));
        let ann = Principal { tenant: "t".parse().unwrap(), user: "ann".parse().unwrap(), roles: Vec::new() };
        // Roles do not go with it, so that no number of them makes it too long.
        let many = Principal { roles: vec!["editor-of-everything".into(); 1_000], ..ann.clone() };
        let ticket = both.ticket(&many, "/events", NOW);
        assert_eq!(both.open_ticket(&ticket, "/events", NOW + 59_999), Some(ann.clone()));
        // While keys are exchanged, those who sign with the other one read it too.
        assert_eq!(keys(&format!("{{{new}, {old}}}")).open_ticket(&ticket, "/events", NOW), Some(ann.clone()));
        assert_eq!(keys(&format!("{{{new}}}")).open_ticket(&ticket, "/events", NOW), None);
        assert_eq!(both.open_ticket(&ticket, "/events", NOW + TICKET_TTL_MS), None);
        assert_eq!(both.open_ticket(&ticket, "/runs/run_1/events", NOW), None);
        let bo = both.ticket(&Principal { user: "bo".parse().unwrap(), ..ann }, "/events", NOW);
        let (claims, _) = bo.split_once('.').unwrap();
        let (_, signature) = ticket.split_once('.').unwrap();
        for made_up in [format!("{claims}.{signature}"), format!("{ticket}x"), ".".into(), String::new(), claims.into()]
        {
            assert_eq!(both.open_ticket(&made_up, "/events", NOW), None, "{made_up}");
        }
    }

    #[test]
    fn one_path_has_two_spellings_and_no_ticket_is_good_for_long() {
        let keys = keys(r#"{"k": "0123456789abcdef"}"#);
        let ann = Principal { tenant: "t".parse().unwrap(), user: "ann".parse().unwrap(), roles: Vec::new() };
        let ticket = keys.ticket(&ann, "/state/thread:a/events", NOW);
        assert!(keys.open_ticket(&ticket, "/state/thread%3Aa/events", NOW).is_some());
        // Whoever makes one for a year has made it up, whatever key they have.
        let year = keys.ticket(&ann, "/events", NOW + 31_536_000_000);
        assert_eq!(keys.open_ticket(&year, "/events", NOW), None);
    }

    #[test]
    fn the_published_key_makes_no_ticket_that_another_process_takes() {
        let (keys, published) = (DispatchKeys::development(), DispatchKeys::development().derive(PURPOSE));
        let ann = Principal { tenant: "t".parse().unwrap(), user: "ann".parse().unwrap(), roles: Vec::new() };
        let ticket = keys.ticket(&ann, "/events", NOW);
        assert_eq!(keys.open_ticket(&ticket, "/events", NOW), Some(ann));
        // What everybody can make who has read the source.
        let (claims, _) = ticket.split_once('.').unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&published[0].1).unwrap();
        for field in [&b"/events"[..], &BASE64.decode(claims).unwrap(), b""] {
            mac.update(&(field.len() as u64).to_be_bytes());
            mac.update(field);
        }
        let forged = format!("{claims}.{}", BASE64.encode(mac.finalize().into_bytes()));
        assert_eq!(keys.open_ticket(&forged, "/events", NOW), None);
    }
}
