//! The lists of an included document (`numbering.xml`; ECMA-376, part 1, 17.9), copied under free numbers. Each inclusion starts
//! the lists again.

use std::collections::{BTreeMap, BTreeSet};

use super::lists::{Lists, Numbering};
use super::taken::Merged;
use super::text::Used;
use super::{named, parts::Own};
use crate::error::Error;
use crate::package::{NewPart, Package, Relation};
use crate::word::attribute::value_in;
use crate::written::Refusal;

const CONTENT_TYPE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml";

/// Reads the document's lists, and returns the styles that define them.
pub(super) fn prepare(
    merged: &mut Merged,
    own: &mut Own<'_>,
    used: &Used,
    package: &mut Package<'_>,
) -> Result<BTreeSet<String>, Refusal> {
    if merged.numbering.is_none() {
        merged.numbering = Some(Numbering::read(own.part("numbering", package)?.unwrap_or_default()));
    }
    let Some(numbering) = &merged.numbering else { return Ok(BTreeSet::new()) };
    let num = |id: &String| numbering.nums.get(of_turn(id).0);
    let abstracts = used.lists.iter().filter_map(|id| numbering.abstracts.get(&num(id)?.of));
    Ok(abstracts.map(|one| one.link.clone()).filter(|link| !link.is_empty()).collect())
}

/// The numbers of the text's lists in the package, by their ids in the document.
pub(super) fn merge(
    merged: &mut Merged,
    used: &Used,
    host: (&str, &str),
    package: &mut Package<'_>,
) -> Result<BTreeMap<String, u64>, Refusal> {
    let mut numbers = BTreeMap::new();
    for id in &used.lists {
        if let Some(number) = copied(merged, id, host, package)? {
            numbers.insert(id.clone(), number);
        }
    }
    Ok(numbers)
}

/// The number of a style's list, the same for all copies of the document.
pub(super) fn of_styles(
    merged: &mut Merged,
    id: &str,
    host: (&str, &str),
    package: &mut Package<'_>,
) -> Result<Option<u64>, Refusal> {
    if let Some(&number) = merged.style_lists.get(id) {
        return Ok(Some(number));
    }
    let number = copied(merged, id, host, package)?;
    merged.style_lists.extend(number.map(|number| (id.to_owned(), number)));
    Ok(number)
}

/// The list's id in the definition of a style.
pub(super) fn of_style(definition: &[u8], prefix: &str) -> Option<String> {
    let at = memchr::memmem::find(definition, format!("<{prefix}numId ").as_bytes())?;
    let tag = definition.get(at..)?;
    let tag = tag.get(..memchr::memchr(b'>', tag)? + 1)?;
    Some(value_in(tag, "val"))
}

fn copied(
    merged: &mut Merged,
    id: &str,
    host: (&str, &str),
    package: &mut Package<'_>,
) -> Result<Option<u64>, Refusal> {
    let Merged { numbering: Some(numbering), styles, copies, .. } = merged else { return Ok(None) };
    let (id, is_again) = of_turn(id);
    let Some(num) = numbering.nums.get(id) else { return Ok(None) };
    let Some(of) = numbering.abstracts.get(&num.of) else { return Ok(None) };
    prepare_lists(host, package)?;
    let room = package.room();
    let Some(lists) = &mut package.taken.lists else { return Ok(None) };
    if lists.prefix != numbering.prefix {
        return Ok(None);
    }
    let broken = |error| named("a file that is taken in", error);
    let abstract_number = if let Some(&number) = numbering.copied.get(&num.of) {
        number
    } else {
        let definition = numbering.xml.get(of.range.clone()).unwrap_or_default();
        let number = lists.add_abstract(definition, styles).map_err(broken)?;
        numbering.copied.insert(num.of.clone(), number);
        number
    };
    let definition = numbering.xml.get(num.range.clone()).unwrap_or_default();
    let starts = if (*copies > 1 || is_again) && !num.has_overrides { of.starts.as_slice() } else { &[] };
    let number = lists.add_num(definition, abstract_number, starts).map_err(broken)?;
    if lists.bytes() > room {
        return Err(package.full().into());
    }
    Ok(Some(number))
}

/// The number, while an included document is filled, of the list `id` in the turn `turn` of a section.
pub(crate) fn in_turn(id: &str, turn: u64) -> String {
    format!("{id}~{turn}")
}

/// The list that [`in_turn`] was given, and whether it begins again.
fn of_turn(id: &str) -> (&str, bool) {
    id.split_once('~').map_or((id, false), |(id, _)| (id, true))
}

/// The number of a list that looks as the list `id` and begins again; `None` where that list itself can be used.
pub(crate) fn again(
    (id, levels): (&str, u8),
    host: (&str, &str),
    package: &mut Package<'_>,
) -> Result<Option<u64>, Error> {
    prepare_lists(host, package)?;
    let room = package.room();
    let Some(lists) = &mut package.taken.lists else { return Ok(None) };
    let number = lists.again(id, levels);
    if lists.bytes() > room {
        return Err(package.full());
    }
    Ok(number)
}

/// Reads the lists of the package, unless they have been read.
pub(crate) fn prepare_lists(host: (&str, &str), package: &mut Package<'_>) -> Result<(), Error> {
    if package.taken.lists.is_none() {
        package.taken.lists = Some(open_lists(host, package)?);
    }
    Ok(())
}

fn open_lists((main, namespace): (&str, &str), package: &mut Package<'_>) -> Result<Lists, Error> {
    let new = NewPart { stem: "word/numbering", content_type: CONTENT_TYPE, root: "numbering", namespace };
    let part = package.related_or_new(main, Relation::Numbering, &new)?;
    let held = Numbering::read(package.part(&part)?.unwrap_or_default());
    Ok(Lists::of(part, held))
}

/// Writes the lists that were added into their part.
pub(crate) fn write_lists(package: &mut Package<'_>) -> Result<(), Error> {
    let Some(lists) = package.taken.lists.take() else { return Ok(()) };
    let part = lists.part.clone();
    let xml = package.part(&part)?.unwrap_or_default();
    package.put(&part, lists.written(xml))
}
