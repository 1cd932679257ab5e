//! Labels and search.

use serde_json::{Value, json};

use crate::{Inbox, refusal};

#[tokio::test]
async fn labels_are_added_and_taken_off() {
    let inbox = Inbox::new().await;
    for (input, labels, changed) in [
        (json!({"add": ["vip", " vip "]}), json!(["customers", "vip"]), true),
        (json!({"add": ["vip"], "remove": ["missing"]}), json!(["customers", "vip"]), false),
        (json!({"remove": ["customers"]}), json!(["vip"]), true),
        (json!({}), json!(["vip"]), false),
    ] {
        let mut input = input;
        input["emailId"] = "e-1".into();
        let want = json!({"emailId": "e-1", "labels": labels, "changed": changed});
        assert_eq!(inbox.call("label-email", input.clone()).await.unwrap(), want, "{input}");
    }
    assert_eq!(inbox.ids(json!({"label": "vip"})).await, ["e-1"]);
    let many: Vec<_> = (0..20).map(|n| format!("l{n}")).collect();
    for (input, code) in [
        (json!({"emailId": "e-1", "add": many}), "too_many_labels"),
        (json!({"emailId": "e-1", "add": [" "]}), "bad_label"),
        (json!({"emailId": "e-1", "add": ["a,b"]}), "bad_label"),
        (json!({"emailId": "e-1", "add": ["x".repeat(41)]}), "bad_label"),
        (json!({"emailId": "e-99", "add": ["a"]}), "no_such_email"),
        (json!({"emailId": "e-1", "add": "a"}), "invalid_input"),
    ] {
        assert_eq!(refusal(inbox.call("label-email", input.clone()).await), code, "{input}");
    }
}

#[tokio::test]
async fn a_search_finds_what_holds_all_words_wherever_they_are() {
    let inbox = Inbox::new().await;
    inbox.call("archive-email", json!({"emailId": "e-3"})).await.unwrap();
    let found = async |query: &str| -> Vec<String> {
        let page = inbox.call("search-emails", json!({"query": query})).await.unwrap();
        let emails = page["emails"].as_array().unwrap().iter();
        emails.map(|email| email["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(found("order 4471 INCOMPLETE").await, ["e-7", "e-3"]);
    assert_eq!(found("incomplete  4471").await, ["e-7", "e-3"]);
    assert_eq!(found("no such words anywhere").await, Vec::<String>::new());
    let customers = found("customers").await;
    assert!(customers.starts_with(&["e-8".into(), "e-5".into()]), "{customers:?}");
    assert_eq!(refusal(inbox.call("search-emails", json!({"query": " "})).await), "empty_query");
    // Behind the oldest email there is nothing, and that is soon said.
    for input in [json!({"query": "e", "cursor": "e-1"}), json!({"query": "e", "cursor": "e-1", "limit": 1})] {
        assert_eq!(inbox.call("search-emails", input).await.unwrap(), json!({"emails": []}));
    }
    // Page by page everything is found once.
    inbox.call("import-emails", json!({"count": 30})).await.unwrap();
    let (mut seen, mut input) = (Vec::<Value>::new(), json!({"query": "e", "limit": 7}));
    loop {
        let page = inbox.call("search-emails", input.clone()).await.unwrap();
        seen.extend(page["emails"].as_array().unwrap().iter().map(|email| email["id"].clone()));
        match page.get("cursor") {
            Some(cursor) => input["cursor"] = cursor.clone(),
            None => break,
        }
    }
    let want: Vec<Value> = (1..=38).rev().map(|n| json!(format!("e-{n}"))).collect();
    assert_eq!(seen, want);
}
