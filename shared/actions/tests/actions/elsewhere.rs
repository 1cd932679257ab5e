//! What is told of effects elsewhere where reads, races and breakdowns come between: never that something is so which
//! nobody knows.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};
use tandem_store::Outcome;

use crate::sample::{App, RIVALS, overtake, scope};

pub(crate) const KEYED: ActionDef = action("elsewhere-keyed").effect(Effect::Keyed).run(&elsewhere);
pub(crate) const EXTERNAL: ActionDef = action("elsewhere-external").effect(Effect::External).run(&elsewhere);

/// Do something elsewhere, and something goes wrong.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Elsewhere {
    /// What.
    how: String,
    /// A document that is read.
    name: String,
}

async fn elsewhere(input: Elsewhere, ctx: &mut Context) -> Result<String, ActionError> {
    let Elsewhere { how, name } = input;
    let read = ctx.state.get::<i64>(&scope(), &name).await;
    overtake(&name).await?;
    if how != "reads only" {
        ctx.state.put(&scope(), "n", &1).await?;
    }
    match how.as_str() {
        "panics" => panic!("on purpose"),
        "cannot tell" => return Err(ActionError::Unknown),
        "refuses" => return Err(ActionError::failed("no_luck", "There is no such customer.")),
        "panics the second time" if matches!(read, Ok(Some(_))) => panic!("on purpose"),
        "refuses the second time" if matches!(read, Ok(Some(_))) => {
            return Err(ActionError::failed("no_luck", "There is no such customer."));
        }
        _ => {}
    }
    read?;
    Ok("done".to_owned())
}

const UNCLEAR: &str = "may have happened all the same: check before you try again";

#[tokio::test]
async fn what_cannot_be_read_leaves_open_what_has_happened() {
    let app = App::new().await;
    app.write("odd", json!("abc")).await;
    for (n, (how, code)) in
        [("goes on", "unexpected_document"), ("panics", "internal"), ("refuses", "unexpected_document")]
            .into_iter()
            .enumerate()
    {
        let input = json!({"how": how, "name": "odd"});
        for call in [app.tool(&format!("e{n}")), app.tool(&format!("e{n}"))] {
            let error = app.call("elsewhere-external", input.clone(), call).await.unwrap_err();
            assert!(matches!(error, ActionError::Unknown), "{how}: {error}");
        }
        assert_eq!(app.outcome(&format!("e{n}")).await, Some(Outcome::Unknown), "{how}");
        let error = app.call("elsewhere-external", input.clone(), app.person()).await.unwrap_err();
        assert!(matches!(error, ActionError::Unknown) || error.to_string().contains(UNCLEAR), "{how}: {error}");
        for call in [app.tool(&format!("k{n}")), app.person()] {
            let error = app.call("elsewhere-keyed", input.clone(), call).await.unwrap_err();
            assert_eq!(error.code(), code, "{how}");
            assert!(error.to_string().contains(UNCLEAR), "{how}: {error}");
        }
        assert_eq!(app.value("n").await, None, "{how}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_as_one_whoever_has_changed_what_it_read() {
    let app = App::new().await;
    for (action, how, stored) in [
        ("elsewhere-external", "refuses", Outcome::Failed("There is no such customer. [no_luck]".into())),
        ("elsewhere-external", "cannot tell", Outcome::Unknown),
        ("elsewhere-keyed", "refuses", Outcome::Failed("There is no such customer. [no_luck]".into())),
        // The first run has done it, and lost; the second one makes its changes anew.
        (
            "elsewhere-keyed",
            "refuses the second time",
            Outcome::Failed(
                "It has happened, but failed when its changes here were to be made anew: There is no such customer. \
                 [no_luck]"
                    .into(),
            ),
        ),
        (
            "elsewhere-keyed",
            "panics the second time",
            Outcome::Failed(
                "It has happened, but failed when its changes here were to be made anew: The action broke down: a fault \
                 on our side. [internal]"
                    .into(),
            ),
        ),
        // Nothing here is to be changed, so nothing can be in its way.
        ("elsewhere-external", "reads only", Outcome::Done(json!("done"))),
        ("elsewhere-keyed", "reads only", Outcome::Done(json!("done"))),
        ("elsewhere-keyed", "happens", Outcome::Done(json!("done"))),
        (
            "elsewhere-external",
            "happens",
            Outcome::Failed(
                "It has happened, but what it was to change here has changed in the meantime. [conflict]".into(),
            ),
        ),
    ] {
        let name = format!("{action} {how}");
        RIVALS.lock().unwrap().insert(name.clone(), (app.registry.clone(), app.person()));
        let _told = app.call(action, json!({"how": how, "name": name}), app.tool(&name.replace(' ', "-"))).await;
        assert_eq!(app.outcome(&name.replace(' ', "-")).await, Some(stored), "{name}");
        assert!(!RIVALS.lock().unwrap().contains_key(&name), "the rival has come");
        // Changes are there with an outcome that says so, and with no other.
        let changed = app.value("n").await.is_some();
        assert_eq!(changed, action == "elsewhere-keyed" && how == "happens", "{name}");
        if changed {
            app.forget("n").await;
        }
    }
}

/// A holder that has slept is out of its time, and its successor is not.
#[tokio::test(start_paused = true)]
async fn who_is_out_of_time_does_not_end_what_somebody_else_goes_on_with() {
    let app = App::new().await;
    let slow = app.call("count-up", json!({"name": "n", "by": 5, "seconds": 70}), app.tool("c1"));
    let next = app.call("count-up", json!({"name": "n", "by": 5, "seconds": 25}), app.tool("c1"));
    let (slow, next) = tokio::join!(slow, next);
    assert!(matches!(slow, Err(ActionError::Cancelled)), "{slow:?}");
    assert_eq!(next.unwrap(), json!({"value": 5}));
    assert_eq!(app.outcome("c1").await, Some(Outcome::Done(json!({"value": 5}))));
}
