//! LibreOffice started for each document: with a profile made anew, as a careful wrapper does, and with the same one.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::Converter;
use super::documents::Document;
use crate::common::usage::Stat;

/// It takes a second and more for each document.
const SLOWNESS: usize = 4;

struct Soffice {
    folder: TempDir,
    is_profile_kept: bool,
}

/// With a profile made for each document.
pub fn cold() -> io::Result<Box<dyn Converter>> {
    start(false)
}

/// With one profile for all documents.
pub fn reused() -> io::Result<Box<dyn Converter>> {
    start(true)
}

fn start(is_profile_kept: bool) -> io::Result<Box<dyn Converter>> {
    Ok(Box::new(Soffice { folder: tempfile::tempdir()?, is_profile_kept }))
}

impl Soffice {
    fn convert_once(&self, document: &Document) -> io::Result<Vec<u8>> {
        let fresh = tempfile::tempdir()?;
        let profile = if self.is_profile_kept { self.folder.path() } else { fresh.path() };
        let input = fresh.path().join(document.name);
        std::fs::write(&input, document.file)?;
        let status = Command::new("soffice")
            .arg("--headless")
            .arg(format!("-env:UserInstallation=file://{}", profile.join("profile").display()))
            .args(["--convert-to", "pdf", "--outdir"])
            .arg(fresh.path())
            .arg(&input)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|error| io::Error::other(format!("soffice: {error}")))?;
        if !status.success() {
            return Err(io::Error::other(format!("soffice: {status}")));
        }
        std::fs::read(Path::new(&input).with_extension("pdf"))
    }
}

impl Converter for Soffice {
    fn name(&self) -> String {
        let profile = if self.is_profile_kept { "the same profile" } else { "a fresh profile" };
        format!("soffice, {profile}")
    }

    fn convert(&mut self, document: &Document, times: usize) -> io::Result<Vec<u8>> {
        let mut made = Vec::new();
        for _ in 0..times {
            made = self.convert_once(document)?;
        }
        Ok(made)
    }

    fn used(&self) -> Duration {
        // All others are started before and end behind this.
        Stat::of(std::process::id()).map(|stat| stat.ended_time()).unwrap_or_default()
    }

    fn slowness(&self) -> usize {
        SLOWNESS
    }
}
