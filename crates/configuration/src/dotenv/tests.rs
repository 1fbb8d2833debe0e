use super::*;

type Line<'a> = (&'a str, &'a str);

fn read_text(text: &[u8]) -> (Vec<(String, String)>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".env");
    std::fs::write(&path, text).unwrap();
    let (lines, problems) = read(&path);
    let problems = problems.into_iter().map(|problem| match problem {
        Problem::File { path: named, reason } if named == path => reason,
        other => panic!("{other}"),
    });
    (lines, problems.collect())
}

#[test]
fn lines_are_read_as_every_reader_of_such_files_does() {
    let text = "\u{feff}# a comment\nPORT=1\r\nexport CODEX_MODEL='gpt 5' # why\n\nEMPTY=\nLAST=x ";
    let (lines, problems) = read_text(text.as_bytes());
    let lines: Vec<Line<'_>> =
        lines.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(lines, [("PORT", "1"), ("CODEX_MODEL", "gpt 5"), ("EMPTY", ""), ("LAST", "x")]);
    assert_eq!(problems, <[&str; 0]>::default());
}

#[test]
fn every_line_that_cannot_be_read_is_told_without_its_text() {
    let (lines, problems) = read_text(b"A=1\nnonsense\nPROXY_API_KEY=two words\nB=2\n");
    assert_eq!(lines.len(), 2);
    let advice = "is not NAME=value; a value with blanks or backslashes needs quotation marks";
    assert_eq!(problems, [format!("line 2 {advice}"), format!("line 3 {advice}")]);

    let (_, problems) = read_text(b"\xff");
    assert_eq!(problems.len(), 1);
}

#[test]
fn a_missing_file_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let (lines, problems) = read(&folder.path().join(".env"));
    assert_eq!((lines.len(), problems.len()), (0, 1));
}
