//! One turn with one fault, and the verdict.

use std::fmt;
use std::time::Duration;

use tandem_testkit::faults::{Call, Operation};
use tandem_tests::{Log, new_id};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::checks::{self, Ending, Findings};
use crate::client::{body, post_and_follow, watch};
use crate::clocks;
use crate::cut::{Cut, NEXT};
use crate::elsewhere::Elsewhere;
use crate::evidence::Evidence;
use crate::faults::Breaking;
use crate::scenario::Scenario;
use crate::setting::Setting;
use crate::strike::Strike;
use crate::world::World;

/// Longest time of a turn with one fault. A run that takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a displaced holder or a late write might still do shows in this time.
const SETTLES_IN: Duration = Duration::from_millis(250);

/// Keys of a transaction that are shown.
const KEYS: usize = 4;

/// A turn, and what is broken in it; nothing, to count the writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) setting: &'static Setting,
    pub(crate) scenario: &'static Scenario,
    pub(crate) strike: Option<(&'static Breaking, u64)>,
}

/// What became of a case.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) case: Case,
    /// Writes of the victim.
    pub(crate) writes: u64,
    /// The write that was struck; none: the victim wrote less than that.
    pub(crate) struck: Option<&'static str>,
    /// The most attempts that a run of the turn took.
    pub(crate) attempts: u64,
    /// The run, or the turn after it, was given up for want of progress. A busy machine does that; if it comes
    /// again on a calm one, it is a fault.
    pub(crate) given_up: bool,
    /// It was given up, and tried again alone; this is what came of it then.
    pub(crate) again: bool,
    /// Of an external call nobody knows whether it happened, and the outcome says so.
    pub(crate) unknown: bool,
    /// Until the last client had its terminal chunk.
    pub(crate) took: Duration,
    pub(crate) findings: Vec<String>,
    /// For whoever looks for the cause: calls of the victim and log lines.
    pub(crate) story: String,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, k) = self.strike.map_or(("nothing", 0), |(breaking, k)| (breaking.name, k));
        write!(f, "{}, {}, write {k}: {name}", self.setting.name, self.scenario.name)
    }
}

impl Case {
    /// Whether this is what it breaks.
    pub(crate) fn breaks(&self, breaking: &Breaking) -> bool {
        self.strike.is_some_and(|(own, _)| own.name == breaking.name)
    }

    pub(crate) async fn run(self, world: &World) -> Verdict {
        let person = format!("t{}.you", &new_id()[16..]);
        let (thread, message) = (new_id(), new_id());
        world.calm().await;
        let victim = world.victim(self.setting.victim);
        let mut strike = self.strike.map(|(breaking, k)| Strike::arm(world, self.setting.victim, breaking.how, k));

        let (began, began_at) = (Instant::now(), clocks::now());
        let (tell, runs) = watch::channel(Vec::new());
        let post = body(&thread, &message, &self.scenario.script(&person));
        let cut = tokio::spawn(self.scenario.cut.make(world.api(0, &person), thread.clone(), runs.clone()));
        let first = tokio::spawn(post_and_follow(world.api(0, &person), post, tell));
        let second = tokio::spawn(watch(world.api(1, &person), runs.clone()));
        let mut findings = Findings::default();
        let followed = async {
            let logs = [received(first, "posting").await, received(second, "restless").await];
            (logs, received(cut, "impatient").await.1)
        };
        let (logs, next) = match &mut strike {
            Some(strike) => strike.see_through(&runs, followed).await,
            None => followed.await,
        };
        let took = began.elapsed();
        sleep(SETTLES_IN).await;
        let trace = victim.proxy.trace();
        if let Some(strike) = strike {
            strike.finish(&runs).await;
        }

        let mut clients = Vec::new();
        for (name, log) in logs {
            match log {
                Ok(log) => clients.push((name, log)),
                Err(fault) => findings.0.push(format!("the {name} client: {fault}")),
            }
        }
        let runs = runs.borrow().clone();
        findings.must(!runs.is_empty(), || "the turn was never accepted".into());
        let evidence = world.store.evidence(&person, &thread, &runs).await;
        let mut given_up = evidence.runs.iter().any(|run| checks::ending(run) == Ending::GivenUp);
        match &next {
            Ok(logs) if logs.is_empty() => {}
            next => given_up |= came_to_its_end(next, &mut findings),
        }
        if !runs.is_empty() {
            given_up |= next_turn(world, &person, &thread, &mut findings).await;
            let later = world.store.evidence(&person, &thread, &runs).await;
            findings.same("the runs after the next turn", &later.runs, &evidence.runs);
            findings.same("the inbox after the next turn", &later.inbox, &evidence.inbox);
            // Now, since who was asleep may do late what it had announced.
            self.check(&evidence, &world.outside.of(&person), &clients, &mut findings);
            runs.iter().for_each(|run| world.check_clocks(run, &(began_at..=clocks::now()), &mut findings));
            findings.same("runs that wait for the sweeper", world.store.due().await, Vec::new());
        }

        let calls: Vec<String> =
            trace.iter().filter(|call| call.write.is_some() || call.fault.is_some()).map(shown).collect();
        let about: Vec<String> = runs.iter().map(|run| world.lines_about(run)).collect();
        let outcomes = || evidence.runs.iter().flat_map(|run| run.outcomes.values());
        Verdict {
            case: self,
            writes: trace.iter().filter_map(|call| call.write).max().unwrap_or(0),
            struck: trace.iter().find(|call| call.fault.is_some()).map(|call| kind(&call.operation)),
            attempts: evidence.runs.iter().map(|run| checks::attempts(&run.run)).max().unwrap_or(0),
            given_up,
            again: false,
            unknown: outcomes().any(|(kind, _)| kind == "unknown"),
            took,
            findings: findings.0,
            story: format!("{person} {thread} {runs:?}\n{}\n{}", calls.join("\n"), about.join("\n")),
        }
    }

    fn check(&self, evidence: &Evidence, elsewhere: &Elsewhere, clients: &[(&str, Vec<Log>)], findings: &mut Findings) {
        checks::turn(evidence, findings);
        for run in &evidence.runs {
            checks::log(run, findings);
            checks::calls(run, findings);
        }
        checks::clients(evidence, clients, findings);
        checks::state(evidence, findings);
        let endings = || evidence.runs.iter().map(checks::ending);
        let is_cut = endings().any(|end| end == Ending::CutShort);
        match self.scenario.cut {
            Cut::Never => findings.must(!is_cut, || "nobody stopped it".into()),
            // Where something is broken the turn may come to its end first.
            Cut::Stop { .. } | Cut::Interrupt { .. } => {
                findings.must(is_cut || self.strike.is_some(), || "it went on to its end".into());
            }
        }
        for effect in self.scenario.effects {
            if evidence.runs.iter().any(checks::is_cut_off) {
                effect.check_at_most(evidence, elsewhere, findings);
            } else {
                effect.check(evidence, elsewhere, findings);
            }
        }
    }
}

/// What a client has in the end; or that it waits in vain, or what it found wrong.
async fn received(mut client: JoinHandle<Vec<Log>>, name: &'static str) -> (&'static str, Result<Vec<Log>, String>) {
    let log = match timeout(PATIENCE, &mut client).await {
        Ok(joined) => joined.map_err(|error| match error.try_into_panic() {
            Ok(panic) => panic.downcast::<String>().map_or_else(|_| "panicked".into(), |text| *text),
            Err(error) => error.to_string(),
        }),
        Err(_) => {
            client.abort();
            Err(format!("stuck: no end after {} s", PATIENCE.as_secs()))
        }
    };
    (name, log)
}

/// The thread takes another turn, which ends as if nothing had happened. True: it was given up.
async fn next_turn(world: &World, person: &str, thread: &str, findings: &mut Findings) -> bool {
    let (tell, _runs) = watch::channel(Vec::new());
    let post = body(thread, &new_id(), NEXT);
    let turn = tokio::spawn(post_and_follow(world.api(1, person), post, tell));
    came_to_its_end(&received(turn, "next").await.1, findings)
}

/// The turn that came after says what it should. True: it was given up.
fn came_to_its_end(next: &Result<Vec<Log>, String>, findings: &mut Findings) -> bool {
    match next {
        Ok(logs) if logs[0].chunks().last().is_some_and(|chunk| chunk.contains("[no_progress]")) => return true,
        Ok(logs) => findings.same("the next turn", logs[0].text().as_str(), "w1 w2 done"),
        Err(fault) => findings.0.push(format!("the next turn: {fault}")),
    }
    false
}

fn shown(call: &Call) -> String {
    let Operation { name, keys, .. } = &call.operation;
    let more = if keys.len() > KEYS { format!(" and {} more", keys.len() - KEYS) } else { String::new() };
    let keys = keys[..keys.len().min(KEYS)].join(", ");
    let fault = call.fault.map(|fault| format!("  <-- {fault:?}")).unwrap_or_default();
    format!("  call {} write {}: {name} {keys}{more}{fault}", call.call, call.write.unwrap_or(0))
}

/// What a write is for, by its keys.
fn kind(operation: &Operation) -> &'static str {
    let has = |what: &str| operation.keys.iter().any(|key| key.contains(what));
    let in_run = |what: &str| operation.keys.iter().any(|key| key.starts_with("RUN#") && key.contains(what));
    match operation.name.as_str() {
        "TransactWriteItems" if in_run(" INPUT") && has(" MSG#") => "start",
        "TransactWriteItems" if in_run(" INPUT") => "decision and start of the next run",
        "TransactWriteItems" if in_run(" PROGRESS#") && has(" DOC#") => "slice of an import",
        "TransactWriteItems" if has("STATE#") || in_run(" CALL#") && !in_run(" LOG#") => "effects with their outcome",
        "TransactWriteItems" if in_run(" LOG#") => "end",
        "PutItem" if in_run(" LOG#") => "frame of the log",
        "PutItem" if in_run(" CALL#") => "outcome",
        "PutItem" if in_run(" RUN") => "claim, heartbeat or hand-over",
        _ => "other",
    }
}
