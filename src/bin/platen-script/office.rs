//! Fills an Office file: its tags are the program of one machine, and what that answers is written into the file here. Where all tags
//! are names, and nothing of the data is unusual, no machine is needed; it is as it was, and waits for the next job.
//! No template's code asks for a file: what an answer names is asked for when its program is over.

use std::io;

use javascriptcore6::glib::Bytes;
use office_template::{
    Data, Delimiters, Error, Family, Files, Limit, Limits, Needs, PathLimits, Template, library,
};
use platen::workers::child::{self, Given, Saying};
use platen::workers::fill::{FillJob, FillLimits, Filled};
use platen::workers::unfilled::{Unfilled, UnfilledFile, UnfilledJob};
use serde_json::json;

use crate::ejs::{LOCALE, OWN_LOCALE, REFUSED};
use crate::machine::{Machine, Thrown};
use crate::memory::Memory;
use crate::serve::{bounded, say};

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

/// What came of a job.
pub struct Done {
    pub filled: Filled,
    /// Empty unless there is a document.
    pub file: Vec<u8>,
    /// Whether the machine had a part in it, and no further job may have it.
    pub is_machine_used: bool,
}

impl Office {
    /// Does the job in `machine`, in which no template's code has run, or without it.
    pub fn fill(
        &mut self,
        machine: &Machine,
        memory: &Memory,
        (job, mut body): (&FillJob<'_>, Vec<u8>),
    ) -> Done {
        let data = body.split_off(job.file_bytes.min(body.len()));
        let delimiters = job.delimiters.clone();
        let delimiters =
            delimiters.map(|(start, end)| Delimiters { start: start.into_owned(), end: end.into_owned() });
        let mut is_machine_used = false;
        let filled = (|| {
            let template = Template::read_beside(body, delimiters, &limits(&job.limits), &mut Asking)?;
            if template.has_only_paths()
                && self.knows_scene(job)
                && let most = memory.values_beside(data.len())
                && let Some(data) = Data::read(&data, most)
                && let Some(answers) = template.answers(&data, path_limits(job, most))
            {
                return Ok(template.fill_paths(&answers, &mut Asking)?);
            }
            is_machine_used = true;
            let answer = self.run(machine, job, template.program(), Bytes::from_owned(data))?;
            Ok(template.fill(&answer, &mut Asking)?)
        })();
        let (filled, file) = match filled {
            Ok(filled) => (Filled::Document(filled.warnings), filled.file),
            Err(fault) => (told(fault, memory), Vec::new()),
        };
        Done { filled, file, is_machine_used }
    }

    /// Whether the engine would take the job's locale and zone.
    fn knows_scene(&self, job: &FillJob<'_>) -> bool {
        let is_own = job.locale == OWN_LOCALE && job.timezone == UTC;
        is_own
            || self
                .known
                .as_ref()
                .is_some_and(|(locale, zone)| job.locale == *locale && job.timezone == *zone)
    }
}

fn path_limits(job: &FillJob<'_>, answers: usize) -> PathLimits {
    PathLimits { strict: job.strict, items: job.limits.items, answers }
}

/// Takes a file as it is, of which no code runs; it is empty unless there is a document.
pub fn unfilled(job: &UnfilledJob, body: Vec<u8>) -> (Unfilled, Vec<u8>) {
    let family = match job.file {
        UnfilledFile::OpenDocument => Family::OpenDocument,
    };
    let taken = office_template::unfilled(body, family, &limits(&job.limits));
    let told = match taken {
        Ok(office_template::Unfilled { file, tags, first, warnings }) => {
            return (Unfilled::Document { tags, first, warnings }, file);
        }
        Err(Error::NotOffice(sentence)) => Unfilled::NotOffice(sentence),
        Err(Error::Limit(sentence)) => Unfilled::Limit(sentence),
        // No tag is read as one, no delimiters are given, nothing is answered.
        Err(error @ (Error::Tags(_) | Error::Delimiters(_) | Error::Answer(_))) => {
            Unfilled::Broken(bounded(error.to_string()))
        }
    };
    (told, Vec::new())
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
    say(&Saying::<()>::Want(name.to_owned()), b"")?;
    let given = child::read::<Given>(io::stdin().lock()).map_err(|error| error.to_string())?;
    match given {
        (Given::File { .. }, file) => Ok(file),
        (Given::Refused(why), _) => Err(why),
    }
}

/// Why there is no document.
enum Fault {
    Template(Error),
    Data(Thrown),
    Library(Thrown),
    /// The engine does not know it.
    Zone(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Template(error)
    }
}

impl Office {
    /// What the program of the tags answers.
    fn run(
        &mut self,
        machine: &Machine,
        job: &FillJob<'_>,
        program: &str,
        json: Bytes,
    ) -> Result<String, Fault> {
        check_zone(machine, &job.timezone)?;
        // Before the default locale is another one: it formats by the one that it is given.
        let needs = Needs::of(&json);
        let library = machine.evaluate(&library(program, needs), "library").map_err(Fault::Library)?;
        let parse = machine.evaluate("JSON.parse", "").map_err(Fault::Library)?;
        let settings = json!({
            "locale": job.locale, "timeZone": job.timezone, "strict": job.strict, "items": job.limits.items,
        });
        let settings = settings.to_string();
        let settings = machine.call(&parse, &[machine.word(&settings)]).map_err(Fault::Library)?;
        if job.locale != OWN_LOCALE {
            let localize = machine.evaluate(LOCALE, "locale").map_err(Fault::Library)?;
            machine.call(&localize, &[machine.word(&job.locale)]).map_err(Fault::Library)?;
        }
        self.known = Some((job.locale.to_string(), job.timezone.to_string()));
        // Reading numbers as they are written takes several times as long.
        let read = if needs.long_numbers {
            Machine::member(&library, "read").map_err(Fault::Library)?
        } else {
            parse
        };
        let data = machine.call(&read, &[machine.text(&json)]).map_err(Fault::Data)?;
        // The engine has its own copy, and the answers are about to take as much.
        drop(json);
        machine.text_of(&library, &[machine.word(program), data, settings]).map_err(Fault::Library)
    }
}

/// The engine would go on with UTC, and every date would be wrong without a word. UTC itself it knows: asking costs a quarter of a
/// small document.
fn check_zone(machine: &Machine, timezone: &str) -> Result<(), Fault> {
    if timezone == UTC {
        return Ok(());
    }
    let check = "(timeZone) => { new Intl.DateTimeFormat('en-US', { timeZone }) }";
    let check = machine.evaluate(check, "zone").map_err(Fault::Library)?;
    let checked = machine.call(&check, &[machine.word(timezone)]);
    checked.map(drop).map_err(|_| Fault::Zone(timezone.to_owned()))
}

fn told(fault: Fault, memory: &Memory) -> Filled {
    match fault {
        Fault::Template(Error::NotOffice(sentence)) => Filled::NotOffice(sentence),
        Fault::Template(Error::Limit(sentence)) => Filled::Limit(sentence),
        Fault::Template(Error::Delimiters(sentence)) => Filled::BadOptions(sentence),
        Fault::Template(Error::Tags(faults)) => Filled::Failed(bounded(faults.to_string())),
        Fault::Template(Error::Answer(sentence)) => Filled::Broken(sentence),
        Fault::Data(thrown) | Fault::Library(thrown) if thrown.0.contains(REFUSED) && memory.is_short() => {
            Filled::OutOfMemory
        }
        Fault::Zone(zone) => Filled::BadOptions(format!(
            "the template engine does not know the time zone {zone}; name an older one of the same time"
        )),
        Fault::Data(thrown) => Filled::BadData(bounded(thrown.0)),
        // Every tag's own fault is told with the tag: this is of what is around them all.
        Fault::Library(thrown) => Filled::Failed(bounded(thrown.0)),
    }
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
