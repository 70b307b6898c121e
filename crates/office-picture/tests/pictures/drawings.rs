//! The XML of drawings.

use office_picture::{Crop, Drawing, Placement, Turn};
use quick_xml::events::Event;
use quick_xml::events::attributes::Attribute;
use quick_xml::{Reader, XmlVersion};

const PLAIN: Placement = Placement {
    width: 720_000,
    height: 360_000,
    crop: Crop { left: 0, top: 0, right: 0, bottom: 0 },
    turn: Turn { mirrored: false, quarters: 0 },
};

fn drawing(placement: &Placement) -> Drawing<'_> {
    Drawing {
        prefix: "w",
        relationship: "rId7",
        number: 12,
        name: "Picture 12",
        alt: None,
        placement,
        link: None,
    }
}

/// The attributes of the first element of a name, read by a parser; nothing if the XML isn't well-formed.
fn attributes(xml: &str, name: &str) -> Vec<(String, String)> {
    let mut reader = Reader::from_str(xml);
    let mut found = None;
    loop {
        let event = reader.read_event().expect("well-formed");
        if event == Event::Eof {
            return found.unwrap_or_default();
        }
        if let (Event::Start(element) | Event::Empty(element), None) = (event, &found)
            && element.name().as_ref() == name.as_bytes()
        {
            found = Some(
                element
                    .attributes()
                    .map(|attribute| key_and_value(&attribute.expect("an attribute")))
                    .collect(),
            );
        }
    }
}

fn key_and_value(attribute: &Attribute<'_>) -> (String, String) {
    let value = attribute.normalized_value(XmlVersion::Implicit1_0).expect("a value");
    (String::from_utf8(attribute.key.as_ref().to_vec()).expect("UTF-8"), value.into_owned())
}

fn attribute(xml: &str, element: &str, name: &str) -> Option<String> {
    attributes(xml, element).into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

#[test]
fn a_drawing_declares_what_it_uses_and_says_its_size_twice() {
    let xml = drawing(&PLAIN).xml();
    assert!(xml.starts_with("<w:drawing xmlns:w="));
    for element in ["wp:extent", "a:ext"] {
        assert_eq!(attribute(&xml, element, "cx").as_deref(), Some("720000"));
        assert_eq!(attribute(&xml, element, "cy").as_deref(), Some("360000"));
    }
    assert_eq!(attribute(&xml, "a:blip", "r:embed").as_deref(), Some("rId7"));
    assert_eq!(attribute(&xml, "wp:docPr", "id").as_deref(), Some("12"));
    assert_eq!(attribute(&xml, "wp:docPr", "descr"), None);
    assert!(!xml.contains("srcRect") && !xml.contains("rot=") && !xml.contains("decorative"));
}

#[test]
fn any_prefix_is_kept() {
    assert!(Drawing { prefix: "ns0", ..drawing(&PLAIN) }.xml().starts_with("<ns0:drawing xmlns:ns0="));
    let none = Drawing { prefix: "", ..drawing(&PLAIN) }.xml();
    assert!(none.starts_with("<drawing xmlns=") && none.ends_with("</drawing>"));
}

#[test]
fn texts_come_back_as_they_were_and_control_characters_are_left_out() {
    let alt = "a \"b\" <c> & d\nsecond\tline\u{1}\u{ffff} 😀";
    let xml = Drawing { alt: Some(alt), name: "<&\"", ..drawing(&PLAIN) }.xml();
    assert_eq!(attribute(&xml, "wp:docPr", "descr").as_deref(), Some("a \"b\" <c> & d\nsecond\tline 😀"));
    assert_eq!(attribute(&xml, "pic:cNvPr", "name").as_deref(), Some("<&\""));
}

#[test]
fn an_empty_alternative_text_is_decoration() {
    let xml = Drawing { alt: Some(""), ..drawing(&PLAIN) }.xml();
    assert_eq!(attribute(&xml, "adec:decorative", "val").as_deref(), Some("1"));
}

#[test]
fn a_link_is_clicked() {
    let xml = Drawing { link: Some("rId9"), ..drawing(&PLAIN) }.xml();
    assert_eq!(attribute(&xml, "a:hlinkClick", "r:id").as_deref(), Some("rId9"));
}

#[test]
fn a_crop_stands_before_the_stretch() {
    let placement = Placement { crop: Crop { left: 25_000, top: 1, right: 25_000, bottom: 1 }, ..PLAIN };
    let xml = drawing(&placement).xml();
    assert_eq!(attribute(&xml, "a:srcRect", "l").as_deref(), Some("25000"));
    assert!(xml.find("a:srcRect") < xml.find("a:stretch"));
}

#[test]
fn a_picture_on_its_side_says_its_stored_size_and_how_far_it_reaches_over() {
    let placement =
        Placement { turn: Turn { mirrored: true, quarters: 1 }, width: 360_000, height: 720_000, ..PLAIN };
    let xml = drawing(&placement).xml();
    assert_eq!(attribute(&xml, "wp:extent", "cx").as_deref(), Some("720000"));
    assert_eq!(attribute(&xml, "wp:effectExtent", "t").as_deref(), Some("180000"));
    assert_eq!(attribute(&xml, "wp:effectExtent", "l").as_deref(), Some("0"));
    assert_eq!(attribute(&xml, "a:xfrm", "rot").as_deref(), Some("5400000"));
    assert_eq!(attribute(&xml, "a:xfrm", "flipH").as_deref(), Some("1"));
}
