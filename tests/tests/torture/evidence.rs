//! What the store holds about one turn, read past all proxies.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Map, Value, json};
use tandem_protocol::{CallState, Chunk, ToolCall, Transcript};

/// The table of a `tandem dynamodb`.
#[derive(Debug)]
pub(crate) struct Store(Client);

/// Everything about one turn that is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    /// The turn's runs, in their order.
    pub(crate) runs: Vec<Stored>,
    pub(crate) thread: Value,
    /// The runs that the thread's turns point to.
    pub(crate) turns: Vec<String>,
    pub(crate) inbox: Scope,
}

/// What is stored of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    pub(crate) id: String,
    /// The run's record.
    pub(crate) run: Value,
    pub(crate) frames: Vec<Frame>,
    /// By tool call: the kind of the outcome, and its text.
    pub(crate) outcomes: BTreeMap<String, (String, String)>,
}

/// A stored frame of the log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) attempt: u64,
    pub(crate) chunks: Vec<String>,
}

/// A scope of documents.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Scope {
    pub(crate) head: u64,
    /// By key: the position since which it has this value.
    pub(crate) documents: BTreeMap<String, (u64, Value)>,
    /// The feed's frames by position, each with its changes.
    pub(crate) feed: BTreeMap<u64, Vec<Value>>,
}

impl Store {
    pub(crate) fn at(url: &str) -> Self {
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .credentials_provider(Credentials::new("local", "local", None, None, "local"))
            .endpoint_url(url);
        Store(Client::from_conf(config.build()))
    }

    /// `person`: `tenant.user`. `runs`: those of the turn.
    pub(crate) async fn evidence(&self, person: &str, thread: &str, runs: &[String]) -> Evidence {
        let tenant = person.split('.').next().unwrap();
        let mut stored = Vec::new();
        for run in runs {
            stored.push(self.stored(run).await);
        }
        let mut thread = self.partition(&format!("THREAD#{tenant}#{thread}")).await;
        let turns = thread.iter().filter(|(sk, _)| sk.starts_with("TURN#")).map(|(_, turn)| text(&turn["run"]));
        Evidence {
            runs: stored,
            turns: turns.collect(),
            thread: thread.remove("THREAD").unwrap_or_default(),
            inbox: Scope::read(self.partition(&format!("STATE#{tenant}#app:inbox")).await),
        }
    }

    async fn stored(&self, run: &str) -> Stored {
        let stored = self.partition(&format!("RUN#{run}")).await;
        let calls = stored.iter().filter_map(|(sk, item)| Some((sk.strip_prefix("CALL#")?, item)));
        let outcomes = calls.map(|(id, item)| (id.to_owned(), (text(&item["outcome"]), text(&item["body"]))));
        let frames = stored.iter().filter_map(|(sk, item)| Some(Frame::read(sk.strip_prefix("LOG#")?, item)));
        Stored {
            id: run.to_owned(),
            run: stored.get("RUN").cloned().unwrap_or_default(),
            frames: frames.collect(),
            outcomes: outcomes.collect(),
        }
    }

    /// The run's record; null where there is none.
    pub(crate) async fn run(&self, run: &str) -> Value {
        self.partition(&format!("RUN#{run}")).await.remove("RUN").unwrap_or_default()
    }

    /// The highest attempt that took the log, and whether the log has ended.
    pub(crate) async fn holder(&self, run: &str) -> (u64, bool) {
        let stored = self.partition(&format!("RUN#{run}")).await;
        let frames = stored.iter().filter_map(|(sk, item)| Some(Frame::read(sk.strip_prefix("LOG#")?, item)));
        let transcript = transcript(&frames.collect::<Vec<_>>());
        (u64::from(transcript.attempt), transcript.end.is_some())
    }

    /// The runs that the sweeper would look at.
    pub(crate) async fn due(&self) -> Vec<String> {
        let scan = self.0.scan().table_name("tandem").index_name("due").send().await.unwrap();
        scan.items().iter().map(|item| text(&json(&item["pk"]))).collect()
    }

    /// The items of a partition, by sort key.
    async fn partition(&self, pk: &str) -> BTreeMap<String, Value> {
        let query = self.0.query().table_name("tandem").consistent_read(true).key_condition_expression("pk = :pk");
        let query = query.expression_attribute_values(":pk", AttributeValue::S(pk.to_owned()));
        let mut pages = query.into_paginator().items().send();
        let mut items = BTreeMap::new();
        while let Some(item) = pages.next().await {
            let item = json(&AttributeValue::M(item.unwrap()));
            items.insert(text(&item["sk"]), item);
        }
        items
    }
}

impl Evidence {
    /// The last that was said about the `nth` call of an action, from 0, and the kind of its outcome.
    pub(crate) fn call(&self, name: &str, nth: usize) -> (Option<CallState>, &str) {
        // A run that goes on with a call shows it again.
        let transcripts: Vec<Transcript> = self.runs.iter().map(Stored::transcript).collect();
        let mut calls: Vec<&ToolCall> = Vec::new();
        for call in transcripts.iter().flat_map(Transcript::calls).filter(|call| call.name == name) {
            match calls.iter_mut().find(|known| known.id == call.id) {
                Some(known) => *known = call,
                None => calls.push(call),
            }
        }
        let Some(call) = calls.get(nth) else { return (None, "") };
        let outcome = self.runs.iter().find_map(|run| run.outcomes.get(call.id.as_str()));
        (Some(call.state.clone()), outcome.map_or("", |(kind, _)| kind))
    }
}

impl Stored {
    /// The chunks as they are stored.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &String> {
        self.frames.iter().flat_map(|frame| &frame.chunks)
    }

    pub(crate) fn transcript(&self) -> Transcript {
        transcript(&self.frames)
    }
}

impl Frame {
    fn read(first: &str, item: &Value) -> Self {
        Frame {
            first: first.parse().unwrap(),
            count: number(&item["n"]),
            attempt: number(&item["attempt"]),
            chunks: text(&item["body"]).split('\n').map(str::to_owned).collect(),
        }
    }
}

impl Scope {
    fn read(items: BTreeMap<String, Value>) -> Self {
        let mut scope = Scope::default();
        for (sk, item) in items {
            if sk == "HEAD" {
                scope.head = number(&item["pos"]);
            } else if let Some(key) = sk.strip_prefix("DOC#") {
                let value = serde_json::from_str(&text(&item["value"])).unwrap();
                scope.documents.insert(key.to_owned(), (number(&item["rev"]), value));
            } else if let Some(pos) = sk.strip_prefix("FEED#") {
                scope.feed.insert(pos.parse().unwrap(), serde_json::from_str(&text(&item["body"])).unwrap());
            }
        }
        scope
    }

    /// The changes in their order: key, position, value.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&str, u64, &Value)> {
        let changes = self.feed.iter().flat_map(|(pos, changes)| changes.iter().map(move |change| (*pos, change)));
        changes.map(|(pos, change)| (change["key"].as_str().unwrap(), pos, &change["value"]))
    }
}

fn transcript(frames: &[Frame]) -> Transcript {
    let chunks = frames.iter().flat_map(|frame| &frame.chunks);
    let chunks: Vec<Chunk> = chunks.map(|chunk| serde_json::from_str(chunk).unwrap()).collect();
    Transcript::fold(&chunks)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

/// Numbers of DynamoDB are kept as text.
fn number(value: &Value) -> u64 {
    text(value).parse().unwrap()
}

fn json(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::M(map) => {
            map.iter().map(|(name, value)| (name.clone(), json(value))).collect::<Map<_, _>>().into()
        }
        AttributeValue::L(list) => list.iter().map(json).collect(),
        AttributeValue::S(text) | AttributeValue::N(text) => json!(text),
        AttributeValue::Bool(value) => json!(value),
        AttributeValue::Null(_) => Value::Null,
        other => panic!("nothing that Tandem stores: {other:?}"),
    }
}
