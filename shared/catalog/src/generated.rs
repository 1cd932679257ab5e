//! Made-up mail for imports: the same text for the same number, so that a repeated slice is the same slice.

use crate::mail::{Incoming, date};

const SENDERS: [&str; 8] = [
    "Maya Okafor <maya@northwind.example>",
    "Jonas Weber <jonas@weberbau.example>",
    "Priya Nair <priya@lumen.example>",
    "Tom Hughes <tom@hughes-partners.example>",
    "Sofia Marino <sofia@marino.example>",
    "Billing <billing@cloudhost.example>",
    "Lena Vogt <lena@vogt-design.example>",
    "Support <support@parcelpilot.example>",
];
const SUBJECTS: [(&str, &str); 6] = [
    ("Question about order", "could you tell me when order {n} leaves your warehouse? We have planned for Thursday."),
    ("Invoice", "attached is invoice {n}. Payment is due within 30 days. Let me know if anything is missing."),
    ("Meeting notes", "here are the notes of meeting {n}. Two points are open, please have a look by Friday."),
    ("Feedback on the draft", "I went through draft {n}. The first half is great, the second could be shorter."),
    ("Access request", "could you give me access to project {n}? I take over from Lena next week."),
    ("Delivery delayed", "delivery {n} is two days late because of the weather. We are sorry for the trouble."),
];
const LABELS: [&str; 5] = ["customers", "billing", "team", "projects", "shipping"];
const MINUTE: i64 = 60_000;

/// The n-th mail, from 0, of `total`; the last one is from `now`, the others are a minute apart.
pub(crate) fn mail(n: u64, total: u64, now: i64) -> Incoming {
    let pick = |count: usize, step: u64| usize::try_from(n.wrapping_mul(step) % count as u64).unwrap_or(0);
    let (subject, text) = SUBJECTS[pick(SUBJECTS.len(), 5)];
    let from = SENDERS[pick(SENDERS.len(), 3)];
    let name = from.split(' ').next().unwrap_or(from);
    let age = i64::try_from(total.saturating_sub(n + 1)).unwrap_or(0).saturating_mul(MINUTE);
    Incoming {
        conversation: format!("generated-{now}-{n}@tandem.example"),
        from: from.to_owned(),
        subject: format!("{subject} {}", n + 1),
        date: date(now.saturating_sub(age)),
        labels: vec![LABELS[pick(LABELS.len(), 1)].to_owned()],
        unread: true,
        body: format!("Hello,\n\n{}\n\nBest regards\n{name}", text.replace("{n}", &(n + 1).to_string())),
    }
}
