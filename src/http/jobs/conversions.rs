//! Refuses conversions that are not possible, before anything is stored.

use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::{Target, TemplateKind};
use crate::engines::catalog::PlanError;
use crate::http::state::HttpState;
use crate::problem::{Code, FieldError, Problem};

/// Checks that there is a plan for type, target and options.
///
/// # Errors
/// `unsupported_conversion`, naming what the kind can become, or what must be installed here;
/// `validation_failed` for an option whose promise (a password, say) the target could not keep.
pub(in crate::http) fn admit(
    state: &HttpState,
    (kind, target): (TemplateKind, Target),
    options: &PageOptions,
) -> Result<(), Problem> {
    let Err(unplanned) = state.catalog.plan(kind, target, options) else { return Ok(()) };
    let (kind, target) = (kind.name(), target.name());
    let detail = match unplanned {
        PlanError::Impossible(possible) => {
            format!("'{kind}' cannot become '{target}'; it can become {possible}.")
        }
        PlanError::Unmet(unmet) => format!("'{kind}' cannot become '{target}' here: {unmet}."),
        PlanError::Unkept(key, keepers) => {
            let detail =
                format!("promises what cannot be kept {keepers}. Leave the key out, or change the target");
            return Err(Problem::validation(vec![FieldError::new(format!("/formatOpts/{key}"), detail)]));
        }
    };
    Err(Problem::new(Code::UnsupportedConversion, detail))
}
