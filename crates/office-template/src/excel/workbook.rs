//! The workbook's own part: its list of sheets, its names, and what is calculated when it is opened.

use std::collections::BTreeSet;

use super::follow::{Follower, failed, put, target};
use crate::error::Error;
use crate::package::entries::{Entry, entries};
use crate::package::xml::{attribute_of, attribute_text, replaced};
use crate::package::{Package, resolved};
use crate::powerpoint::untitled;
use crate::word::attribute::attribute;

/// The part that has the names of the sheets as well.
const TITLES: &str = "docProps/app.xml";

/// A copy of a sheet.
pub(super) struct Copy {
    pub name: String,
    /// Its part; `None` where it is not a worksheet.
    pub part: Option<String>,
}

/// Rewrites the part `main` for these copies of its sheets.
pub(super) fn rewrite(
    main: &str,
    sheets: &[Vec<Copy>],
    follower: &mut Follower<'_>,
    package: &mut Package<'_>,
) -> Result<(), Error> {
    for one in package.relationships_of(main)?.to_vec() {
        if !one.kind.ends_with("/pivotCacheDefinition") {
            continue;
        }
        if let Some((name, xml)) = target(main, &one, package)? {
            let written = workbook_parts::pivot_cache(&xml, &follower.book, &mut follower.report);
            let written = written.map_err(|error| failed(&name, &error, package))?;
            put(&name, written, &xml, package)?;
        }
    }
    let Some(xml) = package.part(main)? else { return Ok(()) };
    follower.book.set_room(package.room());
    let written = workbook_parts::workbook(&xml, &follower.book, &mut follower.report);
    let written = written.map_err(|error| failed(main, &error, package))?;
    let written = listed(main, &written, sheets, package)?;
    package.put(main, written)?;
    drop_chain(main, package)?;
    if let Some(xml) = package.part(TITLES)? {
        put(TITLES, untitled(TITLES, &xml)?, &xml, package)?;
    }
    Ok(())
}

/// Rewrites the list of sheets: an entry for each copy.
fn listed(main: &str, xml: &[u8], sheets: &[Vec<Copy>], package: &mut Package<'_>) -> Result<Vec<u8>, Error> {
    let all = entries(main, xml)?;
    let listed: Vec<&Entry> = all.iter().filter(|one| one.name == "sheet").collect();
    let largest = listed.iter().filter_map(|one| one.value("sheetId").parse::<u32>().ok()).max();
    let mut next = largest.unwrap_or_default();
    let (mut edits, mut gone) = (Vec::new(), BTreeSet::new());
    for (entry, copies) in listed.iter().zip(sheets) {
        let tag = xml.get(entry.tag.clone()).unwrap_or_default();
        let id = attribute_of(tag, |name| name.ends_with(b":id")).unwrap_or_default();
        let relation = package.relationships_of(main)?.iter().find(|one| one.id == id).cloned();
        let Some(relation) = relation else { continue };
        let mut pieces = String::new();
        for (number, copy) in copies.iter().enumerate() {
            let mut changes = vec![("name", copy.name.clone())];
            if let Some(part) = copy.part.as_deref().filter(|_| number > 0) {
                next += 1;
                let own = package.relate_as(main, &relation.kind, crate::package::Target::Part(part))?;
                changes.extend([("sheetId", next.to_string()), ("id", own)]);
            }
            pieces.push_str(&changed(tag, &changes));
            if pieces.len() > package.room() {
                return Err(package.full());
            }
        }
        if copies.is_empty() {
            if let Some(part) = resolved(main, &relation.target) {
                gone.insert(part.to_ascii_lowercase());
            }
            package.forget(main, &[relation.id])?;
        }
        edits.push((entry.whole.clone(), pieces));
    }
    take_out(&gone, package)?;
    Ok(replaced(xml, &edits))
}

/// An empty element with other values of these attributes.
fn changed(tag: &[u8], changes: &[(&str, String)]) -> String {
    let mut edits: Vec<_> = changes
        .iter()
        .filter_map(|(name, value)| Some((attribute(tag, name)?.value, attribute_text(value))))
        .collect();
    edits.sort_by_key(|(range, _)| range.start);
    let tag = String::from_utf8_lossy(&replaced(tag, &edits)).into_owned();
    match tag.strip_suffix("/>") {
        Some(_) => tag,
        None => format!("{}/>", tag.trim_end_matches('>')),
    }
}

/// Takes the calculation chain out: it names cells that have moved, and Excel makes a new one.
fn drop_chain(main: &str, package: &mut Package<'_>) -> Result<(), Error> {
    let relations = package.relationships_of(main)?.iter().filter(|one| one.kind.ends_with("/calcChain"));
    let chains: Vec<_> = relations.cloned().collect();
    let ids: Vec<_> = chains.iter().map(|one| one.id.clone()).collect();
    let names = chains.iter().filter_map(|one| resolved(main, &one.target));
    let gone: BTreeSet<String> = names.map(|name| name.to_ascii_lowercase()).collect();
    package.forget(main, &ids)?;
    take_out(&gone, package)
}

/// Takes these parts out, and what only they refer to.
fn take_out(gone: &BTreeSet<String>, package: &mut Package<'_>) -> Result<(), Error> {
    if gone.is_empty() {
        return Ok(());
    }
    for (part, ids) in package.drop_parts(gone)? {
        package.forget(&part, &ids.into_iter().collect::<Vec<_>>())?;
    }
    Ok(())
}
