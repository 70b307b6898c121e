//! Refuses what nobody can render, before anything is stored.

use super::state::HttpState;
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::{Target, TemplateKind};
use crate::engines::catalog::Unplanned;
use crate::problem::{Code, Problem};

/// Refuses a pair that has no plan.
///
/// # Errors
/// `unsupported_conversion`, naming what the kind can become, or what must be installed here.
pub(super) fn admit(
    state: &HttpState,
    (kind, target): (TemplateKind, Target),
    options: &PageOptions,
) -> Result<(), Problem> {
    let Err(unplanned) = state.catalog.plan(kind, target, options) else { return Ok(()) };
    let (kind, target) = (kind.name(), target.name());
    let detail = match unplanned {
        Unplanned::Impossible(targets) => {
            let names: Vec<_> = targets.into_iter().map(Target::name).collect();
            let can = if names.is_empty() { "nothing in this build".to_owned() } else { names.join(", ") };
            format!("'{kind}' cannot become '{target}'; it can become {can}.")
        }
        Unplanned::Lacking(lack) => format!("'{kind}' cannot become '{target}' here: {lack}."),
    };
    Err(Problem::new(Code::UnsupportedConversion, detail))
}
