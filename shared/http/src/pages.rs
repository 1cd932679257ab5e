//! Which web pages may call, where nobody signs in and callers are whom they say: any page that somebody has open on that
//! machine could otherwise read and change everything.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tandem_auth::is_loopback_url;
use tandem_protocol::Code;

use crate::ApiError;

/// Pages that may call. Programs that are no browser name no page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// All: only a token lets anybody in.
    Any,
    /// Those of this machine and those that come from the address that is called: where callers are whom they say, and
    /// others than this machine may call.
    OwnHost,
    /// Those of this machine, by a name of this machine: a page that has made its own name lead here (DNS rebinding) sends
    /// no origin when it reads, but that name.
    OwnMachine,
}

/// `/mcp` has a list of origins of its own.
const MCP: &str = "/mcp";

pub(crate) async fn check(State(pages): State<Pages>, request: Request, next: Next) -> Response {
    match refusal(pages, request.headers(), request.uri().path() == MCP) {
        Some(detail) => ApiError::new(Code::Forbidden, detail).into_response(),
        None => next.run(request).await,
    }
}

fn refusal(pages: Pages, headers: &HeaderMap, is_mcp: bool) -> Option<&'static str> {
    if pages == Pages::Any {
        return None;
    }
    let text = |name| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?")).collect::<Vec<_>>();
    let (hosts, origins) = (text(header::HOST), text(header::ORIGIN));
    if pages == Pages::OwnMachine && !hosts.iter().all(|host| is_loopback_url(&format!("http://{host}"))) {
        return Some(NOT_THIS_MACHINE);
    }
    let same_host = |origin: &str| pages == Pages::OwnHost && hosts == [origin.split_once("://").map_or("", |it| it.1)];
    let is_own = |origin: &&str| is_loopback_url(origin) || same_host(origin);
    (!is_mcp && !origins.iter().all(is_own)).then_some(FOREIGN_PAGE)
}

const NOT_THIS_MACHINE: &str = "Nobody signs in here, so this address only answers to 127.0.0.1 and localhost: call it by \
                                one of them, or set OIDC_ISSUER and OIDC_AUDIENCE.";
const FOREIGN_PAGE: &str = "Nobody signs in here, so only pages of this machine may call: serve the page from \
                            http://localhost, or set OIDC_ISSUER and OIDC_AUDIENCE.";

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn let_in(pages: Pages, host: Option<&str>, origins: &[&'static str], path: &str) -> bool {
        let mut headers = HeaderMap::new();
        host.map(|host| headers.insert(header::HOST, HeaderValue::from_str(host).unwrap()));
        for origin in origins {
            headers.append(header::ORIGIN, HeaderValue::from_static(origin));
        }
        refusal(pages, &headers, path == MCP).is_none()
    }

    #[test]
    fn only_pages_of_this_machine_call_where_nobody_signs_in() {
        let here = Some("127.0.0.1:8787");
        for (host, origins, want) in [
            (here, &[][..], true),
            (Some("localhost:8787"), &[], true),
            (Some("[::1]:8787"), &[], true),
            (None, &[], true),
            (here, &["http://localhost:5173"], true),
            (here, &["http://127.0.0.1:8787"], true),
            (here, &["https://evil.example"], false),
            (here, &["http://localhost.evil.example"], false),
            (here, &["http://localhost@evil.example"], false),
            (here, &["http://localhost:5173", "https://evil.example"], false),
            (here, &["null"], false),
            (here, &[""], false),
            // A name that leads here.
            (Some("evil.example:8787"), &[], false),
            (Some("evil.example:8787"), &["http://evil.example:8787"], false),
            (Some("127.0.0.1.evil.example"), &[], false),
        ] {
            assert_eq!(let_in(Pages::OwnMachine, host, origins, "/threads"), want, "{host:?} {origins:?}");
            assert!(let_in(Pages::Any, host, origins, "/threads"));
        }
        assert!(let_in(Pages::OwnMachine, here, &["https://listed.example"], "/mcp"));
        assert!(!let_in(Pages::OwnMachine, Some("evil.example"), &[], "/mcp"));
    }

    #[test]
    fn a_page_of_the_address_that_is_called_may_call_where_others_than_this_machine_do() {
        let lan = Some("192.168.0.4:8787");
        for (origins, want) in [
            (&[][..], true),
            (&["http://192.168.0.4:8787"], true),
            (&["http://192.168.0.4:8080"], false),
            (&["http://localhost:5173"], true),
            (&["https://evil.example"], false),
        ] {
            assert_eq!(let_in(Pages::OwnHost, lan, origins, "/threads"), want, "{origins:?}");
        }
    }
}
