//! What a query of Prometheus names.

use std::collections::BTreeSet;

use promql_parser::parser::{Expr, LabelModifier, parse};

/// The names in a query.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) series: BTreeSet<String>,
    /// Every label that is asked for, with the series that should have it.
    pub(super) labels: BTreeSet<(String, String)>,
    /// Every value that a label of ours should have, alternatives one by one.
    pub(super) values: BTreeSet<String>,
}

// === impl Query ===

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        // The one variable of Grafana that does not stand inside a text.
        let text = text.replace("$__rate_interval", "5m");
        let expression = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut query = Self::default();
        query.read(&expression);
        query
    }

    /// Takes up everything below an expression, and gives the series there.
    fn read(&mut self, expression: &Expr) -> BTreeSet<String> {
        match expression {
            Expr::VectorSelector(selector) => self.read_selector(selector),
            Expr::MatrixSelector(selector) => self.read_selector(&selector.vs),
            Expr::Aggregate(aggregate) => {
                let series = self.read(&aggregate.expr);
                self.read_labels(aggregate.modifier.as_ref(), &series);
                series
            }
            Expr::Binary(binary) => {
                let series = &self.read(&binary.lhs) | &self.read(&binary.rhs);
                let matching = binary.modifier.as_ref().and_then(|how| how.matching.as_ref());
                self.read_labels(matching, &series);
                series
            }
            Expr::Call(call) => {
                let all = call.args.args.iter().flat_map(|argument| self.read(argument));
                all.collect()
            }
            Expr::Paren(inner) => self.read(&inner.expr),
            Expr::Unary(inner) => self.read(&inner.expr),
            Expr::Subquery(inner) => self.read(&inner.expr),
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) => BTreeSet::new(),
            Expr::Extension(_) => panic!("the parser makes none"),
        }
    }

    fn read_selector(
        &mut self,
        selector: &promql_parser::parser::VectorSelector,
    ) -> BTreeSet<String> {
        let series = selector.name.clone().expect("every selector has a name");
        assert!(selector.matchers.or_matchers.is_empty(), "{series}: `or` between labels");
        for matcher in &selector.matchers.matchers {
            self.labels.insert((series.clone(), matcher.name.clone()));
            // Those of Prometheus are the operator's, and bounds are numbers.
            if !["job", "instance", "le"].contains(&matcher.name.as_str()) {
                let values = matcher.value.split('|').filter(|value| !value.is_empty());
                self.values.extend(values.map(str::to_owned));
            }
        }
        self.series.insert(series.clone());
        [series].into()
    }

    fn read_labels(&mut self, named: Option<&LabelModifier>, series: &BTreeSet<String>) {
        for label in named.into_iter().flat_map(|named| &named.labels().labels) {
            self.labels.extend(series.iter().map(|series| (series.clone(), label.clone())));
        }
    }
}

#[test]
fn names_are_found_wherever_they_stand() {
    let text = r#"histogram_quantile(0.9, sum by (le, x) (rate(a_bucket{y="1"}[$__rate_interval])))
        > on (x) (-b{z=~"2|3", job="j"} offset 1h)"#;
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let labels = [
        ("a_bucket", "le"),
        ("a_bucket", "x"),
        ("a_bucket", "y"),
        ("b", "job"),
        ("b", "x"),
        ("b", "z"),
    ];
    let expected = Query {
        series: set(&["a_bucket", "b"]),
        labels: labels.map(|(series, label)| (series.to_owned(), label.to_owned())).into(),
        values: set(&["1", "2", "3"]),
    };
    assert_eq!(Query::parse(text), expected);
}
