//! Logs that documents wrote to do harm: no panic, bounded lists, and no more time than a pass takes.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tex_log::{Report, read};

const PIECES: [&str; 36] = [
    "! ",
    "!pdfTeX error: ",
    "./main.tex:3: ",
    "[\\directlua]:1: ",
    "Undefined control sequence.",
    "LaTeX Error: ",
    "Package a Error: ",
    "File `",
    "' not found.",
    "l.3 ",
    "l.",
    "\\x",
    "\n",
    "\n\n",
    "(./main.tex",
    "(\"./a b.tex\"",
    ")",
    "(a)",
    "Runaway argument?",
    "Overfull \\hbox (",
    "12pt too ",
    "wide) in paragraph at lines 3--4",
    "Missing character: There is no ",
    " in font ",
    "!",
    "LaTeX Warning: ",
    "(Font)              using `",
    "' on input line 9.",
    "No file main.",
    "\\openout1 = `",
    "Output written on x.pdf (",
    "3 pages, ",
    "\u{4e2d}(U+",
    "Emergency stop.",
    "The font \"",
    "                ",
];

fn bounded(report: &Report) {
    assert!(report.errors.len() <= 20 && report.warnings.len() <= 1_000);
    assert!(report.needs.indexes.len() <= 16 && report.needs.glossaries.len() <= 16);
    for error in &report.errors {
        assert!(error.message.chars().count() <= 1000, "{}", error.message.len());
        assert!(!error.to_string().contains(char::is_control));
    }
    for warning in &report.warnings {
        assert!(warning.to_string().chars().count() <= 2000);
        assert!(!warning.to_string().contains(char::is_control));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_make_a_report(log in prop::collection::vec(any::<u8>(), 0..2000)) {
        bounded(&read(&log));
    }

    #[test]
    fn any_messages_make_a_report(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..200)) {
        bounded(&read(pieces.concat().as_bytes()));
    }
}

#[test]
fn real_logs_with_bytes_exchanged_make_a_report() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs");
    for name in ["nested", "options", "fonts", "boxes", "biblatex", "lua"] {
        let log = fs::read(folder.join(name).with_extension("log")).expect("a log");
        for byte in [b'(', b')', b'\n', b':', b'!', 0xff] {
            for at in (0..log.len()).step_by(97) {
                let mut log = log.clone();
                log[at] = byte;
                bounded(&read(&log));
            }
        }
    }
}

#[test]
fn nesting_deeper_than_is_remembered_is_counted() {
    let text = format!(
        "(./main.tex\n{}{}\n(./part.tex\nLaTeX Warning: Reference `a' undefined on input line 3.\n",
        "(".repeat(300),
        ")".repeat(300)
    );
    assert_eq!(read(text.as_bytes()).warnings[0].file.as_deref(), Some("part.tex"));
}

#[test]
fn of_a_long_line_the_beginning_is_read() {
    let warning = |length| format!("LaTeX Warning: {} on input line 3.\n", "x".repeat(length));
    assert_eq!(read(warning(3_000).as_bytes()).warnings[0].line, Some(3));
    assert_eq!(read(warning(5_000).as_bytes()).warnings[0].line, None);
}

/// Each of these is read in well under a second by a build that is not optimised; what is not linear takes minutes.
#[test]
fn the_time_is_that_of_a_pass() {
    let size = 1_000_000;
    for piece in [
        "(",
        ")",
        "(./",
        "(./a b c d e f g h i j k l m n o p",
        "(\"",
        ":1",
        ":1: ",
        "! x\n",
        "! LaTeX Error: a\n",
        "! x\nfoo\nfoo\nfoo\n",
        "./a:1: LaTeX Error: x\nb\n",
        "Runaway argument?\n",
        "Overfull \\hbox (1pt too wide)\n",
        "LaTeX Warning: a\n",
        "LaTeX Warning: x\n(Font)   y\n",
        "Missing character: There is no x in font y!\n",
        "l.1 ",
        "\n",
        "(\n",
        "\\openout1 = `a.idx'\n",
        "Package a Warning: ",
        "\u{4e2d}",
    ] {
        let log = piece.repeat(size / piece.len());
        let started = Instant::now();
        bounded(&read(log.as_bytes()));
        assert!(started.elapsed() < Duration::from_secs(20), "{piece:?} took {:?}", started.elapsed());
    }
    let distinct: Vec<_> = (0..60_000)
        .map(|number| format!("LaTeX Warning: Reference `a{number}' undefined on input line {number}."))
        .collect();
    let report = read(distinct.join("\n").as_bytes());
    assert_eq!((report.warnings.len(), report.more_warnings), (1_000, 59_000));
}
