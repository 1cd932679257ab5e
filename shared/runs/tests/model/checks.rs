//! What is explored.

use tandem_actions::Effect;

use crate::guards::{Bounds, Guards};
use crate::life::explore;

const SMALL: Bounds =
    Bounds { attempts: 2, calls: &[Effect::Transactional], lost_replies: 0, broken_answers: 0, timeouts: 0 };

#[test]
fn size() {
    for (name, b) in [
        ("small", SMALL),
        ("small3", Bounds { attempts: 3, ..SMALL }),
        ("lost", Bounds { lost_replies: 1, ..SMALL }),
        ("timeouts", Bounds { timeouts: 1, ..SMALL }),
        ("ext", Bounds { calls: &[Effect::Transactional, Effect::External], ..SMALL }),
        ("all", Bounds { timeouts: 1, lost_replies: 1, broken_answers: 1, ..SMALL }),
    ] {
        let found = explore(name, b, Guards::ALL);
        assert!(found.broken.is_empty());
    }
}
