//! Where programs are told how to sign in (RFC 9728): a 401 names a document, and the document names the issuer. Clients
//! of MCP find their way by nothing else.
//!
//! The addresses are those of `PUBLIC_URL`, or else of the header `Host`. Who writes a false one is the only one who reads
//! the answer: nothing keeps it. Behind somebody who changes that header, as CloudFront does, clients refuse what is
//! made from it, so `PUBLIC_URL` must be set there.

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use tandem_auth::is_loopback_url;

use crate::App;

/// The document of the whole service; that of a part has the part's path behind it.
pub(crate) const DOCUMENT: &str = "/.well-known/oauth-protected-resource";
/// The part that MCP clients know.
pub(crate) const MCP: &str = "/mcp";

/// Names the document in answers to those who must sign in with an issuer.
pub(crate) async fn point(State(app): State<App>, request: Request, next: Next) -> Response {
    let part = if request.uri().path() == MCP { MCP } else { "" };
    let host = only_host(request.headers()).cloned();
    let mut response = next.run(request).await;
    if app.authenticate.issuer().is_some()
        && let Some(said) = response.headers_mut().get_mut(header::WWW_AUTHENTICATE)
        && let Some(base) = base(&app, host.as_ref())
        && let Ok(named) = HeaderValue::from_str(&format!("Bearer resource_metadata=\"{base}{DOCUMENT}{part}\""))
    {
        *said = named;
    }
    response
}

/// Where this service is called, without a slash at the end; none where that cannot be told.
pub(crate) fn base(app: &App, host: Option<&HeaderValue>) -> Option<String> {
    match app.authenticate.public_url() {
        Some(url) => Some(url.to_owned()),
        None => of_host(host?),
    }
}

/// The header `Host`, where it is there once.
pub(crate) fn only_host(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut hosts = headers.get_all(header::HOST).iter();
    hosts.next().filter(|_| hosts.next().is_none())
}

fn of_host(host: &HeaderValue) -> Option<String> {
    let host = host.to_str().ok()?;
    // It is put between quotes, and must be a name and a port and nothing else.
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':' | b'[' | b']');
    let authority = host.bytes().all(allowed).then(|| host.parse::<Authority>().ok())??;
    let has_port = authority.as_str().len() > authority.host().len();
    if authority.host().is_empty() || (has_port && authority.port_u16().is_none()) {
        return None;
    }
    // Lambda and whoever stands in front elsewhere speak TLS; a program on this machine does not.
    let plain = format!("http://{authority}");
    Some(if is_loopback_url(&plain) { plain } else { format!("https://{authority}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_made_of_a_plain_host_and_of_nothing_else() {
        for (hosts, want) in [
            (&["tandem.example"][..], Some("https://tandem.example")),
            (&["tandem.example:8443"], Some("https://tandem.example:8443")),
            (&["127.0.0.1:8787"], Some("http://127.0.0.1:8787")),
            (&["[::1]:8787"], Some("http://[::1]:8787")),
            (&["localhost"], Some("http://localhost")),
            (&["localhost.example"], Some("https://localhost.example")),
            (&[], None),
            (&[""], None),
            (&["one.example", "two.example"], None),
            (&["a.example\", error=\"x"], None),
            (&["a.example/path"], None),
            (&["me@a.example"], None),
            (&["a.example:port"], None),
            (&["a.example:70000"], None),
            (&[":8443"], None),
            (&["a.example?x"], None),
        ] {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
            }
            assert_eq!(only_host(&headers).and_then(of_host).as_deref(), want, "{hosts:?}");
        }
    }
}
