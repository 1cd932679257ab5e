//! A turn that is longer than its invocation may be: it goes on in the next one, and nobody runs into a deadline.

use super::{BACKGROUND, Deployment, FOREGROUND, SECONDS, steps};
use tandem_testkit::lambda::{Delivery, Outcome};
use tandem_tests::{End, Env, Log};

/// Time to hand over, also on a busy machine.
const MARGIN: Env<'_> = &[("HAND_OVER_MARGIN_MS", "3000")];
/// Leaves an invocation two seconds to work.
const TIMEOUT: u64 = 5;

/// The first attempt is `first`, and each further one continues it.
fn check_attempts(log: &Log, first: &str, at_least: usize) {
    let attempts = log.attempts();
    assert!(attempts.len() >= at_least, "{attempts:?}");
    assert_eq!(attempts[0], first);
    for (n, attempt) in attempts.iter().enumerate().skip(1) {
        assert_eq!(attempt, &format!("{} background continued", n + 1));
    }
    let continues = log.of_type("data-continue");
    assert_eq!(continues.len(), attempts.len() - 1, "{continues:?}");
    log.finished(u32::try_from(attempts.len()).unwrap());
}

/// With one process, the one that handed over has to be the one that goes on.
#[tokio::test]
async fn a_run_goes_on_in_the_next_invocation_before_the_deadline_of_this_one() {
    for max_processes in [10, 1] {
        let deployment = Deployment::with(MARGIN, &|function| {
            if function.name == BACKGROUND {
                function.timeout = SECONDS(TIMEOUT);
                function.max_processes = max_processes;
            }
        })
        .await;
        let mut stream = deployment.api().say(&steps(6, 20, "40ms")).await;
        let run = stream.run();
        let mut log = Log::default();
        assert_eq!(log.read_all(&mut stream).await, End::Done);

        check_attempts(&log, "1 background claimed", 3);
        assert_eq!(log.of_type("data-call").len(), 5);
        assert_eq!(log.of_type("tool-output-available").len(), 5);
        deployment.check_log(&run, &log, 120).await;
        let outcomes = deployment.outcomes(BACKGROUND).await;
        assert_eq!(outcomes, vec![Outcome::Answered; log.attempts().len()]);
    }
}

#[tokio::test]
async fn a_model_that_is_silent_is_left_before_the_deadline() {
    // Four seconds to work, and two to hand over.
    let deployment = Deployment::with(&[("HAND_OVER_MARGIN_MS", "2000")], &|function| {
        if function.name == BACKGROUND {
            function.timeout = SECONDS(6);
        }
    })
    .await;
    // At the soft timeout the model is silent, for longer than is left; the next attempt asks it again.
    let script = "@say 80 every 40ms\n/list-emails {}\n\n@wait 3s\n@say 5 every 10ms";
    let mut stream = deployment.api().say(script).await;
    let run = stream.run();
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    check_attempts(&log, "1 background claimed", 2);
    deployment.check_log(&run, &log, 85).await;
    assert!(!deployment.outcomes(BACKGROUND).await.contains(&Outcome::TimedOut));
}

#[tokio::test]
async fn a_foreground_that_drives_hands_over_and_its_window_ends_in_between() {
    let env = [
        MARGIN,
        &[
            ("AGENT_CHAT_DURABLE_BACKGROUND", "false"),
            ("FOREGROUND_SOFT_TIMEOUT_MS", "1500"),
            ("CLAIM_GRACE_MS", "1000"),
            ("STREAM_WINDOW_MS", "700"),
        ],
    ]
    .concat();
    let deployment = Deployment::start(&env).await;
    let mut stream = deployment.api().say(&steps(4, 25, "40ms")).await;
    let run = stream.run();
    let mut log = Log::default();
    // The window is over after 0.7 s, but the response stays open while this process holds the run.
    assert_eq!(log.read_all(&mut stream).await, End::Window);
    assert_eq!(log.of_type("data-continue").len(), 1, "{:?}", log.types());
    assert!(deployment.api().follow(&run, &mut log).await >= 1);

    check_attempts(&log, "1 foreground claimed", 2);
    deployment.check_log(&run, &log, 100).await;
    for function in [FOREGROUND, BACKGROUND] {
        let outcomes = deployment.outcomes(function).await;
        assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Answered), "{function}: {outcomes:?}");
    }
}

#[tokio::test]
async fn a_continuation_whose_dispatch_is_lost_is_found_by_whoever_watches() {
    let env = [MARGIN, &[("CLAIM_GRACE_MS", "500"), ("LEASE_MS", "3000"), ("HEARTBEAT_MS", "300")]].concat();
    let deployment = Deployment::with(&env, &|function| {
        if function.name == BACKGROUND {
            function.timeout = SECONDS(TIMEOUT);
        }
    })
    .await;
    deployment.host.script(BACKGROUND, [Delivery::Prompt, Delivery::Lost]);
    let mut stream = deployment.api().say(&steps(4, 20, "40ms")).await;
    let run = stream.run();
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    check_attempts(&log, "1 background claimed", 2);
    deployment.check_log(&run, &log, 80).await;
}
