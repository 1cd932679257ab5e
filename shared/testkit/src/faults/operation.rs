//! A request to DynamoDB: what it does, and to which items.

use serde_json::Value;

/// One request as the proxy sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operation {
    /// As in `X-Amz-Target`, without the version: `PutItem`.
    pub name: String,
    /// The items it names, each `<pk> <sk>`; of a query only the partition.
    pub keys: Vec<String>,
}

impl Operation {
    /// `target`: the header `X-Amz-Target`.
    pub(super) fn read(target: &str, body: &[u8]) -> Self {
        let name = target.rsplit('.').next().unwrap_or_default().to_owned();
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        Operation { keys: keys(&body), name }
    }

    /// Whether it changes the table, if its conditions hold.
    pub fn is_write(&self) -> bool {
        matches!(self.name.as_str(), "PutItem" | "UpdateItem" | "DeleteItem" | "TransactWriteItems" | "BatchWriteItem")
    }

    /// Whether it is a transaction of several operations, one per key.
    pub(super) fn is_transaction(&self) -> bool {
        self.name == "TransactWriteItems"
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.keys.join(", "))
    }
}

fn keys(body: &Value) -> Vec<String> {
    if let Some(operations) = body["TransactItems"].as_array() {
        return operations.iter().flat_map(first_of).filter_map(key).collect();
    }
    if let Some(tables) = body["RequestItems"].as_object() {
        let requests = tables.values().filter_map(Value::as_array).flatten();
        return requests.flat_map(first_of).filter_map(key).collect();
    }
    if let Some(partition) = body["ExpressionAttributeValues"][":pk"]["S"].as_str() {
        return vec![partition.to_owned()];
    }
    key(body).into_iter().collect()
}

/// `{"Put": {...}}` and its like hold one thing.
fn first_of(operation: &Value) -> Option<&Value> {
    operation.as_object()?.values().next()
}

fn key(operation: &Value) -> Option<String> {
    let item = [&operation["Item"], &operation["Key"]].into_iter().find(|item| item.is_object())?;
    Some(format!("{} {}", item["pk"]["S"].as_str()?, item["sk"]["S"].as_str()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_names_its_items() {
        let item = json!({"pk": {"S": "P"}, "sk": {"S": "1"}, "x": {"N": "1"}});
        let key = json!({"pk": {"S": "P"}, "sk": {"S": "2"}});
        for (name, body, keys) in [
            ("PutItem", json!({"TableName": "t", "Item": item}), vec!["P 1"]),
            ("GetItem", json!({"TableName": "t", "Key": key}), vec!["P 2"]),
            ("Query", json!({"ExpressionAttributeValues": {":pk": {"S": "P"}}}), vec!["P"]),
            (
                "TransactWriteItems",
                json!({"TransactItems": [{"Put": {"Item": item}}, {"ConditionCheck": {"Key": key}}]}),
                vec!["P 1", "P 2"],
            ),
            (
                "BatchWriteItem",
                json!({"RequestItems": {"t": [{"PutRequest": {"Item": item}}, {"DeleteRequest": {"Key": key}}]}}),
                vec!["P 1", "P 2"],
            ),
            ("DescribeTable", json!({"TableName": "t"}), vec![]),
        ] {
            let read = Operation::read(&format!("DynamoDB_20120810.{name}"), body.to_string().as_bytes());
            assert_eq!(read, Operation { name: name.into(), keys: keys.into_iter().map(str::to_owned).collect() });
            assert_eq!(read.is_write(), !["GetItem", "Query", "DescribeTable"].contains(&name), "{name}");
        }
    }
}
