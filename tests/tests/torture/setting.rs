//! Whose writes are counted and broken.

use tandem_tests::Env;

use crate::clocks::Clocks;

/// Who is the victim, and in which configuration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) victim: Victim,
    pub(crate) env: Env<'static>,
    pub(crate) clocks: Clocks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Victim {
    /// The background that dispatches reach first.
    Background,
    /// The foreground that the turn is posted to.
    Foreground,
}

pub(crate) const BACKGROUND: Setting =
    Setting { name: "background", victim: Victim::Background, env: &[], clocks: Clocks::RIGHT };

/// It writes the start of a turn, and no more unless it takes the run back.
pub(crate) const FOREGROUND: Setting =
    Setting { name: "foreground", victim: Victim::Foreground, env: &[], clocks: Clocks::RIGHT };

pub(crate) const DRIVING_FOREGROUND: Setting = Setting {
    name: "foreground that drives",
    victim: Victim::Foreground,
    env: &[("AGENT_CHAT_DURABLE_BACKGROUND", "false")],
    clocks: Clocks::RIGHT,
};

/// Who starts the turns is ahead of who works on them.
pub(crate) const CLOCKS_APART: Setting = Setting {
    name: "background, clocks 180 s apart",
    victim: Victim::Background,
    env: &[],
    clocks: Clocks { foregrounds: [90, 90], backgrounds: [-90, -90], sweeper: 0 },
};

/// No two who come after each other agree.
pub(crate) const CLOCKS_MIXED: Setting = Setting {
    name: "background, clocks all wrong",
    victim: Victim::Background,
    env: &[],
    clocks: Clocks { foregrounds: [-90, 90], backgrounds: [90, -90], sweeper: -90 },
};

/// Production's constants, scaled down. Everything else is as in production.
pub(crate) const SCALED: Env<'static> = &[
    ("LEASE_MS", "600"),
    ("HEARTBEAT_MS", "150"),
    ("CLAIM_GRACE_MS", "900"),
    ("DUE_AHEAD_MS", "1000"),
    ("STREAM_WINDOW_MS", "5000"),
];

/// The lease of [`SCALED`], in milliseconds.
pub(crate) const LEASE_MS: u64 = 600;
