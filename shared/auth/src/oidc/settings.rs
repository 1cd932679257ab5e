//! The OIDC_ variables.

use reqwest::Url;

use crate::config::{ConfigError, set};
use crate::endpoint::is_trustworthy;

/// Whose tokens are accepted and what they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OidcSettings {
    /// `iss` of every token, to the letter; also where the discovery document is.
    pub issuer: String,
    /// What `aud` must contain one of; for access tokens without `aud`, what `client_id` must be one of. There is at least
    /// one, and the first is the one that the user interface asks the issuer for.
    pub audiences: Vec<String>,
    /// The claim with the tenant. A token without it is refused. `None`: `org_id`, and somebody without
    /// one is a tenant alone.
    pub tenant_claim: Option<String>,
    /// The claim with the roles: a list, or one text with spaces between. Without it there are none.
    pub roles_claim: String,
    /// Where clients call this service, without a slash at the end. `None`: where the request says that it was sent.
    pub public_url: Option<String>,
}

impl OidcSettings {
    /// Reads OIDC_ISSUER, OIDC_AUDIENCE, OIDC_TENANT_CLAIM, OIDC_ROLES_CLAIM and PUBLIC_URL; none if neither of the first two is
    /// set. OIDC_AUDIENCE may be a list with commas. A claim is given by name (`org_id`) or, if it begins with `/`, by JSON
    /// pointer (`/realm_access/roles`).
    pub fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, ConfigError> {
        let audiences = set(&lookup, "OIDC_AUDIENCE").map(|list| listed(&list)).filter(|list| !list.is_empty());
        let (issuer, audiences) = match (set(&lookup, "OIDC_ISSUER"), audiences) {
            (Some(issuer), Some(audiences)) => (issuer, audiences),
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
            audiences,
            tenant_claim: set(&lookup, "OIDC_TENANT_CLAIM"),
            roles_claim: set(&lookup, "OIDC_ROLES_CLAIM").unwrap_or_else(|| "roles".into()),
            public_url: set(&lookup, "PUBLIC_URL").map(|url| public_url(&url)).transpose()?,
        }))
    }
}

/// What stands between the commas.
fn listed(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Into::into).collect()
}

/// The address in the form in which paths are put behind it.
fn public_url(text: &str) -> Result<String, ConfigError> {
    let url = Url::parse(text).ok().filter(is_trustworthy);
    let plain = url.filter(|url| url.query().is_none() && url.fragment().is_none());
    // A header is made of it, between quotes; an address as it is read holds none.
    plain.map(|url| url.as_str().trim_end_matches('/').to_owned()).ok_or_else(|| {
        ConfigError::new(
            "PUBLIC_URL",
            "must begin with https:// and hold no user name, ? or # (http:// is for loopback only)",
            "Set it to the address at which clients call this service, for example https://tandem.example.com",
        )
    })
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
            audiences: vec!["tandem".into()],
            tenant_claim: tenant_claim.map(Into::into),
            roles_claim: roles_claim.into(),
            public_url: None,
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
        let audiences = |list| read(&[ISSUER, ("OIDC_AUDIENCE", list)]).unwrap().audiences;
        assert_eq!(audiences("client-1, client-2"), ["client-1", "client-2"]);
        assert_eq!(audiences(" , https://tandem.example.com,"), ["https://tandem.example.com"]);
        for (url, want) in [
            ("https://Tandem.example.com/", Some("https://tandem.example.com")),
            ("https://api.example.com/prod", Some("https://api.example.com/prod")),
            ("http://127.0.0.1:8787", Some("http://127.0.0.1:8787")),
            ("https://a.example/\"b", Some("https://a.example/%22b")),
            ("http://tandem.example.com", None),
            ("https://me@tandem.example.com", None),
            ("https://tandem.example.com?a=b", None),
            ("tandem.example.com", None),
        ] {
            let read = OidcSettings::from_env(|name| match name {
                "OIDC_ISSUER" => Some("https://issuer.example/".into()),
                "OIDC_AUDIENCE" => Some("tandem".into()),
                "PUBLIC_URL" => Some(url.to_owned()),
                _ => None,
            });
            let got = read.map(|settings| settings.and_then(|settings| settings.public_url));
            assert_eq!(got.map_err(|error| error.variable), want.map(|url| Some(url.to_owned())).ok_or("PUBLIC_URL"));
        }
    }
}
