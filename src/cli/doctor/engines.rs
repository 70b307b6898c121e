//! The programs that engines need: which are there, and what cannot be made without the others.

use super::report::Finding;
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::{Target, TemplateKind};
use crate::engines::Engine;
use crate::engines::catalog::Catalog;
use crate::engines::requirement::{Lack, Requirement};

/// A finding for each program of each engine, and one for each engine that must be fenced and is not.
pub(super) fn findings(catalog: &Catalog) -> Vec<Finding> {
    let of = |engine: &Engine| -> Vec<_> {
        let lack = catalog.lack(engine.name);
        let of = |requirement| finding(requirement, lack, || disabled(catalog, engine));
        let unfenced = lack.filter(|lack| *lack == Lack::Fence).map(|lack| {
            Finding::warning(engine.name, lack.brief()).so(disabled(catalog, engine), lack.to_string())
        });
        engine.requires.iter().map(of).chain(unfenced).collect()
    };
    catalog.engines().flat_map(of).collect()
}

/// What is missing is a warning: everything else can be made without it.
fn finding(requirement: &'static Requirement, lack: Option<Lack>, disabled: impl Fn() -> String) -> Finding {
    let remedy = || format!("{} (package {})", requirement.command, requirement.package);
    let warning = |detail| Finding::warning(requirement.name, detail).so(disabled(), remedy());
    match (requirement.program(), lack) {
        (None, _) => warning(format!("there is no {}", requirement.programs.join(" or "))),
        (Some(program), Some(Lack::Version(old, found))) if old == requirement => {
            let least =
                old.version.map(|version| format!("; {} is needed", version.least)).unwrap_or_default();
            warning(format!("{} is {found}{least}", program.display()))
        }
        (Some(program), _) => Finding::ok(requirement.name, program.display().to_string()),
    }
}

/// What is refused without the engine: `docx: pdf, png`.
fn disabled(catalog: &Catalog, engine: &Engine) -> String {
    let options = PageOptions::default();
    let needs = |kind, target: &Target| {
        let route = catalog.route(kind, *target, &options);
        route.is_some_and(|route| route.steps().iter().any(|step| step.engine == engine.name))
    };
    let of_kind = |kind: TemplateKind| {
        let targets: Vec<_> =
            Target::ALL.into_iter().filter(|target| needs(kind, target)).map(Target::name).collect();
        (!targets.is_empty()).then(|| format!("{} to {}", kind.name(), targets.join(", ")))
    };
    let lines: Vec<_> = TemplateKind::ALL.into_iter().filter_map(of_kind).collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::kinds::FileKind;
    use crate::engines::document::DocumentKind;
    use crate::engines::plan::Ability;
    use crate::engines::step::StepKind;
    use crate::telemetry::metrics::Metrics;

    const fn able(step: StepKind, from: DocumentKind, to: FileKind) -> Ability {
        Ability { step, from, to: DocumentKind::File(to), cost: 1, heeds: &[], asked_by: None }
    }

    const PRESS: Engine = Engine {
        name: "press",
        abilities: &[
            able(StepKind::Assemble, DocumentKind::Template(TemplateKind::Docx), FileKind::Docx),
            able(StepKind::Convert, DocumentKind::File(FileKind::Docx), FileKind::Pdf),
            able(StepKind::Convert, DocumentKind::Template(TemplateKind::Latex), FileKind::Pdf),
        ],
        requires: &[
            Requirement {
                name: "Shell",
                programs: &["/nowhere/sh", "/bin/sh"],
                version: None,
                package: "dash",
                command: "none",
            },
            Requirement {
                name: "Press",
                programs: &["/nowhere/press", "/etc"],
                version: None,
                package: "press-core",
                command: "scripts/setup --press",
            },
        ],
        fenced: true,
        slots: None,
        start: |_| panic!("the doctor starts nobody"),
    };

    #[test]
    fn what_an_engine_needs_is_found_or_told_with_what_it_disables() {
        let catalog = Catalog::new(vec![PRESS], true, Metrics::new().engines);
        let missing = Finding::warning("Press", "there is no /nowhere/press or /etc")
            .so("latex to pdf; docx to docx, pdf", "scripts/setup --press (package press-core)");
        assert_eq!(findings(&catalog), [Finding::ok("Shell", "/bin/sh"), missing]);
    }

    #[test]
    fn an_engine_that_reads_files_is_told_where_they_cannot_be_kept_from_it() {
        let shell = Engine { requires: &PRESS.requires[..1], ..PRESS };
        let found = findings(&Catalog::new(vec![shell], false, Metrics::new().engines));
        assert_eq!(found[0], Finding::ok("Shell", "/bin/sh"));
        assert!(
            found[1].part == "press" && found[1].remedy.as_deref().unwrap().contains("Landlock"),
            "{found:?}"
        );
        assert_eq!(found[1].disables.as_deref(), Some("latex to pdf; docx to docx, pdf"));
    }

    #[test]
    fn our_own_engines_need_nothing_that_is_not_looked_at_otherwise() {
        let catalog = Catalog::new(crate::engines::all(), false, Metrics::new().engines);
        assert_eq!(findings(&catalog), []);
    }
}
