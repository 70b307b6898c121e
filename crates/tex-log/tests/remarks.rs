//! What BibTeX, biber and makeindex really said (`remarks/make`), and what a document would have them say.

use std::fmt::Write as _;

use tex_log::{About, Remark, of_biber, of_bibtex, of_makeindex};

/// Remarks as text: each a line, errors with a mark before them.
fn told(remarks: &[Remark]) -> String {
    let mut text = String::new();
    for remark in remarks {
        let _ = writeln!(text, "{}{remark}", if remark.is_error { "! " } else { "" });
    }
    text
}

#[test]
fn bibtex_is_reported_in_the_places_of_the_author() {
    let remarks = of_bibtex(include_bytes!("remarks/bibtex.txt"));
    let wanted = "! refs.bib:2: Repeated entry\n\
                  ! refs.bib:6: BibTeX was expecting a ',' or a '}', in this line or the one before\n\
                  ! refs.bib:8: \"}\" immediately follows a string name\n\
                  ! refs.bib:9: Unbalanced braces\n\
                  ! A bad cross reference: entry \"knuth\" refers to entry \"nothere\", which doesn't exist\n\
                  no database has the entry 'gone'\n\
                  no database has the entry 'nothere'\n\
                  ! Too many commas in name 1 of \"A, B, C, D, E\" for entry names\n\
                  empty publisher in names\n\
                  empty year in names\n\
                  empty publisher in knuth\n\
                  empty year in knuth\n";
    assert_eq!(told(&remarks), wanted);
    assert_eq!(remarks[5].about, About::MissingEntry("gone".to_owned()));
    let remarks =
        of_bibtex(b"Warning--entry type for \"a\" isn't style-file defined\n--line 3 of file refs.bib\n");
    assert_eq!(told(&remarks), "refs.bib:3: entry type for \"a\" isn't style-file defined\n");
}

#[test]
fn files_that_bibtex_lacks_are_named_and_nothing_cited_is_no_error() {
    let remarks = of_bibtex(include_bytes!("remarks/bibtex-files.txt"));
    let files = ["nofile.bib", "nostyle.bst"].map(|name| About::MissingFile(name.to_owned()));
    assert_eq!([&remarks[0].about, &remarks[1].about], [&files[0], &files[1]]);
    assert_eq!(remarks[0].to_string(), "File 'nofile.bib' not found");
    let remarks = of_bibtex(include_bytes!("remarks/bibtex-nothing.txt"));
    assert_eq!(told(&remarks), "BibTeX found no \\citation commands\n");
}

#[test]
fn biber_is_reported_in_the_places_of_the_author() {
    let remarks = of_biber(include_bytes!("remarks/biber.txt"));
    let wanted = "! Name \"A, B, C, D, E\" has too many commas, skipping entry 'names'\n\
                  ! refs.bib:6: syntax error: found \"year\", expected end of entry (\"}\" or \")\")\n\
                  ! refs.bib:8: syntax error: found \"}\", expected \"=\"\n\
                  ! refs.bib:9: error: unbalanced braces: too many }'s\n\
                  ! File 'nofile.bib' not found\n\
                  ! 'http://127.0.0.1:9/x.bib' is not fetched, for documents reach no network; put the file beside the \
                  template, in one archive\n\
                  Duplicate entry key: 'knuth' in file 'refs.bib'\n\
                  no database has the entry 'gone'\n\
                  biber didn't find a database entry for crossref 'nothere' in entry 'knuth'\n";
    assert_eq!(told(&remarks), wanted);
    let keys: Vec<_> =
        remarks.iter().filter(|remark| matches!(remark.about, About::MissingEntry(_))).collect();
    assert_eq!(keys.len(), 1, "{keys:?}");
}

#[test]
fn makeindex_names_the_entry() {
    let wanted = "! bad.ist:1: Unknown specifier foo\n\
                  ! book.idx:1: Incomplete first argument (premature LFD)\n\
                  ! book.idx:5: Illegal Roman number: position 2 in x1\n\
                  book.idx:2: Conflicting entries: multiple encaps for the same page under same key\n\
                  book.idx:4: Unmatched range opening operator (\n";
    assert_eq!(told(&of_makeindex(include_bytes!("remarks/makeindex.txt"))), wanted);
    let remarks = of_makeindex(b"Index style file nope.ist not found.\nUsage: makeindex [-ilqrcgLT]\n");
    assert_eq!(remarks[0].about, About::MissingFile("nope.ist".to_owned()));
}

/// A document may have them print what it likes, in files and names of its own.
#[test]
fn hostile_words_are_bounded_and_clean() {
    let pieces = [
        "Warning--",
        "\n",
        "---line ",
        "9 of file ",
        "a.bib",
        "while executing---",
        "A bad cross reference---",
        "Sorry---",
        "ERROR - BibTeX subsystem: ",
        ", line 3, ",
        "INFO - Found BibTeX data source 'x",
        "WARN - Cannot find '",
        "'",
        "!! ",
        "## Warning",
        "line = ",
        "   -- ",
        "\u{7}",
        "\u{feff}é",
        "99999999999999999999",
        "\"",
    ];
    let mut text = String::new();
    for step in 0..40_000_usize {
        text.push_str(pieces[(step * step / 7 + step * 31) % pieces.len()]);
    }
    for read in [of_bibtex, of_biber, of_makeindex] {
        let remarks = read(text.as_bytes());
        assert!(remarks.len() <= 50);
        for remark in &remarks {
            let said = remark.to_string();
            assert!(said.chars().count() <= 1000 && !said.contains(char::is_control), "{said}");
        }
        assert_eq!(read(b""), []);
    }
}
