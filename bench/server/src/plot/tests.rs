use super::*;

fn plot(points: Vec<(f64, f64)>) -> String {
    let line = Line { name: "a & b".to_owned(), points };
    let panel = Panel { title: "MB < all".to_owned(), lines: vec![line] };
    Plot { title: "T".to_owned(), across: "minutes".to_owned(), panels: vec![panel] }.svg()
}

#[test]
fn axes_begin_at_zero_and_have_round_marks() {
    for (most, step) in [(1.0, 0.5), (3.7, 1.0), (17.0, 5.0), (60.0, 20.0), (240.0, 100.0)] {
        let scale = Scale::over([most].into_iter(), LINES, Fit::ToTheNextMark);
        assert!((scale.step - step).abs() < 1e-9, "{most}: {}", scale.step);
        assert!(scale.most >= most && scale.most - most < step, "{most}: {}", scale.most);
        assert_eq!(scale.marks().next(), Some(0.0));
        assert!((scale.marks().last().unwrap() - scale.most).abs() < 1e-6);
    }
}

#[test]
fn a_line_goes_through_its_points() {
    let svg = plot(vec![(0.0, 0.0), (60.0, 100.0)]);
    let (right, bottom) = (WIDTH - RIGHT, TITLE + PANEL);
    assert!(
        svg.contains(&format!(r#"points="{LEFT:.1},{bottom:.1} {right:.1},{TITLE:.1}""#)),
        "{svg}"
    );
}

#[test]
fn nothing_to_show_and_what_is_no_number_do_no_harm() {
    assert!(plot(Vec::new()).ends_with("</svg>\n"));
    let svg = plot(vec![(0.0, f64::NAN), (1.0, 2.0)]);
    assert!(!svg.contains("NaN"), "{svg}");
    assert!(svg.contains("a &amp; b") && svg.contains("MB &lt; all"));
}
