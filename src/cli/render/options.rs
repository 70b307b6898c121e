//! Options of the document on the command line: `--opts` with many of them, `-O KEY=VALUE`, and a flag for each. `-O` overrides
//! `--opts`, and a flag overrides both.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use std::str::FromStr;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use json_members::{Member, Shape, is_empty_array, nearest};
use serde_json::value::{RawValue, to_raw_value};

use crate::cli::file_or_stdio::FileOrStdio;
use crate::cli::{CommandError, print_to_stderr};
use crate::config::{Config, as_count};
use crate::domain::encoding;
use crate::domain::format_opts::{self, Key, OptionLimits, described, plain};

/// The heading of the flags in `--help`.
const HEADING: &str = "Options of the document";
/// What a value begins with that is read from a file; twice it stands for itself.
const FROM_FILE: char = '@';

/// The options, as they were said.
#[derive(Clone, Debug, Default)]
pub(super) struct OptionArguments {
    many: Option<Many>,
    pairs: Vec<String>,
    flags: Vec<(&'static str, String)>,
}

/// `--opts`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Many {
    /// JSON itself.
    Inline(String),
    /// Where the JSON is.
    At(FileOrStdio),
}

impl FromStr for Many {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let is_json = text.trim_start().starts_with('{');
        Ok(if is_json { Self::Inline(text.to_owned()) } else { Self::At(text.parse()?) })
    }
}

impl OptionArguments {
    /// Whether they are read from stdin.
    pub fn are_streamed(&self) -> bool {
        self.many == Some(Many::At(FileOrStdio::Stream))
    }

    /// All of them as one JSON object; `None` where none was said.
    ///
    /// # Errors
    /// For an option that is not known, a file that cannot be read, and `--opts` that are no JSON.
    pub fn object(&self, config: &Config) -> Result<Option<Box<RawValue>>, CommandError> {
        let many = self.many.as_ref().map(|many| many.read(config)).transpose()?;
        let singles = self.singles(config)?;
        if matches!(self.many, Some(Many::Inline(_)))
            && let Some(members) = many.as_deref().and_then(|many| members_of(many.get()).ok())
        {
            for name in members.keys() {
                warn_of_secret(name);
            }
        }
        if singles.is_empty() {
            return Ok(many);
        }
        let members = many.as_deref().map(|many| members_of(many.get())).transpose();
        let mut members = members
            .map_err(|_| "--opts must be an object, such as {\"format\": \"a5\"}")?
            .unwrap_or_default();
        members.extend(singles);
        Ok(Some(to_raw_value(&members)?))
    }

    fn singles(&self, config: &Config) -> Result<Vec<(String, Box<RawValue>)>, CommandError> {
        let pairs = self.pairs.iter().map(|pair| pair_of(pair));
        let flags = self.flags.iter().map(|(name, value)| Ok((*name, value.as_str())));
        let mut singles = Vec::new();
        for said in pairs.chain(flags) {
            let (name, value) = said?;
            let value = value_of(name, value, config.http.upload_limit_bytes)?;
            let depth = as_count(config.http.json_depth_limit);
            singles.push((name.to_owned(), format_opts::value_of(name, &value, depth)?));
        }
        Ok(singles)
    }
}

impl Many {
    fn read(&self, config: &Config) -> Result<Box<RawValue>, CommandError> {
        let json = match self {
            Self::Inline(json) => json.as_bytes().to_vec().into(),
            Self::At(file) => file.read(config.http.upload_limit_bytes)?,
        };
        let source = match self {
            Self::Inline(_) => String::new(),
            Self::At(file) => format!(" {file}"),
        };
        let json = encoding::without_bom(json);
        serde_json::from_slice(&json)
            .map_err(|error| format!("--opts{source} is not valid JSON: {error}").into())
    }
}

/// The members of an object; an empty array counts as one.
fn members_of(json: &str) -> serde_json::Result<BTreeMap<String, Box<RawValue>>> {
    if is_empty_array(json) { Ok(BTreeMap::new()) } else { serde_json::from_str(json) }
}

fn warn_of_secret(name: &str) {
    if Key::from_name(name).is_some_and(Key::is_secret) {
        print_to_stderr(&format!(
            "warning: other users of this machine can read arguments; write {name} into a file and give {FROM_FILE}FILE"
        ));
    }
}

/// Name and value of `-O`; the name in either spelling.
fn pair_of(pair: &str) -> Result<(&'static str, &str), CommandError> {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let key = Key::ALL.iter().find(|key| key.name() == name || kebab(key.name()) == name);
    let Some(key) = key else {
        let near = nearest(name, Key::ALL.iter().map(|key| key.name()));
        let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(format!("-O {name} is not known{hint}").into());
    };
    if pair.contains('=') {
        Ok((key.name(), value))
    } else {
        Err(format!("-O {name} lacks its value: -O {name}=…").into())
    }
}

/// The value, from a file where it says so.
fn value_of(name: &str, said: &str, limit_bytes: u64) -> Result<String, CommandError> {
    let Some(path) = said.strip_prefix(FROM_FILE) else {
        warn_of_secret(name);
        return Ok(said.to_owned());
    };
    if path.starts_with(FROM_FILE) {
        return Ok(path.to_owned());
    }
    let content = encoding::without_bom(FileOrStdio::File(Path::new(path).to_owned()).read(limit_bytes)?);
    let text =
        String::from_utf8(content.into()).map_err(|error| format!("{path} is no text in UTF-8: {error}"))?;
    // An editor ends the last line, and a password has no line end.
    Ok(text.strip_suffix('\n').map_or(&*text, |text| text.strip_suffix('\r').unwrap_or(text)).to_owned())
}

/// `preferCssPageSize` as `prefer-css-page-size`.
fn kebab(name: &str) -> String {
    let letters = name.chars().map(|letter| {
        let dash = if letter.is_ascii_uppercase() { "-" } else { "" };
        format!("{dash}{}", letter.to_ascii_lowercase())
    });
    letters.collect()
}

/// The flag of an option. `--landscape` alone is `true`.
fn flag(member: &Member) -> Arg {
    let is_secret = Key::from_name(member.name).is_some_and(Key::is_secret);
    let advice =
        if is_secret { "; as `@FILE`, for other users of the machine can read arguments" } else { "" };
    let help = format!("{}{advice}", plain(member.about));
    let arg = Arg::new(member.name).long(kebab(member.name)).help(help).help_heading(HEADING);
    let arg = arg.hide_short_help(true).action(ArgAction::Set).allow_hyphen_values(true);
    match &member.shape {
        Shape::Flag => {
            arg.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("true|false")
        }
        Shape::Words { .. } => arg.value_name("WORD"),
        Shape::Whole { .. } | Shape::Number { .. } => arg.value_name("NUMBER"),
        Shape::Length => arg.value_name("LENGTH"),
        Shape::Text => arg.value_name("TEXT"),
        Shape::OneOf { .. } | Shape::List(_) => arg.value_name("VALUE"),
        Shape::File | Shape::Any | Shape::Map(_) | Shape::Object { .. } => arg.value_name("JSON"),
    }
}

/// In the order of the documentation.
fn members() -> Vec<Member> {
    let mut members = described(&OptionLimits::ADMITTED);
    members.sort_by_key(|member| Key::from_name(member.name));
    members
}

impl Args for OptionArguments {
    fn augment_args(command: Command) -> Command {
        let many = Arg::new("opts").long("opts").value_name("FILE or JSON").action(ArgAction::Set);
        let many = many.value_parser(|text: &str| text.parse::<Many>());
        let many = many
            .help("`formatOpts` as a JSON object, or the file that has it; `-` for stdin")
            .allow_hyphen_values(true);
        let pair = Arg::new("option").short('O').value_name("KEY=VALUE").action(ArgAction::Append).help(
            "One option of `formatOpts`, as -O landscape=true; it overrides --opts. Each is a flag, too (--landscape): --help \
             lists them. A value `@FILE` is read from the file",
        );
        command.arg(many).arg(pair).args(members().iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let was_said = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let names = members().into_iter().map(|member| member.name).filter(was_said);
        Ok(Self {
            many: matches.get_one::<Many>("opts").cloned(),
            pairs: matches.get_many::<String>("option").into_iter().flatten().cloned().collect(),
            flags: names.filter_map(|name| Some((name, matches.get_one::<String>(name)?.clone()))).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct TestCommand {
        #[command(flatten)]
        options: OptionArguments,
    }

    fn read(arguments: &[&str]) -> Result<String, String> {
        let line = [&["render"], arguments].concat();
        let options = TestCommand::try_parse_from(line).map_err(|error| error.to_string())?.options;
        let object = options.object(&Config::default()).map_err(|error| error.to_string())?;
        Ok(object.map(|object| object.get().to_owned()).unwrap_or_default())
    }

    #[test]
    fn every_option_is_a_flag_but_what_is_always_refused() {
        let command = TestCommand::command();
        command.clone().debug_assert();
        for key in Key::ALL {
            let flag = command.get_arguments().find(|argument| argument.get_id() == key.name());
            assert_eq!(flag.is_none(), key.is_refused(), "{key}");
        }
        assert_eq!(kebab("preferCssPageSize"), "prefer-css-page-size");
    }

    #[test]
    fn a_flag_overrides_a_pair_and_a_pair_overrides_many() {
        let opts = r#"{"format": "a5", "scale": 0.5, "margin": {"top": "1cm"}}"#;
        let line = [
            "--scale",
            "2",
            "--opts",
            opts,
            "-O",
            "format=a4",
            "-O",
            "scale=1",
            "--landscape",
            "--outline=False",
        ];
        let object = r#"{"format":"a4","landscape":true,"margin":{"top": "1cm"},"outline":false,"scale":2}"#;
        assert_eq!(read(&line).unwrap(), object);
        assert_eq!(read(&["--opts", opts]).unwrap(), opts);
        assert_eq!(read(&[]).unwrap(), "");
        assert_eq!(read(&["-O", "prefer-css-page-size=1"]).unwrap(), r#"{"preferCssPageSize":true}"#);
        assert_eq!(read(&["--margin", r#"{"top": "1cm"}"#]).unwrap(), r#"{"margin":{"top": "1cm"}}"#);
        assert_eq!(read(&["--password", "-12"]).unwrap(), r#"{"password":"-12"}"#);
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display().to_string();
        for (many, read_as) in [
            ("[]", Ok(r#"{"landscape":true}"#)),
            ("\u{feff}{}", Ok(r#"{"landscape":true}"#)),
            ("7", Err("--opts must be an object, such as {\"format\": \"a5\"}")),
        ] {
            std::fs::write(&file, many).unwrap();
            let object = read(&["--opts", &path, "--landscape"]);
            assert_eq!(object.as_deref().map_err(String::as_str), read_as, "{many}");
        }
        assert!(
            read(&["--opts", "{\"a\"", "--landscape"]).unwrap_err().starts_with("--opts is not valid JSON")
        );
    }

    #[test]
    fn a_value_may_come_from_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "secret\r\n").unwrap();
        let path = file.path().display().to_string();
        assert_eq!(read(&["--password", &format!("@{path}")]).unwrap(), r#"{"password":"secret"}"#);
        assert_eq!(read(&["-O", &format!("password=@{path}")]).unwrap(), r#"{"password":"secret"}"#);
        assert_eq!(read(&["--file-name", "@@home"]).unwrap(), r#"{"fileName":"@home"}"#);
        assert!(
            read(&["--header-template", "@/nowhere.html"])
                .unwrap_err()
                .starts_with("cannot read /nowhere.html")
        );
    }

    #[test]
    fn an_option_that_is_not_known_is_named_with_what_was_meant() {
        assert_eq!(
            read(&["-O", "lanscape=1"]).unwrap_err(),
            "-O lanscape is not known; did you mean landscape?"
        );
        assert_eq!(read(&["-O", "xyzzy=1"]).unwrap_err(), "-O xyzzy is not known");
        assert_eq!(read(&["-O", "landscape"]).unwrap_err(), "-O landscape lacks its value: -O landscape=…");
        assert!(read(&["--lanscape"]).unwrap_err().contains("'--landscape'"));
    }
}
