//! `platen lint`: the tags, the variables and the faults of a template, without a server and without data.

mod missing;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::folder;
use super::place::Place;
use super::{CommandError, complain, say};
use crate::config::Config;
use crate::domain::encoding;
use crate::domain::format_opts::Delimiters;
use crate::domain::ids::AccountId;
use crate::domain::letters::spelled;
use crate::domain::site::{Files, Site};
use crate::engines::lint::Linter;
use crate::engines::script::TemplateCodePool;
use crate::slots::AccountShare;
use crate::telemetry::{self, metrics::Metrics};
use crate::templates::package::Package;
use crate::workers::Starter;
use crate::workers::lint::{LintReport, Place as Spot};

/// Arguments of `platen lint`. Of FILE and --data one may be `-`, for stdin.
#[derive(Debug, Args)]
pub struct LintArguments {
    /// The template: a page, a file of LaTeX, an Office file, a zip archive, a folder
    #[arg(value_name = "FILE")]
    file: Place,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
    /// JSON data; variables that it lacks are told
    #[arg(long, value_name = "FILE")]
    data: Option<Place>,
    /// What the tags of an Office file begin and end with
    #[arg(long, num_args = 2, value_names = ["START", "END"], allow_hyphen_values = true)]
    delimiters: Option<Vec<String>>,
}

/// What is printed.
#[derive(Serialize)]
struct Told<'a> {
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
    if arguments.file == Place::Stream && arguments.data == Some(Place::Stream) {
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
    let report = judged(report, data.as_ref());
    let lacks = |data: &Value| {
        let variables = report.variables.iter().flatten().map(String::as_str);
        variables.filter(|path| missing::lacks(data, path, kind.is_office())).collect()
    };
    let missing = data.as_ref().map(lacks);
    let told = Told { r#type: kind.name(), report: &report, missing };
    if arguments.json {
        say(&serde_json::to_string_pretty(&told)?)?;
    } else {
        report.warnings.iter().for_each(|warning| complain(&format!("warning: {}", harmless(warning))));
        say(text(&told)?.trim_end())?;
    }
    Ok(if report.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The report with the tags that are no expressions among its faults, where there are data and these have no such name.
fn judged(mut report: LintReport, data: Option<&Value>) -> LintReport {
    let names = std::mem::take(&mut report.names);
    if let Some(data) = data {
        let lacking = names.into_iter().filter(|name| missing::lacks(data, &name.path, true));
        report.faults.extend(lacking.map(|name| name.fault));
    }
    report
}

fn read_data(data: &Place, config: &Config) -> Result<Value, CommandError> {
    let bytes = encoding::unmarked(data.read(config.http.upload_limit_bytes)?);
    let value = serde_json::from_slice(&bytes);
    value.map_err(|error| format!("--data {data} is not valid JSON: {error}").into())
}

fn delimiters(arguments: &LintArguments) -> Option<Delimiters> {
    let [start, end] = arguments.delimiters.as_deref()? else { return None };
    Some(Delimiters { start: start.clone(), end: end.clone() })
}

/// The template's files, as an upload of them would be read.
fn package(file: &Place, config: &Config) -> Result<Package, CommandError> {
    let limits = &config.templates;
    match file {
        Place::File(path) if path.is_dir() => Ok(Package::of_files(folder::files(path, limits)?, limits)?),
        Place::File(path) => {
            Ok(named(Package::read(&file.read(config.http.upload_limit_bytes)?, limits)?, path))
        }
        Place::Stream => Ok(Package::read(&file.read(config.http.upload_limit_bytes)?, limits)?),
    }
}

/// A template that is one file, under the file's own name.
fn named(package: Package, path: &Path) -> Package {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_archive = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
    let Some(name) = name.filter(|_| !is_archive && package.files.len() == 1) else { return package };
    let files: Files = package.files.into_values().map(|content| (name.to_owned(), content)).collect();
    Package { entry: name.to_owned(), kind: package.kind, files }
}

/// For people.
fn text(told: &Told<'_>) -> Result<String, std::fmt::Error> {
    let Told { report, missing, .. } = told;
    let mut text = String::new();
    let places: Vec<String> = report.tags.iter().map(|tag| shown(&tag.place)).collect();
    let width = places.iter().map(String::len).max().unwrap_or_default();
    writeln!(text, "tags")?;
    for (place, tag) in places.iter().zip(&report.tags) {
        writeln!(text, "  {place:width$}  {:9}  {}", tag.kind, one_line(&tag.tag))?;
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
    for fault in &report.faults {
        let tag = if fault.tag.is_empty() { String::new() } else { format!(", {}", one_line(&fault.tag)) };
        writeln!(text, "  {}{tag}: {}", shown(&fault.place), harmless(&fault.message))?;
    }
    more(&mut text, report.faults.len(), report.more_faults)?;
    Ok(text)
}

fn list<'a>(text: &mut String, lines: impl Iterator<Item = &'a str>) -> std::fmt::Result {
    let mut count = 0;
    for line in lines {
        writeln!(text, "  {}", harmless(line))?;
        count += 1;
    }
    more(text, count, 0)
}

/// What ends a list: how many there are beside those it has, or that there are none.
fn more(text: &mut String, listed: usize, beside: usize) -> std::fmt::Result {
    match (listed, beside) {
        (0, 0) => writeln!(text, "  none"),
        (_, 0) => Ok(()),
        (_, beside) => writeln!(text, "  and {beside} more"),
    }
}

fn shown(place: &Spot) -> String {
    match place {
        Spot::Line { file, line } => format!("{}:{line}", harmless(file)),
        Spot::Paragraph { part, paragraph } => format!("{}, paragraph {paragraph}", harmless(part)),
    }
}

fn one_line(tag: &str) -> String {
    harmless(&tag.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The template's words are a stranger's: a control letter would command the terminal.
fn harmless(text: &str) -> String {
    text.chars().map(spelled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::lint::{LintFault, LintName, LintTag};

    fn fault(message: &str) -> LintFault {
        let place = Spot::Line { file: "a\u{1b}]0;x\u{7}.html".to_owned(), line: 1 };
        LintFault { place, tag: "<%=\u{9b}31m%>".to_owned(), message: message.to_owned() }
    }

    #[test]
    fn no_word_of_a_template_commands_the_terminal() {
        let report = LintReport {
            tags: vec![LintTag {
                place: fault("").place,
                kind: "value".to_owned(),
                tag: "<%= \u{1b}[2J %>".to_owned(),
            }],
            variables: Some(vec!["a[\"\u{202e}\"]".to_owned()]),
            faults: vec![fault("what \u{1b}[31m")],
            ..LintReport::default()
        };
        let text = text(&Told { r#type: "html", report: &report, missing: None }).unwrap();
        assert!(text.contains("<%= \\u{1b}[2J %>") && text.contains("what \\u{1b}[31m"), "{text}");
        assert!(
            !text
                .contains(|letter: char| letter != '\n' && crate::domain::letters::spelled(letter).len() > 4),
            "{text:?}"
        );
    }

    #[test]
    fn a_name_that_is_no_expression_is_a_fault_where_the_data_have_none() {
        let name = |path: &str| LintName { path: path.to_owned(), fault: fault(path) };
        let report =
            LintReport { names: vec![name("First Name"), name("Last Name")], ..LintReport::default() };
        let data = serde_json::json!({"First Name": "A"});
        let told = judged(report.clone(), Some(&data));
        assert_eq!(told.faults, [fault("Last Name")]);
        assert!(judged(report, None).faults.is_empty());
    }

    #[test]
    fn people_read_places_in_a_column_and_every_list_says_when_it_is_empty() {
        let line = |line| Spot::Line { file: "index.html".to_owned(), line };
        let tag = |at, tag: &str| LintTag { place: line(at), kind: "value".to_owned(), tag: tag.to_owned() };
        let mut report = LintReport {
            tags: vec![tag(1, "<%= a %>"), tag(10, "<%=\n b %>")],
            more_tags: 3,
            variables: Some(vec!["a".to_owned(), "b".to_owned()]),
            ..LintReport::default()
        };
        let told = Told { r#type: "html", report: &report, missing: Some(vec!["b"]) };
        assert_eq!(
            text(&told).unwrap(),
            "tags\n  index.html:1   value      <%= a %>\n  index.html:10  value      <%= b %>\n  and 3 more\n\n\
             variables\n  a\n  b\n\nmissing in the data\n  b\n\nfaults\n  none\n"
        );
        report.faults =
            vec![LintFault { place: line(2), tag: String::new(), message: "'{' is never closed".to_owned() }];
        (report.variables, report.untold) = (None, Some("it has a fault".to_owned()));
        let told = Told { r#type: "html", report: &report, missing: None };
        let text = text(&told).unwrap();
        assert!(text.ends_with(
            "variables\n  unknown: it has a fault\n\nfaults\n  index.html:2: '{' is never closed\n"
        ));
        let json = serde_json::to_value(&told).unwrap();
        assert_eq!((&json["faults"][0]["line"], &json["variables"]), (&Value::from(2), &Value::Null));
        assert_eq!((&json["type"], &json["moreTags"]), (&Value::from("html"), &Value::from(3)));
    }
}
