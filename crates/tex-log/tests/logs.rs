//! Real logs: each `.log` of the folder was made of the `.tex` beside it (by `make` there), and its `.report` is what it must tell.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tex_log::{Report, read};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs")
}

/// A report as text: each part a line, and nothing of what is as usual.
fn told(report: &Report) -> String {
    let mut text = String::new();
    for error in &report.errors {
        let _ = writeln!(text, "error {error}");
        let _ = writeln!(text, "    {:?}", error.cause);
        if let Some(file) = &error.own_file {
            let _ = writeln!(text, "    from {file}");
        }
        if error.line.is_some() && !error.line_is_exact {
            let _ = writeln!(text, "    in this line or before it");
        }
        if let Some(excerpt) = &error.excerpt {
            let _ = writeln!(text, "    {}|{}", excerpt.before, excerpt.after);
        }
        if let Some(runaway) = &error.runaway {
            let _ = writeln!(text, "    runaway {runaway}");
        }
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "warning {warning} ({} ×)", warning.times);
    }
    let needs = &report.needs;
    if needs.rerun {
        let _ = writeln!(text, "needs another run");
    }
    for name in &needs.bibliographies {
        let _ = writeln!(text, "needs {name}");
    }
    for name in needs.indexes.iter().chain(&needs.glossaries) {
        let _ = writeln!(text, "needs an index of {name}");
    }
    let _ = match report.pages {
        Some(pages) => writeln!(text, "{pages} pages"),
        None => writeln!(text, "no end"),
    };
    text
}

#[test]
fn logs_of_the_real_programs_are_understood() {
    let mut wrong = String::new();
    let mut count = 0;
    for entry in fs::read_dir(folder()).expect("the folder of logs") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "log") {
            continue;
        }
        count += 1;
        let report = read(&fs::read(&path).expect("a log"));
        let wanted = fs::read_to_string(path.with_extension("report")).unwrap_or_default();
        let found = told(&report);
        if found != wanted {
            let _ = writeln!(wrong, "=== {}\n--- wanted\n{wanted}--- found\n{found}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 30, "{count} logs");
}

/// Where a log was cut (the run was ended from outside), what is before the cut is told as in the whole one.
#[test]
fn a_log_that_was_cut_tells_what_is_in_it() {
    for name in ["nested", "references", "unicode"] {
        let log = fs::read(folder().join(name).with_extension("log")).expect("a log");
        let whole = read(&log);
        for length in (0..log.len()).step_by(7) {
            let part = read(&log[..length]);
            assert!(part.errors.len() <= whole.errors.len(), "{name} cut at {length}");
            // The last one may miss the lines that were cut.
            let before = part.errors.len().saturating_sub(1);
            assert_eq!(part.errors[..before], whole.errors[..before], "{name} cut at {length}");
        }
    }
}
