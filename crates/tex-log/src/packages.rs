//! Which Debian package brings a file of TeX, by a table made of Debian's indexes of contents (`scripts/tex-packages`).

/// Paragraphs, each of a package: its name, then a line for each extension with the names that have it.
const TABLE: &str = include_str!("packages.txt");
/// Endings of the name of a font's file whose family is asked for.
const REGULAR: [&str; 5] = ["", "-regular", "regular", "-medium", "-roman"];

/// The package that brings the file of this name (`siunitx.sty`), whatever folder stands before it.
pub fn package_of_file(name: &str) -> Option<&'static str> {
    let name = name.rsplit('/').next()?;
    // Debian has no pictures of these fonts' letters but in outlines.
    if is_european_computer_modern(name) {
        return Some("cm-super");
    }
    let (stem, extension) = name.rsplit_once('.')?;
    find(extension, |found| found == stem)
}

/// The package that brings a font by the name of its family (`TeX Gyre Termes`), for `luatex`, which looks into the tree of TeX.
pub fn package_of_font(family: &str) -> Option<&'static str> {
    let small: String =
        family.chars().filter(|letter| !letter.is_whitespace()).collect::<String>().to_lowercase();
    if small.is_empty() {
        return None;
    }
    let is_regular = |found: &str| {
        let found = found.to_lowercase();
        found.strip_prefix(&small).is_some_and(|ending| REGULAR.contains(&ending))
    };
    find("otf", is_regular).or_else(|| find("ttf", is_regular))
}

/// The package of the first name with this extension that is the one.
fn find(extension: &str, is_it: impl Fn(&str) -> bool) -> Option<&'static str> {
    let mut package = None;
    for line in TABLE.lines() {
        match line.strip_prefix('.') {
            None if line.is_empty() => {}
            None => package = Some(line),
            Some(names) => {
                let mut words = names.split(' ');
                if words.next() == Some(extension) && words.any(&is_it) {
                    return package;
                }
            }
        }
    }
    None
}

/// `ecrm1000`, `tctt1200`: no extension, as pdfTeX tells of a font of which it found measures and nothing else.
fn is_european_computer_modern(name: &str) -> bool {
    let letters = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_family = ["ec", "tc"].iter().any(|begin| letters.starts_with(begin));
    name.len() == letters.len() + 4 && letters.len() == 4 && is_family
}
