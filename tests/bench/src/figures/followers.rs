//! Many followers of one run: what they cost at the store, and how evenly they are served.

use futures::future::join_all;
use tandem_testkit::faults::Proxy;

use crate::events::Events;
use crate::report::Row;
use crate::samples::Samples;
use crate::world::{Setup, World, stamping};

const SCRIPT: &str = "@say 250 every 20ms";
const FOLLOWERS: [usize; 3] = [1, 50, 200];

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let (provider, epoch) = stamping();
    let world =
        World::start(Setup { background: true, counted: true, provider: Some(&provider), ..Setup::default() }).await;
    let [foreground, _] = &world.proxies[..] else { unreachable!("two processes") };
    let mut rows = Vec::new();
    let mut alone = None;
    for followers in FOLLOWERS {
        let (mut seen, mut spread) = (Samples::default(), Samples::default());
        let (mut opening, mut reads) = (Samples::default(), Samples::default());
        for _ in 0..repeat {
            let first = Events::open(world.turn(SCRIPT)).await;
            let run = first.header("x-run-id");
            foreground.reset();
            let more = join_all((1..followers).map(|_| Events::open(world.api().events(&run, None)))).await;
            let calls = join_all(std::iter::once(first).chain(more).map(|events| events.latencies(epoch))).await;
            let slowest = calls.iter().map(|latencies| middle(latencies)).fold(0.0, f64::max);
            let quickest = calls.iter().map(|latencies| middle(latencies)).fold(f64::MAX, f64::min);
            spread.add(vec![slowest - quickest]);
            seen.add(calls.concat());
            // The poller and the observer ask by query and by key; whoever opens asks for the run and its thread.
            let (own, shared) = by_purpose(foreground);
            opening.add(vec![own as f64 / (followers - 1).max(1) as f64]);
            reads.add(vec![shared as f64]);
        }
        let shared = Row::new(format!("reads of the log while the run goes on, {followers} followers"), "", &reads);
        // As many as for one follower, but for some that lie at the edges of the run.
        rows.push(match alone {
            None => shared,
            Some(alone) => shared.at_most(alone + 2.0 * followers as f64),
        });
        alone = alone.or(Some(reads.median()));
        rows.push(Row::new(format!("calls to open one more, {followers} followers"), "", &opening));
        rows.push(Row::new(format!("a word, {followers} followers"), "ms", &seen));
        rows.push(Row::new(
            format!("between the median of the first and of the last served, {followers} followers"),
            "ms",
            &spread,
        ));
    }
    rows
}

/// Calls that name an item, and queries.
fn by_purpose(proxy: &Proxy) -> (usize, usize) {
    let trace = proxy.trace();
    let queries = trace.iter().filter(|call| call.operation.name == "Query").count();
    (trace.len() - queries, queries)
}

fn middle(latencies: &[f64]) -> f64 {
    let mut sorted = latencies.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
