//! `platen lint`: the tags, variables and faults of a template, without rendering it. Data are optional: then names that they
//! lack are listed too.

mod missing;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::file_or_stdio::FileOrStdio;
use super::folder;
use super::{CommandError, print_to_stderr, print_to_stdout};
use crate::config::Config;
use crate::domain::encoding;
use crate::domain::format_opts::Delimiters;
use crate::domain::ids::AccountId;
use crate::domain::shown::escape_control;
use crate::domain::site::{Files, Site};
use crate::engines::lint::Linter;
use crate::engines::script::TemplateCodePool;
use crate::slots::AccountShare;
use crate::telemetry::{self, metrics::Metrics};
use crate::templates::package::Package;
use crate::workers::Starter;
use crate::workers::lint::{LintReport, SourceLocation};

/// Arguments of `platen lint`. Of FILE and --data one may be `-`, for stdin.
#[derive(Debug, Args)]
pub struct LintArguments {
    /// The template: a page, a file of LaTeX, an Office file, a zip archive, a folder
    #[arg(value_name = "FILE")]
    file: FileOrStdio,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
    /// JSON data; variables that it lacks are told
    #[arg(long, value_name = "FILE")]
    data: Option<FileOrStdio>,
    /// What the tags of an Office file begin and end with
    #[arg(long, num_args = 2, value_names = ["START", "END"], allow_hyphen_values = true)]
    delimiters: Option<Vec<String>>,
}

/// What is printed.
#[derive(Serialize)]
struct LintOutput<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    report: &'a LintReport,
    /// The variables that the data lack, where there are data.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<&'a str>>,
}

/// Prints what is in the template; fails where it has faults.
///
/// # Errors
/// When the template or the data cannot be read, or there is no engine for its kind.
pub fn run(config: &Config, arguments: &LintArguments) -> Result<ExitCode, CommandError> {
    telemetry::install(&config.log.of_command());
    if arguments.file == FileOrStdio::Stream && arguments.data == Some(FileOrStdio::Stream) {
        return Err("stdin can be read once: of FILE and --data one may be '-'".into());
    }
    let data = arguments.data.as_ref().map(|data| read_data(data, config)).transpose()?;
    let package = package(&arguments.file, config)?;
    let kind = package.kind;
    let site = Site::new(&package.entry, package.files);
    let delimiters = delimiters(arguments);
    let report = actix::System::new().block_on(async {
        let starter = Starter::new(std::env::current_exe()?)?;
        let share = AccountShare::new(config.jobs.running_account_limit);
        let script = TemplateCodePool::new(starter, &config.assemble, share, Metrics::new().children);
        let linter = Linter::new(script, config);
        let report = linter.lint(AccountId::generate(), (kind, &site), delimiters.as_ref()).await?;
        Ok::<_, CommandError>(report)
    })?;
    let lacks = |data: &Value| {
        let variables = report.variables.iter().flatten().map(String::as_str);
        variables.filter(|path| missing::lacks(data, path, kind.is_office())).collect()
    };
    let missing = data.as_ref().map(lacks);
    let output = LintOutput { r#type: kind.name(), report: &report, missing };
    if arguments.json {
        print_to_stdout(&serde_json::to_string_pretty(&output)?)?;
    } else {
        report
            .warnings
            .iter()
            .for_each(|warning| print_to_stderr(&format!("warning: {}", escape_text(warning))));
        print_to_stdout(text(&output)?.trim_end())?;
    }
    Ok(if report.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_data(data: &FileOrStdio, config: &Config) -> Result<Value, CommandError> {
    let bytes = encoding::without_bom(data.read(config.http.upload_limit_bytes)?);
    let value = serde_json::from_slice(&bytes);
    value.map_err(|error| format!("--data {data} is not valid JSON: {error}").into())
}

fn delimiters(arguments: &LintArguments) -> Option<Delimiters> {
    let [start, end] = arguments.delimiters.as_deref()? else { return None };
    Some(Delimiters { start: start.clone(), end: end.clone() })
}

/// The template's files, as an upload of them would be read.
fn package(file: &FileOrStdio, config: &Config) -> Result<Package, CommandError> {
    let limits = &config.templates;
    match file {
        FileOrStdio::File(path) if path.is_dir() => {
            Ok(Package::of_files(folder::files(path, limits)?, limits)?)
        }
        FileOrStdio::File(path) => {
            Ok(named(Package::read(&file.read(config.http.upload_limit_bytes)?, limits)?, path))
        }
        FileOrStdio::Stream => Ok(Package::read(&file.read(config.http.upload_limit_bytes)?, limits)?),
    }
}

/// Gives a package of one file the name of that file, for messages.
fn named(package: Package, path: &Path) -> Package {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_archive = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
    let Some(name) = name.filter(|_| !is_archive && package.files.len() == 1) else { return package };
    let files: Files = package.files.into_values().map(|content| (name.to_owned(), content)).collect();
    Package { entry: name.to_owned(), kind: package.kind, files }
}

/// The output without `--json`.
fn text(output: &LintOutput<'_>) -> Result<String, std::fmt::Error> {
    let LintOutput { report, missing, .. } = output;
    let mut text = String::new();
    let locations: Vec<String> = report.tags.iter().map(|tag| shown(&tag.place)).collect();
    let width = locations.iter().map(String::len).max().unwrap_or_default();
    writeln!(text, "tags")?;
    for (location, tag) in locations.iter().zip(&report.tags) {
        writeln!(text, "  {location:width$}  {:9}  {}", tag.kind, one_line(&tag.tag))?;
    }
    more(&mut text, report.tags.len(), report.more_tags)?;
    writeln!(text, "\nvariables")?;
    match &report.variables {
        Some(variables) => list(&mut text, variables.iter().map(String::as_str))?,
        None => writeln!(text, "  unknown: {}", one_line(report.untold.as_deref().unwrap_or_default()))?,
    }
    if let Some(missing) = missing {
        writeln!(text, "\nmissing in the data")?;
        list(&mut text, missing.iter().copied())?;
    }
    writeln!(text, "\nfaults")?;
    for error in &report.errors {
        let tag = if error.tag.is_empty() { String::new() } else { format!(", {}", one_line(&error.tag)) };
        writeln!(text, "  {}{tag}: {}", shown(&error.place), escape_text(&error.message))?;
    }
    more(&mut text, report.errors.len(), report.more_errors)?;
    Ok(text)
}

fn list<'a>(text: &mut String, lines: impl Iterator<Item = &'a str>) -> std::fmt::Result {
    let mut count = 0;
    for line in lines {
        writeln!(text, "  {}", escape_text(line))?;
        count += 1;
    }
    more(text, count, 0)
}

/// Ends a list with the number of items that are not listed, or with `none` if it is empty.
fn more(text: &mut String, listed: usize, unlisted: usize) -> std::fmt::Result {
    match (listed, unlisted) {
        (0, 0) => writeln!(text, "  none"),
        (_, 0) => Ok(()),
        (_, unlisted) => writeln!(text, "  and {unlisted} more"),
    }
}

fn shown(location: &SourceLocation) -> String {
    match location {
        SourceLocation::Line { file, line } => format!("{}:{line}", escape_text(file)),
        SourceLocation::Paragraph { part, paragraph } => {
            format!("{}, paragraph {paragraph}", escape_text(part))
        }
    }
}

fn one_line(tag: &str) -> String {
    escape_text(&tag.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Escapes control characters: a template may come from a stranger, and escape sequences would command the terminal.
fn escape_text(text: &str) -> String {
    text.chars().map(escape_control).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::lint::{LintError, LintTag};

    fn fault(message: &str) -> LintError {
        let place = SourceLocation::Line { file: "a\u{1b}]0;x\u{7}.html".to_owned(), line: 1 };
        LintError { place, tag: "<%=\u{9b}31m%>".to_owned(), message: message.to_owned() }
    }

    fn tag(tag: &str) -> LintTag {
        LintTag { place: fault("").place, kind: "value".to_owned(), tag: tag.to_owned() }
    }

    #[test]
    fn control_characters_of_a_template_are_escaped() {
        let report = LintReport {
            tags: vec![tag("<%= \u{1b}[2J %>")],
            variables: Some(vec!["a[\"\u{202e}\"]".to_owned()]),
            errors: vec![fault("what \u{1b}[31m")],
            ..LintReport::default()
        };
        let text = text(&LintOutput { r#type: "html", report: &report, missing: None }).unwrap();
        assert!(text.contains("<%= \\u{1b}[2J %>") && text.contains("what \\u{1b}[31m"), "{text}");
        assert!(
            !text.contains(
                |letter: char| letter != '\n' && crate::domain::shown::escape_control(letter).len() > 4
            ),
            "{text:?}"
        );
    }

    #[test]
    fn tags_that_are_not_listed_are_counted_and_variables_are_unknown_for_a_reason() {
        let report = LintReport {
            tags: vec![tag("<%=\n b %>")],
            more_tags: 3,
            untold: Some("it has a fault".to_owned()),
            ..LintReport::default()
        };
        let text = text(&LintOutput { r#type: "html", report: &report, missing: None }).unwrap();
        assert!(
            text.contains("  <%= b %>\n  and 3 more\n\nvariables\n  unknown: it has a fault\n"),
            "{text}"
        );
    }
}
