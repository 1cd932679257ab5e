//! What requests to models may cost: held in the store before each one, settled after it.
//!
//! A budget that cannot be asked is one that is used up: without the store no model is asked.

use futures::future::join_all;
use tandem_model::{Message, Model, ModelError, Price, Request};
use tandem_protocol::{EndReason, FinishReason, Usage};
use tandem_store::{Account, Hold};

use crate::Stop;
use crate::turn::Turn;

/// Bytes of a request that count as a token: English has four, and what has fewer may cost more than was held.
const BYTES_PER_TOKEN: usize = 3;

/// What may be spent on models, in nano-dollars. Nothing is counted where nothing is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budgets {
    /// By one run.
    pub run: Option<u64>,
    /// By all runs of a person on one day (UTC).
    pub user: Option<u64>,
    /// By all runs of a tenant on one day (UTC).
    pub tenant: Option<u64>,
}

impl Budgets {
    pub fn is_empty(&self) -> bool {
        *self == Budgets::default()
    }
}

/// A request that is paid for by what is held.
pub(crate) struct Held {
    accounts: Vec<Account>,
    request: String,
    amount: u64,
    price: Price,
}

impl Turn<'_> {
    /// Holds what a request may cost at most, with everybody who pays. Where one of them cannot, nobody does.
    pub(crate) async fn hold(&mut self, model: &dyn Model, request: &Request) -> Result<Option<Held>, Stop> {
        let budgets = self.agent.limits.budgets;
        if budgets.is_empty() {
            return Ok(None);
        }
        let price = self.agent.models.price(model.name()).ok_or_else(|| {
            let text = "There is a budget for models, and nobody has said what this one costs (MODEL_PRICES).";
            Stop::Failed(EndReason::SetupFailed, text.into())
        })?;
        self.requests += 1;
        let (run, owner) = (&self.run.run_id, &self.run.owner);
        let payers = [
            ("run", budgets.run, Account::run(run), "The answer has reached what one answer may cost."),
            ("user", budgets.user, Account::user(&owner.tenant, &owner.user), YOURS),
            ("tenant", budgets.tenant, Account::tenant(&owner.tenant), EVERYBODYS),
        ];
        let payers =
            payers.into_iter().filter_map(|(whose, limit, account, text)| Some((whose, limit?, account, text)));
        let name = format!("{run}.{}.{}", self.run.attempt, self.requests);
        let mut held = Held { accounts: Vec::new(), request: name, amount: most(request, price), price };
        let asked = payers.map(|(whose, limit, account, text)| {
            let (store, request, amount) = (&self.agent.store, &held.request, held.amount);
            async move { (store.hold(&account, request, amount, limit).await, whose, account, text) }
        });
        let (mut stop, mut accounts) = (None, Vec::new());
        for (hold, whose, account, text) in join_all(asked).await {
            match hold {
                Ok(Hold::Held) => {}
                Ok(Hold::Exhausted) => {
                    tracing::info!(run = %run, budget = whose, "the budget has no room");
                    stop = Some(Stop::Failed(EndReason::SpendingLimit, text.into()));
                }
                Err(error) => stop = stop.or(Some(Stop::Store(error))),
            }
            accounts.push(account);
        }
        held.accounts = accounts;
        match stop {
            None => Ok(Some(held)),
            Some(stop) => {
                self.pay(&held, 0).await;
                Err(stop)
            }
        }
    }

    /// Replaces what is held by what the answer cost. Where nobody knows that, it stays as it is.
    pub(crate) async fn settle(&self, held: &Held, answered: &Result<(FinishReason, Usage), ModelError>) {
        match answered {
            Ok((_, usage)) if *usage != Usage::default() => self.pay(held, held.price.of(usage)).await,
            Err(_) if !self.answering => self.pay(held, 0).await,
            Ok(_) | Err(_) => {}
        }
    }

    /// A settlement that fails is no reason to ask the model again: what is held stays paid.
    async fn pay(&self, held: &Held, cost: u64) {
        let store = &self.agent.store;
        let settled = held.accounts.iter().map(|account| store.settle(account, &held.request, held.amount, cost));
        for error in join_all(settled).await.into_iter().filter_map(Result::err) {
            tracing::warn!(run = %self.run.run_id, %error, "what a request cost could not be settled");
        }
    }
}

const YOURS: &str = "Your budget for models has no room for another answer today: it is used up, or held by answers that \
                     are under way. It begins anew at 00:00 UTC.";
const EVERYBODYS: &str = "The budget for models that you share with your team has no room for another answer today: it is \
                          used up, or held by answers that are under way. It begins anew at 00:00 UTC.";

/// What a request costs at most, in nano-dollars: all that is sent, and all that may be answered.
fn most(request: &Request, price: Price) -> u64 {
    let system: usize = request.system.iter().map(String::len).sum();
    let tools = request.tools.iter().map(|tool| tool.name.len() + tool.description.len() + json_len(&tool.schema));
    let bytes = system + tools.sum::<usize>() + request.messages.iter().map(message_len).sum::<usize>();
    let usage = Usage {
        input_tokens: bytes.div_ceil(BYTES_PER_TOKEN) as u64,
        output_tokens: u64::from(request.max_tokens),
        ..Usage::default()
    };
    price.of(&usage)
}

fn message_len(message: &Message) -> usize {
    match message {
        Message::User { results, text } => {
            text.as_ref().map_or(0, String::len) + results.iter().map(|result| result.output.len()).sum::<usize>()
        }
        Message::Assistant { reasoning, text, calls } => {
            let calls = calls.iter().map(|call| call.name.len() + json_len(&call.input));
            text.len() + reasoning.iter().map(json_len).sum::<usize>() + calls.sum::<usize>()
        }
    }
}

fn json_len(value: &serde_json::Value) -> usize {
    value.to_string().len()
}
