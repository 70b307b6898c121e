//! The search for a plan: the cheapest sequence of engines' steps from a template to a target.

use super::Engine;
use super::document::DocumentKind;
use super::step::{Step, StepKind};
use crate::domain::format_opts::{Key, KeySet, PageOptions};
use crate::domain::kinds::{FileKind, Target, TemplateKind};

/// Most steps until the file is made. Finishing steps come on top, each ability at most once.
const STEP_LIMIT: usize = 6;

/// Keys that have an effect on a PDF beside its pages. Slides made from pictures of the pages lose it.
const OF_A_PDF: KeySet = KeySet::of(&[Key::Outline, Key::Tagged, Key::Metadata]);

fn is_slides_of_pages(step: &Step) -> bool {
    step.kind == StepKind::Raster && step.to == DocumentKind::File(FileKind::Pptx)
}

/// A kind of step that an engine can do.
#[derive(Clone, Copy, Debug)]
pub struct Ability {
    /// The kind of step.
    pub step: StepKind,
    /// The kind of document that it takes.
    pub from: DocumentKind,
    /// The kind of document that it makes.
    pub to: DocumentKind,
    /// Relative cost: the cheapest plan is chosen. A step that loses more of a document's looks costs more, whatever time it
    /// takes.
    pub cost: u32,
    /// The keys of `formatOpts` that have an effect on it.
    pub heeds: KeySet,
    /// For a step that only some jobs ask for: whether these options do. One whose `from` equals its `to` (a `Finish`) is put
    /// at the end of the plan.
    pub asked_by: Option<fn(&PageOptions) -> bool>,
}

/// The steps from a template to its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
}

/// The cheapest known steps to a kind of document.
#[derive(Clone)]
struct CheapestPlan {
    to: DocumentKind,
    cost: u32,
    steps: Vec<Step>,
}

impl Ability {
    /// An ability for all jobs.
    pub const fn new(
        step: StepKind,
        (from, to): (DocumentKind, DocumentKind),
        cost: u32,
        heeds: KeySet,
    ) -> Self {
        Self { step, from, to, cost, heeds, asked_by: None }
    }
}

impl Plan {
    /// The steps, at least one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether the key has an effect on any of the steps.
    pub fn heeds(&self, key: Key) -> bool {
        let is_lost = OF_A_PDF.has(key) && self.steps.last().is_some_and(is_slides_of_pages);
        !is_lost && self.steps.iter().any(|step| step.heeds(key))
    }

    /// Whether the file keeps what the key promises: a step that makes or changes the final kind of file must heed it. A
    /// step before is not enough: a picture of a PDF/A, or of a locked PDF, is neither.
    pub fn keeps(&self, key: Key) -> bool {
        let made = self.steps.last().map(|step| step.to);
        self.steps.iter().any(|step| Some(step.to) == made && step.heeds(key))
    }

    /// The first key of `options` whose promise the file would break.
    pub fn unkept(&self, options: &PageOptions) -> Option<Key> {
        options.promised.iter().copied().find(|key| !self.keeps(*key))
    }

    /// The steps that change the finished file because the options ask for it.
    pub fn finishing(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.from == step.to)
    }

    /// The steps in a line: `ejs > chromium:print`.
    pub fn route(&self) -> String {
        self.steps.iter().map(Step::name).collect::<Vec<_>>().join(" > ")
    }
}

impl CheapestPlan {
    /// Whether no further step may follow. pandoc loses the layout of LaTeX: without TeX, a PDF made from its Word document would
    /// be another document than was asked for. Pictures of pages lose the text: without pandoc, HTML made from slides of
    /// pictures would be a pile of images.
    fn is_end(&self) -> bool {
        let pdf = DocumentKind::File(FileKind::Pdf);
        let last = self.steps.last();
        last.is_some_and(|step| [DocumentKind::Source, pdf].contains(&step.from) && step.to != pdf)
    }
}

/// The cheapest plan with the abilities of `engines`, and then the finishing steps that `options` ask for. Of equally cheap
/// plans the one with fewer steps, then the one of the engine listed first.
pub(super) fn search<'a>(
    engines: impl Iterator<Item = &'a Engine> + Clone,
    (kind, target): (TemplateKind, Target),
    options: &PageOptions,
) -> Option<Plan> {
    let goal = DocumentKind::File(target.file());
    let mut known = vec![CheapestPlan { to: DocumentKind::Template(kind), cost: 0, steps: Vec::new() }];
    // Bellman-Ford: after n rounds each entry is the cheapest of all plans with at most n steps.
    for _ in 0..STEP_LIMIT {
        let mut next = known.clone();
        for plan in known.iter().filter(|plan| !plan.is_end()) {
            for (engine, ability) in abilities(engines.clone(), plan.to, options) {
                extend(&mut next, plan, engine, ability);
            }
        }
        known = next;
    }
    let mut plan = known.into_iter().find(|plan| plan.to == goal)?;
    let finishing = abilities(engines, goal, options).filter(|(_, ability)| ability.to == goal);
    plan.steps.extend(finishing.map(|(engine, ability)| step_of(engine, ability)));
    Some(Plan { steps: plan.steps })
}

fn abilities<'a>(
    engines: impl Iterator<Item = &'a Engine>,
    from: DocumentKind,
    options: &PageOptions,
) -> impl Iterator<Item = (&'a Engine, &'static Ability)> {
    let all = engines.flat_map(|engine| engine.abilities.iter().map(move |ability| (engine, ability)));
    all.filter(move |(_, ability)| {
        ability.from == from && ability.asked_by.is_none_or(|asked_by| asked_by(options))
    })
}

fn extend(known: &mut Vec<CheapestPlan>, plan: &CheapestPlan, engine: &Engine, ability: &Ability) {
    let cost = plan.cost.saturating_add(ability.cost);
    let step = step_of(engine, ability);
    let made =
        || CheapestPlan { to: ability.to, cost, steps: plan.steps.iter().copied().chain([step]).collect() };
    match known.iter_mut().find(|other| other.to == ability.to) {
        Some(other) if cost < other.cost => *other = made(),
        Some(_) => {}
        None => known.push(made()),
    }
}

fn step_of(engine: &Engine, ability: &Ability) -> Step {
    Step { engine: engine.name, kind: ability.step, from: ability.from, to: ability.to, heeds: ability.heeds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::runner::StepRunner;
    use crate::engines::{EngineContext, ejs};

    const DOCX: DocumentKind = DocumentKind::Template(TemplateKind::Docx);

    const fn file(kind: FileKind) -> DocumentKind {
        DocumentKind::File(kind)
    }

    const fn ability(step: StepKind, change: (DocumentKind, DocumentKind), cost: u32) -> Ability {
        Ability::new(step, change, cost, KeySet::of(&[Key::Dpi]))
    }

    const FILL: Ability = ability(StepKind::Assemble, (DOCX, file(FileKind::Docx)), 1);
    const CONVERT: Ability = ability(StepKind::Convert, (file(FileKind::Docx), file(FileKind::Pdf)), 5);
    const RASTER: Ability = ability(StepKind::Raster, (file(FileKind::Pdf), file(FileKind::Png)), 2);
    const BACK: Ability = ability(StepKind::Convert, (file(FileKind::Pdf), file(FileKind::Docx)), 1);
    const DETOUR: Ability = ability(StepKind::Convert, (file(FileKind::Docx), file(FileKind::Html)), 2);
    const REST: Ability = ability(StepKind::Convert, (file(FileKind::Html), file(FileKind::Pdf)), 2);
    const SEAL: Ability = Ability {
        asked_by: Some(|options| options.extras.outline),
        ..ability(StepKind::Finish, (file(FileKind::Pdf), file(FileKind::Pdf)), 1)
    };

    fn start(_: &EngineContext<'_>) -> Box<dyn StepRunner> {
        panic!("a plan starts no engine")
    }

    fn engine(name: &'static str, abilities: &'static [Ability]) -> Engine {
        Engine { name, abilities, requires: &[], reads_files: false, slots: None, start }
    }

    fn route(engines: &[Engine], target: Target, options: &PageOptions) -> Option<String> {
        search(engines.iter(), (TemplateKind::Docx, target), options).map(|plan| plan.route())
    }

    #[test]
    fn the_cheapest_route_is_taken_and_of_equal_ones_the_first() {
        let office = engine("office", &[FILL]);
        let direct = engine("direct", &[BACK, CONVERT, RASTER]);
        let detour = engine("detour", &[DETOUR, REST]);
        let like_direct = engine("second", &[CONVERT, RASTER]);
        let options = PageOptions::default();
        let found = |engines: &[Engine], target| route(engines, target, &options).unwrap_or_default();
        assert_eq!(found(&[office, direct], Target::Pdf), "office > direct");
        assert_eq!(found(&[office, direct, like_direct], Target::Png), "office > direct > direct:raster");
        assert_eq!(found(&[office, like_direct, direct], Target::Pdf), "office > second");
        assert_eq!(
            found(&[office, direct, detour], Target::Pdf),
            "office > detour > detour",
            "4 is less than 5"
        );
        assert_eq!(found(&[office, direct], Target::Docx), "office", "and not there and back");
        assert_eq!(found(&[direct, ejs::ENGINE], Target::Pdf), "", "no engine fills it");
    }

    #[test]
    fn a_finishing_step_follows_the_route_when_it_is_asked_for() {
        let engines = [engine("seal", &[SEAL]), engine("office", &[FILL, CONVERT, RASTER])];
        let mut options = PageOptions::default();
        assert_eq!(route(&engines, Target::Pdf, &options).unwrap(), "office > office");
        options.extras.outline = true;
        assert_eq!(route(&engines, Target::Pdf, &options).unwrap(), "office > office > seal:finish");
        assert_eq!(route(&engines, Target::Png, &options).unwrap(), "office > office > office:raster");
    }

    #[test]
    fn a_pdf_of_latex_is_never_one_of_its_word_document() {
        const SOURCE: DocumentKind = DocumentKind::Source;
        const FILLED: Ability = ability(StepKind::Assemble, (DOCX, SOURCE), 1);
        const TEX: Ability = ability(StepKind::Convert, (SOURCE, file(FileKind::Pdf)), 9);
        const WORDS: Ability = ability(StepKind::Convert, (SOURCE, file(FileKind::Docx)), 1);
        let (source, words) = (engine("ejs", &[FILLED]), engine("pandoc", &[WORDS]));
        let (office, tex) = (engine("office", &[CONVERT]), engine("tex", &[TEX, RASTER]));
        let found = |engines: &[Engine], target| route(engines, target, &PageOptions::default());
        assert_eq!(found(&[source, words, office], Target::Docx).unwrap(), "ejs > pandoc");
        assert_eq!(found(&[source, words, office], Target::Pdf), None);
        assert_eq!(found(&[source, words, office, tex], Target::Png).unwrap(), "ejs > tex > tex:raster");
    }

    #[test]
    fn a_plan_is_bounded() {
        const KINDS: [FileKind; 7] = [
            FileKind::Docx,
            FileKind::Html,
            FileKind::Zip,
            FileKind::Xlsx,
            FileKind::Pptx,
            FileKind::Jpg,
            FileKind::Png,
        ];
        const fn hop(at: usize) -> Ability {
            ability(StepKind::Convert, (file(KINDS[at]), file(KINDS[at + 1])), 1)
        }
        const HOPS: &[Ability] = &[FILL, hop(0), hop(1), hop(2), hop(3), hop(4), hop(5)];
        let chain = engine("chain", HOPS);
        let options = PageOptions::default();
        let plan = search([chain].iter(), (TemplateKind::Docx, Target::Jpg), &options).unwrap();
        assert_eq!(plan.steps().len(), STEP_LIMIT);
        assert!(plan.heeds(Key::Dpi) && !plan.heeds(Key::Scale));
        assert_eq!(route(&[chain], Target::Png, &options), None, "it would be one step more");
    }

    #[test]
    fn a_promise_is_kept_by_the_engine_that_makes_the_file() {
        let heeding = |ability: Ability| Ability { heeds: KeySet::of(&[Key::Pdfa]), ..ability };
        let silent = |ability: Ability| Ability { heeds: KeySet::NONE, ..ability };
        let abilities = |seal| Box::leak(Box::new([silent(FILL), heeding(CONVERT), silent(RASTER), seal]));
        let options = PageOptions { promised: vec![Key::Pdfa], ..PageOptions::default() };
        let unkept = |target, options: &PageOptions, seal| {
            let engines = [engine("all", abilities(seal))];
            search(engines.iter(), (TemplateKind::Docx, target), options).unwrap().unkept(options)
        };
        let outlined = {
            let mut outlined = options.clone();
            outlined.extras.outline = true;
            outlined
        };
        for options in [&options, &outlined] {
            assert_eq!(unkept(Target::Pdf, options, silent(SEAL)), None, "also behind what finishes it");
            assert_eq!(unkept(Target::Png, options, silent(SEAL)), Some(Key::Pdfa));
            assert_eq!(unkept(Target::Docx, options, silent(SEAL)), Some(Key::Pdfa));
        }
        assert_eq!(unkept(Target::Pdf, &PageOptions::default(), silent(SEAL)), None, "nothing is promised");
    }
}
