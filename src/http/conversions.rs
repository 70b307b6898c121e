//! Refuses what nobody can render, before anything is stored.

use crate::domain::kinds::{Target, TemplateKind};
use crate::engines;
use crate::problem::{Code, Problem};

/// Refuses a pair that the plan does not have.
///
/// # Errors
/// `unsupported_conversion`, naming what the kind can become.
pub(super) fn admit(kind: TemplateKind, target: Target) -> Result<(), Problem> {
    if engines::plan(kind, target).is_some() {
        return Ok(());
    }
    let names: Vec<_> = engines::targets_of(kind).into_iter().map(Target::name).collect();
    let can = if names.is_empty() { "nothing in this build".to_owned() } else { names.join(", ") };
    let detail = format!("'{}' cannot become '{}'; it can become {can}.", kind.name(), target.name());
    Err(Problem::new(Code::UnsupportedConversion, detail))
}
