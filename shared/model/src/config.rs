//! Which models there are, from the environment.
//!
//! | variable | meaning |
//! |---|---|
//! | `MODEL` | what answers when a request names nothing: `scripted`, `anthropic/<id>`, `openai/<id>`, `bedrock/<id>` |
//! | `MODELS` | a comma list of what a request may name besides |
//! | `MODEL_PRICES` | what they cost: see [`Price`] |
//! | `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL` | the key; another address |
//! | `OPENAI_API_KEY`, `OPENAI_BASE_URL` | the key; another address, with its `/v1` |
//! | `AWS_REGION`, `AWS_ENDPOINT_URL_BEDROCK_RUNTIME`, `AWS_ACCESS_KEY_ID` … | as for every AWS SDK |
//!
//! Without `MODEL`: Anthropic's [`ANTHROPIC_DEFAULT`] where there is a key for it, else OpenAI's [`OPENAI_DEFAULT`]
//! where there is a key for that, else the scripted model.

use std::sync::Arc;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;

use crate::{Anthropic, Bedrock, BedrockEndpoint, Endpoint, Model, OpenAi, Price, Scripted, Timeouts};

/// Takes tools, and costs what a default may cost.
pub const ANTHROPIC_DEFAULT: &str = rig_core::providers::anthropic::CLAUDE_SONNET_5_5;
/// Takes tools on Chat Completions while it reasons, which its successors do not.
pub const OPENAI_DEFAULT: &str = rig_core::providers::openai::GPT_5_6_TERRA;

/// The models a request may choose among. The first is the default; there is none only in [`Models::none`].
#[derive(Clone)]
pub struct Models {
    models: Vec<Arc<dyn Model>>,
    prices: Vec<(String, Price)>,
}

/// The environment contradicts itself. The message names the variable and the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "{variable} names the model `{value}`, which is none: use `scripted`, `anthropic/<id>`, `openai/<id>` or `bedrock/<id>`"
    )]
    NotAModel { variable: &'static str, value: String },
    #[error("{variable} is not an address: it must begin with http:// or https://")]
    NotAnAddress { variable: &'static str },
    #[error(
        "MODEL_PRICES has `{0}`: use `<model>=<input>/<output>` in dollars per million tokens, with commas between models"
    )]
    NotAPrice(String),
    #[error("MODEL_PRICES says twice what {0} costs: leave one of them out")]
    TwoPrices(String),
    #[error("{present} is set and {absent} is not: set both, or neither")]
    Half { present: &'static str, absent: &'static str },
}

/// A request named a model that it may not choose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no model `{name}` here; choose one of: {}", known.join(", "))]
pub struct UnknownModel {
    pub name: String,
    pub known: Vec<String>,
}

impl Models {
    /// The default model and what else may be chosen. A name given twice counts once.
    pub fn new(default: Arc<dyn Model>, others: impl IntoIterator<Item = Arc<dyn Model>>) -> Self {
        let mut models = vec![default];
        for model in others {
            if !models.iter().any(|known| known.name() == model.name()) {
                models.push(model);
            }
        }
        Self { models, prices: Vec::new() }
    }

    /// No model at all, for a process that asks none.
    pub fn none() -> Self {
        Self { models: Vec::new(), prices: Vec::new() }
    }

    /// Reads the environment through `lookup`. Connects nowhere: a missing key shows when the model is asked.
    pub fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        Self::from_env_with(lookup, Timeouts::default())
    }

    pub fn from_env_with(lookup: impl Fn(&str) -> Option<String>, timeouts: Timeouts) -> Result<Self, ConfigError> {
        let set = |name: &str| lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let makers = Makers {
            anthropic: Endpoint { key: set("ANTHROPIC_API_KEY"), base_url: address(&set, "ANTHROPIC_BASE_URL")? },
            openai: Endpoint { key: set("OPENAI_API_KEY"), base_url: address(&set, "OPENAI_BASE_URL")? },
            bedrock: bedrock(&set)?,
            timeouts,
        };
        let default = set("MODEL").unwrap_or_else(|| makers.default_name());
        let others = set("MODELS").unwrap_or_default();
        let others = others.split(',').map(str::trim).filter(|name| !name.is_empty());
        let others = others.map(|name| makers.make("MODELS", name)).collect::<Result<Vec<_>, _>>()?;
        let prices = set("MODEL_PRICES").unwrap_or_default();
        let prices = prices.split(',').map(str::trim).filter(|price| !price.is_empty());
        let prices = prices.map(|text| Price::parse(text).ok_or_else(|| ConfigError::NotAPrice(text.to_owned())));
        let prices = prices.collect::<Result<Vec<_>, _>>()?;
        let twice =
            prices.iter().enumerate().find(|(n, (model, _))| prices[..*n].iter().any(|(other, _)| other == model));
        if let Some((_, (model, _))) = twice {
            return Err(ConfigError::TwoPrices(model.clone()));
        }
        let models = Self::new(makers.make("MODEL", &default)?, others);
        Ok(Self { prices, ..models })
    }

    /// The model of that name, or the default.
    pub fn get(&self, name: Option<&str>) -> Result<Arc<dyn Model>, UnknownModel> {
        let found = match name {
            None => self.models.first(),
            Some(name) => self.models.iter().find(|model| model.name() == name),
        };
        found.cloned().ok_or_else(|| UnknownModel {
            name: name.unwrap_or_default().to_owned(),
            known: self.names().map(str::to_owned).collect(),
        })
    }

    /// What a model costs, if somebody has said so.
    pub fn price(&self, name: &str) -> Option<Price> {
        self.prices.iter().find(|(model, _)| model == name).map(|(_, price)| *price)
    }

    /// What may be chosen, the default first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.models.iter().map(|model| model.name())
    }
}

/// What every model of a provider is made with.
struct Makers {
    anthropic: Endpoint,
    openai: Endpoint,
    bedrock: BedrockEndpoint,
    timeouts: Timeouts,
}

impl Makers {
    fn default_name(&self) -> String {
        if self.anthropic.key.is_some() {
            format!("anthropic/{ANTHROPIC_DEFAULT}")
        } else if self.openai.key.is_some() {
            format!("openai/{OPENAI_DEFAULT}")
        } else {
            "scripted".to_owned()
        }
    }

    fn make(&self, variable: &'static str, name: &str) -> Result<Arc<dyn Model>, ConfigError> {
        let timeouts = self.timeouts;
        Ok(match name.split_once('/') {
            None if name == "scripted" => Arc::new(Scripted),
            Some(("anthropic", id)) if !id.is_empty() => Arc::new(Anthropic::new(id, self.anthropic.clone(), timeouts)),
            Some(("openai", id)) if !id.is_empty() => Arc::new(OpenAi::new(id, self.openai.clone(), timeouts)),
            Some(("bedrock", id)) if !id.is_empty() => Arc::new(Bedrock::new(id, self.bedrock.clone(), timeouts)),
            _ => return Err(ConfigError::NotAModel { variable, value: name.to_owned() }),
        })
    }
}

fn bedrock(set: &impl Fn(&str) -> Option<String>) -> Result<BedrockEndpoint, ConfigError> {
    const KEY: &str = "AWS_ACCESS_KEY_ID";
    const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
    let credentials = match (set(KEY), set(SECRET)) {
        (Some(key), Some(secret)) => {
            let credentials = Credentials::new(key, secret, set("AWS_SESSION_TOKEN"), None, "environment");
            Some(SharedCredentialsProvider::new(credentials))
        }
        (Some(_), None) => return Err(ConfigError::Half { present: KEY, absent: SECRET }),
        (None, Some(_)) => return Err(ConfigError::Half { present: SECRET, absent: KEY }),
        (None, None) => None,
    };
    Ok(BedrockEndpoint {
        region: set("AWS_REGION").or_else(|| set("AWS_DEFAULT_REGION")),
        url: address(set, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME")?,
        credentials,
        bearer: set("AWS_BEARER_TOKEN_BEDROCK"),
    })
}

/// The value is not repeated in the error: an address may hold a password.
fn address(set: &impl Fn(&str) -> Option<String>, variable: &'static str) -> Result<Option<String>, ConfigError> {
    match set(variable) {
        Some(url) if reqwest::Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) => {
            Ok(Some(url))
        }
        Some(_) => Err(ConfigError::NotAnAddress { variable }),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn names(environment: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let environment: HashMap<_, _> = environment.iter().copied().collect();
        let models = Models::from_env(|name| environment.get(name).map(|value| (*value).to_owned()));
        models.map(|models| models.names().map(str::to_owned).collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_default_follows_from_what_is_there() {
        let anthropic = format!("anthropic/{ANTHROPIC_DEFAULT}");
        let openai = format!("openai/{OPENAI_DEFAULT}");
        for (environment, want) in [
            (vec![], vec!["scripted"]),
            (vec![("ANTHROPIC_API_KEY", " ")], vec!["scripted"]),
            (vec![("OPENAI_API_KEY", "k")], vec![openai.as_str()]),
            (vec![("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")], vec![anthropic.as_str()]),
            (vec![("MODEL", "scripted"), ("OPENAI_API_KEY", "k")], vec!["scripted"]),
            (
                vec![("MODEL", "bedrock/a.b-v1:0"), ("MODELS", "scripted, openai/x/y,,bedrock/a.b-v1:0 ")],
                vec!["bedrock/a.b-v1:0", "scripted", "openai/x/y"],
            ),
        ] {
            assert_eq!(names(&environment).unwrap(), want, "{environment:?}");
        }
    }

    #[test]
    fn a_wrong_setting_is_named_with_the_way_out() {
        for (environment, want) in [
            (
                [("MODEL", "gpt"), ("X", "")],
                "MODEL names the model `gpt`, which is none: use `scripted`, `anthropic/<id>`, `openai/<id>` or `bedrock/<id>`",
            ),
            (
                [("MODELS", "scripted,anthropic/"), ("X", "")],
                "MODELS names the model `anthropic/`, which is none: use `scripted`, `anthropic/<id>`, `openai/<id>` or `bedrock/<id>`",
            ),
            (
                [("OPENAI_BASE_URL", "user:secret@host"), ("X", "")],
                "OPENAI_BASE_URL is not an address: it must begin with http:// or https://",
            ),
            (
                [("MODEL_PRICES", "scripted=1/2, openai/x=cheap"), ("X", "")],
                "MODEL_PRICES has `openai/x=cheap`: use `<model>=<input>/<output>` in dollars per million tokens, with commas between models",
            ),
            (
                [("AWS_ACCESS_KEY_ID", "a"), ("X", "")],
                "AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not: set both, or neither",
            ),
        ] {
            assert_eq!(names(&environment).unwrap_err(), want);
        }
    }

    #[test]
    fn a_request_chooses_only_what_is_listed() {
        let models = Models::from_env(|name| (name == "MODELS").then(|| "openai/x".to_owned())).unwrap();
        assert_eq!(models.get(None).unwrap().name(), "scripted");
        assert_eq!(models.get(Some("openai/x")).unwrap().name(), "openai/x");
        assert_eq!(
            models.get(Some("openai/y")).err().unwrap().to_string(),
            "there is no model `openai/y` here; choose one of: scripted, openai/x"
        );
    }
}
