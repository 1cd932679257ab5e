//! `summarize-inbox`

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, Method, action};

use crate::email_id::EmailId;
use crate::inbox;
use crate::mail::Email;

/// Days that are shown, if the caller does not say.
const DAYS: u32 = 30;
/// Labels that are shown, those with most emails.
const MAX_LABELS: usize = 100;
/// Emails that are counted, the newest ones: reading more would take too long.
const MAX_COUNTED: usize = 20_000;
const PAGE: usize = 500;

/// Count the emails of the inbox, per label and per day. People see the answer as a chart.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// True: only archived emails. Otherwise only those that are not archived.
    archived: Option<bool>,
    /// How many days that have emails, the newest ones; 30 if absent.
    #[schemars(range(min = 1, max = 366))]
    days: Option<u32>,
}

/// How many emails there are.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    emails: u64,
    unread: u64,
    /// How many of them nobody has replied to.
    unanswered: u64,
    /// How many have no label.
    unlabelled: u64,
    /// The label with most emails first. An email counts under each of its labels.
    by_label: Vec<LabelCount>,
    /// Oldest day first. Days without emails are left out.
    by_day: Vec<DayCount>,
    /// False: there are more emails than can be counted at once, and the oldest ones are left out.
    complete: bool,
}

/// How many emails have a label.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct LabelCount {
    label: String,
    emails: u64,
}

/// How many emails arrived on a day.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct DayCount {
    /// Year-month-day, UTC.
    day: String,
    emails: u64,
}

pub(crate) const ACTION: ActionDef = action("summarize-inbox").effect(Effect::Read).method(Method::Get).run(&summarize);

async fn summarize(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let archived = input.archived.unwrap_or(false);
    let (mut counts, mut looked_at) = (Counts::default(), 0);
    let mut before: Option<EmailId> = None;
    let complete = loop {
        let (page, more) = inbox::page(&mut ctx.state, before, PAGE).await?;
        looked_at += page.len();
        before = page.last().map(|email| email.id);
        page.iter().filter(|email| email.archived == archived).for_each(|email| counts.add(email));
        if !more || looked_at >= MAX_COUNTED {
            break !more;
        }
    };
    let days = usize::try_from(input.days.unwrap_or(DAYS)).unwrap_or(usize::MAX);
    Ok(Output { complete, ..counts.output(days) })
}

#[derive(Default)]
struct Counts {
    sums: Output,
    labels: BTreeMap<String, u64>,
    days: BTreeMap<String, u64>,
}

impl Counts {
    fn add(&mut self, email: &Email) {
        self.sums.emails += 1;
        self.sums.unread += u64::from(email.unread);
        self.sums.unanswered += u64::from(!email.answered);
        self.sums.unlabelled += u64::from(email.labels.is_empty());
        for label in &email.labels {
            *self.labels.entry(label.clone()).or_default() += 1;
        }
        let day = email.date.split('T').next().unwrap_or_default();
        *self.days.entry(day.to_owned()).or_default() += 1;
    }

    fn output(self, days: usize) -> Output {
        let mut labels: Vec<_> = self.labels.into_iter().map(|(label, emails)| LabelCount { label, emails }).collect();
        // The sort keeps the alphabet within the same count.
        labels.sort_by_key(|count| Reverse(count.emails));
        labels.truncate(MAX_LABELS);
        let older = self.days.len().saturating_sub(days);
        let days = self.days.into_iter().skip(older).map(|(day, emails)| DayCount { day, emails });
        Output { by_label: labels, by_day: days.collect(), ..self.sums }
    }
}
