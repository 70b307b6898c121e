//! Assembles a template in the sandboxed template engine, and says which parts of its sandbox the kernel has.

use std::time::Duration;

use bytes::Bytes;

use super::report::Finding;
use crate::config::AssembleConfig;
use crate::domain::error::Warnings;
use crate::domain::ids::AccountId;
use crate::domain::site::Site;
use crate::engines::ejs::Assembler;
use crate::engines::requirement::UnmetRequirement;
use crate::engines::script::{JAVASCRIPT_CORE, TemplateCodePool};
use crate::slots::AccountShare;
use crate::telemetry::metrics::Metrics;
use crate::workers::assemble::{CompileJob, Compiled, Language, ScriptRequest};
use crate::workers::{Landlock, Starter, WorkerError, landlock};

const TEMPLATE: &str = "<p><%= six * 7 %></p>";
const DATA: &str = r#"{"six": 6}"#;
const PAGE: &[u8] = b"<p>42</p>";

const DISABLED: &str = "templates with tags (<%) and Office templates: none can be rendered";
const REMEDY: &str = "platen-script beside platen, of the same version; a kernel with CONFIG_SECCOMP_FILTER; memory for \
                      assemble.memory_limit_mb";
/// What `GLib` says, with the thread's name, before it ends the process.
const REFUSED_THREAD: &str = "creating thread '";
const THREAD_REMEDY: &str = "a newer Platen, for this version of libjavascriptcoregtk starts a thread that the sandbox refuses; \
                             until then the version of libjavascriptcoregtk that was installed before";

pub(super) async fn finding(starter: &Starter, config: &AssembleConfig) -> Finding {
    if JAVASCRIPT_CORE.installed().is_none() {
        let lack = UnmetRequirement::Missing(&JAVASCRIPT_CORE).brief();
        return Finding::missing("Template engine", lack).with_remedy(DISABLED, JAVASCRIPT_CORE.command());
    }
    let config = AssembleConfig { spares: 0, kept: 0, ..config.clone() };
    let metrics = Metrics::new().children;
    let script = TemplateCodePool::new(starter.clone(), &config, AccountShare::whole(), metrics.clone());
    let assembler = Assembler::on(script.clone(), &config, metrics);
    let site = Site::single("index.html", Bytes::from_static(TEMPLATE.as_bytes()));
    let data = Bytes::from_static(DATA.as_bytes());
    let page = assembler.assemble(AccountId::generate(), &site, &data, &mut Warnings::default()).await;
    let wrong = match page {
        Ok(page) if page.windows(PAGE.len()).any(|part| part == PAGE) => return caged(),
        Ok(page) => format!("made '{}' of '{TEMPLATE}'", String::from_utf8_lossy(&page)),
        Err(error) => start_error(&script, &config).await.unwrap_or_else(|| error.to_string()),
    };
    let remedy = if wrong.contains(REFUSED_THREAD) { THREAD_REMEDY } else { REMEDY };
    Finding::missing("Template engine", wrong).with_remedy(DISABLED, remedy)
}

/// Why no process of template code starts, in its own last words. A job's error leaves these to the log, which a command lacks.
async fn start_error(script: &TemplateCodePool, config: &AssembleConfig) -> Option<String> {
    let request = CompileJob { language: Language::Html, files: Vec::new(), time_ms: 0 };
    let request = ScriptRequest::Compile(request);
    let limit = Duration::from_millis(config.start_timeout_ms);
    let account = AccountId::generate();
    let started =
        script.run_in_background::<Compiled>(account, (&request, &[]), &|_: &str| None, limit).await;
    match started {
        Err(error @ WorkerError::NotStarted(_)) => Some(error.to_string()),
        Ok(_) | Err(_) => None,
    }
}

fn caged() -> Finding {
    match landlock() {
        Landlock::Available => Finding::ok("Template engine", "EJS, caged by Landlock, seccomp and limits"),
        Landlock::Missing => Finding::warning("Template engine", "EJS, caged by seccomp and limits alone")
            .with_remedy(
                "the fence that keeps template code from the machine's files, one of two",
                "a kernel from 5.13 on with CONFIG_SECURITY_LANDLOCK, and 'landlock' in its lsm= parameter",
            ),
    }
}
