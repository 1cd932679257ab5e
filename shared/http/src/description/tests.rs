//! The description and the table of routes say the same.

use std::collections::BTreeSet;

use serde_json::Value;
use tandem_actions::{ActionDef, ActionError, Context, Effect, Registry, action};
use tandem_protocol::{Caller, Code};

use super::openapi;
use crate::route::About;
use crate::routes::table;

fn described() -> Value {
    openapi(&tandem_catalog::registry_with(&tandem_catalog::Settings::default()).unwrap())
}

/// Every operation: path, method, what is said about it.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    });
    operations.collect()
}

#[test]
fn every_route_and_every_action_is_described_and_nothing_else() {
    let document = described();
    let got: BTreeSet<(String, String)> =
        operations(&document).iter().map(|(path, method, _)| ((*path).to_owned(), (*method).to_owned())).collect();
    let registry = tandem_catalog::registry_with(&tandem_catalog::Settings::default()).unwrap();
    let mut want = BTreeSet::new();
    for route in table() {
        match route.about {
            About::Operations(operations) => {
                assert!(!operations.is_empty(), "{} has no method", route.path);
                let path = route.path.replace("{*", "{");
                want.extend(operations.iter().map(|(method, _)| (path.clone(), (*method).to_owned())));
            }
            About::Actions => {
                for entry in registry.entries().filter(|entry| entry.is_on(Caller::Http)) {
                    let method = serde_json::to_value(entry.method()).unwrap().as_str().unwrap().to_lowercase();
                    want.insert((route.path.replace("{action}", entry.name()), method));
                }
            }
        }
    }
    assert_eq!(got, want);
}

#[test]
fn operations_are_complete() {
    let document = described();
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let at = format!("{method} {path}");
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "the id of {at} is there twice");
        assert!(!operation["summary"].as_str().unwrap_or_default().is_empty(), "{at} has no summary");
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.keys().any(|status| status.starts_with('2')), "{at} never succeeds");
        if responses.contains_key("default") {
            continue;
        }
        assert!(responses.contains_key("500"), "{at}");
        if operation["security"] != serde_json::json!([]) {
            assert!(responses.contains_key("401"), "{at}");
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(!parameter["description"].as_str().unwrap_or_default().is_empty(), "{at} {parameter}");
        }
    }
}

#[test]
fn every_code_has_an_example_and_every_reference_a_target() {
    let document = described();
    for code in Code::ALL {
        let example = &document["components"]["examples"][code.as_str()]["value"];
        assert_eq!((&example["code"], &example["status"]), (&code.as_str().into(), &code.status().into()));
        let codes = document["components"]["schemas"]["Code"].to_string();
        assert!(codes.contains(&format!("\"{}\"", code.as_str())), "{codes}");
    }
    let mut references = BTreeSet::new();
    collect(&document, &mut references);
    assert!(references.len() > 40, "{references:?}");
    for reference in references {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference} leads nowhere");
    }
}

fn collect<'a>(value: &'a Value, references: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(fields) => {
            references.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| collect(value, references));
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, references)),
        _ => {}
    }
}

/// Nothing.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

async fn nothing(_: Nothing, _: &mut Context) -> Result<(), ActionError> {
    Ok(())
}

#[test]
fn no_action_takes_the_place_of_an_endpoint() {
    const fn named(name: &'static str) -> ActionDef {
        action(name).effect(Effect::Read).run(&nothing)
    }
    assert!(Registry::new(&[named("free")]).is_ok());
    for route in table() {
        let segment = route.path.strip_prefix("/api/").and_then(|rest| rest.split('/').next());
        if let Some(segment) = segment.filter(|segment| !segment.starts_with('{')) {
            let error = Registry::new(&[named(segment)]).unwrap_err();
            assert!(error.fault.contains("reserved"), "{segment}: {error}");
        }
    }
}

#[test]
fn the_checked_in_description_is_the_one_that_is_served() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let checked_in = std::fs::read_to_string(path).unwrap_or_default();
    let served = format!("{:#}\n", described());
    let lines = checked_in.lines().zip(served.lines()).enumerate();
    let differs = lines.clone().find(|(_, (old, new))| old != new);
    assert!(
        checked_in == served,
        "docs/openapi.json is not what the routes and actions say; first difference (line, old, new): {differs:?}. \
         Write it anew with: make types"
    );
}

#[test]
fn answers_that_happen_are_listed_and_no_others() {
    let document = described();
    let responses = |path: &str, method: &str| document["paths"][path][method]["responses"].clone();
    let is_listed = |path: &str, method: &str, status: &str| responses(path, method).get(status).is_some();
    for (path, methods) in document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/api/")) {
        for method in methods.as_object().unwrap().keys() {
            assert!(is_listed(path, method, "429"), "{method} {path}");
        }
    }
    assert!(is_listed("/api/agent-chat", "post", "403"));
    // Stopping is never refused.
    for path in ["/runs/{run}/abort", "/threads/{thread}/turns/{turn}/abort"] {
        assert!(is_listed(path, "post", "401") && !is_listed(path, "post", "429"), "{path}");
    }
    let headers = responses("/api/import-emails", "post")["202"]["headers"].clone();
    assert!(headers.get("location").is_some() && headers.get("x-run-id").is_some(), "{headers}");
}
