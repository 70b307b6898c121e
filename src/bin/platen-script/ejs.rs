//! EJS in a machine: a template's page, and the scripts of templates.
//!
//! There is no call from a template's code into this program. A file that a template includes is asked for before it
//! runs, where it says so by a literal; where a run wants another one, that run is void: the file is asked for when it
//! is over, and the template runs again in a fresh machine.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use javascriptcore6::Value;
use javascriptcore6::glib::Bytes;
use memchr::memmem;
use platen::workers::assemble::{AssembleJob, AssembleLimits, Assembled, CompileJob, Language, ScriptError};
use platen::workers::child::Memory;
use serde::Deserialize;
use serde_json::json;

use crate::error::{Failure, REFUSED, bounded};
use crate::file::{File, ask, no_text};
use crate::machine::{Machine, Thrown};
use crate::speech::Speaking;

const EJS: &str = include_str!(concat!(env!("OUT_DIR"), "/ejs-ejs.js"));
const EJS_UTILS: &str = include_str!(concat!(env!("OUT_DIR"), "/ejs-utils.js"));
const RENDERER: &str = include_str!("../../../assets/assemble.js");
const RUNNER: &str = include_str!("../../../assets/run.js");
pub const LOCALE: &str = include_str!("../../../assets/template-locale.js");
const WARM_UP: &str = include_str!("../../../assets/warm-up.js");

/// The default locale of the engine, whatever its environment says.
pub const OWN_LOCALE: &str = "en-US";

/// So many files are asked for before the first run; what a template includes beyond them by a literal, it wants when
/// it runs.
const MENTIONED_LIMIT: usize = 300;

/// What is said of what no memory would do for.
const TOO_LONG: &str = "a string grew longer than 2147483647 characters, or something larger than the memory that is left \
                        (assemble.memory_limit_mb)";

/// A machine for one run: what runs a script that is there, and EJS, each once something needs it. Their functions are looked
/// up by name each time: no template's code gets hold of the objects that have them.
pub struct Engine {
    pub machine: Machine,
    runner: OnceCell<Value>,
    renderer: OnceCell<Value>,
    speaking: Speaking,
}

/// What the renderer tells of a run.
#[derive(Deserialize)]
struct Report {
    generated: u64,
    included: BTreeMap<String, bool>,
}

/// What came of a run.
enum Run {
    Page(String),
    /// It is void: these are wanted.
    Wants(Vec<String>),
}

/// One whole machine: whatever the engine opens when it first needs it, it opens now.
pub fn warm_up() -> Result<(), Thrown> {
    let engine = Engine::new();
    engine.runner()?;
    engine.machine.evaluate(WARM_UP, "")?;
    let job = json!({ "entry": "a", "files": ["a"], "depth": 1, "limit": 1_000, "timezone": "UTC" });
    engine.begin(job.to_string())?;
    let template = "<% for (const x of list) { %>\n<%= x %><% } %>";
    engine.give(&File::of_text("a", template.into()))?;
    let made = engine.text_of("assemble", &[engine.machine.word(r#"{"list":["<a>",1.5,null]}"#)])?;
    if made == "p" { Ok(()) } else { Err(Thrown(made)) }
}

/// The machine that waits, or a fresh one.
pub fn ready(engine: &mut Option<Engine>) -> &Engine {
    engine.get_or_insert_with(Engine::new)
}

/// A fresh machine in the place of one that has had its run. That one goes first: it may have used up the memory.
pub fn renew(engine: &mut Option<Engine>) {
    drop(engine.take());
    *engine = Some(Engine::new());
}

impl Engine {
    fn new() -> Self {
        let machine = Machine::new();
        Self { machine, runner: OnceCell::new(), renderer: OnceCell::new(), speaking: Speaking::default() }
    }

    /// Makes ready what runs scripts, before one is there.
    pub fn prepare(&self) -> Result<(), String> {
        self.runner().map(drop).map_err(|thrown| format!("what runs scripts does not load: {}", thrown.0))
    }

    /// What runs scripts, loaded where it was not. Only in a machine in which no template's code has run.
    fn runner(&self) -> Result<&Value, Thrown> {
        if let Some(runner) = self.runner.get() {
            return Ok(runner);
        }
        let runner = self.machine.call(&self.machine.evaluate(RUNNER, "runner")?, &[])?;
        Ok(self.runner.get_or_init(|| runner))
    }

    /// EJS and what `assemble.js` makes, loaded where it was not. Only in a machine in which no template's code has run.
    pub fn renderer(&self) -> Result<&Value, Thrown> {
        if let Some(renderer) = self.renderer.get() {
            return Ok(renderer);
        }
        let machine = &self.machine;
        let ejs = module(machine, "(require, module, exports, Function)", EJS)?;
        let utils = module(machine, "(require, module, exports)", EJS_UTILS)?;
        let host = machine.object(&[("ejs", ejs), ("utils", utils)])?;
        let renderer = machine.call(&machine.evaluate(RENDERER, "renderer")?, &[host])?;
        Ok(self.renderer.get_or_init(|| renderer))
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<(), Thrown> {
        self.machine.call(&Machine::member(self.renderer()?, function)?, arguments).map(drop)
    }

    fn text_of(&self, function: &str, arguments: &[Value]) -> Result<String, Thrown> {
        self.machine.text_of(&Machine::member(self.renderer()?, function)?, arguments)
    }

    /// Tells the renderer which language it is; `is_run`: somebody asks where its text comes from. Only in a machine in which
    /// no template's code has run.
    pub fn speak(&self, language: Language, is_run: bool) -> Result<(), Thrown> {
        let Some(speech) = self.speaking.of(language, &self.machine)? else { return Ok(()) };
        let spoken = speech.spoken(&self.machine, is_run)?;
        self.call("speak", &[spoken])
    }

    /// Tells the renderer of its job, in JSON.
    pub fn begin(&self, order: String) -> Result<(), Thrown> {
        self.call("begin", &[self.machine.text(&Bytes::from_owned(order))])
    }

    pub fn give(&self, file: &File) -> Result<(), Thrown> {
        let path = self.machine.word(&format!("/{}", file.path));
        let text =
            file.text.as_ref().map_or_else(|| self.machine.undefined(), |text| self.machine.text(text));
        self.call("give", &[path, text, self.machine.text(&file.script)])
    }

    /// Asks for what the given files mention and is not there, and gives it.
    fn give_mentioned(&self, files: &mut Vec<File>) -> Result<(), Failure> {
        while files.len() <= MENTIONED_LIMIT {
            let mentioned = names(&self.text_of("mentioned", &[])?)?;
            if mentioned.is_empty() {
                break;
            }
            for path in mentioned {
                let file = ask(path)?;
                self.give(&file)?;
                files.push(file);
            }
        }
        Ok(())
    }

    /// What the renderer tells of its run, where it was loaded.
    fn report(&self) -> Option<Report> {
        self.renderer.get()?;
        serde_json::from_str(&self.text_of("report", &[]).ok()?).ok()
    }

    /// Generates scripts without running them: their JSON.
    pub fn compile(&self, job: &CompileJob<'_>, body: &[u8]) -> Result<String, Thrown> {
        self.speak(job.language, true)?;
        let mut rest = body;
        let mut files = Vec::new();
        for (name, bytes) in &job.files {
            let (text, behind) = rest.split_at_checked(*bytes).unwrap_or((rest, &[]));
            rest = behind;
            let text = std::str::from_utf8(text).map_err(|error| Thrown(format!("{name}: {error}")))?;
            files.push((&**name, text));
        }
        let files = serde_json::to_string(&files).map_err(|error| Thrown(error.to_string()))?;
        let files = self.machine.text(&Bytes::from_owned(files));
        self.text_of("compile", &[files, self.machine.number(job.time_ms)])
    }

    /// The page that `maker` has made.
    fn page(&self, maker: &Value, limit_bytes: u64) -> Result<String, Failure> {
        let function = Machine::member(maker, "part")?;
        let (mut page, mut at) = (String::new(), 0);
        loop {
            let part = self.machine.text_of(&function, &[self.machine.number(at)])?;
            if part.is_empty() {
                return Ok(page);
            }
            at += part.encode_utf16().count() as u64;
            page.push_str(&part);
            if page.len() as u64 > limit_bytes {
                return Err(ScriptError::TooLarge.into());
            }
        }
    }
}

/// A `CommonJS` module as the function that makes it.
fn module(machine: &Machine, parameters: &str, source: &str) -> Result<Value, Thrown> {
    machine.evaluate(&format!("(function {parameters} {{{source}\n}})"), "ejs")
}

/// The paths that are the members of an object, without the slash before them.
fn names(json: &str) -> Result<Vec<String>, Thrown> {
    let names: BTreeMap<String, bool> =
        serde_json::from_str(json).map_err(|error| Thrown(format!("these are no names: {error}")))?;
    Ok(names.into_keys().map(|name| name.trim_start_matches('/').to_owned()).collect())
}

/// A job and what bounds it.
pub struct Job<'a> {
    pub limits: &'a AssembleLimits,
    pub memory: &'a Memory,
    pub order: &'a AssembleJob<'a>,
}

impl Job<'_> {
    /// Does it; the page is empty unless there is one. An error is one of the pipe, or of the engine.
    pub fn assemble(
        &self,
        engine: &mut Option<Engine>,
        mut body: Vec<u8>,
    ) -> Result<(Assembled, String), String> {
        let mut script = body.split_off(self.order.entry_bytes.min(body.len()));
        let data = Bytes::from_owned(script.split_off(self.order.source_bytes.min(script.len())));
        let mut done = Assembled { outcome: Ok(()), generated: 0, included: Vec::new(), notes_bytes: 0 };
        if let Some(sentence) = no_text(&self.order.entry, &body) {
            let wanted = match self.order.language {
                Language::Html => "a page (HTML, EJS)",
                Language::Latex => "a LaTeX file",
            };
            let sentence = format!("{sentence}; upload {wanted}, saved as UTF-8");
            done.outcome = Err(ScriptError::Template(sentence));
            return Ok((done, String::new()));
        }
        let entry = File {
            path: self.order.entry.to_string(),
            text: Some(Bytes::from_owned(body)),
            script: Bytes::from_owned(script),
        };
        if may_run_alone(&entry) {
            if let Some(page) = self.run_script(ready(engine), &entry, &data) {
                return Ok(self.noted(ready(engine), done, page));
            }
            // Whatever went wrong: EJS knows what to say of it, in a machine in which nothing has run.
            renew(engine);
        }
        let mut files = vec![entry];
        loop {
            let run = self.run(ready(engine), &mut files, &data);
            let run = run.map_err(|failure| failure.explain(self.memory, ScriptError::Code));
            let report = ready(engine).report();
            let generated = report.as_ref().map_or(0, |report| report.generated);
            done.generated = done.generated.saturating_add(generated);
            let page = match run {
                Ok(Run::Wants(wanted)) => {
                    for path in wanted {
                        files.push(ask(path)?);
                    }
                    renew(engine);
                    continue;
                }
                Ok(Run::Page(page)) => page,
                Err(told) => {
                    done.outcome = Err(told?);
                    String::new()
                }
            };
            let asked: HashMap<&str, usize> =
                files[1..].iter().enumerate().map(|(at, file)| (&*file.path, at)).collect();
            let included = report.map(|report| report.included).unwrap_or_default();
            let included = included.keys().map(|path| path.trim_start_matches('/'));
            done.included = included.filter_map(|path| asked.get(path).copied()).collect();
            return Ok(self.noted(ready(engine), done, page));
        }
    }

    /// The answer with the notes of a page behind it, where both together are no longer than a page may be.
    fn noted(&self, engine: &Engine, mut done: Assembled, mut page: String) -> (Assembled, String) {
        if self.order.language != Language::Html && done.outcome.is_ok() {
            let left = self.limits.output_bytes.saturating_sub(page.len() as u64);
            let notes = engine.speaking.notes(&engine.machine, left);
            done.notes_bytes = notes.len();
            page.push_str(&notes);
        }
        (done, page)
    }

    /// The page of a script that is there, where all goes well: without EJS, whose loading is a third of a job.
    fn run_script(&self, engine: &Engine, entry: &File, data: &Bytes) -> Option<String> {
        let (machine, limit_bytes) = (&engine.machine, self.limits.output_bytes);
        let runner = engine.runner().ok()?;
        self.localize(machine).ok()?;
        let [escape, made] = match engine.speaking.of(self.order.language, machine).ok()? {
            Some(speech) => [speech.member("escape").ok()?, Machine::member(&speech.lines, "made").ok()?],
            None => [machine.undefined(), machine.undefined()],
        };
        let arguments = [
            machine.word(&format!("/{}", entry.path)),
            machine.text(entry.text.as_ref()?),
            machine.text(&entry.script),
            machine.text(data),
            machine.number(limit_bytes),
            machine.word(&self.order.timezone),
            escape,
            made,
        ];
        let made = machine.text_of(&Machine::member(runner, "run").ok()?, &arguments).ok()?;
        if made == "p" { engine.page(runner, limit_bytes).ok() } else { None }
    }

    /// Makes the job's locale the default of what its template formats.
    fn localize(&self, machine: &Machine) -> Result<(), Thrown> {
        if self.order.locale == OWN_LOCALE {
            return Ok(());
        }
        let localize = machine.evaluate(LOCALE, "locale")?;
        machine.call(&localize, &[machine.word(&self.order.locale)]).map(drop)
    }

    /// One run in a fresh machine.
    fn run(&self, engine: &Engine, files: &mut Vec<File>, data: &Bytes) -> Result<Run, Failure> {
        self.begin(engine, files)?;
        // Only before the first run: a later one has what was wanted by then.
        engine.give_mentioned(files)?;
        let made = engine.text_of("assemble", &[engine.machine.text(data)])?;
        let (kind, rest) = (made.chars().next(), made.get(1..).unwrap_or_default());
        let sentence = || bounded(rest.to_owned());
        let error = match kind {
            Some('p') => {
                return engine.page(engine.renderer()?, self.limits.output_bytes).map(Run::Page);
            }
            Some('w') => return Ok(Run::Wants(names(rest)?)),
            Some('l') => ScriptError::TooLarge,
            Some('d') => ScriptError::Limit(sentence()),
            Some('b') => ScriptError::Data(sentence()),
            Some('m') if self.memory.is_short() => ScriptError::OutOfMemory,
            Some('m') => ScriptError::Code(sentence().replacen(REFUSED, TOO_LONG, 1)),
            _ => ScriptError::Code(sentence()),
        };
        Err(error.into())
    }

    fn begin(&self, engine: &Engine, files: &[File]) -> Result<(), Thrown> {
        let order = json!({
            "entry": self.order.entry,
            "files": self.order.files,
            "depth": self.limits.include_depth,
            "limit": self.limits.output_bytes,
            "timezone": self.order.timezone,
        });
        engine.speak(self.order.language, true)?;
        engine.begin(order.to_string())?;
        self.localize(&engine.machine)?;
        files.iter().try_for_each(|file| engine.give(file))
    }
}

/// Whether the file's script needs nothing of EJS.
fn may_run_alone(entry: &File) -> bool {
    !entry.script.is_empty() && memmem::find(&entry.script, b"include").is_none()
}
