//! Who calls: tokens of a real issuer, good ones and bad ones.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tandem_auth::{Authenticate, Oidc, OidcSettings};
use tandem_testkit::issuer::{FakeIssuer, SigningKey, b64};

/// The header `Authorization` of each.
pub(super) struct People {
    pub(super) issuer: FakeIssuer,
    key: SigningKey,
    pub(super) ann: String,
    /// In ann's tenant.
    pub(super) bob: String,
    /// In ann's tenant, with the role `admin`.
    pub(super) chief: String,
    /// Called as ann is, in another tenant.
    pub(super) eve: String,
}

impl People {
    pub(super) async fn new() -> Self {
        let key = SigningKey::ec("c");
        let issuer = FakeIssuer::start(std::slice::from_ref(&key)).await;
        let token = |tenant: &str, user: &str, roles: &[&str]| {
            format!("Bearer {}", key.token(&claims(&issuer, tenant, user, roles, 3600)))
        };
        People {
            ann: token("acme", "ann", &[]),
            bob: token("acme", "bob", &["reader"]),
            chief: token("acme", "chief", &["reader", "admin"]),
            eve: token("other", "ann", &["admin"]),
            issuer,
            key,
        }
    }

    pub(super) fn door(&self) -> Arc<dyn Authenticate> {
        self.door_at(None)
    }

    pub(super) fn door_at(&self, public_url: Option<&str>) -> Arc<dyn Authenticate> {
        let settings = OidcSettings {
            issuer: self.issuer.url.clone(),
            audiences: vec!["tandem".into()],
            tenant_claim: None,
            roles_claim: "roles".into(),
            public_url: public_url.map(Into::into),
        };
        Arc::new(Oidc::new(settings).unwrap())
    }

    /// Nobody, in all the ways that there are.
    pub(super) fn strangers(&self) -> Vec<(&'static str, Option<String>)> {
        let good = claims(&self.issuer, "acme", "ann", &["admin"], 3600);
        let bearer = |token: String| Some(format!("Bearer {token}"));
        let expired = self.key.token(&claims(&self.issuer, "acme", "ann", &["admin"], -120));
        let mut elsewhere = good.clone();
        elsewhere["aud"] = "other".into();
        let (head, signature) =
            self.key.token(&good).rsplit_once('.').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let forged =
            head.split_once('.').map(|(header, _)| format!("{header}.{}.{signature}", b64(good.to_string() + " ")));
        vec![
            ("without a token", None),
            ("with a dev token", bearer("dev.acme.ann".into())),
            ("with an expired token", bearer(expired)),
            ("with a token for others", bearer(self.key.token(&elsewhere))),
            ("with a forged token", bearer(forged.unwrap())),
            ("with a key of nobody's", bearer(SigningKey::ec("c").token(&good))),
            ("with a password", Some("Basic YW5uOmFubg==".into())),
        ]
    }
}

fn claims(issuer: &FakeIssuer, tenant: &str, user: &str, roles: &[&str], lasts: i64) -> Value {
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap();
    json!({"iss": issuer.url, "aud": "tandem", "sub": user, "org_id": tenant, "roles": roles, "exp": now + lasts})
}
