//! Which addresses are this machine or a developer's network, and never AWS itself.

use std::net::IpAddr;

use reqwest::Url;

/// Whether `url` leads to this machine: `localhost`, 127.0.0.0/8 or `::1`.
///
/// For the caller that decides whether everything runs on loopback, see [`crate::dispatch_keys`].
pub fn is_loopback_url(url: &str) -> bool {
    parse(url).is_some_and(|url| is_loopback(&url))
}

/// Whether `url` leads to this machine, to a private address (10/8, 172.16/12, 192.168/16, fc00::/7) or to
/// `host.docker.internal`. No other name counts, since a name can be pointed anywhere.
pub fn is_local_url(url: &str) -> bool {
    parse(url).is_some_and(|url| is_loopback(&url) || is_private(&url))
}

/// Whether `url` leads to this machine, or from a container to the one that it runs on: the places of a Lambda emulator's
/// store. In a network of AWS, a private address may be anything.
pub(crate) fn is_own_machine_url(url: &str) -> bool {
    parse(url).is_some_and(|url| is_loopback(&url) || is_docker_host(&url))
}

/// Whether secrets may be decided by what `url` answers: TLS, or a socket of this machine.
pub(crate) fn is_trustworthy(url: &Url) -> bool {
    has_plain_authority(url) && (url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url)))
}

fn parse(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    (matches!(url.scheme(), "http" | "https") && has_plain_authority(&url)).then_some(url)
}

/// `http://127.0.0.1@example.com` reads like loopback and is not; nothing of ours needs user info.
fn has_plain_authority(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none()
}

fn is_loopback(url: &Url) -> bool {
    url.host_str() == Some("localhost") || address(url).is_some_and(|ip| ip.is_loopback())
}

fn is_private(url: &Url) -> bool {
    let by_address = address(url).is_some_and(|ip| match ip {
        IpAddr::V4(ip) => ip.is_private(),
        IpAddr::V6(ip) => ip.is_unique_local(),
    });
    by_address || is_docker_host(url)
}

fn is_docker_host(url: &Url) -> bool {
    url.host_str() == Some("host.docker.internal")
}

fn address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    // `::ffff:10.0.0.1` is 10.0.0.1.
    host.parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_judged_by_where_it_leads() {
        #[derive(Debug, PartialEq)]
        enum Is {
            Loopback,
            Local,
            Elsewhere,
        }
        for (url, want) in [
            ("http://127.0.0.1:8000", Is::Loopback),
            ("http://127.9.9.9", Is::Loopback),
            ("http://localhost:8000/", Is::Loopback),
            ("http://LOCALHOST:8000/", Is::Loopback),
            ("http://[::1]:8000", Is::Loopback),
            ("http://[::ffff:127.0.0.1]:8000", Is::Loopback),
            ("http://10.1.2.3:8000", Is::Local),
            ("http://172.16.0.1", Is::Local),
            ("http://192.168.1.1", Is::Local),
            ("http://[fd00::1]:8000", Is::Local),
            ("http://host.docker.internal:8000", Is::Local),
            ("http://172.32.0.1", Is::Elsewhere),
            ("http://0.0.0.0:8000", Is::Elsewhere),
            ("http://169.254.169.254", Is::Elsewhere),
            ("https://dynamodb.eu-west-1.amazonaws.com", Is::Elsewhere),
            ("http://localhost.example.com", Is::Elsewhere),
            ("http://127.0.0.1.example.com", Is::Elsewhere),
            ("http://127.0.0.1@example.com", Is::Elsewhere),
            ("http://user:word@127.0.0.1", Is::Elsewhere),
            ("http://host.docker.internal.example.com", Is::Elsewhere),
            ("ftp://127.0.0.1", Is::Elsewhere),
            ("127.0.0.1:8000", Is::Elsewhere),
            ("localhost:8000", Is::Elsewhere),
            ("", Is::Elsewhere),
        ] {
            let got = match (is_loopback_url(url), is_local_url(url)) {
                (true, true) => Is::Loopback,
                (false, true) => Is::Local,
                (false, false) => Is::Elsewhere,
                (true, false) => panic!("{url} is loopback and not local"),
            };
            assert_eq!(got, want, "{url}");
        }
    }

    #[test]
    fn only_tls_or_this_machine_is_asked_for_keys() {
        for (url, want) in [
            ("https://issuer.example", true),
            ("http://127.0.0.1:9", true),
            ("http://issuer.example", false),
            ("http://10.0.0.1", false),
            ("https://me:word@issuer.example", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(is_trustworthy(&Url::parse(url).unwrap()), want, "{url}");
        }
    }
}
