//! Logs that documents wrote to do harm: no panic, bounded lists, and no more time than a pass takes.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tex_log::{of_bibtex, read};

mod any;
#[path = "../../../fuzz/kept.rs"]
#[expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
mod kept;

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_make_a_report(log in prop::collection::vec(any::<u8>(), 0..2000)) {
        any::log(&log);
    }

    #[test]
    fn any_messages_make_a_report(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..200)) {
        any::log(pieces.concat().as_bytes());
    }
}

#[test]
fn what_fuzzing_begins_with_makes_a_report() {
    for log in kept::inputs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), "log") {
        any::log(&log);
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
                any::log(&log);
            }
        }
    }
}

#[test]
fn the_name_of_a_package_has_no_control_characters() {
    let report = read(b"Package a\x01b Warning: Something is odd.\n");
    assert_eq!(report.warnings[0].to_string(), "a b: Something is odd");
}

#[test]
fn a_note_on_an_error_of_bibtex_is_added_once_however_often_it_stands_there() {
    let note = "(Error may have been on previous line)\n";
    let printed = format!("I was expecting a `,'---line 3 of file a.bib\n{}", note.repeat(1_000));
    let remarks = of_bibtex(printed.as_bytes());
    assert_eq!(remarks[0].to_string().matches("or the one before").count(), 1);
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
        any::log(log.as_bytes());
        assert!(started.elapsed() < Duration::from_secs(20), "{piece:?} took {:?}", started.elapsed());
    }
    let distinct: Vec<_> = (0..60_000)
        .map(|number| format!("LaTeX Warning: Reference `a{number}' undefined on input line {number}."))
        .collect();
    let report = read(distinct.join("\n").as_bytes());
    assert_eq!((report.warnings.len(), report.more_warnings), (1_000, 59_000));
}
