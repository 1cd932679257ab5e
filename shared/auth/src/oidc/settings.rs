//! The OIDC_ variables.

use crate::config::{ConfigError, set};

/// Whose tokens are accepted and what they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OidcSettings {
    /// `iss` of every token, to the letter; also where the discovery document is.
    pub issuer: String,
    /// What `aud` must contain; for access tokens without `aud`, what `client_id` must be.
    pub audience: String,
    /// The claim with the tenant. A token without it is refused. `None`: `org_id`, and somebody without
    /// one is a tenant alone.
    pub tenant_claim: Option<String>,
    /// The claim with the roles: a list, or one text with spaces between. Without it there are none.
    pub roles_claim: String,
}

impl OidcSettings {
    /// Reads OIDC_ISSUER, OIDC_AUDIENCE, OIDC_TENANT_CLAIM and OIDC_ROLES_CLAIM; none if neither of the first two is
    /// set. A claim is given by name (`org_id`) or, if it begins with `/`, by JSON pointer (`/realm_access/roles`).
    pub fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, ConfigError> {
        let (issuer, audience) = match (set(&lookup, "OIDC_ISSUER"), set(&lookup, "OIDC_AUDIENCE")) {
            (Some(issuer), Some(audience)) => (issuer, audience),
            (None, None) => return Ok(None),
            (Some(_), None) => {
                return Err(ConfigError::new(
                    "OIDC_AUDIENCE",
                    "is not set, but OIDC_ISSUER is, and without it the tokens of every other application would do",
                    "Set it to the audience (for Cognito the app client id) that the tokens for this API carry",
                ));
            }
            (None, Some(_)) => {
                return Err(ConfigError::new(
                    "OIDC_ISSUER",
                    "is not set, but OIDC_AUDIENCE is",
                    "Set it to the issuer's address, or unset both to work without sign-in on your own machine",
                ));
            }
        };
        Ok(Some(OidcSettings {
            issuer,
            audience,
            tenant_claim: set(&lookup, "OIDC_TENANT_CLAIM"),
            roles_claim: set(&lookup, "OIDC_ROLES_CLAIM").unwrap_or_else(|| "roles".into()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_are_read_with_their_defaults() {
        let read = |variables: &[(&str, &str)]| {
            let lookup = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
            OidcSettings::from_env(lookup).unwrap()
        };
        let settings = |tenant_claim: Option<&str>, roles_claim: &str| OidcSettings {
            issuer: "https://issuer.example/".into(),
            audience: "tandem".into(),
            tenant_claim: tenant_claim.map(Into::into),
            roles_claim: roles_claim.into(),
        };
        const ISSUER: (&str, &str) = ("OIDC_ISSUER", " https://issuer.example/ ");
        const AUDIENCE: (&str, &str) = ("OIDC_AUDIENCE", "tandem");
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[("OIDC_TENANT_CLAIM", "tid")]), None);
        assert_eq!(read(&[ISSUER, AUDIENCE]), Some(settings(None, "roles")));
        assert_eq!(
            read(&[ISSUER, AUDIENCE, ("OIDC_TENANT_CLAIM", "tid"), ("OIDC_ROLES_CLAIM", "/realm_access/roles")]),
            Some(settings(Some("tid"), "/realm_access/roles"))
        );
    }
}
