//! The language of a document, as babel or polyglossia is told it.

/// Names of languages as LaTeX has them, and as everybody else does (BCP 47).
const NAMES: [(&str, &str); 46] = [
    ("american", "en-US"),
    ("arabic", "ar"),
    ("australian", "en-AU"),
    ("austrian", "de-AT"),
    ("basque", "eu"),
    ("brazil", "pt-BR"),
    ("brazilian", "pt-BR"),
    ("british", "en-GB"),
    ("bulgarian", "bg"),
    ("canadian", "en-CA"),
    ("catalan", "ca"),
    ("chinese", "zh"),
    ("croatian", "hr"),
    ("czech", "cs"),
    ("danish", "da"),
    ("dutch", "nl"),
    ("english", "en"),
    ("estonian", "et"),
    ("finnish", "fi"),
    ("francais", "fr"),
    ("french", "fr"),
    ("galician", "gl"),
    ("german", "de"),
    ("greek", "el"),
    ("hebrew", "he"),
    ("hungarian", "hu"),
    ("icelandic", "is"),
    ("italian", "it"),
    ("japanese", "ja"),
    ("korean", "ko"),
    ("latvian", "lv"),
    ("lithuanian", "lt"),
    ("magyar", "hu"),
    ("naustrian", "de-AT"),
    ("ngerman", "de"),
    ("norsk", "nb"),
    ("nswissgerman", "de-CH"),
    ("polish", "pl"),
    ("portuguese", "pt"),
    ("romanian", "ro"),
    ("russian", "ru"),
    ("slovak", "sk"),
    ("slovene", "sl"),
    ("spanish", "es"),
    ("swedish", "sv"),
    ("ukrainian", "uk"),
];
/// Commands of polyglossia that name it.
const COMMANDS: [&str; 2] = ["setmainlanguage", "setdefaultlanguage"];

/// The language of the document whose preamble is `code`, by its tag.
pub(crate) fn language(code: &str) -> Option<&'static str> {
    let named = COMMANDS.iter().find_map(|command| {
        let (_, rest) = code.split_once(&format!("\\{command}"))?;
        let (_, rest) = rest.split_once('{')?;
        tag(rest.split('}').next()?)
    });
    named.or_else(|| babel(code))
}

/// babel's main language is the last of its options, those of the class where it has none, or what `main` says.
fn babel(code: &str) -> Option<&'static str> {
    let (before, _) = code.split_once("{babel}")?;
    let line = before.rsplit_once("\\usepackage").map_or("", |(_, line)| line);
    of_options(line).or_else(|| {
        let (_, class) = code.split_once("\\documentclass")?;
        of_options(class.split('{').next()?)
    })
}

fn of_options(options: &str) -> Option<&'static str> {
    let names = options.split(['[', ',', ']']).map(str::trim);
    let main =
        names.clone().find_map(|name| tag(name.strip_prefix("main")?.trim_start().strip_prefix('=')?));
    main.or_else(|| names.rev().find_map(tag))
}

fn tag(name: &str) -> Option<&'static str> {
    let name = name.trim();
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, tag)| *tag)
}
