//! A whole system of separate processes, in which turns are tortured one after another.

use std::time::Duration;

use tandem_tests::{Api, Program, Road};
use tempfile::TempDir;
use tokio::time::sleep;

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
    road: Road,
    _database: Program,
    _dir: TempDir,
}

impl World {
    pub(crate) async fn start(setting: &Setting) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let database = Program::serve(&["dynamodb", "--port", "0"], &[], dir.path()).await;
        let road = Road::open().await;
        let env = [&[("BACKGROUND_URL", road.url())], SCALED, setting.env].concat();
        let start = |role| Worker::start(role, database.url(), &env, dir.path());
        let backgrounds = [start("background").await, start("background").await];
        let foregrounds = [start("foreground").await, start("foreground").await];
        let sweeper = Sweeper::start(SWEEP_EVERY_MS, database.url(), &env, dir.path()).await;
        let store = Store::at(database.url());
        let world = World { foregrounds, backgrounds, sweeper, store, road, _database: database, _dir: dir };
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
        let [f0, f1] = &self.foregrounds;
        let [b0, b1] = &self.backgrounds;
        let logs = [
            ("foreground 0", f0.log()),
            ("foreground 1", f1.log()),
            ("background 0", b0.log()),
            ("background 1", b1.log()),
            ("sweeper", self.sweeper.log()),
        ];
        let about = |(name, log): &(&str, String)| -> Vec<String> {
            log.lines().filter(|line| line.contains(what)).map(|line| format!("{line}  <{name}>")).collect()
        };
        let mut lines: Vec<String> = logs.iter().flat_map(about).collect();
        // Each begins with its time.
        lines.sort();
        lines.join("\n")
    }
}
