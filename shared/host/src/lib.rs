//! Wiring: from environment variables to a runtime, once, for the three functions and for the `tandem` program.
//!
//! This is the one place that reads the environment, and so the one place that decides where we run.

mod aws;
mod invocation;
mod logs;
mod metrics;
mod said;
mod traces;

pub use aws::{dynamodb, is_local_store};
pub use invocation::Invocation;
pub use logs::{init_function_logs, init_logs};
pub use tandem_runs::Runtime;
pub use traces::{flush_traces, has_traces};

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tandem_actions::Registry;
use tandem_agent::{Agent, Limits};
use tandem_auth::{DispatchKeys, dispatch_keys, is_loopback_url};
use tandem_catalog::Settings;
use tandem_model::Models;
use tandem_protocol::Usage;
use tandem_runs::{Config, Dispatch, HttpDispatch, LambdaDispatch};
use tandem_store::Store;

/// For every program that is wired here: a third less processor time for an action than the C library's allocator
/// (docs/decisions/0016-another-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Reads one environment variable; an empty one counts as not set.
pub fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The table's name.
pub fn table_name() -> String {
    env("TABLE_NAME").unwrap_or_else(|| "tandem".into())
}

/// How long the logs of runs are kept.
pub fn retention_days() -> Result<u32> {
    match env("RUN_RETENTION_DAYS") {
        None => Ok(30),
        Some(days) => days.trim().parse().context("RUN_RETENTION_DAYS must be a whole number of days"),
    }
}

/// The store on AWS, or at `AWS_ENDPOINT_URL_DYNAMODB`. On a local endpoint the table is created when it is missing.
pub async fn store() -> Result<Store> {
    let store = Store::new(dynamodb().await, table_name()).with_retention_days(retention_days()?);
    if is_local_store() {
        store.create_table().await.context("the table could not be created at AWS_ENDPOINT_URL_DYNAMODB")?;
    }
    Ok(store)
}

/// The application's actions, with the settings of the environment.
pub fn registry() -> Result<Registry> {
    Ok(tandem_catalog::registry()?)
}

/// The same, and mail that no server sends goes into this folder.
pub fn registry_with_outbox(outbox_dir: PathBuf) -> Result<Registry> {
    Ok(tandem_catalog::registry_with(&Settings { outbox_dir, ..Settings::from_env(env) })?)
}

/// A runtime on `store`. `dispatch`: the way to the background.
pub fn runtime(store: Store, dispatch: Option<Arc<dyn Dispatch>>, keys: DispatchKeys) -> Result<Runtime> {
    runtime_with(registry()?, store, dispatch, keys)
}

/// The same with these actions.
pub fn runtime_with(
    registry: Registry,
    store: Store,
    dispatch: Option<Arc<dyn Dispatch>>,
    keys: DispatchKeys,
) -> Result<Runtime> {
    let config = config(dispatch.is_some())?;
    let models = Models::from_env(env)?;
    for (provider, key) in [("anthropic/", "ANTHROPIC_API_KEY"), ("openai/", "OPENAI_API_KEY")] {
        let asks = models.names().find(|name| name.starts_with(provider));
        if let Some(model) = asks.filter(|_| env(key).is_none_or(|key| key.trim().is_empty())) {
            tracing::warn!(model, "{key} is not set: every turn that asks this model will fail");
        }
    }
    if !config.budgets.is_empty()
        && let Some(model) = models.names().find(|name| models.price(name).is_none())
    {
        bail!(
            "There is a budget for models, and MODEL_PRICES does not say what {model} costs: add \
             `{model}=<input>/<output>`, in dollars per million tokens."
        );
    }
    if let Some(budget) = config.budgets.run {
        let answer = Usage { output_tokens: config.max_output_tokens.into(), ..Usage::default() };
        let prices = models.names().filter_map(|name| Some((name, models.price(name)?.of(&answer))));
        if let Some((model, most)) = prices.into_iter().find(|(_, most)| *most > budget) {
            bail!(
                "BUDGET_RUN_USD has no room for one answer of {model}, so no run could ask it: {} tokens \
                 (MAX_OUTPUT_TOKENS) cost {}.{:09} dollars. Allow more than that, as what is sent costs too, or set fewer.",
                config.max_output_tokens,
                most / 1_000_000_000,
                most % 1_000_000_000,
            );
        }
    }
    let agent = agent(&config, registry, models, store.clone());
    Ok(Runtime::new(store, agent, config, keys, dispatch))
}

/// A runtime that only puts runs back on the road, or ends them: it has no actions and no models, and drives nothing.
/// What it does not name is not linked into the sweeper.
pub fn sweeper_runtime(store: Store, dispatch: Option<Arc<dyn Dispatch>>, keys: DispatchKeys) -> Result<Runtime> {
    let config = config(dispatch.is_some())?;
    let agent = agent(&config, Registry::new(&[])?, Models::none(), store.clone());
    Ok(Runtime::new(store, agent, config, keys, dispatch))
}

fn config(has_background: bool) -> Result<Config> {
    let config = Config::from_env(&env)?;
    if config.durable_background && !has_background {
        bail!(
            "AGENT_CHAT_DURABLE_BACKGROUND is on, but there is no background: set BACKGROUND_FUNCTION_NAME (Lambda) \
             or BACKGROUND_URL (HTTP), or AGENT_CHAT_DURABLE_BACKGROUND=false to run every turn in the foreground."
        );
    }
    Ok(config)
}

fn agent(config: &Config, registry: Registry, models: Models, store: Store) -> Agent {
    let Config { max_steps, max_output_tokens, budgets, .. } = *config;
    let limits = Limits { max_steps, max_output_tokens, budgets };
    Agent::new(store, Arc::new(registry), Arc::new(models), tandem_catalog::INSTRUCTIONS, limits)
}

/// The way to the background that the environment names: a Lambda function, or an HTTP host; `url` is what is used
/// when it names none.
pub async fn dispatch(url: Option<&str>) -> Result<Option<Arc<dyn Dispatch>>> {
    if let Some(function) = env("BACKGROUND_FUNCTION_NAME") {
        return Ok(Some(Arc::new(LambdaDispatch::new(aws::lambda().await, function))));
    }
    match env("BACKGROUND_URL").as_deref().or(url) {
        Some(url) => Ok(Some(Arc::new(HttpDispatch::new(url)?))),
        None => Ok(None),
    }
}

/// The keys that sign dispatches. `loopback`: this process listens on loopback only.
pub fn keys(loopback: bool) -> Result<DispatchKeys> {
    let near = |name: &str| env(name).is_none_or(|url| is_loopback_url(&url));
    let everything = loopback && near("AWS_ENDPOINT_URL_DYNAMODB") && near("BACKGROUND_URL");
    let on_lambda = env("AWS_LAMBDA_RUNTIME_API").is_some();
    Ok(dispatch_keys(env, everything && !on_lambda)?)
}
