//! On which targets a key of `formatOpts` has an effect.

use super::catalog::Catalog;
use super::document::DocumentKind;
use crate::domain::format_opts::{Key, PageOptions};
use crate::domain::kinds::{Target, TemplateKind};

impl Catalog {
    /// The targets on which the key has an effect, if everything were installed; of a key that promises something those whose
    /// makers keep it.
    pub fn works_on(&self, key: Key) -> impl Iterator<Item = Target> {
        let heeds = move |kind: TemplateKind, target: Target| {
            let route = self.route(kind, target, &PageOptions::default());
            route.is_some_and(|route| route.heeds(key))
        };
        let keeps = move |target: Target| {
            let made = DocumentKind::File(target.file());
            let abilities = self.engines().flat_map(|engine| engine.abilities);
            abilities.filter(|ability| ability.to == made).any(|ability| ability.heeds.has(key))
        };
        Target::ALL.into_iter().filter(move |&target| {
            if key.promises() {
                keeps(target)
            } else {
                TemplateKind::ALL.into_iter().any(|kind| heeds(kind, target))
            }
        })
    }
}
