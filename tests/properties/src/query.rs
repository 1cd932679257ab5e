//! Queries as inputs of actions.

use std::sync::OnceLock;

use axum::extract::Query;
use tandem_actions::Registry;
use tandem_catalog::Settings;
use tandem_protocol::{Caller, Principal, TenantId, UserId};

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| tandem_catalog::registry_with(&Settings::default()).unwrap())
}

/// Whatever fits fits again, unchanged; whatever does not says where.
pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(uri) = format!("/api/x?{text}").parse() else { return };
    let Ok(Query(arguments)) = Query::<Vec<(String, String)>>::try_from_uri(&uri) else { return };
    let somebody =
        Principal { tenant: TenantId::new("t").unwrap(), user: UserId::new("u").unwrap(), roles: Vec::new() };
    for entry in registry().entries().filter(|entry| entry.is_on(Caller::Http)) {
        let input = registry().read_text(entry.name(), &arguments);
        match registry().check(entry.name(), input, &somebody, Caller::Http) {
            Ok(fits) => {
                let again = registry().check(entry.name(), fits.clone(), &somebody, Caller::Http);
                assert_eq!(again.unwrap(), fits, "{} {text}", entry.name());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

pub(crate) fn samples() -> Vec<Vec<u8>> {
    crate::text_samples(&[
        "label=billing&unread=true&archived=false&limit=20&cursor=abc",
        "query=a%20b+c&limit=5",
        "emailId=e-12",
        "scope=user&query=x&limit=10",
        "days=7&archived=1&days=8",
    ])
}
