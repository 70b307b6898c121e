//! Word: fonts of runs, of the styles that are used, and of the theme that both may mean.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::package::Package;
use crate::xml::{Element, Met, each};

/// A longer chain of styles than this is a circle.
const CHAIN: usize = 32;

/// What is said of fonts in one place.
#[derive(Clone, Default)]
struct Fonts {
    latin: Option<String>,
    /// For Chinese, Japanese and Korean.
    east: Option<String>,
}

#[derive(Default)]
struct Style {
    parent: Option<String>,
    fonts: Fonts,
}

#[derive(Default)]
struct Sheet {
    styles: HashMap<String, Style>,
    defaults: Fonts,
    /// What a paragraph has that names no style.
    usual: String,
}

/// What the text of a document uses.
#[derive(Default)]
struct Used {
    styles: HashSet<String>,
    runs: Vec<Fonts>,
    is_eastern: bool,
}

pub fn families(package: &mut Package<'_>) -> BTreeSet<String> {
    let theme = theme(
        &package.named("word/theme/", ".xml").first().map(|name| package.part(name)).unwrap_or_default(),
    );
    let sheet = sheet(&package.part("word/styles.xml"), &theme);
    let mut used = Used::default();
    for start in
        ["word/document.xml", "word/header", "word/footer", "word/footnotes.xml", "word/endnotes.xml"]
    {
        for name in package.named(start, ".xml") {
            used.read(&package.part(&name), &sheet.usual, &theme);
        }
    }
    let embedded = embedded(&package.part("word/fontTable.xml"));
    let mut families = BTreeSet::new();
    let styles = used.styles.iter().map(|style| sheet.fonts(style));
    for fonts in styles.chain(used.runs.iter().cloned()) {
        families.extend(fonts.latin);
        families.extend(fonts.east.filter(|_| used.is_eastern));
    }
    families.retain(|family| !embedded.contains(family));
    families
}

/// The families of a theme: (of headings, of texts).
pub fn theme(part: &[u8]) -> (String, String) {
    let (mut families, mut is_major) = ((String::new(), String::new()), true);
    each(part, |met| {
        let Met::Start(element) = met else { return };
        match element.name().as_str() {
            "majorFont" => is_major = true,
            "minorFont" => is_major = false,
            "latin" => {
                let place = if is_major { &mut families.0 } else { &mut families.1 };
                if place.is_empty() {
                    *place = element.attribute("typeface").unwrap_or_default();
                }
            }
            _ => {}
        }
    });
    families
}

fn fonts(element: &Element<'_>, theme: &(String, String)) -> Fonts {
    let themed = element.attribute("asciiTheme").or_else(|| element.attribute("hAnsiTheme"));
    let of_theme =
        themed.map(|name| if name.starts_with("major") { theme.0.clone() } else { theme.1.clone() });
    let named = || element.attribute("ascii").or_else(|| element.attribute("hAnsi"));
    let east = element.attribute("eastAsia").filter(|_| element.attribute("eastAsiaTheme").is_none());
    Fonts { latin: of_theme.filter(|name| !name.is_empty()).or_else(named), east }
}

fn sheet(part: &[u8], theme: &(String, String)) -> Sheet {
    let mut sheet = Sheet::default();
    let (mut id, mut in_defaults) = (None, false);
    each(part, |met| match met {
        Met::Start(element) => match element.name().as_str() {
            "docDefaults" => in_defaults = true,
            "style" => {
                let name = element.attribute("styleId").unwrap_or_default();
                let usual = element.attribute("default").is_some_and(|one| one == "1" || one == "true");
                if usual && element.attribute("type").as_deref() == Some("paragraph") {
                    sheet.usual.clone_from(&name);
                }
                sheet.styles.insert(name.clone(), Style::default());
                id = Some(name);
            }
            "basedOn" => {
                if let Some(style) = id.as_ref().and_then(|id| sheet.styles.get_mut(id)) {
                    style.parent = element.attribute("val");
                }
            }
            "rFonts" if in_defaults => sheet.defaults = fonts(&element, theme),
            "rFonts" => {
                if let Some(style) = id.as_ref().and_then(|id| sheet.styles.get_mut(id)) {
                    style.fonts = fonts(&element, theme);
                }
            }
            _ => {}
        },
        Met::End(name) if name == "docDefaults" => in_defaults = false,
        Met::End(name) if name == "style" => id = None,
        Met::End(_) | Met::Text(_) => {}
    });
    sheet
}

impl Sheet {
    /// What a style has, of itself, of those that it is based on, or of the document.
    fn fonts(&self, style: &str) -> Fonts {
        let mut fonts = Fonts::default();
        let chain =
            std::iter::successors(self.styles.get(style), |style| self.styles.get(style.parent.as_ref()?));
        for style in chain.take(CHAIN) {
            fonts.latin = fonts.latin.or_else(|| style.fonts.latin.clone());
            fonts.east = fonts.east.or_else(|| style.fonts.east.clone());
        }
        fonts.latin = fonts.latin.or_else(|| self.defaults.latin.clone());
        fonts.east = fonts.east.or_else(|| self.defaults.east.clone());
        fonts
    }
}

impl Used {
    fn read(&mut self, part: &[u8], usual: &str, theme: &(String, String)) {
        let mut run = Run::default();
        each(part, |met| match met {
            Met::Start(element) => match element.name().as_str() {
                "p" => run.paragraph = usual.to_owned(),
                "pStyle" => run.paragraph = element.attribute("val").unwrap_or_default(),
                "r" => (run.style, run.fonts, run.has_text) = (None, None, false),
                "rStyle" => run.style = element.attribute("val"),
                "rFonts" => run.fonts = Some(fonts(&element, theme)),
                "t" | "sym" | "fldSimple" | "pgNum" => run.is_text = true,
                _ => {}
            },
            Met::Text(text) if run.is_text => {
                run.has_text |= !text.trim().is_empty();
                self.is_eastern |= text.chars().any(is_eastern);
            }
            Met::Text(_) => {}
            Met::End(name) => match name.as_str() {
                "t" | "sym" | "fldSimple" | "pgNum" => run.is_text = false,
                "r" if run.has_text => self.add(&mut run),
                _ => {}
            },
        });
    }

    fn add(&mut self, run: &mut Run) {
        run.has_text = false;
        let fonts = run.fonts.take();
        let own = fonts.as_ref().is_some_and(|fonts| fonts.latin.is_some());
        self.runs.extend(fonts);
        if own && self.runs.len() > 1_000 {
            // A long document repeats itself.
            let mut met = HashSet::new();
            self.runs.retain(|fonts| met.insert((fonts.latin.clone(), fonts.east.clone())));
        }
        if own {
            return;
        }
        self.styles.extend(run.style.take());
        self.styles.insert(run.paragraph.clone());
    }
}

#[derive(Default)]
struct Run {
    paragraph: String,
    style: Option<String>,
    fonts: Option<Fonts>,
    is_text: bool,
    has_text: bool,
}

/// Families that the document brings along.
fn embedded(part: &[u8]) -> HashSet<String> {
    let (mut found, mut font) = (HashSet::new(), None);
    each(part, |met| {
        let Met::Start(element) = met else { return };
        match element.name().as_str() {
            "font" => font = element.attribute("name"),
            "embedRegular" => found.extend(font.clone()),
            _ => {}
        }
    });
    found
}

/// Han, kana, hangul and their signs.
fn is_eastern(one: char) -> bool {
    matches!(one, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}
