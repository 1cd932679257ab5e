//! What providers answer: the first byte chooses the wire, the rest is the body, torn into pieces.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use tandem_model::{Event, Message, Models, Request, Timeouts, ToolSpec};
use tandem_protocol::{FinishReason, Usage};
use tandem_testkit::providers::{FakeProvider, Reply, Wire};

const MODELS: [&str; 3] = ["anthropic/m", "openai/m", "bedrock/m"];

struct World {
    provider: FakeProvider,
    models: Models,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let _inside = crate::runtime().enter();
        let provider = FakeProvider::start();
        let mut variables: HashMap<&str, String> = provider.environment().into();
        variables.extend([("MODEL", "scripted".to_owned()), ("MODELS", MODELS.join(","))]);
        let timeouts = Timeouts { first_event: Duration::from_secs(5), gap: Duration::from_secs(5) };
        let models = Models::from_env_with(|name| variables.get(name).cloned(), timeouts).unwrap();
        World { provider, models }
    })
}

/// An answer ends, with a finish or with an error, whatever comes; nothing follows either.
pub(crate) fn check(bytes: &[u8]) {
    let Some((wire, body)) = bytes.split_first() else { return };
    let World { provider, models } = world();
    let model = models.get(Some(MODELS[usize::from(*wire) % 3])).unwrap();
    let tool = ToolSpec { name: "look".into(), description: "Looks.".into(), schema: json!({"type": "object"}) };
    let request = Request {
        system: Vec::new(),
        messages: vec![Message::User { results: Vec::new(), text: Some("Hello".into()) }],
        tools: vec![tool],
        max_tokens: 100,
        retry: 0,
    };
    crate::runtime().block_on(async {
        provider.serve([Reply::frames([body.to_vec()]).in_pieces(1 + usize::from(*wire) / 3)]);
        let Ok(mut answer) = model.ask(request).await else { return };
        let (mut finished, mut last) = (false, false);
        while let Some(event) = answer.next().await {
            assert!(!finished && !last, "nothing comes after the end");
            match event {
                Ok(Event::Finish { .. }) => finished = true,
                Ok(_) => {}
                Err(_) => last = true,
            }
        }
        assert!(finished || last, "an answer has an end");
    });
}

pub(crate) fn samples() -> Vec<Vec<u8>> {
    let events = [
        Event::ReasoningDelta("hm".into()),
        Event::ReasoningEnd { signed: Some(json!("signature")) },
        Event::TextDelta("Hé".into()),
        Event::TextDelta("llo".into()),
        Event::CallStart { index: 0, name: "look".into() },
        Event::CallDelta { index: 0, json: "{\"q\": ".into() },
        Event::CallDelta { index: 0, json: "1}".into() },
        Event::CallEnd { index: 0 },
        Event::Finish { reason: FinishReason::ToolCalls, usage: Usage::default() },
    ];
    let wires = [Wire::Anthropic, Wire::OpenAi, Wire::Bedrock].into_iter().zip(120_u8..);
    wires.map(|(wire, first)| [vec![first], Reply::frames_of(wire, &events).concat()].concat()).collect()
}
