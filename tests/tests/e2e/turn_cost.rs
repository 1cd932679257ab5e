//! What a turn costs at the store: round trips before the model is asked, write units, and frames of text.
#![allow(clippy::print_stdout)]

use std::time::Duration;

use serde_json::json;
use tandem_testkit::faults::{Call, Fault, Proxy};
use tandem_testkit::providers::FakeProvider;
use tandem_tests::{Api, End, Log, PATIENCE, Program, Split, Stream, TurnCost};
use tokio::time::Instant;

use crate::window_cost::counted;

/// A foreground and a background that reach the store through proxies which count.
struct Counted {
    split: Split,
    provider: FakeProvider,
    proxies: [Proxy; 2],
    /// Where turns are started: the first goes to the background.
    programs: [Program; 2],
    _dir: tempfile::TempDir,
}

impl Counted {
    async fn start() -> Self {
        Self::with(&[]).await
    }

    /// With more of the environment for the foreground.
    async fn with(more: &[(&'static str, String)]) -> Self {
        let split = Split::start(1, 0, &[]).await;
        let provider = FakeProvider::echo();
        let proxies = [Proxy::open(split.database()).await.unwrap(), Proxy::open(split.database()).await.unwrap()];
        let dir = tempfile::tempdir().unwrap();
        let model = provider.environment();
        let env = |more: &[(&'static str, String)]| -> Vec<(&'static str, String)> {
            let model = model.iter().map(|(name, value)| (*name, value.to_string()));
            more.iter().cloned().chain(model).chain([("MODEL", "anthropic/fake".to_owned())]).collect()
        };
        let serve = async |kind: &str, env: Vec<(&'static str, String)>| {
            let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
            Program::serve(&[kind, "--port", "0"], &env, dir.path()).await
        };
        let store = |n: usize| ("AWS_ENDPOINT_URL_DYNAMODB", proxies[n].url().to_owned());
        let background = serve("background", env(&[store(1)])).await;
        let own = [&[store(0), ("BACKGROUND_URL", background.url().to_owned())], more].concat();
        let foreground = serve("foreground", env(&own)).await;
        Counted { split, provider, proxies, programs: [foreground, background], _dir: dir }
    }

    fn api(&self) -> Api {
        Api::new(self.programs[0].url())
    }

    fn calls(&self) -> Vec<Call> {
        self.proxies.iter().flat_map(Proxy::trace).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_of_five_calls_and_400_words_keeps_to_its_writes() {
    let counted = Counted::start().await;
    let calls = (1..=3).map(|n| format!("/read-email {{\"emailId\":\"e-{n}\"}}"));
    let calls = calls.chain([
        "/label-email {\"emailId\":\"e-1\",\"add\":[\"a\"]}".to_owned(),
        "/archive-email {\"emailId\":\"e-2\"}".to_owned(),
    ]);
    // Emails are written down by the first change; that is no part of what a turn costs.
    counted.api().say("/label-email {\"emailId\":\"e-1\",\"add\":[\"b\"]}").await.rest().await;
    counted.proxies.iter().for_each(Proxy::reset);
    let script = format!("{}\n\n@say 400 every 10ms", calls.collect::<Vec<_>>().join("\n"));
    let mut log = Log::default();
    let began = Instant::now();
    let mut stream = counted.api().say(&script).await;
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    log.says_each_word_once(400);

    let took = began.elapsed();
    let content = counted.split.table().content().await;
    let cost = TurnCost::of(counted.calls(), &content);
    let (units, frames) = (cost.units(), cost.text_frames);
    for write in &cost.writes {
        println!("{} units: {write}", write.units);
    }
    let (writes, heartbeats) = (cost.writes.len(), cost.heartbeats);
    println!("{writes} writes of {units} units, {heartbeats} heartbeats; {frames} frames of text in {took:?}");
    assert!(f64::from(frames) <= 20.0 * took.as_secs_f64() + 2.0, "{frames} frames of text in {took:?}");
    assert!(units <= 63, "{units} write units: what has become dearer?");
}

/// What a round trip takes where they are counted by the time: less than the store's clients wait for an answer.
const EACH: Duration = Duration::from_secs(1);
/// A busy machine may be late now and then; only what is late each time is at fault.
const TRIES: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn few_round_trips_stand_between_a_post_and_the_model() {
    let counted = Counted::start().await;
    counted.api().say("@say 1 every 0").await.rest().await;
    let mut least = u128::MAX;
    for _ in 0..TRIES {
        least = least.min(round_trips_to_the_model(&counted).await);
        if least <= 3 {
            return;
        }
    }
    panic!("{least} round trips");
}

async fn round_trips_to_the_model(counted: &Counted) -> u128 {
    for proxy in &counted.proxies {
        proxy.reset();
        proxy.break_for(Fault::Delay(EACH), PATIENCE);
    }
    let asked = counted.provider.asked();
    let began = Instant::now();
    let stream = Stream::open(counted.api().chat(&json!({"message": "@say 1 every 0"}))).await;
    while counted.provider.asked() == asked {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let took = began.elapsed();
    let round_trips = took.as_millis() / EACH.as_millis();
    for proxy in &counted.proxies {
        for call in proxy.trace() {
            println!("{}", call.operation);
        }
    }
    println!("{round_trips} round trips ({took:?}) between the post and the model, in two processes");
    stream.rest().await;
    round_trips
}

#[tokio::test(flavor = "multi_thread")]
async fn one_round_trip_stands_between_the_first_word_of_the_model_and_the_client() {
    let counted = Counted::with(&[("AGENT_CHAT_DURABLE_BACKGROUND", "false".to_owned())]).await;
    counted.api().say("@say 1 every 0").await.rest().await;
    let mut least = Duration::MAX;
    for _ in 0..TRIES {
        least = least.min(from_the_model_to_the_client(&counted).await);
        if least < 2 * EACH {
            return;
        }
    }
    panic!("{least:?} from the model's first word to the client");
}

async fn from_the_model_to_the_client(counted: &Counted) -> Duration {
    const THINKS: Duration = Duration::from_secs(2);
    for proxy in &counted.proxies {
        proxy.reset();
        proxy.break_for(Fault::Delay(EACH), PATIENCE);
    }
    let asked = counted.provider.asked();
    let mut log = Log::default();
    let mut stream = counted.api().say(&format!("@wait {}ms\n@say 1 every 0", THINKS.as_millis())).await;
    while log.of_type("text-delta").is_empty() {
        let before = log.len();
        log.read(&mut stream, before + 1).await;
        assert!(log.len() > before, "the stream ended: {:?}", stream.ended());
    }
    let said = counted.provider.requests().swap_remove(asked).at + THINKS;
    let took = said.elapsed();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    took
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreground_that_sees_its_run_driven_writes_no_more_than_the_start() {
    let counted = Counted::with(&[("CLAIM_GRACE_MS", "3000".to_owned())]).await;
    let mut log = Log::default();
    // Longer than the grace, after which it would try to take the run.
    let mut stream = counted.api().say("@say 90 every 50ms").await;
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    let writes = counted.proxies[0].trace().into_iter().map(|call| call.operation);
    let writes: Vec<String> =
        writes.filter(|operation| operation.is_write()).map(|operation| operation.to_string()).collect();
    assert_eq!(writes.len(), 1, "{writes:#?}");
}

#[tokio::test]
async fn who_follows_a_run_in_the_process_that_drives_it_reads_nothing_of_its_log() {
    let split = Split::start(0, 0, &[]).await;
    let (program, proxy) = counted(&split).await;
    let mut log = Log::default();
    let mut stream = Api::new(program.url()).say("@say 100 every 20ms").await;
    log.read(&mut stream, 10).await;
    let reads = || proxy.trace().iter().filter(|call| call.operation.name == "Query").count();
    let before = reads();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    assert!(reads() - before <= 1, "{} reads in two seconds", reads() - before);
}

#[tokio::test]
async fn coming_back_to_the_end_of_a_log_takes_three_calls() {
    let split = Split::start(0, 0, &[]).await;
    let (program, proxy) = counted(&split).await;
    let api = Api::new(program.url());
    let mut log = Log::default();
    let mut stream = api.say("@say 20 every 5ms").await;
    let run = stream.run();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    let last = log.after().unwrap();
    for (after, chunks) in [(last - 1, 1), (last, 0)] {
        proxy.reset();
        let mut again = Log::from(after + 1);
        if let Some(mut stream) = Stream::come_back(api.events(&run, Some(after))).await {
            assert_eq!(again.read_all(&mut stream).await, End::Done);
        }
        let calls: Vec<String> = proxy.trace().iter().map(|call| call.operation.to_string()).collect();
        assert_eq!((again.len(), calls.len()), (chunks, 3), "after {after}: {calls:#?}");
    }
}
