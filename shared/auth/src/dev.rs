//! Principals without sign-in, for a developer's machine only.

use async_trait::async_trait;
use tandem_protocol::{Principal, TenantId, UserId};

use crate::authenticate::{AuthError, Authenticate, bearer};
use crate::config::ConfigError;
use crate::endpoint::is_local_url;

/// Believes what the caller says: `Authorization: Bearer dev.<tenant>.<user>`, and no header is `dev.local.you`.
/// They have no roles.
///
/// It can be made only where the data is a developer's own, so no deployment on AWS can have it.
#[derive(Debug)]
pub struct DevPrincipals {
    _only_new_makes_one: (),
}

impl DevPrincipals {
    /// `dynamodb_endpoint` is the address used instead of AWS's own, and must be loopback, private or
    /// `host.docker.internal`. For an embedded engine it is the address at which that is, or would be, served.
    pub fn new(dynamodb_endpoint: Option<&str>, oidc_configured: bool) -> Result<Self, ConfigError> {
        if oidc_configured {
            return Err(ConfigError::new(
                "OIDC_ISSUER",
                "is set, so callers must sign in and dev principals are not accepted",
                "Unset OIDC_ISSUER and OIDC_AUDIENCE to work without sign-in on your own machine",
            ));
        }
        if dynamodb_endpoint.is_some_and(is_local_url) {
            return Ok(DevPrincipals { _only_new_makes_one: () });
        }
        Err(ConfigError::new(
            "AWS_ENDPOINT_URL_DYNAMODB",
            "does not lead to a loopback or private address or to host.docker.internal, and OIDC is not configured, \
             so nobody could be told apart",
            "Set OIDC_ISSUER and OIDC_AUDIENCE; on your own machine set AWS_ENDPOINT_URL_DYNAMODB to a local engine, \
             for example http://127.0.0.1:8000",
        ))
    }
}

#[async_trait]
impl Authenticate for DevPrincipals {
    async fn authenticate(&self, authorization: Option<&str>) -> Result<Principal, AuthError> {
        parse(authorization).ok_or_else(|| AuthError::Unauthenticated {
            detail: "This is a development system. Send no Authorization header to be dev.local.you, or \
                     `Authorization: Bearer dev.<tenant>.<user>` to be somebody else; the two names are 1 to 128 \
                     letters, digits and _ : ~ - without dots. For real tokens set OIDC_ISSUER and OIDC_AUDIENCE."
                .into(),
        })
    }

    fn must_sign_in(&self) -> bool {
        false
    }
}

fn parse(authorization: Option<&str>) -> Option<Principal> {
    let token = authorization.map_or(Some("dev.local.you"), bearer)?;
    let (tenant, user) = token.strip_prefix("dev.")?.split_once('.')?;
    if user.contains('.') {
        return None;
    }
    Some(Principal { tenant: TenantId::new(tenant).ok()?, user: UserId::new(user).ok()?, roles: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dev_principal_is_who_it_says() {
        let dev = DevPrincipals::new(Some("http://127.0.0.1:8000"), false).unwrap();
        for (header, want) in [
            (None, Some("local/you")),
            (Some("Bearer dev.local.you"), Some("local/you")),
            (Some("bearer dev.acme.ada-1"), Some("acme/ada-1")),
            (Some("Bearer dev.a.b.c"), None),
            (Some("Bearer dev.a."), None),
            (Some("Bearer dev..b"), None),
            (Some("Bearer dev.a"), None),
            (Some("Bearer dev"), None),
            (Some("Bearer Dev.a.b"), None),
            (Some("Bearer prod.a.b"), None),
            (Some("Bearer dev.a#x.b"), None),
            (Some("Bearer dev.a/x.b"), None),
            (Some("dev.a.b"), None),
            (Some("Basic ZGV2"), None),
            (Some(""), None),
        ] {
            let got = dev.authenticate(header).await.map(|p| format!("{}/{}", p.tenant, p.user));
            assert_eq!(got.as_deref().ok(), want, "{header:?}");
            if let Err(error) = got {
                assert!(error.to_string().contains("Bearer dev.<tenant>.<user>"), "{error}");
            }
        }
        let long = format!("Bearer dev.{}.b", "x".repeat(129));
        assert!(dev.authenticate(Some(&long)).await.is_err());
    }

    #[test]
    fn dev_principals_need_a_local_store_and_no_oidc() {
        for (endpoint, oidc, want) in [
            (Some("http://localhost:8000"), false, None),
            (Some("http://192.168.0.4:8000"), false, None),
            (Some("http://localhost:8000"), true, Some("OIDC_ISSUER")),
            (Some("https://dynamodb.us-east-1.amazonaws.com"), false, Some("AWS_ENDPOINT_URL_DYNAMODB")),
            (None, false, Some("AWS_ENDPOINT_URL_DYNAMODB")),
        ] {
            let got = DevPrincipals::new(endpoint, oidc).err().map(|error| error.variable);
            assert_eq!(got, want, "{endpoint:?} {oidc}");
        }
    }
}
