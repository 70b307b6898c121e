//! Looks through a template of which nothing runs: its tags, the names that its expressions read, its faults.

use std::borrow::Cow;

use javascriptcore6::Value;
use platen::workers::lint::{LintJob, Linted};
use serde_json::json;

use crate::ejs::{Engine, File, REFUSED, no_text};
use crate::machine::{Machine, Thrown};
use crate::memory::Memory;
use crate::serve::bounded;

const ACORN: &str = include_str!(concat!(env!("OUT_DIR"), "/acorn.js"));
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
        LintJob::Office { .. } => Err(Thrown("Office files are not looked through yet".to_owned()).into()),
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
    let lint = functions(machine, engine.renderer()?)?;
    machine.text_of(&Machine::member(&lint, "page")?, &[machine.word(&format!("/{entry}"))])
}

/// What `lint.js` makes.
fn functions(machine: &Machine, renderer: &Value) -> Result<Value, Thrown> {
    let module = machine.object(&[("exports", machine.object(&[])?)])?;
    let exports = Machine::member(&module, "exports")?;
    let load = machine.evaluate(&format!("(function (module, exports) {{{ACORN}\n}})"), "acorn")?;
    machine.call(&load, &[module, exports.clone()])?;
    let variables = machine.call(&machine.evaluate(VARIABLES, "variables")?, &[exports])?;
    machine.call(&machine.evaluate(LINT, "lint")?, &[renderer.clone(), variables])
}
