//! Reads the template of `platen render`: its kind, and the files that belong to it.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::super::file_or_stdio::FileOrStdio;
use super::super::folder;
use super::super::print_to_stderr;
use super::linked_files::{self, LinkedFiles};
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
        FileOrStdio::File(path) => with_files_beside(path, kind, content, config)?,
        FileOrStdio::Stream => content,
    };
    Ok(Source { kind, template })
}

/// The path if it is a folder.
pub(super) fn folder_of(file: &FileOrStdio) -> Option<&PathBuf> {
    match file {
        FileOrStdio::File(path) => Some(path).filter(|path| path.is_dir()),
        FileOrStdio::Stream => None,
    }
}

fn kind_named(name: &str) -> Result<TemplateKind, String> {
    TemplateKind::from_name(name).ok_or_else(|| format!("--type {name} is unknown; there are: {}", kinds()))
}

/// The kind by the file's extension; of an archive by its files.
fn kind_of(file: &FileOrStdio, content: &Bytes, config: &Config) -> Result<TemplateKind, CommandError> {
    let extension = file.extension().unwrap_or_default();
    match extension.as_str() {
        "html" | "htm" => Ok(TemplateKind::Html),
        "ejs" => Ok(TemplateKind::Ejs),
        "tex" | "ltx" => Ok(TemplateKind::Latex),
        "zip" => Ok(Package::read(content, &config.templates)?.kind),
        other => OfficeFormat::from_extension(other).map(OfficeFormat::kind).ok_or_else(|| {
            let cause = match file {
                FileOrStdio::Stream => "stdin has no name that says what it is".to_owned(),
                FileOrStdio::File(_) => format!("'{file}' does not say what it is by its extension"),
            };
            format!(
                "{cause}; give --type ({}), or a folder or a file that ends with .html, .ejs, .tex, .docx, .xlsx, \
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

/// The page with the files that it names, packed; alone where there are none, or where it is not text.
fn with_files_beside(
    path: &Path,
    kind: TemplateKind,
    content: Bytes,
    config: &Config,
) -> Result<Bytes, CommandError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    // Its name in the archive, whatever the file is called.
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
    let LinkedFiles { mut files, mut warnings } =
        linked_files::files(path, &content, kind, &config.templates);
    // Files beside it that the archive's reader would take for the page: the same name, or one that it looks for first.
    let conflicting = if entry == "index.ejs" { &["index.html", entry][..] } else { &[entry] };
    for name in conflicting.iter().filter(|name| files.remove(**name).is_some()) {
        warnings
            .push(format!("{name} is left out: {} has its name in the archive; rename it", path.display()));
    }
    for warning in &warnings {
        print_to_stderr(&format!("warning: {warning}"));
    }
    if files.is_empty() {
        return Ok(content);
    }
    files.insert(entry.to_owned(), content);
    Ok(Package { entry: entry.to_owned(), kind, files }.pack()?)
}
