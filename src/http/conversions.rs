//! What can become what, as far as a request is refused for it. One place, until `engines::plan` is there.

use crate::domain::kinds::{Target, TemplateKind};
use crate::problem::{Code, Problem};

/// Refuses a pair that nobody can render.
///
/// # Errors
/// `unsupported_conversion`, naming what the kind can become.
pub(super) fn admit(kind: TemplateKind, target: Target) -> Result<(), Problem> {
    let targets = targets_of(kind);
    if targets.contains(&target) {
        return Ok(());
    }
    let (kind, target) = (kind.name(), target.name());
    let can = if targets.is_empty() {
        "nothing in this build".to_owned()
    } else {
        targets.iter().map(|target| target.name()).collect::<Vec<_>>().join(", ")
    };
    let detail = format!("'{kind}' cannot become '{target}'; it can become {can}.");
    Err(Problem::new(Code::UnsupportedConversion, detail))
}

fn targets_of(kind: TemplateKind) -> &'static [Target] {
    match kind {
        TemplateKind::Html | TemplateKind::Ejs | TemplateKind::Framework => {
            &[Target::Pdf, Target::Png, Target::Jpg, Target::Html]
        }
        TemplateKind::Latex | TemplateKind::Pptx | TemplateKind::Xlsx | TemplateKind::Docx => &[],
    }
}
