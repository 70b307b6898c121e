//! What poppler's programs read out of a PDF.

use std::fs;
use std::process::Command;

/// The text, page by page, in the order in which it was written: where it stands has no effect on it.
pub fn text(pdf: &[u8]) -> String {
    let pages = run("pdftotext", &["-raw"], pdf, &["-"]);
    let pages = pages.trim_end_matches('\u{c}').split('\u{c}').enumerate();
    pages.map(|(index, text)| format!("=== page {}\n{}\n", index + 1, tidied(text))).collect()
}

/// The number of pages.
pub fn pages(pdf: &[u8]) -> u32 {
    let information = run("pdfinfo", &[], pdf, &[]);
    let line = information.lines().find_map(|line| line.strip_prefix("Pages:"));
    line.unwrap().trim().parse().unwrap()
}

/// A font that is not in the file is another one on the next machine.
pub fn assert_fonts_embedded(pdf: &[u8], name: &str) {
    let table = run("pdffonts", &[], pdf, &[]);
    let fonts: Vec<&str> = table.lines().skip(2).collect();
    assert!(!fonts.is_empty(), "{name} has no fonts");
    for font in fonts {
        // Embedded, a subset, with a table of letters; then the two numbers of the object. Names may have spaces.
        let embedded = font.split_whitespace().nth_back(4);
        assert_eq!(embedded, Some("yes"), "{name}: a font is not embedded:\n{table}");
    }
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
