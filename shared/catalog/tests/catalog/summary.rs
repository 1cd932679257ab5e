//! Counting the inbox.

use serde_json::{Value, json};

use crate::Inbox;

fn sum(counts: &Value) -> u64 {
    counts.as_array().unwrap().iter().map(|count| count["emails"].as_u64().unwrap()).sum()
}

#[tokio::test]
async fn an_inbox_is_counted_per_label_and_day() {
    let inbox = Inbox::new().await;
    let samples = inbox.call("summarize-inbox", json!({})).await.unwrap();
    assert_eq!((&samples["emails"], sum(&samples["byDay"]), &samples["complete"]), (&json!(8), 8, &json!(true)));
    let labelled = |label: &str| samples["byLabel"].as_array().unwrap().iter().find(|c| c["label"] == label).cloned();
    assert_eq!(labelled("customers"), Some(json!({"label": "customers", "emails": 4})));
    let labels: Vec<u64> =
        samples["byLabel"].as_array().unwrap().iter().map(|count| count["emails"].as_u64().unwrap()).collect();
    assert!(labels.is_sorted_by(|a, b| a >= b), "{labels:?}");

    inbox.call("archive-email", json!({"emailId": "e-1"})).await.unwrap();
    inbox.call("email", json!({"emailId": "e-2", "body": "Thanks."})).await.unwrap();
    inbox.call("import-emails", json!({"count": 1200})).await.unwrap();
    let all = inbox.call("summarize-inbox", json!({"days": 366})).await.unwrap();
    assert_eq!((&all["emails"], &all["unanswered"]), (&json!(1207), &json!(1206)));
    assert_eq!(sum(&all["byDay"]), 1207);
    let days: Vec<&str> = all["byDay"].as_array().unwrap().iter().map(|count| count["day"].as_str().unwrap()).collect();
    assert!(days.is_sorted() && days.iter().all(|day| day.len() == 10), "{days:?}");
    let newest = inbox.call("summarize-inbox", json!({"days": 1})).await.unwrap();
    assert_eq!(newest["byDay"].as_array().unwrap().last(), all["byDay"].as_array().unwrap().last());
    assert_eq!((newest["byDay"].as_array().unwrap().len(), &newest["emails"]), (1, &json!(1207)));
    let archived = inbox.call("summarize-inbox", json!({"archived": true})).await.unwrap();
    assert_eq!((&archived["emails"], sum(&archived["byDay"])), (&json!(1), 1));
}
