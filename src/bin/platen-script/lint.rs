//! Looks through a template of which nothing runs: its tags, the names that its expressions read, its faults.

use std::borrow::Cow;

use javascriptcore6::Value;
use javascriptcore6::glib::Bytes;
use office_template::{Delimiters, Error, Outline, Template};
use platen::workers::fill::FillLimits;
use platen::workers::lint::{LintFault, LintJob, LintReport, LintTag, Linted, Place};
use serde::Deserialize;
use serde_json::json;

use crate::ejs::{Engine, REFUSED};
use crate::file::{File, no_text};
use crate::machine::{Machine, Thrown};
use crate::memory::Memory;
use crate::office::{Asking, limits};
use crate::serve::bounded;

const ACORN: &str = include_str!(concat!(env!("OUT_DIR"), "/acorn.js"));
const SYNTAX: &str = include_str!("../../../assets/syntax.js");
const VARIABLES: &str = include_str!("../../../assets/variables.js");
const LINT: &str = include_str!("../../../assets/lint.js");

/// Does the job in a machine in which no template's code has run; the second is the report. An error is one of the pipe.
pub fn lint(
    engine: &Engine,
    memory: &Memory,
    (job, body): (&LintJob<'_>, Vec<u8>),
) -> Result<(Linted, String), String> {
    let found = match job {
        LintJob::Page { entry, files } => page(engine, (entry, files), body)?,
        LintJob::Office { delimiters, limits } => {
            office(&engine.machine, (delimiters.as_ref(), limits), body)
        }
    };
    Ok(match found {
        Ok(report) => (Linted::Report, report),
        Err(Fault::Told(linted)) => (linted, String::new()),
        Err(Fault::Engine(Thrown(why))) if why.contains(REFUSED) && memory.is_short() => {
            (Linted::OutOfMemory, String::new())
        }
        Err(Fault::Engine(Thrown(why))) => (Linted::Broken(bounded(why)), String::new()),
    })
}

/// Why there is no report.
enum Fault {
    Told(Linted),
    Engine(Thrown),
}

impl From<Thrown> for Fault {
    fn from(thrown: Thrown) -> Self {
        Self::Engine(thrown)
    }
}

/// The report of a page. The outer error is one of the pipe.
fn page(
    engine: &Engine,
    (entry, files): (&str, &[Cow<'_, str>]),
    body: Vec<u8>,
) -> Result<Result<String, Fault>, String> {
    if let Some(sentence) = no_text(entry, &body) {
        return Ok(Err(Fault::Told(Linted::NotText(sentence))));
    }
    let order = json!({ "entry": entry, "files": files, "depth": 1, "limit": 1, "timezone": "UTC" });
    let entry_file = File::of_text(entry, body);
    if let Err(thrown) = engine.begin(order.to_string()).and_then(|()| engine.give(&entry_file)) {
        return Ok(Err(thrown.into()));
    }
    if let Err(thrown) = engine.give_mentioned(&mut vec![entry_file])? {
        return Ok(Err(thrown.into()));
    }
    Ok(report(engine, entry).map_err(Fault::from))
}

fn report(engine: &Engine, entry: &str) -> Result<String, Thrown> {
    let machine = &engine.machine;
    let lint = functions(machine, engine.renderer()?.clone())?;
    machine.text_of(&Machine::member(&lint, "page")?, &[machine.word(&format!("/{entry}"))])
}

/// What a template's expressions read.
#[derive(Deserialize)]
struct Told {
    variables: Option<Vec<String>>,
    untold: Option<String>,
}

/// A delimiter pair as it came with the order.
type Pair<'a> = (Cow<'a, str>, Cow<'a, str>);

/// The report of an Office file.
fn office(
    machine: &Machine,
    (delimiters, given): (Option<&Pair<'_>>, &FillLimits),
    file: Vec<u8>,
) -> Result<String, Fault> {
    let delimiters =
        delimiters.map(|(start, end)| Delimiters { start: start.to_string(), end: end.to_string() });
    let outline = Template::outline(file, delimiters, &limits(given), &mut Asking).map_err(unreadable)?;
    let Outline { tags, more, steps, faults, warnings } = outline;
    let lint = functions(machine, machine.undefined())?;
    let steps = machine.text(&Bytes::from_owned(steps));
    let told = machine.text_of(&Machine::member(&lint, "tags")?, &[steps])?;
    let told: Told = serde_json::from_str(&told).map_err(|error| Thrown(error.to_string()))?;
    let tags = tags.into_iter().map(|tag| LintTag {
        place: Place::Paragraph { part: tag.part, paragraph: tag.paragraph },
        kind: tag.kind.to_owned(),
        tag: tag.shown,
    });
    let more_faults = faults.count.saturating_sub(faults.first.len());
    let faults = faults.first.into_iter().map(|fault| LintFault {
        place: Place::Paragraph { part: fault.part, paragraph: fault.paragraph },
        tag: fault.tag,
        message: fault.message,
    });
    let report = LintReport {
        tags: tags.collect(),
        more_tags: more,
        variables: told.variables,
        untold: told.untold,
        faults: faults.collect(),
        more_faults,
        warnings,
    };
    Ok(serde_json::to_string(&report).map_err(|error| Thrown(error.to_string()))?)
}

fn unreadable(error: Error) -> Fault {
    Fault::Told(match error {
        Error::NotOffice(sentence) => Linted::NotOffice(sentence),
        Error::Limit(sentence) => Linted::Limit(sentence),
        Error::Delimiters(sentence) => Linted::BadOptions(sentence),
        Error::Tags(faults) => Linted::Broken(bounded(faults.to_string())),
        Error::Answer(sentence) => Linted::Broken(sentence),
    })
}

/// What `lint.js` makes.
fn functions(machine: &Machine, renderer: Value) -> Result<Value, Thrown> {
    let module = machine.object(&[("exports", machine.object(&[])?)])?;
    let exports = Machine::member(&module, "exports")?;
    let load = machine.evaluate(&format!("(function (module, exports) {{{ACORN}\n}})"), "acorn")?;
    machine.call(&load, &[module, exports.clone()])?;
    let syntax = machine.call(&machine.evaluate(SYNTAX, "syntax")?, &[exports])?;
    let variables = machine.call(&machine.evaluate(VARIABLES, "variables")?, &[syntax])?;
    machine.call(&machine.evaluate(LINT, "lint")?, &[renderer, variables])
}
