//! The document that is measured: the sample invoice, one page, no script. The floor prints the very page
//! that the service assembles of it.

use std::io;
use std::process::Command;
use std::sync::OnceLock;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/samples/invoice");

/// The template, in EJS.
pub fn template() -> io::Result<String> {
    std::fs::read_to_string(format!("{FOLDER}/index.html"))
}

/// The data, as JSON text.
pub fn data() -> io::Result<String> {
    std::fs::read_to_string(format!("{FOLDER}/data.json"))
}

/// The page, assembled once by the program itself; empty, and so refused by whoever prints it, when that
/// fails.
pub fn page() -> &'static str {
    static PAGE: OnceLock<String> = OnceLock::new();
    PAGE.get_or_init(|| {
        assemble().unwrap_or_else(|error| {
            println!("the invoice is not assembled: {error}");
            String::new()
        })
    })
}

fn assemble() -> io::Result<String> {
    let folder = tempfile::tempdir()?;
    let page = folder.path().join("invoice.html");
    let output = Command::new(env!("CARGO_BIN_EXE_platen"))
        .args(["render", &format!("{FOLDER}/index.html"), "--type", "ejs"])
        .args(["--data", &format!("{FOLDER}/data.json"), "--output"])
        .arg(&page)
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    std::fs::read_to_string(page)
}
