//! Refuses what no engine can make, with what could be made instead.

use crate::domain::kinds::{Target, TemplateKind};
use crate::engines;
use crate::problem::{Code, Problem};

/// Refuses a pair that nobody can render.
///
/// # Errors
/// `unsupported_conversion`, naming what the kind can become.
pub(super) fn admit(kind: TemplateKind, target: Target) -> Result<(), Problem> {
    if engines::plan(kind, target).is_some() {
        return Ok(());
    }
    let targets = engines::targets_of(kind);
    let (kind, target) = (kind.name(), target.name());
    let can = if targets.is_empty() {
        "nothing in this build".to_owned()
    } else {
        targets.iter().map(|target| target.name()).collect::<Vec<_>>().join(", ")
    };
    let detail = format!("'{kind}' cannot become '{target}'; it can become {can}.");
    Err(Problem::new(Code::UnsupportedConversion, detail))
}
