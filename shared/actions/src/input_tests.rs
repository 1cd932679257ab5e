use super::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// All kinds of fields.
#[derive(Deserialize, JsonSchema, Debug)]
#[allow(dead_code)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    whole: Option<i64>,
    small: Option<u8>,
    half: Option<f64>,
    on: Option<bool>,
    text: Option<String>,
    list: Option<Vec<u32>>,
    place: Option<Place>,
    mode: Option<Mode>,
    way: Option<Way>,
    #[serde(default)]
    count: u32,
}

#[derive(Deserialize, JsonSchema, Debug)]
#[allow(dead_code)]
#[serde(deny_unknown_fields)]
struct Place {
    x: i64,
    y: i64,
}

#[derive(Deserialize, JsonSchema, Debug)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Fast,
    Slow,
}

#[derive(Deserialize, JsonSchema, Debug)]
#[allow(dead_code)]
#[serde(tag = "by", rename_all = "lowercase", deny_unknown_fields)]
enum Way {
    Car { seats: u8 },
    Foot,
}

/// What one field becomes, or the places of its faults.
fn read(input: Value) -> Result<Value, Vec<String>> {
    let mut input = input;
    let faults = fit(&mut input, &crate::schema::of::<Input, ()>().input);
    if !faults.is_empty() {
        return Err(faults.into_iter().map(|fault| fault.pointer).collect());
    }
    match decode::<Input>(input.clone()) {
        Ok(_) => Ok(input),
        Err(faults) => Err(faults.into_iter().map(|fault| fault.pointer).collect()),
    }
}

#[test]
fn json_is_taken_as_typed_and_whole_floats_are_integers() {
    let same = |name: &str, value: Value| (name.to_owned(), value.clone(), Ok(value));
    let becomes = |name: &str, value: Value, want: Value| (name.to_owned(), value, Ok(want));
    let fault = |name: &str, value: Value| (name.to_owned(), value, Err(()));
    for (name, value, want) in [
        same("whole", json!(3)),
        same("whole", json!(9007199254740993_i64)),
        same("whole", json!(i64::MIN)),
        becomes("whole", json!(3.0), json!(3)),
        becomes("whole", json!(-0.0), json!(0)),
        becomes("whole", json!(1e3), json!(1000)),
        fault("whole", json!("3")),
        fault("whole", json!(0.5)),
        fault("whole", json!(true)),
        fault("whole", json!(u64::MAX)),
        fault("whole", json!(1e300)),
        fault("whole", json!([3])),
        same("small", json!(255)),
        fault("small", json!(256)),
        fault("small", json!(-1)),
        same("half", json!(3)),
        same("half", json!(0.5)),
        fault("half", json!("0.5")),
        same("on", json!(true)),
        fault("on", json!("true")),
        fault("on", json!(1)),
        same("text", json!("")),
        same("text", json!("null")),
        same("text", json!("[1,2]")),
        fault("text", json!(3)),
        same("list", json!([])),
        becomes("list", json!("[1,2]"), json!([1, 2])),
        becomes("list", json!([1.0, 2]), json!([1, 2])),
        fault("list", json!("1,2")),
        fault("list", json!("{}")),
        fault("list", json!(1)),
        becomes("place", json!("{\"x\": 1.0, \"y\": 2}"), json!({"x": 1, "y": 2})),
        fault("place", json!("not json")),
        same("mode", json!("fast")),
        fault("mode", json!("FAST")),
        same("way", json!({"by": "foot"})),
        becomes("way", json!({"by": "car", "seats": 4.0}), json!({"by": "car", "seats": 4})),
        fault("way", json!({"by": "boat"})),
        same("whole", Value::Null),
        same("list", Value::Null),
        same("way", Value::Null),
    ] {
        let got = read(json!({name.clone(): value.clone()}));
        let want = want.map(|want| json!({name.clone(): want})).map_err(|()| vec![format!("/{name}")]);
        assert_eq!(got, want, "{name} {value}");
    }
    // A field that is never null: null says that it is absent.
    assert_eq!(read(json!({"count": null})), Ok(json!({})));
    assert_eq!(read(json!({"constructor": 1})), Err(vec!["/constructor".into()]));
}

#[test]
fn all_faults_are_reported_at_once_with_their_places() {
    let input = json!({
        "whole": "3", "list": [1, "2", -1], "place": {"x": 1.5, "z": 1}, "way": {"by": "car", "doors": 2}, "a/b~c": 1,
    });
    let want =
        ["/whole", "/list/1", "/list/2", "/place/y", "/place/x", "/place/z", "/way/seats", "/way/doors", "/a~1b~0c"];
    assert_eq!(read(input), Err(want.map(str::to_owned).to_vec()));
}

#[test]
fn what_only_the_type_knows_is_reported_with_its_place() {
    #[derive(Deserialize, Debug)]
    #[allow(dead_code)]
    struct Outer {
        inner: Vec<tandem_protocol::ThreadId>,
    }
    let faults = decode::<Outer>(json!({"inner": ["a", "b c"]})).unwrap_err();
    assert_eq!(faults[0].pointer, "/inner/1");
}

#[test]
fn every_keyword_that_is_published_is_checked() {
    let schema = json!({"type": "object", "properties": {
        "code": {"type": "string", "pattern": "^[a-z]+$"},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        "set": {"type": "array", "items": {"type": "integer"}, "uniqueItems": true},
        "id": {"type": "string", "pattern": "^e-[1-9]$", "examples": ["e-1"]},
        "n": {"type": "integer", "format": "int32"},
        "size": {"type": ["integer", "null"], "format": "uint32"},
        "at": {"type": "integer", "format": "int64"},
    }});
    for (input, want) in [
        (json!({"code": "abc", "pair": [1.0, "x"], "set": [1, 2]}), vec![]),
        (json!({"code": "Abc"}), vec!["/code must match ^[a-z]+$"]),
        (json!({"code": ""}), vec!["/code must match ^[a-z]+$"]),
        (
            json!({"pair": ["1", 2]}),
            vec!["/pair/0 must be a whole number, not a text", "/pair/1 must be a text, not 2"],
        ),
        (json!({"id": "1"}), vec!["/id must look like e-1"]),
        (json!({"n": i32::MAX, "size": u32::MAX, "at": i64::MAX}), vec![]),
        (
            json!({"n": 5_000_000_000_i64, "size": -1, "at": u64::MAX}),
            vec![
                "/n must be at most 2147483647",
                "/size must be at least 0",
                "/at must be at most 9223372036854775807",
            ],
        ),
        (json!({"n": -2_147_483_649_i64}), vec!["/n must be at least -2147483648"]),
        (json!({"set": [1, 2, 1.0]}), vec!["/set/2 is there twice"]),
    ] {
        let mut value = input.clone();
        let faults = fit(&mut value, &schema);
        let got: Vec<String> = faults.iter().map(|fault| format!("{} {}", fault.pointer, fault.detail)).collect();
        assert_eq!(got, want, "{input}");
    }
}

/// A list of so many wrong entries costs what its length does, and is told in a hundred lines.
#[test]
fn a_million_faults_are_told_by_the_first_hundred() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Many {
        texts: Vec<String>,
        #[serde(default)]
        #[schemars(length(max = 3))]
        few: Vec<String>,
    }
    let schema = serde_json::to_value(schemars::schema_for!(Many)).unwrap();
    let mut wrong = json!({"texts": vec![1; 300_000]});
    let faults = fit(&mut wrong, &schema);
    assert_eq!(faults.len(), 101);
    assert_eq!(faults[0].pointer, "/texts/0");
    assert_eq!((faults[100].pointer.as_str(), faults[100].detail.as_str()), ("", "has more faults than these"));
    // Different entries are compared with each other only where they must be.
    let texts: Vec<String> = (0..300_000).map(|n| n.to_string()).collect();
    let began = std::time::Instant::now();
    assert!(fit(&mut json!({"texts": texts}), &schema).is_empty());
    let unique = json!({"type": "array", "uniqueItems": true});
    assert!(fit(&mut json!(texts), &unique).is_empty());
    assert_eq!(fit(&mut json!([1, 2, 1, 2]), &unique)[0].pointer, "/2");
    let fields = serde_json::from_str(r#"[{"a":1,"b":2},{"b":2,"a":1}]"#);
    assert_eq!(fit(&mut fields.unwrap(), &unique)[0].pointer, "/1");
    // Compared one with another they take hours.
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
    // What is too much in any case is not looked at one by one.
    let faults = fit(&mut json!({"texts": [], "few": vec![1; 300_000]}), &schema);
    assert_eq!(faults.iter().map(|fault| fault.pointer.as_str()).collect::<Vec<_>>(), ["/few"]);
    // Long names are no way around it.
    let fields: serde_json::Map<_, _> = (0..100).map(|n| (format!("{n}{}", "x".repeat(10_000)), json!(1))).collect();
    let faults = fit(&mut json!(fields), &json!({"additionalProperties": false}));
    assert!(faults.len() < 10, "{}", faults.len());
}
