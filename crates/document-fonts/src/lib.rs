//! Which families of fonts a document asks for, and which of them are not there.
//!
//! What a document *asks for* is what its text is in: a Word file lists styles that nothing is written in, and fonts that nothing
//! asks for. Families with twins of the same measures are not missed where the twin is there: lines break where they did.

mod excel;
mod package;
mod powerpoint;
mod word;
mod xml;

use std::collections::BTreeSet;

use package::Package;

/// Most families of a warning.
const NAMED: usize = 12;
/// Longest name of a family that is one, in characters.
const NAME: usize = 60;

/// Families that have others with the same measures.
const TWINS: [(&str, &str); 8] = [
    ("arial", "liberation sans"),
    ("calibri", "carlito"),
    ("cambria", "caladea"),
    ("courier", "liberation mono"),
    ("courier new", "liberation mono"),
    ("helvetica", "liberation sans"),
    ("times", "liberation serif"),
    ("times new roman", "liberation serif"),
];
/// What LibreOffice draws by fonts of its own: signs, and formulas.
const DRAWN_OTHERWISE: [&str; 7] =
    ["cambria math", "marlett", "symbol", "webdings", "wingdings", "wingdings 2", "wingdings 3"];

/// The families that the text of a document asks for; none for what is no such document. `limit` is how many bytes of its parts
/// are read.
pub fn asked(document: &[u8], limit: u64) -> BTreeSet<String> {
    let Some(mut package) = Package::open(document, limit) else { return BTreeSet::new() };
    let families = if package.has("word/document.xml") {
        word::families(&mut package)
    } else if package.has("xl/styles.xml") {
        excel::families(&mut package)
    } else {
        powerpoint::families(&mut package)
    };
    // A name that begins so stands for the theme's.
    let is_name =
        |name: &String| !name.trim().is_empty() && !name.starts_with('+') && name.chars().count() <= NAME;
    families.into_iter().filter(is_name).collect()
}

/// Those of the families that others stand in for, where these are installed.
pub fn missing<'a>(asked: &'a BTreeSet<String>, is_installed: &dyn Fn(&str) -> bool) -> Vec<&'a str> {
    let stands_in = |family: &str| {
        let small = family.trim().to_lowercase();
        DRAWN_OTHERWISE.contains(&small.as_str())
            || TWINS.iter().any(|(name, twin)| *name == small && is_installed(twin))
            || is_installed(&small)
    };
    asked.iter().map(String::as_str).filter(|family| !stands_in(family)).collect()
}

/// What is said of the missing ones; nothing where there are none.
pub fn warning(missing: &[&str]) -> Option<String> {
    let named: Vec<_> = missing.iter().take(NAMED).map(|family| format!("'{}'", clean(family))).collect();
    let more = missing.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (these, are, them) =
        if missing.len() == 1 { ("the font", "is", "it") } else { ("the fonts", "are", "them") };
    (!missing.is_empty()).then(|| {
        format!(
            "{these} {}{rest} {are} not installed: others of other measures were used, so lines and pages may break elsewhere; install {them}",
            named.join(", ")
        )
    })
}

fn clean(family: &str) -> String {
    family.chars().filter(|one| !one.is_control()).collect()
}
