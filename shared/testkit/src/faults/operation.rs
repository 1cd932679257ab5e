//! A request to DynamoDB: what it does, and to which items.

use serde_json::Value;

/// One request as the proxy sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operation {
    /// As in `X-Amz-Target`, without the version: `PutItem`.
    pub name: String,
    /// The items it names, each `<pk> <sk>`; of a query only the partition.
    pub keys: Vec<String>,
    /// What its writes cost, in write units: 1 for each begun KB of an item that is put, twice that in a transaction,
    /// and 1 where it stands in the `due` index. Updates and deletions count as items of 1 KB.
    pub units: u64,
}

impl Operation {
    /// `target`: the header `X-Amz-Target`.
    pub(super) fn read(target: &str, body: &[u8]) -> Self {
        let name = target.rsplit('.').next().unwrap_or_default().to_owned();
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        Operation { keys: keys(&body), units: units(&name, &body), name }
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

fn units(name: &str, body: &Value) -> u64 {
    let put = |item: &Value| (size(item).div_ceil(1024).max(1), u64::from(item.get("due_at").is_some()));
    match name {
        "PutItem" => {
            let (units, index) = put(&body["Item"]);
            units + index
        }
        "UpdateItem" | "DeleteItem" => 1,
        "TransactWriteItems" => {
            let operations = body["TransactItems"].as_array().into_iter().flatten().filter_map(first_of);
            let each = operations.map(|operation| match operation.get("Item") {
                Some(item) => {
                    let (units, index) = put(item);
                    2 * units + index
                }
                None => 2,
            });
            each.sum()
        }
        _ => 0,
    }
}

/// Bytes of an item or a value, as DynamoDB counts them, nearly.
fn size(value: &Value) -> u64 {
    match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() as u64 + attribute(value)).sum(),
        _ => 0,
    }
}

fn attribute(typed: &Value) -> u64 {
    let Some((kind, value)) = typed.as_object().and_then(|typed| typed.iter().next()) else { return 0 };
    match (kind.as_str(), value) {
        ("S" | "B", Value::String(text)) => text.len() as u64,
        ("N", Value::String(digits)) => digits.len() as u64 / 2 + 1,
        ("M", fields) => 3 + size(fields),
        ("L", Value::Array(values)) => 3 + values.iter().map(attribute).sum::<u64>(),
        _ => 1,
    }
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
            let keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
            assert_eq!((read.name.as_str(), &read.keys), (name, &keys));
            assert_eq!(read.is_write(), !["GetItem", "Query", "DescribeTable"].contains(&name), "{name}");
        }
    }
}
