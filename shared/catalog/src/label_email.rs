//! `label-email`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::email_id::EmailId;
use crate::inbox;

/// Most labels of one email.
const MAX_LABELS: usize = 20;
/// Longest label, in characters.
const MAX_LABEL: usize = 40;

/// Add labels to an email, or take them off.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The email to label.
    email_id: EmailId,
    /// Labels to add, such as billing.
    #[serde(default)]
    #[schemars(length(max = 20))]
    add: Vec<String>,
    /// Labels to take off. Those that the email does not have are no fault.
    #[serde(default)]
    #[schemars(length(max = 20))]
    remove: Vec<String>,
}

/// The labels that the email has now.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    email_id: EmailId,
    labels: Vec<String>,
    /// False: it had exactly these before.
    changed: bool,
}

pub(crate) const ACTION: ActionDef = action("label-email").effect(Effect::Transactional).run(&label);

async fn label(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let add: Vec<&str> = input.add.iter().map(|label| label.trim()).collect();
    let fits = |label: &&str| {
        (1..=MAX_LABEL).contains(&label.chars().count()) && !label.chars().any(|c| c.is_control() || c == ',')
    };
    if !add.iter().all(fits) {
        let text = format!("A label is 1 to {MAX_LABEL} characters without commas and line breaks.");
        return Err(ActionError::failed("bad_label", text));
    }
    let mut email = inbox::find_to_change(&mut ctx.state, input.email_id).await?;
    let before = email.labels.clone();
    email.labels.retain(|label| !input.remove.iter().any(|removed| removed.trim() == label));
    for label in add {
        if !email.labels.iter().any(|known| known == label) {
            email.labels.push(label.to_owned());
        }
    }
    if email.labels.len() > MAX_LABELS {
        let text = format!("An email has at most {MAX_LABELS} labels: take some off first.");
        return Err(ActionError::failed("too_many_labels", text));
    }
    let changed = email.labels != before;
    if changed {
        inbox::save(&mut ctx.state, &email).await?;
    }
    Ok(Output { email_id: email.id, labels: email.labels, changed })
}
