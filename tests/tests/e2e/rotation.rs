//! The key that signs dispatches changes while turns run, in the steps of scripts/rotate-dispatch-keys.py: in each of them
//! processes of before and after work together, whoever signs and whoever verifies.

use futures::future::join_all;
use serde_json::json;
use tandem_tests::{Program, Split};

const OLD: &str = r#""old": "0123456789abcdef0123456789abcdef""#;
const NEW: &str = r#""new": "fedcba9876543210fedcba9876543210""#;
/// Turns of each foreground in each step, at once.
const TURNS: usize = 6;

/// Processes with the same keys.
struct Keyed {
    keys: String,
    background: Program,
}

impl Keyed {
    async fn start(split: &Split, keys: &[&str]) -> Self {
        let keys = format!("{{{}}}", keys.join(", "));
        let background = split.serve_with("background", &[("DISPATCH_KEYS", &keys)]).await;
        Keyed { keys, background }
    }
}

/// Turns through a foreground that signs with the keys of `signs`, at a background with those of `verifies`. Whether each
/// went to the background at once, by the first dispatch.
async fn turns(split: &Split, signs: &Keyed, verifies: &Keyed) -> bool {
    let env = [("DISPATCH_KEYS", signs.keys.as_str()), ("BACKGROUND_URL", verifies.background.url())];
    let foreground = split.serve_with("foreground", &env).await;
    let api = tandem_tests::Api::new(foreground.url());
    let ended = join_all((0..TURNS).map(async |_| {
        let run = api.start(&json!({"message": "@say 3 every 20ms"})).await.run;
        api.run_is(&run, "completed").await;
        api.log(&run).await.attempts() == ["1 background claimed"]
    }))
    .await;
    ended.into_iter().all(|straight| straight)
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_key_of_dispatches_changes_every_turn_goes_its_way() {
    let split = Split::start(0, 0, &[("CLAIM_GRACE_MS", "20000")]).await;
    let steps: [&[&str]; 4] = [&[OLD], &[OLD, NEW], &[NEW, OLD], &[NEW]];
    let mut before = Keyed::start(&split, steps[0]).await;
    for keys in &steps[1..] {
        let after = Keyed::start(&split, keys).await;
        let (a, b, c, d) = tokio::join!(
            turns(&split, &before, &before),
            turns(&split, &before, &after),
            turns(&split, &after, &before),
            turns(&split, &after, &after),
        );
        assert!(a && b && c && d, "from {} to {}: {a} {b} {c} {d}", before.keys, after.keys);
        for background in [&before.background, &after.background] {
            assert!(!background.log().contains("dispatch refused"), "{}", background.log());
        }
        before = after;
    }
    // Without the steps between, dispatches are refused, and the foreground drives: the test would see it.
    let old = Keyed::start(&split, steps[0]).await;
    assert!(!turns(&split, &before, &old).await);
    assert!(old.background.log().contains("dispatch refused"), "{}", old.background.log());
}
