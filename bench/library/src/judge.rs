//! Right or wrong, over many ways to cut the same texts.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::contender::Contender;
use crate::corpus::Case;
use crate::ours;
use crate::reader::{Call, Outcome};
use crate::split::{self, LONGEST, Random};
use crate::translate::Translated;

/// How often a contender was wrong.
#[derive(Debug, Default)]
pub struct Tally {
    pub splits: u64,
    pub wrong_calls: u64,
    /// Prose before the first call that differs in more than white space.
    pub wrong_before: u64,
    /// The same for prose after it, if that before is right.
    pub wrong_after: u64,
    /// Prose that differs in white space only: many readers take it off around calls.
    pub wrong_space: u64,
    /// Cases that came out wrong under some split.
    pub cases_wrong: Vec<String>,
    /// Cases that are wrong in one piece, where no cutting is to blame.
    pub cases_wrong_whole: usize,
}

/// How often ours was not the same byte for byte.
#[derive(Debug, Default)]
pub struct Strict {
    pub splits: u64,
    pub wrong: u64,
    /// The first wrong one: the case and the longest chunk.
    pub first: Option<(String, usize)>,
}

#[derive(Debug, Default)]
struct Verdict {
    wrong_calls: bool,
    prose: Prose,
}

/// The worst about the prose.
#[derive(Debug, Default, PartialEq, Eq)]
enum Prose {
    #[default]
    Right,
    Space,
    After,
    Before,
}

/// Rounds over all cases, one split of each density a round, for as long as `limit`.
pub fn judge(
    contender: &dyn Contender,
    cases: &[Translated],
    limit: Duration,
    random: &mut Random,
) -> Tally {
    let mut tally = Tally::default();
    let mut wrong = vec![false; cases.len()];
    for case in cases {
        let verdict = Verdict::of(&contender.read(&case.tools, &[&case.text]), case);
        tally.cases_wrong_whole += usize::from(verdict.any());
    }
    let start = Instant::now();
    let mut chunks = Vec::new();
    while !cases.is_empty() && start.elapsed() < limit {
        for (case, wrong) in cases.iter().zip(&mut wrong) {
            for longest in LONGEST {
                split::strs(&case.text, longest, random, &mut chunks);
                let verdict = Verdict::of(&contender.read(&case.tools, &chunks), case);
                tally.count(&verdict);
                *wrong |= verdict.any();
            }
        }
    }
    let ever = cases.iter().zip(wrong).filter(|(_, wrong)| *wrong);
    tally.cases_wrong = ever.map(|(case, _)| case.name.clone()).collect();
    tally
}

/// Ours, cut at any byte, the same number of times for each case and at least `splits` in all.
pub fn strict(cases: &[Case], splits: u64, random: &mut Random) -> Strict {
    let mut strict = Strict::default();
    let each = splits.div_ceil(cases.len().max(1) as u64);
    for case in cases {
        let patterns = ours::patterns(case.pattern);
        for turn in 0..each {
            let longest = LONGEST[usize::try_from(turn % 3).unwrap_or(0)];
            let chunks = split::bytes(case.input.as_bytes(), longest, random);
            strict.splits += 1;
            if ours::read_bytes(&patterns, chunks) != case.expected {
                strict.wrong += 1;
                strict.first.get_or_insert_with(|| (case.name.clone(), longest));
            }
        }
    }
    strict
}

// === impl Tally ===

impl Tally {
    fn count(&mut self, verdict: &Verdict) {
        self.splits += 1;
        self.wrong_calls += u64::from(verdict.wrong_calls);
        match verdict.prose {
            Prose::Right => {}
            Prose::Space => self.wrong_space += 1,
            Prose::After => self.wrong_after += 1,
            Prose::Before => self.wrong_before += 1,
        }
    }
}

// === impl Verdict ===

impl Verdict {
    fn of(outcome: &Outcome, case: &Translated) -> Self {
        let calls = outcome.calls.len() == case.expected_calls.len()
            && outcome.calls.iter().zip(&case.expected_calls).all(same_call);
        Self { wrong_calls: !calls, prose: Prose::of(&outcome.text, case) }
    }

    fn any(&self) -> bool {
        self.wrong_calls || self.prose != Prose::Right
    }
}

fn same_call((call, (name, arguments)): (&Call, &(String, Value))) -> bool {
    let found = serde_json::from_str(&call.arguments);
    call.name == *name && found.is_ok_and(|found| same(&found, arguments))
}

/// Equal as JSON: 1000 is 1000.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same_member = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| same(a, b));
            a.len() == b.len() && a.iter().all(same_member)
        }
        _ => a == b,
    }
}

// === impl Prose ===

impl Prose {
    fn of(found: &str, case: &Translated) -> Self {
        let solid = |text: &str| text.split_whitespace().collect::<String>();
        let (before, _) = case.expected_text.split_at(case.before);
        if found == case.expected_text {
            Self::Right
        } else if solid(found) == solid(&case.expected_text) {
            Self::Space
        } else if solid(found).starts_with(&solid(before)) {
            Self::After
        } else {
            Self::Before
        }
    }
}
