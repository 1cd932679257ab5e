//! A page of messages is bounded by their length too.

use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn a_page_of_long_messages_ends_early_and_nothing_is_lost() {
    let api = Api::new(tandem_catalog::registry().unwrap()).await;
    assert_eq!(api.post("/threads", &json!({"threadId": "th"})).await.status, 201);
    let long = "é".repeat(45_000);
    for n in 0..30 {
        // A turn that was stopped before it began: only its message counts here.
        assert_eq!(api.post(&format!("/threads/th/turns/m{n}/abort"), &json!({})).await.status, 200);
        api.turn(&json!({"message": long, "threadId": "th", "turnId": format!("m{n}")})).await;
    }
    let (mut ids, mut pages, mut cursor) = (Vec::new(), Vec::new(), None);
    loop {
        let query = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page = api.get(&format!("/threads/th/messages?limit=100{query}")).await.body;
        pages.push(page.to_string().len());
        let items = page["items"].as_array().unwrap();
        assert!(!items.is_empty());
        ids.extend(items.iter().map(|message| message["id"].as_str().unwrap().to_owned()));
        cursor = page["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((pages.len(), ids.len()), (2, 60), "{pages:?}");
    assert!(pages.iter().all(|bytes| *bytes < 2_300_000), "{pages:?}");
    let asked: Vec<&str> = ids.iter().step_by(2).map(String::as_str).collect();
    assert_eq!(asked, (0..30).map(|n| format!("m{n}")).collect::<Vec<_>>());
}
