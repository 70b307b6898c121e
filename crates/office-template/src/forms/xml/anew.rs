//! Parses XML of the data and writes it anew from its events, so that the output is well-formed whatever the input was.

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::super::Place;
use super::fields::Fields;
use super::namespaces::{Attribute, Namespaces, RELATIONSHIPS, declared};
use crate::include::Copy;
use crate::package::Package;
use crate::package::xml::{attribute_text, can_stand, escaped};
use crate::word::{NAMESPACES, attribute};
use crate::written::Refusal;

const DEPTH: usize = 200;

/// Most attributes of an element.
const ATTRIBUTES: usize = 100;

/// The namespaces of VML, the old form of drawings, and of Office's additions to it.
const OLD_DRAWINGS: [&str; 2] = ["urn:schemas-microsoft-com:vml", "urn:schemas-microsoft-com:office:office"];

/// Attributes that refer to files and addresses without a relationship.
const ADDRESSES: [&str; 5] = ["src", "href", "althref", "relid", "embeddedHtml"];

/// Elements that refer to texts of other parts.
const NOTES: [&str; 5] =
    ["footnoteReference", "endnoteReference", "commentReference", "commentRangeStart", "commentRangeEnd"];

/// The new XML, and the names of the elements at its top without their prefix.
pub(super) struct Anew {
    pub xml: String,
    pub top: Vec<String>,
}

pub(super) fn anew(xml: &str, place: &Place<'_>, package: &mut Package<'_>) -> Result<Anew, Refusal> {
    let prefix = place.source.prefix;
    let mut writer = Writer {
        prefix,
        namespaces: Namespaces::of_root(super::root(place.source.xml), prefix),
        fields: Fields::default(),
        copy: Copy::begin(package, place.source.root.0)?,
        open: Vec::new(),
        dropped: None,
        top: Vec::new(),
        out: String::with_capacity(xml.len()),
    };
    let mut reader = Reader::from_str(xml);
    loop {
        let event = reader.read_event();
        let at = reader.error_position();
        match event.map_err(|error| format!("the XML is broken at byte {at} ({error})"))? {
            Event::Start(tag) => writer.begin(&tag, false)?,
            Event::Empty(tag) => writer.begin(&tag, true)?,
            Event::End(_) => writer.end(),
            Event::Text(text) => writer.text(&String::from_utf8_lossy(&text))?,
            Event::GeneralRef(reference) => writer.reference(&reference)?,
            Event::CData(_) | Event::PI(_) | Event::DocType(_) | Event::Decl(_) => {
                let message = "the XML has a declaration, an instruction or a CDATA section";
                return Err(message.to_owned().into());
            }
            // Comments are left out.
            Event::Comment(_) => {}
            Event::Eof if writer.open.is_empty() => break,
            Event::Eof => return Err("the XML ends within an element".to_owned().into()),
        }
    }
    writer.fields.end()?;
    Ok(Anew { xml: writer.out, top: writer.top })
}

struct Writer<'a, 'p, 'f> {
    prefix: &'a str,
    namespaces: Namespaces,
    fields: Fields,
    copy: Copy<'p, 'f>,
    open: Vec<Open>,
    /// The depth of the element that is being left out.
    dropped: Option<usize>,
    top: Vec<String>,
    out: String,
}

/// An element that is open.
struct Open {
    /// With its prefix.
    name: String,
    /// The local name; a colon is put before it unless the namespace is Word's.
    seen: String,
    declared: Vec<String>,
}

impl Writer<'_, '_, '_> {
    fn begin(&mut self, tag: &BytesStart<'_>, is_empty: bool) -> Result<(), String> {
        if self.open.len() > DEPTH {
            return Err(format!("the elements of the XML stand in each other deeper than {DEPTH}"));
        }
        let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
        let attributes = read(tag)?;
        let declared = self.namespaces.declare(&attributes)?;
        let seen = self.seen(&name, &attributes)?;
        if self.open.is_empty() {
            self.top.push(self.local(&name, &seen)?);
        }
        if !seen.contains(':') {
            let value = |local: &str| {
                let is_it = |one: &&Attribute| one.name.rsplit(':').next() == Some(local);
                attributes.iter().find(is_it).map_or(String::new(), |one| one.value.clone())
            };
            self.fields.begin(&seen, value)?;
            if NOTES.contains(&seen.as_str()) {
                return Err(format!(
                    "the XML refers to a note or a comment (w:{seen}), which it cannot hold"
                ));
            }
        }
        // A control's id must be unique, and its data binding refers to a part that the document does not have.
        let is_of_control = self.open.last().is_some_and(|parent| parent.seen == "sdtPr");
        if self.dropped.is_none() && is_of_control && (seen == "id" || seen.ends_with("dataBinding")) {
            self.dropped = Some(self.open.len());
        }
        if self.dropped.is_none() {
            self.write(&name, &seen, &attributes, is_empty);
        }
        self.open.push(Open { name, seen, declared });
        if is_empty {
            self.close();
        }
        Ok(())
    }

    /// The element's name as [`Open::seen`] holds it; an error where it or an attribute refers to a part or an address.
    fn seen(&self, name: &str, attributes: &[Attribute]) -> Result<String, String> {
        let (namespace, local) = self.namespaces.of_element(name)?;
        let is_old = OLD_DRAWINGS.contains(&namespace);
        let seen = if NAMESPACES.contains(&namespace) { local.to_owned() } else { format!(":{local}") };
        if RELATIONSHIPS.contains(&namespace) {
            return Err(elsewhere(name));
        }
        let mut expanded = Vec::with_capacity(attributes.len());
        for Attribute { name, .. } in attributes.iter().filter(|one| declared(&one.name).is_none()) {
            let of = self.namespaces.of_attribute(name)?;
            let is_address = ADDRESSES.contains(&of.1)
                && (is_old || OLD_DRAWINGS.contains(&of.0) || of.1 == "embeddedHtml");
            if is_address || RELATIONSHIPS.contains(&of.0) {
                return Err(elsewhere(name));
            }
            if expanded.contains(&of) {
                return Err(format!("an element of the XML has the same attribute twice ({name})"));
            }
            expanded.push(of);
        }
        Ok(seen)
    }

    fn local(&self, name: &str, seen: &str) -> Result<String, String> {
        match name.strip_prefix(self.prefix) {
            Some(local) if local == seen => Ok(seen.to_owned()),
            _ => Err(format!(
                "at the top of the XML stands <{name}>, which is none of Word's paragraphs, tables and runs"
            )),
        }
    }

    fn write(&mut self, name: &str, seen: &str, attributes: &[Attribute], is_empty: bool) {
        self.out.extend(["<", name]);
        for Attribute { name, value } in attributes {
            let local = name.rsplit(':').next().unwrap_or_default();
            // Ids for editing by several people must be unique and are optional, so they are left out.
            if matches!(local, "paraId" | "textId") && name != local {
                continue;
            }
            let value = attribute_text(value);
            let value = self.copy.value(seen, local, &value).unwrap_or(value);
            self.out.extend([" ", name, "=\"", &value, "\""]);
        }
        self.out.push_str(if is_empty { "/>" } else { ">" });
    }

    fn end(&mut self) {
        if self.dropped.is_none()
            && let Some(Open { name, .. }) = self.open.last()
        {
            self.out.extend(["</", name, ">"]);
        }
        self.close();
    }

    fn close(&mut self) {
        if let Some(Open { declared, .. }) = self.open.pop() {
            self.namespaces.forget(&declared);
        }
        if self.dropped == Some(self.open.len()) {
            self.dropped = None;
        }
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        if self.open.is_empty() && !text.trim_ascii().is_empty() {
            return Err("the XML has text outside of its elements; {@…} takes WordprocessingML".to_owned());
        }
        if !text.chars().all(can_stand) {
            return Err("the XML has a control character, or another that XML cannot hold".to_owned());
        }
        if text.contains("]]>") {
            return Err("the XML has ]]> in its text; write it ]]&gt;".to_owned());
        }
        self.said(text, &escaped(text));
        Ok(())
    }

    fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), String> {
        let letter = match &**reference {
            b"amp" => Some('&'),
            b"lt" => Some('<'),
            b"gt" => Some('>'),
            b"quot" => Some('"'),
            b"apos" => Some('\''),
            _ => reference.resolve_char_ref().ok().flatten(),
        };
        let Some(letter) = letter.filter(|&letter| !self.open.is_empty() && can_stand(letter)) else {
            return Err("the XML has an entity that is not one of XML's own".to_owned());
        };
        let text = String::from(letter);
        let written = if letter == '\r' { "&#13;".to_owned() } else { escaped(&text) };
        self.said(&text, &written);
        Ok(())
    }

    /// Writes a text that is already escaped as `written`; text of a field's code is checked.
    fn said(&mut self, text: &str, written: &str) {
        let Some(Open { seen, .. }) = self.open.last() else { return };
        if matches!(seen.as_str(), "instrText" | "delInstrText" | "t" | "delText") {
            self.fields.pass(text);
        }
        if self.dropped.is_none() {
            self.out.push_str(written);
        }
    }
}

fn elsewhere(name: &str) -> String {
    format!(
        "the XML refers to another part or to an address ({name}); a picture is {{%…}}, a link {{:link …}}"
    )
}

fn read(tag: &BytesStart<'_>) -> Result<Vec<Attribute>, String> {
    let broken =
        |why: &dyn std::fmt::Display| format!("an element of the XML has a broken attribute ({why})");
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| broken(&error))?;
        if attributes.len() == ATTRIBUTES {
            return Err(format!("an element of the XML has more than {ATTRIBUTES} attributes"));
        }
        if attribute.value.contains(&b'<') {
            return Err("an attribute of the XML has a <".to_owned());
        }
        let value =
            attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| broken(&error))?.into_owned();
        if !value.chars().all(can_stand) {
            return Err(broken(&"it has a control character, or another that XML cannot hold"));
        }
        attributes
            .push(Attribute { name: String::from_utf8_lossy(attribute.key.as_ref()).into_owned(), value });
    }
    let whole = [b"<", &**tag].concat();
    let is_blank = |at: usize| whole.get(at).is_some_and(u8::is_ascii_whitespace);
    if !attribute::attributes(&whole).all(|attribute| is_blank(attribute.whole.start)) {
        return Err(broken(&"no blank stands before it"));
    }
    Ok(attributes)
}
