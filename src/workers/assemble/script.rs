//! The script engine with EJS in it: `QuickJS`, the npm package `ejs`, and our own frame around them.

use std::io;

use nix::sys::resource::{UsageWho, getrusage};
use rquickjs::function::Func;
use rquickjs::{Array, Context, Ctx, Exception, Function, Object, Persistent, Runtime, Value};

use super::super::frame::{self, Given, Saying};
use super::{Answer, AssembleJob, AssembleLimits, Assembled, CompileJob, Compiled};

const EJS: &str = include_str!(concat!(env!("OUT_DIR"), "/ejs-ejs.js"));
const EJS_UTILS: &str = include_str!(concat!(env!("OUT_DIR"), "/ejs-utils.js"));
const LOCALE: &str = include_str!("../../../assets/locale.js");
const RENDERER: &str = include_str!("../../../assets/assemble.js");

/// Stack of the script engine; the process has 8 MiB where nobody made it less.
const STACK_BYTES: usize = 4 << 20;

/// The collector of cycles first runs at this heap, later at one and a half times what is left: most
/// jobs end before.
const COLLECT_AT_BYTES: usize = 64 << 20;

/// A loaded script engine, for one job.
pub(super) struct Engine {
    renderer: Persistent<Object<'static>>,
    context: Context,
    limits: AssembleLimits,
}

impl Engine {
    /// Loads EJS and the renderer.
    pub fn load(limits: &AssembleLimits) -> Result<Self, String> {
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        let memory = usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX);
        runtime.set_memory_limit(memory);
        runtime.set_max_stack_size(STACK_BYTES);
        runtime.set_gc_threshold(COLLECT_AT_BYTES.min(memory / 4));
        let context = Context::full(&runtime).map_err(|error| error.to_string())?;
        let renderer = context.with(|ctx| {
            let told = |error| format!("EJS does not load: {error}: {:?}", describe(&ctx));
            load(&ctx).map_err(told)
        })?;
        Ok(Self { renderer, context, limits: *limits })
    }

    /// Does the job; the page is empty unless there is one.
    pub fn assemble(&self, job: &AssembleJob<'_>, mut body: Vec<u8>) -> (Answer, String) {
        let mut source = body.split_off(job.entry_bytes.min(body.len()));
        let data = source.split_off(job.source_bytes.min(source.len()));
        let text = match String::from_utf8(body) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let line = error.as_bytes()[..at].split(|&byte| byte == b'\n').count();
                let outcome = Assembled::NotText(format!("{}:{line}: this is no text", job.entry));
                return (Answer { outcome, generated: 0 }, String::new());
            }
        };
        let source = String::from_utf8(source).ok().filter(|source| !source.is_empty());
        self.context.with(|ctx| {
            let done = self.render(&ctx, job, (text, source), data);
            let (outcome, page) = done.unwrap_or_else(|error| fault(self.told(&ctx, &error)));
            (Answer { outcome, generated: self.generated(&ctx).unwrap_or_default() }, page)
        })
    }

    /// Generates scripts without running them; what is answered beside is their JSON.
    pub fn compile(&self, job: &CompileJob<'_>, body: &[u8]) -> (Compiled, String) {
        self.context.with(|ctx| match self.scripts(&ctx, job, body) {
            Ok(scripts) => (Compiled::Scripts, scripts),
            Err(error) => {
                let why = describe(&ctx).unwrap_or_default();
                (Compiled::Nothing(format!("{error}: {why}")), String::new())
            }
        })
    }

    fn scripts(&self, ctx: &Ctx<'_>, job: &CompileJob<'_>, body: &[u8]) -> rquickjs::Result<String> {
        let mut rest = body;
        let files = Array::new(ctx.clone())?;
        for (at, (name, bytes)) in job.files.iter().enumerate() {
            let (text, behind) = rest.split_at_checked(*bytes).unwrap_or((rest, &[]));
            rest = behind;
            let file = Object::new(ctx.clone())?;
            file.set("name", &**name)?;
            file.set("text", std::str::from_utf8(text)?)?;
            files.set(at, file)?;
        }
        let order = Object::new(ctx.clone())?;
        order.set("files", files)?;
        order.set("time", job.time_ms)?;
        let compile: Function<'_> = self.renderer.clone().restore(ctx)?.get("compile")?;
        compile.call((order,))
    }

    /// How often EJS generated a script.
    fn generated(&self, ctx: &Ctx<'_>) -> rquickjs::Result<u64> {
        let generated: Function<'_> = self.renderer.clone().restore(ctx)?.get("generated")?;
        generated.call(())
    }

    fn render(
        &self,
        ctx: &Ctx<'_>,
        job: &AssembleJob<'_>,
        (text, source): (String, Option<String>),
        data: Vec<u8>,
    ) -> rquickjs::Result<(Assembled, String)> {
        let Ok(data) = ctx.json_parse(data) else {
            let why = describe(ctx);
            let memory = self.is_memory(why.as_deref());
            let sentence = || Assembled::BadData(why.unwrap_or_default());
            return Ok(fault(if memory { Assembled::OutOfMemory } else { sentence() }));
        };
        let order = Object::new(ctx.clone())?;
        order.set("entry", &*job.entry)?;
        order.set("files", job.files.iter().map(|name| &**name).collect::<Vec<_>>())?;
        order.set("text", text)?;
        order.set("source", source)?;
        order.set("data", data)?;
        order.set("depth", self.limits.include_depth)?;
        order.set("limit", self.limits.output_bytes)?;
        let assemble: Function<'_> = self.renderer.clone().restore(ctx)?.get("assemble")?;
        let answer: Array<'_> = assemble.call((order,))?;
        match answer.get::<String>(0)?.as_str() {
            "page" => self.page(&answer.get::<rquickjs::String<'_>>(1)?),
            "large" => Ok(fault(Assembled::TooLarge)),
            "deep" => Ok(fault(Assembled::TooDeep(answer.get(1)?))),
            _ => {
                let why: Option<String> = answer.get(2)?;
                let memory = self.is_memory(why.as_deref());
                let sentence = || answer.get(1).map(Assembled::Failed);
                Ok(fault(if memory { Assembled::OutOfMemory } else { sentence()? }))
            }
        }
    }

    fn page(&self, html: &rquickjs::String<'_>) -> rquickjs::Result<(Assembled, String)> {
        let page = html.to_string()?;
        let fits = page.len() as u64 <= self.limits.output_bytes;
        Ok(if fits { (Assembled::Page, page) } else { fault(Assembled::TooLarge) })
    }

    /// What the renderer itself could not tell.
    fn told(&self, ctx: &Ctx<'_>, error: &rquickjs::Error) -> Assembled {
        let why =
            if matches!(error, rquickjs::Error::Exception) { describe(ctx) } else { Some(error.to_string()) };
        let memory = self.is_memory(why.as_deref()) || matches!(error, rquickjs::Error::Allocation);
        if memory { Assembled::OutOfMemory } else { Assembled::Failed(why.unwrap_or_default()) }
    }

    /// Whether a fault is the engine's cry for memory. When there is none left even for the error, it
    /// throws `null`; a template that throws `null` itself has not used its memory.
    fn is_memory(&self, why: Option<&str>) -> bool {
        match why {
            Some(text) => text == "out of memory",
            None => peak_bytes() > self.limits.memory_bytes / 2,
        }
    }
}

fn fault(assembled: Assembled) -> (Assembled, String) {
    (assembled, String::new())
}

fn load(ctx: &Ctx<'_>) -> rquickjs::Result<Persistent<Object<'static>>> {
    ctx.eval::<(), _>(LOCALE)?;
    let host = Object::new(ctx.clone())?;
    host.set("read", Func::from(read_file))?;
    host.set("ejs", module(ctx, "(require, module, exports, Function)", EJS)?)?;
    host.set("utils", module(ctx, "(require, module, exports)", EJS_UTILS)?)?;
    let make: Function<'_> = ctx.eval(RENDERER)?;
    let renderer: Object<'_> = make.call((host,))?;
    Ok(Persistent::save(ctx, renderer))
}

/// A `CommonJS` module as the function that makes it.
fn module<'js>(ctx: &Ctx<'js>, parameters: &str, source: &str) -> rquickjs::Result<Function<'js>> {
    ctx.eval(format!("(function {parameters} {{{source}\n}})"))
}

/// Asks the service for a file of the template: its text, and its script where one is kept.
#[expect(clippy::needless_pass_by_value, reason = "the script engine hands its arguments over")]
fn read_file(ctx: Ctx<'_>, name: String) -> rquickjs::Result<Option<Vec<String>>> {
    let asked = frame::write(io::stdout().lock(), &Saying::<()>::Want(name), &[]);
    let given =
        asked.map_err(frame::FrameError::from).and_then(|()| frame::read::<Given>(io::stdin().lock()));
    match given {
        Ok((Given { found: false, .. }, _)) => Ok(None),
        Ok((Given { found: true, made_bytes }, mut text)) => {
            let source = text.split_off(text.len().saturating_sub(made_bytes));
            let parts = [text, source].into_iter().map(String::from_utf8).collect::<Result<_, _>>();
            parts.map(Some).map_err(|_| Exception::throw_message(&ctx, "the included file is no text"))
        }
        Err(error) => Err(Exception::throw_message(&ctx, &error.to_string())),
    }
}

/// The pending exception's message; `None` where it is `null`.
fn describe(ctx: &Ctx<'_>) -> Option<String> {
    let thrown: Value<'_> = ctx.catch();
    if thrown.is_null() || thrown.is_undefined() {
        return None;
    }
    let message = thrown.as_exception().and_then(Exception::message);
    Some(message.unwrap_or_else(|| "the template threw something that is no error".to_owned()))
}

/// The most memory this process ever held.
pub(super) fn peak_bytes() -> u64 {
    let kibibytes = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss());
    u64::try_from(kibibytes).unwrap_or(0) * 1_024
}
