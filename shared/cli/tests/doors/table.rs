//! The table. JSON is taken as typed, except that a whole number may be written with a point, and lists and objects as a
//! text that is JSON. Text (a query, flags) is read by the declared type.

use crate::door::Door;

pub(crate) struct Row {
    pub(crate) about: &'static str,
    /// For HTTP bodies, tool calls, MCP and the program.
    pub(crate) json: &'static str,
    pub(crate) want: Want,
    /// For queries and flags.
    pub(crate) text: Text,
    /// Doors that cannot express it, and why.
    pub(crate) not: &'static [(Door, &'static str)],
}

pub(crate) enum Want {
    Output(&'static str),
    /// The place and the text of each.
    Faults(&'static [(&'static str, &'static str)]),
    Unreadable,
}

pub(crate) enum Text {
    /// The same input as text, with the same result.
    Same(&'static [(&'static str, &'static str)]),
    /// Text has another meaning here, by its type.
    Differs {
        fields: &'static [(&'static str, &'static str)],
        want: Want,
        #[allow(dead_code)]
        why: &'static str,
    },
    /// It cannot be said in text.
    Cannot(#[allow(dead_code)] &'static str),
}

use Text::{Cannot, Differs, Same};
use Want::{Faults, Output, Unreadable};

const TYPED: &str = "text has no types: it is read as the declared one";
const NO_NULL: &str = "in text, what is absent is left out";
const NO_ARGUMENTS: &[(Door, &str)] = &[
    (Door::Mcp, "the protocol's arguments are an object: others are a malformed request"),
    (Door::Agent, "a model's arguments are an object: others are refused before there is a call"),
];

const fn row(about: &'static str, json: &'static str, want: Want, text: Text) -> Row {
    Row { about, json, want, text, not: &[] }
}

pub(crate) const TABLE: &[Row] = &[
    // Whole numbers.
    row("3", r#"{"whole":3}"#, Output(r#"{"whole":3,"least":0}"#), Same(&[("whole", "3")])),
    row("3.0", r#"{"whole":3.0}"#, Output(r#"{"whole":3,"least":0}"#), Same(&[("whole", "3.0")])),
    row(
        "\"3\"",
        r#"{"whole":"3"}"#,
        Faults(&[("/whole", "must be a whole number, not a text")]),
        Differs { fields: &[("whole", "3")], want: Output(r#"{"whole":3,"least":0}"#), why: TYPED },
    ),
    row(
        "0.5 for a whole number",
        r#"{"whole":0.5}"#,
        Faults(&[("/whole", "must be a whole number, not 0.5")]),
        Same(&[("whole", "0.5")]),
    ),
    row(
        "true for a whole number",
        r#"{"whole":true}"#,
        Faults(&[("/whole", "must be a whole number, not true")]),
        Differs {
            fields: &[("whole", "true")],
            want: Faults(&[("/whole", "must be a whole number, not a text")]),
            why: "a text that is no number stays a text",
        },
    ),
    row("1e3", r#"{"whole":1e3}"#, Output(r#"{"whole":1000,"least":0}"#), Same(&[("whole", "1e3")])),
    row("-5", r#"{"whole":-5}"#, Output(r#"{"whole":-5,"least":0}"#), Same(&[("whole", "-5")])),
    row("-0", r#"{"whole":-0}"#, Output(r#"{"whole":0,"least":0}"#), Same(&[("whole", "-0")])),
    row("-0.0", r#"{"whole":-0.0}"#, Output(r#"{"whole":0,"least":0}"#), Same(&[("whole", "-0.0")])),
    row(
        "2^53+1",
        r#"{"whole":9007199254740993}"#,
        Output(r#"{"whole":9007199254740993,"least":0}"#),
        Same(&[("whole", "9007199254740993")]),
    ),
    row(
        "the least of 64 bits",
        r#"{"whole":-9223372036854775808}"#,
        Output(r#"{"whole":-9223372036854775808,"least":0}"#),
        Same(&[("whole", "-9223372036854775808")]),
    ),
    row(
        "the most of 64 bits without a sign",
        r#"{"large":18446744073709551615}"#,
        Output(r#"{"large":18446744073709551615,"least":0}"#),
        Same(&[("large", "18446744073709551615")]),
    ),
    row(
        "more than 64 bits",
        r#"{"whole":123456789012345678901234567890}"#,
        Faults(&[("/whole", "must be a whole number, not 1.2345678901234568e+29")]),
        Same(&[("whole", "123456789012345678901234567890")]),
    ),
    row(
        "a float beyond 64 bits",
        r#"{"whole":1e300}"#,
        Faults(&[("/whole", "must be a whole number, not 1e+300")]),
        Same(&[("whole", "1e300")]),
    ),
    row(
        "more than any float",
        r#"{"number":1e999}"#,
        Unreadable,
        Differs {
            fields: &[("number", "1e999")],
            want: Faults(&[("/number", "must be a number, not a text")]),
            why: "a text that is no number stays a text",
        },
    ),
    row("256 for a byte", r#"{"small":256}"#, Faults(&[("/small", "must be at most 255")]), Same(&[("small", "256")])),
    row("-1 for a byte", r#"{"small":-1}"#, Faults(&[("/small", "must be at least 0")]), Same(&[("small", "-1")])),
    row(
        "over its bound",
        r#"{"maxCount":11}"#,
        Faults(&[("/maxCount", "must be at most 10")]),
        Same(&[("maxCount", "11")]),
    ),
    row(
        "a list for a number",
        r#"{"whole":[3]}"#,
        Faults(&[("/whole", "must be a whole number, not a list")]),
        Cannot("[3] is a text"),
    ),
    row(
        "twice",
        r#"{"whole":[1,2]}"#,
        Faults(&[("/whole", "must be a whole number, not a list")]),
        Same(&[("whole", "1"), ("whole", "2")]),
    ),
    row("what only the type knows", r#"{"even":3}"#, Faults(&[("/even", "must be even")]), Same(&[("even", "3")])),
    // Numbers.
    row("0.5", r#"{"number":0.5}"#, Output(r#"{"number":0.5,"least":0}"#), Same(&[("number", "0.5")])),
    row("3 for a number", r#"{"number":3}"#, Output(r#"{"number":3.0,"least":0}"#), Same(&[("number", "3")])),
    row("-0.0 for a number", r#"{"number":-0.0}"#, Output(r#"{"number":-0.0,"least":0}"#), Same(&[("number", "-0.0")])),
    row("a huge number", r#"{"number":1e308}"#, Output(r#"{"number":1e+308,"least":0}"#), Same(&[("number", "1e308")])),
    row(
        "\"0.5\"",
        r#"{"number":"0.5"}"#,
        Faults(&[("/number", "must be a number, not a text")]),
        Differs { fields: &[("number", "0.5")], want: Output(r#"{"number":0.5,"least":0}"#), why: TYPED },
    ),
    row(
        "NaN",
        r#"{"number":NaN}"#,
        Unreadable,
        Differs {
            fields: &[("number", "NaN")],
            want: Faults(&[("/number", "must be a number, not a text")]),
            why: "a text that is no number stays a text",
        },
    ),
    // Yes and no.
    row("true", r#"{"on":true}"#, Output(r#"{"on":true,"least":0}"#), Same(&[("on", "true")])),
    row("false", r#"{"on":false}"#, Output(r#"{"on":false,"least":0}"#), Same(&[("on", "false")])),
    row(
        "\"true\"",
        r#"{"on":"true"}"#,
        Faults(&[("/on", "must be true or false, not a text")]),
        Differs { fields: &[("on", "true")], want: Output(r#"{"on":true,"least":0}"#), why: TYPED },
    ),
    row(
        "1 for true",
        r#"{"on":1}"#,
        Faults(&[("/on", "must be true or false, not 1")]),
        Differs {
            fields: &[("on", "1")],
            want: Faults(&[("/on", "must be true or false, not a text")]),
            why: "a text that is neither stays a text",
        },
    ),
    // Texts.
    row("an empty text", r#"{"text":""}"#, Output(r#"{"text":"","least":0}"#), Same(&[("text", "")])),
    row(
        "unicode",
        r#"{"text":"Grüße, 世界 🎉 \u0000 e\u0301"}"#,
        Output("{\"text\":\"Grüße, 世界 🎉 \\u0000 e\u{301}\",\"least\":0}"),
        Cannot("a command line holds no NUL"),
    ),
    row(
        "unicode without NUL",
        r#"{"text":"Grüße, 世界 🎉 \n\t\"'&=%+#"}"#,
        Output(r#"{"text":"Grüße, 世界 🎉 \n\t\"'&=%+#","least":0}"#),
        Same(&[("text", "Grüße, 世界 🎉 \n\t\"'&=%+#")]),
    ),
    row(
        "characters are counted, not bytes",
        r#"{"short":"🎉🎉🎉"}"#,
        Output(r#"{"short":"🎉🎉🎉","least":0}"#),
        Same(&[("short", "🎉🎉🎉")]),
    ),
    row(
        "too long",
        r#"{"short":"abcd"}"#,
        Faults(&[("/short", "has 4 characters, at most 3 are allowed")]),
        Same(&[("short", "abcd")]),
    ),
    row(
        "text that looks like others",
        r#"{"text":"null"}"#,
        Output(r#"{"text":"null","least":0}"#),
        Same(&[("text", "null")]),
    ),
    row(
        "text that looks like a file",
        r#"{"text":"@x"}"#,
        Output(r#"{"text":"@x","least":0}"#),
        Same(&[("text", "@x")]),
    ),
    row(
        "text that looks like a flag",
        r#"{"text":"--on"}"#,
        Output(r#"{"text":"--on","least":0}"#),
        Same(&[("text", "--on")]),
    ),
    row(
        "a number for a text",
        r#"{"text":3}"#,
        Faults(&[("/text", "must be a text, not 3")]),
        Differs { fields: &[("text", "3")], want: Output(r#"{"text":"3","least":0}"#), why: TYPED },
    ),
    // Choices.
    row(
        "a choice",
        r#"{"mode":"very-slow"}"#,
        Output(r#"{"mode":"very-slow","least":0}"#),
        Same(&[("mode", "very-slow")]),
    ),
    row(
        "no choice",
        r#"{"mode":"very_slow"}"#,
        Faults(&[("/mode", "must be \"fast\" or \"very-slow\"")]),
        Same(&[("mode", "very_slow")]),
    ),
    row(
        "an empty choice",
        r#"{"mode":""}"#,
        Faults(&[("/mode", "must be \"fast\" or \"very-slow\"")]),
        Same(&[("mode", "")]),
    ),
    // Lists.
    row(
        "a list",
        r#"{"list":[1,2.0,-3]}"#,
        Output(r#"{"list":[1,2,-3],"least":0}"#),
        Same(&[("list", "1"), ("list", "2.0"), ("list", "-3")]),
    ),
    row("an empty list", r#"{"list":[]}"#, Output(r#"{"list":[],"least":0}"#), Same(&[("list", "[]")])),
    row("a list as a text", r#"{"list":"[1,2]"}"#, Output(r#"{"list":[1,2],"least":0}"#), Same(&[("list", "[1,2]")])),
    row(
        "a list of texts",
        r#"{"tags":["a","","@b","1"]}"#,
        Output(r#"{"tags":["a","","@b","1"],"least":0}"#),
        Same(&[("tags", "a"), ("tags", ""), ("tags", "@b"), ("tags", "1")]),
    ),
    row(
        "faults in a list",
        r#"{"list":[1,"x",0.5]}"#,
        Faults(&[("/list/1", "must be a whole number, not a text"), ("/list/2", "must be a whole number, not 0.5")]),
        Same(&[("list", "1"), ("list", "x"), ("list", "0.5")]),
    ),
    row(
        "a number for a list",
        r#"{"list":1}"#,
        Faults(&[("/list", "must be a list, not 1")]),
        Differs {
            fields: &[("list", "1")],
            want: Output(r#"{"list":[1],"least":0}"#),
            why: "a list is repeated in text, and may have one entry",
        },
    ),
    // Objects.
    row(
        "nested",
        r#"{"place":{"x":1.0,"y":2,"inner":{"name":"n","more":1}}}"#,
        Output(r#"{"place":{"x":1,"y":2.0,"inner":{"name":"n"}},"least":0}"#),
        Same(&[("place", r#"{"x":1.0,"y":2,"inner":{"name":"n","more":1}}"#)]),
    ),
    row(
        "faults in what is nested",
        r#"{"place":{"x":"1","z":1,"inner":{}}}"#,
        Faults(&[
            ("/place/y", "is missing"),
            ("/place/x", "must be a whole number, not a text"),
            ("/place/z", "is not a known field; known are: x, y, inner"),
            ("/place/inner/name", "is missing"),
        ]),
        Same(&[("place", r#"{"x":"1","z":1,"inner":{}}"#)]),
    ),
    row(
        "an object as a text",
        r#"{"place":"{\"x\":1,\"y\":2.5}"}"#,
        Output(r#"{"place":{"x":1,"y":2.5},"least":0}"#),
        Same(&[("place", r#"{"x":1,"y":2.5}"#)]),
    ),
    row(
        "a text for an object",
        r#"{"place":"here"}"#,
        Faults(&[("/place", "must be an object, not a text")]),
        Same(&[("place", "here")]),
    ),
    row(
        "a tagged form",
        r#"{"way":{"by":"car","seats":4.0}}"#,
        Output(r#"{"way":{"by":"car","seats":4},"least":0}"#),
        Same(&[("way", r#"{"by":"car","seats":4.0}"#)]),
    ),
    row(
        "faults in a tagged form",
        r#"{"way":{"by":"car","doors":2}}"#,
        Faults(&[("/way/seats", "is missing"), ("/way/doors", "is not a known field; known are: by, seats")]),
        Same(&[("way", r#"{"by":"car","doors":2}"#)]),
    ),
    row(
        "a tag that is not there",
        r#"{"way":{"by":"boat"}}"#,
        Faults(&[("/way", "has none of the forms that the schema allows")]),
        Same(&[("way", r#"{"by":"boat"}"#)]),
    ),
    row(
        "any names",
        r#"{"counts":{"a/b":1,"ü":2.0,"":3}}"#,
        Output(r#"{"counts":{"":3,"a/b":1,"ü":2},"least":0}"#),
        Same(&[("counts", r#"{"a/b":1,"ü":2.0,"":3}"#)]),
    ),
    row(
        "a fault under a name",
        r#"{"counts":{"a/b~c":"x"}}"#,
        Faults(&[("/counts/a~1b~0c", "must be a whole number, not a text")]),
        Same(&[("counts", r#"{"a/b~c":"x"}"#)]),
    ),
    // What is not there.
    row("nothing", "{}", Output(r#"{"least":0}"#), Same(&[])),
    row(
        "null for what may be absent",
        r#"{"whole":null,"place":null,"mode":null}"#,
        Output(r#"{"least":0}"#),
        Cannot(NO_NULL),
    ),
    row("null for what is never null", r#"{"least":null}"#, Output(r#"{"least":0}"#), Cannot(NO_NULL)),
    row(
        "null in a list",
        r#"{"list":[null]}"#,
        Faults(&[("/list/0", "must be a whole number, not null")]),
        Same(&[("list", "[null]")]),
    ),
    row(
        "a field twice",
        r#"{"whole":1,"whole":2}"#,
        Output(r#"{"whole":2,"least":0}"#),
        Cannot("twice is a list in text"),
    ),
    row(
        "an unknown field",
        r#"{"hole":1}"#,
        Faults(&[(
            "/hole",
            "is not a known field; known are: whole, small, large, maxCount, number, on, text, short, list, tags, mode, place, way, counts, even, least",
        )]),
        Cannot("the program knows its flags, and suggests one; the query is tried with all faults at once"),
    ),
    row(
        "the name of something that every object has elsewhere",
        r#"{"__proto__":{"whole":1}}"#,
        Faults(&[(
            "/__proto__",
            "is not a known field; known are: whole, small, large, maxCount, number, on, text, short, list, tags, mode, place, way, counts, even, least",
        )]),
        Cannot("the program knows its flags"),
    ),
    row(
        "all faults at once",
        r#"{"whole":"x","on":"yes","list":["y"],"mode":"?"}"#,
        Faults(&[
            ("/whole", "must be a whole number, not a text"),
            ("/on", "must be true or false, not a text"),
            ("/list/0", "must be a whole number, not a text"),
            ("/mode", "must be \"fast\" or \"very-slow\""),
        ]),
        Same(&[("whole", "x"), ("on", "yes"), ("list", "y"), ("mode", "?")]),
    ),
    // What is no object, and no JSON.
    Row {
        about: "null",
        json: "null",
        want: Output(r#"{"least":0}"#),
        text: Cannot("it is the whole input"),
        not: &[(Door::Mcp, "null is taken for no arguments by the SDK or refused, as its revision says")],
    },
    Row {
        about: "a list for the whole",
        json: "[1]",
        want: Faults(&[("", "must be an object, not a list")]),
        text: Cannot("it is the whole input"),
        not: NO_ARGUMENTS,
    },
    Row {
        about: "a number for the whole",
        json: "3",
        want: Faults(&[("", "must be an object, not 3")]),
        text: Cannot("it is the whole input"),
        not: NO_ARGUMENTS,
    },
    Row {
        about: "the whole as a text",
        json: r#""{\"whole\":3}""#,
        want: Output(r#"{"whole":3,"least":0}"#),
        text: Cannot("it is the whole input"),
        not: NO_ARGUMENTS,
    },
    row("cut off", r#"{"whole":"#, Unreadable, Cannot("text is never cut")),
    row("two values", "{} {}", Unreadable, Cannot("it is the whole input")),
];
