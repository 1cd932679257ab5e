//! `email`

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::draft;
use crate::email_id::EmailId;
use crate::inbox;
use crate::mail::{Reply, date};

/// Reply to an email in the user's voice.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The email to answer.
    email_id: EmailId,
    /// What to say, as Markdown.
    #[schemars(length(min = 1, max = 20_000))]
    body: String,
}

pub(crate) const ACTION: ActionDef = action("email").effect(Effect::Transactional).run(&reply);

async fn reply(input: Input, ctx: &mut Context) -> Result<Reply, ActionError> {
    if input.body.trim().is_empty() {
        return Err(ActionError::failed("empty_reply", "A reply must say something."));
    }
    let mut email = inbox::find_to_change(&mut ctx.state, input.email_id).await?;
    let reply = Reply {
        id: format!("r-{}", &ctx.new_id()[..16]),
        email_id: email.id,
        to: email.from.clone(),
        subject: answer_to(&email.subject),
        date: date(ctx.now()),
        by: ctx.principal().user.to_string(),
        body: input.body,
    };
    let key = format!("{}{:015}-{}", email.id.replies(), ctx.now(), reply.id);
    ctx.state.put(&inbox::scope(), &key, &reply).await?;
    // What was sent is no draft any more. Who has written something else goes on with it.
    if draft::find(&mut ctx.state, email.id).await?.is_some_and(|draft| draft.text.trim() == reply.body.trim()) {
        ctx.state.delete(&inbox::scope(), &email.id.draft()).await?;
    }
    email.answered = true;
    email.unread = false;
    inbox::save(&mut ctx.state, &email).await?;
    Ok(reply)
}

fn answer_to(subject: &str) -> String {
    let answers = subject.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("re:"));
    if answers { subject.to_owned() } else { format!("Re: {subject}") }
}
