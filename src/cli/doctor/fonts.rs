//! Fonts, asked of fontconfig by the characters that they must have, as Chromium does.

use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncReadExt;

use super::report::Finding;
use crate::workers::{ChildSpec, Starter, Streams};

const ASKED: &str = "/usr/bin/fc-list";
const INSTALL: &str = "apt-get install --no-install-recommends";
/// Enough for the names of every font of a large machine.
const ANSWER_LIMIT_BYTES: u64 = 4 << 20;

/// A script, characters that a font of it has, and the packages that bring one.
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
        packages: "fonts-wqy-zenhei",
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

pub(super) async fn findings(starter: &Starter) -> Vec<Finding> {
    if !Path::new(ASKED).exists() {
        let detail = format!("cannot be told: {ASKED} is not there");
        let remedy = format!("{INSTALL} fontconfig");
        let disables = "this check, and a cache of fonts that lets Chromium start faster";
        return vec![Finding::warning("Fonts", detail).so(disables, remedy)];
    }
    let mut found = Vec::new();
    for script in SCRIPTS {
        found.push(judge(script, &families(starter, script.characters).await));
    }
    found
}

fn judge(script: &Script, families: &std::io::Result<Vec<String>>) -> Finding {
    let missing = |detail: String| {
        let remedy = format!("{INSTALL} {}", script.packages);
        let finding = if script.needed { Finding::missing } else { Finding::warning };
        finding(script.part, detail).so(script.disables, remedy)
    };
    match families.as_deref() {
        Ok([first, others @ ..]) => {
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            Finding::ok(script.part, format!("{first}{more}"))
        }
        Ok([]) => missing(format!("no font has all of {}", String::from_iter(script.characters))),
        Err(error) => missing(format!("{ASKED} failed: {error}")),
    }
}

/// The families that have all of `characters`.
async fn families(starter: &Starter, characters: &[char]) -> std::io::Result<Vec<String>> {
    let points: Vec<String> =
        characters.iter().map(|&character| format!("{:x}", u32::from(character))).collect();
    let spec = ChildSpec::new(ASKED)
        .arguments([format!(":charset={}", points.join(" ")), "family".to_owned()])
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
    let mut families: Vec<String> =
        printed.lines().filter_map(|line| Some(line.split(',').next()?.trim().to_owned())).collect();
    families.sort_unstable();
    families.dedup();
    Ok(families)
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
        assert!(finding.remedy.unwrap().ends_with(" fonts-wqy-zenhei"));
        let some = Ok(vec!["WenQuanYi Zen Hei".to_owned(), "X".to_owned()]);
        assert_eq!(judge(cjk, &some), Finding::ok("Fonts, CJK", "WenQuanYi Zen Hei and 1 more"));
    }
}
