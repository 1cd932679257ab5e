//! What a token must say, and whom it then speaks of. Pure: the signature has been checked, the time is given.

use serde_json::{Map, Value};
use tandem_protocol::Principal;

use super::settings::OidcSettings;
use crate::safe_id;

/// Seconds by which the issuer's clock and ours may differ.
const LEEWAY: i64 = 60;

type Claims = Map<String, Value>;

/// Why a token is refused; the text is for the caller and holds nothing of the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenRefused {
    #[error("This is not a signed token. Send `Authorization: Bearer <access token>`, the token unchanged.")]
    Malformed,
    #[error("The token is signed in a way that is not accepted here. The issuer must sign with RS256, ES256 or EdDSA.")]
    Algorithm,
    #[error("The token does not say which of the issuer's keys signed it. The issuer must put a `kid` in its header.")]
    NoKeyNamed,
    #[error("The issuer does not publish the key that signed the token. Sign in again.")]
    UnknownKey,
    #[error("The token's signature does not fit. Send the token unchanged, or sign in again.")]
    Signature,
    #[error("This is a token for another purpose. Send the access token.")]
    NotAnAccessToken,
    #[error("The token lacks the claim `{0}`, or it is not of the right type. Ask the issuer to include it.")]
    Claim(String),
    #[error("The token comes from another issuer. Sign in at the issuer that is configured here.")]
    Issuer,
    #[error("The token is for another audience. Ask the issuer for a token for this application.")]
    Audience,
    #[error("The token has expired. Sign in again.")]
    Expired,
    #[error("The token is not valid yet. Check the clocks, or try again later.")]
    NotYet,
}

/// The principal of a signed token with `typ` in its header.
pub(super) fn principal(
    typ: Option<&str>,
    claims: &Claims,
    settings: &OidcSettings,
    now: i64,
) -> Result<Principal, TokenRefused> {
    check_purpose(typ, claims)?;
    if text(claims, "iss")? != settings.issuer {
        return Err(TokenRefused::Issuer);
    }
    check_audience(typ, claims, &settings.audiences)?;
    if now >= date(claims, "exp")?.saturating_add(LEEWAY) {
        return Err(TokenRefused::Expired);
    }
    if claims.contains_key("nbf") && date(claims, "nbf")? > now.saturating_add(LEEWAY) {
        return Err(TokenRefused::NotYet);
    }

    let subject = text(claims, "sub")?;
    let tenant = match &settings.tenant_claim {
        Some(name) => safe_id::tenant(text(claims, name)?),
        None if find(claims, "org_id").is_some() => safe_id::tenant(text(claims, "org_id")?),
        None => safe_id::own_tenant(subject),
    };
    Ok(Principal {
        // `text` gives none that is empty, and every other text is an id.
        tenant: tenant.ok_or_else(|| TokenRefused::Claim("sub".into()))?,
        user: safe_id::user(subject).ok_or_else(|| TokenRefused::Claim("sub".into()))?,
        roles: roles(claims, &settings.roles_claim)?,
    })
}

/// Tokens that the issuer signs with the same key for something else: log-out tokens, security events, and id tokens where
/// they can be told apart: Cognito says so, Keycloak names them `ID`, and a hash of the code stands in nothing else.
fn check_purpose(typ: Option<&str>, claims: &Claims) -> Result<(), TokenRefused> {
    let typ_fits = typ.is_none_or(|typ| typ.eq_ignore_ascii_case("JWT")) || is_access_type(typ);
    let use_fits = claims.get("token_use").is_none_or(|token_use| token_use == "access");
    let is_id = claims.contains_key("c_hash") || claims.get("typ").is_some_and(|typ| typ == "ID");
    if typ_fits && use_fits && !is_id { Ok(()) } else { Err(TokenRefused::NotAnAccessToken) }
}

/// `aud` decides where there is one. Cognito's access tokens have none and name the client instead.
fn check_audience(typ: Option<&str>, claims: &Claims, audiences: &[String]) -> Result<(), TokenRefused> {
    let is_ours = |aud: &str| audiences.iter().any(|audience| audience == aud);
    let fits = match claims.get("aud") {
        Some(Value::String(aud)) => is_ours(aud),
        Some(Value::Array(auds)) => auds.iter().any(|aud| aud.as_str().is_some_and(is_ours)),
        Some(_) => return Err(TokenRefused::Claim("aud".into())),
        None if claims.contains_key("token_use") || is_access_type(typ) => {
            is_ours(text(claims, "client_id").map_err(|_| TokenRefused::Claim("aud".into()))?)
        }
        None => return Err(TokenRefused::Claim("aud".into())),
    };
    if fits { Ok(()) } else { Err(TokenRefused::Audience) }
}

/// Whether the header says "access token" (RFC 9068).
fn is_access_type(typ: Option<&str>) -> bool {
    typ.is_some_and(|typ| typ.eq_ignore_ascii_case("at+jwt") || typ.eq_ignore_ascii_case("application/at+jwt"))
}

/// A list of texts, or one text with spaces between (as `scope` has); without the claim there are none.
fn roles(claims: &Claims, name: &str) -> Result<Vec<String>, TokenRefused> {
    let wrong = || TokenRefused::Claim(name.into());
    match find(claims, name) {
        None => Ok(Vec::new()),
        Some(Value::String(roles)) => Ok(roles.split_whitespace().map(Into::into).collect()),
        Some(Value::Array(roles)) => roles.iter().map(|role| role.as_str().map(Into::into).ok_or_else(wrong)).collect(),
        Some(_) => Err(wrong()),
    }
}

/// Seconds since 1970; a fraction is cut off.
fn date(claims: &Claims, name: &str) -> Result<i64, TokenRefused> {
    let date = claims.get(name).and_then(|value| value.as_i64().or_else(|| value.as_f64().map(|date| date as i64)));
    date.ok_or_else(|| TokenRefused::Claim(name.into()))
}

/// A text that is not empty.
fn text<'a>(claims: &'a Claims, name: &str) -> Result<&'a str, TokenRefused> {
    let text = find(claims, name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.ok_or_else(|| TokenRefused::Claim(name.into()))
}

/// The claim called `name`, or at the pointer `name`; `null` is as good as absent.
fn find<'a>(claims: &'a Claims, name: &str) -> Option<&'a Value> {
    let mut value = claims.get(name);
    if value.is_none()
        && let Some(pointer) = name.strip_prefix('/')
    {
        let (first, rest) = pointer.split_once('/').unwrap_or((pointer, ""));
        let rest = if rest.is_empty() { String::new() } else { format!("/{rest}") };
        value = claims.get(first).and_then(|value| value.pointer(&rest));
    }
    value.filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn settings() -> OidcSettings {
        OidcSettings {
            issuer: "https://issuer.example".into(),
            audiences: vec!["tandem".into(), "tandem-programs".into()],
            tenant_claim: None,
            roles_claim: "roles".into(),
            public_url: None,
        }
    }

    /// The claims of a good token with `changes`; a `null` removes one.
    fn claims(changes: Value) -> Claims {
        let mut claims = json!({
            "iss": "https://issuer.example", "aud": "tandem", "exp": NOW + 300, "sub": "ada", "org_id": "acme",
        });
        let claims = claims.as_object_mut().unwrap();
        for (name, value) in changes.as_object().unwrap() {
            if value.is_null() {
                claims.remove(name)
            } else {
                claims.insert(name.clone(), value.clone())
            };
        }
        claims.clone()
    }

    fn claim(name: &str) -> Result<(), TokenRefused> {
        Err(TokenRefused::Claim(name.into()))
    }

    #[test]
    fn every_claim_is_checked_and_none_may_be_missing() {
        use TokenRefused::{Audience, Expired, Issuer, NotAnAccessToken, NotYet};
        for (changes, want) in [
            (json!({}), Ok(())),
            (json!({"iss": "https://issuer.example/"}), Err(Issuer)),
            (json!({"iss": "https://other.example"}), Err(Issuer)),
            (json!({"iss": ["https://issuer.example"]}), claim("iss")),
            (json!({"iss": null}), claim("iss")),
            (json!({"aud": "other"}), Err(Audience)),
            (json!({"aud": "tandem2"}), Err(Audience)),
            // Any of those that are set, and no two of them together.
            (json!({"aud": "tandem-programs"}), Ok(())),
            (json!({"aud": "tandem,tandem-programs"}), Err(Audience)),
            (json!({"aud": "tandem tandem-programs"}), Err(Audience)),
            (json!({"aud": ["other", "tandem-programs"]}), Ok(())),
            (json!({"aud": [7]}), Err(Audience)),
            (json!({"aud": null, "client_id": "tandem-programs", "token_use": "access"}), Ok(())),
            (json!({"aud": ["other", "tandem"]}), Ok(())),
            (json!({"aud": ["other"]}), Err(Audience)),
            (json!({"aud": []}), Err(Audience)),
            (json!({"aud": 7}), claim("aud")),
            (json!({"aud": null}), claim("aud")),
            (json!({"aud": null, "client_id": "tandem"}), claim("aud")),
            (json!({"aud": null, "client_id": "tandem", "token_use": "access"}), Ok(())),
            (json!({"aud": null, "client_id": "other", "token_use": "access"}), Err(Audience)),
            (json!({"aud": null, "token_use": "access"}), claim("aud")),
            (json!({"aud": "other", "client_id": "tandem", "token_use": "access"}), Err(Audience)),
            (json!({"token_use": "id"}), Err(NotAnAccessToken)),
            (json!({"token_use": 1}), Err(NotAnAccessToken)),
            (json!({"c_hash": "x"}), Err(NotAnAccessToken)),
            // Some issuers put it into access tokens too.
            (json!({"at_hash": "x"}), Ok(())),
            (json!({"typ": "ID"}), Err(NotAnAccessToken)),
            (json!({"typ": "Bearer"}), Ok(())),
            (json!({"exp": NOW + 1}), Ok(())),
            (json!({"exp": NOW - 1}), Ok(())),
            (json!({"exp": NOW - 59}), Ok(())),
            (json!({"exp": NOW - 60}), Err(Expired)),
            (json!({"exp": NOW - 120}), Err(Expired)),
            (json!({"exp": -1}), Err(Expired)),
            (json!({"exp": i64::MAX}), Ok(())),
            (json!({"exp": u64::MAX}), Ok(())),
            (json!({"exp": 1.5e300}), Ok(())),
            (json!({"exp": -1.5e300}), Err(Expired)),
            (json!({"exp": (NOW + 300) as f64 + 0.5}), Ok(())),
            (json!({"exp": "1900000000"}), claim("exp")),
            (json!({"exp": null}), claim("exp")),
            (json!({"nbf": NOW - 1}), Ok(())),
            (json!({"nbf": NOW + 60}), Ok(())),
            (json!({"nbf": NOW + 61}), Err(NotYet)),
            (json!({"nbf": i64::MAX}), Err(NotYet)),
            (json!({"nbf": "soon"}), claim("nbf")),
            (json!({"sub": null}), claim("sub")),
            (json!({"sub": ""}), claim("sub")),
            (json!({"sub": 17}), claim("sub")),
            (json!({"org_id": ""}), claim("org_id")),
            (json!({"org_id": ["acme"]}), claim("org_id")),
            (json!({"roles": {"admin": true}}), claim("roles")),
            (json!({"roles": ["admin", 1]}), claim("roles")),
        ] {
            let got = principal(None, &claims(changes.clone()), &settings(), NOW).map(|_| ());
            assert_eq!(got, want, "{changes}");
        }
    }

    #[test]
    fn a_token_for_another_purpose_is_refused() {
        for (typ, want) in [
            (None, true),
            (Some("JWT"), true),
            (Some("jwt"), true),
            (Some("at+jwt"), true),
            (Some("application/at+JWT"), true),
            (Some("logout+jwt"), false),
            (Some("secevent+jwt"), false),
            (Some(""), false),
        ] {
            let got = principal(typ, &claims(json!({})), &settings(), NOW);
            assert_eq!(got.is_ok(), want, "{typ:?}");
            let client_only = claims(json!({"aud": null, "client_id": "tandem"}));
            let got = principal(typ, &client_only, &settings(), NOW);
            assert_eq!(got.is_ok(), want && is_access_type(typ), "{typ:?} without aud");
        }
    }

    #[test]
    fn the_principal_is_whom_the_claims_name() {
        let named = |tenant_claim: Option<&str>, roles_claim: &str, changes: Value| {
            let settings = OidcSettings {
                tenant_claim: tenant_claim.map(Into::into),
                roles_claim: roles_claim.into(),
                ..settings()
            };
            principal(None, &claims(changes), &settings, NOW)
                .map(|p| format!("{}/{} {}", p.tenant, p.user, p.roles.join("+")))
        };
        let missing = |name: &str| Err(TokenRefused::Claim(name.into()));
        for (tenant_claim, roles_claim, changes, want) in [
            (None, "roles", json!({}), Ok("acme/ada ")),
            (None, "roles", json!({"roles": ["admin", "ops"]}), Ok("acme/ada admin+ops")),
            (None, "scope", json!({"scope": "read  write"}), Ok("acme/ada read+write")),
            (None, "/realm/roles", json!({"realm": {"roles": ["admin"]}}), Ok("acme/ada admin")),
            (None, "https://x.example/roles", json!({"https://x.example/roles": ["a"]}), Ok("acme/ada a")),
            // Somebody alone is a tenant that no organisation can be, and the other way round.
            (None, "roles", json!({"org_id": null}), Ok("~sub.ada/ada ")),
            (None, "roles", json!({"org_id": null, "sub": "acme"}), Ok("~sub.acme/acme ")),
            (None, "roles", json!({"org_id": "~sub.ada", "sub": "eve"}), Ok("~7Esub.ada/eve ")),
            (None, "roles", json!({"sub": "auth0|1#x"}), Ok("acme/auth0~7C1~23x ")),
            // A claim that the operator has named must be there.
            (Some("tid"), "roles", json!({"tid": "t/1"}), Ok("t~2F1/ada ")),
            (Some("tid"), "roles", json!({}), missing("tid")),
            (Some("org_id"), "roles", json!({"org_id": null}), missing("org_id")),
            // Everybody of the issuer together.
            (Some("iss"), "roles", json!({}), Ok("https:~2F~2Fissuer.example/ada ")),
            (Some("/org/id"), "roles", json!({"org": {"id": "x"}}), Ok("x/ada ")),
            (Some("/org"), "roles", json!({"org": "x"}), Ok("x/ada ")),
            (Some("/org/id"), "roles", json!({"org": "x"}), missing("/org/id")),
        ] {
            let got = named(tenant_claim, roles_claim, changes.clone());
            assert_eq!(got.as_deref(), want.as_ref().map(|want| *want), "{tenant_claim:?} {roles_claim} {changes}");
        }
    }
}
