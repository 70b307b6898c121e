//! Fills an Office file: its tags are the program of one machine, and what that answers is written into the file here. Where all tags
//! are names, and nothing of the data is unusual, no machine is needed; it is as it was, and waits for the next job.
//! No template's code asks for a file: what an answer names is asked for when its program is over.

use javascriptcore6::glib::Bytes;
use office_template::{
    self as template, Data, Family, Files, Limit, Limits, Needs, PathLimits, Template, library,
};
use platen::workers::assemble::{Delimiters, FillJob, FillLimits, ScriptError, UnfilledJob, UnfilledTags};
use platen::workers::child::{self, Given, Memory};
use serde_json::json;

use crate::ejs::{LOCALE, OWN_LOCALE};
use crate::error::Failure;
use crate::machine::Machine;

/// The longest name of a file that is asked for: with all its quotes and backslashes escaped, an answer's header has room for it.
const NAME_LIMIT_BYTES: usize = 4 << 10;

/// The zone that every engine knows.
const UTC: &str = "UTC";

/// Fills files.
#[derive(Default)]
pub struct Office {
    /// The locale and the zone of the last job, if the engine knew them. Where it does not, the job fails, whatever its tags are.
    known: Option<(String, String)>,
}

/// A filled file, behind what its author should know of it.
pub type Made = Result<(Vec<String>, Vec<u8>), Failure>;

impl Office {
    /// Fills a file in `machine`, in which no template's code has run, or without it: the second says whether the machine had a
    /// part in it, and no further job may have it.
    pub fn fill(
        &mut self,
        machine: &Machine,
        memory: &Memory,
        (job, mut body): (&FillJob<'_>, Vec<u8>),
    ) -> (Made, bool) {
        let data = body.split_off(job.file_bytes.min(body.len()));
        let mut is_machine_used = false;
        let filled = (|| {
            let delimiters = delimiters(job.delimiters.clone());
            let template = Template::read_beside(body, delimiters, &limits(&job.limits), &mut Asking)?;
            let filled = if template.has_only_paths()
                && self.knows_emulation(job)
                && let most = memory.values_beside(data.len())
                && let Some(data) = Data::read(&data, most)
                && let Some(answers) = template.answers(&data, path_limits(job, most))
            {
                template.fill_paths(&answers, &mut Asking)?
            } else {
                is_machine_used = true;
                let answer = self.run((machine, memory), job, template.program(), Bytes::from_owned(data))?;
                template.fill(&answer, &mut Asking)?
            };
            Ok((filled.warnings, filled.file))
        })();
        (filled, is_machine_used)
    }

    /// Whether the engine would take the job's locale and zone.
    fn knows_emulation(&self, job: &FillJob<'_>) -> bool {
        let is_known = |(locale, zone): &(String, String)| job.locale == *locale && job.timezone == *zone;
        (job.locale == OWN_LOCALE && job.timezone == UTC) || self.known.as_ref().is_some_and(is_known)
    }
}

fn path_limits(job: &FillJob<'_>, answers: usize) -> PathLimits {
    PathLimits { strict: job.strict, items: job.limits.items, answers }
}

/// Takes a file as it is, of which no code runs.
pub fn unfilled(job: &UnfilledJob, body: Vec<u8>) -> Result<(UnfilledTags, Vec<u8>), Failure> {
    let template::Unfilled { file, tags, first, warnings } =
        template::unfilled(body, Family::OpenDocument, &limits(&job.limits))?;
    Ok((UnfilledTags { count: tags, first, warnings }, file))
}

/// Files that the service is asked for. None is kept here: the document knows what it has.
pub struct Asking;

impl Files for Asking {
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        ask(name)
    }
}

/// A pipe that breaks here is broken for the answer, too, and then the child ends.
fn ask(name: &str) -> Result<Vec<u8>, String> {
    if name.len() > NAME_LIMIT_BYTES {
        return Err(format!("the name of a file is longer than {NAME_LIMIT_BYTES} bytes"));
    }
    if name.contains(char::is_control) {
        return Err("the name of a file has a control character in it, as a line's end".to_owned());
    }
    match child::ask(name)? {
        (Given::File { .. }, file) => Ok(file),
        (Given::Refused(why), _) => Err(why),
    }
}

impl Office {
    /// What the program of the tags answers.
    fn run(
        &mut self,
        (machine, memory): (&Machine, &Memory),
        job: &FillJob<'_>,
        program: &str,
        json: Bytes,
    ) -> Result<String, Failure> {
        check_zone(machine, &job.timezone)?;
        // Before the default locale is another one: it formats by the one that it is given.
        let needs = Needs::of(&json);
        let library = machine.evaluate(&library(program, needs), "library")?;
        let parse = machine.evaluate("JSON.parse", "")?;
        let settings = json!({
            "locale": job.locale, "timeZone": job.timezone, "strict": job.strict, "items": job.limits.items,
        });
        let settings = machine.call(&parse, &[machine.word(&settings.to_string())])?;
        if job.locale != OWN_LOCALE {
            let localize = machine.evaluate(LOCALE, "locale")?;
            machine.call(&localize, &[machine.word(&job.locale)])?;
        }
        self.known = Some((job.locale.to_string(), job.timezone.to_string()));
        // Reading numbers as they are written takes several times as long.
        let read = if needs.long_numbers { Machine::member(&library, "read")? } else { parse };
        let data = machine.call(&read, &[machine.text(&json)]);
        let data = data.map_err(|thrown| thrown.explain(memory, ScriptError::Data))?;
        // The engine has its own copy, and the answers are about to take as much.
        drop(json);
        Ok(machine.text_of(&library, &[machine.word(program), data, settings])?)
    }
}

/// The engine would go on with UTC, and every date would be wrong without a word. UTC itself it knows: asking costs a quarter of a
/// small document.
fn check_zone(machine: &Machine, timezone: &str) -> Result<(), Failure> {
    if timezone == UTC {
        return Ok(());
    }
    let check = "(timeZone) => { new Intl.DateTimeFormat('en-US', { timeZone }) }";
    let check = machine.evaluate(check, "zone")?;
    machine.call(&check, &[machine.word(timezone)]).map(drop).map_err(|_| {
        let sentence = format!(
            "the template engine does not know the time zone {timezone}; name an older one of the same time"
        );
        ScriptError::Options(sentence).into()
    })
}

/// The delimiters that came with an order.
pub fn delimiters(given: Delimiters<'_>) -> Option<template::Delimiters> {
    let (start, end) = given?;
    Some(template::Delimiters { start: start.into_owned(), end: end.into_owned() })
}

pub fn limits(given: &FillLimits) -> Limits {
    let limit = |name, value| Limit { value, name };
    Limits {
        entries: limit("templates.archive_entries_limit", given.entries),
        unpacked_bytes: limit("templates.archive_bytes_limit", given.unpacked_bytes),
        ratio: limit("templates.archive_ratio_limit", given.ratio),
        depth: limit("office.depth_limit", given.depth),
        elements: limit("office.elements_limit", given.elements),
        attributes: limit("office.attributes_limit", given.attributes),
        tags: limit("office.tags_limit", given.tags),
        items: limit("office.items_limit", given.items),
        slides: limit("office.slides_limit", given.slides),
        output_bytes: limit("assemble.output_limit_bytes", given.output_bytes),
    }
}
