//! Fills an Office file: its tags become one program, which runs in a machine; its answers are written into the file here.
//! Where all tags are plain names and the data is simple, no program runs, and the machine is still fresh for the next job.
//! Template code cannot fetch files: those that an answer names are fetched when the program is over.

use javascriptcore6::glib::Bytes;
use office_template::{
    self as template, Data, Error, Family, Faults, Files, Limit, Limits, Needs, PathLimits, Template, library,
};
use platen::workers::assemble::{Delimiters, FillJob, FillLimits, ScriptError, UnfilledJob, UnfilledTags};
use platen::workers::child::{self, FileReply, Memory};
use serde_json::json;

use crate::error::Failure;
use crate::expressions;
use crate::locale::{OWN_LOCALE, localize};
use crate::machine::Machine;

/// The longest name of a file that is asked for: escaped in JSON it must fit into a frame's header.
const NAME_LIMIT_BYTES: usize = 4 << 10;

/// The zone that every version of the engine knows.
const UTC: &str = "UTC";

#[derive(Default)]
pub struct Office {
    /// Locale and zone of the last job, which the engine accepted. A job with other ones runs in the machine, which checks them:
    /// an unknown zone must fail also where no tag formats a date.
    known: Option<(String, String)>,
}

/// Warnings for the author, and the filled file.
pub type Filled = Result<(Vec<String>, Vec<u8>), Failure>;

impl Office {
    /// Fills a file, and says whether code ran in `machine`, which must be fresh: then no further job may use that.
    pub fn fill(
        &mut self,
        machine: &Machine,
        memory: &Memory,
        (job, mut body): (&FillJob<'_>, Vec<u8>),
    ) -> (Filled, bool) {
        let data = body.split_off(job.file_bytes.min(body.len()));
        let mut is_machine_used = false;
        let filled = (|| {
            let delimiters = delimiters(job.delimiters.clone());
            let read = Template::read_beside(body, delimiters, &limits(&job.limits), &mut ServiceFiles);
            if let Err(Error::Tags(faults)) = read {
                is_machine_used = true;
                return Err(Error::Tags(with_expressions(machine, faults)?).into());
            }
            let template = read?;
            let filled = if template.has_only_paths()
                && self.supports_locale_and_zone(job)
                && let most = memory.values_beside(data.len())
                && let Some(data) = Data::read(&data, most)
                && let Some(answers) = template.answers(&data, path_limits(job, most))
            {
                template.fill_paths(&answers, &mut ServiceFiles)?
            } else {
                is_machine_used = true;
                let answer = self.run((machine, memory), job, template.program(), Bytes::from_owned(data))?;
                template.fill(&answer, &mut ServiceFiles)?
            };
            Ok((filled.warnings, filled.file))
        })();
        (filled, is_machine_used)
    }

    /// Whether the engine is known to accept the job's locale and zone.
    fn supports_locale_and_zone(&self, job: &FillJob<'_>) -> bool {
        let is_known = |(locale, zone): &(String, String)| job.locale == *locale && job.timezone == *zone;
        (job.locale == OWN_LOCALE && job.timezone == UTC) || self.known.as_ref().is_some_and(is_known)
    }

    /// Runs the program of the tags: its answers, as JSON.
    fn run(
        &mut self,
        (machine, memory): (&Machine, &Memory),
        job: &FillJob<'_>,
        program: &str,
        json: Bytes,
    ) -> Result<String, Failure> {
        check_zone(machine, &job.timezone)?;
        // Loaded before the default locale changes: the library formats by the locale that it is given.
        let needs = Needs::of(&json);
        let library = machine.evaluate(&library(program, needs), "library")?;
        let parse = machine.evaluate("JSON.parse", "")?;
        let settings = json!({
            "locale": job.locale, "timeZone": job.timezone, "strict": job.strict, "items": job.limits.items,
        });
        let settings = machine.call(&parse, &[machine.word(&settings.to_string())])?;
        localize(machine, &job.locale)?;
        self.known = Some((job.locale.to_string(), job.timezone.to_string()));
        // `read` keeps the digits of long numbers; it takes several times as long as `JSON.parse`.
        let read = if needs.long_numbers { Machine::member(&library, "read")? } else { parse };
        let data = machine.call(&read, &[machine.text(&json)]);
        let data = data.map_err(|thrown| thrown.explain(memory, ScriptError::Data))?;
        // The engine has a copy; holding both would double the memory while the answers grow.
        drop(json);
        Ok(machine.text_of(&library, &[machine.word(program), data, settings])?)
    }
}

/// The faults of a template that cannot be read, with those of its expressions: all of them are told at once.
fn with_expressions(machine: &Machine, faults: Faults) -> Result<Faults, Failure> {
    let Some(steps) = faults.expressions() else { return Ok(faults) };
    let of_expressions = expressions::faults(machine, steps)?;
    Ok(faults.with_expressions(of_expressions))
}

fn path_limits(job: &FillJob<'_>, answers: usize) -> PathLimits {
    PathLimits { strict: job.strict, items: job.limits.items, answers }
}

/// Checks a file that is converted without being filled, and counts its tags. None of its code runs.
pub fn unfilled(job: &UnfilledJob, body: Vec<u8>) -> Result<(UnfilledTags, Vec<u8>), Failure> {
    let template::Unfilled { file, tags, first, warnings } =
        template::unfilled(body, Family::OpenDocument, &limits(&job.limits))?;
    Ok((UnfilledTags { count: tags, first, warnings }, file))
}

/// Fetches files from the service. Nothing is cached here: the document remembers the files that it has.
pub struct ServiceFiles;

impl Files for ServiceFiles {
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        request_file(name)
    }
}

/// A broken pipe is a missing file here; the child ends when it cannot send its answer either.
fn request_file(name: &str) -> Result<Vec<u8>, String> {
    if name.len() > NAME_LIMIT_BYTES {
        return Err(format!("the name of a file is longer than {NAME_LIMIT_BYTES} bytes"));
    }
    if name.contains(char::is_control) {
        return Err("the name of a file has a control character in it, as a line's end".to_owned());
    }
    match child::request_file(name)? {
        (FileReply::File { .. }, file) => Ok(file),
        (FileReply::Refused(why), _) => Err(why),
    }
}

/// Refuses a time zone that the engine does not know. Hazard: it would silently use UTC, and every date would be wrong.
/// UTC is not checked: that would take a quarter of a small document's time.
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

/// The delimiters that came with a request.
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
        own_parts: limit("office.parts_limit", given.own_parts),
        output_bytes: limit("assemble.output_limit_bytes", given.output_bytes),
    }
}
