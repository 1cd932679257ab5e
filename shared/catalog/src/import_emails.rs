//! `import-emails`

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::email_id::EmailId;
use crate::generated;
use crate::inbox;
use crate::mail::{Email, Incoming};
use crate::mbox;

const COUNT: u64 = 100;
/// Emails in one slice. With the samples of an untouched inbox it must fit into one commit.
const SLICE: u64 = 80;
/// Bytes of emails in one slice: its feed frame must hold them.
const SLICE_BYTES: usize = 150 * 1024;
/// Steps in which progress shows, if there are enough emails.
const STEPS: u64 = 20;

/// Import emails into the inbox: from an mbox, or made-up ones to try things out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// How many emails. If absent: all of the mbox, or 100 made-up ones.
    #[schemars(range(min = 1, max = 100_000))]
    count: Option<u64>,
    /// Pause between two slices of the import, in milliseconds; to watch it, or to spare the store.
    #[schemars(range(max = 5000))]
    delay_ms: Option<u64>,
    /// The text of an mbox file. If absent, emails are made up.
    mbox: Option<String>,
}

/// What was imported.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// How many emails.
    imported: u64,
    first_id: Option<EmailId>,
    last_id: Option<EmailId>,
}

/// How far an import is; stored with every slice.
#[derive(Default, Serialize, Deserialize)]
struct Cursor {
    done: u64,
    first: Option<EmailId>,
    last: Option<EmailId>,
}

pub(crate) const ACTION: ActionDef = action("import-emails").effect(Effect::Checkpointed).run(&import);

async fn import(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let source = Source::new(&input, ctx.now())?;
    let mut cursor: Cursor = ctx.cursor()?.unwrap_or_default();
    while cursor.done < source.total {
        ctx.progress("Importing emails", cursor.done, Some(source.total));
        slice(&source, &mut cursor, ctx).await?;
        ctx.checkpoint(&cursor).await?;
        if let Some(pause) = input.delay_ms.filter(|_| cursor.done < source.total) {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }
    ctx.progress("Importing emails", source.total, Some(source.total));
    Ok(Output { imported: cursor.done, first_id: cursor.first, last_id: cursor.last })
}

/// Writes the next emails and moves the cursor.
async fn slice(source: &Source, cursor: &mut Cursor, ctx: &mut Context) -> Result<(), ActionError> {
    let most = (source.total / STEPS).clamp(1, SLICE).min(source.total - cursor.done);
    let mut next = inbox::next(&mut ctx.state).await?;
    let mut bytes = 0;
    for _ in 0..most {
        let email = source.email(cursor.done, EmailId::new(next));
        let size = size(&email);
        if bytes > 0 && bytes + size > SLICE_BYTES {
            break;
        }
        bytes += size;
        inbox::save(&mut ctx.state, &email).await?;
        cursor.first.get_or_insert(email.id);
        cursor.last = Some(email.id);
        cursor.done += 1;
        next += 1;
    }
    inbox::set_next(&mut ctx.state, next).await
}

fn size(email: &Email) -> usize {
    serde_json::to_string(email).map_or(0, |json| json.len())
}

/// Where the emails come from. The same for every run of the call.
struct Source {
    total: u64,
    /// None: made up.
    mails: Option<Vec<Incoming>>,
    now: i64,
}

impl Source {
    fn new(input: &Input, now: i64) -> Result<Self, ActionError> {
        let Some(text) = &input.mbox else {
            return Ok(Source { total: input.count.unwrap_or(COUNT), mails: None, now });
        };
        let mails = mbox::parse(text, now);
        if mails.is_empty() {
            let text = "The text holds no mail: an mbox has a line that begins with \"From \" before each mail.";
            return Err(ActionError::failed("no_mail", text));
        }
        let total = input.count.unwrap_or(u64::MAX).min(mails.len() as u64);
        Ok(Source { total, mails: Some(mails), now })
    }

    fn email(&self, n: u64, id: EmailId) -> Email {
        let parsed = self.mails.as_ref().and_then(|mails| mails.get(usize::try_from(n).ok()?)).cloned();
        parsed.unwrap_or_else(|| generated::mail(n, self.total, self.now)).arrive(id)
    }
}
