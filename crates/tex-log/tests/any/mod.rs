//! What holds of any log, whoever wrote it: the body of a fuzz target (`fuzz/`), and of tests of this crate.

use tex_log::{Remark, Report, of_biber, of_bibtex, of_makeindex, read};

/// A log makes a report of bounded length, on lines without control characters; the log of another program makes remarks.
pub fn log(log: &[u8]) {
    bounded(&read(log));
    for remarks in [of_biber(log), of_bibtex(log), of_makeindex(log)] {
        bounded_remarks(&remarks);
    }
}

fn bounded(report: &Report) {
    assert!(report.errors.len() <= 20 && report.warnings.len() <= 1_000);
    assert!(report.needs.indexes.len() <= 16 && report.needs.glossaries.len() <= 16);
    for error in &report.errors {
        assert!(error.message.chars().count() <= 1000, "{}", error.message.len());
        bounded_line(&error.to_string());
        let files = [&error.file, &error.own_file, &error.entered, &error.runaway];
        files.into_iter().flatten().for_each(|shown| bounded_line(shown));
    }
    for warning in &report.warnings {
        bounded_line(&warning.to_string());
    }
    report.needs.indexes.iter().chain(&report.needs.glossaries).for_each(|name| bounded_line(name));
}

fn bounded_line(line: &str) {
    assert!(line.chars().count() <= 2000, "{line}");
    assert!(!line.contains(char::is_control), "{line:?}");
}

fn bounded_remarks(remarks: &[Remark]) {
    assert!(remarks.len() <= 50);
    for remark in remarks {
        bounded_line(&remark.to_string());
    }
}
