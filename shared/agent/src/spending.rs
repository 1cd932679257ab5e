//! What requests to models may cost: held in the store before each one, settled after it.
//!
//! A budget that cannot be asked is one that is used up: without the store no model is asked.

use futures::future::{join_all, try_join_all};
use tandem_model::{Message, Model, ModelError, Price, Request};
use tandem_protocol::{EndReason, FinishReason, Usage};
use tandem_store::{Account, Hold};

use crate::Stop;
use crate::turn::Turn;

/// Bytes of a request that are one token at least, in every tokenizer that is in use.
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
            (budgets.run, Account::run(run), "The answer has cost what one answer may cost."),
            (budgets.user, Account::user(&owner.tenant, &owner.user), YOURS),
            (budgets.tenant, Account::tenant(&owner.tenant), EVERYBODYS),
        ];
        let payers = payers.into_iter().filter_map(|(limit, account, text)| Some((limit?, account, text)));
        let name = format!("{run}.{}.{}", self.run.attempt, self.requests);
        let mut held = Held { accounts: Vec::new(), request: name, amount: most(request, price), price };
        let asked = payers.map(|(limit, account, text)| {
            let (store, request, amount) = (&self.agent.store, &held.request, held.amount);
            async move {
                let hold = store.hold(&account, request, amount, limit).await?;
                Ok::<_, Stop>((hold, account, text))
            }
        });
        let mut exhausted = None;
        for (hold, account, text) in try_join_all(asked).await? {
            match hold {
                Hold::Held => held.accounts.push(account),
                Hold::Exhausted => exhausted = exhausted.or(Some(text)),
            }
        }
        if let Some(text) = exhausted {
            self.pay(&held, 0).await;
            return Err(Stop::Failed(EndReason::SpendingLimit, text.into()));
        }
        Ok(Some(held))
    }

    /// Replaces what is held by what the answer cost. Where nobody knows that, it stays as it is.
    pub(crate) async fn settle(&self, held: &Held, answered: &Result<(FinishReason, Usage), ModelError>) {
        let nothing_came = self.log.transcript.open_step().is_none_or(|step| step.parts.is_empty());
        match answered {
            Ok((_, usage)) if *usage != Usage::default() => self.pay(held, held.price.of(usage)).await,
            Err(ModelError::Interrupted { .. } | ModelError::Refused { .. }) | Ok(_) => {}
            Err(_) if nothing_came => self.pay(held, 0).await,
            Err(_) => {}
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

const YOURS: &str = "Your budget for models is used up for today. It begins anew at 00:00 UTC.";
const EVERYBODYS: &str =
    "The budget for models that you share with your team is used up for today. It begins anew at 00:00 UTC.";

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
