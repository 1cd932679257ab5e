//! The command line of actions, made from their schemas when the program runs.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::Value;
use tandem_actions::Described;

use crate::client::{Target, url};

/// Flags of the program. A field of such a name is given as `--input-<name>`.
const OWN: [&str; 4] = ["url", "token", "idempotency-key", "help"];
/// Ids of arguments that are no fields: no field begins with a space.
const INPUT: &str = " input";
const URL: &str = " url";
const TOKEN: &str = " token";
const KEY: &str = " key";

/// What a person asked for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) action: String,
    /// The whole input, as it was written.
    pub(super) input: Option<String>,
    /// Fields and their texts, each as often as it was given.
    pub(super) fields: Vec<(String, String)>,
    pub(super) key: Option<String>,
    url: Option<String>,
    token: Option<String>,
}

impl Wanted {
    /// Flags behind the name count more than those before it.
    pub(super) fn target(&self, before: Target) -> Target {
        before.or(self.url.clone(), self.token.clone())
    }
}

/// Reads the command line of one action. A mistake or `--help` ends the program, with exit code 2 or 0.
pub(super) fn parse(actions: &[Described], call: &[String]) -> anyhow::Result<Wanted> {
    let name = call.first().map(String::as_str).unwrap_or_default();
    let action = actions.iter().find(|action| action.name == name);
    let words = joined(action, call);
    match read(actions, &words) {
        Ok(wanted) => Ok(wanted),
        Err(error) => error.exit(),
    }
}

fn read(actions: &[Described], words: &[String]) -> Result<Wanted, clap::Error> {
    let program = std::iter::once("tandem action".to_owned());
    let matches = root(actions).try_get_matches_from(program.chain(words.iter().cloned()))?;
    let Some((name, matches)) = matches.subcommand() else { return Ok(Wanted::default()) };
    let Some(action) = actions.iter().find(|action| action.name == name) else {
        return Ok(Wanted { action: name.to_owned(), ..Wanted::default() });
    };
    let text = |id: &str| matches.get_one::<String>(id).cloned();
    Ok(Wanted {
        action: name.to_owned(),
        input: text(INPUT),
        fields: given(action, matches),
        key: text(KEY),
        url: text(URL),
        token: text(TOKEN),
    })
}

/// Where the actions are asked for, before their flags are known.
pub(super) fn target_of(before: Target, call: &[String]) -> Target {
    let value = |flag: &str| {
        let own = call.iter().take_while(|word| *word != "--").collect::<Vec<_>>();
        own.iter().enumerate().find_map(|(n, word)| match word.strip_prefix(flag)? {
            "" => own.get(n + 1).map(|value| (*value).clone()),
            rest => rest.strip_prefix('=').map(str::to_owned),
        })
    };
    before.or(value("--url"), value("--token"))
}

fn root(actions: &[Described]) -> Command {
    let commands = actions.iter().map(command);
    let root = Command::new("action").bin_name("tandem action").subcommand_required(true).subcommands(commands);
    // An unknown name is told with those that there are, which clap does not name.
    root.allow_external_subcommands(true)
}

fn command(action: &Described) -> Command {
    let about = StyledStr::from(action.description.clone());
    let fields = flags(action).into_iter().map(|flag| flag.arg());
    Command::new(action.name.clone())
        .about(about)
        .disable_version_flag(true)
        .arg(Arg::new(INPUT).value_name("INPUT").help("The whole input: JSON, @FILE, or @- for stdin; flags add to it"))
        .args(fields)
        .next_help_heading("Where and how")
        .arg(
            Arg::new(URL)
                .long("url")
                .value_name("URL")
                .value_parser(url)
                .help("Address of the running or deployed system [env: TANDEM_URL]"),
        )
        .arg(Arg::new(TOKEN).long("token").value_name("TOKEN").help("Bearer token [env: TANDEM_TOKEN]"))
        .arg(Arg::new(KEY).long("idempotency-key").value_name("KEY").help(
            "Names the call: sent again with the same key, it happens once. Without it a new one is made for actions \
             that change something",
        ))
}

/// The flag of a field.
pub(super) struct Flag<'a> {
    /// The field's name.
    pub(super) field: &'a str,
    /// Without the dashes.
    pub(super) name: String,
    pub(super) schema: &'a Value,
    required: bool,
}

/// The flags of an action, in the order of its fields. Two fields whose flags would be the same have none: they are
/// given in JSON.
pub(super) fn flags(action: &Described) -> Vec<Flag<'_>> {
    let mut flags: Vec<Flag<'_>> = Vec::new();
    collect(&action.input, &mut flags);
    let names: Vec<String> = flags.iter().map(|flag| flag.name.clone()).collect();
    flags.retain(|flag| names.iter().filter(|name| **name == flag.name).count() == 1);
    flags
}

fn collect<'a>(schema: &'a Value, flags: &mut Vec<Flag<'a>>) {
    let required = schema.get("required").and_then(Value::as_array);
    for (field, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if flags.iter().any(|flag| flag.field == field) {
            continue;
        }
        let required = required.is_some_and(|names| names.iter().any(|name| name == field));
        let name = kebab(field);
        let name = if OWN.contains(&name.as_str()) { format!("input-{name}") } else { name };
        flags.push(Flag { field, name, schema, required });
    }
    for form in ["oneOf", "anyOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten() {
        collect(form, flags);
    }
}

impl Flag<'_> {
    fn arg(&self) -> Arg {
        let arg = Arg::new(self.field.to_owned()).long(self.name.clone()).action(ArgAction::Append).help(self.help());
        let arg = arg.allow_hyphen_values(true).value_name(self.value_name());
        if self.is_switch() {
            arg.num_args(0..=1).require_equals(true).default_missing_value("true")
        } else {
            arg.num_args(1)
        }
    }

    /// Whether the flag alone means true.
    fn is_switch(&self) -> bool {
        allows(self.schema, "boolean") && !allows(self.schema, "string")
    }

    fn help(&self) -> String {
        let mut help = self.schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let choices = self.choices();
        if !choices.is_empty() {
            help.push_str(&format!(" [one of: {}]", choices.join(", ")));
        }
        if self.required {
            help.push_str(" (required)");
        }
        help.trim().to_owned()
    }

    fn value_name(&self) -> &'static str {
        let names =
            [("array", "VALUE, again for more"), ("object", "JSON|@FILE"), ("integer", "N"), ("number", "NUMBER")];
        if self.is_switch() {
            return "true|false";
        }
        names.iter().find(|(kind, _)| allows(self.schema, kind)).map_or("TEXT", |(_, name)| name)
    }

    /// The texts that the field, or each of its entries, can be; empty where it can be others.
    pub(super) fn choices(&self) -> Vec<&str> {
        let mut choices = Vec::new();
        choices_of(self.schema, &mut choices);
        if let Some(items) = self.schema.get("items") {
            choices_of(items, &mut choices);
        }
        choices
    }

    /// Whether `@name` is a file: where a text cannot be meant.
    pub(super) fn takes_files(&self) -> bool {
        let entries = self.schema.get("items").is_some_and(|items| allows(items, "string"));
        let nested = allows(self.schema, "object") || allows(self.schema, "array");
        nested && !entries && !allows(self.schema, "string")
    }
}

fn choices_of<'a>(schema: &'a Value, choices: &mut Vec<&'a str>) {
    choices.extend(schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str));
    choices.extend(schema.get("const").and_then(Value::as_str));
    for form in ["oneOf", "anyOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten() {
        choices_of(form, choices);
    }
}

fn allows(schema: &Value, kind: &str) -> bool {
    let own = match schema.get("type") {
        Some(Value::String(own)) => own == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|own| own == kind),
        _ => false,
    };
    let mut forms = ["oneOf", "anyOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten();
    own || forms.any(|form| allows(form, kind))
}

fn given(action: &Described, matches: &ArgMatches) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for flag in flags(action) {
        let texts = matches.get_many::<String>(flag.field).into_iter().flatten();
        fields.extend(texts.map(|text| (flag.field.to_owned(), text.clone())));
    }
    fields
}

/// `--unread false` is `--unread=false`: anything else behind a switch is not its value.
fn joined(action: Option<&Described>, call: &[String]) -> Vec<String> {
    let switches: Vec<String> = action
        .map(|action| flags(action).iter().filter(|f| f.is_switch()).map(|f| format!("--{}", f.name)).collect())
        .unwrap_or_default();
    let mut words: Vec<String> = Vec::with_capacity(call.len());
    for word in call {
        match words.last_mut() {
            Some(last) if matches!(word.as_str(), "true" | "false") && switches.contains(last) => {
                last.push('=');
                last.push_str(word);
            }
            _ => words.push(word.clone()),
        }
    }
    words
}

/// `emailId` and `email_id` as `email-id`.
pub(super) fn kebab(field: &str) -> String {
    let mut name = String::with_capacity(field.len() + 4);
    for c in field.chars() {
        if c.is_uppercase() && !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        match c {
            '_' | ' ' | '=' => name.push('-'),
            c => name.extend(c.to_lowercase()),
        }
    }
    name
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
