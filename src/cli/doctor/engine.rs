//! Assembles a template in the sandboxed template engine, and says which parts of its sandbox the kernel has.

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
use crate::workers::{Landlock, Starter, landlock};

const TEMPLATE: &str = "<p><%= six * 7 %></p>";
const DATA: &str = r#"{"six": 6}"#;
const PAGE: &[u8] = b"<p>42</p>";

pub(super) async fn finding(starter: &Starter, config: &AssembleConfig) -> Finding {
    if JAVASCRIPT_CORE.installed().is_none() {
        // `engines.rs` reports the library itself with what it disables and what installs it.
        return Finding::warning("Template engine", UnmetRequirement::Missing(&JAVASCRIPT_CORE).brief());
    }
    let config = AssembleConfig { spares: 0, kept: 0, ..config.clone() };
    let metrics = Metrics::new().children;
    let script = TemplateCodePool::new(starter.clone(), &config, AccountShare::whole(), metrics.clone());
    let assembler = Assembler::on(script, &config, metrics);
    let site = Site::single("index.html", Bytes::from_static(TEMPLATE.as_bytes()));
    let data = Bytes::from_static(DATA.as_bytes());
    let page = assembler.assemble(AccountId::generate(), &site, &data, &mut Warnings::default()).await;
    let wrong = match page {
        Ok(page) if page.windows(PAGE.len()).any(|part| part == PAGE) => return caged(),
        Ok(page) => format!("made '{}' of '{TEMPLATE}'", String::from_utf8_lossy(&page)),
        Err(error) => error.to_string(),
    };
    Finding::missing("Template engine", wrong).with_remedy(
        "templates with tags (<%) and Office templates: none can be rendered",
        "platen-script beside platen, of the same version; a kernel with CONFIG_SECCOMP_FILTER; memory for \
         assemble.memory_limit_mb",
    )
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
