//! Many documents of LaTeX, well made and ill: nothing of them is left, and formats of preambles keep to their bound.

use std::path::Path;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::json;

use crate::app::{TestApp, descendants};
use crate::latex::document;

/// Preambles, and documents of each.
const PREAMBLES: usize = 5;
const ALIKE: usize = 8;
/// Room for the formats of two.
const FORMATS_MB: u64 = 50;

/// Files below a folder, and their bytes; files that disappear meanwhile are not counted.
fn size(folder: &Path) -> (usize, u64) {
    let Some(entries) = there(std::fs::read_dir(folder)) else { return (0, 0) };
    entries.filter_map(there).fold((0, 0), |(files, bytes), entry| {
        let (more, longer) = match there(entry.file_type()) {
            Some(kind) if kind.is_dir() => size(&entry.path()),
            Some(_) => there(entry.metadata()).map_or((0, 0), |found| (1, found.len())),
            None => (0, 0),
        };
        (files + more, bytes + longer)
    })
}

fn there<T>(found: std::io::Result<T>) -> Option<T> {
    match found {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        found => Some(found.unwrap()),
    }
}

#[actix_web::test]
async fn many_documents_leave_no_file_and_no_process_and_formats_keep_to_their_bound() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::set_permissions(scratch.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut app = TestApp::with(&[
        ("workers.scratch_dir", scratch.path().to_str().unwrap()),
        ("tex.formats_limit_mb", &FORMATS_MB.to_string()),
        // An endless loop meets this limit however busy the machine is.
        ("tex.processor_limit_s", "4"),
    ])
    .await;
    let typeset = async |number: usize| {
        let (body, engine, is_made) = match number % ALIKE {
            3 => ("\\nosuchcommand", "pdflatex", false),
            5 => ("\\input{/etc/passwd}", "lualatex", false),
            6 if number < ALIKE => ("\\def\\a{\\a}\\a", "pdflatex", false),
            7 => ("\\VAR{name}", "xelatex", true),
            _ => ("\\VAR{name}", "pdflatex", true),
        };
        let preamble = format!("\\newcommand\\which{{{}}}", number / ALIKE);
        let data = json!({"name": format!("Ada {number}")});
        let template = document(&preamble, body);
        let (view, pdf) = app.typeset("pdf", template, (data, json!({"engine": engine}))).await;
        assert_eq!(view["success"], json!(is_made), "{number}: {view}");
        if is_made {
            assert!(app.text_of(&pdf).contains(&format!("Ada {number}")), "{number}");
        }
    };
    stream::iter(0..PREAMBLES * ALIKE).map(typeset).buffer_unordered(2).collect::<Vec<_>>().await;
    let is_tex = |pid: u32| {
        let program = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        program.contains("tex") || program.contains("dvipdfm")
    };
    app.until("TeX is gone", async || !descendants(app.pid()).iter().any(|(pid, _)| is_tex(*pid))).await;
    // The lock, the formats of three programs, and those of preambles.
    let own = |extension: &str| {
        let place = std::fs::read_dir(scratch.path()).unwrap().next().unwrap().unwrap().path();
        let names = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|name| name.extension().is_some_and(|it| it == extension)).count()
    };
    app.until("folders of runs are gone", async || size(scratch.path()).0 == 1 + own("fmt")).await;
    let bytes = app.metric_of("platen_tex_format_bytes").await;
    assert!(0 < bytes && bytes <= FORMATS_MB << 20, "{bytes}");
    assert!(own("fmt") <= 3 + 2, "{} formats", own("fmt"));
    assert!(size(scratch.path()).1 < (FORMATS_MB + 100) << 20, "{:?}", size(scratch.path()));
    app.stop();
    assert_eq!(size(scratch.path()).0, 0);
}
