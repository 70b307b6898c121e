//! Reports a template's tags, the data that its expressions read, and its errors. No template code runs.

use javascriptcore6::Value;
use javascriptcore6::glib::Bytes;
use office_template::{Fault, Outline, Template};
use platen::workers::assemble::{Delimiters, FillLimits, Language, LintJob, ScriptError};
use platen::workers::lint::{LintError, LintReport, LintTag, SourceLocation};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::ejs::ScriptEngine;
use crate::error::Failure;
use crate::expressions;
use crate::file::{File, request_file, utf8_error};
use crate::machine::{Machine, Thrown};
use crate::office::{ServiceFiles, delimiters, limits};

const ACORN: &str = include_str!(concat!(env!("OUT_DIR"), "/acorn.js"));
const PATHS: &str = include_str!("../../../assets/data-paths.js");
const SYNTAX: &str = include_str!("../../../assets/syntax.js");
const WALK: &str = include_str!("../../../assets/walk.js");
const VARIABLES: &str = include_str!("../../../assets/variables.js");
const LINT: &str = include_str!("../../../assets/lint.js");

/// Most errors of expressions that are reported; further ones are only counted.
const ERRORS_LIMIT: usize = 100;

/// The report, as JSON. `engine` must not have run any template code.
pub fn lint(engine: &ScriptEngine, job: LintJob<'_>, body: Vec<u8>) -> Result<String, Failure> {
    match job {
        LintJob::Page { language, entry, files } => page(engine, (language, &entry, &files), body),
        LintJob::Office { delimiters, limits } => office(&engine.machine, (delimiters, &limits), body),
    }
}

/// The report of a page.
fn page(
    engine: &ScriptEngine,
    (language, entry, files): (Language, &str, &RawValue),
    body: Vec<u8>,
) -> Result<String, Failure> {
    if let Some(sentence) = utf8_error(entry, &body) {
        return Err(ScriptError::Template(sentence).into());
    }
    let job = json!({ "entry": entry, "files": files, "depth": 1, "limit": 1, "timezone": "UTC" });
    engine.set_language(language, false)?;
    engine.begin(job.to_string())?;
    engine.give(&File::of_text(entry, body))?;
    let lint = functions(&engine.machine, engine.renderer()?)?;
    let call = |function: &str| -> Result<String, Thrown> {
        let entry = engine.machine.word(&format!("/{entry}"));
        engine.machine.text_of(&Machine::member(&lint, function)?, &[entry])
    };
    loop {
        let wanted: Vec<String> = parsed(&call("wanted")?)?;
        if wanted.is_empty() {
            return Ok(call("page")?);
        }
        for path in wanted {
            engine.give(&request_file(path.trim_start_matches('/').to_owned())?)?;
        }
    }
}

fn parsed<T: DeserializeOwned>(json: &str) -> Result<T, Thrown> {
    serde_json::from_str(json).map_err(|error| Thrown(error.to_string()))
}

/// What `lint.js` reports of an Office file's tags: the data that its expressions read, and their errors.
#[derive(Deserialize)]
struct TagReport {
    variables: Option<Vec<String>>,
    untold: Option<String>,
    warnings: Vec<String>,
    #[serde(rename = "faults")]
    errors: Vec<TagError>,
}

/// An error in a tag, which is named by its number.
#[derive(Deserialize)]
struct TagError {
    tag: usize,
    message: String,
}

/// The report of an Office file.
fn office(
    machine: &Machine,
    (given, bounds): (Delimiters<'_>, &FillLimits),
    file: Vec<u8>,
) -> Result<String, Failure> {
    let outline = Template::outline(file, delimiters(given), &limits(bounds), &mut ServiceFiles)?;
    let Outline { tags, more, steps, faults, mut warnings } = outline;
    let lint = functions(machine, &machine.undefined())?;
    let steps = machine.text(&Bytes::from_owned(steps));
    let report = machine.text_of(&Machine::member(&lint, "tags")?, &[steps])?;
    let report: TagReport = parsed(&report)?;
    let in_tag = |number: usize, message: String| Some(error(tags.get(number)?.fault(&message)));
    let count = faults.count + report.errors.len();
    let of_expressions = report.errors.into_iter().filter_map(|error| in_tag(error.tag, error.message));
    let of_expressions: Vec<_> = of_expressions.take(ERRORS_LIMIT).collect();
    warnings.extend(report.warnings);
    let tags = tags.into_iter().map(|tag| LintTag {
        place: SourceLocation::Paragraph { part: tag.part, paragraph: tag.paragraph },
        kind: tag.kind.to_owned(),
        tag: tag.shown,
    });
    let unreadable = faults.first.into_iter().map(error);
    let errors: Vec<_> = unreadable.chain(of_expressions).collect();
    let report = LintReport {
        tags: tags.collect(),
        more_tags: more,
        variables: report.variables,
        untold: report.untold,
        more_errors: count - errors.len(),
        errors,
        warnings,
    };
    Ok(serde_json::to_string(&report).map_err(|error| Thrown(error.to_string()))?)
}

fn error(fault: Fault) -> LintError {
    let place = SourceLocation::Paragraph { part: fault.part, paragraph: fault.paragraph };
    LintError { place, tag: fault.tag, message: fault.message }
}

/// Loads `lint.js` and what it is built on: its functions.
fn functions(machine: &Machine, renderer: &Value) -> Result<Value, Thrown> {
    let module = machine.object(&[("exports", machine.object(&[])?)])?;
    let exports = Machine::member(&module, "exports")?;
    let load = machine.evaluate(&format!("(function (module, exports) {{{ACORN}\n}})"), "acorn")?;
    machine.call(&load, &[module, exports.clone()])?;
    let make = |source: &str, name: &str, of: &[&Value]| {
        let of: Vec<Value> = of.iter().copied().cloned().collect();
        machine.call(&machine.evaluate(source, name)?, &of)
    };
    let paths = make(PATHS, "data-paths", &[])?;
    let syntax = make(SYNTAX, "syntax", &[&exports, &paths])?;
    let walk = make(WALK, "walk", &[&paths, &syntax])?;
    let tag_faults = expressions::load(machine)?;
    let variables = make(VARIABLES, "variables", &[&paths, &syntax, &walk, &tag_faults])?;
    make(LINT, "lint", &[renderer, &variables, &tag_faults])
}
