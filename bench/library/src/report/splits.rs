//! The same texts cut in many ways: how often does another thing come out?

use std::fmt::Write as _;

use super::goals::Measured;
use super::{Table, share};
use crate::contender::{Contender, all};
use crate::corpus::{self, Case};
use crate::judge::{judge, strict};
use crate::options::Options;
use crate::split::Random;
use crate::translate::{Translated, translate};

/// What a peer never promised, and what is held against it all the same.
const CLAIMS: &str = "\
- ours reads the same texts as each peer would in that format, and is judged the same way here.
- dynamo-parsers-v2 streams no JSON in `<tool_call>`; Kimi K2 is its format with JSON arguments. It leaves \
  calls in quotes and code fences alone on purpose, so none are in these texts.
- tool-parser says that its reading of whole texts drops prose after a call, and streams to match: prose \
  after the first call is lost by intent, and counted because the user never sees it. It reads \
  `<tool_call>` only with a new line after it, which these texts have.";

/// A megabyte in small chunks takes a quadratic reader minutes, and says no more.
const LONGEST_TEXT: usize = 16 << 10;

pub fn report(options: &Options, measured: &mut Measured) -> String {
    let cases = corpus::load(&options.corpus).expect("the corpus is there");
    let mut random = Random::new(options.seed);
    let strict = strict(&cases, options.splits, &mut random);
    measured.wrong_splits = strict.wrong;
    measured.splits = strict.splits;
    let mut words = format!(
        "A corpus of {} texts, cut at random into chunks of 1–4, 1–16 and 1–64 bytes, a third each. \
         Seed {}.\n\n\
         Ours, strictly: cut at any byte, also inside characters; text and blocks (name, arguments, place, \
         raw text) compared byte for byte: {} of {} splits wrong.",
        cases.len(),
        options.seed,
        strict.wrong,
        strict.splits,
    );
    if let Some((case, longest)) = strict.first {
        let _ = write!(words, " The first: `{case}` in chunks of 1–{longest}.");
    }
    words.push_str(
        "\n\nAll, on what each claims: the calls of the corpus in the parser's own format with the same \
         prose around, cut between characters. Left out are texts that the format cannot carry (arguments \
         that are no JSON object, its own markers in prose or values), calls in quotes or a code fence, and \
         texts longer than 16 KiB. Arguments are compared as JSON values.",
    );
    let head = [
        "parser",
        "format",
        "texts",
        "splits",
        "wrong calls",
        "prose before the first call lost or changed",
        "prose after it",
        "only white space",
        "texts wrong in some split",
        "texts wrong in one piece",
    ];
    let mut table = Table::new("Random splits", &words, &head);
    for contender in all() {
        table.row(&row(contender.as_ref(), &cases, options, &mut random));
    }
    table.words(CLAIMS);
    table.finish()
}

fn row(
    contender: &dyn Contender,
    cases: &[Case],
    options: &Options,
    random: &mut Random,
) -> Vec<String> {
    let format = contender.format();
    let texts: Vec<Translated> = cases
        .iter()
        .filter(|case| case.input.len() <= LONGEST_TEXT)
        .filter_map(|case| translate(case, format))
        .collect();
    // Ours was judged more strictly before; here it only shows that the texts can be read.
    let limit = if contender.ours() { options.judging / 6 } else { options.judging };
    let tally = judge(contender, &texts, limit, random);
    // For whoever wants to know which: the table has no room for names.
    eprintln!("{}, {}: wrong in {:?}", contender.label(), format.label(), tally.cases_wrong);
    vec![
        contender.label().to_owned(),
        format.label().to_owned(),
        format!("{} of {}", texts.len(), cases.len()),
        tally.splits.to_string(),
        share(tally.wrong_calls, tally.splits),
        share(tally.wrong_before, tally.splits),
        share(tally.wrong_after, tally.splits),
        share(tally.wrong_space, tally.splits),
        tally.cases_wrong.len().to_string(),
        tally.cases_wrong_whole.to_string(),
    ]
}
