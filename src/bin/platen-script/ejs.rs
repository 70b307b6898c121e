//! EJS in a virtual machine of `JavaScriptCore`: renders a template, and generates the scripts of templates ahead.
//!
//! Template code can call no function of this program, so it cannot fetch an include while it runs. Files that are
//! included by a literal name are fetched before the first run. A run that includes any other file is discarded: the
//! file is fetched, and the template runs again in a fresh machine.

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
use crate::file::{File, request_file, utf8_error};
use crate::latex::LazyLatexSupport;
use crate::locale::localize;
use crate::machine::{Machine, Thrown};

const EJS: &str = include_str!(concat!(env!("OUT_DIR"), "/ejs-ejs.js"));
const EJS_UTILS: &str = include_str!(concat!(env!("OUT_DIR"), "/ejs-utils.js"));
const RENDERER: &str = include_str!("../../../assets/assemble.js");
const RUNNER: &str = include_str!("../../../assets/run.js");
const WARM_UP: &str = include_str!("../../../assets/warm-up.js");

/// Most files that are fetched before the first run; further ones are fetched when a run includes them.
const MENTIONED_LIMIT: usize = 300;

/// The error message where the engine refused an allocation although memory is left.
const TOO_LONG: &str = "a string grew longer than 2147483647 characters, or something larger than the memory that is left \
                        (assemble.memory_limit_mb)";

/// A machine for one run. The runner (`run.js`, for scripts generated before) and the renderer (`assemble.js` with EJS) are
/// loaded when first needed. Template code has no reference to either object and so cannot replace their functions.
pub struct ScriptEngine {
    pub machine: Machine,
    runner: OnceCell<Value>,
    renderer: OnceCell<Value>,
    latex: LazyLatexSupport,
}

/// What the renderer reports after a run.
#[derive(Deserialize)]
struct Report {
    generated: u64,
    included: BTreeMap<String, bool>,
}

/// The outcome of a run.
enum Run {
    Page(String),
    /// The run is discarded: it included these files, which were not there.
    MissingFiles(Vec<String>),
}

/// Renders a small template in a throw-away machine. Hazard: the engine opens files when it first needs them, which the
/// sandbox forbids later; so everything that it opens, it opens here.
pub fn warm_up() -> Result<(), Thrown> {
    let engine = ScriptEngine::new();
    engine.runner()?;
    engine.machine.evaluate(WARM_UP, "")?;
    let job = json!({ "entry": "a", "files": ["a"], "depth": 1, "limit": 1_000, "timezone": "UTC" });
    engine.begin(job.to_string())?;
    let template = "<% for (const x of list) { %>\n<%= x %><% } %>";
    engine.give(&File::of_text("a", template.into()))?;
    let made = engine.text_of("assemble", &[engine.machine.word(r#"{"list":["<a>",1.5,null]}"#)])?;
    if made == "p" { Ok(()) } else { Err(Thrown(made)) }
}

/// The prepared machine, or a fresh one.
pub fn ready(engine: &mut Option<ScriptEngine>) -> &ScriptEngine {
    engine.get_or_insert_with(ScriptEngine::new)
}

/// Replaces a machine that has run a template. The old one is dropped first: it may have used up the memory.
pub fn replace_engine(engine: &mut Option<ScriptEngine>) {
    drop(engine.take());
    *engine = Some(ScriptEngine::new());
}

impl ScriptEngine {
    fn new() -> Self {
        let machine = Machine::new();
        Self {
            machine,
            runner: OnceCell::new(),
            renderer: OnceCell::new(),
            latex: LazyLatexSupport::default(),
        }
    }

    /// Loads the runner while the child is idle.
    pub fn prepare(&self) -> Result<(), String> {
        self.runner().map(drop).map_err(|thrown| format!("what runs scripts does not load: {}", thrown.0))
    }

    /// The runner, loaded at the first call. That must come before any template code runs in the machine: it could have
    /// replaced the built-in functions that loading uses.
    fn runner(&self) -> Result<&Value, Thrown> {
        if let Some(runner) = self.runner.get() {
            return Ok(runner);
        }
        let runner = self.machine.call(&self.machine.evaluate(RUNNER, "runner")?, &[])?;
        Ok(self.runner.get_or_init(|| runner))
    }

    /// The renderer with EJS, loaded at the first call; as `runner`, before any template code runs.
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

    /// Sets the template language of the renderer. With `notes_lines` the page's source lines are recorded, for errors of TeX.
    /// Must be called before any template code runs in the machine.
    pub fn set_language(&self, language: Language, notes_lines: bool) -> Result<(), Thrown> {
        let Some(latex) = self.latex.of(language, &self.machine)? else { return Ok(()) };
        let options = latex.renderer_options(&self.machine, notes_lines)?;
        self.call("setLanguage", &[options])
    }

    /// Gives the renderer its job, in JSON.
    pub fn begin(&self, job: String) -> Result<(), Thrown> {
        self.call("begin", &[self.machine.text(&Bytes::from_owned(job))])
    }

    pub fn give(&self, file: &File) -> Result<(), Thrown> {
        let path = self.machine.word(&format!("/{}", file.path));
        let text =
            file.text.as_ref().map_or_else(|| self.machine.undefined(), |text| self.machine.text(text));
        self.call("give", &[path, text, self.machine.text(&file.script)])
    }

    /// Fetches the files that those given include by a literal name, and gives them to the renderer.
    fn give_mentioned(&self, files: &mut Vec<File>) -> Result<(), Failure> {
        while files.len() <= MENTIONED_LIMIT {
            let mentioned = names(&self.text_of("mentioned", &[])?)?;
            if mentioned.is_empty() {
                break;
            }
            for path in mentioned {
                let file = request_file(path)?;
                self.give(&file)?;
                files.push(file);
            }
        }
        Ok(())
    }

    /// The renderer's report of its run; `None` where it was not loaded.
    fn report(&self) -> Option<Report> {
        self.renderer.get()?;
        serde_json::from_str(&self.text_of("report", &[]).ok()?).ok()
    }

    /// Generates scripts without running them, as a JSON array.
    pub fn compile(&self, job: &CompileJob<'_>, body: &[u8]) -> Result<String, Thrown> {
        self.set_language(job.language, true)?;
        let mut unread = body;
        let mut files = Vec::new();
        for (name, bytes) in &job.files {
            let (text, behind) = unread.split_at_checked(*bytes).unwrap_or((unread, &[]));
            unread = behind;
            let text = std::str::from_utf8(text).map_err(|error| Thrown(format!("{name}: {error}")))?;
            files.push((&**name, text));
        }
        let files = serde_json::to_string(&files).map_err(|error| Thrown(error.to_string()))?;
        let files = self.machine.text(&Bytes::from_owned(files));
        self.text_of("compile", &[files, self.machine.number(job.time_ms)])
    }

    /// The page that `source`, the runner or the renderer, has rendered; it is copied in parts.
    fn page(&self, source: &Value, limit_bytes: u64) -> Result<String, Failure> {
        let function = Machine::member(source, "part")?;
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

/// A `CommonJS` module as the function that loads it.
fn module(machine: &Machine, parameters: &str, source: &str) -> Result<Value, Thrown> {
    machine.evaluate(&format!("(function {parameters} {{{source}\n}})"), "ejs")
}

/// The keys of a JSON object, which are paths, without their leading slashes.
fn names(json: &str) -> Result<Vec<String>, Thrown> {
    let names: BTreeMap<String, bool> =
        serde_json::from_str(json).map_err(|error| Thrown(format!("these are no names: {error}")))?;
    Ok(names.into_keys().map(|name| name.trim_start_matches('/').to_owned()).collect())
}

/// A job and what bounds it.
pub struct Job<'a> {
    pub limits: &'a AssembleLimits,
    pub memory: &'a Memory,
    pub request: &'a AssembleJob<'a>,
}

impl Job<'_> {
    /// The outcome and the page, which is empty after an error.
    ///
    /// # Errors
    /// When the pipe to the service is broken: the child ends.
    pub fn assemble(
        &self,
        engine: &mut Option<ScriptEngine>,
        mut body: Vec<u8>,
    ) -> Result<(Assembled, String), String> {
        let mut script = body.split_off(self.request.entry_bytes.min(body.len()));
        let data = Bytes::from_owned(script.split_off(self.request.source_bytes.min(script.len())));
        let mut done = Assembled { outcome: Ok(()), generated: 0, included: Vec::new(), notes_bytes: 0 };
        if let Some(sentence) = utf8_error(&self.request.entry, &body) {
            let wanted = match self.request.language {
                Language::Html => "a page (HTML, EJS)",
                Language::Latex(_) => "a LaTeX file",
            };
            let sentence = format!("{sentence}; upload {wanted}, saved as UTF-8");
            done.outcome = Err(ScriptError::Template(sentence));
            return Ok((done, String::new()));
        }
        let entry = File {
            path: self.request.entry.to_string(),
            text: Some(Bytes::from_owned(body)),
            script: Bytes::from_owned(script),
        };
        if may_run_alone(&entry) {
            if let Some(page) = self.run_script(ready(engine), &entry, &data) {
                return Ok(self.with_notes(ready(engine), done, page));
            }
            // The runner gives no reason. EJS renders the template again from the start and reports the error.
            replace_engine(engine);
        }
        let mut files = vec![entry];
        loop {
            let run = self.run(ready(engine), &mut files, &data);
            let run = run.map_err(|failure| failure.explain(self.memory, ScriptError::Code));
            let report = ready(engine).report();
            let generated = report.as_ref().map_or(0, |report| report.generated);
            done.generated = done.generated.saturating_add(generated);
            let page = match run {
                Ok(Run::MissingFiles(missing)) => {
                    for path in missing {
                        files.push(request_file(path)?);
                    }
                    replace_engine(engine);
                    continue;
                }
                Ok(Run::Page(page)) => page,
                Err(error) => {
                    done.outcome = Err(error?);
                    String::new()
                }
            };
            let requested: HashMap<&str, usize> =
                files[1..].iter().enumerate().map(|(at, file)| (&*file.path, at)).collect();
            let included = report.map(|report| report.included).unwrap_or_default();
            let included = included.keys().map(|path| path.trim_start_matches('/'));
            done.included = included.filter_map(|path| requested.get(path).copied()).collect();
            return Ok(self.with_notes(ready(engine), done, page));
        }
    }

    /// The page with its line notes appended, where both together stay within the limit of a page.
    fn with_notes(
        &self,
        engine: &ScriptEngine,
        mut done: Assembled,
        mut page: String,
    ) -> (Assembled, String) {
        if self.request.language.is_latex() && done.outcome.is_ok() {
            let left = self.limits.output_bytes.saturating_sub(page.len() as u64);
            let notes = engine.latex.notes(&engine.machine, left);
            done.notes_bytes = notes.len();
            page.push_str(&notes);
        }
        (done, page)
    }

    /// Runs the script that was generated before; `None` after any error. Does without EJS: loading it is a third of a job.
    fn run_script(&self, engine: &ScriptEngine, entry: &File, data: &Bytes) -> Option<String> {
        let (machine, limit_bytes) = (&engine.machine, self.limits.output_bytes);
        let runner = engine.runner().ok()?;
        localize(machine, &self.request.locale).ok()?;
        let [escape, made] = match engine.latex.of(self.request.language, machine).ok()? {
            Some(latex) => [latex.member("escape").ok()?, Machine::member(&latex.lines, "made").ok()?],
            None => [machine.undefined(), machine.undefined()],
        };
        let arguments = [
            machine.word(&format!("/{}", entry.path)),
            machine.text(entry.text.as_ref()?),
            machine.text(&entry.script),
            machine.text(data),
            machine.number(limit_bytes),
            machine.word(&self.request.timezone),
            escape,
            made,
        ];
        let made = machine.text_of(&Machine::member(runner, "run").ok()?, &arguments).ok()?;
        if made == "p" { engine.page(runner, limit_bytes).ok() } else { None }
    }

    /// One run in a fresh machine.
    fn run(&self, engine: &ScriptEngine, files: &mut Vec<File>, data: &Bytes) -> Result<Run, Failure> {
        self.begin(engine, files)?;
        engine.give_mentioned(files)?;
        let made = engine.text_of("assemble", &[engine.machine.text(data)])?;
        let (kind, detail) = (made.chars().next(), made.get(1..).unwrap_or_default());
        let sentence = || bounded(detail.to_owned());
        let error = match kind {
            Some('p') => {
                return engine.page(engine.renderer()?, self.limits.output_bytes).map(Run::Page);
            }
            Some('w') => return Ok(Run::MissingFiles(names(detail)?)),
            Some('l') => ScriptError::TooLarge,
            Some('d') => ScriptError::Limit(sentence()),
            Some('b') => ScriptError::Data(sentence()),
            Some('m') if self.memory.is_short() => ScriptError::OutOfMemory,
            Some('m') => ScriptError::Code(sentence().replacen(REFUSED, TOO_LONG, 1)),
            _ => ScriptError::Code(sentence()),
        };
        Err(error.into())
    }

    fn begin(&self, engine: &ScriptEngine, files: &[File]) -> Result<(), Thrown> {
        let job = json!({
            "entry": self.request.entry,
            "files": self.request.files,
            "depth": self.limits.include_depth,
            "limit": self.limits.output_bytes,
            "timezone": self.request.timezone,
        });
        engine.set_language(self.request.language, true)?;
        engine.begin(job.to_string())?;
        localize(&engine.machine, &self.request.locale)?;
        files.iter().try_for_each(|file| engine.give(file))
    }
}

/// Whether the file has a script that includes nothing: it runs without EJS.
fn may_run_alone(entry: &File) -> bool {
    !entry.script.is_empty() && memmem::find(&entry.script, b"include").is_none()
}
