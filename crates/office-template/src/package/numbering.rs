//! Lists that are added to a document: the part `numbering.xml` (ECMA-376, part 1, 17.9).

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{Package, Relation, Target};
use crate::error::Error;
use crate::word::attribute::attribute;

const CONTENT_TYPE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml";

/// What is added to a document's lists.
pub(super) struct Numbering {
    name: String,
    xml: Vec<u8>,
    prefix: String,
    /// Where definitions (`w:abstractNum`) are added, and lists (`w:num`) behind them.
    definitions_at: usize,
    lists_at: usize,
    next_definition: u64,
    next_list: u64,
    definitions: String,
    lists: String,
}

impl Package<'_> {
    /// Adds a list, and tells its number (`w:numId`). `definition` makes its `w:abstractNum` of the prefix of Word's names and the
    /// definition's number.
    pub(crate) fn add_list(&mut self, definition: impl FnOnce(&str, u64) -> String) -> Result<u64, Error> {
        if self.numbering.is_none() {
            self.numbering = Some(self.read_numbering()?);
        }
        let Some(numbering) = &mut self.numbering else { return Ok(0) };
        let (abstract_number, number) = (numbering.next_definition, numbering.next_list);
        numbering.next_definition += 1;
        numbering.next_list += 1;
        let prefix = &numbering.prefix;
        numbering.definitions.push_str(&definition(prefix, abstract_number));
        numbering.lists.push_str(&format!(
            "<{prefix}num {prefix}numId=\"{number}\"><{prefix}abstractNumId {prefix}val=\"{abstract_number}\"/></{prefix}num>"
        ));
        Ok(number)
    }

    fn read_numbering(&mut self) -> Result<Numbering, Error> {
        let main = self.main;
        if let Some(name) = self.related(main, Relation::Numbering)?
            && let Some(xml) = self.part(&name)?
        {
            return Numbering::read(name, xml);
        }
        let name = self.free_name("word/numbering", ".xml");
        self.relate(main, Relation::Numbering, Target::Part(&name))?;
        self.override_type(&name, CONTENT_TYPE);
        let xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:numbering xmlns:w=\"{}\"></w:numbering>",
            self.word_namespace()
        );
        Numbering::read(name, xml.into_bytes())
    }

    pub(super) fn write_numbering(&mut self) -> Result<(), Error> {
        let Some(numbering) = self.numbering.take() else { return Ok(()) };
        let Numbering { name, mut xml, definitions_at, lists_at, definitions, lists, .. } = numbering;
        xml.splice(lists_at..lists_at, lists.into_bytes());
        xml.splice(definitions_at..definitions_at, definitions.into_bytes());
        self.put(&name, xml)
    }
}

impl Numbering {
    fn read(name: String, xml: Vec<u8>) -> Result<Self, Error> {
        // An empty root has no place for anything.
        let xml = super::before_end(&xml, "");
        let mut prefix = "w:".to_owned();
        let (mut first_list, mut last, mut root_end) = (None, None, xml.len());
        let (mut largest_definition, mut largest_list) = (None, 0);
        let (mut depth, mut from) = (0_u32, 0);
        let mut reader = Reader::from_reader(xml.as_slice());
        loop {
            let event = reader.read_event().map_err(|error| broken(&name, &error))?;
            let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let (tag, is_start) = match &event {
                Event::Start(tag) => (Some(tag), true),
                Event::Empty(tag) => (Some(tag), false),
                Event::DocType(_) => {
                    return Err(Error::NotOffice(format!(
                        "{name} has a document type (<!DOCTYPE), which is refused"
                    )));
                }
                Event::End(_) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        root_end = from;
                    }
                    (None, false)
                }
                Event::Eof => break,
                Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::GeneralRef(_) => (None, false),
            };
            if let Some(tag) = tag {
                let whole = [b"<", &**tag].concat();
                let number = |name: &str| {
                    let value = attribute(&whole, name).and_then(|attribute| whole.get(attribute.value));
                    value.and_then(|value| std::str::from_utf8(value).ok()?.parse::<u64>().ok())
                };
                let name = tag.name();
                match (depth, tag.local_name().as_ref()) {
                    (0, local) => {
                        let name = std::str::from_utf8(name.as_ref()).unwrap_or_default();
                        prefix = name
                            .strip_suffix(std::str::from_utf8(local).unwrap_or_default())
                            .unwrap_or("w:")
                            .to_owned();
                    }
                    (1, b"abstractNum") => {
                        largest_definition = largest_definition.max(number("abstractNumId"))
                    }
                    (1, b"num") => {
                        first_list.get_or_insert(from);
                        largest_list = largest_list.max(number("numId").unwrap_or_default());
                    }
                    (1, b"numIdMacAtCleanup") => {
                        last.get_or_insert(from);
                    }
                    _ => {}
                }
                depth += u32::from(is_start);
            }
            from = end;
        }
        let lists_at = last.unwrap_or(root_end);
        Ok(Self {
            definitions_at: first_list.unwrap_or(lists_at),
            lists_at,
            next_definition: largest_definition.map_or(0, |largest: u64| largest.saturating_add(1)),
            next_list: largest_list.saturating_add(1),
            definitions: String::new(),
            lists: String::new(),
            name,
            prefix,
            xml,
        })
    }
}

fn broken(name: &str, error: &quick_xml::Error) -> Error {
    Error::NotOffice(format!("{name} is broken XML ({error}); save the file anew in Word"))
}
