//! What must hold of every Word file: ids are unique, and whatever refers to something finds it.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::entries;

/// The values of `attribute` in elements of this name (with its prefix), in their order.
pub fn values(xml: &str, element: &str, attribute: &str) -> Vec<String> {
    let tags = xml.split('<').skip(1).filter_map(|piece| piece.split_once('>')).map(|(tag, _)| tag);
    let of_element = tags.filter(|tag| tag.split([' ', '/']).next() == Some(element));
    of_element.filter_map(|tag| value(tag, attribute)).collect()
}

fn value(tag: &str, attribute: &str) -> Option<String> {
    let at = tag.find(&format!(" {attribute}=\""))? + attribute.len() + 3;
    Some(tag[at..].split('"').next()?.to_owned())
}

fn resolved(part: &str, target: &str) -> String {
    let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
    let whole = if let Some(rest) = target.strip_prefix('/') {
        rest.to_owned()
    } else {
        format!("{folder}/{target}")
    };
    let mut names = Vec::new();
    for name in whole.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            _ => names.push(name),
        }
    }
    names.join("/")
}

fn twice<T: Ord + Clone>(all: &[T]) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.iter().filter(|one| !seen.insert((*one).clone())).cloned().collect()
}

/// The codes of a part's fields.
fn codes(xml: &str) -> Vec<String> {
    let mut all = values(xml, "w:fldSimple", "w:instr");
    for field in xml.split("w:fldCharType=\"begin\"").skip(1) {
        let code = field.split("w:fldCharType=").next().unwrap_or_default();
        let pieces = code.split("<w:instrText").skip(1).filter_map(|piece| piece.split_once('>'));
        all.push(pieces.filter_map(|(_, text)| text.split('<').next()).collect());
    }
    all.into_iter().map(|code| code.replace("&quot;", "\"")).collect()
}

/// The names of bookmarks that a part refers to.
pub fn targets(xml: &str) -> Vec<String> {
    let mut all = values(xml, "w:hyperlink", "w:anchor");
    for code in codes(xml) {
        let words: Vec<&str> = code.split_whitespace().map(|word| word.trim_matches('"')).collect();
        let name = match words.first().copied() {
            Some("REF" | "PAGEREF" | "NOTEREF") => words.get(1),
            Some("HYPERLINK") => {
                words.iter().position(|word| *word == "\\l").and_then(|at| words.get(at + 1))
            }
            _ => None,
        };
        all.extend(name.map(|name| (*name).to_owned()));
    }
    all
}

fn ends(name: &str, extension: &str) -> bool {
    name.rsplit('.').next() == Some(extension)
}

/// What is wrong with a file.
#[expect(clippy::too_many_lines, reason = "it is a list of what must hold")]
pub fn audit(file: &[u8]) -> Vec<String> {
    let parts: BTreeMap<String, String> = { entries(file).into_iter() }
        .map(|(name, content)| (name, String::from_utf8_lossy(&content).into_owned()))
        .collect();
    let mut wrong = Vec::new();
    let mut relations: BTreeMap<String, BTreeMap<String, (String, String)>> = BTreeMap::new();
    for (name, xml) in parts.iter().filter(|(name, _)| ends(name, "rels")) {
        let part = name.replace("_rels/", "").trim_end_matches(".rels").to_owned();
        for tag in xml.split("<Relationship ").skip(1) {
            let tag = format!(" {tag}");
            let [id, kind, target] =
                ["Id", "Type", "Target"].map(|name| value(&tag, name).expect("it has one"));
            let is_external = tag.split('>').next().unwrap_or_default().contains("External");
            let target = if is_external { String::new() } else { resolved(&part, &target) };
            let is_within = value(&tag, "Target").is_some_and(|target| target.starts_with('#'));
            if !is_external && !is_within && !parts.contains_key(&target) {
                wrong.push(format!("{name}: {id} leads to no part {target}"));
            }
            let held = relations.entry(part.clone()).or_default().insert(id.clone(), (kind, target));
            if held.is_some() {
                wrong.push(format!("{name}: {id} stands twice"));
            }
        }
    }
    let types = &parts["[Content_Types].xml"];
    let overrides = values(types, "Override", "PartName");
    let defaults = values(types, "Default", "Extension");
    for name in twice(&overrides) {
        wrong.push(format!("{name} has two types"));
    }
    for name in overrides.iter().filter(|name| !parts.contains_key(name.trim_start_matches('/'))) {
        wrong.push(format!("there is no {name}"));
    }
    for name in parts.keys().filter(|name| *name != "[Content_Types].xml") {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if !overrides.contains(&format!("/{name}")) && !defaults.iter().any(|one| one == extension) {
            wrong.push(format!("{name} has no type"));
        }
    }
    for (name, xml) in parts.iter().filter(|(name, _)| ends(name, "xml")) {
        for attribute in ["r:id", "r:embed", "r:link", "r:dm", "r:lo", "r:qs", "r:cs"] {
            for tag in xml.split('<').filter_map(|piece| piece.split_once('>')).map(|(tag, _)| tag) {
                let Some(id) = value(tag, attribute) else { continue };
                if !relations.get(name).is_some_and(|all| all.contains_key(&id)) {
                    wrong.push(format!("{name}: {tag} leads nowhere"));
                }
            }
        }
    }
    let texts: Vec<&String> = { parts.iter() }
        .filter(|(name, _)| name.starts_with("word/") && ends(name, "xml"))
        .map(|(_, xml)| xml)
        .collect();
    let document = &parts["word/document.xml"];
    for (part, note, reference) in [
        ("footnotes", "w:footnote", "w:footnoteReference"),
        ("endnotes", "w:endnote", "w:endnoteReference"),
        ("comments", "w:comment", "w:commentReference"),
    ] {
        let notes =
            parts.get(&format!("word/{part}.xml")).map_or_else(Vec::new, |xml| values(xml, note, "w:id"));
        let references = values(document, reference, "w:id");
        for id in twice(&notes).into_iter().chain(twice(&references)) {
            wrong.push(format!("{part}: {id} stands twice"));
        }
        for id in references.iter().filter(|id| !notes.contains(id)) {
            wrong.push(format!("{part}: there is no {id}"));
        }
        if part == "comments" {
            for mark in ["w:commentRangeStart", "w:commentRangeEnd"] {
                let marks = values(document, mark, "w:id");
                if twice(&marks) != Vec::<String>::new() || marks.iter().any(|id| !references.contains(id)) {
                    wrong.push(format!("{mark}: {marks:?} of {references:?}"));
                }
            }
        }
    }
    let every = |element: &str, attribute: &str| -> Vec<String> {
        texts.iter().flat_map(|xml| values(xml, element, attribute)).collect()
    };
    // To Word, names that differ in case alone are one name.
    let names: Vec<String> =
        every("w:bookmarkStart", "w:name").iter().map(|name| name.to_lowercase()).collect();
    for (what, all) in [
        ("bookmark", names.clone()),
        ("bookmark's id", every("w:bookmarkStart", "w:id")),
        ("bookmark's end", every("w:bookmarkEnd", "w:id")),
        ("picture", every("wp:docPr", "id")),
        ("paragraph", every("w:p", "w14:paraId")),
    ] {
        wrong.extend(twice(&all).into_iter().map(|one| format!("the {what} {one} stands twice")));
    }
    let begun: BTreeSet<String> = every("w:bookmarkStart", "w:id").into_iter().collect();
    let ended: BTreeSet<String> = every("w:bookmarkEnd", "w:id").into_iter().collect();
    if begun != ended {
        wrong.push(format!("bookmarks begin {begun:?} and end {ended:?}"));
    }
    for name in texts.iter().flat_map(|xml| targets(xml)) {
        if !names.contains(&name.to_lowercase()) {
            wrong.push(format!("there is no bookmark {name}"));
        }
    }
    wrong.extend(threads(&parts));
    if let Some(numbering) = parts.get("word/numbering.xml") {
        let lists = values(numbering, "w:num", "w:numId");
        wrong.extend(twice(&lists).into_iter().map(|one| format!("the list {one} stands twice")));
        for list in every("w:numId", "w:val").iter().filter(|list| !lists.contains(list)) {
            wrong.push(format!("there is no list {list}"));
        }
    }
    wrong
}

/// What is wrong with the parts that say more of comments.
fn threads(parts: &BTreeMap<String, String>) -> Vec<String> {
    let of = |name: &str, element: &str, attribute: &str| {
        parts.get(&format!("word/{name}.xml")).map_or_else(Vec::new, |xml| values(xml, element, attribute))
    };
    let paragraphs = of("comments", "w:p", "w14:paraId");
    let durable = of("commentsIds", "w16cid:commentId", "w16cid:durableId");
    let mut wrong = Vec::new();
    for (name, ids, known, is_own) in [
        ("commentsExtended", of("commentsExtended", "w15:commentEx", "w15:paraId"), &paragraphs, true),
        ("a thread", of("commentsExtended", "w15:commentEx", "w15:paraIdParent"), &paragraphs, false),
        ("commentsIds", of("commentsIds", "w16cid:commentId", "w16cid:paraId"), &paragraphs, true),
        ("durable ids", durable.clone(), &durable, true),
        (
            "commentsExtensible",
            of("commentsExtensible", "w16cex:commentExtensible", "w16cex:durableId"),
            &durable,
            true,
        ),
    ] {
        if is_own {
            wrong.extend(twice(&ids).into_iter().map(|id| format!("{name}: {id} stands twice")));
        }
        let gone = ids.iter().filter(|id| !known.contains(id));
        wrong.extend(gone.map(|id| format!("{name}: there is no {id}")));
    }
    wrong
}
