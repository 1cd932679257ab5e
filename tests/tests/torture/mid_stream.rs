//! A worker dies in the middle of a stream while somebody watches.

use std::time::Duration;

use tandem_tests::{End, Log, new_id};
use tokio::time::Instant;

use crate::report::{self, seconds};
use crate::setting::{BACKGROUND, LEASE_MS};
use crate::world::World;
use crate::{ALONE, all};

/// From the death to the next chunk.
const AT_MOST: Duration = Duration::from_millis(LEASE_MS + 3000);
/// More words than are said before anybody dies.
const WORDS: usize = 90;

#[tokio::test(flavor = "multi_thread")]
async fn who_watches_a_worker_die_sees_the_next_chunk_within_a_lease_and_three_seconds() {
    let _alone = ALONE.lock().await;
    let world = World::start(&BACKGROUND).await;
    let mut gaps = Vec::new();
    for n in 0..if all() { 20 } else { 5 } {
        gaps.push(gap(&world, 4 + n % 5 * 4).await);
    }
    gaps.sort();
    let (median, most) = (gaps[gaps.len() / 2], gaps[gaps.len() - 1]);
    let text = format!(
        "Of {} deaths in mid-stream, with a lease of {LEASE_MS} ms: median {}, longest {}.\n",
        gaps.len(),
        seconds(median),
        seconds(most),
    );
    println!("{text}");
    assert!(most <= AT_MOST, "{gaps:?}");
    if all() {
        report::write("mid-stream", &text);
    }
}

/// The time from the death of the holder to the next holder's first chunk; `words` were read before. Chunks do not tell how
/// far it was: a slow machine has more words in each.
async fn gap(world: &World, words: usize) -> Duration {
    world.calm().await;
    let api = world.api(0, &format!("t{}.you", &new_id()[16..]));
    let mut stream = api.say(&format!("@say {WORDS} every 20ms")).await;
    let mut log = Log::default();
    while log.text().split_whitespace().count() < words {
        let before = log.len();
        log.read(&mut stream, before + 1).await;
        assert!(log.len() > before, "the stream ended: {:?}", stream.ended());
    }
    world.backgrounds[0].handle().lock().unwrap().kill();
    let died = Instant::now();
    let taken = |log: &Log| log.of_type("data-attempt").len() == 2;
    while !taken(&log) {
        let before = log.len();
        log.read(&mut stream, before + 1).await;
        assert!(log.len() > before, "the stream ended: {:?}", stream.ended());
    }
    let gap = died.elapsed();
    world.backgrounds[0].restart().await;
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    log.says_each_word_once(WORDS);
    // A machine that is too busy for a lease of 600 ms may have taken the next holder for dead too.
    let attempts = log.attempts().len();
    assert!(attempts >= 2, "{attempts} attempts");
    log.finished(u32::try_from(attempts).unwrap());
    gap
}
