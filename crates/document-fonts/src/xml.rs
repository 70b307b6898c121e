//! A part's elements, one after the other.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// What is met in a part.
pub enum Met<'a> {
    /// An element begins; one without content begins and ends.
    Start(Element<'a>),
    /// An element of this local name ends.
    End(String),
    /// Characters.
    Text(String),
}

/// The beginning of an element.
pub struct Element<'a>(BytesStart<'a>);

impl Element<'_> {
    /// Its name without a prefix.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(self.0.local_name().as_ref()).into_owned()
    }

    /// The value of an attribute, by its name without a prefix.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes
            .with_checks(false)
            .flatten()
            .find(|one| one.key.local_name().as_ref() == name.as_bytes())?;
        let value = String::from_utf8_lossy(&found.value).into_owned();
        Some(quick_xml::escape::unescape(&value).map_or_else(|_| value.clone(), std::borrow::Cow::into_owned))
    }
}

/// Shows all that is met, until the part ends or is no XML.
pub fn each(part: &[u8], mut meet: impl FnMut(Met<'_>)) {
    let mut reader = Reader::from_reader(part);
    reader.config_mut().check_end_names = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => meet(Met::Start(Element(element))),
            Ok(Event::Empty(element)) => {
                let element = Element(element);
                let name = element.name();
                meet(Met::Start(element));
                meet(Met::End(name));
            }
            Ok(Event::End(element)) => {
                meet(Met::End(String::from_utf8_lossy(element.local_name().as_ref()).into_owned()))
            }
            Ok(Event::Text(text)) => meet(Met::Text(String::from_utf8_lossy(&text).into_owned())),
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
