//! The door for people: from an `Authorization` header to a principal.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tandem_protocol::{Code, Principal, Problem};

use crate::config::{ConfigError, set};
use crate::endpoint::is_own_machine_url;
use crate::{DevPrincipals, Oidc, OidcSettings};

/// Tells who is calling. Two implementations exist: [`Oidc`] and [`DevPrincipals`].
#[async_trait]
pub trait Authenticate: Send + Sync + fmt::Debug {
    /// `authorization` is the value of the header, and `None` means that the request has none. A header that is
    /// not text, or is there twice, must be passed as `Some("")`: it must not be taken for an absent one.
    async fn authenticate(&self, authorization: Option<&str>) -> Result<Principal, AuthError>;

    /// Whether a request without the header is nobody's.
    fn must_sign_in(&self) -> bool {
        true
    }

    /// Who gives out the tokens; none: they are made by hand.
    fn issuer(&self) -> Option<&str> {
        None
    }

    /// Where clients call this service, where that is set: `https://host`, without a slash at the end.
    fn public_url(&self) -> Option<&str> {
        None
    }
}

/// Why nobody is let in. The texts are for people and say what to do; they hold nothing of the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// The caller must sign in (401, with `WWW-Authenticate: Bearer`).
    #[error("{detail}")]
    Unauthenticated { detail: String },
    /// The token may be good, but the issuer's keys cannot be had: try again in `retry_after` seconds (503).
    #[error("{detail}")]
    Unavailable { detail: String, retry_after: u32 },
}

impl From<AuthError> for Problem {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Unauthenticated { detail } => Problem::new(Code::Unauthenticated, detail),
            AuthError::Unavailable { detail, retry_after } => Problem {
                title: "The sign-in service does not answer".into(),
                retry_after: Some(retry_after),
                ..Problem::new(Code::StoreUnavailable, detail)
            },
        }
    }
}

/// Chooses how people sign in: OIDC where `OIDC_ISSUER` and `OIDC_AUDIENCE` are set, else dev principals where
/// the DynamoDB endpoint is a local one, else not at all: an error that says what to set.
///
/// `lookup` reads one environment variable, for example `|name| std::env::var(name).ok()`.
pub fn authenticator_from_env(lookup: impl Fn(&str) -> Option<String>) -> Result<Arc<dyn Authenticate>, ConfigError> {
    if let Some(settings) = OidcSettings::from_env(&lookup)? {
        return Ok(Arc::new(Oidc::new(settings)?));
    }
    // On Lambda a private address is one of AWS's; an emulator's store is on the machine that emulates.
    let on_lambda = set(&lookup, "AWS_LAMBDA_FUNCTION_NAME").is_some();
    let endpoint = dynamodb_endpoint(&lookup).filter(|url| !on_lambda || is_own_machine_url(url));
    Ok(Arc::new(DevPrincipals::new(endpoint.as_deref(), false)?))
}

/// The address that the AWS SDK will use for DynamoDB instead of AWS, by the SDK's own rules.
fn dynamodb_endpoint(lookup: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let ignored = set(lookup, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS").is_some_and(|value| value != "false");
    if ignored {
        return None;
    }
    set(lookup, "AWS_ENDPOINT_URL_DYNAMODB").or_else(|| set(lookup, "AWS_ENDPOINT_URL"))
}

/// The token of `Authorization: Bearer <token>`.
pub(crate) fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    let token = token.trim_start();
    let is_one_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("bearer") && is_one_word).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(variables: &[(&str, &str)]) -> Result<Arc<dyn Authenticate>, ConfigError> {
        authenticator_from_env(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into()))
    }

    /// `Ok` with the first word of what was chosen, or `Err` with the variable that the error names.
    #[track_caller]
    fn check(variables: &[(&str, &str)], want: Result<&str, &str>) {
        let got = choose(variables).map(|chosen| format!("{chosen:?}")).map_err(|error| {
            assert!(error.to_string().starts_with(error.variable) && !error.way_out.is_empty(), "{error}");
            error.variable
        });
        let got = got.as_ref().map(|text| text.split([' ', '{']).next().unwrap()).map_err(|variable| *variable);
        assert_eq!(got, want, "{variables:?}");
    }

    #[test]
    fn no_deployment_on_aws_can_have_dev_principals() {
        const LOCAL: (&str, &str) = ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:8000");
        let not_local = Err("AWS_ENDPOINT_URL_DYNAMODB");
        check(&[], not_local);
        check(&[LOCAL], Ok("DevPrincipals"));
        check(&[("AWS_ENDPOINT_URL_DYNAMODB", "http://host.docker.internal:8000")], Ok("DevPrincipals"));
        check(&[("AWS_ENDPOINT_URL", "http://10.0.0.1:8000")], Ok("DevPrincipals"));
        check(&[("AWS_ENDPOINT_URL_DYNAMODB", "https://dynamodb.eu-west-1.amazonaws.com")], not_local);
        const FUNCTION: (&str, &str) = ("AWS_LAMBDA_FUNCTION_NAME", "foreground");
        check(&[LOCAL, FUNCTION], Ok("DevPrincipals"));
        check(&[("AWS_ENDPOINT_URL_DYNAMODB", "http://host.docker.internal:8000"), FUNCTION], Ok("DevPrincipals"));
        check(&[("AWS_ENDPOINT_URL", "http://10.0.0.1:8000"), FUNCTION], not_local);
        check(&[("AWS_ENDPOINT_URL_DYNAMODB", "https://192.168.0.4"), FUNCTION], not_local);
        check(&[FUNCTION], not_local);
        // The SDK prefers the service's own variable, and so must we.
        check(&[("AWS_ENDPOINT_URL_DYNAMODB", "https://ddb.example"), ("AWS_ENDPOINT_URL", "http://[::1]")], not_local);
        // Told to ignore the address, the SDK talks to AWS whatever it says.
        check(&[LOCAL, ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")], not_local);
        check(&[LOCAL, ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "false")], Ok("DevPrincipals"));
    }

    #[test]
    fn oidc_wins_over_dev_principals_and_is_never_half_configured() {
        const LOCAL: (&str, &str) = ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:8000");
        const ISSUER: (&str, &str) = ("OIDC_ISSUER", "https://issuer.example");
        const AUDIENCE: (&str, &str) = ("OIDC_AUDIENCE", "tandem");
        check(&[ISSUER, AUDIENCE], Ok("Oidc"));
        check(&[ISSUER, AUDIENCE, LOCAL], Ok("Oidc"));
        check(&[ISSUER, LOCAL], Err("OIDC_AUDIENCE"));
        check(&[ISSUER, ("OIDC_AUDIENCE", " ,"), LOCAL], Err("OIDC_AUDIENCE"));
        check(&[AUDIENCE, LOCAL], Err("OIDC_ISSUER"));
        check(&[("OIDC_ISSUER", ""), ("OIDC_AUDIENCE", " "), LOCAL], Ok("DevPrincipals"));
        check(&[("OIDC_ISSUER", "http://issuer.example"), AUDIENCE], Err("OIDC_ISSUER"));
        check(&[("OIDC_ISSUER", "issuer.example"), AUDIENCE], Err("OIDC_ISSUER"));
        check(&[("OIDC_ISSUER", "https://issuer.example?a=b"), AUDIENCE], Err("OIDC_ISSUER"));
    }

    #[test]
    fn a_bearer_token_is_one_word() {
        for (header, want) in [
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("BEARER a.b.c", Some("a.b.c")),
            ("Bearer", None),
            ("Bearer ", None),
            ("Bearer a b", None),
            ("Bearer a\u{7f}", None),
            ("Bearer ä", None),
            ("Basic abc", None),
            ("abc", None),
            ("", None),
        ] {
            assert_eq!(bearer(header), want, "{header:?}");
        }
    }

    #[test]
    fn an_error_becomes_a_problem_with_a_way_to_go_on() {
        let problem = Problem::from(AuthError::Unavailable { detail: "later".into(), retry_after: 7 });
        assert_eq!((problem.status, problem.retry_after), (503, Some(7)));
        let problem = Problem::from(AuthError::Unauthenticated { detail: "sign in".into() });
        assert_eq!((problem.status, problem.detail.as_str()), (401, "sign in"));
    }
}
