//! PowerPoint: fonts of the slides' texts, and of the theme of those slides.

use std::collections::BTreeSet;

use crate::package::Package;
use crate::word::theme;
use crate::xml::{Met, each};

pub fn families(package: &mut Package<'_>) -> BTreeSet<String> {
    let mut families = BTreeSet::new();
    let mut masters = BTreeSet::new();
    for slide in package.named("ppt/slides/slide", ".xml") {
        latin(&package.part(&slide), &mut families);
        let layout = related(package, &slide, "slideLayouts/");
        masters.extend(layout.and_then(|layout| related(package, &layout, "slideMasters/")));
    }
    for master in masters {
        latin(&package.part(&master), &mut families);
        if let Some(name) = related(package, &master, "theme/") {
            let (headings, texts) = theme(&package.part(&name));
            families.extend([headings, texts]);
        }
    }
    families
}

fn latin(part: &[u8], families: &mut BTreeSet<String>) {
    each(part, |met| {
        if let Met::Start(element) = met
            && element.name() == "latin"
        {
            families.extend(element.attribute("typeface"));
        }
    });
}

/// The part in that folder which another one names.
fn related(package: &mut Package<'_>, part: &str, folder: &str) -> Option<String> {
    let (above, name) = part.rsplit_once('/')?;
    let mut found = None;
    each(&package.part(&format!("{above}/_rels/{name}.rels")), |met| {
        if let Met::Start(element) = met
            && let Some(target) = element.attribute("Target")
            && let Some((_, file)) = target.split_once(folder)
        {
            found.get_or_insert(format!("ppt/{folder}{file}"));
        }
    });
    found
}
