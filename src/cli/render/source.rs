//! What is rendered: the template with the files that belong to it, and what kind it is.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::super::complain;
use super::super::folder;
use super::super::place::Place;
use super::beside::{self, Beside};
use super::{CommandError, RenderArguments};
use crate::config::Config;
use crate::domain::kinds::TemplateKind;
use crate::domain::office_format::OfficeFormat;
use crate::templates::package::Package;

/// A template as it would be uploaded.
pub(super) struct Source {
    pub kind: TemplateKind,
    pub template: Bytes,
}

/// Reads the template: a folder as the archive of it, a page or a LaTeX source with the files beside it that it names.
pub(super) fn read(arguments: &RenderArguments, config: &Config) -> Result<Source, CommandError> {
    let (file, limits) = (&arguments.file, &config.templates);
    let given = arguments.kind.as_deref().map(kind_named).transpose()?;
    if let Some(path) = folder_of(file) {
        let files = folder::files(path, limits)?;
        if files.is_empty() {
            let path = path.display();
            return Err(format!(
                "the folder {path} has no files; put index.html there, and what belongs to it"
            )
            .into());
        }
        let package = Package::of_files(files, limits)?;
        return Ok(Source { kind: given.unwrap_or(package.kind), template: package.pack()? });
    }
    let content = file.read(config.http.upload_limit_bytes)?;
    let kind = match given {
        Some(kind) => kind,
        None => kind_of(file, &content, config)?,
    };
    let template = match file {
        Place::File(path) => with_files_beside(path, kind, content, config)?,
        Place::Stream => content,
    };
    Ok(Source { kind, template })
}

/// The folder that is rendered, if it is one.
pub(super) fn folder_of(file: &Place) -> Option<&PathBuf> {
    match file {
        Place::File(path) => Some(path).filter(|path| path.is_dir()),
        Place::Stream => None,
    }
}

fn kind_named(name: &str) -> Result<TemplateKind, String> {
    TemplateKind::from_name(&name.to_ascii_lowercase())
        .ok_or_else(|| format!("--type {name} is unknown; there are: {}", kinds()))
}

/// What the file is by its extension; what an archive is, its files say.
fn kind_of(file: &Place, content: &Bytes, config: &Config) -> Result<TemplateKind, CommandError> {
    let extension = file.extension().unwrap_or_default();
    match extension.as_str() {
        "html" | "htm" => Ok(TemplateKind::Html),
        "ejs" => Ok(TemplateKind::Ejs),
        "tex" | "ltx" => Ok(TemplateKind::Latex),
        "zip" => Ok(Package::read(content, &config.templates)?.kind),
        other => OfficeFormat::from_extension(other).map(OfficeFormat::kind).ok_or_else(|| {
            let what = if *file == Place::Stream { "stdin has no name".to_owned() } else { format!("'{file}' does") };
            let told = if *file == Place::Stream { "that says what it is" } else { "not say what it is by its extension" };
            format!(
                "{what} {told}; give --type ({}), or a folder or a file that ends with .html, .ejs, .tex, .docx, .xlsx, \
                 .pptx or .zip",
                kinds()
            )
            .into()
        }),
    }
}

fn kinds() -> String {
    TemplateKind::ALL.map(TemplateKind::name).join(", ")
}

/// The page with the files that it names; alone where there are none, or where it is no text.
fn with_files_beside(
    path: &Path,
    kind: TemplateKind,
    content: Bytes,
    config: &Config,
) -> Result<Bytes, CommandError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    // The name that messages have for a page, whatever its file is called.
    let (entry, kind) = match (extension.as_deref(), kind) {
        (Some("html" | "htm"), TemplateKind::Html | TemplateKind::Ejs | TemplateKind::Framework) => {
            ("index.html", kind)
        }
        (Some("ejs"), TemplateKind::Html | TemplateKind::Ejs | TemplateKind::Framework) => {
            ("index.ejs", kind)
        }
        (Some("tex" | "ltx"), TemplateKind::Latex) => ("index.tex", kind),
        _ => return Ok(content),
    };
    let Beside { mut files, mut warnings } = beside::files(path, &content, kind, &config.templates);
    // What would be taken for the page itself, whose name it has there or one that goes before.
    let taken = if entry == "index.ejs" { &["index.html", entry][..] } else { &[entry] };
    for name in taken.iter().filter(|name| files.remove(**name).is_some()) {
        warnings
            .push(format!("{name} is left out: {} has its name in the archive; rename it", path.display()));
    }
    for warning in &warnings {
        complain(&format!("warning: {warning}"));
    }
    if files.is_empty() {
        return Ok(content);
    }
    files.insert(entry.to_owned(), content);
    Ok(Package { entry: entry.to_owned(), kind, files }.pack()?)
}
