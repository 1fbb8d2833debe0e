//! What the environment says about tests that draw what they do.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a wrong number ends a test, and the seed is shown with it"
)]

/// `SEED=…`, with which a test draws the same again, or a new one. Prints it.
///
/// # Panics
/// If `SEED` is not a number.
pub fn seed() -> u64 {
    let seed = std::env::var("SEED");
    let seed =
        seed.map_or_else(|_| fastrand::u64(..), |seed| seed.parse().expect("SEED: a number"));
    println!("SEED={seed}");
    seed
}

/// `TIMES=…`: how much more than in `./test` is to be tried; 1 if it is not set.
///
/// # Panics
/// If `TIMES` is not a number.
pub fn times() -> usize {
    std::env::var("TIMES").map_or(1, |times| times.parse().expect("TIMES: a number"))
}
