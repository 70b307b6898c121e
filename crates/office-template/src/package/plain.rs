//! Makes a filled document a plain one, whatever its template was: without macros, signatures, and an attached template that Word
//! would fetch.
//!
//! Hazard: a macro may be in a part of any name, so such parts are found by the type of the relationship that leads to them, or
//! by their content type. Parts reached only through them are removed too, and so are relationships to removed parts, or Word
//! would call the document damaged. All other relationships are kept, external ones too; none is followed here.

use std::collections::{BTreeMap, BTreeSet};

use super::entries::{Entry, entries, without};
use super::{Package, relationships};
use crate::content_types::LIST;
use crate::error::{Error, quoted};
use crate::family::Family;
use crate::word::attribute::attribute;

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Loss {
    Macros,
    Commands,
    Template,
    Signature,
}

/// Ends of the types of relationships that lead to it, in lower case (ECMA-376, part 2, 12; MS-OFFMACRO2; MS-CUSTOMUI).
const RELATIONS: [(&str, Loss); 11] = [
    ("/relationships/vbaproject", Loss::Macros),
    ("/relationships/wordvbadata", Loss::Macros),
    ("/relationships/vbaprojectsignature", Loss::Macros),
    ("/relationships/vbaprojectsignatureagile", Loss::Macros),
    ("/relationships/vbaprojectsignaturev3", Loss::Macros),
    ("/relationships/ui/extensibility", Loss::Commands),
    ("/relationships/ui/usercustomization", Loss::Commands),
    ("/relationships/keymapcustomizations", Loss::Commands),
    ("/relationships/attachedtoolbars", Loss::Commands),
    ("/relationships/attachedtemplate", Loss::Template),
    ("/relationships/digital-signature/origin", Loss::Signature),
];

/// Beginnings of the content types of macro sheets, in lower case. They cannot be removed: the workbook's sheets would be
/// renumbered, and its defined names would mean other sheets.
const MACRO_SHEETS: [&str; 2] =
    ["application/vnd.ms-excel.macrosheet", "application/vnd.ms-excel.intlmacrosheet"];

/// Beginnings of its content types, in lower case.
const TYPES: [(&str, Loss); 5] = [
    ("application/vnd.ms-office.vbaproject", Loss::Macros),
    ("application/vnd.ms-word.vbadata", Loss::Macros),
    ("application/vnd.ms-word.keymapcustomizations", Loss::Commands),
    ("application/vnd.ms-word.attachedtoolbars", Loss::Commands),
    ("application/vnd.openxmlformats-package.digital-signature", Loss::Signature),
];

impl Loss {
    fn of_relation(kind: &str) -> Option<Self> {
        let kind = kind.to_lowercase();
        RELATIONS.iter().find(|(end, _)| kind.ends_with(end)).map(|&(_, loss)| loss)
    }

    fn of_type(kind: &str) -> Option<Self> {
        let kind = kind.to_lowercase();
        TYPES.iter().find(|(start, _)| kind.starts_with(start)).map(|&(_, loss)| loss)
    }

    fn warning(self) -> String {
        let told = match self {
            Self::Macros => "the template has macros, which are left out: no document has any",
            Self::Commands => {
                "the template has commands or keys of its own, which are left out with its macros"
            }
            Self::Template => {
                "the template is attached to another one (a .dotx or .dotm), which is left out: Word would fetch it"
            }
            Self::Signature => {
                "the template is signed; the signature is left out, for it is not the document's"
            }
        };
        told.to_owned()
    }
}

struct Source {
    /// The part that has these relationships; empty for the package.
    part: String,
    /// The name of the part of relationships.
    name: String,
    xml: Vec<u8>,
    edges: Vec<Edge>,
}

struct Edge {
    entry: Entry,
    /// The target part, in lower case; `None` outside of the package.
    target: Option<String>,
    loss: Option<Loss>,
}

/// Makes the document a plain one, with a warning for each kind of loss; an error for a macro sheet.
pub(super) fn make(package: &mut Package<'_>) -> Result<(), Error> {
    let list = package.part(LIST)?.unwrap_or_default();
    let types = entries(LIST, &list)?;
    refuse_macro_sheets(&types)?;
    let mut sources = sources(package)?;
    let mut losses = BTreeSet::new();
    let mut dropped = BTreeSet::new();
    for entry in types.iter().filter(|entry| entry.name == "Override") {
        if let Some(loss) = Loss::of_type(entry.value("ContentType")) {
            losses.insert(loss);
            dropped.insert(entry.value("PartName").trim_start_matches('/').to_ascii_lowercase());
        }
    }
    for edge in sources.iter().flat_map(|source| &source.edges) {
        if let Some(loss) = edge.loss {
            losses.insert(loss);
            dropped.extend(edge.target.clone());
        }
    }
    let dropped = closure(&sources, dropped);
    for source in &mut sources {
        drop_edges(package, source, &dropped)?;
    }
    for part in &dropped {
        package.remove(part);
    }
    let rewritten = rewritten(package, &list, &types, &dropped);
    if rewritten != list {
        package.put(LIST, rewritten)?;
    }
    for loss in losses {
        package.warnings.push(&loss.warning());
    }
    Ok(())
}

fn refuse_macro_sheets(types: &[Entry]) -> Result<(), Error> {
    let is_macro_sheet = |entry: &&Entry| {
        let kind = entry.value("ContentType").to_lowercase();
        MACRO_SHEETS.iter().any(|begin| kind.starts_with(begin))
    };
    match types.iter().find(is_macro_sheet) {
        None => Ok(()),
        Some(sheet) => Err(Error::NotOffice(format!(
            "the workbook has a macro sheet of Excel 4 ({}), which cannot be left out of it; delete that sheet",
            quoted(sheet.value("PartName"))
        ))),
    }
}

/// The relationships of all parts.
fn sources(package: &mut Package<'_>) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    for name in package.names() {
        let Some(part) = relationships::source(&name) else { continue };
        let xml = package.part(&name)?.unwrap_or_default();
        let lines = entries(&name, &xml)?.into_iter().filter(|entry| entry.name == "Relationship");
        let edges = lines.map(|entry| {
            let is_external = entry.value("TargetMode").eq_ignore_ascii_case("external");
            let resolved = || {
                relationships::resolved(&part, entry.value("Target")).unwrap_or_default().to_ascii_lowercase()
            };
            let target = (!is_external).then(resolved);
            Edge { target, loss: Loss::of_relation(entry.value("Type")), entry }
        });
        let edges = edges.collect();
        sources.push(Source { part, name, xml, edges });
    }
    Ok(sources)
}

/// The parts `dropped`, and those that only they lead to.
fn closure(sources: &[Source], dropped: BTreeSet<String>) -> BTreeSet<String> {
    if dropped.is_empty() {
        return dropped;
    }
    let edges: BTreeMap<&str, &[Edge]> =
        sources.iter().map(|source| (source.part.as_str(), source.edges.as_slice())).collect();
    let is_kept = |edge: &&Edge| {
        edge.loss.is_none() && edge.target.as_ref().is_some_and(|target| !dropped.contains(target))
    };
    let kept = reached(&edges, [""], is_kept);
    let begin = dropped.iter().map(String::as_str);
    let all = reached(&edges, begin, |edge: &&Edge| edge.target.is_some());
    all.into_iter().filter(|part| !kept.contains(part)).map(str::to_owned).collect()
}

fn reached<'a>(
    edges: &BTreeMap<&'a str, &'a [Edge]>,
    begin: impl IntoIterator<Item = &'a str>,
    leads_on: impl Fn(&&'a Edge) -> bool,
) -> BTreeSet<&'a str> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut next: Vec<&str> = begin.into_iter().collect();
    while let Some(part) = next.pop() {
        if reached.insert(part) {
            let edges = edges.get(part).copied().unwrap_or_default();
            next.extend(edges.iter().filter(&leads_on).filter_map(|edge| edge.target.as_deref()));
        }
    }
    reached
}

/// Removes a part's relationships to dropped parts, and the part's reference to an attached template.
fn drop_edges(
    package: &mut Package<'_>,
    source: &mut Source,
    dropped: &BTreeSet<String>,
) -> Result<(), Error> {
    if dropped.contains(&source.part) {
        package.remove(&source.name);
        return Ok(());
    }
    let is_lost = |edge: &Edge| {
        edge.loss.is_some() || edge.target.as_ref().is_some_and(|target| dropped.contains(target))
    };
    let (gone, _): (Vec<&Edge>, Vec<&Edge>) = source.edges.iter().partition(|edge| is_lost(edge));
    if gone.is_empty() {
        return Ok(());
    }
    let ranges: Vec<_> = gone.iter().map(|edge| edge.entry.whole.clone()).collect();
    if gone.iter().any(|edge| edge.loss == Some(Loss::Template)) {
        detach(package, &source.part)?;
    }
    let kept = without(&source.xml, &ranges);
    package.put(&source.name, kept)
}

/// Removes the attached template from the settings.
fn detach(package: &mut Package<'_>, part: &str) -> Result<(), Error> {
    let Some(xml) = package.part(part)? else { return Ok(()) };
    let attached = entries(part, &xml)?.into_iter().filter(|entry| entry.name == "attachedTemplate");
    let ranges: Vec<_> = attached.map(|entry| entry.whole).collect();
    package.put(part, without(&xml, &ranges))
}

/// The list of content types of the plain document, without the dropped parts.
fn rewritten(package: &Package<'_>, list: &[u8], types: &[Entry], dropped: &BTreeSet<String>) -> Vec<u8> {
    let mut out = Vec::with_capacity(list.len());
    let mut from = 0;
    for entry in types {
        let kind = entry.value("ContentType").to_lowercase();
        let is_gone = match entry.name.as_str() {
            "Override" => {
                dropped.contains(&entry.value("PartName").trim_start_matches('/').to_ascii_lowercase())
            }
            "Default" => Loss::of_type(&kind).is_some() && !package.has_extension(entry.value("Extension")),
            _ => continue,
        };
        if is_gone {
            out.extend_from_slice(list.get(from..entry.whole.start).unwrap_or_default());
            from = entry.whole.end;
            continue;
        }
        // Other parts may share an extension whose default type was the macros'; Word identifies them by their relationships.
        let other = match Family::plain_main(&kind) {
            Some(plain) => plain,
            None if Loss::of_type(&kind).is_some() => "application/octet-stream",
            None => continue,
        };
        let tag = list.get(entry.tag.clone()).unwrap_or_default();
        let Some(written) = attribute(tag, "ContentType") else { continue };
        let place = entry.tag.start + written.value.start;
        out.extend_from_slice(list.get(from..place).unwrap_or_default());
        out.extend_from_slice(other.as_bytes());
        from = entry.tag.start + written.value.end;
    }
    out.extend_from_slice(list.get(from..).unwrap_or_default());
    out
}
