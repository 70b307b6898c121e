//! A thousand documents through one service: what it holds of memory, files and processes while they come, among them mistakes,
//! loops without an end, and more preambles than there is room for their formats.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::common::clients::at_once;
use crate::common::program::{Program, make_account};
use crate::common::usage::{Stat, engines};
use crate::{PAUSE, count as number_of};

/// Documents of a run, and of one that looks whether it runs.
pub const DOCUMENTS: usize = 1_000;
pub const QUICK: usize = 50;
/// Of a line of the table.
const PORTION: usize = 100;
const CLIENTS: usize = 2;
/// So many that follow each other have one preamble, of so many.
const ALIKE: usize = 10;
const PREAMBLES: usize = 30;
/// Room for seven formats.
const FORMATS_MB: &str = "200";
/// Until a loop is ended: lualatex takes half of it for these packages.
const PROCESSOR_S: &str = "8";
/// A busy machine has longer than that.
const TIMEOUT_MS: &str = "60000";
const WAIT_S: &str = "120";

/// How a document is expected to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Made,
    Mistaken,
    Endless,
}

/// Prints memory, files and processes of the service every hundred documents.
pub fn run(documents: usize) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch)?;
    let settings = [
        ("PLATEN__WORKERS__SCRATCH_DIR", scratch.display().to_string()),
        ("PLATEN__TEX__FORMATS_LIMIT_MB", FORMATS_MB.to_owned()),
        ("PLATEN__TEX__PROCESSOR_LIMIT_S", PROCESSOR_S.to_owned()),
        ("PLATEN__TEX__TIMEOUT_MS", TIMEOUT_MS.to_owned()),
        // The first document of lualatex waits until all fonts are read.
        ("PLATEN__HTTP__WAIT_DEFAULT_S", WAIT_S.to_owned()),
        ("PLATEN__HTTP__WAIT_LIMIT_S", WAIT_S.to_owned()),
    ];
    let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    // Programs may run as users of their own, which must be able to traverse the folders above theirs.
    for folder in [folder.path(), &scratch] {
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    }
    let program = Program::start(folder.path(), make_account(folder.path(), "bench")?, &settings)?;
    println!(
        "| documents | a second | own MiB | open files | processes | files on the disk | MB on the disk | formats made, used, evicted |"
    );
    println!("|{}", "--:|".repeat(8));
    for from in (0..documents).step_by(PORTION.min(documents)) {
        let begun = Instant::now();
        let ask = async |number: usize| make(&program, from + number).await;
        program.runtime.block_on(at_once(CLIENTS, PORTION.min(documents), ask))?;
        let passed = begun.elapsed().as_secs_f64();
        let metrics = program.runtime.block_on(rested(&program))?;
        let count =
            |outcome: &str| figure(&metrics, &format!("platen_tex_formats_total{{outcome=\"{outcome}\"}}"));
        let (files, bytes) = size(&scratch)?;
        println!(
            "| {} | {:.1} | {} | {} | {} | {files} | {} | {}, {}, {} |",
            from + PORTION.min(documents),
            number_of(PORTION.min(documents)) / passed,
            program.memory_mb("VmRSS:"),
            fs::read_dir(format!("/proc/{}/fd", program.id()))?.count(),
            engines(program.id()).len(),
            bytes >> 20,
            count("made"),
            count("used"),
            count("evicted"),
        );
    }
    drop(program);
    let (files, _) = size(&scratch)?;
    println!("\nAfter its end {files} files are left.");
    Ok(())
}

async fn make(program: &Program, number: usize) -> io::Result<()> {
    let end = match number % 50 {
        7 | 27 => End::Mistaken,
        49 => End::Endless,
        _ => End::Made,
    };
    let body = match end {
        End::Made => "Dear <%= name %>, \\qty{<%= number %>}{\\metre}.",
        End::Mistaken => "Dear <%= name %> \\nosuchcommand",
        End::Endless => "\\def\\again{\\again}\\again",
    };
    let preamble = number / ALIKE % PREAMBLES;
    let template = format!(
        "\\documentclass{{article}}\n\\newcommand\\preamble{{{preamble}}}\n\\usepackage{{siunitx,tikz}}\n\
         \\begin{{document}}\n{body}\n\\end{{document}}\n"
    );
    let engine = if number % 25 == 3 { "lualatex" } else { "pdflatex" };
    let body = json!({
        "type": "latex",
        "target": "pdf",
        "template": template,
        "data": {"name": format!("Ada {number}"), "number": number},
        "formatOpts": {"engine": engine},
    });
    let made = program.render(body.to_string()).await;
    if made.as_ref().is_ok_and(|pdf| pdf.starts_with(b"%PDF-")) == (end == End::Made) {
        return Ok(());
    }
    Err(io::Error::other(format!("document {number} did not end as it should: {:?}", made.err())))
}

/// The service's figures once no TeX runs any more: formats are made beside the documents.
async fn rested(program: &Program) -> io::Result<String> {
    let is_tex = |id: u32| {
        let found = Stat::of(id);
        found.is_some_and(|found| found.program.contains("tex"))
    };
    while engines(program.id()).into_iter().any(is_tex) {
        tokio::time::sleep(PAUSE).await;
    }
    program.get("/metrics").await
}

fn figure(metrics: &str, series: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// Files below a folder, and their bytes.
fn size(folder: &Path) -> io::Result<(usize, u64)> {
    let (mut files, mut bytes, mut folders) = (0, 0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                (files, bytes) = (files + 1, bytes + entry.metadata()?.len());
            }
        }
    }
    Ok((files, bytes))
}
