//! The parts of a sheet that are copied with it, each under a name of its own.

use std::collections::BTreeMap;

use crate::content_types::Kinds;
use crate::error::Error;
use crate::package::{Package, relationships_of, resolved};
use crate::powerpoint::copies::redirected;

/// The ends of the types of relationships whose targets all copies of a sheet share: these parts do not name its cells.
const SHARED: [&str; 9] = [
    "image",
    "hyperlink",
    "theme",
    "pivotCacheDefinition",
    "slicerCache",
    "media",
    "customXml",
    "externalLink",
    "worksheet",
];

/// The parts that are copied with this one, itself first: all that it refers to, directly or not, but what is shared.
pub(super) fn owned(part: &str, package: &mut Package<'_>) -> Result<Vec<String>, Error> {
    let mut owned = vec![part.to_owned()];
    let mut at = 0;
    while let Some(part) = owned.get(at).cloned() {
        for one in package.relationships_of(&part)?.to_vec() {
            let is_shared =
                one.is_external || one.kind.rsplit('/').next().is_some_and(|kind| SHARED.contains(&kind));
            let target = resolved(&part, &one.target).filter(|_| !is_shared);
            if let Some(target) =
                target.filter(|target| !owned.iter().any(|own| own.eq_ignore_ascii_case(target)))
            {
                owned.push(target);
            }
        }
        at += 1;
    }
    Ok(owned)
}

/// Adds copies of these parts, which refer to each other as the parts do; the name of the first copy.
pub(super) fn copied(parts: &[String], kinds: &Kinds, package: &mut Package<'_>) -> Result<String, Error> {
    let mut names = BTreeMap::new();
    for part in parts {
        let (stem, end) = part.rsplit_once('.').unwrap_or((part, "xml"));
        let stem = stem.trim_end_matches(|letter: char| letter.is_ascii_digit());
        names.insert(part.clone(), package.free_name(stem, &format!(".{end}")));
    }
    let targets = names.iter().map(|(part, copy)| (part.to_ascii_lowercase(), copy.as_str())).collect();
    for part in parts {
        let (Some(name), Some(content)) = (names.get(part), package.part(part)?) else { continue };
        package.put(name, content)?;
        if let Some(kind) = kinds.of(part) {
            package.override_type(name, kind)?;
        }
        if let Some(list) = package.part(&relationships_of(part))? {
            let list = redirected(&list, (part, name), &targets, package)?;
            package.put(&relationships_of(name), list)?;
        }
    }
    Ok(parts.first().and_then(|part| names.get(part)).cloned().unwrap_or_default())
}
