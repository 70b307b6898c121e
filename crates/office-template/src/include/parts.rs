//! Parts and addresses that an included document refers to (pictures, charts, links, embedded files), copied with the parts that
//! these refer to.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::named;
use super::taken::Merged;
use crate::container::{self, Archive};
use crate::content_types::{self, LIST};
use crate::package::relationships::{self, Relationship, resolved};
use crate::package::xml::attribute_text;
use crate::package::{Package, Target};
use crate::source::Document;
use crate::written::Refusal;

/// How deep parts may refer to parts.
const DEPTH: usize = 20;

/// A document's own parts.
pub(super) struct Own<'d> {
    document: &'d Document,
    /// The file, with the entries' numbers by their names in lower case. It is opened only when a part is needed: most further
    /// copies of a document need none that the first one has not copied.
    file: Option<(Archive<'d>, BTreeMap<String, usize>)>,
    /// Relationships of what was written into its main part while it was filled.
    staged: BTreeMap<String, Relationship>,
    stage: String,
}

impl<'d> Own<'d> {
    pub(super) fn new(document: &'d Document, staged: Vec<Relationship>, stage: &str) -> Self {
        let staged = staged.into_iter().map(|one| (one.id.clone(), one)).collect();
        Self { document, file: None, staged, stage: stage.to_owned() }
    }

    /// The part that the main part refers to by a relationship of this kind, such as `styles`.
    pub(super) fn part(&mut self, kind: &str, package: &mut Package<'_>) -> Result<Option<Vec<u8>>, Refusal> {
        let end = format!("/{kind}");
        let found =
            self.document.relationships.values().find(|one| one.kind.ends_with(&end) && !one.is_external);
        let name = found.and_then(|one| resolved(&self.document.part.name, &one.target));
        match name {
            Some(name) => self.unpacked(&name, package),
            None => Ok(None),
        }
    }

    fn unpacked(&mut self, name: &str, package: &mut Package<'_>) -> Result<Option<Vec<u8>>, Refusal> {
        let document = self.document;
        let of = |error| named(&document.name, error);
        let (limits, room) = package.unpacking();
        let (archive, entries) = if let Some(file) = &mut self.file {
            file
        } else {
            let archive = container::open(&document.file, limits).map_err(of)?;
            let entries = container::entries_by_name(&archive);
            self.file.insert((archive, entries))
        };
        let Some(&entry) = entries.get(&name.to_ascii_lowercase()) else { return Ok(None) };
        Ok(Some(container::unpack(archive, entry, room, limits).map_err(of)?))
    }

    /// The id in `host` for the target that the document refers to by `id`; the target is copied first.
    pub(super) fn related(
        &mut self,
        id: &str,
        merged: &mut Merged,
        host: &str,
        package: &mut Package<'_>,
    ) -> Result<String, Refusal> {
        let own = self.document.relationships.get(id);
        let is_own = own.is_some();
        let one = own.or_else(|| self.staged.get(id)).cloned().ok_or_else(|| self.missing(id))?;
        if one.is_external {
            return Ok(package.relate_as(host, &one.kind, Target::External(&one.target))?);
        }
        let part = if is_own { &self.document.part.name } else { &self.stage };
        let target = resolved(part, &one.target).ok_or_else(|| self.missing(&one.target))?;
        let target = if is_own { self.copied(&target, merged, package, 0)? } else { Some(target) };
        let target = target.ok_or_else(|| self.missing(&one.target))?;
        Ok(package.relate_as(host, &one.kind, Target::Part(&target))?)
    }

    fn missing(&self, what: &str) -> Refusal {
        let name = &self.document.name;
        let message = format!(
            "{name} cannot be taken in: it refers to {what:?}, which it does not contain; save it anew in Word"
        );
        message.into()
    }

    /// Copies a part and returns its new name; `None` where it is missing or may not be copied (main parts, macros).
    fn copied(
        &mut self,
        name: &str,
        merged: &mut Merged,
        package: &mut Package<'_>,
        depth: usize,
    ) -> Result<Option<String>, Refusal> {
        if let Some(copy) = merged.parts.get(name) {
            return Ok(copy.clone());
        }
        if depth == DEPTH {
            let message = format!("{}: parts refer to parts deeper than {DEPTH}", self.document.name);
            return Err(message.into());
        }
        let kind = self.kind(name, merged, package)?;
        let is_refused =
            ["main+xml", "vbaproject", "macroenabled"].iter().any(|one| kind.to_lowercase().contains(one));
        let content = if is_refused { None } else { self.unpacked(name, package)? };
        let Some(content) = content else {
            merged.parts.insert(name.to_owned(), None);
            return Ok(None);
        };
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "bin"));
        let stem = stem.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let Some(held) = self.unpacked(&relationships::name(name), package)? else {
            let copy = package.add((stem, extension), &kind, content)?;
            merged.parts.insert(name.to_owned(), Some(copy.clone()));
            return Ok(Some(copy));
        };
        let copy = package.free_name(stem, &format!(".{extension}"));
        merged.parts.insert(name.to_owned(), Some(copy.clone()));
        package.put(&copy, content)?;
        package.override_type(&copy, &kind)?;
        let held = relationships::list(&held).map_err(|error| named(&self.document.name, error))?;
        let mut lines = String::new();
        for Relationship { id, kind, target, is_external } in held {
            let (target, mode) = if is_external {
                (target, " TargetMode=\"External\"")
            } else {
                let own = resolved(name, &target);
                let own = own.map(|own| self.copied(&own, merged, package, depth + 1)).transpose()?.flatten();
                match own {
                    Some(own) => (format!("/{own}"), ""),
                    None => continue,
                }
            };
            let [id, kind, target] = [&id, &kind, &target].map(|text| attribute_text(text));
            let _ = write!(lines, "<Relationship Id=\"{id}\" Type=\"{kind}\" Target=\"{target}\"{mode}/>");
        }
        package.put(&relationships::name(&copy), relationships::whole(&lines))?;
        Ok(Some(copy))
    }

    fn kind(
        &mut self,
        name: &str,
        merged: &mut Merged,
        package: &mut Package<'_>,
    ) -> Result<String, Refusal> {
        if merged.kinds.is_none() {
            let list = self.unpacked(LIST, package)?.unwrap_or_default();
            merged.kinds = Some(content_types::kinds(&list));
        }
        let kind = merged.kinds.as_ref().and_then(|kinds| kinds.of(name));
        Ok(kind.map_or("application/octet-stream", AsRef::as_ref).to_owned())
    }
}
