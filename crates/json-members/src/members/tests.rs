//! Reading, unknown names, and the description of a reader.

use super::*;

fn members(text: &str) -> Members<'_> {
    Members::of(text, "").unwrap()
}

#[test]
fn absent_null_and_empty_are_the_same() {
    let mut body = members(r#"{"a":null,"b":"","c":"x"}"#);
    assert_eq!(body.text("a"), None);
    assert_eq!(body.text("b"), None);
    assert_eq!(body.text("c").as_deref(), Some("x"));
    assert_eq!(body.text("d"), None);
    assert!(body.into_faults().is_empty());
}

#[test]
fn every_fault_is_collected_with_its_pointer() {
    let mut body = Members::of(r#"{"a":1,"b":"x","c/d":[1],"e":2.5,"f":9}"#, "/up").unwrap();
    assert_eq!(body.text("a"), None);
    assert_eq!(body.flag("b"), None);
    assert_eq!(body.any("c/d"), None);
    assert_eq!(body.count("e"), None);
    assert_eq!(body.number("f", 0.0..=2.0), None);
    assert!(body.has_fault("c/d") && !body.has_fault("c"));
    let faults = body.into_faults();
    let pointers: Vec<_> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(pointers, ["/up/a", "/up/b", "/up/c~1d", "/up/e", "/up/f"]);
    assert_eq!(faults[2].detail, "must be an object, not an array");
    assert_eq!(faults[4].detail, "9 is out of range; give a number from 0 to 2");
}

#[test]
fn floats_are_whole_numbers_and_empty_arrays_empty_objects() {
    let mut body = members(r#"{"page":2.0,"map":[ ],"last":1,"last":3}"#);
    assert_eq!(body.count("page"), Some(2));
    assert_eq!(body.any("map"), Some("{}"));
    assert_eq!(body.count("last"), Some(3));
    let mut wrong = members(r#"{"a":1.5,"b":"2"}"#);
    assert_eq!((wrong.count("a"), wrong.count("b")), (None, None));
    let details: Vec<_> = wrong.into_faults().into_iter().map(|fault| fault.detail).collect();
    assert_eq!(details, ["must be an integer, not 1.5", "must be an integer, not a string"]);
    assert!(Members::of(" [ ] ", "").unwrap().is_empty());
    assert!(Members::of("[1]", "").is_err());
}

#[test]
fn an_object_keeps_its_spelling() {
    let mut body = members(r#"{"data":{"b":1.50, "a":1e3}}"#);
    assert_eq!(body.any("data"), Some(r#"{"b":1.50, "a":1e3}"#));
}

/// A reader of every kind of member.
fn read(sent: &mut Members<'_>) -> (Option<u32>, usize) {
    let whole = sent.limited(("side", "How long it is."), 1..=9, "a.limit");
    sent.text("title");
    sent.require("title");
    sent.old_text("name");
    sent.word_of("medium", || vec!["print", "screen"], |word| Some(word.len()));
    sent.object("window", ("Window", "an object of width"), |window| window.number("width", 0.5..=2.0));
    sent.object_or("margin", ("Sides", "a length"), ("Margin", Shape::Length), |sides| sides.flag("top"));
    let of = MapOf { title: "Host", wanted: "an object of hosts", each: "an object of headers" };
    let name_of = |name: &str| if name == "bad" { Err("is no host".to_owned()) } else { Ok(()) };
    let hosts = sent.map("hosts", of, name_of, |host| host.any("headers").is_some());
    (whole, hosts.len())
}

#[test]
fn what_is_not_asked_for_is_unknown_at_any_depth() {
    let mut body = members(
        r#"{"side":3,"title":"t","zoom":1,"none":null,"window":{"width":1,"z":1},"margin":{"top":true,"up":1},
        "hosts":{"a":{"headers":{},"header":1},"b":7,"bad":{}}}"#,
    );
    assert_eq!(read(&mut body), (Some(3), 1));
    assert_eq!(body.unknown().collect::<Vec<_>>(), ["zoom"]);
    let paths: Vec<_> = body.unknown_within().iter().map(|unknown| unknown.path.as_str()).collect();
    assert_eq!(paths, ["window.z", "margin.up", "hosts.a.header"]);
    assert_eq!(body.unknown_within()[2].near, Some("headers"));
    assert_eq!(["tilte", "zoom", "nam"].map(|name| body.nearest(name)), [Some("title"), None, None]);
    let faults = body.take_faults().into_iter().map(|fault| format!("{} {}", fault.pointer, fault.detail));
    assert_eq!(
        faults.collect::<Vec<_>>(),
        ["/hosts/b must be an object of headers, not a number", "/hosts/bad is no host"]
    );
    body.refuse_unknown("is not known");
    assert_eq!(body.unknown().next(), None);
    assert_eq!(body.into_faults(), [Fault::new("/zoom", "is not known")]);
    let mut wrong = members(r#"{"side":10,"title":"","window":[1]}"#);
    read(&mut wrong);
    let details: Vec<_> = wrong.into_faults().into_iter().map(|fault| fault.detail).collect();
    assert_eq!(
        details,
        [
            "10 is out of range; give a number from 1 to 9 (a.limit)",
            "is required",
            "must be an object of width, not an array"
        ]
    );
}

#[test]
fn a_reader_run_over_nothing_has_listed_what_may_be_sent() {
    let listed = describe(read);
    let names: Vec<_> = listed.iter().map(|member| member.name).collect();
    assert_eq!(names, ["side", "title", "name", "medium", "window", "margin", "hosts"]);
    assert_eq!((listed[0].about, &listed[0].shape), ("How long it is.", &Shape::Whole { least: 1, most: 9 }));
    assert_eq!(listed.iter().map(|it| it.is_required).collect::<Vec<_>>()[..3], [false, true, false]);
    assert!(listed[2].is_old && !listed[1].is_old);
    assert_eq!(listed[3].shape, Shape::words(vec!["print", "screen"]));
    let Shape::Object { title: "Window", members } = &listed[4].shape else { panic!("{:?}", listed[4]) };
    assert_eq!(members[0].shape, Shape::Number { least: 0.5, most: 2.0 });
    let Shape::OneOf { title: "Margin", shapes } = &listed[5].shape else { panic!("{:?}", listed[5]) };
    assert!(shapes[0] == Shape::Length && !listed[5].shape.is_text() && listed[3].shape.is_text());
    let Shape::Map(host) = &listed[6].shape else { panic!("{:?}", listed[6]) };
    let Shape::Object { title: "Host", members } = &**host else { panic!("{host:?}") };
    assert_eq!((members[0].name, &members[0].shape), ("headers", &Shape::Any));
}
