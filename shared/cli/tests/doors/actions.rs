//! Actions that say back what they were given, with fields of every kind.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Approval, Context, Effect, Method, Scope, Surfaces, action};

/// The same function by both ways in which HTTP brings an input.
pub(crate) const ACTIONS: &[ActionDef] = &[
    action("probe").effect(Effect::Read).run(&probe),
    action("probe-get").effect(Effect::Read).method(Method::Get).run(&probe),
    action("add-up").effect(Effect::Transactional).run(&add_up),
    action("refuse").effect(Effect::Transactional).run(&refuse),
    action("ask-first").effect(Effect::Read).approval(Approval::Always).run(&who),
    action("not-here").effect(Effect::Read).surfaces(Surfaces { cli: false, ..Surfaces::ALL }).run(&refuse),
    action("only-here").effect(Effect::Read).surfaces(Surfaces { http: false, ..Surfaces::ALL }).run(&who),
];

/// Says back what it was given.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Probe {
    /// A whole number.
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<i64>,
    /// A small one.
    #[serde(skip_serializing_if = "Option::is_none")]
    small: Option<u8>,
    /// A large one.
    #[serde(skip_serializing_if = "Option::is_none")]
    large: Option<u64>,
    /// From 1 to 10.
    #[schemars(range(min = 1, max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_count: Option<u32>,
    /// Any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<f64>,
    /// Yes or no.
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<bool>,
    /// A text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// A short one.
    #[schemars(length(max = 3))]
    #[serde(skip_serializing_if = "Option::is_none")]
    short: Option<String>,
    /// Whole numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<Vec<i64>>,
    /// Texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    /// How.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
    /// Which way.
    #[serde(skip_serializing_if = "Option::is_none")]
    way: Option<Way>,
    /// Numbers by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<BTreeMap<String, i64>>,
    /// What only the type can tell to be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    even: Option<Even>,
    /// A number that is never null.
    #[serde(default)]
    least: i32,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Fast,
    VerySlow,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Place {
    x: i64,
    y: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    inner: Option<Box<Inner>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    name: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase", deny_unknown_fields)]
enum Way {
    Car { seats: u8 },
    Foot,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "i64")]
#[schemars(with = "i64")]
struct Even(i64);

impl TryFrom<i64> for Even {
    type Error = &'static str;

    fn try_from(n: i64) -> Result<Self, Self::Error> {
        if n % 2 == 0 { Ok(Even(n)) } else { Err("must be even") }
    }
}

async fn probe(input: Probe, _: &mut Context) -> Result<Probe, ActionError> {
    Ok(input)
}

/// Adds to a sum that is kept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AddUp {
    /// Name of the sum.
    sum_name: String,
    /// How much.
    by: i64,
}

/// Takes nothing.
#[derive(Deserialize, JsonSchema)]
struct Nothing {}

async fn add_up(input: AddUp, ctx: &mut Context) -> Result<i64, ActionError> {
    let sum = ctx.state.get::<i64>(&Scope::User, &input.sum_name).await?.unwrap_or_default() + input.by;
    ctx.state.put(&Scope::User, &input.sum_name, &sum).await?;
    Ok(sum)
}

async fn refuse(_: Nothing, _: &mut Context) -> Result<(), ActionError> {
    Err(ActionError::failed("no_luck", "Not today."))
}

async fn who(_: Nothing, ctx: &mut Context) -> Result<tandem_protocol::Caller, ActionError> {
    Ok(ctx.caller())
}
