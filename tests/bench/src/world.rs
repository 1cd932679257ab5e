//! The programs that are measured, and what stands between them.

use std::time::Instant;

use reqwest::RequestBuilder;
use serde_json::json;
use tandem_testkit::faults::Proxy;
use tandem_testkit::providers::FakeProvider;
use tandem_tests::{Api, Program};
use tempfile::TempDir;

/// One database, one foreground and, unless turns stay in the foreground, one background.
pub(crate) struct World {
    pub(crate) foreground: Program,
    pub(crate) background: Option<Program>,
    pub(crate) database: Program,
    /// Before the database, where calls are counted: the foreground's and the background's.
    pub(crate) proxies: Vec<Proxy>,
    _dir: TempDir,
}

/// What a world consists of.
#[derive(Default)]
pub(crate) struct Setup<'a> {
    /// Turns are driven by another process than the one that streams them.
    pub(crate) background: bool,
    /// Calls of the store go through proxies that count them.
    pub(crate) counted: bool,
    /// Who answers; none: the scripted model, in the process.
    pub(crate) provider: Option<&'a FakeProvider>,
    pub(crate) env: &'a [(&'a str, &'a str)],
}

impl World {
    pub(crate) async fn start(setup: Setup<'_>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // In memory: what is measured is the runtime, and the store stands in for one that is elsewhere.
        let database = Program::serve(&["dynamodb", "--port", "0"], &[], dir.path()).await;
        let mut proxies = Vec::new();
        let mut common: Vec<(String, String)> =
            setup.env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        match setup.provider {
            Some(provider) => {
                common.extend(provider.environment().map(|(name, value)| (name.to_owned(), value)));
                common.push(("MODEL".to_owned(), "anthropic/fake".to_owned()));
            }
            None => common.push(("MODEL".to_owned(), "scripted".to_owned())),
        }
        let mut store = async || {
            let url = match setup.counted {
                true => {
                    proxies.push(Proxy::open(database.url()).await.unwrap());
                    proxies.last().unwrap().url().to_owned()
                }
                false => database.url().to_owned(),
            };
            ("AWS_ENDPOINT_URL_DYNAMODB".to_owned(), url)
        };
        let (to_foreground, to_background) = (store().await, store().await);
        let background = match setup.background {
            true => Some(serve("background", &common, &[to_background], &dir).await),
            false => None,
        };
        let way = match &background {
            Some(background) => ("BACKGROUND_URL".to_owned(), background.url().to_owned()),
            None => ("AGENT_CHAT_DURABLE_BACKGROUND".to_owned(), "false".to_owned()),
        };
        let foreground = serve("foreground", &common, &[to_foreground, way], &dir).await;
        World { foreground, background, database, proxies, _dir: dir }
    }

    pub(crate) fn api(&self) -> Api {
        Api::new(self.foreground.url())
    }

    /// A turn in a thread of its own.
    pub(crate) fn turn(&self, script: &str) -> RequestBuilder {
        self.api().chat(&json!({"message": script}))
    }

    /// The processes whose work is the runtime's.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Program> {
        std::iter::once(&self.foreground).chain(&self.background)
    }
}

async fn serve(kind: &str, common: &[(String, String)], own: &[(String, String)], dir: &TempDir) -> Program {
    let env: Vec<(&str, &str)> = common.iter().chain(own).map(|(name, value)| (&**name, &**value)).collect();
    Program::serve(&[kind, "--port", "0"], &env, dir.path()).await
}

/// The same script for the provider itself, as the floor sends it.
pub(crate) fn asked_directly(url: &str, script: &str) -> RequestBuilder {
    let body = json!({"model": "fake", "stream": true, "messages": [{"role": "user", "content": script}]});
    Api::new(url).request(reqwest::Method::POST, "/v1/messages").json(&body)
}

/// A provider that writes the time into its answers, and from when it counts.
pub(crate) fn stamping() -> (FakeProvider, Instant) {
    let epoch = Instant::now();
    (FakeProvider::stamping(epoch), epoch)
}
