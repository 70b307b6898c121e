//! Fonts: asks fontconfig, as Chromium does, for families that have certain characters.

use std::path::Path;

use super::report::Finding;
use crate::browser::{self, LISTER};
use crate::config::BrowserConfig;
use crate::engines::catalog::Catalog;
use crate::engines::libreoffice;
use crate::workers::Starter;

const INSTALL: &str = "apt-get install --no-install-recommends";

/// A script, characters that a font for it must have, and the packages with one.
struct Script {
    part: &'static str,
    characters: &'static [char],
    needed: bool,
    disables: &'static str,
    packages: &'static str,
}

const SCRIPTS: &[Script] = &[
    Script {
        part: "Fonts, Latin",
        characters: &['A', 'ß', 'ő', '€', 'Ω', 'Ж'],
        needed: true,
        disables: "text: pages come out without it",
        packages: "fonts-liberation fonts-dejavu-core fonts-noto-core",
    },
    Script {
        part: "Fonts, CJK",
        characters: &['字', 'か', '한'],
        needed: false,
        disables: "Chinese, Japanese and Korean: boxes are printed in place of their characters",
        packages: "fonts-noto-cjk",
    },
    Script {
        part: "Fonts, Arabic",
        characters: &['ع', 'پ'],
        needed: false,
        disables: "Arabic and Persian: boxes are printed in place of their characters",
        packages: "fonts-noto-core",
    },
    Script {
        part: "Fonts, emoji",
        characters: &['😀', '🧾'],
        needed: false,
        disables: "emoji: boxes are printed in place of them",
        packages: "fonts-noto-color-emoji",
    },
];

pub(super) async fn findings(starter: &Starter, config: &BrowserConfig) -> Vec<Finding> {
    if !Path::new(LISTER).exists() {
        let detail = format!("cannot be told: {LISTER} is not there");
        let remedy = format!("{INSTALL} fontconfig");
        let disables = "this check, and a cache of fonts that lets Chromium start faster";
        return vec![Finding::warning("Fonts", detail).with_remedy(disables, remedy)];
    }
    let mut found = Vec::new();
    for script in SCRIPTS {
        found.push(judge(script, &families(starter, script.characters).await));
    }
    let listed = browser::installed_families(starter, ":").await.unwrap_or_default();
    found.extend(CAPABLE.iter().map(|wanted| capable(wanted, &listed)));
    found.extend(chosen(starter, config).await);
    found
}

/// A capability that needs one of `families`, not only a font with certain characters.
struct Capability {
    part: &'static str,
    families: &'static [&'static str],
    disables: &'static str,
    packages: &'static str,
}

const CAPABLE: &[Capability] = &[
    Capability {
        part: "Fonts, vertical",
        families: &["Noto Sans CJK JP", "Noto Serif CJK JP", "IPAGothic", "IPAexGothic", "VL Gothic"],
        disables: "vertical Japanese and Chinese: their letters lie over each other",
        packages: "fonts-noto-cjk",
    },
    Capability {
        part: "Fonts, formulas",
        // The family that Chromium uses for formulas.
        families: &["Latin Modern Math"],
        disables: "MathML as it should be: brackets, roots and signs do not grow with what they hold",
        packages: "fonts-lmodern",
    },
];

/// Metric-compatible substitutes for the fonts of most Office files; Liberation, for the others, is part of Latin.
const OFFICE: &[Capability] = &[
    Capability {
        part: "Fonts, Calibri",
        families: &["Carlito", "Calibri"],
        disables: "Office files in Calibri: another font is taken, and lines and pages break elsewhere",
        packages: "fonts-crosextra-carlito",
    },
    Capability {
        part: "Fonts, Cambria",
        families: &["Caladea", "Cambria"],
        disables: "Office files in Cambria: another font is taken, and lines and pages break elsewhere",
        packages: "fonts-crosextra-caladea",
    },
];

/// The fonts of Office files; no findings if no engine converts these.
pub(super) async fn of_office(starter: &Starter, catalog: &Catalog) -> Vec<Finding> {
    if catalog.unmet(libreoffice::ENGINE.name).is_some() || !Path::new(LISTER).exists() {
        return Vec::new();
    }
    let listed = browser::installed_families(starter, ":").await.unwrap_or_default();
    OFFICE.iter().map(|wanted| capable(wanted, &listed)).collect()
}

fn capable(wanted: &Capability, listed: &[String]) -> Finding {
    match wanted.families.iter().find(|family| listed.iter().any(|names| browser::is_named(names, family))) {
        Some(family) => Finding::ok(wanted.part, *family),
        None => Finding::warning(wanted.part, format!("none of {} is installed", wanted.families.join(", ")))
            .with_remedy(wanted.disables, format!("{INSTALL} {}", wanted.packages)),
    }
}

/// The families named in the configuration.
async fn chosen(starter: &Starter, config: &BrowserConfig) -> Option<Finding> {
    const PART: &str = "Fonts, chosen";
    let missing = browser::missing_families(starter, config).await.ok()?;
    let named: Vec<String> =
        missing.iter().map(|(key, family)| format!("'{family}' ({key}) is not installed")).collect();
    if named.is_empty() {
        let is_chosen = !config.default_font.is_empty();
        return is_chosen.then(|| Finding::ok(PART, config.default_font.clone()));
    }
    let is_ours = missing.iter().any(|(_, family)| family.eq_ignore_ascii_case("Open Sans"));
    let remedy = if is_ours {
        format!("{INSTALL} fonts-open-sans")
    } else {
        "install it, or name one that `fc-list : family` prints".to_owned()
    };
    let disables = "what unstyled text and generic families are meant to look like: another font is taken";
    Some(Finding::warning(PART, named.join("; ")).with_remedy(disables, remedy))
}

fn judge(script: &Script, families: &std::io::Result<Vec<String>>) -> Finding {
    let missing = |detail: String| {
        let remedy = format!("{INSTALL} {}", script.packages);
        let finding = if script.needed { Finding::missing } else { Finding::warning };
        finding(script.part, detail).with_remedy(script.disables, remedy)
    };
    match families.as_deref() {
        Ok([first, others @ ..]) => {
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            Finding::ok(script.part, format!("{first}{more}"))
        }
        Ok([]) => missing(format!("no font has all of {}", String::from_iter(script.characters))),
        Err(error) => missing(format!("{LISTER} failed: {error}")),
    }
}

/// The families that have all of `characters`.
async fn families(starter: &Starter, characters: &[char]) -> std::io::Result<Vec<String>> {
    let points: Vec<String> =
        characters.iter().map(|&character| format!("{:x}", u32::from(character))).collect();
    let found = browser::installed_families(starter, &format!(":charset={}", points.join(" "))).await?;
    let mut own: Vec<String> =
        found.iter().filter_map(|names| Some(names.split(',').next()?.trim().to_owned())).collect();
    own.dedup();
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::report::State;

    #[test]
    fn a_script_without_a_font_names_the_package() {
        let [latin, cjk, ..] = SCRIPTS else { panic!("there are scripts") };
        let none = Ok(Vec::new());
        assert_eq!(judge(latin, &none).state, State::Missing);
        let finding = judge(cjk, &none);
        assert_eq!(finding.state, State::Warning);
        assert_eq!(finding.detail, "no font has all of 字か한");
        assert!(finding.remedy.unwrap().ends_with(" fonts-noto-cjk"));
        let finding = capable(&OFFICE[0], &["Caladea,Caladea Bold".to_owned()]);
        assert_eq!(
            (finding.state, &*finding.detail),
            (State::Warning, "none of Carlito, Calibri is installed")
        );
        assert!(finding.remedy.unwrap().ends_with(" fonts-crosextra-carlito"));
        assert_eq!(capable(&OFFICE[0], &["Carlito".to_owned()]), Finding::ok("Fonts, Calibri", "Carlito"));
        let some = Ok(vec!["WenQuanYi Zen Hei".to_owned(), "X".to_owned()]);
        assert_eq!(judge(cjk, &some), Finding::ok("Fonts, CJK", "WenQuanYi Zen Hei and 1 more"));
    }
}
