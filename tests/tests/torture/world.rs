//! A whole system of separate processes, in which turns are tortured one after another.

use std::ops::RangeInclusive;
use std::time::Duration;

use tandem_tests::{Api, Program, Road};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::checks::Findings;
use crate::clocks::{self, Clocks};
use crate::elsewhere::Outside;
use crate::evidence::Store;
use crate::setting::{SCALED, Setting, Victim};
use crate::worker::{Sweeper, Worker};

const SWEEP_EVERY_MS: u64 = 200;

/// `tandem dynamodb`, two foregrounds, two backgrounds and a sweeper. Dispatches reach the first background that
/// accepts them.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) foregrounds: [Worker; 2],
    pub(crate) backgrounds: [Worker; 2],
    pub(crate) sweeper: Sweeper,
    /// The table, past all proxies.
    pub(crate) store: Store,
    pub(crate) outside: Outside,
    clocks: Clocks,
    road: Road,
    _database: Program,
    _dir: TempDir,
}

impl World {
    pub(crate) async fn start(setting: &Setting) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let database = Program::serve(&["dynamodb", "--port", "0"], &[], dir.path()).await;
        let road = Road::open().await;
        let outside = Outside::open(dir.path()).await;
        let env = [&[("BACKGROUND_URL", road.url())], &outside.env()[..], SCALED, setting.env].concat();
        let clocks = setting.clocks;
        let shifted = clocks.env(dir.path());
        let env = |shift| -> Vec<(String, String)> {
            let all = env.iter().map(|(name, value)| (*name, (*value).to_owned())).chain(shifted(shift));
            all.map(|(name, value)| (name.to_owned(), value)).collect()
        };
        let start = |role, shift| Worker::start(role, database.url(), env(shift), dir.path());
        let [b0, b1] = clocks.backgrounds;
        let backgrounds = [start("background", b0).await, start("background", b1).await];
        let [f0, f1] = clocks.foregrounds;
        let foregrounds = [start("foreground", f0).await, start("foreground", f1).await];
        let sweeper = Sweeper::start(SWEEP_EVERY_MS, database.url(), env(clocks.sweeper), dir.path()).await;
        let store = Store::at(database.url());
        let (_database, _dir) = (database, dir);
        let world = World { foregrounds, backgrounds, sweeper, store, outside, clocks, road, _database, _dir };
        world.open_road();
        world
    }

    pub(crate) fn victim(&self, victim: Victim) -> &Worker {
        match victim {
            Victim::Background => &self.backgrounds[0],
            Victim::Foreground => &self.foregrounds[0],
        }
    }

    /// A client of a foreground.
    pub(crate) fn api(&self, foreground: usize, person: &str) -> Api {
        Api::new(&self.foregrounds[foreground].url()).as_person(person)
    }

    /// Dispatches reach both backgrounds again.
    pub(crate) fn open_road(&self) {
        self.road.lead_only_to(&self.backgrounds[0].url());
        self.road.lead_to(&self.backgrounds[1].url());
    }

    /// Dispatches no longer reach a victim that sleeps: its port still accepts connections.
    pub(crate) fn lead_around(&self, victim: Victim) {
        if victim == Victim::Background {
            self.road.lead_only_to(&self.backgrounds[1].url());
        }
    }

    /// Nothing is broken any more, and counting begins anew.
    pub(crate) async fn calm(&self) {
        self.proxies().for_each(tandem_testkit::faults::Proxy::reset);
        // Not to the one that answered last, but to the first again.
        self.open_road();
        // Whatever a hook has begun.
        sleep(Duration::from_millis(20)).await;
    }

    pub(crate) fn proxies(&self) -> impl Iterator<Item = &tandem_testkit::faults::Proxy> {
        let workers = self.foregrounds.iter().chain(&self.backgrounds).map(|worker| &worker.proxy);
        workers.chain([&self.sweeper.proxy])
    }

    /// The lines of all processes that name something.
    pub(crate) fn lines_about(&self, what: &str) -> String {
        let processes = self.processes().into_iter();
        let mut lines: Vec<String> = processes
            .flat_map(|(name, log, _)| about(&log, what).into_iter().map(move |line| format!("{line}  <{name}>")))
            .collect();
        // Each begins with its time.
        lines.sort();
        lines.join("\n")
    }

    /// Whoever has written about something `during` this time, in seconds, has the clock that it should have.
    pub(crate) fn check_clocks(&self, what: &str, during: &RangeInclusive<i64>, findings: &mut Findings) {
        for (name, log, shift) in self.processes() {
            clocks::check(name, &about(&log, what), shift, during, findings);
        }
    }

    /// Names, logs, and by how many seconds the clock is wrong.
    fn processes(&self) -> [(&'static str, String, i64); 5] {
        let ([f0, f1], [b0, b1]) = (&self.foregrounds, &self.backgrounds);
        let Clocks { foregrounds, backgrounds, sweeper } = self.clocks;
        [
            ("foreground 0", f0.log(), foregrounds[0]),
            ("foreground 1", f1.log(), foregrounds[1]),
            ("background 0", b0.log(), backgrounds[0]),
            ("background 1", b1.log(), backgrounds[1]),
            ("sweeper", self.sweeper.log(), sweeper),
        ]
    }
}

/// The lines of a log that name something.
fn about(log: &str, what: &str) -> Vec<String> {
    log.lines().filter(|line| line.contains(what)).map(str::to_owned).collect()
}
