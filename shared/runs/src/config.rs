//! The runtime's constants, from the environment, checked against each other when it starts.

use std::time::Duration;

use tandem_agent::Budgets;
use tandem_store::MostRuns;

use crate::admission::Most;
use crate::state::Limits;

/// Times and limits. The defaults are those of production.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Whether turns go to the background; without it the foreground drives from the start.
    pub durable_background: bool,
    pub foreground_soft_timeout: Duration,
    pub background_soft_timeout: Duration,
    /// Time a holder keeps after its soft timeout to unwind and hand over.
    pub margin: Duration,
    pub claim_grace: Duration,
    /// The grace after a dispatch that nobody claimed, for the next minute.
    pub short_grace: Duration,
    pub lease: Duration,
    pub heartbeat: Duration,
    pub flush_interval: Duration,
    pub stream_window: Duration,
    pub keep_alive: Duration,
    /// How long after a thread was deleted its records are removed: longer than any holder may be paused.
    pub delete_after: Duration,
    pub dispatch_ttl_ms: u64,
    pub dispatch_skew_ms: u64,
    pub max_steps: u32,
    pub max_output_tokens: u32,
    /// What may be spent on models.
    pub budgets: Budgets,
    /// What people may do at a time.
    pub most: Most,
    /// Origins of pages, besides those of this machine, whose scripts may call `/mcp`: `https://host` or
    /// `https://host:port`.
    pub mcp_origins: Vec<String>,
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Config {
            durable_background: true,
            foreground_soft_timeout: ms(40_000),
            background_soft_timeout: ms(780_000),
            margin: ms(10_000),
            claim_grace: ms(15_000),
            short_grace: ms(3_000),
            lease: ms(10_000),
            heartbeat: ms(2_000),
            flush_interval: ms(50),
            stream_window: ms(55_000),
            keep_alive: ms(10_000),
            delete_after: ms(1_200_000),
            dispatch_ttl_ms: 300_000,
            dispatch_skew_ms: 300_000,
            max_steps: 50,
            max_output_tokens: 8_192,
            budgets: Budgets::default(),
            most: Most::default(),
            mcp_origins: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// A configuration that cannot work; names the variables and the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

impl Config {
    /// Reads the environment; what is not set keeps its default.
    pub fn from_env(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut config = Config::default();
        let ms = |name: &str, default: Duration| -> Result<Duration, ConfigError> {
            Ok(Duration::from_millis(number(lookup, name, millis(default))?))
        };
        config.durable_background = match lookup("AGENT_CHAT_DURABLE_BACKGROUND").as_deref() {
            None | Some("" | "true" | "1") => true,
            Some("false" | "0") => false,
            Some(other) => {
                return Err(ConfigError(format!(
                    "AGENT_CHAT_DURABLE_BACKGROUND is {other:?}: set it to true or false."
                )));
            }
        };
        config.foreground_soft_timeout = ms("FOREGROUND_SOFT_TIMEOUT_MS", config.foreground_soft_timeout)?;
        config.background_soft_timeout = ms("BACKGROUND_SOFT_TIMEOUT_MS", config.background_soft_timeout)?;
        config.margin = ms("HAND_OVER_MARGIN_MS", config.margin)?;
        config.claim_grace = ms("CLAIM_GRACE_MS", config.claim_grace)?;
        config.short_grace = config.short_grace.min(config.claim_grace);
        config.lease = ms("LEASE_MS", config.lease)?;
        config.heartbeat = ms("HEARTBEAT_MS", config.heartbeat)?;
        config.flush_interval = ms("FLUSH_INTERVAL_MS", config.flush_interval)?;
        config.stream_window = ms("STREAM_WINDOW_MS", config.stream_window)?;
        // A shorter window alone is no contradiction.
        config.keep_alive = ms("KEEP_ALIVE_MS", config.keep_alive.min(config.stream_window / 2))?;
        config.delete_after = ms("DELETE_AFTER_MS", config.delete_after)?;
        config.dispatch_ttl_ms = number(lookup, "DISPATCH_TTL_MS", config.dispatch_ttl_ms)?;
        config.max_steps = number(lookup, "MAX_STEPS", config.max_steps)?;
        config.max_output_tokens = number(lookup, "MAX_OUTPUT_TOKENS", config.max_output_tokens)?;
        config.budgets = Budgets {
            run: dollars(lookup, "BUDGET_RUN_USD")?,
            user: dollars(lookup, "BUDGET_USER_DAILY_USD")?,
            tenant: dollars(lookup, "BUDGET_TENANT_DAILY_USD")?,
        };
        config.most = Most {
            runs: MostRuns { user: most(lookup, "MAX_RUNS_PER_USER")?, tenant: most(lookup, "MAX_RUNS_PER_TENANT")? },
            user_requests: most(lookup, "MAX_REQUESTS_PER_USER")?,
            tenant_requests: most(lookup, "MAX_REQUESTS_PER_TENANT")?,
            user_streams: most(lookup, "MAX_STREAMS_PER_USER")?.unwrap_or(config.most.user_streams),
        };
        config.mcp_origins = origins(lookup("MCP_ALLOWED_ORIGINS").as_deref().unwrap_or_default())?;
        config.limits.max_continuations = number(lookup, "MAX_CONTINUATIONS", config.limits.max_continuations)?;
        config.limits.due_ahead_ms = number(lookup, "DUE_AHEAD_MS", config.limits.due_ahead_ms)?;
        config.limits.never_claimed_ms = number(lookup, "NEVER_CLAIMED_MS", config.limits.never_claimed_ms)?;
        config.check()?;
        Ok(config)
    }

    /// Refuses values that contradict each other, naming both.
    fn check(&self) -> Result<(), ConfigError> {
        let must = |holds: bool, text: &str| if holds { Ok(()) } else { Err(ConfigError(text.to_owned())) };
        must(!self.heartbeat.is_zero(), "HEARTBEAT_MS must be more than 0.")?;
        must(
            self.heartbeat * 3 <= self.lease,
            "HEARTBEAT_MS must be at most a third of LEASE_MS: a single late heartbeat would look like a death.",
        )?;
        must(
            self.claim_grace <= self.foreground_soft_timeout,
            "CLAIM_GRACE_MS must not exceed FOREGROUND_SOFT_TIMEOUT_MS: the foreground would have no time left to reclaim.",
        )?;
        must(
            self.foreground_soft_timeout <= self.background_soft_timeout,
            "FOREGROUND_SOFT_TIMEOUT_MS must not exceed BACKGROUND_SOFT_TIMEOUT_MS: a hand-over would gain nothing.",
        )?;
        must(
            self.keep_alive < self.stream_window,
            "KEEP_ALIVE_MS must be less than STREAM_WINDOW_MS: a silent stream would be cut by proxies.",
        )?;
        must(self.max_steps > 0, "MAX_STEPS must be more than 0.")
    }
}

/// Dollars as nano-dollars, exact to nine places; none where nothing is set.
fn dollars(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> Result<Option<u64>, ConfigError> {
    let Some(text) = lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let nano = || -> Option<u64> {
        let sound = !whole.is_empty() && digits(whole) && digits(part) && part.len() <= 9;
        let whole: u64 = whole.parse().ok().filter(|_| sound)?;
        whole.checked_mul(1_000_000_000)?.checked_add(format!("{part:0<9}").parse().ok()?)
    };
    let refused =
        || ConfigError(format!("{name} is {text:?}: set it to an amount of dollars such as 2.50, or leave it out."));
    nano().map(Some).ok_or_else(refused)
}

/// A limit; none where nothing is set. Nobody could do anything with 0.
fn most(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> Result<Option<u32>, ConfigError> {
    let Some(text) = lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let limit = text.parse().ok().filter(|limit| *limit > 0);
    let refused = || ConfigError(format!("{name} is {text:?}: set it to a whole number from 1, or leave it out."));
    limit.map(Some).ok_or_else(refused)
}

/// A list with commas. An origin is a scheme and a host, perhaps a port, and nothing after it.
fn origins(list: &str) -> Result<Vec<String>, ConfigError> {
    let origins = list.split(',').map(str::trim).filter(|origin| !origin.is_empty());
    let checked = origins.map(|origin| {
        let host = ["https://", "http://"].iter().find_map(|scheme| origin.strip_prefix(scheme));
        match host.filter(|host| !host.is_empty() && !host.contains(['/', '?', '#', '@', '*'])) {
            // Without a port the scheme's own is meant.
            Some(host) if host.rsplit(']').next().is_some_and(|end| end.contains(':')) => Ok(origin.to_owned()),
            Some(_) => Ok(format!("{origin}:{}", if origin.starts_with("https") { 443 } else { 80 })),
            None => Err(ConfigError(format!(
                "MCP_ALLOWED_ORIGINS has {origin:?}: list origins such as https://app.example.com, with commas."
            ))),
        }
    });
    checked.collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn number<T: std::str::FromStr>(
    lookup: &dyn Fn(&str) -> Option<String>,
    name: &str,
    default: T,
) -> Result<T, ConfigError> {
    match lookup(name) {
        None => Ok(default),
        Some(text) => text
            .trim()
            .parse()
            .map_err(|_| ConfigError(format!("{name} is {text:?}: set it to a whole number, or leave it out."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_env(&|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn contradictions_are_refused_and_named() {
        assert_eq!(read(&[]), Ok(Config::default()));
        for (pairs, names) in [
            (vec![("HEARTBEAT_MS", "4000")], ["HEARTBEAT_MS", "LEASE_MS"]),
            (vec![("CLAIM_GRACE_MS", "50000")], ["CLAIM_GRACE_MS", "FOREGROUND_SOFT_TIMEOUT_MS"]),
            (vec![("KEEP_ALIVE_MS", "60000")], ["KEEP_ALIVE_MS", "STREAM_WINDOW_MS"]),
            (vec![("LEASE_MS", "soon")], ["LEASE_MS", "whole number"]),
            (vec![("BUDGET_RUN_USD", "-1")], ["BUDGET_RUN_USD", "2.50"]),
            (vec![("BUDGET_USER_DAILY_USD", "0.0000000001")], ["BUDGET_USER_DAILY_USD", "2.50"]),
            (vec![("BUDGET_TENANT_DAILY_USD", "99999999999")], ["BUDGET_TENANT_DAILY_USD", "2.50"]),
            (vec![("MAX_RUNS_PER_USER", "0")], ["MAX_RUNS_PER_USER", "from 1"]),
            (vec![("MAX_REQUESTS_PER_TENANT", "many")], ["MAX_REQUESTS_PER_TENANT", "from 1"]),
            (vec![("AGENT_CHAT_DURABLE_BACKGROUND", "maybe")], ["AGENT_CHAT_DURABLE_BACKGROUND", "true or false"]),
            (vec![("MCP_ALLOWED_ORIGINS", "https://a.example, b.example")], ["MCP_ALLOWED_ORIGINS", "\"b.example\""]),
            (
                vec![("MCP_ALLOWED_ORIGINS", "https://a.example/path")],
                ["MCP_ALLOWED_ORIGINS", "https://a.example/path"],
            ),
            (vec![("MCP_ALLOWED_ORIGINS", "*")], ["MCP_ALLOWED_ORIGINS", "commas"]),
        ] {
            let error = read(&pairs).unwrap_err().0;
            assert!(names.iter().all(|name| error.contains(name)), "{pairs:?}: {error}");
        }
    }

    #[test]
    fn budgets_are_exact_and_nothing_is_no_budget() {
        let budgets = |pairs: &[(&str, &str)]| read(pairs).unwrap().budgets;
        assert!(budgets(&[("BUDGET_RUN_USD", " "), ("BUDGET_USER_DAILY_USD", "")]).is_empty());
        let set = budgets(&[
            ("BUDGET_RUN_USD", "0.5"),
            ("BUDGET_USER_DAILY_USD", "2.000000001"),
            ("BUDGET_TENANT_DAILY_USD", "0"),
        ]);
        assert_eq!(set, Budgets { run: Some(500_000_000), user: Some(2_000_000_001), tenant: Some(0) });
    }

    #[test]
    fn an_origin_without_a_port_has_its_schemes_own() {
        let list = " https://a.example, http://b.example,https://c.example:8443,http://[::1],";
        let want = ["https://a.example:443", "http://b.example:80", "https://c.example:8443", "http://[::1]:80"];
        assert_eq!(read(&[("MCP_ALLOWED_ORIGINS", list)]).unwrap().mcp_origins, want);
    }
}
