//! Ways to cut an input.

/// Small, quick and the same everywhere: only the seed decides.
pub(crate) struct Dice(u64);

impl Dice {
    /// Seeded by the environment's `SEED`, and said aloud, so that a failure can be had again.
    pub(crate) fn new() -> Self {
        let seed = seed();
        println!("SEED={seed}");
        Self(seed)
    }

    /// A number below `end`, or 0 if there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let end = u64::try_from(end).unwrap().max(1);
        usize::try_from(mixed % end).unwrap()
    }

    /// Chunks of random lengths up to `longest`.
    pub(crate) fn chunks<'i>(&mut self, mut input: &'i [u8], longest: usize) -> Vec<&'i [u8]> {
        let mut chunks = Vec::new();
        while !input.is_empty() {
            let length = (1 + self.below(longest)).min(input.len());
            let (chunk, rest) = input.split_at(length);
            chunks.push(chunk);
            input = rest;
        }
        chunks
    }
}

/// The environment's `SEED`, or the time.
pub(crate) fn seed() -> u64 {
    let now = || {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap();
        since.as_secs() << 30 | u64::from(since.subsec_nanos())
    };
    std::env::var("SEED").map_or_else(|_| now(), |seed| seed.parse().expect("a number"))
}
