//! `{~html}`: rich text as Word's own paragraphs, lists and tables.

use word_writer::model::{Extent, Level, Picture, Role};
use word_writer::{Base, Content, Limits, html, numbering, styles};

use super::properties::inner;
use super::{Place, image};
use crate::address::external;
use crate::answer;
use crate::error::Error;
use crate::files::Files;
use crate::include::prepare_lists;
use crate::package::{Package, Relation, Target};
use crate::written::{Refusal, Written};

/// Properties that are not copied from the place: of its section, and of its tracked changes.
const OWN: [&str; 7] = ["sectPr", "pPrChange", "rPrChange", "ins", "del", "moveFrom", "moveTo"];

/// Writes rich text in the style of the tag's place.
pub(super) fn write(
    text: &str,
    place: &Place<'_>,
    (package, files): (&mut Package<'_>, &mut dyn Files),
) -> Result<Written, Refusal> {
    let reading = html::read(text, &Limits::default()).map_err(|error| error.to_string())?;
    let prefix = place.source.prefix;
    let run = inner(place.run_properties, prefix, &OWN);
    let paragraph = unchanged(&inner(place.paragraph_properties, prefix, &OWN), prefix);
    let usual = Base::default();
    let base = Base {
        prefix: prefix.trim_end_matches(':'),
        run: Some(&run),
        paragraph: Some(&paragraph),
        width: place.width.and_then(|width| width.try_into().ok()).unwrap_or(usual.width),
        ..usual
    };
    let mut needs = Needs { place, package, files, error: None };
    let written = word_writer::write(&reading.document, &base, &mut needs);
    if let Some(error) = needs.error {
        return Err(error.into());
    }
    for warning in reading.warnings.into_iter().chain(written.warnings) {
        package.warnings.push(&warning);
    }
    let namespace = package.relationships_namespace();
    // The part may not declare the prefix. The search finds only attributes: in text a quote is escaped.
    let declared = |xml: String| xml.replace(" r:id=\"", &format!(" xmlns:r=\"{namespace}\" r:id=\""));
    Ok(match written.content {
        Content::Inline(xml) => Written::Inline(declared(xml)),
        Content::Blocks { xml, .. } => Written::Blocks(declared(xml)),
    })
}

/// A paragraph's properties without the tracked changes of its mark: their ids must be unique, so they cannot be copied.
fn unchanged(properties: &str, prefix: &str) -> String {
    let mark = format!("<{prefix}rPr>");
    let end = format!("</{prefix}rPr>");
    match properties.split_once(&mark).and_then(|(before, rest)| Some((before, rest.split_once(&end)?))) {
        Some((before, (of_mark, behind))) => {
            let kept = inner(&format!("{mark}{of_mark}{end}"), prefix, &OWN);
            format!("{before}{mark}{kept}{end}{behind}")
        }
        None => properties.to_owned(),
    }
}

/// Adds what the text needs to the document: relationships, pictures, lists and styles.
struct Needs<'a, 'p> {
    place: &'a Place<'a>,
    package: &'a mut Package<'p>,
    files: &'a mut dyn Files,
    /// The first error. The writer's interface has no errors of this kind, so it goes on and the error is returned at the end.
    error: Option<Error>,
}

impl Needs<'_, '_> {
    fn kept<T: Default>(&mut self, result: Result<T, Error>) -> T {
        result.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            T::default()
        })
    }
}

impl word_writer::Package for Needs<'_, '_> {
    fn link(&mut self, url: &str) -> Result<String, String> {
        let target = external(url)?;
        let id = self.package.relate(self.place.source.name, Relation::Hyperlink, Target::External(&target));
        Ok(self.kept(id))
    }

    fn picture(&mut self, picture: &Picture) -> Result<String, String> {
        let length = |extent: Option<Extent>| match extent {
            Some(Extent::Twips(twips)) => Some(format!("{}pt", f64::from(twips) / 20.0)),
            Some(Extent::Percent(hundredths)) => Some(format!("{}%", f64::from(hundredths) / 100.0)),
            None => None,
        };
        let named = [("width", length(picture.width)), ("height", length(picture.height))];
        let mut options: image::Options =
            named.into_iter().filter_map(|(name, text)| Some((name.to_owned(), vec![text?]))).collect();
        options.insert("fit".to_owned(), vec!["fill".to_owned()]);
        options.insert("alt".to_owned(), vec![picture.alt.clone()]);
        let content =
            answer::Content { form: answer::Form::Image, fields: vec![Some(picture.source.as_str().into())] };
        let stored = image::stored(&content, &options, (self.package, self.files));
        match stored.and_then(|stored| image::drawing(&stored, &options, self.place, self.package)) {
            Ok(drawing) => Ok(drawing),
            Err(Refusal::Fault(why)) => Err(why),
            Err(Refusal::NotFetched) => Err("it is not fetched".to_owned()),
            Err(Refusal::Error(error)) => {
                self.error.get_or_insert(error);
                Err("the document becomes too large".to_owned())
            }
        }
    }

    fn list(&mut self, levels: &[Level]) -> u32 {
        let prepared = prepare_lists(self.place.source.root, self.package);
        self.kept(prepared);
        let Some(lists) = &mut self.package.taken.lists else { return 0 };
        let number = lists.add(|prefix, number| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            numbering::abstract_num(prefix.trim_end_matches(':'), number, levels)
        });
        u32::try_from(number).unwrap_or_default()
    }

    fn style(&mut self, role: Role) -> String {
        let (kind, name) = (styles::kind(role), styles::name(role));
        let id = crate::named_styles::named(
            self.package,
            self.place.source.root,
            (kind, name),
            |prefix, id, based_on| styles::definition(prefix.trim_end_matches(':'), role, id, based_on),
        );
        self.kept(id)
    }
}
