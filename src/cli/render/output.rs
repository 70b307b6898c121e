//! Where the document goes, and the target that follows from its name.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::file_or_stdio::FileOrStdio;
use super::super::print_to_stderr;
use super::{CommandError, RenderArguments};
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::{FileKind, Target, TemplateKind};
use crate::engines::catalog::Catalog;

/// Opens a file with the desktop's program for it.
const OPENER: &str = "xdg-open";

/// The target: by `--target`, by the output's extension (both must agree), else a PDF.
pub(super) fn target(
    arguments: &RenderArguments,
    kind: TemplateKind,
    catalog: &Catalog,
) -> Result<Target, CommandError> {
    let possible = || {
        let is_possible = |target: &Target| catalog.plan(kind, *target, &PageOptions::default()).is_ok();
        let targets = Target::ALL.into_iter().filter(is_possible).map(shown);
        format!("{} becomes {}", kind.name(), targets.collect::<Vec<_>>().join(", "))
    };
    let extension = arguments.output.as_ref().and_then(FileOrStdio::extension);
    let by_extension = extension.as_deref().and_then(target_named);
    if let Some(name) = arguments.target.as_deref() {
        let target = target_named(name);
        let target = target.ok_or_else(|| format!("--target {name} is unknown; {}", possible()))?;
        return match (by_extension, &arguments.output) {
            (Some(other), Some(output)) if other != target => {
                Err(format!("--target {name}, but -o {output} is a {}; let one of them go", other.name())
                    .into())
            }
            _ => Ok(target),
        };
    }
    let Some(output) = &arguments.output else { return Ok(Target::Pdf) };
    let remedy = match extension.as_deref() {
        Some("zip") => "needs --target, png or jpg: several pictures come as a zip archive",
        Some(_) => "has no extension of a document that can be made; give it another one, or --target",
        None if *output == FileOrStdio::Stream => "needs --target",
        None => "needs an extension, or --target",
    };
    by_extension.ok_or_else(|| format!("-o {output} {remedy}; {}", possible()).into())
}

/// The target with this name, extension or alias.
fn target_named(name: &str) -> Option<Target> {
    if name.eq_ignore_ascii_case("htm") { Some(Target::Html) } else { Target::from_name(name) }
}

fn shown(target: Target) -> &'static str {
    if target == Target::Jpg { "jpg (or jpeg)" } else { target.name() }
}

/// Checks the output before the render, whose result would otherwise be lost.
pub(super) fn check(arguments: &RenderArguments, target: Target) -> Result<(), CommandError> {
    let Some(output) = &arguments.output else { return own_name(&arguments.file, target.file()).map(drop) };
    output.check(target == Target::Html)?;
    if arguments.open && *output == FileOrStdio::Stream {
        return Err("--open shows a file; give -o FILE".into());
    }
    match (&arguments.file, output) {
        (FileOrStdio::File(template), FileOrStdio::File(output)) if is_same(template, output) => {
            Err(format!("-o {} is the template itself; name another file", output.display()).into())
        }
        _ => Ok(()),
    }
}

/// Whether both exist and are one file.
fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Where a document of this kind goes: to `--output`, else into the working folder under the template's name.
///
/// # Errors
/// When the extension does not fit (several pictures are an archive), or the template itself would be overwritten.
pub(super) fn destination(arguments: &RenderArguments, made: FileKind) -> Result<FileOrStdio, CommandError> {
    let Some(output) = &arguments.output else { return own_name(&arguments.file, made) };
    check_extension(output, made)?;
    Ok(output.clone())
}

/// The template's name with the document's extension, in the working folder.
fn own_name(file: &FileOrStdio, made: FileKind) -> Result<FileOrStdio, CommandError> {
    let FileOrStdio::File(path) = file else {
        return Err("stdin has no name that the document could have; give -o FILE, or -o - for stdout".into());
    };
    let named: PathBuf = if path.file_name().is_some() { path.clone() } else { path.canonicalize()? };
    let stem = if path.is_dir() { named.file_name() } else { named.file_stem() };
    let stem = stem.ok_or("the folder has no name that the document could have; give -o FILE")?;
    let output = PathBuf::from(format!("{}.{}", stem.to_string_lossy(), made.name()));
    if is_same(path, &output) {
        return Err(format!("{} is the template itself; give -o FILE", output.display()).into());
    }
    Ok(FileOrStdio::File(output))
}

/// Checked after the render: only then it is known how many pages there are, and so whether their pictures are an archive.
fn check_extension(output: &FileOrStdio, made: FileKind) -> Result<(), CommandError> {
    let file = |extension: String| match target_named(&extension) {
        Some(target) => Some(target.file()),
        None => FileKind::from_name(&extension),
    };
    let meant = output.extension().and_then(file);
    let Some(meant) = meant.filter(|meant| *meant != made) else { return Ok(()) };
    let meant = meant.name();
    let message = if made == FileKind::Zip {
        format!(
            "several pictures were made, in a zip archive, and -o {output} says {meant}; give -o NAME.zip --target {meant}, \
             or ask for one page (formatOpts.page)"
        )
    } else {
        let made = made.name();
        format!("{made} was made, and -o {output} says {meant}; give -o NAME.{made}")
    };
    Err(message.into())
}

/// Opens the document with the desktop's program for it. A failure is only a warning: the document is written.
pub(super) fn open(path: &Path) {
    // Absolute, so that a file name with a leading dash is not read as an option.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let opener = Command::new(OPENER).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).status();
    match opener {
        Ok(status) if status.success() => {}
        Ok(status) => print_to_stderr(&format!("--open: {OPENER} ended with {status}")),
        Err(error) => {
            print_to_stderr(&format!(
                "--open: {OPENER} cannot be started ({error}); it comes with xdg-utils"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_recognized_through_links_and_other_paths() {
        let folder = tempfile::tempdir().unwrap();
        let [template, other, link] = ["a.docx", "b.docx", "c.docx"].map(|name| folder.path().join(name));
        std::fs::write(&template, "").unwrap();
        assert!(!is_same(&template, &other));
        std::fs::write(&other, "").unwrap();
        assert!(!is_same(&template, &other));
        std::os::unix::fs::symlink("a.docx", &link).unwrap();
        assert!(is_same(&template, &link) && is_same(&template, &folder.path().join("./a.docx")));
    }

    #[test]
    fn the_extension_of_the_output_must_fit_the_document() {
        let checked = |output: &str, made| {
            check_extension(&output.parse().unwrap(), made).map_err(|error| error.to_string())
        };
        for (output, made) in [
            ("a.png", FileKind::Png),
            ("a.ZIP", FileKind::Zip),
            ("a.jpeg", FileKind::Jpg),
            ("a", FileKind::Zip),
            ("-", FileKind::Zip),
        ] {
            assert_eq!(checked(output, made), Ok(()), "{output}");
        }
        let archive = checked("d.png", FileKind::Zip).unwrap_err();
        assert!(
            archive.contains("in a zip archive") && archive.contains("NAME.zip --target png"),
            "{archive}"
        );
        assert!(checked("d.zip", FileKind::Png).unwrap_err().ends_with("give -o NAME.png"));
        assert!(checked("d.jpeg", FileKind::Png).unwrap_err().ends_with("give -o NAME.png"));
    }
}
