//! Tickets: leave to read one path for a minute, for clients that can send no header (`EventSource`).
//!
//! A ticket is `<claims>.<MAC>`, both in base64url: who it was given to, and until when. The path is under the MAC and not in
//! it. It is signed with a key of its own, derived from the dispatch keys, so every process of a deployment takes it and
//! nothing is stored.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use tandem_protocol::Principal;

use crate::DispatchKeys;

/// How long a ticket lets in: long enough for a stream to begin, short enough to stand in an access log.
pub const TICKET_TTL_MS: i64 = 60_000;
/// Longest ticket that is looked at.
const MOST: usize = 4 * 1024;
const PURPOSE: &str = "tandem.ticket.v1";

#[derive(Serialize, Deserialize)]
struct Claims {
    #[serde(flatten)]
    principal: Principal,
    /// Milliseconds since 1970.
    expires_at: i64,
}

impl DispatchKeys {
    /// Leave for `principal` to read `path` until `now_ms` + [`TICKET_TTL_MS`].
    pub fn ticket(&self, principal: &Principal, path: &str, now_ms: i64) -> String {
        let claims = Claims { principal: principal.clone(), expires_at: now_ms + TICKET_TTL_MS };
        let claims = serde_json::to_vec(&claims).unwrap_or_default();
        let keys = self.derive(PURPOSE);
        let mac = keys.first().map(|(_, key)| mac(key, path, &claims).finalize().into_bytes()).unwrap_or_default();
        format!("{}.{}", BASE64.encode(claims), BASE64.encode(mac))
    }

    /// Who holds a ticket for `path`; `None`: it is for another path, too old, or not ours.
    pub fn open_ticket(&self, ticket: &str, path: &str, now_ms: i64) -> Option<Principal> {
        let (claims, signature) = ticket.split_once('.').filter(|_| ticket.len() <= MOST)?;
        let (claims, signature) = (BASE64.decode(claims).ok()?, BASE64.decode(signature).ok()?);
        // Compares in constant time.
        let signed = |(_, key): &(_, [u8; 32])| mac(key, path, &claims).verify_slice(&signature).is_ok();
        self.derive(PURPOSE).iter().find(|key| signed(key))?;
        let Claims { principal, expires_at } = serde_json::from_slice(&claims).ok()?;
        (now_ms < expires_at).then_some(principal)
    }
}

/// Each field is preceded by its length: no two pairs of fields give the same bytes.
fn mac(key: &[u8; 32], path: &str, claims: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::new_from_slice(key).expect("HMAC takes a key of any length");
    for field in [path.as_bytes(), claims] {
        mac.update(&(field.len() as u64).to_be_bytes());
        mac.update(field);
    }
    mac
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
        let roles = vec!["editor".into()];
        let ann = Principal { tenant: "t".parse().unwrap(), user: "ann".parse().unwrap(), roles };
        let ticket = both.ticket(&ann, "/events", NOW);
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
}
