//! The default font families: what unstyled text and generic names such as `serif` are shown in.
//!
//! They are set in two ways.
//! - The families that an operator chose are set in each tab (`Page.setFontFamilies`). Not by a rule of fontconfig: Chromium
//!   asks fontconfig for `serif` by the name Times and for `sans-serif` by Arial, so a rule would also change pages that name
//!   these.
//! - For a letter that the page's family lacks Chromium asks fontconfig for any font that has it. Which one is preferred can be
//!   changed by a rule of fontconfig only.

use std::collections::BTreeMap;
use std::process::Stdio;

use headless_chrome::protocol::cdp::Page;
use tokio::io::AsyncReadExt as _;

use crate::config::BrowserConfig;
use crate::workers::{ChildSpec, Starter, Streams};

/// Where fontconfig is configured; without it there is nothing to add to.
pub(in crate::browser) const SYSTEM_CONFIGURATION: &str = "/etc/fonts/fonts.conf";
/// What lists fonts.
pub const LISTER: &str = "/usr/bin/fc-list";
/// Enough for the names of every font of a large machine.
const ANSWER_LIMIT_BYTES: u64 = 4 << 20;
/// A font whose own rule puts it before all others for Chinese, Japanese and Korean, though it has no measures for vertical
/// text: its letters overlap there.
const NOT_PREFERRED: [&str; 2] = ["WenQuanYi Zen Hei", "WenQuanYi Zen Hei Mono"];
/// How often other rules may have added it to one query; each rule of ours removes one.
const REPEATS: usize = 4;

/// The system's configuration of fontconfig, with rules that remove [`NOT_PREFERRED`] from queries that do not name it first.
/// It is still found where no other font has the letters, and by a page that names it.
pub(in crate::browser) fn fontconfig() -> String {
    let rule = |family: &str| {
        format!(
            "<match target=\"pattern\">\
             <test qual=\"any\" name=\"family\" compare=\"eq\"><string>{family}</string></test>\
             <test qual=\"first\" name=\"family\" compare=\"not_eq\"><string>{family}</string></test>\
             <edit name=\"family\" mode=\"delete\"/></match>\n"
        )
    };
    let rules: String = NOT_PREFERRED.map(|family| rule(family).repeat(REPEATS)).concat();
    format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">\n<fontconfig>\n\
         <include>{SYSTEM_CONFIGURATION}</include>\n{rules}</fontconfig>\n"
    )
}

/// The families that an operator chose, with the keys that name them.
fn chosen(config: &BrowserConfig) -> impl Iterator<Item = (&'static str, &str)> {
    let named = [
        ("browser.default_font", &config.default_font),
        ("browser.serif_font", &config.serif_font),
        ("browser.sans_serif_font", &config.sans_serif_font),
        ("browser.monospace_font", &config.monospace_font),
    ];
    named.into_iter().map(|(key, family)| (key, family.as_str())).filter(|(_, family)| !family.is_empty())
}

/// The families of all pages.
#[derive(Debug)]
pub(in crate::browser) struct Families {
    /// What a tab is set to; `None` where nothing was chosen.
    pub chosen: Option<Page::SetFontFamilies>,
    /// What generic families mean in header and footer: Chromium shows these in a document that no setting of the tab
    /// reaches, and where fontconfig has other families for them.
    pub generic: BTreeMap<&'static str, String>,
}

impl Families {
    pub(in crate::browser) fn of(config: &BrowserConfig) -> Self {
        let given = |family: &str| Some(family.to_owned()).filter(|family| !family.is_empty());
        let standard = given(&config.default_font);
        let sans_serif = given(&config.sans_serif_font).or_else(|| standard.clone());
        let (fixed, serif) =
            (given(&config.monospace_font), given(&config.serif_font).or_else(|| standard.clone()));
        // What Chromium takes where nothing was chosen.
        let generic = [
            ("sans-serif", &sans_serif, "Arial"),
            ("serif", &serif, "Times New Roman"),
            ("monospace", &fixed, "Courier New"),
        ];
        let generic =
            generic.map(|(name, chosen, own)| (name, chosen.clone().unwrap_or_else(|| own.to_owned())));
        let font_families = Page::FontFamilies {
            fixed,
            serif,
            sans_serif,
            standard,
            cursive: None,
            fantasy: None,
            math: None,
        };
        let all = Page::SetFontFamilies { font_families, for_scripts: None };
        Self { chosen: chosen(config).next().map(|_| all), generic: generic.into() }
    }
}

/// The chosen families that are not installed, with their keys.
///
/// # Errors
/// When fontconfig cannot be asked.
pub async fn missing(
    starter: &Starter,
    config: &BrowserConfig,
) -> std::io::Result<Vec<(&'static str, String)>> {
    let mut chosen = chosen(config).peekable();
    if chosen.peek().is_none() {
        return Ok(Vec::new());
    }
    let installed = installed(starter, ":").await?;
    let lacks = |family: &str| !installed.iter().any(|names| is_named(names, family));
    Ok(chosen.filter(|(_, family)| lacks(family)).map(|(key, family)| (key, family.to_owned())).collect())
}

/// Whether a font with these `names`, with commas between them, is of the family.
pub fn is_named(names: &str, family: &str) -> bool {
    names.split(',').any(|name| name.trim().eq_ignore_ascii_case(family))
}

/// The families of the fonts that match a `pattern` of fontconfig: each with its names in all languages, commas between them.
///
/// # Errors
/// When fontconfig cannot be asked.
pub async fn installed(starter: &Starter, pattern: &str) -> std::io::Result<Vec<String>> {
    let spec = ChildSpec::new(LISTER)
        .arguments([pattern, "family"])
        .variable("PATH", "/usr/bin:/bin")
        .variable("LANG", "C.UTF-8");
    let mut child = starter.spawn(spec, Streams { stdout: Stdio::piped(), ..Streams::null() }).await?;
    let mut printed = String::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(ANSWER_LIMIT_BYTES).read_to_string(&mut printed).await?;
    }
    let status = child.wait().await?;
    if !status.success() {
        return Err(std::io::Error::other(status.to_string()));
    }
    let mut families: Vec<String> = printed.lines().map(str::to_owned).collect();
    families.sort_unstable();
    families.dedup();
    Ok(families)
}

/// Logs which of the chosen families are not there: pages are rendered all the same, in Chromium's own.
pub(in crate::browser) async fn warn_of_missing(starter: Starter, config: std::sync::Arc<BrowserConfig>) {
    match missing(&starter, &config).await {
        Ok(missing) => {
            for (key, family) in missing {
                tracing::warn!(
                    setting = key,
                    family,
                    "this font is not installed: text is shown in another one; install it (`platen doctor` names the \
                     package of Open Sans) or correct the setting, and start again"
                );
            }
        }
        Err(error) => {
            tracing::warn!(error = %error, "whether the fonts of [browser] are installed cannot be told");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_default_is_what_generic_families_mean_unless_they_have_their_own() {
        let mut config = Config::default().browser;
        let plain = Families::of(&config);
        assert_eq!(plain.chosen, None, "a tab is asked nothing");
        config.default_font = "Open Sans".to_owned();
        config.serif_font = "Gentium".to_owned();
        let chosen_ones = Families::of(&config);
        let generic = [("sans-serif", "Open Sans"), ("serif", "Gentium"), ("monospace", "Courier New")];
        assert_eq!(chosen_ones.generic, generic.map(|(name, family)| (name, family.to_owned())).into());
        let families = chosen_ones.chosen.unwrap().font_families;
        assert_eq!(families.standard.as_deref(), Some("Open Sans"));
        assert_eq!((families.sans_serif, families.fixed), (Some("Open Sans".to_owned()), None));
        assert_eq!(families.serif.as_deref(), Some("Gentium"));
        let keys: Vec<_> = chosen(&config).map(|(key, _)| key).collect();
        assert_eq!(keys, ["browser.default_font", "browser.serif_font"]);
    }
}
