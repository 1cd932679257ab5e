//! The whole crowd, for the figures of docs/reliability.md: one kind after the other against an optimized foreground, with
//! what honest turns take meanwhile and what the process holds.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tandem_tests::Split;
use tokio::task::JoinSet;

use super::{Attack, GARBAGE, honest_turn};

/// What the issue allows, in bytes.
const MEMORY: u64 = 512 * 1024 * 1024;
const TURNS: usize = 20;
const AT_ONCE: usize = 250;
/// How long a crowd may take to gather.
const GATHERS: Duration = Duration::from_secs(180);
/// How long a kind goes on at least.
const LASTS: Duration = Duration::from_secs(15);

/// One kind of attackers: name, kind, how many at once, and whether all of them must be there before turns are counted.
const CROWDS: [(&str, Option<usize>, usize, bool); 9] = [
    ("nobody", None, 0, false),
    ("heads that come byte by byte", Some(0), 9_000, true),
    ("idle streams of 100 people", Some(1), 10_000, true),
    ("no HTTP", Some(2), 200, false),
    ("bodies without an end", Some(3), 100, false),
    ("JSON of 100,000 levels", Some(4), 20, false),
    ("headers without an end", Some(5), 200, false),
    ("garbage, 5,000 requests a second", Some(GARBAGE), 50, false),
    ("nobody, afterwards", None, 0, false),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes some minutes and 12,000 open files: docs/reliability.md, Under attack, has the commands"]
async fn honest_turns_finish_under_the_whole_crowd() {
    let files = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: files, maximum: files }).unwrap();
    assert!(files.is_none_or(|files| files > 12_000), "this system allows {files:?} open files");
    // Room for the crowd and for those who are honest; the first streams are still there when the last ones come.
    let env = [("MAX_CONNECTIONS", "10500"), ("STREAM_WINDOW_MS", "300000")];
    let split = Split::start(1, 1, &env).await;
    let (ann, mut n) = (split.api(0).as_person("acme.ann"), 0);
    println!("| crowd | at once | sent | a second | turn, median | slowest | memory |\n|---|--:|--:|--:|--:|--:|--:|");
    for (name, kind, many, all) in CROWDS {
        let attack = Arc::new(Attack { slow: Duration::from_secs(5), ..Attack::on(&split.foregrounds[0]) });
        let mut crowd = JoinSet::new();
        let began = Instant::now();
        // Some at a time where all must be there: what is tried is to hold them, not to open them in one moment.
        for n in 1..=many {
            crowd.spawn({
                let attack = Arc::clone(&attack);
                async move { attack.go_on(kind.unwrap()).await }
            });
            if all && (n % AT_ONCE == 0 || n == many) {
                while attack.there.load(Ordering::SeqCst) * 20 < n * 19 {
                    assert!(began.elapsed() < GATHERS, "{} of {n} are there", attack.there.load(Ordering::SeqCst));
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
        let began = Instant::now();
        let (mut took, mut most) = (Vec::new(), 0);
        while took.len() < TURNS || (kind.is_some() && began.elapsed() < LASTS) {
            let start = Instant::now();
            honest_turn(&ann, n).await;
            n += 1;
            took.push(start.elapsed());
            most = most.max(split.foregrounds[0].memory());
        }
        let lasted = began.elapsed().as_secs_f64();
        let sent = kind.map_or(0, |kind| attack.sent[kind].load(Ordering::SeqCst));
        attack.over.store(true, Ordering::SeqCst);
        crowd.abort_all();
        while crowd.join_next().await.is_some() {}
        took.sort();
        println!(
            "| {name} | {many} | {sent} | {:.0} | {:.2} s | {:.2} s | {} MB |",
            sent as f64 / lasted,
            took[took.len() / 2].as_secs_f64(),
            took[took.len() - 1].as_secs_f64(),
            most / 1024 / 1024
        );
        assert!(!split.foregrounds[0].log().contains("panicked"), "{}", split.foregrounds[0].log());
    }
    let peak = split.foregrounds[0].peak_memory();
    println!("\nAt most {} MB in all.", peak / 1024 / 1024);
    assert!(peak < MEMORY, "it held {} MB", peak / 1024 / 1024);
}
