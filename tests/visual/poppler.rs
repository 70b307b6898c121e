//! What poppler's programs read out of a PDF.

use std::fs;
use std::process::Command;

/// The text, page by page, in the order in which it was written; its position on the page does not matter.
pub fn text(pdf: &[u8]) -> String {
    let pages = run("pdftotext", &["-raw"], pdf, &["-"]);
    let pages = pages.trim_end_matches('\u{c}').split('\u{c}').enumerate();
    let named = pages.map(|(index, text)| format!("=== page {}\n{}\n", index + 1, tidied(text)));
    named.collect::<Vec<_>>().concat()
}

/// The number of pages.
pub fn pages(pdf: &[u8]) -> u32 {
    let information = run("pdfinfo", &[], pdf, &[]);
    let line = information.lines().find_map(|line| line.strip_prefix("Pages:"));
    line.unwrap().trim().parse().unwrap()
}

/// The lines of fonts that are not in the file: on the next machine they are others. A document has some font.
pub fn fonts_left_out(pdf: &[u8]) -> Vec<String> {
    let table = run("pdffonts", &[], pdf, &[]);
    let fonts: Vec<&str> = table.lines().skip(2).collect();
    assert!(!fonts.is_empty(), "no fonts:\n{table}");
    // Embedded, a subset, with a table of letters; then the two numbers of the object. Names may have spaces.
    let embedded = |font: &&str| font.split_whitespace().nth_back(4) == Some("yes");
    fonts.into_iter().filter(|font| !embedded(font)).map(|font| format!("not embedded: {font}")).collect()
}

/// Lines without blank ones and without spaces around them.
fn tidied(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

fn run(program: &str, options: &[&str], pdf: &[u8], target: &[&str]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, pdf).unwrap();
    let output = Command::new(program).args(options).arg(file.path()).args(target).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}; run scripts/setup"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
