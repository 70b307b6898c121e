//! Styles of a document, and those that are added to it: the part `styles.xml` (ECMA-376, part 1, 17.7).

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{Package, Relation, Target, before_end};
use crate::error::Error;
use crate::word::attribute::attribute;

const CONTENT_TYPE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml";

/// The document's styles.
pub(super) struct Styles {
    name: String,
    xml: Vec<u8>,
    prefix: String,
    /// The ids by type and name; names without regard to capitals, as Word has them.
    ids: BTreeMap<(String, String), String>,
    /// The ids of the types' default styles.
    defaults: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    added: String,
}

impl Package<'_> {
    /// The id of the document's style of this type (`paragraph`, `character`, `table`) and name. Where it has none, one is added:
    /// `definition` makes the `w:style` of the prefix of Word's names, the id and the id of the type's default style.
    pub(crate) fn style(
        &mut self,
        (kind, name): (&str, &str),
        definition: impl FnOnce(&str, &str, Option<&str>) -> String,
    ) -> Result<String, Error> {
        if self.styles.is_none() {
            self.styles = Some(self.read_styles()?);
        }
        let Some(styles) = &mut self.styles else { return Ok(String::new()) };
        let key = (kind.to_owned(), name.to_lowercase());
        if let Some(known) = styles.ids.get(&key) {
            return Ok(known.clone());
        }
        let id = styles.free_id(name);
        let based_on = styles.defaults.get(kind).map(String::as_str);
        styles.added.push_str(&definition(&styles.prefix, &id, based_on));
        styles.ids.insert(key, id.clone());
        Ok(id)
    }

    fn read_styles(&mut self) -> Result<Styles, Error> {
        let main = self.main;
        if let Some(name) = self.related(main, Relation::Styles)?
            && let Some(xml) = self.part(&name)?
        {
            return Styles::read(name, xml);
        }
        let name = self.free_name("word/styles", ".xml");
        self.relate(main, Relation::Styles, Target::Part(&name))?;
        self.override_type(&name, CONTENT_TYPE);
        let xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:styles xmlns:w=\"{}\"></w:styles>",
            self.word_namespace()
        );
        Styles::read(name, xml.into_bytes())
    }

    pub(super) fn write_styles(&mut self) -> Result<(), Error> {
        match self.styles.take() {
            Some(Styles { name, xml, added, .. }) if !added.is_empty() => {
                // What is added has the part's own prefix already.
                let xml = before_end(&xml, "");
                let at = memchr::memrchr(b'<', &xml).unwrap_or(xml.len());
                let (before, end) = xml.split_at(at);
                self.put(&name, [before, added.as_bytes(), end].concat())
            }
            _ => Ok(()),
        }
    }
}

impl Styles {
    /// An id that no style has: the name's words as Word joins them, `Heading1` for `heading 1`.
    fn free_id(&mut self, name: &str) -> String {
        let words = name.split_whitespace().map(|word| {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            format!("{}{rest}", first.to_uppercase())
        });
        let id: String = words.collect();
        let mut free = std::iter::once(id.clone()).chain((1_u32..).map(|number| format!("{id}{number}")));
        free.find(|id| self.taken.insert(id.clone())).unwrap_or_default()
    }

    fn read(name: String, xml: Vec<u8>) -> Result<Self, Error> {
        let mut styles = Self {
            name,
            prefix: "w:".to_owned(),
            ids: BTreeMap::new(),
            defaults: BTreeMap::new(),
            taken: BTreeSet::new(),
            added: String::new(),
            xml: Vec::new(),
        };
        let mut reader = Reader::from_reader(xml.as_slice());
        let mut open: Option<(String, String)> = None;
        loop {
            let event = reader.read_event().map_err(|error| broken(&styles.name, &error))?;
            match event {
                Event::Start(tag) | Event::Empty(tag) => {
                    let whole = [b"<", &*tag].concat();
                    let value = |name: &str| {
                        let value = attribute(&whole, name).and_then(|attribute| whole.get(attribute.value));
                        value.map(|value| String::from_utf8_lossy(value).into_owned())
                    };
                    match tag.local_name().as_ref() {
                        b"styles" => {
                            let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                            styles.prefix = name.strip_suffix("styles").unwrap_or("w:").to_owned();
                        }
                        b"style" => {
                            let id = value("styleId").unwrap_or_default();
                            styles.taken.insert(id.clone());
                            let kind = value("type").unwrap_or_else(|| "paragraph".to_owned());
                            if matches!(value("default").as_deref(), Some("1" | "true" | "on")) {
                                styles.defaults.insert(kind.clone(), id.clone());
                            }
                            open = Some((kind, id));
                        }
                        b"name" => {
                            if let Some((kind, id)) = open.take() {
                                let name = value("val").unwrap_or_default().to_lowercase();
                                styles.ids.entry((kind, name)).or_insert(id);
                            }
                        }
                        _ => {}
                    }
                }
                Event::DocType(_) => {
                    return Err(Error::NotOffice(format!(
                        "{} has a document type (<!DOCTYPE), which is refused",
                        styles.name
                    )));
                }
                Event::Eof => break,
                Event::End(_)
                | Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::GeneralRef(_) => {}
            }
        }
        styles.xml = xml;
        Ok(styles)
    }
}

fn broken(name: &str, error: &quick_xml::Error) -> Error {
    Error::NotOffice(format!("{name} is broken XML ({error}); save the file anew in Word"))
}
