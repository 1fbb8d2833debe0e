//! What a thread costs in memory while it is kept.

use testkit::process::{megabytes, resident_kilobytes};

use crate::HISTORIES;
use crate::conversation::Way;
use crate::exchange::{Answer, Continuity};
use crate::server::{Server, Surroundings};

/// Turns before the first look: Codex grows with its first ones, whatever becomes of them.
const WARM_UP: usize = 50;

/// Prints a table of what so many threads cost each.
pub(crate) fn measure(surroundings: &Surroundings<'_>, threads: usize) {
    println!("| items in a thread | state | Codex, a thread | we, a thread |");
    println!("|---|---|---|---|");
    for items in HISTORIES {
        for way in Way::BOTH {
            let server = Server::start(surroundings, threads * 2);
            let look = || [server.child(), server.id()].map(resident_kilobytes);
            let warm_up = way.begin(&server, items, 0);
            for _ in 0..WARM_UP {
                Answer::to(&server, &warm_up, Continuity::Off);
            }
            let before = look();
            for number in 1..=threads {
                way.begin(&server, items, number);
            }
            let after = look();
            let state = match way {
                Way::Reused => "idle",
                Way::Resumed => "held",
            };
            #[allow(clippy::cast_precision_loss, reason = "some hundred threads")]
            let cost = |index: usize| {
                megabytes(after[index].saturating_sub(before[index])) * 1e3 / threads as f64
            };
            println!("| {items} | {state} | {:.0} kB | {:.0} kB |", cost(0), cost(1));
        }
    }
}
