//! An assembler of pages with processes of its own, without the service round it.

use platen::config::AssembleConfig;
use platen::engines::ejs::Assembler;
use platen::engines::script::TemplateCodePool;
use platen::slots::AccountShare;
use platen::telemetry::ChildMetrics;
use platen::workers::Starter;

/// Its spare processes start at once.
pub fn assembler(starter: Starter, config: &AssembleConfig, metrics: ChildMetrics) -> Assembler {
    let script = TemplateCodePool::new(starter, config, AccountShare::whole(), metrics.clone());
    Assembler::on(script, config, metrics)
}
