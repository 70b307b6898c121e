//! The programs that engines need: which are installed, and what cannot be made without the others.

use super::report::Finding;
use crate::app::unknown_engine;
use crate::config::EnginesConfig;
use crate::domain::kinds::{Target, TemplateKind};
use crate::engines::Engine;
use crate::engines::catalog::Catalog;
use crate::engines::requirement::{Numbers, Requirement, UnmetRequirement};
use crate::engines::{libreoffice, tex};

/// One finding for each requirement, however many engines share it, and one for each engine that may not run here because it
/// needs Landlock.
pub(super) fn findings(catalog: &Catalog) -> Vec<Finding> {
    let mut seen: Vec<&Requirement> = Vec::new();
    let mut findings = Vec::new();
    for engine in catalog.engines() {
        let lack = catalog.unmet(engine.name);
        for requirement in engine.requires {
            if !seen.contains(&requirement) {
                seen.push(requirement);
                let is_without = |engine: &Engine| engine.requires.contains(requirement);
                findings.push(finding(requirement, lack, || disabled(catalog, is_without)));
            }
        }
        if let Some(lack) = lack.filter(|lack| *lack == UnmetRequirement::Landlock) {
            let is_without = |other: &Engine| other.name == engine.name;
            let unfenced = Finding::warning(engine.name, lack.brief());
            findings.push(unfenced.with_remedy(disabled(catalog, is_without), lack.to_string()));
        }
    }
    findings
}

/// A finding for each program that only some documents of an engine need; none where the engine itself is missing.
pub(super) fn extras(catalog: &Catalog) -> Vec<Finding> {
    if matches!(catalog.unmet(tex::ENGINE.name), Some(UnmetRequirement::Missing(_))) {
        return Vec::new();
    }
    let found = |(requirement, without): &'static (Requirement, &str)| {
        finding(requirement, None, || (*without).to_owned())
    };
    tex::EXTRAS.iter().map(found).collect()
}

/// A LibreOffice that is older than what Platen is tested with, as Debian 12 has it outside of its backports.
pub(super) fn old_libreoffice(version: Option<Numbers>) -> Option<Finding> {
    let (found, oldest) = (version?, libreoffice::OLDEST_TESTED);
    let detail = format!("{found} is older than {oldest}, the oldest version that Platen is tested with");
    let disables = "Office documents as they should be: some are laid out wrong, or not made at all";
    (found < oldest)
        .then(|| Finding::warning("LibreOffice", detail).with_remedy(disables, libreoffice::INSTALL))
}

/// An unknown engine in `engines.slots`, with which the service does not start.
pub(super) fn slots(catalog: &Catalog, config: &EnginesConfig) -> Option<Finding> {
    let wrong = unknown_engine(catalog, config)?;
    let remedy = "name one of these in engines.slots, or leave the entry out";
    Some(Finding::missing("Engines", wrong).with_remedy("the start of the service, which refuses it", remedy))
}

/// The finding of one requirement. A missing one is a warning only: other documents can be made without it.
fn finding(
    requirement: &'static Requirement,
    lack: Option<UnmetRequirement>,
    disabled: impl Fn() -> String,
) -> Finding {
    let warning =
        |detail| Finding::warning(requirement.name, detail).with_remedy(disabled(), requirement.command());
    match (requirement.installed(), lack) {
        (None, _) => warning(format!("there is no {}", requirement.sought())),
        (Some(program), Some(UnmetRequirement::Version(old, found))) if old == requirement => {
            let least =
                old.version.map(|version| format!("; {} is needed", version.least)).unwrap_or_default();
            warning(format!("{} is {found}{least}", program.display()))
        }
        (Some(program), _) => Finding::ok(requirement.name, program.display().to_string()),
    }
}

/// What cannot be made without the engines chosen by `is_without`, as in `docx to pdf, png; pdf with formatOpts.password`.
fn disabled(catalog: &Catalog, is_without: impl Fn(&Engine) -> bool) -> String {
    let needs = |kind, target: &Target| catalog.needs(kind, *target, &is_without);
    let of_kind = |kind: TemplateKind| {
        let targets: Vec<_> =
            Target::ALL.into_iter().filter(|target| needs(kind, target)).map(Target::name).collect();
        (!targets.is_empty()).then(|| format!("{} to {}", kind.name(), targets.join(", ")))
    };
    let kinds = TemplateKind::ALL.into_iter().filter_map(of_kind);
    let finishes = catalog.engines().filter(|engine| is_without(engine)).flat_map(|engine| engine.abilities);
    let finishes = finishes.filter(|ability| ability.asked_by.is_some()).map(|ability| {
        let keys: Vec<_> = ability.heeds.iter().map(|key| format!("formatOpts.{key}")).collect();
        format!("{} with {}", ability.to.name(), keys.join(", "))
    });
    kinds.chain(finishes).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::report::State;
    use crate::domain::format_opts::KeySet;
    use crate::domain::kinds::FileKind;
    use crate::engines::document::DocumentKind;
    use crate::engines::plan::Ability;
    use crate::engines::requirement::{Install, Part};
    use crate::engines::step::StepKind;
    use crate::telemetry::metrics::Metrics;

    const fn ability(step: StepKind, from: DocumentKind, to: FileKind) -> Ability {
        Ability { step, from, to: DocumentKind::File(to), cost: 1, heeds: KeySet::NONE, asked_by: None }
    }

    const PRESS: Engine = Engine {
        name: "press",
        abilities: &[
            ability(StepKind::Assemble, DocumentKind::Template(TemplateKind::Docx), FileKind::Docx),
            ability(StepKind::Convert, DocumentKind::File(FileKind::Docx), FileKind::Pdf),
            ability(StepKind::Convert, DocumentKind::Template(TemplateKind::Latex), FileKind::Pdf),
        ],
        requires: &[
            Requirement {
                name: "Shell",
                part: Part::Program,
                paths: &["/nowhere/sh", "/bin/sh"],
                version: None,
                install: Install::Package("dash"),
            },
            Requirement {
                name: "Press",
                part: Part::Program,
                paths: &["/nowhere/press", "/etc"],
                version: None,
                install: Install::Command("scripts/setup --press"),
            },
        ],
        reads_files: true,
        slots: None,
        start: |_| panic!("the doctor starts nobody"),
    };

    #[test]
    fn a_missing_requirement_is_reported_with_what_it_disables() {
        let catalog = Catalog::new(vec![PRESS], true, Metrics::new().engines);
        let missing = Finding::warning("Press", "there is no /nowhere/press or /etc")
            .with_remedy("latex to pdf; docx to docx, pdf", "scripts/setup --press");
        assert_eq!(findings(&catalog), [Finding::ok("Shell", "/bin/sh"), missing]);
    }

    #[test]
    fn a_libreoffice_that_was_never_tested_with_is_reported_by_its_version() {
        assert_eq!(old_libreoffice(None), None);
        assert_eq!(old_libreoffice(Some(libreoffice::OLDEST_TESTED)), None);
        let old = old_libreoffice(Some(Numbers(7, 4))).unwrap();
        assert!(old.state == State::Warning && old.detail.starts_with("7.4 is older than 25.2"), "{old:?}");
    }

    #[test]
    fn slots_of_an_unknown_engine_are_reported() {
        let catalog = Catalog::new(vec![PRESS], true, Metrics::new().engines);
        let finding_of = |slots: &str| {
            let config = EnginesConfig { slots: vec![slots.to_owned()], ..EnginesConfig::default() };
            super::slots(&catalog, &config).map(|finding| (finding.state, finding.detail))
        };
        assert_eq!(finding_of("press=2"), None);
        let detail = "there is no engine 'pres'; there are: press".to_owned();
        assert_eq!(finding_of("pres=2"), Some((State::Missing, detail)));
    }

    #[test]
    fn without_landlock_an_engine_that_reads_files_is_reported() {
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
    fn a_requirement_of_several_engines_is_one_finding() {
        let catalog = Catalog::new(crate::engines::all(), false, Metrics::new().engines);
        let library = crate::engines::script::JAVASCRIPT_CORE.installed().unwrap();
        let found = findings(&catalog);
        let of_library: Vec<_> = found.iter().filter(|finding| finding.part == "JavaScriptCore").collect();
        assert_eq!(of_library, [&Finding::ok("JavaScriptCore", library.display().to_string())]);
        let unfenced = found.iter().find(|finding| finding.part == "qpdf" && finding.disables.is_some());
        let passwords = "pdf with formatOpts.password, formatOpts.userPassword, formatOpts.ownerPassword, \
                         formatOpts.permissions";
        assert_eq!(unfenced.and_then(|finding| finding.disables.as_deref()), Some(passwords));
        // Templates of type html are absent: pages without tags need no script engine.
        let is_without = |engine: &Engine| engine.requires.contains(&crate::engines::script::JAVASCRIPT_CORE);
        assert_eq!(
            disabled(&catalog, is_without),
            "ejs to jpg, png, pptx, html, pdf; pptx to jpg, png, pptx, html, pdf; xlsx to jpg, png, pptx, xlsx, html, pdf; docx \
             to jpg, png, pptx, docx, html, pdf"
        );
    }
}
