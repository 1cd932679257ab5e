use super::*;
use crate::{ActionBuilder, Approval, Context, Method, Surfaces, action};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tandem_protocol::{TenantId, UserId};

/// Finds things.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Find {
    /// What to find.
    search_text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Undescribed {}

/// Lacks the description of a field.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct HalfDescribed {
    n: u32,
}

/// Not an object.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Text(String);

/// Has a field whose name no provider takes.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct OddlyNamed {
    /// A number.
    #[serde(rename = "odd name")]
    n: u32,
}

/// Takes even numbers.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Even {
    /// A number.
    #[schemars(extend("multipleOf" = 2))]
    n: u32,
}

/// Takes texts of a kind that cannot be read.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct BadPattern {
    /// A text.
    #[schemars(extend("pattern" = "("))]
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("description" = "long ".repeat(300)))]
struct ToldAtLength {}

macro_rules! does_nothing {
    ($($name:ident: $input:ty),* $(,)?) => {
        $(async fn $name(_: $input, _: &mut Context) -> Result<(), ActionError> {
            Ok(())
        })*
    };
}

does_nothing! {
    find: Find,
    undescribed: Undescribed,
    half_described: HalfDescribed,
    told_at_length: ToldAtLength,
    text: Text,
    oddly_named: OddlyNamed,
    even: Even,
    bad_pattern: BadPattern,
}

const fn read(name: &'static str) -> ActionBuilder {
    action(name).effect(Effect::Read).method(Method::Get)
}

fn principal(roles: &[&str]) -> Principal {
    let roles = roles.iter().map(|role| (*role).to_owned()).collect();
    Principal { tenant: TenantId::new("acme").unwrap(), user: UserId::new("ann").unwrap(), roles }
}

#[test]
fn a_fault_of_a_declaration_names_the_action() {
    const LONG: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const NOWHERE: Surfaces = Surfaces { http: false, tool: false, cli: false, mcp: false };
    const BY_HAND: Surfaces = Surfaces { tool: false, mcp: false, ..Surfaces::ALL };
    let with = |effect, method| action("a").effect(effect).method(method).run(&find);
    for (actions, action, fault) in [
        // Names.
        (vec![read("agent-chat").run(&find)], "agent-chat", "reserved"),
        (vec![read("help").run(&find)], "help", "reserved"),
        (vec![read("Find").run(&find)], "Find", "a-z"),
        (vec![read("").run(&find)], "", "a-z"),
        (vec![read("-a").run(&find)], "-a", "begins with no -"),
        (vec![read(LONG).run(&find)], LONG, "48"),
        (vec![read("a").run(&find), read("a").run(&find)], "a", "another action"),
        // Effects and methods.
        (vec![with(Effect::Transactional, Method::Get)], "a", "GET"),
        (vec![with(Effect::Checkpointed, Method::Get)], "a", "GET"),
        (vec![with(Effect::Keyed, Method::Get)], "a", "GET"),
        (vec![with(Effect::External, Method::Get)], "a", "GET"),
        (vec![with(Effect::Read, Method::Put)], "a", "something changes"),
        (vec![with(Effect::Read, Method::Delete)], "a", "something changes"),
        (vec![with(Effect::External, Method::Put)], "a", "sent again"),
        (vec![with(Effect::External, Method::Delete)], "a", "sent again"),
        // Options.
        (vec![read("a").surfaces(NOWHERE).run(&find)], "a", "no surface"),
        (vec![read("a").surfaces(BY_HAND).approval(Approval::Always).run(&find)], "a", "only agents are asked"),
        (vec![read("a").timeout(Duration::ZERO).run(&find)], "a", "timeout"),
        (vec![read("a").timeout(Duration::from_secs(601)).run(&find)], "a", "timeout"),
        (vec![read("a").max_output(0).run(&find)], "a", "output"),
        (vec![read("a").max_output(196 * 1024).run(&find)], "a", "output"),
        (vec![read("a").roles(&["admin", " "]).run(&find)], "a", "role"),
        // Descriptions.
        (vec![read("a").run(&undescribed)], "a", "doc comment on its input"),
        (vec![read("a").run(&half_described)], "a", "\"n\""),
        (vec![read("a").run(&told_at_length)], "a", "1024"),
        // Schemas.
        (vec![read("a").run(&text)], "a", "struct"),
        (vec![read("a").run(&oddly_named)], "a", "\"odd name\""),
        (vec![read("a").run(&even)], "a", "multipleOf at \"/n\""),
        (vec![read("a").run(&bad_pattern)], "a", "bad pattern at \"/text\""),
    ] {
        let error = Registry::new(&actions).unwrap_err();
        assert_eq!(error.action, action, "{error}");
        assert!(error.fault.contains(fault), "{error}");
    }
    for (effect, method) in [
        (Effect::Read, Method::Get),
        (Effect::Read, Method::Post),
        (Effect::Transactional, Method::Put),
        (Effect::Keyed, Method::Delete),
        (Effect::Checkpointed, Method::Post),
        (Effect::External, Method::Post),
    ] {
        assert!(Registry::new(&[with(effect, method)]).is_ok(), "{effect:?} {method:?}");
    }
}

#[test]
fn a_tool_is_described_by_the_code() {
    let registry = Registry::new(&[read("find-things").run(&find)]).unwrap();
    let want = Tool {
        name: "find-things".into(),
        description: "Finds things.".into(),
        schema: json!({
            "type": "object",
            "properties": {"searchText": {"description": "What to find.", "type": "string"}},
            "required": ["searchText"],
        }),
    };
    assert_eq!(registry.tools(&principal(&[])), [want]);
}

#[test]
fn what_is_hidden_or_forbidden_cannot_be_called_by_name() {
    let hidden = Surfaces { tool: false, ..Surfaces::ALL };
    let registry = Registry::new(&[
        read("find-things").run(&find),
        read("find-secrets").roles(&["admin", "auditor"]).run(&find),
        read("find-hidden").surfaces(hidden).run(&find),
    ])
    .unwrap();
    let names = |roles: &[&str], caller| {
        let principal = principal(roles);
        registry.offered(&principal, caller).map(Entry::name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[], Caller::Agent), ["find-things"]);
    assert_eq!(names(&["auditor"], Caller::Agent), ["find-things", "find-secrets"]);
    assert_eq!(names(&[], Caller::Http), ["find-things", "find-hidden"]);
    let check = |name: &str| registry.check(name, json!({"searchText": "x"}), &principal(&[]), Caller::Agent);
    assert!(check("find-things").is_ok());
    assert!(matches!(check("find-secrets"), Err(ActionError::Forbidden)));
    for name in ["find-hidden", "find_things", "constructor", "", "__proto__"] {
        let Err(ActionError::NotFound { near, .. }) = check(name) else { panic!("{name} was let in") };
        assert!(near.iter().all(|near| near.as_str() == "find-things"), "{near:?}");
        assert_eq!(near.is_empty(), !name.starts_with("find"), "{name} {near:?}");
    }
}

#[test]
fn absent_arguments_are_an_empty_object() {
    let registry = Registry::new(&[read("find").run(&find)]).unwrap();
    for input in [Value::Null, json!({})] {
        let error = registry.check("find", input, &principal(&[]), Caller::Mcp).unwrap_err();
        assert_eq!(error.to_string(), "the input does not fit: /searchText is missing");
    }
    let whole = json!("{\"searchText\": \"x\"}");
    assert!(registry.check("find", whole, &principal(&[]), Caller::Mcp).is_ok());
    assert!(registry.check("find", json!([1]), &principal(&[]), Caller::Mcp).is_err());
}

#[test]
fn the_effect_says_whether_a_person_must_agree_unless_the_action_does() {
    fn is_long(input: &Value) -> bool {
        input["searchText"].as_str().is_some_and(|text| text.len() > 3)
    }
    let with = |effect, approval: Option<Approval>| {
        let builder = action("find").effect(effect);
        let builder = approval.map_or(builder, |approval| builder.approval(approval));
        Registry::new(&[builder.run(&find)]).unwrap()
    };
    for (effect, approval, short, long) in [
        (Effect::External, None, true, true),
        (Effect::Keyed, None, false, false),
        (Effect::Transactional, None, false, false),
        (Effect::Read, None, false, false),
        (Effect::External, Some(Approval::Never), false, false),
        (Effect::Transactional, Some(Approval::Always), true, true),
        (Effect::External, Some(Approval::When(is_long)), false, true),
    ] {
        let registry = with(effect, approval);
        let needs = |text: &str| registry.get("find").unwrap().needs_approval(&json!({"searchText": text}));
        assert_eq!((needs("abc"), needs("abcd")), (short, long), "{effect:?} {approval:?}");
    }
}
