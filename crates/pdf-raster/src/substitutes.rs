//! Which families stand in for which: those whose letters are as wide, then those that look alike.

use hayro::hayro_interpret::hayro_cmap::CidFamily;

/// Families by their keys, and whose letters are as wide, best first.
const AS_WIDE: [(&[&str], &[&str]); 8] = [
    (
        &[
            "arial",
            "helvetica",
            "helveticaneue",
            "helveticaltstd",
            "liberationsans",
            "arimo",
            "nimbussans",
            "nimbussansl",
        ],
        &["liberationsans", "arimo", "nimbussans", "texgyreheros"],
    ),
    (
        &["timesnewroman", "times", "timesroman", "timesltstd", "liberationserif", "tinos", "nimbusroman"],
        &["liberationserif", "tinos", "nimbusroman", "texgyretermes"],
    ),
    (
        &["couriernew", "courier", "courierstd", "liberationmono", "cousine", "nimbusmonops"],
        &["liberationmono", "cousine", "nimbusmonops", "texgyrecursor"],
    ),
    (&["arialnarrow", "helveticanarrow"], &["liberationsansnarrow", "nimbussansnarrow"]),
    (&["calibri"], &["carlito"]),
    (&["cambria"], &["caladea"]),
    (&["georgia"], &["gelasio"]),
    (&["verdana", "bitstreamverasans"], &["dejavusans"]),
];

/// Where nothing is as wide: sans, serif, monospaced.
pub const SANS: &[&str] = &["liberationsans", "arimo", "dejavusans", "notosans"];
/// With serifs.
pub const SERIF: &[&str] = &["liberationserif", "tinos", "dejavuserif", "notoserif"];
/// Monospaced.
pub const MONO: &[&str] = &["liberationmono", "cousine", "dejavusansmono", "notosansmono"];

const JAPANESE: &[&str] =
    &["notosanscjkjp", "sourcehansans", "ipagothic", "ipaexgothic", "takaogothic", "vlgothic"];
const JAPANESE_SERIF: &[&str] = &["notoserifcjkjp", "sourcehanserif", "ipamincho", "ipaexmincho"];
const SIMPLIFIED: &[&str] = &["notosanscjksc", "sourcehansanssc", "wenquanyizenhei", "wenquanyimicrohei"];
const SIMPLIFIED_SERIF: &[&str] = &["notoserifcjksc", "sourcehanserifsc", "arplumingcn"];
const TRADITIONAL: &[&str] = &["notosanscjktc", "sourcehansanstc", "wenquanyizenhei", "wenquanyimicrohei"];
const TRADITIONAL_SERIF: &[&str] = &["notoserifcjktc", "sourcehanseriftc", "arplumingtw"];
const KOREAN: &[&str] = &["notosanscjkkr", "sourcehansansk", "nanumgothic", "undotum", "baekmukdotum"];
const KOREAN_SERIF: &[&str] = &["notoserifcjkkr", "sourcehanserifk", "nanummyeongjo", "unbatang"];
/// Where none of a script's own is there.
const ANY_IDEOGRAPHS: &[&str] = &[
    "notosanscjkjp",
    "notosanscjksc",
    "notoserifcjkjp",
    "notoserifcjksc",
    "wenquanyizenhei",
    "droidsansfallback",
];

/// Those whose letters are as wide as those of `family`.
pub fn as_wide(family: &str) -> &'static [&'static str] {
    AS_WIDE.iter().find(|(families, _)| families.contains(&family)).map_or(&[], |(_, stand_ins)| stand_ins)
}

/// Those that have the characters of a collection, if it is one of ideographs.
pub fn ideographs(collection: &CidFamily, is_serif: bool) -> Vec<&'static str> {
    let (sans, serif) = match collection {
        CidFamily::AdobeJapan1 => (JAPANESE, JAPANESE_SERIF),
        CidFamily::AdobeGB1 => (SIMPLIFIED, SIMPLIFIED_SERIF),
        CidFamily::AdobeCNS1 => (TRADITIONAL, TRADITIONAL_SERIF),
        CidFamily::AdobeKorea1 => (KOREAN, KOREAN_SERIF),
        // Nothing is known of what its numbers mean.
        CidFamily::AdobeIdentity | CidFamily::Custom { .. } => return Vec::new(),
    };
    let (first, second) = if is_serif { (serif, sans) } else { (sans, serif) };
    [first, second, ANY_IDEOGRAPHS].concat()
}

/// Whether the name of a font of ideographs says that it is one with serifs.
pub fn is_named_serif(family: &str) -> bool {
    ["mincho", "heiseimin", "ming", "song", "sun", "batang", "myung", "serif"]
        .iter()
        .any(|word| family.contains(word))
        && !family.contains("sansserif")
}

/// Whether the name of a font says that all its letters are as wide.
pub fn is_named_mono(family: &str) -> bool {
    ["mono", "courier", "consol", "typewriter", "menlo"].iter().any(|word| family.contains(word))
}
