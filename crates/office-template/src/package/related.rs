//! A part that a document has once, by a relationship: its styles, its lists. One is added where there is none.

use super::{Package, Relation, Target};
use crate::error::Error;

/// What is added where a document has no such part.
pub(crate) struct NewPart<'a> {
    /// Its name without number and extension.
    pub stem: &'a str,
    pub content_type: &'a str,
    /// The local name of its root, which is of Word's namespace.
    pub root: &'a str,
    pub namespace: &'a str,
}

impl Package<'_> {
    /// The name of the part with this relation to `main`; an empty one is added where there is none.
    ///
    /// Hazard: a damaged file relates a part that it does not have. What is added to nothing is no XML, so it is added to an
    /// empty part of that name.
    pub(crate) fn related_or_new(
        &mut self,
        main: &str,
        relation: Relation,
        new: &NewPart<'_>,
    ) -> Result<String, Error> {
        let related = self.related(main, relation)?;
        if let Some(name) = related.as_ref().filter(|name| self.has(name)) {
            return Ok(name.clone());
        }
        let NewPart { stem, content_type, root, namespace } = *new;
        let xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:{root} xmlns:w=\"{namespace}\"></w:{root}>"
        );
        let name = related.clone().unwrap_or_else(|| self.free_name(stem, ".xml"));
        let lower = name.to_ascii_lowercase();
        let has_type = related.is_some() && self.kinds()?.named().any(|(named, _)| named == lower);
        self.put(&name, xml.into_bytes())?;
        if !has_type {
            self.override_type(&name, content_type)?;
        }
        if related.is_none() {
            self.relate(main, relation, Target::Part(&name))?;
        }
        Ok(name)
    }
}
