//! Who is connected, and who of them waits without a request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// At most so many places.
pub(super) struct Crowd {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    taken: usize,
    /// Those without a request, by when that began: the first has waited longest.
    idle: BTreeMap<u64, CancellationToken>,
    next: u64,
}

/// A connection's place. It is free again when this is dropped.
pub(super) struct Place {
    crowd: Arc<Crowd>,
    closing: CancellationToken,
    /// Where it stands among the idle ones.
    idle_since: Mutex<Option<u64>>,
}

/// A request is being answered; dropped, when it has been.
pub(super) struct Busy(Arc<Place>);

impl Crowd {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Crowd { most, state: Mutex::default() })
    }

    /// A place, for which another may have to go. None: all are being answered.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Arc<Place>> {
        let mut state = self.state();
        if state.taken >= self.most && !state.close_one() {
            return None;
        }
        state.taken += 1;
        drop(state);
        let (closing, idle_since) = (CancellationToken::new(), Mutex::default());
        let place = Arc::new(Place { crowd: Arc::clone(self), closing, idle_since });
        place.wait();
        Some(place)
    }

    /// Closes whoever has waited longest.
    pub(super) fn make_room(&self) {
        self.state().close_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// False: nobody waits. Whoever goes counts no more, although it takes a moment.
    fn close_one(&mut self) -> bool {
        let Some((_, closing)) = self.idle.pop_first() else { return false };
        closing.cancel();
        self.taken -= 1;
        true
    }
}

impl Place {
    /// From now on there is a request.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        let since = self.idle_since().take();
        if let Some(since) = since {
            self.crowd.state().idle.remove(&since);
        }
        Busy(Arc::clone(self))
    }

    pub(super) async fn must_close(&self) {
        self.closing.cancelled().await;
    }

    fn wait(&self) {
        let mut state = self.crowd.state();
        let since = state.next;
        state.next += 1;
        state.idle.insert(since, self.closing.clone());
        *self.idle_since() = Some(since);
    }

    fn idle_since(&self) -> MutexGuard<'_, Option<u64>> {
        self.idle_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if !self.0.closing.is_cancelled() {
            self.0.wait();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let since = self.idle_since().take();
        let mut state = self.crowd.state();
        if let Some(since) = since {
            state.idle.remove(&since);
        }
        // Who was closed for another counts no more already.
        if !self.closing.is_cancelled() {
            state.taken -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(place: &Place) -> bool {
        place.closing.is_cancelled()
    }

    #[test]
    fn who_has_waited_longest_goes_and_nobody_who_is_being_answered() {
        let crowd = Crowd::new(3);
        let [first, second, third] = [(); 3].map(|()| crowd.enter().unwrap());
        let busy = first.busy();
        let fourth = crowd.enter().unwrap();
        assert_eq!([&first, &second, &third, &fourth].map(|place| closed(place)), [false, true, false, false]);
        // Answered, it waits again, behind the others.
        drop(busy);
        let fifth = crowd.enter().unwrap();
        assert_eq!([&first, &third, &fourth, &fifth].map(|place| closed(place)), [false, true, false, false]);
        let _all = [first.busy(), fourth.busy(), fifth.busy()];
        assert!(crowd.enter().is_none());
    }

    #[test]
    fn a_place_that_is_left_is_free_once() {
        let crowd = Crowd::new(2);
        let (first, second) = (crowd.enter().unwrap(), crowd.enter().unwrap());
        let third = crowd.enter().unwrap();
        assert!(closed(&first));
        drop(first);
        assert_eq!(crowd.state().taken, 2);
        let busy = second.busy();
        drop((second, third));
        assert_eq!(crowd.state().taken, 1);
        drop(busy);
        let state = crowd.state();
        assert_eq!((state.taken, state.idle.len()), (0, 0));
    }
}
