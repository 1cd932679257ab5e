//! The three functions as Lambda runs them: the real bootstraps on a host that speaks Lambda's protocols.
//!
//! What Lambda does and a process on a laptop does not: one invocation per process, a freeze in between, a deadline
//! with a kill at its end, and dispatches that come late, twice or never.

mod answers;
mod cors;
mod dispatches;
mod events;
mod failures;
mod freezing;
mod hand_over;
mod instances;
mod lines;
mod sign_in;
mod traces;
mod turns;

use std::path::{Path, PathBuf};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tandem_testkit::lambda::{Function, Invocation, LambdaHost, Outcome};
use tandem_tests::{Api, Env, Log, Program, Table, until};
use tempfile::TempDir;

pub(crate) const FOREGROUND: &str = "foreground";
pub(crate) const BACKGROUND: &str = "background";
pub(crate) const SWEEPER: &str = "sweeper";

/// What `template.yaml` gives to functions on a local engine.
const DISPATCH_KEYS: &str = r#"{"local": "no secret, and good for sam local only"}"#;

const SECONDS: fn(u64) -> Duration = Duration::from_secs;
const MS: fn(u64) -> Duration = Duration::from_millis;

/// A death is noticed soon, and a busy machine does not look like one.
const SOON: Env<'_> = &[("LEASE_MS", "2500"), ("HEARTBEAT_MS", "300"), ("DUE_AHEAD_MS", "300")];

/// The functions, deployed, with a database.
pub(crate) struct Deployment {
    pub(crate) host: LambdaHost,
    database: Program,
    _dir: TempDir,
}

/// Changes the settings of one function.
type Change<'a> = &'a dyn Fn(&mut Function);

impl Deployment {
    /// `env` is for all functions. The timeouts are those of `template.yaml`.
    pub(crate) async fn start(env: Env<'_>) -> Self {
        Self::with(env, &|_| {}).await
    }

    async fn with(env: Env<'_>, change: Change<'_>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let database = Program::serve(&["dynamodb", "--port", "0"], &[], dir.path()).await;
        let functions = [(FOREGROUND, 75), (BACKGROUND, 900), (SWEEPER, 60)].map(|(name, timeout)| {
            let mut function = Function::new(name, bootstrap(name));
            function.timeout = SECONDS(timeout);
            // A machine that builds at the same time is slow to start anything.
            function.init_timeout = SECONDS(30);
            function.url = name == FOREGROUND;
            let own = [
                ("AWS_ENDPOINT_URL_DYNAMODB", database.url()),
                ("BACKGROUND_FUNCTION_NAME", BACKGROUND),
                ("DISPATCH_KEYS", DISPATCH_KEYS),
                ("AWS_LAMBDA_LOG_FORMAT", "JSON"),
                ("AWS_LAMBDA_LOG_LEVEL", "INFO"),
            ];
            for (name, value) in own.iter().chain(env) {
                function = function.env(name, *value);
            }
            change(&mut function);
            function
        });
        Deployment { host: LambdaHost::start(functions).await.unwrap(), database, _dir: dir }
    }

    /// A client of the Function URL.
    pub(crate) fn api(&self) -> Api {
        Api::new(self.host.url(FOREGROUND))
    }

    fn table(&self) -> Table {
        Table::at(self.database.url())
    }

    /// Invokes a function, waits, and gives its result; a function's error is one of the test.
    pub(crate) async fn invoke(&self, function: &str, event: &Value) -> Value {
        let answer = self.invoke_raw(function, event.to_string()).await;
        serde_json::from_slice(&answer).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&answer)))
    }

    /// The bytes of the answer; of a function that streams they are prelude, eight NULs and body.
    async fn invoke_raw(&self, function: &str, event: String) -> Vec<u8> {
        let url = format!("{}/2015-03-31/functions/{function}/invocations", self.host.endpoint());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.post(url).body(event).send().await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.headers().get("x-amz-function-error")), (200, None));
        answer.bytes().await.unwrap().to_vec()
    }

    /// The invocations of a function, when `count` of them have ended.
    async fn ended(&self, function: &str, count: usize) -> Vec<Invocation> {
        until(&format!("{count} invocations of {function}"), async || {
            let invocations = self.host.invocations(function);
            let ended = invocations.iter().filter(|invocation| invocation.ended.is_some()).count();
            (ended >= count).then_some(invocations)
        })
        .await
    }

    /// How all invocations of a function ended, when none is under way.
    async fn outcomes(&self, function: &str) -> Vec<Outcome> {
        until(&format!("{function} to be idle"), async || {
            self.host.invocations(function).into_iter().map(|invocation| invocation.outcome).collect()
        })
        .await
    }

    /// Kills whoever has the run in its hands.
    async fn kill_background(&self) {
        until("a background to be killed", async || (self.host.kill(BACKGROUND) == 1).then_some(())).await;
    }

    /// The attempt that wrote each frame of a run's log, in the order of the log.
    async fn frame_attempts(&self, run: &str) -> Vec<u32> {
        let query = database_client(self.database.url()).query().table_name("tandem").consistent_read(true);
        let query = query.key_condition_expression("pk = :run AND begins_with(sk, :log)");
        let query = query.expression_attribute_values(":run", AttributeValue::S(format!("RUN#{run}")));
        let query = query.expression_attribute_values(":log", AttributeValue::S("LOG#".into()));
        let frames = query.send().await.unwrap().items.unwrap();
        frames.iter().map(|frame| frame["attempt"].as_n().unwrap().parse().unwrap()).collect()
    }

    /// After an end: the log is whole, says each word once, and no frame of an older attempt follows a newer one.
    async fn check_log(&self, run: &str, log: &Log, words: usize) {
        log.says_each_word_once(words);
        let attempts = self.frame_attempts(run).await;
        assert!(attempts.is_sorted(), "{attempts:?}");
        assert_eq!(attempts.last().copied(), log.attempts().len().try_into().ok(), "{:?}", log.attempts());
        assert_eq!(&self.api().log(run).await, log);
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for function in [FOREGROUND, BACKGROUND, SWEEPER] {
                let lines = self.host.log(function);
                let last = &lines[lines.len().saturating_sub(30)..];
                let invocations = self.host.invocations(function);
                eprintln!("--- {function}: {invocations:#?}\nits last lines:\n{}", last.join("\n"));
            }
        }
    }
}

/// The bootstraps are beside the `tandem` program, where cargo puts all of them.
fn bootstrap(function: &str) -> PathBuf {
    let target = std::env::current_exe().unwrap().parent().and_then(Path::parent).unwrap().to_owned();
    let path = target.join(format!("tandem-{function}"));
    assert!(path.is_file(), "{} is missing: run `cargo build --workspace --bins` first", path.display());
    path
}

fn database_client(url: &str) -> Client {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(Credentials::new("local", "local", None, None, "local"))
        .endpoint_url(url);
    Client::from_conf(config.build())
}

/// Steps that each say words and end with a call, and a last one that says the rest.
fn steps(count: usize, words: usize, every: &str) -> String {
    let step = format!("@say {words} every {every}\n/list-emails {{\"limit\":1}}\n\n");
    step.repeat(count - 1) + &format!("@say {words} every {every}")
}

/// The body of a start.
fn message(script: &str) -> Value {
    json!({"message": script})
}
