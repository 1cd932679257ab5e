//! The checks with samples, samples cut at every byte, and samples that were changed. `fuzz/` goes on from here.
//!
//! `PROPERTY_SECONDS=60` goes on with changed samples, others each time, for so long in each check.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tandem_properties::{CHECKS, Check};

/// One change: at a place, bytes are replaced, put in, taken out, or said twice.
type Change = (u8, prop::sample::Index, Vec<u8>);

fn changed(sample: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for (how, at, with) in changes {
        let at = if bytes.is_empty() { 0 } else { at.index(bytes.len()) };
        let end = (at + with.len()).min(bytes.len());
        let new = match how % 4 {
            0 => with.clone(),
            1 => [with, &bytes[at..end]].concat(),
            2 => Vec::new(),
            _ => [&bytes[at..end], &bytes[at..end]].concat(),
        };
        bytes.splice(at..end, new);
    }
    bytes
}

fn try_out(name: &str, cases: u32) {
    let Check { run, samples, .. } = CHECKS.iter().find(|check| check.name == name).unwrap();
    let samples = samples();
    for sample in &samples {
        // All of them where a check is quick.
        let step = if matches!(name, "request" | "provider") { 5 } else { 1 };
        for end in (0..=sample.len()).rev().step_by(step) {
            run(&sample[..end]);
        }
    }
    let words = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..8),
        "[\\[\\]{}\",:0-9a-z%&=#/.+-]{1,8}".prop_map(String::into_bytes),
    ];
    let changes = prop::collection::vec((any::<u8>(), any::<prop::sample::Index>(), words), 1..6);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let input = (prop::sample::select(samples), changes);
    let seconds = std::env::var("PROPERTY_SECONDS").map_or(0, |seconds| seconds.parse().unwrap());
    let (began, mut rounds) = (Instant::now(), 0);
    while rounds == 0 || began.elapsed() < Duration::from_secs(seconds) {
        let tried = TestRunner::new(config.clone()).run(&input, |(sample, changes)| {
            run(&changed(&sample, &changes));
            Ok(())
        });
        tried.unwrap();
        rounds += 1;
    }
    println!("{name}: {rounds} rounds of {cases}");
}

#[test]
fn nothing_but_what_was_signed_is_followed() {
    try_out("dispatch", 2000);
}

#[test]
fn whatever_stands_in_a_log_can_be_read() {
    try_out("log", 1000);
}

#[test]
fn whatever_a_provider_says_an_answer_ends() {
    try_out("provider", 300);
}

#[test]
fn a_query_fits_an_action_or_is_told_why_not() {
    try_out("query", 500);
}

#[test]
fn no_request_is_a_fault_on_our_side() {
    try_out("request", 500);
}

#[test]
fn a_turn_is_read_or_told_why_not() {
    try_out("turn", 1000);
}
