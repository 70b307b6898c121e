//! Excel: fonts that the formats of cells name.

use std::collections::BTreeSet;

use crate::package::Package;
use crate::xml::{Met, each};

pub fn families(package: &mut Package<'_>) -> BTreeSet<String> {
    let (mut fonts, mut formats) = (Vec::new(), Vec::new());
    let (mut in_fonts, mut in_formats) = (false, false);
    each(&package.part("xl/styles.xml"), |met| match met {
        Met::Start(element) => match element.name().as_str() {
            "fonts" => in_fonts = true,
            "cellXfs" => in_formats = true,
            "font" if in_fonts => fonts.push(String::new()),
            "name" if in_fonts => {
                if let Some(font) = fonts.last_mut() {
                    *font = element.attribute("val").unwrap_or_default();
                }
            }
            "xf" if in_formats => {
                formats
                    .push(element.attribute("fontId").and_then(|id| id.parse::<usize>().ok()).unwrap_or(0));
            }
            _ => {}
        },
        Met::End(name) if name == "fonts" => in_fonts = false,
        Met::End(name) if name == "cellXfs" => in_formats = false,
        Met::End(_) | Met::Text(_) => {}
    });
    let mut families: BTreeSet<String> = formats.iter().filter_map(|id| fonts.get(*id)).cloned().collect();
    // Parts of a cell's text.
    each(&package.part("xl/sharedStrings.xml"), |met| {
        if let Met::Start(element) = met
            && element.name() == "rFont"
        {
            families.extend(element.attribute("val"));
        }
    });
    families
}
